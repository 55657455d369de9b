//! Reports for build systems: a `JUnit` file, and annotations of a GitHub workflow.
//!
//! The session's case passes exactly if its exit code is 0. An undecided round fails only if it makes the exit
//! code nonzero, else it is skipped. Foreign text is escaped for each format.

use std::fmt::Write as _;

use super::model::{Document, RoundNotHeld, RoundRecord};
use super::sarif::level;
use crate::insight::findings::FindingGroup;
use crate::insight::join_list;
use crate::round::answer::Outcome;
use crate::sanitize::{harmless, harmless_line};

#[derive(Clone, Copy, Default, PartialEq)]
enum Standing {
    #[default]
    Passed,
    /// Undecided, but another result replaced it.
    Skipped,
    Failed,
    Unfinished,
}

/// One round, or the entire session.
#[derive(Default)]
struct Case {
    name: String,
    seconds: f64,
    standing: Standing,
    /// Reason for not passing.
    why: String,
    said: Vec<String>,
    /// Seats without a ballot, with the reason, one per line.
    without_ballot: Vec<String>,
}

fn undecided(failed: bool) -> Standing {
    if failed { Standing::Failed } else { Standing::Skipped }
}

/// Returns one case per round, in order, and the session's case last.
fn cases(document: &Document<'_>) -> Vec<Case> {
    let not_held = document.not_held.iter().map(|round: &RoundNotHeld<'_>| Case {
        name: format!("round {}", round.step),
        standing: undecided(round.failed),
        why: round.reason.to_owned(),
        ..Case::default()
    });
    document.rounds.iter().map(round).chain(not_held).chain([whole(document)]).collect()
}

fn round(round: &RoundRecord<'_>) -> Case {
    // A round without an end has no duration yet.
    let ended = round.closed_at.filter(|_| round.revealed).unwrap_or(round.opened_at);
    let seconds = ended.since(round.opened_at) as f64 / 1000.0;
    let mut case =
        Case { name: format!("round {}: {}", round.id, round.question), seconds, ..Case::default() };
    if !round.revealed {
        let state = if round.closed_at.is_some() { "closed, answers not revealed" } else { "open" };
        case.why = format!("{state}: {} of {} sealed", round.sealed, round.seats.len());
        case.standing = Standing::Unfinished;
    }
    if let (Some(made), Some(tally)) = (&round.headline, round.count) {
        if tally.rule.is_some() && !tally.decided {
            (case.standing, case.why) = (undecided(round.failed), made.line());
        }
        case.said.push(made.whole());
        let dissent = join_list(round.seats.iter().filter(|seat| seat.dissents).map(|seat| seat.participant));
        if !dissent.is_empty() {
            case.said.push(format!("dissent: {dissent}"));
        }
    }
    for seat in &round.seats {
        if let Some(outcome) = seat.outcome.filter(|outcome| *outcome != Outcome::Answered) {
            let why = seat.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            case.without_ballot.push(format!("{}: {}{why}", seat.participant, outcome.name()));
        }
    }
    case
}

fn whole(document: &Document<'_>) -> Case {
    let (code, outcome) = (document.exit_code, document.outcome.clone());
    Case {
        name: document.task.goal.unwrap_or(document.session).to_owned(),
        seconds: seconds(document),
        standing: match document.resume_verb {
            _ if code == 0 => Standing::Passed,
            None => Standing::Failed,
            Some(_) => Standing::Unfinished,
        },
        why: match (document.status, &document.reason) {
            ("paused", Some(reason)) => format!("paused: {reason}"),
            ("paused" | "open", _) => "the session is not finished".to_owned(),
            _ => outcome.clone().unwrap_or_else(|| format!("the session ended with exit code {code}")),
        },
        said: outcome.into_iter().chain(document.labels.iter().map(ToString::to_string)).collect(),
        without_ballot: Vec::new(),
    }
}

/// Returns the session's duration in seconds; 0 until it is closed.
fn seconds(document: &Document<'_>) -> f64 {
    if document.resume_verb.is_none() { document.took_ms as f64 / 1000.0 } else { 0.0 }
}

