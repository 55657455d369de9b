//! `record`: what of a step's results goes on the agenda.

use crate::workflow::keys::spec::KeyType::Text;
use crate::workflow::keys::spec::{MapSpec, REQUIRED, enum_of_words, key, map, words};
use crate::workflow::lang::Transform;
use crate::workflow::load::entries::{Entries, parsed};

pub const RECORD: MapSpec = map(
    "record",
    "`record`",
    &[
        key("from", Text, REQUIRED, "The path of a list, or of a map of lists.", "context.synth.questions"),
        key("as", words!(Recorded), "the last name of `from`", "What the list holds.", "questions"),
    ],
);

enum_of_words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Recorded {
        Artifacts = "artifacts",
        Conflicts = "conflicts",
        Resolved = "resolved",
        Questions = "questions",
        Answered = "answered",
        Agenda = "agenda",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub from: Transform,
    /// Content of the list; none if it must be a map of lists.
    pub what: Option<Recorded>,
}

pub fn read(entries: Entries<'_>) -> Option<Record> {
    let inner = entries.map("record")?;
    let from = parsed(inner, "from", Transform::parse)?;
    let last = from.path().pop().unwrap_or_default();
    let named = Recorded::WORDS.iter().find(|(word, _)| *word == last).map(|(_, what)| *what);
    Some(Record { what: inner.word("as", &Recorded::WORDS).or(named), from })
}
