//! Reports of hostile sessions: in every format what participants, models, files and services said is
//! shown and does nothing: no formula, no script, no link, no heading, no escape.

use serde_json::{Value, json};

use crate::program::{Desk, has};
use crate::server::{Answer, Server};

const HOSTILE: &str = "=HYPERLINK(\"http://e\",\"x\")§+1+cmd|' /C calc'!A0§-2+3+cmd|' /C calc'!A0§@SUM(1+1)*cmd|' /C calc'!A0\
    §\t=1+1§\r=1+1§\u{ff1d}1+1§\u{ff0b}1§\u{ff0d}1§\u{ff20}x§ =1+1§a\",\"b\r\n\"=1+1\
    §<script>alert(1)</script>§<img src=x onerror=alert(1)>§<svg/onload=alert(1)>\
    §</style><script>alert(1)</script>§</title><script>alert(1)</script>\
    §&lt;script&gt;alert(1)&lt;/script&gt;§[x](javascript:alert(1))§![x](http://e/pixel.png)§<http://e/auto>\
    §http://e/bare§[x]: http://e/reference\n\n[x]§[x][y] [y]: javascript:alert(1)§# Decision: forged\
    §x\n=====\n§x\n-----\n§- item\n1. item\n§```\n# Decision: forged\n```§    # code\
    §| a | b |\n|---|---|\n| c | d |§> quoted\n\n## Decision: forged§**Decision: forged**\
    §---\nstatus: accepted\n---\n§a\\\n# Decision: forged\
    §\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]8;;http://e\u{1b}\\x\u{1b}]8;;\u{1b}\\\
    §\u{1b}]52;c;QUJD\u{7}\u{1b}P1$qm\u{1b}\\\u{1b}_apc\u{1b}\\\u{9b}31m\u{90}q\u{9c}\
    §over\rwritten\u{8}\u{8}\u{7f}\
    §\u{202e}flip\u{2066}x\u{2069}\u{200b}\u{ad}\u{feff}\u{2028}\u{2029}\u{85}\u{e0041}\u{fff9}";

fn hostile() -> Vec<String> {
    let mut texts: Vec<String> = HOSTILE.split('§').map(str::to_owned).collect();
    texts.push(format!("e{}", "\u{301}".repeat(10_000)));
    texts.push(format!("👩{}", "\u{200d}👩".repeat(500)));
    texts
}

fn desk(server: &Server) -> Desk {
    let texts = hostile();
    let seat = |at| json!({ "name": format!("seat-{at}"), "prompt": "You paint.", "model": "lab/m" });
    let seats: Vec<Value> = (0..texts.len()).map(seat).collect();
    let definition = json!({
        "goal": "Paint the shed", "participants": seats, "constraints": texts,
        "steps": [
            { "id": "pick", "type": "round", "question": texts.join("\n"), "rule": "plurality", "close": "all",
              "ballot": { "kind": "choice", "options": ["red", "=blue"] } },
            { "id": "sum", "type": "agent", "agent": "seat-0", "prompt": "Sum up." },
            { "id": "check", "type": "review", "of": "sum", "reviewers": ["seat-1"], "criteria": ["clarity"] },
            { "id": "ok", "type": "approval", "message": texts.join(" ") },
        ],
    });
    let desk = Desk::with(&definition.to_string()).served_by(server);
    desk.write("answers.json", json!({"ok": {"approved": true, "comment": texts.join("\n")}}).to_string());
    desk.run(["--batch", "--quiet", "--answers", "answers.json", "--save", "s.s2s", "decide.yaml"]).code(0);
    desk
}

fn server() -> Server {
    let texts = hostile();
    Server::start(move |request| {
        let seat = request.seat();
        let Some(at) = seat.strip_prefix("seat-").and_then(|at| at.parse::<usize>().ok()) else {
            let said = texts.join("\n");
            let verdict = json!({ "approved": true, "feedback": said }).to_string();
            return Answer::chat(if request.json().to_string().contains("approved") {
                &verdict
            } else {
                &said
            });
        };
        let text = &texts[at];
        if at % 7 == 6 {
            return Answer::json(400, &json!({ "error": { "message": text } }));
        }
        let vote = if at % 5 == 4 { "=blue" } else { "red" };
        let answer = json!({
            "vote": vote, "position": text, "rationale": [text], "trade_offs": { "risks": [text] },
            "concerns": [text], "references": [text], text.as_str(): text, "confidence": 0.5,
        });
        Answer::chat(&answer.to_string())
    })
}

