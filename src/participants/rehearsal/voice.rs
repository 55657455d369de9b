//! Sentences, quotes and lists in plain English.
//!
//! Which of several phrasings a persona uses follows from its name alone, so that seats of one round
//! do not speak alike and one persona always speaks the same way.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use super::scene::Scene;
use super::weigh::Weighed;
use super::words::stem;
use crate::persona::Persona;

/// Characters of a sentence that are quoted at most.
const QUOTE: usize = 160;

/// What to do about a sentence, by the priority it touches: words of the priority, then the advice
/// around the quote.
const REMEDIES: [(&str, &str, &str); 11] = [
    (
        "test regression determinism reproducibility verification edge retries duplication change state",
        "Write the test that fails for as long as ",
        " holds.",
    ),
    (
        "security secret access privacy attack fraud exposure permission abuse credential keys signing leaks trust",
        "Treat ",
        " as an attack path and close it before anything ships.",
    ),
    (
        "cost token budget price overhead size",
        "Put a number on ",
        ", and a limit past which this is decided anew.",
    ),
    (
        "rollback deploy monitor alert outage operation recovery incident webhook timeouts crashes hosts reversibility",
        "Give ",
        " an alarm, an owner and a way back that has been rehearsed.",
    ),
    (
        "user confusion accessibility learning feedback workload customer",
        "Watch a few people meet ",
        " before it is settled.",
    ),
    (
        "documentation clarity term wording reader explanation names messages visibility",
        "Say in one paragraph of the documentation what ",
        " means for its reader.",
    ),
    (
        "complexity simplicity maintenance maintainer implementation effort code",
        "Look for the smaller design in which ",
        " cannot happen.",
    ),
    (
        "consistency isolation boundary coupling interface atomicity",
        "Make one component answerable for ",
        " and let no other depend on it.",
    ),
    (
        "value scope deadline outcome market delay release",
        "Decide who wants this enough to live with ",
        " and ask them.",
    ),
    ("evidence assumption proof claim failure", "Ask for the number behind ", " before building on it."),
    (
        "process rule compliance audit policy stakeholder contract approval refunds accounts exceptions limits",
        "Decide who answers for ",
        " and where that is recorded.",
    ),
];

/// The stems of each row of [`REMEDIES`].
static ADVISED: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    REMEDIES.iter().map(|(words, ..)| words.split_whitespace().map(stem).collect()).collect()
});

/// How one persona puts things.
#[derive(Debug)]
pub(super) struct Voice {
    bytes: [u8; 32],
}

impl Voice {
    pub fn of(persona: &Persona) -> Self {
        Self { bytes: Sha256::digest(persona.name.as_bytes()).into() }
    }

    /// One of some phrasings; `turn` tells the places of an answer apart.
    pub fn pick<'t>(&self, turn: usize, phrasings: &[&'t str]) -> &'t str {
        let byte = usize::from(self.bytes[turn % 32]);
        phrasings.get(byte % phrasings.len().max(1)).copied().unwrap_or_default()
    }
}

/// A sentence in quotes, with where it stands.
pub(super) fn quote(weighed: &Weighed) -> String {
    format!("\u{201c}{}\u{201d} ({})", clip(&weighed.statement.text), weighed.statement.place)
}

/// A sentence in quotes, with where it stands and the requirement it touches.
pub(super) fn cite(weighed: &Weighed, scene: &Scene) -> String {
    let place = &weighed.statement.place;
    let beside = weighed.backing.map(|at| &scene.requirements[at]).filter(|r| r.place != *place);
    match beside {
        Some(r) => {
            format!("\u{201c}{}\u{201d} ({place}, read beside {})", clip(&weighed.statement.text), r.place)
        }
        None => quote(weighed),
    }
}

/// Text of at most [`QUOTE`] characters, on one line, cut between words.
pub(super) fn clip(text: &str) -> String {
    let line = text.replace(['\u{201c}', '\u{201d}'], "\"");
    if line.chars().count() <= QUOTE {
        return line;
    }
    let cut: String = line.chars().take(QUOTE).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn and_list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The first letter in upper case.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// What to do about some sentences, no advice given twice.
pub(super) fn remedies(weighed: &[&Weighed], voice: &Voice, most: usize) -> Vec<String> {
    let mut given = Vec::new();
    let advise = |(turn, one): (usize, &&Weighed)| {
        let row = row_for(one).filter(|row| !given.contains(row));
        given.extend(row);
        advice(row, voice, turn, &quote(one))
    };
    weighed.iter().take(most).enumerate().map(advise).collect()
}

/// The same about a sentence that was quoted just before.
pub(super) fn remedy_for_it(weighed: &Weighed, voice: &Voice) -> String {
    advice(row_for(weighed), voice, 0, "it")
}

/// The advice that goes with the heaviest priority a sentence touches, else with its own words.
fn row_for(weighed: &Weighed) -> Option<usize> {
    let row = |stem: &str| ADVISED.iter().position(|stems| stems.iter().any(|known| known == stem));
    let by_theme = weighed.themes.iter().find_map(|theme| row(&stem(theme)));
    by_theme.or_else(|| weighed.statement.words.iter().find_map(|word| row(&word.stem)))
}

fn advice(row: Option<usize>, voice: &Voice, turn: usize, subject: &str) -> String {
    match (row.map(|row| REMEDIES[row]), (usize::from(voice.bytes[7]) + turn) % 3) {
        (Some((_, before, after)), _) => format!("{before}{subject}{after}"),
        (None, 0) => format!("Agree on what we do if {subject} weighs more than we think."),
        (None, 1) => format!("Write {subject} into the record as a known cost."),
        (None, _) => format!("Name who looks after {subject}, and by when."),
    }
}
