//! One seat in the record of the Markdown report: its vote and its words, or why there are none.
//!
//! What an answer does not give is not filled in. Text is quoted as it was given.

use std::fmt::Write as _;

use super::body::indented;
use super::quote::{inline, is_blank, quote, quote_value};
use crate::ballot::Ballot;
use crate::history::{AnswerRevealed, Session};
use crate::identity::Leak;
use crate::insight::cut;
use crate::insight::independence::left_out;
use crate::insight::references::Citable;
use crate::insight::{SeatView, finding, handling, shown_mask};
use crate::report::model::sure;
use crate::round::answer::Outcome;

/// The parts of an answer after its position, with their headings.
const PARTS: [(&str, &str); 5] = [
    ("rationale", "Reasons"),
    ("trade_offs", "Trade-offs"),
    ("concerns", "Concerns"),
    ("suggestions", "Suggestions"),
    ("references", "References"),
];
/// How much of a reply that was not counted is shown, in characters.
const REPLY: usize = 1_000;
/// How much of one part of an answer stands in a report, in characters; the file has all of it.
const PART: usize = 20_000;

pub fn item(session: &Session, seat: &SeatView<'_>, citable: &Citable, out: &mut String) {
    let _ = write!(out, "- **{}** · {}", inline(seat.name), summary(seat));
    let Some(answer) = seat.answer() else {
        out.push('\n');
        return leaks(session, seat.leaks, "  ", out);
    };
    if matches!(answer.outcome, Outcome::Answered | Outcome::Abstained) {
        position(seat, answer, out);
        if let Some(change) = seat.ballot().and_then(Ballot::minimum_change) {
            part("Minimum change", &change.into(), out);
        }
        parts(answer, out);
        let unresolved = citable.unresolved(answer);
        if !unresolved.is_empty() {
            let named: Vec<String> = unresolved.iter().map(|one| inline(one)).collect();
            let _ = writeln!(
                out,
                "  - Unresolved references, which lead nowhere in the snapshot: {}",
                named.join("; ")
            );
        }
    } else {
        out.push('\n');
        if let Some(reply) = answer.record.replies.last() {
            uncounted_reply(&reply.text, out);
        }
    }
    for flag in &answer.flags {
        let _ = writeln!(out, "  - Flag: {}", inline(flag));
    }
    leaks(session, seat.leaks, "  ", out);
}

pub fn position_alone(seat: &SeatView<'_>, out: &mut String) {
    let said = cut(&crate::report::model::said(seat), 280);
    let said = if said.is_empty() { String::new() } else { format!(": {}", inline(&said)) };
    let _ = writeln!(out, "- **{}** · {}{said}", inline(seat.name), summary(seat));
}

/// What an answer gives away, and what becomes of it.
pub fn leaks(session: &Session, found: Option<&[Leak]>, indent: &str, out: &mut String) {
    let Some(found) = found else { return };
    let _ = writeln!(out, "{indent}- Leak scan ({}):", handling(found));
    for leak in found {
        let _ = writeln!(out, "{indent}  - {}", inline(&finding(leak, shown_mask(session, leak))));
    }
}

/// "ollama/llama3.2 · votes a (80 %)".
fn summary(seat: &SeatView<'_>) -> String {
    let mut parts = vec![inline(&seat.who())];
    let answered = seat.outcome() == Some(Outcome::Answered);
    let vote = seat.ballot().and_then(Ballot::phrase).map(|phrase| inline(&phrase));
    let sure = sure(seat).map(|sure| format!(" ({sure} sure)")).unwrap_or_default();
    if let (true, Some(vote)) = (answered, vote) {
        parts.push(format!("{vote}{sure}"));
    } else {
        let outcome = seat.outcome().map_or_else(String::new, |outcome| outcome.name().replace('_', " "));
        parts.push(format!("{outcome}{sure}"));
    }
    if let Some(reason) = seat.reason() {
        let last = parts.pop().unwrap_or_default();
        parts.push(format!("{last}: {}", inline(reason)));
    }
    parts.extend(left_out(seat));
    parts.join(" · ")
}

/// The position: behind the name if it is one line, below it as a quote if it is more.
fn position(seat: &SeatView<'_>, answer: &AnswerRevealed, out: &mut String) {
    let listing = seat.ballot().map(Ballot::listing).unwrap_or_default();
    let text = answer.answer.get("position").and_then(|value| value.as_str()).unwrap_or_default().trim();
    match text {
        "" => out.push('\n'),
        text if text.contains('\n') || text.chars().count() > PART => {
            out.push('\n');
            block(text, out);
        }
        text => drop(writeln!(out, ": {}", inline(text))),
    }
    if !listing.is_empty() {
        out.push('\n');
        out.push_str(&indented(&quote_value(&listing.into())));
        out.push('\n');
    }
}

/// Text of many lines as a quote below an item.
fn block(text: &str, out: &mut String) {
    let all = text.chars().count();
    let _ = write!(out, "\n{}\n", indented(&quote(&cut(text, PART))));
    if all > PART {
        let _ = writeln!(out, "  - {} more characters: `roundtable report --format json`", all - PART);
    }
}

fn parts(answer: &AnswerRevealed, out: &mut String) {
    for (key, heading) in PARTS {
        if let Some(value) = answer.answer.get(key) {
            part(heading, value, out);
        }
    }
    // The line above says the ballot and its confidence already.
    let kind = answer.ballot.as_ref().and_then(Ballot::kind).unwrap_or_default();
    let is_known = |key: &str| {
        ["confidence", "position"].contains(&key)
            || kind.ballot_keys().any(|known| known == key)
            || PARTS.iter().any(|(known, _)| *known == key)
    };
    for (key, value) in answer.answer.iter().filter(|(key, _)| !is_known(key)) {
        part(&format!("Also {}, kept and not counted", inline(key)), value, out);
    }
}

/// One part of an answer: on the line of its heading if all of it is short, else below it.
fn part(heading: &str, value: &serde_json::Value, out: &mut String) {
    if is_blank(value) {
        return;
    }
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let texts = items.iter().map(|item| item.as_str().filter(|text| !text.trim().contains('\n')));
    if let Some(texts) = texts.collect::<Option<Vec<&str>>>() {
        let texts: Vec<String> = texts.into_iter().map(|text| inline(&cut(text, PART))).collect();
        let _ = writeln!(out, "  - {heading}: {}", texts.join("; "));
        return;
    }
    let _ = writeln!(out, "  - {heading}:\n");
    out.push_str(&indented(&indented(&quote_value(value))));
    out.push('\n');
}

fn uncounted_reply(text: &str, out: &mut String) {
    let start: String = text.chars().take(REPLY).collect();
    if start.trim().is_empty() {
        return;
    }
    let more = if start.len() < text.len() { ", its beginning (the session file has all of it)" } else { "" };
    let _ = writeln!(out, "  - Last reply, not counted{more}:\n");
    out.push_str(&indented(&indented(&quote(&start))));
    out.push('\n');
}
