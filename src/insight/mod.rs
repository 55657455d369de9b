//! What a session shows, as data and wording for the screen and the reports. Pure.

pub mod counts;
pub mod findings;
pub mod headline;
pub mod independence;
pub mod movement;
pub mod references;
pub mod round_view;
pub mod wording;

pub use counts::{estimates, places, rule_description, tables};
pub use headline::{Headline, asked, asked_about, headline, session_headline};
pub use independence::independence;
pub use movement::movement;
pub use round_view::{
    SeatView, VisibleState, confidence, dissents, is_revealed, scripted, seats, tally, winners,
};
pub use wording::{
    as_sentence, close_reason, cut, finding, first_names, format_duration, group_digits, join_list, labels,
    money, pluralize, quorum_ballots, shown_mask, turnout, uncapital,
};

use crate::history::{RoundRun, Session};

/// Lines for a person: what is recorded, then what each rule finds.
pub fn what_if_lines(session: &Session, round: &RoundRun, found: &[counts::WhatIf]) -> Vec<String> {
    let id = &round.opened.round;
    let recorded = match (round.opened.rule, tally(round)) {
        (Some(rule), Some(tally)) => {
            let rule = rule_description(rule, &round.opened.terms);
            let label = headline(session, round, tally).label;
            format!("The recorded outcome stays: {label} (by {rule}).")
        }
        _ => "The round has no rule, and nothing was decided.".to_owned(),
    };
    let mut lines = vec![format!("Round {id} under other rules. {recorded}")];
    lines.extend(found.iter().map(counts::WhatIf::line));
    lines
}
