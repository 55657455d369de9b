//! How a work item is checked and tried again.

/// How the facilitator's words are checked against what is handed over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Completeness {
    /// Whatever is found refuses the work item, guesses about language too.
    Strict,
    /// What is decided exactly refuses it, a guess is a warning.
    #[default]
    Warn,
    /// It is not checked.
    Off,
}

impl Completeness {
    pub const WORDS: [(&str, Self); 3] = [("strict", Self::Strict), ("warn", Self::Warn), ("off", Self::Off)];
}

/// How often a failed work item is tried again, and when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retry {
    /// Tries after the first.
    pub max: u32,
    /// The wait before each, in milliseconds.
    pub delay_ms: u64,
}
