//! Whole sessions as files: `tests/scenarios/NAME/` has a definition, answers, and expected output.
//!
//! A new case is a new folder. `UPDATE_SCENARIOS=1` rewrites `expected.ndjson` and `expected.md`. Values that
//! vary from run to run, and long constant texts, are left out.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use roundtable::journal::{fold, read_log, verify};
use roundtable::report::{Document, Source, markdown};
use serde_json::{Value, json};

use crate::patience::Patient as _;

/// Keys whose values are left out everywhere.
const LEFT_OUT: &str = "\
    at session prev hash program public_key enc definition definition_sha256 texts key nonce commitment sealed \
    elapsed_ms latency_ms startTime endTime duration rules prompt prompt_sha256 estimated_tokens until \
    created_at createdAt";

#[test]
fn every_scenario_runs_as_written() {
    assert!(recorded().len() >= 13, "only {} scenarios are there", recorded().len());
    let wrong: Vec<String> = recorded().iter().flat_map(differences).collect();
    let what = "UPDATE_SCENARIOS=1 writes the expectations anew";
    assert!(wrong.is_empty(), "{} differences; {what}\n\n{}", wrong.len(), wrong.join("\n"));
}

pub fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let listed = fs::read_dir(&root).expect("scenarios").map(|entry| entry.expect("an entry").path());
    listed.collect::<BTreeSet<_>>().into_iter().collect()
}

fn differences(recorded: &Recorded) -> Vec<String> {
    let (events, report) = redacted(recorded);
    let found = [("expected.ndjson", events), ("expected.md", report)];
    let mut wrong = Vec::new();
    for (name, found) in found {
        let path = recorded.folder.join(name);
        if std::env::var_os("UPDATE_SCENARIOS").is_some() {
            fs::write(&path, &found).expect("writable");
        }
        let wanted = fs::read_to_string(&path).unwrap_or_default();
        if wanted != found {
            let at = wanted.lines().zip(found.lines()).take_while(|(a, b)| a == b).count();
            let [wanted, found] = [&wanted, &found].map(|text| text.lines().nth(at).unwrap_or("(nothing)"));
            wrong.push(format!("{}:{}\n  wanted {wanted}\n  found  {found}", path.display(), at + 1));
        }
    }
    wrong
}

/// Session and output of a scenario that was run headless.
pub struct Recorded {
    pub folder: PathBuf,
    pub session: Vec<u8>,
    pub done: Output,
    report: String,
}

/// Returns every scenario, run once for all tests.
pub fn recorded() -> &'static [Recorded] {
    static ALL: LazyLock<Vec<Recorded>> = LazyLock::new(|| folders().into_iter().map(record).collect());
    &ALL
}

