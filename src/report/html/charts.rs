//! A chart for every ballot kind, as SVG or boxes, each with its result in words.
//!
//! Pictures only: places are rounded, the numbers beside them are the count's own.

use std::fmt::Write as _;

use super::markup::{badge, colour, e};
use crate::ballot::{Ballot, BallotKind, Stance};
use crate::history::{RoundRun, Tally};
use crate::insight::cut;
use crate::insight::{SeatView, seats};
use crate::report::model::{Letters, Report, asked, needed_votes};
use crate::round::record::Outcome;

/// With more seats a bar stands for the boxes.
pub const BOXES: usize = 40;
/// With more marks in a strip they are counted.
pub(super) const MARKS: usize = 60;
/// With more options there is no table of pairs.
const PAIRS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    FirstPage,
    Record,
}

/// One box a seat that was asked, those for an option filled, a line where enough of them are.
pub fn boxes(votes: usize, asked: usize, needed: Option<usize>, class: &str) -> String {
    let asked = asked.max(1);
    let line = needed
        .filter(|needed| *needed <= asked)
        .map(|needed| format!("<u style=\"left:{:.2}%\"></u>", needed as f64 * 100.0 / asked as f64));
    let line = line.unwrap_or_default();
    if asked > BOXES {
        let share = votes as f64 * 100.0 / asked as f64;
        return format!(
            "<div class=\"bar\" aria-hidden=\"true\"><b class=\"{class}\" style=\"width:{share:.2}%\"></b>{line}</div>"
        );
    }
    let filled = format!("<i class=\"{class}\"></i>").repeat(votes.min(asked));
    let empty = "<i></i>".repeat(asked.saturating_sub(votes));
    format!("<div class=\"seg\" aria-hidden=\"true\">{filled}{empty}{line}</div>")
}

/// The badge of a seat's stance, or of its abstention.
pub fn stance_badge(seat: &SeatView<'_>) -> Option<String> {
    let Some(Ballot::Consent(stance, _)) = seat.ballot() else { return None };
    Some(match stance {
        Stance::Support => badge("c-yes", "✓"),
        Stance::StandAside => badge("c-aside", "–"),
        Stance::Block => badge("c-no", "✕"),
    })
}

/// The chart of a counted round, with its heading; empty for open questions.
pub fn of_round(report: &Report<'_>, run: &RoundRun, tally: &Tally, place: Place) -> String {
    let is_same_form = report.run.is_some_and(|own| own.opened.ballot == run.opened.ballot);
    let letters = if is_same_form { report.letters.clone() } else { Letters::new(run, Some(tally)) };
    let chart = Chart { report, run, tally, place, letters: &letters };
    let (title, inner) = match run.opened.ballot.kind {
        BallotKind::Choice | BallotKind::Approval => ("The votes", chart.bars()),
        BallotKind::Ranking => ("Pair by pair", chart.pairs()),
        BallotKind::Score => ("The scores", chart.scores()),
        BallotKind::Estimate => ("The spread", chart.estimates()),
        BallotKind::Consent => ("Where the seats stand", chart.stances()),
        BallotKind::Position | BallotKind::Ideas | BallotKind::Findings => return String::new(),
    };
    if inner.is_empty() {
        return String::new();
    }
    let heading = if place == Place::FirstPage { "h2" } else { "h3" };
    format!("<section><{heading}>{title}</{heading}>{inner}</section>")
}

/// How a pair is shown: bold on blue if it is won, darker if by two thirds of the rankings.
fn pair_class(for_it: usize, against: usize, all: usize) -> &'static str {
    if for_it == against {
        "eq"
    } else if for_it < against {
        "lose"
    } else if 3 * (for_it - against) >= 2 * all {
        "win h3"
    } else {
        "win h1"
    }
}

pub(super) struct Chart<'a> {
    pub(super) report: &'a Report<'a>,
    pub(super) run: &'a RoundRun,
    place: Place,
    pub(super) tally: &'a Tally,
    pub(super) letters: &'a Letters,
}

