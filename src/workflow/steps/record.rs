//! `record`: what of a step's results goes on the agenda.

use crate::workflow::keys::spec::KeyType::Text;
use crate::workflow::keys::spec::{MapSpec, REQUIRED, enum_of_words, key, map, words};
use crate::workflow::lang::Transform;
use crate::workflow::load::entries::keys;

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Record {
        from: Transform = key(
            "from", Text, REQUIRED, "The path of a list, or of a map of lists.", "context.synth.questions",
        ),
        what: Option<Recorded> =
            key("as", words!(Recorded), "the last name of `from`", "What the list holds.", "questions"),
    }
}

pub const RECORD: MapSpec = map("record", "`record`", Record::KEYS);

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

impl Record {
    /// Content of the list; none if it must be a map of lists.
    pub fn recorded(&self) -> Option<Recorded> {
        let last = self.from.path().pop().unwrap_or_default();
        let named = Recorded::WORDS.iter().find(|(word, _)| *word == last).map(|(_, what)| *what);
        self.what.or(named)
    }
}
