//! Insight: what a session shows, as data and wording for the screen and the reports. Pure.

pub mod agreement;
mod bar_chart;
mod dot_plot;
mod heatmap;
pub mod independence;
pub mod left_out;
pub mod movement;
mod pictures;
pub mod references;
pub mod round_view;
pub mod tally_text;
pub mod what_if;
pub mod wording;
mod wrapped;

pub use agreement::{agreement, chart};
pub use bar_chart::{Bar, bars};
pub use independence::independence;
pub use movement::movement;
pub use pictures::pictures;
pub use round_view::{SeatView, VisibleState, confidence, dissents, is_revealed, seats, tally};
pub use tally_text::{long_order, paths, places, rule_description};
pub use wording::{
    close_reason, finding, format_duration, group_digits, handling, headline, join_list, labels, money,
    pluralize, quorum_ballots, shown_mask, turnout, why_paused, without_count,
};
