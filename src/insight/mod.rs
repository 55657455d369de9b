//! Insights into a session, as data and wording for screen and reports. Pure.

pub mod counts;
pub mod findings;
pub mod headline;
pub mod independence;
pub mod movement;
pub mod references;
pub mod round_view;
pub mod wording;

pub use counts::{estimates, places, rule_description, tables};
pub use headline::{Headline, asked, asked_about, headline, session_headline, valid_proposal, what_if_lines};
pub use independence::independence;
pub use movement::movement;
pub use round_view::{SeatView, confidence, dissents, is_revealed, scripted, seats, tally, winners};
pub use wording::{
    as_sentence, close_reason, cut, finding, first_names, format_duration, group_digits, join_list, labels,
    money, pluralize, shown_mask, turnout, uncapital,
};
