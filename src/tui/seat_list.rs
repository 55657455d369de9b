//! What the list of seats shows, and in which order.

use crate::sanitize::harmless_line;

/// What the list of seats shows, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeatList {
    /// Only seats with all of these words in their name, model, state or answer.
    pub words: String,
    /// Only seats of this group.
    pub group: Option<String>,
    pub sort: SeatSort,
}

impl SeatList {
    /// Whether it may leave out seats.
    pub fn is_narrowed(&self) -> bool {
        self.group.is_some() || !self.words.trim().is_empty()
    }

    /// What the list is narrowed to and how it is sorted, for its title.
    pub fn about(&self) -> String {
        let words = Some(self.words.trim()).filter(|words| !words.is_empty());
        let parts = [
            self.group.as_deref().map(harmless_line),
            words.map(|words| format!("“{}”", harmless_line(words))),
            (self.sort != SeatSort::Default).then(|| format!("by {}", self.sort.word())),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// What the list of seats is sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SeatSort {
    /// The order of the roster; while a round is open, what needs the facilitator first.
    #[default]
    Default,
    Name,
    /// The state, or once it may be read the answer.
    Group,
    Model,
    /// The longest first.
    Time,
    /// The surest first.
    Confidence,
}

impl SeatSort {
    /// Its word, as in "by name".
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "what needs you first",
            Self::Name => "name",
            Self::Group => "state or answer",
            Self::Model => "model",
            Self::Time => "time",
            Self::Confidence => "confidence",
        }
    }
}