impl<'a> Chart<'a> {
    pub(super) fn seats(&self) -> impl Iterator<Item = SeatView<'a>> {
        seats(self.report.session, self.run)
    }

    /// Rows of boxes: the options, then the seats without a vote.
    fn bars(&self) -> String {
        let (asked, needed) = (asked(self.tally), needed_votes(self.tally));
        let mut out = "<table class=\"bars\"><caption class=\"vh\">Votes</caption><tbody>".to_owned();
        let mut rows: Vec<(usize, &String, usize)> = self
            .letters
            .options
            .iter()
            .enumerate()
            .map(|(place, option)| {
                let is_for = |ballot: &Ballot| ballot.top_options().is_some_and(|top| top.contains(option));
                (place, option, self.seats().filter(|seat| seat.ballot().is_some_and(is_for)).count())
            })
            .collect();
        rows.sort_by_key(|(place, _, votes)| (std::cmp::Reverse(*votes), *place));
        for (place, option, votes) in rows.iter().take(20) {
            let class = colour(*place);
            let mark = badge(&class, &self.letters.letter(option).unwrap_or_default());
            let _ = write!(
                out,
                "<tr><th scope=\"row\"><span class=\"op\">{mark}<span dir=\"auto\">{}</span></span></th><td>{}</td>\
                 <td class=\"n\">{votes} <span>of {asked}</span></td></tr>",
                e(&cut(option, 40)),
                boxes(*votes, asked, needed, &class)
            );
        }
        if rows.len() > 20 {
            let _ = write!(
                out,
                "<tr class=\"rest\"><th scope=\"row\">{} more options</th><td></td><td></td></tr>",
                rows.len() - 20
            );
        }
        let rest = [
            (self.tally.abstained, "○", "abstained"),
            (self.tally.failed + self.tally.missing + self.tally.refused, "!", "failed"),
            (self.tally.invalid, "?", "invalid"),
        ];
        for (count, sign, word) in rest.into_iter().filter(|(count, ..)| *count > 0) {
            let dashed = if asked > BOXES {
                String::new()
            } else {
                let hollow = format!("<i class=\"hollow\">{sign}</i>").repeat(count.min(asked));
                format!(
                    "<div class=\"seg\" aria-hidden=\"true\">{hollow}{}</div>",
                    "<i></i>".repeat(asked.saturating_sub(count))
                )
            };
            let _ = write!(
                out,
                "<tr class=\"rest\"><th scope=\"row\">{word}</th><td>{dashed}</td><td class=\"n\">{count}</td></tr>"
            );
        }
        let line = needed.map(|needed| format!("; the line marks the {needed} needed")).unwrap_or_default();
        let one = if asked > BOXES { "A full bar is all" } else { "One box is one of" };
        let _ = write!(out, "</tbody></table><p class=\"cap\">{one} the {asked} seats asked{line}.</p>");
        out
    }

    /// The places of the options in every ranking; what is left out stands last.
    fn places(&self, options: &[String]) -> Vec<Vec<usize>> {
        self.seats()
            .filter_map(|seat| {
                let Some(Ballot::Ranking(levels)) = seat.ballot() else { return None };
                let place =
                    |option| levels.iter().position(|level| level.contains(option)).unwrap_or(usize::MAX);
                Some(options.iter().map(place).collect())
            })
            .collect()
    }

    /// How many seats put the option of the row before that of the column.
    fn pairs(&self) -> String {
        let options = &self.letters.options;
        if options.len() > PAIRS {
            return String::new();
        }
        let ballots = self.places(options);
        let over = |a: usize, b: usize| ballots.iter().filter(|places| places[a] < places[b]).count();
        let label = match self.place {
            Place::FirstPage => "Pair by pair".to_owned(),
            Place::Record => format!("Pair by pair in round {}", self.run.opened.number),
        };
        let mut out = format!(
            "<div class=\"sc\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table class=\"heat\">\
                       <caption class=\"vh\">How many seats put the option of the row before that of the column</caption>\
                       <thead><tr><th scope=\"col\" class=\"l\">row before column</th>"
        );
        for (place, option) in options.iter().enumerate() {
            let letter = self.letters.letter(option).unwrap_or_default();
            let _ = write!(
                out,
                "<th scope=\"col\">{}<span class=\"vh\">{}</span></th>",
                badge(&colour(place), &letter),
                e(option)
            );
        }
        out.push_str("</tr></thead><tbody>");
        for (a, option) in options.iter().enumerate() {
            let mark = badge(&colour(a), &self.letters.letter(option).unwrap_or_default());
            let _ = write!(
                out,
                "<tr><th scope=\"row\"><span class=\"op\">{mark}<span dir=\"auto\">{}</span></span></th>",
                e(&cut(option, 24))
            );
            for b in 0..options.len() {
                if a == b {
                    out.push_str("<td class=\"dg\"></td>");
                    continue;
                }
                let (for_it, against) = (over(a, b), over(b, a));
                let class = pair_class(for_it, against, ballots.len());
                let _ = write!(out, "<td class=\"{class}\">{for_it}</td>");
            }
            out.push_str("</tr>");
        }
        let _ = write!(
            out,
            "</tbody></table></div><p class=\"cap\">Of {} rankings; bold on blue: more seats put the row first than the \
             column. The options stand in the order of the result.</p>",
            ballots.len()
        );
        out
    }

    /// A tile a seat: who supports, stands aside, blocks, abstained, did not count.
    fn stances(&self) -> String {
        if self.run.seats.len() > MARKS {
            return String::new();
        }
        let groups = [
            ("c-yes", "✓", "support"),
            ("c-aside", "–", "stand aside"),
            ("c-no", "✕", "block"),
            ("hollow", "○", "abstained"),
            ("hollow", "!", "did not count"),
        ];
        let group = |seat: &SeatView<'_>| {
            if let Some(Ballot::Consent(stance, _)) = seat.ballot() {
                return match stance {
                    Stance::Support => 0,
                    Stance::StandAside => 1,
                    Stance::Block => 2,
                };
            }
            if seat.outcome() == Some(Outcome::Abstained) { 3 } else { 4 }
        };
        let mut tiles: Vec<(usize, &str)> = self.seats().map(|seat| (group(&seat), seat.name)).collect();
        tiles.sort_by_key(|(group, _)| *group);
        let mut out = "<ul class=\"strip\">".to_owned();
        for (group, name) in tiles {
            let (class, sign, word) = groups[group];
            let _ = write!(
                out,
                "<li class=\"{class}\"><b aria-hidden=\"true\">{sign}</b><span>{word}</span><small>{}</small></li>",
                e(name)
            );
        }
        out + "</ul>"
    }
}
