//! Attacks in answers: each file of `tests/attacks/` is a reply.
//!
//! A file's name ends with the expected ballot (`red`, `blue`, `invalid`). All attacks are in one round. They
//! must not change later rounds, agents, reviewers, the tally or the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use roundtable::ballot::{Ballot, BallotForm, BallotKind, ParsedReply, read_reply};
use roundtable::round::material::SnapshotContent;
use roundtable::round::snapshot::{AddressLines, Snapshot, address};
use roundtable::yaml;
use serde_json::{Value, json};

use crate::program::{Desk, has, named};
use crate::server::{Answer, Server};

const OPTIONS: [&str; 2] = ["red", "blue"];

struct Attack {
    name: String,
    counts: String,
    reply: String,
}

fn attacks() -> Vec<Attack> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let listed = fs::read_dir(folder).expect("attacks").map(|entry| entry.expect("an entry").path());
    let paths: BTreeSet<_> = listed.collect();
    assert!(paths.len() > 30, "only {} attacks are there", paths.len());
    let attack = |path: &std::path::PathBuf| {
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        let parts: Vec<&str> = file.split('.').collect();
        let reply = fs::read_to_string(path).expect("UTF-8");
        Attack { name: parts[0].to_owned(), counts: parts[1].to_owned(), reply }
    };
    paths.iter().map(attack).collect()
}

