//! Wording shared by all reports of a session: turnout, labels, numbers.
//!
//! Texts are raw and may have several lines; each format escapes them.

use indexmap::IndexMap;
use serde::Serialize;

use crate::core::Cost;
use crate::history::{CloseReason, Door, Leak, RoundRun, Session, Tally, Wrapped};
use crate::round::answer::{Origin, Outcome, TokenUsage};
pub use crate::sanitize::{group_digits, pluralize};
use crate::workflow::Step;

/// Formats "1 of 5 answered, 3 failed, 1 missing", without zeros after the first part.
pub fn turnout(tally: &Tally) -> String {
    join_list([format!("{} of {} answered", tally.answered, tally.asked)].into_iter().chain(absent(tally)))
}

/// Returns parts such as "1 abstained" and "3 failed": the seats without a countable ballot.
pub fn absent(tally: &Tally) -> impl Iterator<Item = String> {
    let all = [
        (tally.abstained, Outcome::Abstained),
        (tally.invalid, Outcome::Invalid),
        (tally.refused, Outcome::Refused),
        (tally.failed, Outcome::Failed),
        (tally.missing, Outcome::Missing),
        (tally.excused, Outcome::Excused),
    ];
    let some = all.into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, outcome)| format!("{count} {}", outcome.name()))
}

/// Adds a full stop, unless the text ends with a punctuation mark.
pub fn as_sentence(text: &str) -> String {
    let text = text.trim_end();
    let is_ended = text.trim_end_matches(['”', '"', ')']).ends_with(['.', '?', '!', '…', ':']);
    format!("{text}{}", if is_ended || text.is_empty() { "" } else { "." })
}

/// Describes the resolution of a conflict or question; `how` is empty if no block remained.
pub fn settled(how: &str) -> &str {
    if how.is_empty() { "nobody blocks any more" } else { how }
}

pub fn close_reason(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::All => "all seats settled",
        CloseReason::Quorum => "quorum reached",
        CloseReason::Deadline => "deadline reached",
        CloseReason::Facilitator => "closed by facilitator",
    }
}

/// Label of answers that were not all given by models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    pub word: &'static str,
    pub said: String,
}

impl std::fmt::Display for Label {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.word, self.said)
    }
}

/// Returns the labels of answers not given by models; `only` limits them to some rounds.
pub fn labels(session: &Session, only: Option<&[&RoundRun]>) -> Vec<Label> {
    let definition = session.definition();
    let (mut given, mut is_example) = (Vec::new(), definition.answers.is_some());
    for seat in session.roster.values() {
        let is_told = |step: &&Step| only.is_none_or(|all| all.iter().any(|run| run.opened.step == step.id));
        let steps = definition.all_steps().filter(|step| seat.sits_in(definition, step) && is_told(step));
        for step in steps {
            let mut origins = session.origins(seat, &step.id);
            if session.closed.is_some() {
                origins = session.origins_given(seat, &step.id);
            }
            is_example &= !origins.contains(&Origin::Model);
            given.extend(origins);
        }
    }
    let rehearsal = if session.is_rehearsal() { "REHEARSAL" } else { "Placeholders" };
    let script = if is_example {
        "scripted for this example; no model was asked"
    } else {
        "given by a script, not by a model"
    };
    let by_origin = [
        (rehearsal, Origin::Placeholder, "picked at random by placeholders, not by a model"),
        ("Recorded", Origin::Recorded, "replayed from a saved session, not asked again"),
        ("Scripted", Origin::Script, script),
    ];
    let label = |(word, origin, how)| {
        let own = given.iter().filter(|known| **known == origin).count();
        (own > 0).then(|| Label { word, said: format!("{own} of {} answers were {how}.", given.len()) })
    };
    by_origin.into_iter().filter_map(label).chain(program_labels(session)).collect()
}

