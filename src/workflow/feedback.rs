//! What a round that revises another shows of it: the key `feedback`.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Feedback {
    /// The reasons, without authors and counts.
    #[default]
    Reasons,
    Counts,
    Both,
    None,
}

impl Feedback {
    pub const WORDS: [(&str, Self); 4] =
        [("reasons", Self::Reasons), ("counts", Self::Counts), ("both", Self::Both), ("none", Self::None)];

    pub fn has_reasons(self) -> bool {
        matches!(self, Self::Reasons | Self::Both)
    }

    pub fn has_counts(self) -> bool {
        matches!(self, Self::Counts | Self::Both)
    }
}