/// Returns a `JUnit` file: one suite, one case per round and one for the session.
pub fn junit(document: &Document<'_>) -> String {
    let cases = cases(document);
    let count = |standing| cases.iter().filter(|case| case.standing == standing).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\"",
        cases.len(),
        count(Standing::Failed),
        count(Standing::Unfinished),
        count(Standing::Skipped),
        seconds(document)
    );
    let (id, opened_at) = (attribute(document.session), document.opened_at);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"roundtable\" {counts}>\n\
         <testsuite name=\"{id}\" {counts} timestamp=\"{opened_at}\">\n"
    );
    for case in &cases {
        let (name, why) = (attribute(&case.name), attribute(&case.why));
        let _ = writeln!(out, "<testcase classname=\"{id}\" name=\"{name}\" time=\"{:.3}\">", case.seconds);
        out += &match case.standing {
            Standing::Passed => String::new(),
            Standing::Skipped => format!("<skipped message=\"{why}\"/>\n"),
            Standing::Failed => format!("<failure type=\"undecided\" message=\"{why}\"/>\n"),
            Standing::Unfinished => format!("<error type=\"unfinished\" message=\"{why}\"/>\n"),
        };
        for (tag, lines) in [("system-out", &case.said), ("system-err", &case.without_ballot)] {
            if !lines.is_empty() {
                let _ = writeln!(out, "<{tag}>{}</{tag}>", escaped(&harmless(&lines.join("\n"))));
            }
        }
        out.push_str("</testcase>\n");
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

/// Returns annotations of a GitHub workflow, one command per line: errors for failed and
/// unfinished cases, warnings for skipped ones and missing ballots, notices for results.
pub fn github(document: &Document<'_>) -> String {
    let mark = document.mark;
    let mut out = String::new();
    for case in cases(document) {
        let (level, otherwise) = match case.standing {
            Standing::Passed => ("notice", "passed"),
            Standing::Skipped => ("warning", &*case.why),
            Standing::Failed | Standing::Unfinished => ("error", &*case.why),
        };
        let mut command = |level: &str, text: &str| {
            let mark = if text.starts_with(mark) { "" } else { mark };
            let _ = writeln!(out, "::{level} title={}::{mark}{}", property(&case.name), message(text));
        };
        // A case's lines may begin with its failure, which must not appear twice.
        let mut said: Vec<&str> = case.said.iter().map(String::as_str).collect();
        if case.standing != Standing::Passed || said.is_empty() {
            said.insert(0, otherwise);
        }
        said.dedup();
        command(level, said[0]);
        said.iter().skip(1).for_each(|line| command("notice", line));
        case.without_ballot.iter().for_each(|line| command("warning", line));
    }
    for group in &document.findings {
        annotation(group, mark, &mut out);
    }
    out
}

/// Writes the annotation of a finding, at its place in the code if it has one.
fn annotation(group: &FindingGroup<'_>, mark: &str, out: &mut String) {
    // GitHub calls a note a notice.
    let level = level(group.severity).replace("note", "notice");
    let file = group.file.map(|file| format!(",file={}", property(file))).unwrap_or_default();
    let lines = group.lines.map(|(from, to)| format!(",line={from},endLine={to}")).unwrap_or_default();
    let title = format!("{}, found by {} of {}", group.severity.name(), group.seats, group.of);
    let mut claims: Vec<String> = group.findings.iter().map(|one| one.finding.claim.clone()).collect();
    claims.extend(group.not_in_evidence.iter().map(|(_, place)| format!("not in the evidence: {place}")));
    let _ = writeln!(
        out,
        "::{level} title={}{file}{lines}::{mark}{}",
        property(&title),
        message(&claims.join("; "))
    );
}

/// Escapes the text of an XML element; callers remove characters that XML 1.0 forbids.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn attribute(text: &str) -> String {
    escaped(&harmless_line(text)).replace('"', "&quot;").replace('\'', "&apos;")
}

/// Escapes the text of a workflow command, so that it cannot end its line.
fn message(text: &str) -> String {
    harmless_line(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
