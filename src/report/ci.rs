//! A session for systems that run builds: a `JUnit` file, and the annotations of a GitHub workflow.
//!
//! A session fails there exactly if its exit code is not 0; rounds and steps beside that which decides
//! are passed or skipped. Foreign text is escaped for each format and acts in neither.

use std::fmt::Write as _;

use super::model::{FindingRecord, findings};
use crate::core::{Deciding, ExitCode, deciding, failing_rounds, session_exit};
use crate::history::{RoundRun, Session};
use crate::insight::headline::rehearsal_mark;
use crate::insight::round_view::{dissents, is_revealed, seats, tally, winners};
use crate::insight::{SeatView, headline, join_list};
use crate::round::answer::Outcome;
use crate::sanitize::{harmless, harmless_line};

enum Standing {
    Passed,
    /// Not decided, and something else was taken for it.
    Skipped(String),
    Failed(String),
    Unfinished(String),
}

/// One round, or the session as a whole.
struct Case {
    name: String,
    seconds: f64,
    standing: Standing,
    said: Vec<String>,
    /// Seats without a ballot, with the reason, one per line.
    without_ballot: Vec<String>,
}

/// Every round in its order, and the session last.
fn cases(session: &Session) -> Vec<Case> {
    let rounds = session.rounds.iter().map(|run| round(session, run));
    let not_held = session.not_held.iter().map(|(step, not_held)| Case {
        name: format!("round {step}"),
        seconds: 0.0,
        standing: match deciding(session) {
            Some(Deciding::NotHeld(id, _)) if id == step => Standing::Failed(not_held.why.clone()),
            _ => Standing::Skipped(not_held.why.clone()),
        },
        said: Vec::new(),
        without_ballot: Vec::new(),
    });
    rounds.chain(not_held).chain([whole(session)]).collect()
}

fn round(session: &Session, run: &RoundRun) -> Case {
    let counted = tally(run);
    let is_failing = failing_rounds(session).iter().any(|failing| std::ptr::eq(*failing, run));
    let standing = match counted {
        _ if !is_revealed(run) => Standing::Unfinished(open(run)),
        Some(tally) if tally.rule.is_some() && !tally.decided => {
            let why = headline(session, run, tally).line();
            if is_failing { Standing::Failed(why) } else { Standing::Skipped(why) }
        }
        _ => Standing::Passed,
    };
    let mut said = Vec::new();
    if let Some(tally) = counted {
        let made = headline(session, run, tally);
        said.push(format!("{}. {}", made.label, made.detail));
        let winners = winners(session, run);
        let dissent = seats(session, run).filter(|seat| dissents(seat, &winners)).map(|seat| seat.name);
        let dissent = join_list(dissent);
        if !dissent.is_empty() {
            said.push(format!("dissent: {dissent}"));
        }
    }
    if !run.key_lost.is_empty() {
        said.push(format!("answers lost with the round's key: {}", join_list(&run.key_lost)));
    }
    // What is not over has no time of its own yet.
    let ended = run.closed_at.filter(|_| is_revealed(run)).unwrap_or(run.opened_at);
    Case {
        name: format!("round {}: {}", run.opened.round, run.opened.question),
        seconds: ended.since(run.opened_at) as f64 / 1000.0,
        standing,
        said,
        without_ballot: seats(session, run).filter_map(|seat| without_ballot(&seat)).collect(),
    }
}

/// How far a round is that cannot be read yet.
fn open(run: &RoundRun) -> String {
    let (sealed, all) = (run.sealed(), run.seats.len());
    match run.closed {
        Some(_) => format!("closed, answers not revealed: {sealed} of {all} sealed"),
        None => format!("open: {sealed} of {all} sealed"),
    }
}

fn without_ballot(seat: &SeatView<'_>) -> Option<String> {
    let outcome = seat.outcome().filter(|outcome| *outcome != Outcome::Answered)?;
    let why = seat.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
    Some(format!("{}: {}{why}", seat.name, outcome.name()))
}

fn whole(session: &Session) -> Case {
    let outcome = super::outcome(session);
    let exit = session_exit(session);
    let code = exit as i32;
    let rest = || match (&session.paused, &outcome) {
        (Some((_, reason)), _) => format!("paused: {reason}"),
        (None, Some(outcome)) if session.closed.is_some() => outcome.clone(),
        (None, _) if session.closed.is_some() => format!("the session ended with exit code {code}"),
        (None, _) => "the session is not finished".to_owned(),
    };
    let standing = match (exit, &session.closed) {
        (ExitCode::Finished, _) => Standing::Passed,
        (_, Some(_)) => Standing::Failed(rest()),
        (_, None) => Standing::Unfinished(rest()),
    };
    let definition = session.definition.as_ref();
    let goal = definition.and_then(|definition| definition.goal.clone());
    Case {
        name: goal.unwrap_or_else(|| session.id.clone()),
        seconds: seconds(session),
        standing,
        said: outcome.into_iter().collect(),
        without_ballot: Vec::new(),
    }
}

