//! The ballots of a round as pictures of plain text, one below the other.

use super::{dot_plot, heatmap, round_view};
use crate::core::profile;
use crate::history::{RoundRun, Session};

/// The pictures of a revealed round in `width` columns where that many do, one below the other with a
/// blank line between; none for ballots that bars show whole. A heat map with more columns than fit goes
/// on below itself.
pub fn pictures(session: &Session, round: &RoundRun, width: usize) -> Vec<String> {
    let Some(tally) = round_view::tally(round) else { return Vec::new() };
    let ballots = profile(session, round);
    let pictures = [
        heatmap::scores(&ballots, &round.opened.ballot, width),
        heatmap::pairs(&tally.verdict, width),
        dot_plot::estimates(&ballots, &round.opened.ballot, &tally.verdict),
    ];
    let mut lines = Vec::new();
    for picture in pictures.into_iter().filter(|picture| !picture.is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(picture);
    }
    lines
}
