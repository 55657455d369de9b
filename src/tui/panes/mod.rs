//! The panes of a session: each file has a pane's title and lines.

pub mod answer;
pub mod checks;
pub mod question;
pub mod seats;
pub mod snapshot;
pub mod steps;
pub mod votes;
