//! Memory of a round's snapshot: the key `context`.

use super::keys::spec::enum_of_words;
use super::load::entries::Entries;
use super::load::map_reader::as_text;

enum_of_words! {
    /// The part of the last closed round's answers in a snapshot.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum RecalledAnswers {
        #[default]
        Full = "full",
        /// Ballot and position of each answer, without its reasons.
        Positions = "positions",
        /// Reasons of each answer, without its ballot and confidence.
        Reasons = "reasons",
        /// None; its count alone.
        None = "none",
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Results {
    #[default]
    All,
    None,
    /// Those of these steps, by id or by the key of their result.
    Named(Vec<String>),
}

/// The key as it is written; what is left out is the definition's, or the default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallKeys {
    pub answers: Option<RecalledAnswers>,
    pub rounds: Option<usize>,
    pub results: Option<Results>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recall {
    /// Of the answers of the round closed last.
    pub answers: RecalledAnswers,
    /// Number of closed rounds; with 0, nothing of any round.
    pub rounds: usize,
    pub results: Results,
}

/// Default number of closed rounds in a snapshot.
pub const RECENT_ROUNDS: usize = 5;

impl Results {
    pub fn holds(&self, id: &str, key: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Named(names) => names.iter().any(|name| name == id || name == key),
        }
    }
}

/// Reads the key `context` of a definition or a round.
pub fn recall(entries: Entries<'_>) -> RecallKeys {
    let Some(own) = entries.map("context") else { return RecallKeys::default() };
    let results = own.node("results").map(|node| match as_text(node).as_deref() {
        Some("none") => Results::None,
        Some(_) => Results::All,
        None => Results::Named(own.texts("results")),
    });
    RecallKeys {
        answers: own.word("answers", &RecalledAnswers::WORDS),
        rounds: own.whole_number("rounds").map(|rounds| usize::try_from(rounds).unwrap_or(usize::MAX)),
        results,
    }
}