fn acts(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{9}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{200b}' | '\u{200e}'
        | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Nothing acts on a terminal, and nothing is stacked up on it.
#[track_caller]
fn harmless(text: &str) {
    if let Some(at) = text.find(acts) {
        let near: String = text[at..].chars().take(40).collect();
        panic!("{near:?}");
    }
    let longest = text.split(|c| c != '\u{301}').map(|run| run.chars().count()).max();
    assert!(longest <= Some(8), "{longest:?} combining marks on one another");
}

#[test]
fn no_format_acts_for_what_a_session_holds() {
    let server = server();
    let desk = desk(&server);
    let report = |format: &str| desk.run(["report", "s.s2s", "--format", format]).code(0).out;
    csv(&report("csv"));
    html(&report("html"));
    let md = report("md");
    harmless(&md);
    let is_heading = |line: &&str| line.starts_with("# ") || line.starts_with("## ");
    let headings: Vec<&str> = md.lines().filter(is_heading).collect();
    let wanted = "# §## Options§## Who voted what§## Dissent§## Seats that did not count§## Cost and check§## The record§\
                  ## Approvals§## Steps§## Reviews§## Session details";
    let fits = headings.iter().zip(wanted.split('§')).all(|(found, wanted)| found.starts_with(wanted));
    assert!(fits && headings.len() == wanted.split('§').count(), "{headings:?}");
    let madr = report("madr");
    harmless(&madr);
    assert!(madr.lines().all(|line| !line.contains("Decision: forged") || !line.starts_with('#')), "{madr}");
    assert_eq!(madr.lines().filter(|line| *line == "---").count(), 2, "its own front matter alone");
    let text = report("json");
    harmless(&text);
    let back: Value = serde_json::from_str(&text).expect("JSON");
    let texts = hostile();
    assert_eq!(back["rounds"][0]["seats"][0]["answer"]["position"], texts[0].as_str(), "raw for programs");
    assert_eq!(back["rounds"][0]["seats"][38]["answer"]["position"], texts[38].as_str());
    for verb in [&["replay", "s.s2s", "--text"][..], &["replay", "s.s2s", "--json"], &["trace", "s.s2s"]] {
        harmless(&desk.run(verb).code(0).out);
    }
}

/// Every row has its cells; none of them is a formula to a spreadsheet.
fn csv(text: &str) {
    harmless(&text.replace("\r\n", "\n"));
    let mut rows = 0;
    for line in text.split_terminator("\r\n") {
        let cells = cells(line);
        assert_eq!(cells.len(), 30, "{line}");
        for cell in cells {
            let first = cell.trim_start().chars().next().unwrap_or('x');
            let is_formula = "=+-@\t\r\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}".contains(first);
            assert!(!is_formula || cell.parse::<f64>().is_ok(), "{cell}");
        }
        rows += 1;
    }
    assert_eq!(rows, hostile().len() + 1);
}

fn cells(line: &str) -> Vec<String> {
    // Within a cell a quote is two; between cells there is one comma between two quotes.
    let inside = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).expect("quoted cells");
    let (mut cells, mut chars) = (vec![String::new()], inside.chars().peekable());
    while let Some(c) = chars.next() {
        if c == '"' && chars.peek() != Some(&'"') {
            assert_eq!((chars.next(), chars.next()), (Some(','), Some('"')), "{line}");
            cells.push(String::new());
            continue;
        }
        if c == '"' {
            chars.next();
        }
        cells.last_mut().expect("a cell").push(c);
    }
    cells
}

/// Nothing but the report's own tags; attributes are quoted, and none of them acts or leads anywhere.
fn html(text: &str) {
    const OWN: &str = " !doctype html head meta title style body a main header p span h1 h2 h3 section div dl dt dd strong \
                       small i b u ul ol li table caption thead tbody tr th td svg path text tspan rect circle line g figure \
                       figcaption blockquote q em code pre details summary article footer br hr ";
    harmless(text);
    for tag in text.split('<').skip(1) {
        let inside = tag.split('>').next().expect("a tag");
        let name = inside.trim_start_matches('/').split([' ', '/']).next().expect("a name").to_lowercase();
        assert!(OWN.contains(&format!(" {name} ")), "<{inside}>");
        let names: String = inside.split('"').step_by(2).collect();
        assert!(!["src=", " on", "action="].iter().any(|acts| names.contains(acts)), "<{inside}>");
        assert!(!names.contains("href=") || inside.contains("href=\"#decision\""), "<{inside}>");
    }
    assert_eq!(text.matches("<title>").count(), 1);
    assert!(text.contains("default-src 'none'"));
}