fn record(folder: PathBuf) -> Recorded {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    // A service that accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address").to_string();
    if let Ok(config) = fs::read_to_string(folder.join("config.yaml")) {
        let to = home.join("config");
        fs::create_dir_all(&to).expect("a folder");
        fs::write(to.join("config.yaml"), config.replace("ADDRESS", &address)).expect("writable");
    }
    let file = home.join("session.s2s");
    let path = |name: &str| folder.join(name).display().to_string();
    let [definition, answers] = ["definition.yaml", "answers.yaml"].map(path);
    let session = file.display().to_string();
    let mut arguments = vec!["--batch", "--json", "--answers", &answers, "-o", "report.md"];
    arguments.extend(["--save", &session, &definition]);
    let [seed, input] = ["seed", "input"].map(|name| fs::read_to_string(path(&format!("{name}.txt"))));
    for (flag, value) in [("--seed", &seed), ("--input", &input)] {
        arguments.extend(value.iter().flat_map(|value| [flag, value.trim_end()]));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundtable"));
    // Placeholders answer for seats without a script.
    command.env("ROUNDTABLE_HOME", home).env("ROUNDTABLE_MODEL", "rehearsal");
    let done = command.args(arguments).current_dir(home).output_soon().expect("the program runs");
    let report = fs::read_to_string(home.join("report.md")).expect("a report");
    Recorded { folder, session: fs::read(file).expect("a session"), done, report }
}

/// Returns the redacted events and report of a scenario.
fn redacted(Recorded { folder, session, done, report }: &Recorded) -> (String, String) {
    let said = String::from_utf8_lossy(&done.stdout);
    let line = |line| serde_json::from_str(line).expect("a line of JSON");
    let mut events: Vec<Value> = said.lines().map(line).collect();
    let stderr = String::from_utf8_lossy(&done.stderr);
    let last = events.last().and_then(|event| event["hash"].as_str()).unwrap_or_default();
    assert!(stderr.contains(last), "{}: {stderr}", folder.display());
    assert_eq!(verify(session, Some(last)).findings, [], "{}", folder.display());
    // The file alone gives the same report.
    let (log, file) = (read_log(session).expect("whole"), Some("session.s2s".to_owned()));
    let source = Source { file, entries: log.lines.len(), last_hash: last.to_owned(), torn: 0 };
    assert_eq!(markdown(&Document::new(&fold(&log), source)), *report, "{}", folder.display());
    let day = events[0]["at"].as_str().expect("a time")[..10].to_owned();
    let report = report.replace(last, "HASH").replace(&last[..16], "HASH");
    let id = events[0]["session"].as_str().expect("an id").to_owned();
    in_roster_order(&mut events);
    // Prompts of seats consist of the snapshot and the addressed lines, which other events contain.
    let of_seat = |event: &&mut Value| event["event"] == "work_item_offered" && event["round"].is_string();
    for event in events.iter_mut().filter(of_seat) {
        event.as_object_mut().expect("a map").retain(|key, _| key != "input");
    }
    // A reviewed artifact contains the time of its creation.
    for event in events.iter_mut().filter(|event| event["review_context"].is_object()) {
        event.as_object_mut().expect("a map").shift_remove("context_sha256");
    }
    events.iter_mut().for_each(redact);
    events.push(json!({ "exit": done.status.code() }));
    let text: String = events.iter().flat_map(|event| [event.to_string(), "\n".to_owned()]).collect();
    (text, redacted_report(&report, &id).replace(&day, "DAY"))
}

/// Sorts seats by roster and the steps of a parallel by definition; they settle in any order.
fn in_roster_order(events: &mut [Value]) {
    let named = |list: &[Value], key: &str| -> Vec<String> {
        list.iter().map(|one| one[key].as_str().expect("a name").to_owned()).collect()
    };
    let seats = named(events[0]["participants"].as_array().expect("a roster"), "name");
    let nested: Vec<Value> = events.iter().filter(|event| event["within"].is_string()).cloned().collect();
    let nested = named(&nested, "step");
    let settles = |event: &Value| match event["event"].as_str() {
        Some(
            "ballot_sealed" | "seat_failed" | "work_item_returned" | "review_recorded" | "link_recorded",
        ) => true,
        Some("step_finished" | "work_item_claimed" | "approval_given" | "artifact_recorded") => {
            nested.iter().any(|step| event["step"] == step.as_str())
        }
        _ => false,
    };
    let place = |event: &Value| {
        let step = nested.iter().position(|step| event["step"] == step.as_str());
        let item = event["item"].as_str().or_else(|| event["link"]["fromId"].as_str());
        // A step ends after all of its items.
        let item = (event["event"] != "step_finished").then(|| item.unwrap_or_default().to_owned());
        let seat = seats.iter().position(|seat| event["participant"] == seat.as_str());
        (step, item.is_none(), item, seat.filter(|_| event["round"].is_string()))
    };
    for settled in events.chunk_by_mut(|a, b| settles(a) && settles(b)) {
        let first = settled[0]["seq"].as_u64().expect("a number");
        settled.sort_by_key(place);
        for (event, seq) in settled.iter_mut().zip(first..) {
            event["seq"] = seq.into();
        }
    }
}

fn redact(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| LEFT_OUT.split(' ').all(|left_out| left_out != key));
            if let Some(Value::Array(personas)) = map.get_mut("personas") {
                *personas = personas.iter().map(|persona| persona["name"].clone()).collect();
            }
            map.values_mut().for_each(redact);
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        _ => {}
    }
}

/// Removes id and version, and replaces times by `TIME` and durations by `0.0 s`.
fn redacted_report(report: &str, id: &str) -> String {
    let report = report.replace(id, "SESSION").replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let [time, span] = [r"\d{4}-\d\d-\d\dT[0-9:.]{12}Z", r"\b[0-9.]+ s\b"];
    let [time, span] = [time, span].map(|pattern| regex::Regex::new(pattern).expect("a pattern"));
    let report = time.replace_all(&report, "TIME");
    // On a busy machine a round may last longer than a second.
    span.replace_all(&report, "0.0 s").replace("0.0 s of answering in ", "")
}
