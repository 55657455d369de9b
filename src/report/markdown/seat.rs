//! One seat in the Markdown report: its vote, its words, or why there are none.
//!
//! What an answer does not give is not filled in. Text is quoted as it was given.

use std::fmt::Write as _;

use super::quote::{code, inline, is_blank, quote, quote_value};
use crate::ballot::Ballot;
use crate::core::Cost;
use crate::history::{AnswerRevealed, LeakReport, RoundRun, Session};
use crate::insight::left_out::left_out;
use crate::insight::references::Citable;
use crate::insight::{SeatView, confidence, finding, format_duration, handling, shown_mask};
use crate::round::record::Outcome;

/// The parts of an answer in the order they are shown, with their headings.
const PARTS: [(&str, &str); 6] = [
    ("position", ""),
    ("rationale", "Rationale"),
    ("trade_offs", "Trade-offs"),
    ("concerns", "Concerns"),
    ("suggestions", "Suggestions"),
    ("references", "References"),
];
/// How much of a reply that was not counted is shown, in characters.
const REPLY: usize = 1_000;

/// Writes the section of one seat.
pub fn section(session: &Session, seat: &SeatView<'_>, citable: &Citable, out: &mut String) {
    let _ = writeln!(out, "#### {}\n", inline(seat.name));
    let _ = writeln!(out, "{}\n", summary(seat));
    let Some(answer) = seat.answer() else { return leaks(session, seat.leaks, out) };
    if matches!(answer.outcome, Outcome::Answered | Outcome::Abstained) {
        if let Some(ballot) = seat.ballot() {
            change(ballot, out);
        }
        parts(answer, out);
        let unresolved = citable.unresolved(answer);
        if !unresolved.is_empty() {
            let _ = writeln!(out, "Unresolved references, which lead nowhere in the snapshot:\n");
            for reference in unresolved {
                let _ = writeln!(out, "- {}", inline(reference));
            }
            out.push('\n');
        }
    } else if let Some(reply) = answer.replies.last() {
        uncounted_reply(&reply.text, out);
    }
    if !answer.flags.is_empty() {
        out.push_str("Flags:\n\n");
        for flag in &answer.flags {
            let _ = writeln!(out, "- {}", inline(flag));
        }
        out.push('\n');
    }
    leaks(session, seat.leaks, out);
}

/// What an answer gives away, and what becomes of it.
pub fn leaks(session: &Session, found: Option<&LeakReport>, out: &mut String) {
    let Some(LeakReport { action, found }) = found else { return };
    let _ = writeln!(out, "Leak scan ({}):\n", handling(*action, found));
    for leak in found {
        let _ = writeln!(out, "- {}", inline(&finding(leak, shown_mask(session, leak))));
    }
    out.push('\n');
}

/// "rehearsal, offline · answered · votes a · confidence 0.8".
fn summary(seat: &SeatView<'_>) -> String {
    let mut parts = vec![who(seat)];
    let outcome = seat.outcome().map_or_else(String::new, |outcome| outcome.name().replace('_', " "));
    let reason = seat.reason().map_or_else(String::new, |reason| format!(": {}", inline(reason)));
    parts.push(format!("{outcome}{reason}"));
    parts.extend(seat.ballot().and_then(Ballot::phrase).map(|phrase| inline(&phrase)));
    if let Some(answer) = seat.answer() {
        match confidence(answer) {
            Some(confidence) => parts.push(format!("confidence {confidence}")),
            None if answer.outcome == Outcome::Answered => parts.push("no confidence given".to_owned()),
            None => {}
        }
        parts.extend(left_out(seat));
        parts.push(cost(answer, seat.spent));
    } else if let Some(elapsed) = seat.elapsed_ms {
        parts.push(format_duration(elapsed));
    }
    parts.join(" · ")
}

fn who(seat: &SeatView<'_>) -> String {
    if seat.scripted {
        return "scripted, not a model".to_owned();
    }
    let model = inline(seat.model);
    if seat.rehearsal { format!("{model}, offline, not a model") } else { model }
}