/// Returns a label for each program that takes seats, with its tools and prompt overhead.
fn program_labels(session: &Session) -> Vec<Label> {
    let mut groups: IndexMap<&Wrapped, Vec<&str>> = IndexMap::new();
    for seat in session.roster.values() {
        if let Some(wrapped) = &seat.wrapped {
            groups.entry(wrapped).or_default().push(&seat.name);
        }
    }
    let label = |(wrapped, names): (&Wrapped, Vec<&str>)| {
        let Wrapped { program, version, tools, bytes_before, bytes_after, .. } = wrapped;
        let (names, count) = (names.join(", "), pluralize(tools.len(), "tool"));
        let adds = bytes_before.zip(*bytes_after);
        let adds = adds.map(|(before, after)| format!("{before} bytes before, {after} after"));
        let (word, said) = match (adds, tools.is_empty()) {
            (None, _) => ("Declared, not checked", "said to have no tools, not measured".to_owned()),
            (Some(adds), true) => ("Program", format!("{count}, {adds}")),
            (Some(adds), false) => ("Not tool-less", format!("{count} ({}), {adds}", tools.join(", "))),
        };
        Label { word, said: format!("{names}: {program} {version}: {said}.") }
    };
    groups.into_iter().map(label).collect()
}

/// Returns the mask of an identity leak for display. Pseudonyms stay hidden while the session is open.
pub fn shown_mask<'a>(session: &Session, leak: &'a Leak) -> Option<&'a str> {
    let mask = leak.mask.as_deref()?;
    let tells = session.closed.is_none()
        && session.pseudonyms().is_some_and(|names| names.values().any(|name| name == mask));
    Some(if tells { "a pseudonym" } else { mask })
}

/// Describes an identity leak: its text, its kind and its mask.
pub fn finding(leak: &Leak, mask: Option<&str>) -> String {
    let mask = mask.map(|mask| format!(", shown to later steps as {mask}")).unwrap_or_default();
    format!("“{}” {}{mask}", leak.text, leak.kind.description())
}

/// Shortens a text to `room` characters.
pub fn cut(text: &str, room: usize) -> String {
    match text.char_indices().nth(room) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

/// Joins the first names and counts the others: "a, b and 3 more".
pub fn first_names(names: &[impl AsRef<str>], most: usize) -> String {
    let first = join_list(names.iter().take(most));
    match names.len().saturating_sub(most) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

pub fn join_list(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    items.into_iter().map(|item| item.as_ref().to_owned()).collect::<Vec<_>>().join(", ")
}

/// Lowers the first letter, for the middle of a sentence.
pub fn uncapital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect()
}

pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// Formats cost and tokens; `None` if no provider reported any.
pub fn money(spent: &Cost) -> Option<String> {
    let TokenUsage { input, output, cached, thinking, .. } = spent.tokens;
    let mut parts = Vec::new();
    if spent.dollars > 0.0 {
        let at_least = if spent.is_unknown { "at least " } else { "" };
        parts.push(format!("{at_least}${:.4}", spent.dollars));
    } else if spent.is_unknown {
        parts.push("cost unknown".to_owned());
    }
    if input + output > 0 {
        let tokens = |count: u64, way: &str, part: u64, what: &str| {
            let share = part.saturating_mul(100) / count.max(1);
            let share = if part > 0 { format!(" ({share} % {what})") } else { String::new() };
            format!("{}{way}{share}", group_digits(count as usize))
        };
        parts.push(tokens(input, " tokens in", cached, "from caches"));
        parts.push(tokens(output, " out", thinking, "thinking"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Formats a duration: `3.2 s`, `2 min 5 s`, `5 min`, at least `0.1 s`.
pub fn format_duration(millis: u64) -> String {
    let millis = millis.max(100);
    match (millis / 60_000, millis % 60_000 / 1000) {
        (0 | 1, _) => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// Returns the command that continues a session: `serve` if seats connect by link or token.
pub fn resume_verb(session: &Session) -> &'static str {
    let seats = session.header.iter().flat_map(|header| &header.participants);
    let mut doors = seats.filter_map(|seat| Some(seat.remote.as_ref()?.door));
    if doors.any(|door| door != Door::Nats) { "serve" } else { "resume" }
}

#[cfg(test)]
mod tests {
    use super::format_duration;

    #[test]
    fn durations_omit_empty_parts() {
        for (millis, said) in
            [(0, "0.1 s"), (3_290, "3.2 s"), (119_999, "119.9 s"), (125_000, "2 min 5 s"), (300_400, "5 min")]
        {
            assert_eq!(format_duration(millis), said);
        }
    }
}
