//! Tests of event lines: one per event, safe, and without sealed content.

use serde_json::json;

use super::{CHOICE, Table, below_quorum, decided};
use crate::history::{Event, Session};
use crate::report::event_line;

/// Returns the lines of a session, each formatted with the state at its time.
fn lines(table: &Table) -> Vec<String> {
    let mut session = Session::default();
    let mut lines = Vec::new();
    for stamped in &table.events {
        session.apply(stamped);
        lines.extend(event_line(&stamped.event, stamped.at, &session));
    }
    lines
}

#[test]
fn a_session_line_by_line() {
    let table = decided();
    let opened = &table.session.rounds[0].opened;
    let round = format!(
        "23:05:10  round pick open: 3 seats, majority, quorum 2, snapshot {} bytes, about {} tokens a seat, \
         sha256 {}…",
        opened.snapshot_bytes,
        opened.estimated_tokens,
        &opened.snapshot_sha256[..8]
    );
    let expected = [
        "23:05:08  session s-1 opened: cache.yaml, 3 participants",
        &round,
        "23:05:11  asked  software-architect  ollama/llama3.2",
        "23:05:12  asked  qa-lead  ollama/llama3.2",
        "23:05:13  asked  devops-engineer  ollama/llama3.2",
        "23:05:14  sealed  devops-engineer  3.2 s",
        "23:05:15  sealed  software-architect  3.2 s",
        "23:05:16  sealed  qa-lead  3.2 s",
        "23:05:17  round pick closed: closed by facilitator",
        "23:05:18  revealed software-architect: votes inline (confidence 0.8)",
        "23:05:19  revealed qa-lead: votes inline",
        "23:05:20  revealed devops-engineer: votes redis (confidence 0.6)",
        "23:05:21  tally pick: Decision: inline. 2 of 3 seats chose it (a majority needed). 1 chose redis. Strength: weak.",
        "23:05:22  step pick finished after 13.0 s",
        "23:05:23  session finished",
    ];
    assert_eq!(lines(&table), expected);
}

#[test]
fn a_missed_quorum_is_shown_with_its_causes() {
    let lines = lines(&below_quorum());
    assert!(lines.iter().any(|line| line.ends_with("failed  software-architect  5.0 s: connection refused")));
    assert!(lines.iter().any(|line| line.ends_with("missing: devops-engineer")));
    let tally = "tally pick: No decision: too few took part. 1 of 3 took part, 2 are needed. \
                 1 failed, 1 missing. The 1 ballot cast: inline 1.";
    assert!(lines.iter().any(|line| line.ends_with(tally)));
}

#[test]
fn every_line_is_one_safe_line() {
    let hostile = "\u{1b}]0;x\u{7}\n23:05:07  revealed qa-lead: votes redis\u{202e}";
    let mut table = Table::round(CHOICE);
    table.fail("qa-lead", hostile);
    table.apply(Event::warning(hostile));
    table.seal("software-architect");
    let mut early = table.vote("software-architect", "inline", json!({"position": hostile}));
    early.reason = Some(hostile.to_owned());
    let answers = vec![early];
    table.close(answers);
    let lines = lines(&table);
    assert!(lines.iter().all(|line| !line.chars().any(crate::sanitize::is_unsafe)));
    assert!(lines.iter().any(|line| line.contains("warning: \\u{1b}]0;x\\u{7}⏎23:05:07")));
}

#[test]
fn a_rehearsal_is_labelled_from_its_first_line() {
    let table = Table::open(CHOICE, "rehearsal");
    let first = &lines(&table)[0];
    assert!(first.contains("REHEARSAL: session s-1 opened"), "{first}");
    assert!(first.ends_with("picked at random by placeholders, not by a model"), "{first}");
}
