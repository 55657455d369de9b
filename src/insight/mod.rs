//! What a session shows, as data and wording for the screen and the reports. Pure.

pub mod asked;
pub mod findings;
pub mod headline;
pub mod independence;
pub mod movement;
pub mod references;
pub mod round_view;
pub mod session_headline;
pub mod sides;
pub mod tally_text;
pub mod what_if;
pub mod wording;

pub use asked::{asked, asked_about};
pub use headline::{Headline, headline};
pub use independence::independence;
pub use movement::movement;
pub use round_view::{
    SeatView, VisibleState, confidence, dissents, is_revealed, scripted, seats, tally, winners,
};
pub use session_headline::session_headline;
pub use tally_text::{estimates, places, rule_description, tables};
pub use wording::{
    as_sentence, close_reason, cut, finding, first_names, format_duration, group_digits, join_list, labels,
    money, pluralize, quorum_ballots, shown_mask, turnout, uncapital,
};
