//! Parts: what stands in a session file already is not written again, and every reader puts it back.

use std::fmt::Write as _;

use roundtable::history::{Event, TimedEvent, Timestamp};
use roundtable::journal::{
    Disk, Journal, NO_HASH, PARTS, PartWriter, fold, read_log, verify, write_document, write_with_parts,
};
use serde_json::{Value, json};

use crate::program::{Desk, sha256};
use crate::yaml::texts::{NASTY, generated};

const AT: Timestamp = Timestamp(1_795_302_307_120);

fn stamped(event: Value) -> TimedEvent {
    TimedEvent { at: AT, event: serde_json::from_value(event).expect("an event") }
}

fn header() -> TimedEvent {
    stamped(json!({
        "event": "session_opened", "session": "s-1", "format": 2, "program": "p", "definition_file": "d.yaml",
        "definition_sha256": "", "definition": "question: q\n", "input": "x", "participants": [],
        "personas": [], "parts": PARTS,
    }))
}

fn finished(data: Value) -> TimedEvent {
    let mut event = json!({
        "event": "step_finished", "step": "s", "stepId": "s", "success": true, "startTime": AT,
        "endTime": AT, "duration": 1,
    });
    event["data"] = data;
    stamped(event)
}

/// The events as a file: with names for its parts, and in full.
fn written(events: &[TimedEvent]) -> (String, String) {
    let (mut short, mut full, mut part_writer) = (String::new(), String::new(), PartWriter::default());
    let (mut prev, mut before) = (NO_HASH.to_owned(), NO_HASH.to_owned());
    for (seq, stamped) in (0..).zip(events) {
        prev = write_with_parts(seq, &prev, "s-1", stamped, Some(&mut part_writer), &mut short)
            .expect("an event");
        before = write_document(seq, &before, "s-1", stamped, &mut full).expect("an event");
    }
    (short, full)
}

#[track_caller]
fn reads(file: &str, events: &[TimedEvent]) {
    let log = read_log(file.as_bytes()).expect("what was written can be read");
    assert_eq!(log.torn, 0);
    for (line, event) in log.lines.iter().zip(events) {
        assert_eq!(&line.stamped, event, "document {}", line.seq);
    }
    assert_eq!(log.lines.len(), events.len());
}

/// Texts of which some are long, and some look like the name of a part.
fn pool() -> Vec<String> {
    let mut pool: Vec<String> =
        NASTY.iter().map(|text| format!("{text}{}", "a long text ".repeat(50))).collect();
    let generated: Vec<String> = generated(20_261_122, 900).collect();
    for (at, texts) in generated.chunks(30).enumerate() {
        pool.push(texts.join(["\n", "\n  ", "\n\n", "\n - ", "", ": \""][at % 6]));
        pool.push(texts[..3].join("\n"));
    }
    let lines = |indent: usize| {
        (0..40).fold(String::new(), |text, line| {
            text + &format!("{:indent$}line {line} of it\n", "", indent = indent * (line % 3))
        })
    };
    pool.extend([lines(0), lines(1), lines(7), format!("{}\n \n", lines(2)), format!("a\n{}", lines(30))]);
    pool.push(format!("$part {}", "0".repeat(64)));
    pool.push(format!("{}a: \"$part {}\n{}", lines(0), sha256(&lines(0)), lines(1)));
    pool
}

#[test]
fn any_events_are_read_back_and_what_repeats_takes_little() {
    let pool = pool();
    let mut state = 9_u64;
    let mut text = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        pool[(state >> 33) as usize % pool.len()].clone()
    };
    let mut events = vec![header()];
    for round in 0..600 {
        events.push(match round % 4 {
            0 => finished(json!({ "plan": text(), "again": [text(), { "deep": text(), "n": 1 }] })),
            1 => finished(json!([[text()], [[text(), text()]], { text(): text() }])),
            2 => finished(text().into()),
            _ => TimedEvent { at: AT, event: Event::warning(&(text() + "\n" + &text())) },
        });
    }
    let (short, full) = written(&events);
    reads(&short, &events);
    reads(&full, &events);
    assert!(short.contains("\n--- # parts\n"));
    assert!(short.len() * 4 < full.len() * 3, "{} of {} bytes", short.len(), full.len());
}

