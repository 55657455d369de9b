//! A bar for every side of a count, beside its number.

use std::fmt::Write as _;

use super::markup::{badge, colour, e, stance_class};
use crate::ballot::{Ballot, BallotKind, Stance};
use crate::history::{RoundRun, Tally};
use crate::insight::{SeatView, bars, cut, turnout};
use crate::report::model::{Letters, asked, needed_votes};

/// With more options the others are counted.
const BARS: usize = 20;

pub fn stance_badge(seat: &SeatView<'_>) -> Option<String> {
    let Some(Ballot::Consent(stance, _)) = seat.ballot() else { return None };
    Some(match stance {
        Stance::Support => badge("c-yes", "✓"),
        Stance::StandAside => badge("c-aside", "–"),
        Stance::Block => badge("c-no", "✕"),
    })
}

/// The class and the letter or sign of a side of the count.
fn look(name: &str, letters: &Letters) -> (String, String) {
    let sign = match name {
        "support" => "✓",
        "stand-aside" => "–",
        "block" => "✕",
        _ => "",
    };
    match letters.place(name) {
        Some(place) => (colour(place), letters.letter(name).unwrap_or_default()),
        None => (stance_class(sign).unwrap_or("o1").to_owned(), sign.to_owned()),
    }
}

/// The bars of a counted round under a heading such as `h2`; empty where there is nothing to draw.
pub fn of_round(letters: &Letters, run: &RoundRun, tally: &Tally, heading: &str) -> String {
    let (bars, scale) = bars(tally);
    let kind = run.opened.ballot.kind;
    let title = match kind {
        BallotKind::Choice | BallotKind::Approval | BallotKind::Ranking => "The votes",
        BallotKind::Score => "The scores",
        BallotKind::Estimate => "The spread",
        BallotKind::Consent => "Where the seats stand",
        BallotKind::Position | BallotKind::Ideas | BallotKind::Findings => return String::new(),
    };
    if bars.is_empty() {
        return String::new();
    }
    let needed = needed_votes(tally).map(|needed| needed as f64 * 100.0 / asked(tally).max(1) as f64);
    let line = needed.map(|at| format!("<u style=\"left:{at:.2}%\"></u>")).unwrap_or_default();
    let mut out = format!(
        "<section><{heading}>{title}</{heading}><table class=\"bars\"><caption class=\"vh\">{title}</caption><tbody>"
    );
    for bar in bars.iter().take(BARS) {
        let (class, sign) = look(bar.name, letters);
        let mark = if sign.is_empty() { sign } else { badge(&class, &sign) };
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><span class=\"op\">{mark}<span dir=\"auto\">{}</span></span></th><td><div class=\"bar\" \
             aria-hidden=\"true\"><b class=\"{class}\" style=\"width:{:.2}%\"></b>{line}</div></td><td class=\"n\">{}</td></tr>",
            e(&cut(bar.name, 40)),
            bar.share * 100.0,
            e(&bar.score.to_string())
        );
    }
    let more = bars.len().saturating_sub(BARS);
    let more = if more > 0 { format!(" {more} more options.") } else { String::new() };
    let line = needed_votes(tally).map(|needed| format!(" The line marks the {needed} needed."));
    let _ = write!(
        out,
        "</tbody></table><p class=\"cap\">{scale}{}{more} {}.</p></section>",
        line.unwrap_or_default(),
        turnout(tally)
    );
    out
}