#[test]
fn reports_are_written_in_the_same_run_by_their_endings() {
    let desk = Desk::with(
        "question: Which?\nparticipants: [qa-lead, skeptic]\nballot: {kind: choice, options: [a, b]}\nrule: majority\n",
    );
    desk.write("answers.yaml", "decide: {qa-lead: {vote: a, rationale: [small]}, skeptic: {vote: a}}\n");
    let run = |more: &[&str]| {
        let all = ["--batch", "decide.yaml", "--answers", "answers.yaml", "--save", "s.s2s"];
        desk.run(all.iter().chain(more).copied())
    };
    for (out, said) in [
        ("page.txt", "cannot tell the format of `page.txt`"),
        ("none/page.html", "no folder `none`"),
        ("s2.s2s", "refusing to overwrite a session file"),
    ] {
        run(&["--out", out]).code(2).tells(said);
        assert!(!desk.path("s.s2s").exists(), "nothing was asked");
    }
    let out = "--out page.html -o record.madr.md -o votes.csv -o all.json -o read.md";
    run(&out.split(' ').collect::<Vec<_>>()).code(0);
    for (file, words) in [
        ("page.html", "Both seats chose it."),
        ("record.madr.md", "Chosen option: \"a\", because small."),
        ("votes.csv", "\"votes a\""),
        ("read.md", "roundtable verify s.s2s"),
    ] {
        has(&desk.read(file), &[words]);
    }
    let all: Value = serde_json::from_str(&desk.read("all.json")).expect("JSON");
    assert_eq!(all["verdict"]["headline"], "a");
}

/// Date, question, outcome, strength, status, who adopted it and what it replaces, over all saved sessions.
#[test]
fn the_log_of_decisions_has_a_row_for_each_decision_of_each_session() {
    let desk = Desk::new();
    let round = "type: round, ballot: {kind: choice, options: [a, b]}, rule: majority";
    desk.write("two.yaml", format!(
        "supersedes: ADR-0007\nparticipants: [{{name: ann, model: human}}, {{name: bob, model: human}}]\nsteps:\n  \
         - {{id: one, question: \"First | one?\", {round}}}\n  - {{id: ok, type: approval, message: \"Adopt {{{{context.one.tally.winners}}}}?\"}}\n  \
         - {{id: two, question: Second?, {round}}}\n"
    ));
    let votes = "{ann: {vote: a}, bob: {vote: a}}";
    desk.write(
        "answers.yaml",
        format!(
            "one: {votes}\nok: {{approved: true, by: Ana}}\ntwo: {{ann: {{vote: a}}, bob: {{vote: b}}}}\n"
        ),
    );
    desk.run(["--batch", "two.yaml", "--answers", "answers.yaml"]).code(3);
    let rows = desk.run(["sessions", "--decisions", "--json"]).code(0).lines();
    let [first, second] = &rows[..] else { panic!("{rows:?}") };
    let keys = "date question outcome strength status because adopted_by supersedes session";
    assert_eq!(
        first.as_object().expect("a map").keys().map(String::as_str).collect::<Vec<_>>().join(" "),
        keys
    );
    assert_eq!((&first["question"], &first["outcome"]), (&json!("First | one?"), &json!("Decision: a")));
    assert_eq!(
        (&first["adopted_by"], &first["supersedes"]),
        (&json!("Ana (by answers file)"), &json!("ADR-0007"))
    );
    assert_eq!((&second["status"], &second["adopted_by"]), (&json!("undecided"), &json!(null)));
    // What rehearsals and damaged files hold is no decision; the latter are named.
    desk.run(["ask", "Which?", "a", "b", "--rehearse", "--yes"]).code(0);
    desk.write("../home/state/sessions/20990101-000000-x-0000.s2s", "---\nseq: 0\n");
    let ran = desk.run(["sessions", "--decisions"]).code(0);
    ran.tells("0000.s2s: ")
        .tells("with --save")
        .shows("date · question · ")
        .shows(" · First | one? · Decision: a · ");
    assert_eq!(ran.shows(" · undecided · – · ").out.lines().count(), 3, "{}", ran.out);
    let table = desk.run(["sessions", "--decisions", "--markdown"]).code(0).out;
    assert!(table.starts_with("| date | question | ") && table.contains(" | First \\| one? | "), "{table}");
    desk.run(["sessions", "--json"]).code(2);
    let saved = desk.run("ask Which? a b --rehearse --yes --supersedes ADR-1 --save-as q.yaml".split(' '));
    assert!(saved.code == 0 && desk.read("q.yaml").contains("ADR-1"));
}