#[test]
fn content_stands_once_wherever_it_is_handed_on() {
    let plan = "A plan that is long enough to be worth a name.\n".repeat(20);
    let one_line = "A plan in one line, and long enough: also this. ".repeat(20);
    for content in [json!(plan), json!(one_line), json!({ "title": "t", "files": vec!["src/main.rs"; 60] })] {
        let artifact = json!({ "artifact_id": "plan", "version": 1, "content": content });
        let events = [
            header(),
            finished(content.clone()),
            finished(json!({ "previous_artifacts": [artifact] })),
            finished(json!({ "context": { "plan": content, "more": { "previous_artifacts": [artifact] } } })),
        ];
        let (short, _) = written(&events);
        reads(&short, &events);
        let once =
            serde_json::to_string(&content).expect("JSON")[2..40].split("\\n").next().map(str::to_owned);
        let found = if content.is_object() { "src/main.rs".to_owned() } else { once.expect("a line") };
        let holders = short.split("\nhash: ").filter(|document| document.contains(&found)).count();
        assert_eq!(holders, 1, "{short}");
    }
}

/// However often something is repeated, what is written can be read within the room that a reader has.
#[test]
fn what_would_unfold_too_far_is_written_in_full() {
    let long = "A line of a text that is half a megabyte long.\n".repeat(12_000);
    let numbers: Value = (0..20_000).collect();
    let mut events = vec![header()];
    events.extend((0..50).map(|_| finished(long.clone().into())));
    events.extend((0..4).map(|_| finished(numbers.clone())));
    let (short, full) = written(&events);
    reads(&short, &events);
    let share = full.len() as f64 / short.len() as f64;
    assert!((2.0..8.0).contains(&share), "{share}");
}

/// A file of these documents, chained; the header is the program's own.
fn forged(header: &TimedEvent, documents: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut prev = write_document(0, NO_HASH, "s-1", header, &mut out).expect("a header");
    for (seq, (mark, data)) in (1..).zip(documents) {
        let text = format!(
            "{mark}\nseq: {seq}\nprev: \"{prev}\"\nat: \"{AT}\"\nevent: step_finished\nsession: \"s-1\"\nstep: s\nstepId: s\n\
             success: true\n{data}\nstartTime: \"{AT}\"\nendTime: \"{AT}\"\nduration: 1\n"
        );
        prev = sha256(&text);
        writeln!(out, "{text}hash: {prev}").expect("a string takes it");
    }
    out
}

#[test]
fn a_part_that_is_not_there_is_damage_and_other_rules_are_another_version() {
    let text = "a line of a part\n".repeat(40);
    let part = text.lines().fold("data: |\n".to_owned(), |out, line| out + "  " + line + "\n");
    let (part, hash) = (part.trim_end(), sha256(&text));
    let name = format!("data: |\n  $part {hash}");
    let other = format!("data: |\n  $part {}", sha256("x"));
    let says = |header: &TimedEvent, documents: &[(&str, &str)]| match read_log(
        forged(header, documents).as_bytes(),
    ) {
        Ok(log) => format!("{:?}", log.lines.last().map(|line| &line.stamped.event)),
        Err(damage) => {
            assert_eq!(damage.other_format, damage.seq == Some(0));
            damage.what
        }
    };
    let parts = header();
    let mut none = header();
    let mut later = header();
    for (header, rules) in [(&mut none, None), (&mut later, Some(PARTS + 1))] {
        let Event::SessionOpened(opened) = &mut header.event else { panic!("a header") };
        opened.parts = rules;
    }
    let marked = "--- # parts";
    assert!(says(&parts, &[("---", part), (marked, &name)]).contains("a line of a part\\na line"));
    // Without the mark it is only a text, and so it is in a file that names no parts.
    assert!(says(&parts, &[("---", part), ("---", &name)]).contains(&hash));
    assert!(says(&none, &[("---", part), ("---", &name)]).contains(&hash));
    assert_eq!(says(&none, &[("---", part), (marked, &name)]), "it does not start with `---`");
    for documents in [&[("---", part), (marked, &*other)][..], &[(marked, &name), ("---", part)]] {
        assert!(says(&parts, documents).starts_with("no document before it holds the part `"));
    }
    // A document's own lines are none of its parts, nor is what holds the name of one.
    let twice = format!("{part}\nerror:\n  message: |\n    $part {hash}\n  stack: x");
    assert!(says(&parts, &[(marked, &twice)]).starts_with("no document before it holds the part"));
    let nested = format!("{name}\n  {}", text.replace('\n', "\n  "));
    let outer = sha256(&format!("$part {hash}\n{text}"));
    let named = format!("data: |\n  $part {outer}");
    let nested = [("---", part), (marked, nested.trim_end()), (marked, &*named)];
    assert!(says(&parts, &nested).starts_with("no document before it holds the part"));
    assert_eq!(says(&later, &[]), "the file has parts by rules 2; this version reads rules 1");
    let desk = Desk::new();
    desk.write("later.s2s", forged(&later, &[]));
    let ran = desk.run(["verify", "later.s2s"]).code(2);
    assert!(ran.err.contains("use a version of roundtable that knows this format"), "{}", ran.err);
    desk.write("wrong.s2s", forged(&parts, &[("---", part), (marked, &other)]));
    for verb in ["verify", "replay", "report", "trace"] {
        let ran = desk.run([verb, "wrong.s2s"]).code(6);
        assert!((ran.out + &ran.err).contains("no document before it holds the part"));
    }
}