/// How long a session took; nothing before it is over.
fn seconds(session: &Session) -> f64 {
    let is_over = session.closed.is_some();
    if is_over { session.last_at.since(session.opened_at) as f64 / 1000.0 } else { 0.0 }
}

/// The session as a `JUnit` file: one suite, one case per round and one for the session.
pub fn junit(session: &Session) -> String {
    let cases = cases(session);
    let count = |is: fn(&Standing) -> bool| cases.iter().filter(|case| is(&case.standing)).count();
    let failures = count(|standing| matches!(standing, Standing::Failed(_)));
    let errors = count(|standing| matches!(standing, Standing::Unfinished(_)));
    let skipped = count(|standing| matches!(standing, Standing::Skipped(_)));
    let (id, tests) = (attribute(&session.id), cases.len());
    let seconds = seconds(session);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"roundtable\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
         skipped=\"{skipped}\" time=\"{seconds:.3}\">\n\
         <testsuite name=\"{id}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
         skipped=\"{skipped}\" time=\"{seconds:.3}\" timestamp=\"{}\">\n",
        session.opened_at
    );
    for case in &cases {
        let _ = writeln!(
            out,
            "<testcase classname=\"{id}\" name=\"{}\" time=\"{:.3}\">",
            attribute(&case.name),
            case.seconds
        );
        match &case.standing {
            Standing::Passed => {}
            Standing::Skipped(why) => {
                let _ = writeln!(out, "<skipped message=\"{}\"/>", attribute(why));
            }
            Standing::Failed(why) => {
                let _ = writeln!(out, "<failure type=\"undecided\" message=\"{}\"/>", attribute(why));
            }
            Standing::Unfinished(why) => {
                let _ = writeln!(out, "<error type=\"unfinished\" message=\"{}\"/>", attribute(why));
            }
        }
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

/// The session as annotations of a GitHub workflow, one command per line: an error for what failed, a
/// warning for what is missing or skipped, a notice for each result.
pub fn github(session: &Session) -> String {
    let mark = rehearsal_mark(session);
    let mut out = String::new();
    for case in cases(session) {
        let (level, why) = match &case.standing {
            Standing::Passed => ("notice", None),
            Standing::Skipped(why) => ("warning", Some(why)),
            Standing::Failed(why) | Standing::Unfinished(why) => ("error", Some(why)),
        };
        let said: Vec<String> = why.into_iter().cloned().chain(case.said).collect();
        let mut command = |level: &str, text: &str| {
            let mark = if text.starts_with(mark) { "" } else { mark };
            let _ = writeln!(out, "::{level} title={}::{mark}{}", property(&case.name), message(text));
        };
        // What a case says of itself may begin with why it failed.
        let mut said: Vec<&str> = said.iter().map(String::as_str).collect();
        said.dedup();
        command(level, if said.is_empty() { "passed" } else { said[0] });
        said.iter().skip(1).for_each(|line| command("notice", line));
        case.without_ballot.iter().for_each(|line| command("warning", line));
    }
    for group in findings(session) {
        annotation(&group, mark, &mut out);
    }
    out
}

/// Findings at their place in the code, where they have one.
fn annotation(group: &FindingRecord, mark: &str, out: &mut String) {
    // GitHub's word for a note.
    let level = if group.level == "note" { "notice" } else { group.level };
    let file = group.file.as_ref().map(|file| format!(",file={}", property(file))).unwrap_or_default();
    let lines = group.lines.map(|(from, to)| format!(",line={from},endLine={to}")).unwrap_or_default();
    let title = format!("{}, found by {} of {}", group.severity, group.seats, group.of);
    let mut claims: Vec<String> = group.findings.iter().map(|one| one.finding.claim.clone()).collect();
    claims.extend(group.not_in_evidence.iter().map(|(_, place)| format!("not in the evidence: {place}")));
    let _ = writeln!(
        out,
        "::{level} title={}{file}{lines}::{mark}{}",
        property(&title),
        message(&claims.join("; "))
    );
}

/// Text of an XML element, with nothing in it that XML 1.0 refuses.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn attribute(text: &str) -> String {
    escaped(&harmless_line(text)).replace('"', "&quot;").replace('\'', "&apos;")
}

/// The text of a workflow command: on one line, which no text of it can end.
fn message(text: &str) -> String {
    harmless_line(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
