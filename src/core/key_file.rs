//! What is said of a key file that could not be removed. No other event tells of it, so that the warning is
//! known by its words: they stay as they are, those of earlier versions too.

use std::fmt::Display;

use crate::history::Session;

/// What is said of the key file of a closed round that stays where it is.
pub fn key_file_left(number: u32, cause: impl Display) -> String {
    format!("{}{cause}{END}", beginning(number))
}

/// Whether a warning says that of a round of the session that is closed.
pub fn is_key_file_left(session: &Session, message: &str) -> bool {
    let mut closed = session.rounds.iter().filter(|round| round.closed.is_some());
    message.ends_with(END) && closed.any(|round| message.starts_with(&beginning(round.opened.number)))
}

const END: &str = "); the key is published, so nothing is lost";

fn beginning(number: u32) -> String {
    format!("the key file of round {number} could not be removed (")
}