const DEBATE: &str = "\
goal: \"Choose a cache\"
participants: [skeptic, qa-lead, technical-lead]
artifacts:
  - {id: REQ-001, relevant: true, summary: \"what it must do\", description: \"LONG\"}
steps:
  - {id: plan, type: agent, agent: skeptic, prompt: \"Plan it.\", output: plan}
  - {id: more, type: agent, agent: qa-lead}
  - {id: one, type: round, question: \"In-process or redis?\", ballot: {kind: choice, options: [in-process, redis]}, rule: plurality}
  - {id: two, type: round, question: \"In-process or redis now?\", ballot: {kind: choice, options: [in-process, redis]}, rule: plurality}
  - {id: three, type: round, question: \"And then?\"}
";

fn debate() -> Desk {
    Desk::with(&DEBATE.replace("LONG", &"The cache keeps what was asked for. ".repeat(40)))
}

/// A file with names for its parts, and the same events in full.
#[test]
fn every_verb_reads_the_same_with_parts_as_in_full() {
    let desk = debate();
    desk.run(["--batch", "decide.yaml", "--save", "short.s2s"]).code(0);
    let short = desk.read("short.s2s");
    let log = read_log(short.as_bytes()).expect("whole");
    let (mut full, mut prev) = (String::new(), NO_HASH.to_owned());
    let id = fold(&log).id;
    for line in &log.lines {
        prev = write_document(line.seq, &prev, &id, &line.stamped, &mut full).expect("an event");
    }
    let names = short.matches("$part ").count();
    assert!(
        names >= 3 && short.len() + 500 * names < full.len(),
        "{names}: {} of {}",
        short.len(),
        full.len()
    );
    assert_eq!(verify(full.as_bytes(), None).findings, []);
    desk.write("full.s2s", &full);
    let said = |verb: &[&str], file: &str| {
        let ran = desk.run(verb.iter().copied().chain([file])).code(0);
        assert!(!ran.out.contains("$part "), "{verb:?}");
        let own = &log.lines[log.lines.len() - 1].hash;
        [&prev, own].into_iter().fold(ran.out.replace(file, "FILE"), |out, hash| {
            // In full, and as a report shortens it.
            out.replace(hash, "HEAD").replace(&hash[..16], "HEAD")
        })
    };
    for verb in
        [&["verify"][..], &["trace"], &["trace", "--json"], &["report"], &["report", "--format", "html"]]
    {
        assert_eq!(said(verb, "short.s2s"), said(verb, "full.s2s"), "{verb:?}");
    }
    // So is a session that is linked.
    let linked = |file: &str| {
        let link = format!("{{id: l, fromId: {file}, toId: APP-1, type: follows}}");
        desk.write("linked.yaml", format!("question: q\nparticipants: [skeptic]\nlinks: [{link}]\n"));
        desk.run(["--batch", "linked.yaml", "--save", "new.s2s"]);
        let log = read_log(desk.read("new.s2s").as_bytes()).expect("whole");
        std::fs::remove_file(desk.path("new.s2s")).expect("removed");
        let opened = fold(&log).header.expect("a header");
        opened.linked_sessions.first().map(|session| session.report.clone()).expect("a linked session")
    };
    assert_eq!(linked("short.s2s"), linked("full.s2s"));
}

#[test]
fn a_recording_with_parts_gives_what_it_holds() {
    let desk = debate();
    let rounds: String =
        desk.read("decide.yaml").split_inclusive('\n').filter(|line| !line.contains("agent")).collect();
    desk.write("decide.yaml", rounds);
    let snapshots = |file: &str, more: &[&str]| {
        desk.run(["--batch", "decide.yaml", "--save", file].iter().chain(more)).code(0);
        let text = desk.read(file);
        assert!(text.contains("$part "));
        let session = fold(&read_log(text.as_bytes()).expect("whole"));
        session.rounds.iter().map(|round| round.opened.snapshot_sha256.clone()).collect::<Vec<_>>()
    };
    let first = snapshots("first.s2s", &[]);
    assert_eq!(snapshots("again.s2s", &["--model", "recorded/first.s2s"]), first);
    assert_eq!(first.len(), 3);
}

/// What is gone on with names the parts that were there before: after a torn write too, when the write held
/// the first of them.
#[test]
fn a_file_is_gone_on_with_by_the_parts_that_it_holds() {
    let text = "what was said before\n".repeat(40);
    let once = |name: &str| finished(json!({ name: text.clone() }));
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("s.s2s");
    let disk = Disk::default();
    let mut journal = Journal::create(&disk, &path, "s-1").expect("made");
    journal.append(vec![header()]).expect("written");
    journal.append(vec![once("a"), once("b")]).expect("written");
    drop(journal);
    let whole = std::fs::read_to_string(&path).expect("read");
    assert_eq!(whole.matches("$part ").count(), 1);
    let first = whole.find("\nseq: 1\n").expect("a document") - 3;
    let second = whole.find("\nseq: 2\n").expect("a document") - "--- # parts".len();
    for cut in [whole.len(), whole.len() - 1, second, second - 1, first + 100, first] {
        std::fs::write(&path, &whole[..cut]).expect("written");
        let opened = Journal::open(&disk, &path).expect("opens");
        let (mut journal, log) = (opened.journal, opened.log);
        journal.append(vec![once("c")]).expect("written");
        drop(journal);
        let after = std::fs::read_to_string(&path).expect("read");
        let expected: Vec<TimedEvent> =
            log.lines.into_iter().map(|line| line.stamped).chain([once("c")]).collect();
        reads(&after, &expected);
        assert_eq!(after.matches("what was said before\n").count(), 40, "cut at {cut}");
    }
    // A fork keeps the history byte for byte, and names its parts.
    std::fs::write(&path, {
        let mut text = whole.clone();
        let prev = read_log(whole.as_bytes()).expect("whole").lines.pop().expect("a document").hash;
        let fork =
            stamped(json!({ "event": "session_forked", "session": "s-2", "from": "s-1", "at_seq": 2 }));
        write_document(3, &prev, "s-2", &fork, &mut text).expect("an event");
        text
    })
    .expect("written");
    let mut journal = Journal::open(&disk, &path).expect("opens").journal;
    journal.append(vec![once("d")]).expect("written");
    drop(journal);
    let forked = std::fs::read_to_string(&path).expect("read");
    assert!(forked.starts_with(&whole));
    assert_eq!(
        (read_log(forked.as_bytes()).expect("whole").lines.len(), forked.matches("$part ").count()),
        (5, 2)
    );
}

#[test]
fn a_session_from_before_there_were_parts_is_gone_on_with_in_full() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("s.s2s");
    let mut old = header();
    let Event::SessionOpened(opened) = &mut old.event else { panic!("a header") };
    opened.parts = None;
    let mut journal = Journal::create(&Disk::default(), &path, "s-1").expect("made");
    journal.append(vec![old]).expect("written");
    drop(journal);
    let mut journal = Journal::open(&Disk::default(), &path).expect("opens").journal;
    let text = "what was said before\n".repeat(40);
    journal.append(vec![finished(text.clone().into()), finished(text.into())]).expect("written");
    drop(journal);
    let file = std::fs::read_to_string(&path).expect("read");
    assert!(!file.contains("# parts") && file.matches("what was said before\n").count() == 80);
}
