//! Reading a participant's reply: lenient in shape, strict in content, never a guess.

use super::ballot::{BallotForm, BallotKind, Reading};

/// Reads a reply against its form.
pub fn read_reply(_form: &BallotForm, _reply: &str) -> Reading {
    Reading::Invalid("not built".to_owned())
}

/// The answer form's part of the rules of the table.
pub fn answer_rules(_kind: BallotKind) -> String {
    String::new()
}
