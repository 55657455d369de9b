//! Session files: no bytes cause a panic in any reader.
//!
//! Valid files are rewritten equal and verify alike.

use roundtable::core::next;
use roundtable::history::Session;
use roundtable::journal::{Chain, EventLog, NO_HASH, fold, read_log, verify};
use roundtable::report;
use roundtable::round::snapshot::sha256_hex;

pub fn session(data: &[u8]) {
    file(data);
    file(chained(data).as_bytes());
}

fn file(bytes: &[u8]) {
    let found = verify(bytes, None);
    assert!(found.findings.iter().all(|finding| !finding.what.is_empty()));
    match read_log(bytes) {
        Err(damage) => {
            assert_eq!(found.findings.len(), 1, "damage is found, and nothing of a damaged file is used");
            assert!(damage.offset <= bytes.len() && damage.line > 0 && !damage.what.is_empty());
            assert!(found.proven.is_empty());
        }
        Ok(log) => {
            assert_eq!(log.good + log.torn, bytes.len());
            assert!(log.torn == 0 || !found.findings.is_empty());
            assert!(log.lines.iter().enumerate().all(|(at, line)| line.seq == at as u64));
            shown(&log);
            written(&log, found.findings.is_empty());
        }
    }
}

fn shown(log: &EventLog) {
    let mut session = Session::default();
    for line in &log.lines {
        session.apply_entry(line);
        let _ = report::event_line(&line.stamped.event, line.stamped.at, &session);
        let shown =
            report::line(line.seq, &line.prev, &line.hash, line.stamped.at, &line.stamped.event, &session);
        assert!(!shown.contains('\n'));
    }
    let _ = next(&session);
    let document = report::Document::new(&session, report::Source::default());
    for write in [report::markdown, report::madr, report::json, report::html, report::csv, report::junit] {
        let _ = write(&document);
    }
    for entry in report::trace::trace(&log.lines, &session) {
        let _ = report::trace::text(&entry);
    }
}

fn written(log: &EventLog, verifies: bool) {
    let (mut out, mut chain) = (String::new(), Chain::default());
    for line in &log.lines {
        chain.write(line.stamped.clone(), &mut out);
    }
    let again = read_log(out.as_bytes()).expect("what was read and written is read");
    assert!(again.lines.iter().map(|line| &line.stamped).eq(log.lines.iter().map(|line| &line.stamped)));
    if log.torn == 0 && !log.lines.is_empty() {
        assert_eq!(verify(out.as_bytes(), None).findings.is_empty(), verifies);
    }
    assert_eq!(fold(&again), fold(log));
}

/// Renumbers the documents of a text and recomputes their hash chain.
fn chained(data: &[u8]) -> String {
    let text = String::from_utf8_lossy(data);
    let (mut out, mut prev) = (String::new(), NO_HASH.to_owned());
    for (seq, document) in text.split("---\n").filter(|document| !document.is_empty()).enumerate() {
        let own = |line: &&str| {
            !line.starts_with("seq: ") && !line.starts_with("prev: ") && !line.starts_with("hash: ")
        };
        let mut body = format!("---\nseq: {seq}\nprev: \"{prev}\"\n");
        for line in document.lines().filter(own) {
            body.push_str(line);
            body.push('\n');
        }
        prev = sha256_hex(&body);
        out.push_str(&body);
        out.push_str(&format!("hash: {prev}\n"));
    }
    out
}
