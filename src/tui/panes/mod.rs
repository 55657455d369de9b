//! Panes of a session: each file returns the content of one pane.

pub mod answer;
pub mod checks;
pub mod question;
pub mod seats;
pub mod snapshot;
pub mod steps;
pub mod votes;