#[test]
fn decision_records_have_numbers_and_predecessors_and_need_a_decision() {
    let definition = "goal: \"Cache: which first?\"\nquestion: Which?\nparticipants: [qa-lead, skeptic]\n\
                      ballot: {kind: choice, options: [a, b]}\nrule: majority\nsupersedes: ADR-0007\n";
    let desk = Desk::with(definition);
    desk.write("answers.yaml", "decide: {qa-lead: {vote: a}, skeptic: {vote: a}}\n");
    desk.write("split.yaml", "decide: {qa-lead: {vote: a}, skeptic: {vote: b}}\n");
    let run = |answers: &str, file: &str, out: &str| {
        desk.run(["--batch", "decide.yaml", "--answers", answers, "--save", file, "--out", out])
    };
    run("answers.yaml", "s.s2s", "r.md").code(0);
    std::fs::create_dir(desk.path("adr")).expect("a folder");
    let record = ["report", "s.s2s", "--number", "14", "--out"];
    desk.run(record.iter().copied().chain(["adr"])).code(0);
    let text = std::fs::read_to_string(desk.path("adr/0014-cache-which-first.md")).expect("the record");
    assert!(text.starts_with("---\nstatus: \"proposed, supersedes ADR-0007\"\n"), "{text}");
    desk.run(record.iter().copied().chain(["adr"])).code(0);
    desk.write("adr/0014-other.md", "another");
    let ran = desk.run(record.iter().copied().chain(["adr"])).code(2);
    ran.tells("number 14 is already used by `0014-other.md`");
    desk.run(record.iter().copied().chain(["r.madr.md"])).code(2).tells("--number needs a folder");
    desk.run(["report", "s.s2s", "--even-undecided"]).code(2).tells("needs a decision record");

    let ran = run("split.yaml", "tied.s2s", "tied.madr.md").code(3);
    ran.tells("no decision record written: No decision: a and b tie");
    let ran = desk.run(["report", "tied.s2s", "--out", "tied.madr.md", "--out", "tied.html"]).code(3);
    ran.tells("no decision record written: No decision: a and b tie");
    assert!(!desk.path("tied.madr.md").exists() && desk.path("tied.html").exists());
    let ran = desk.run(["report", "tied.s2s", "--format", "madr", "--even-undecided"]).code(0);
    assert!(ran.out.starts_with("---\nstatus: \"proposed, supersedes ADR-0007\"\n"), "{}", ran.out);
}

/// An answer of 1 MB does not count and says so; a long one is cut in pages and whole for programs; of a file that
/// ends within a document the report shows what is whole, and says that the rest is missing.
#[test]
fn long_answers_and_torn_files_are_reported() {
    let desk = Desk::with(
        "question: Which?\nparticipants: [qa-lead, skeptic, coder]\nballot: {kind: choice, options: [a, b]}\nrule: majority\n",
    );
    let (long, huge) = ("word & <b>text</b> ".repeat(5_800), "x".repeat(1_000_000));
    let answers = json!({ "decide": {
        "qa-lead": { "vote": "a", "position": long }, "skeptic": { "vote": "a" },
        "coder": { "vote": "b", "position": huge },
    } });
    desk.write("answers.json", answers.to_string());
    desk.run(["--batch", "--quiet", "decide.yaml", "--answers", "answers.json", "--save", "s.s2s"]).code(0);
    let formats =
        [("html", 200_000, false), ("md", 400_000, false), ("csv", 400_000, true), ("json", 900_000, true)];
    for (format, at_most, is_whole) in formats {
        let text = desk.run(["report", "s.s2s", "--format", format]).code(0).out;
        assert!(text.len() < at_most, "{format}: {} bytes", text.len());
        let parts = text.matches("word &").count();
        assert!(parts > 500 && (parts >= 5_800) == is_whole, "{format}: {parts}");
        assert!(text.contains("the reply is too long to be kept"), "{format}");
    }

    let whole = desk.read("s.s2s");
    let at = whole.find("\nevent: tally_made").expect("a tally");
    desk.write("torn.s2s", &whole[..at + 20]);
    for format in ["md", "html", "madr"] {
        let even = (format == "madr").then_some("--even-undecided");
        let ran = desk.run(["report", "torn.s2s", "--format", format].into_iter().chain(even)).code(0);
        ran.tells("of an incomplete write at the end");
        ran.shows("of an incomplete write at the end of the file are left out");
        ran.shows("qa-lead");
    }
}