#[test]
fn every_attack_is_read_for_what_it_is() {
    let form = BallotForm::over(BallotKind::Choice, OPTIONS.map(str::to_owned).to_vec());
    let mut wrong = Vec::new();
    for Attack { name, counts, reply } in attacks() {
        let read = match read_reply(&form, &reply) {
            ParsedReply::Answered(answer) => match answer.ballot {
                Ballot::Choice(option) => option,
                other => format!("{other:?}"),
            },
            ParsedReply::BareBlock(_, reason) | ParsedReply::Invalid(reason) => format!("invalid: {reason}"),
            ParsedReply::Refused(words) => format!("refused: {words}"),
        };
        if read.split(": ").next() != Some(&counts) {
            wrong.push(format!("{name}: {read}, not {counts}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[track_caller]
fn inner(text: &str) -> serde_json::Map<String, Value> {
    let tree = yaml::read(text, "snapshot").unwrap_or_else(|error| panic!("{error}: {text}")).to_json();
    let outer = tree.as_object().expect("a mapping");
    assert_eq!(outer.keys().collect::<Vec<_>>(), ["participant_context"]);
    outer["participant_context"].as_object().expect("a mapping").clone()
}

fn lines_beginning(text: &str, start: &str) -> usize {
    text.lines().filter(|line| line.starts_with(start)).count()
}

#[test]
fn an_attack_in_any_place_of_a_snapshot_stays_a_text() {
    for Attack { name, reply, .. } in attacks() {
        let mut context = serde_json::Map::new();
        context.insert("plan".to_owned(), json!({ "result": reply, reply.clone(): [reply.clone()] }));
        context.insert(reply.clone(), reply.clone().into());
        let artifact = roundtable::round::material::Artifact {
            id: "REQ-1".to_owned(),
            summary: reply.clone(),
            details: vec![("description", reply.clone().into()), ("acceptance", json!([reply]))],
            relevant: true,
            source: None,
        };
        let snapshot = Snapshot::freeze(&SnapshotContent {
            question: "Which paint?",
            artifacts: vec![&artifact],
            context: context.clone(),
            ..SnapshotContent::default()
        });
        let abe = AddressLines { role: "abe", ..AddressLines::default() };
        let text = snapshot.text.to_string() + &address(abe);
        let inner = inner(&text);
        let keys: Vec<&str> = inner.keys().map(String::as_str).collect();
        assert_eq!(keys, ["question", "artifacts_snapshot", "context", "your_role"], "{name}");
        assert_eq!(inner["context"], Value::Object(context), "{name}");
        assert_eq!(inner["artifacts_snapshot"][0]["summary"], reply, "{name}");
        assert_eq!(inner["artifacts_snapshot"][0]["description"], reply, "{name}");
        assert_eq!(inner["your_role"], "abe", "{name}");
        for start in ["participant_context", "---", "...", "%"] {
            let wanted = usize::from(start == "participant_context");
            assert_eq!(lines_beginning(&text, start), wanted, "{name}: {start}");
        }
        assert_eq!(lines_beginning(&text, "  your_role:"), 1, "{name}");
        let unsafe_ones = ['\r', '\0', '\u{1b}', '\u{202e}', '\u{2028}', '\u{85}', '\u{feff}'];
        assert!(!text.contains(unsafe_ones), "{name}");
    }
}

fn definition(attacks: &[Attack]) -> String {
    let seat = |name: &str| json!({ "name": name, "prompt": "You paint.", "model": "lab/m" });
    let mut seats: Vec<Value> = attacks.iter().map(|attack| seat(&attack.name)).collect();
    seats.extend([seat("honest-1"), seat("honest-2")]);
    let ballot = json!({ "kind": "choice", "options": OPTIONS });
    let round = |id: &str, question: &str| json!({ "id": id, "type": "round", "question": question, "ballot": ballot, "rule": "plurality" });
    json!({
        "goal": "Paint the shed",
        "max_snapshot_bytes": 1_000_000,
        "cut_prompts": "count",
        "participants": seats,
        "steps": [
            round("pick", "Which paint?"),
            round("again", "Still?"),
            { "id": "sum", "type": "agent", "agent": "honest-1",
              "prompt": "Sum up:\n{{#each context.pick.data}}- {{this.stepId}}: {{this.result.rationale}}\n{{/each}}End of {{goal}}." },
            { "id": "check", "type": "review", "of": "sum", "reviewers": ["honest-2"], "criteria": ["clarity"] },
            round("last", "And now?"),
        ],
    })
    .to_string()
}

/// Returns all answers as one text, which an agent or reviewer repeats.
fn all(attacks: &[Attack]) -> String {
    attacks.iter().filter(|attack| attack.reply.len() < 5_000).map(|attack| attack.reply.as_str()).collect()
}

struct Attacked {
    attacks: Vec<Attack>,
    desk: Desk,
    lines: Vec<Value>,
}

impl Attacked {
    fn run() -> Self {
        let attacks = attacks();
        let reply = |attack: &Attack| (attack.name.clone(), attack.reply.clone());
        let replies: BTreeMap<String, String> = attacks.iter().map(reply).collect();
        let repeated = all(&attacks);
        let verdict = json!({ "approved": true, "feedback": repeated }).to_string();
        let server = Server::start(move |request| {
            let seat = request.seat();
            let text = request.user_text();
            let in_round = |number: u32| text.contains(&format!("\n  current_round: {number}\n"));
            Answer::chat(match replies.get(&seat) {
                Some(reply) if in_round(1) => reply,
                _ if in_round(1) || in_round(2) || in_round(3) => "vote: blue",
                _ if request.json().to_string().contains("approved") => &verdict,
                _ => &repeated,
            })
        });
        let desk = Desk::with(&definition(&attacks)).served_by(&server);
        let lines = desk.run(["--batch", "--json", "decide.yaml", "--save", "s.s2s"]).code(0).lines();
        Self { attacks, desk, lines }
    }

    fn events(&self, name: &str) -> Vec<Value> {
        named(&self.lines, name)
    }

    fn first(&self) -> BTreeMap<String, Value> {
        let revealed = self.events("answer_revealed").into_iter().filter(|answer| answer["round"] == "pick");
        revealed.map(|answer| (answer["participant"].as_str().expect("a name").to_owned(), answer)).collect()
    }

    /// Each reply counts as expected; nobody votes twice or for another.
    fn counts_them_for_what_they_are(&self) {
        let first = self.first();
        assert_eq!(first.len(), self.attacks.len() + 2);
        let mut votes = BTreeMap::from([("red", 0), ("blue", 2), ("invalid", 0)]);
        for attack in &self.attacks {
            *votes.get_mut(attack.counts.as_str()).expect("what it counts as") += 1;
            let answer = &first[&attack.name];
            let counted = answer["answer"]["vote"].as_str().unwrap_or("invalid");
            assert_eq!(counted, attack.counts, "{}: {answer}", attack.name);
        }
        let tallies = self.events("tally_made");
        assert_eq!(tallies[0]["scores"]["red"], votes["red"]);
        assert_eq!(tallies[0]["scores"]["blue"], votes["blue"]);
        assert_eq!(tallies[0]["invalid"], votes["invalid"]);
        for later in &tallies[1..] {
            assert_eq!(later["scores"]["blue"], self.attacks.len() + 2, "{later}");
        }
    }

    /// Later snapshots have only their own keys; every answer is data in its place.
    fn keeps_the_snapshots(&self) {
        let (first, everything) = (self.first(), all(&self.attacks));
        let opened = self.events("round_opened");
        assert_eq!(opened.len(), 3);
        for (opened, steps) in opened[1..].iter().zip([&["pick"][..], &["again", "sum", "check"]]) {
            let inner = inner(opened["snapshot"].as_str().expect("a snapshot"));
            let keys: Vec<&str> = inner.keys().map(String::as_str).collect();
            let wanted = "goal current_round question ballot artifacts_snapshot recent_rounds context";
            assert_eq!(keys.join(" "), wanted);
            assert_eq!(inner["ballot"], json!({ "kind": "choice", "options": OPTIONS }));
            let context = inner["context"].as_object().expect("a mapping");
            assert_eq!(context.keys().collect::<Vec<_>>(), steps);
            let data = context[steps[0]]["data"].as_array().expect("a list");
            assert_eq!(data.len(), self.attacks.len() + 2);
            for (entry, attack) in data.iter().zip(&self.attacks) {
                assert_eq!(entry["stepId"], attack.name);
                if steps[0] == "pick" && attack.counts == "invalid" {
                    assert_eq!(entry["status"], "rejected");
                } else if steps[0] == "pick" {
                    assert_eq!(entry["result"], first[&attack.name]["answer"], "{}", attack.name);
                }
            }
            if let Some(sum) = context.get("sum") {
                assert_eq!(sum["result"], everything.trim());
                assert_eq!(context["check"]["data"][0]["result"]["feedback"], everything);
            }
        }
    }

    /// Every prompt has exactly one set of rules, snapshot and addressed lines. Braces of answers in a template
    /// stay text.
    fn keeps_the_prompts(&self) {
        let offered = self.events("work_item_offered");
        for item in offered.iter().filter(|item| item["round"].is_string()) {
            let prompt = item["prompt"].as_str().expect("a prompt");
            assert_eq!(lines_beginning(prompt, "participant_context:"), 1);
            assert_eq!(lines_beginning(prompt, "  your_role:"), 1);
            assert_eq!(lines_beginning(prompt, "---"), 0);
            let own = format!("  your_role: \"{}\"\n", item["participant"].as_str().expect("a name"));
            assert!(prompt.contains(&own));
        }
        let sum = offered.iter().find(|item| item["step"] == "sum").expect("the agent's item");
        let prompt = sum["prompt"].as_str().expect("a prompt");
        assert!(prompt.ends_with("End of Paint the shed."), "{prompt}");
        let each = "{{#each context}}{{@key}}{{/each}}";
        has(prompt, &["{{goal}} {{input}} {{context.pick.success}}", each, "{{*inline \"x\"}}"]);
    }

    /// The file contains each printed event once, and verifies.
    fn keeps_the_file(&self) {
        let log = self.desk.read("s.s2s");
        assert_eq!(lines_beginning(&log, "---"), self.lines.len());
        assert_eq!(lines_beginning(&log, "hash: "), self.lines.len());
        let head = self.lines.last().expect("a line")["hash"].as_str().expect("a hash");
        self.desk.run(["verify", "s.s2s", "--expect", head]).code(0);
        self.desk.run(["report", "s.s2s", "--format", "madr", "--even-undecided", "--round", "last"]).code(0);
        for format in ["md", "json", "html", "csv"] {
            self.desk.run(["report", "s.s2s", "--format", format]).code(0);
        }
    }
}

#[test]
fn attacks_change_neither_a_snapshot_nor_a_tally_nor_the_file() {
    let attacked = Attacked::run();
    attacked.counts_them_for_what_they_are();
    attacked.keeps_the_snapshots();
    attacked.keeps_the_prompts();
    attacked.keeps_the_file();
}
