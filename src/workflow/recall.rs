//! Memory of a round's snapshot: the key `context`.

use super::keys::spec::KeyType::{Either, List, Text, Words};
use super::keys::spec::key;
use super::load::entries::{as_text, enum_of_words, from_node, keys, texts};

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

keys! {
    /// The key as it is written; what is left out is the definition's, or the default.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct RecallKeys as "context" ("`context`") {
        answers: Option<RecalledAnswers> =
            key("answers", "full", "What is shown of the last answers.", "positions"),
        rounds: Option<usize> = key("rounds", "5", "The number of closed rounds that are shown.", "3"),
        results: Option<Results> =
            key("results", "all", "The other steps whose results are shown.", "[plan]"),
    }
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

from_node! {
    Results as Either(&[Words(|| vec!["all", "none"]), List(&Text)]) => |node, _key, _found| Some(match as_text(node).as_deref() {
        Some("none") => Results::None,
        Some(_) => Results::All,
        None => Results::Named(texts(node)),
    });
}