fn cost(answer: &AnswerRevealed, spent: Option<Cost>) -> String {
    let mut cost = format_duration(answer.latency_ms);
    if let Some(tokens) = answer.tokens.filter(|tokens| tokens.input + tokens.output > 0) {
        let _ = write!(cost, ", {} tokens in", tokens.input);
        if tokens.cached > 0 {
            let _ = write!(cost, " ({} from a cache)", tokens.cached);
        }
        let _ = write!(cost, ", {} out", tokens.output);
        if tokens.thinking > 0 {
            let _ = write!(cost, " ({} thinking)", tokens.thinking);
        }
    }
    if let Some(spent) = spent {
        match (spent.dollars > 0.0, spent.is_unknown) {
            (true, false) => drop(write!(cost, ", ${:.4}", spent.dollars)),
            (true, true) => drop(write!(cost, ", at least ${:.4}", spent.dollars)),
            (false, true) => cost.push_str(", cost unknown"),
            (false, false) => {}
        }
    }
    if answer.tries > 1 {
        let _ = write!(cost, ", {} tries", answer.tries);
    }
    cost
}

fn parts(answer: &AnswerRevealed, out: &mut String) {
    let listing = answer.ballot.as_ref().map(Ballot::listing).unwrap_or_default();
    if !listing.is_empty() {
        let _ = writeln!(out, "{}", quote_value(&listing.into()));
    }
    for (key, heading) in PARTS {
        part(answer, key, heading, out);
    }
    // The line above says the ballot and its confidence already.
    let kind = answer.ballot.as_ref().and_then(Ballot::kind).unwrap_or_default();
    let is_known = |key: &str| {
        key == "confidence"
            || kind.ballot_keys().any(|known| known == key)
            || PARTS.iter().any(|(known, _)| *known == key)
    };
    for (key, value) in answer.answer.iter().filter(|(key, _)| !is_known(key)) {
        let _ = writeln!(out, "Also {}, kept and not counted:\n\n{}", inline(key), quote_value(value));
    }
}

/// Writes one part of an answer; says whether there was anything to write.
fn part(answer: &AnswerRevealed, key: &str, heading: &str, out: &mut String) -> bool {
    let Some(value) = answer.answer.get(key).filter(|value| !is_blank(value)) else { return false };
    if !heading.is_empty() {
        let _ = writeln!(out, "{heading}:\n");
    }
    let _ = writeln!(out, "{}", quote_value(value));
    true
}

fn uncounted_reply(text: &str, out: &mut String) {
    let start: String = text.chars().take(REPLY).collect();
    if start.trim().is_empty() {
        return;
    }
    let more = if start.len() < text.len() { ", its beginning (the session file has all of it)" } else { "" };
    let _ = writeln!(out, "Last reply, not counted{more}:\n\n{}", quote(&start));
}

/// Writes what a dissenting seat said, word for word.
pub fn dissent(seat: &SeatView<'_>, run: &RoundRun, out: &mut String) {
    let Some(answer) = seat.answer() else { return };
    let round = code(&run.opened.round);
    let Some(ballot) = seat.ballot() else {
        let name = inline(seat.name);
        let _ = writeln!(out, "**{name}** gave no valid answer, and it may be a block (round {round})\n");
        if let Some(reply) = answer.replies.last() {
            let _ = writeln!(out, "{}", quote(&reply.text));
        }
        return;
    };
    let phrase = ballot.phrase().unwrap_or_default();
    let _ = writeln!(out, "**{}** {} (round {round})\n", inline(seat.name), inline(&phrase));
    change(ballot, out);
    let has_position = part(answer, "position", "", out);
    let has_rationale = part(answer, "rationale", "Rationale", out);
    if !has_position && !has_rationale {
        out.push_str("No reasons given.\n\n");
    }
}

fn change(ballot: &Ballot, out: &mut String) {
    if let Some(change) = ballot.minimum_change() {
        let _ = writeln!(out, "Minimum change:\n\n{}", quote(change));
    }
}
