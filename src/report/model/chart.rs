//! The chart of a count: a bar for every side, beside its number. One place for all formats.

use serde::Serialize;

use super::Letters;
use super::options::{Badge, needed_votes};
use crate::ballot::{BallotKind, Stance};
use crate::history::{RoundRun, Tally};
use crate::insight::{bars, turnout};

#[derive(Debug, Serialize)]
pub struct Chart {
    pub title: &'static str,
    pub bars: Vec<ChartBar>,
    /// What a full bar stands for.
    pub scale: String,
    /// How many votes the rule asks for, and where that is, in percent of a full bar.
    pub needed: Option<usize>,
    pub needed_at: Option<f64>,
    pub turnout: String,
}

#[derive(Debug, Serialize)]
pub struct ChartBar {
    pub name: String,
    #[serde(flatten)]
    pub badge: Badge,
    pub score: String,
    /// The length of its bar, from 0 to 1.
    pub share: f64,
}

fn badge(name: &str, letters: &Letters) -> Badge {
    let stance = Stance::WORDS.into_iter().find_map(|(word, stance)| (word == name).then_some(stance));
    let plain = || Badge { mark: String::new(), tone: Some("o1".to_owned()) };
    letters.badge(name).or(stance.map(Badge::of_stance)).unwrap_or_else(plain)
}

/// The chart of a counted round; none where there is nothing to draw.
pub fn chart(letters: &Letters, run: &RoundRun, tally: &Tally) -> Option<Chart> {
    let title = match run.opened.ballot.kind {
        BallotKind::Choice | BallotKind::Approval | BallotKind::Ranking => "The votes",
        BallotKind::Score => "The scores",
        BallotKind::Estimate => "The spread",
        BallotKind::Consent => "Where the seats stand",
        BallotKind::Position | BallotKind::Ideas | BallotKind::Findings => return None,
    };
    let (bars, scale) = bars(tally);
    let needed = needed_votes(tally);
    let needed_at = needed.map(|needed| needed as f64 * 100.0 / super::asked(tally).max(1) as f64);
    let bar = |bar: crate::insight::Bar<'_>| ChartBar {
        name: bar.name.to_owned(),
        badge: badge(bar.name, letters),
        score: bar.score.to_string(),
        share: bar.share,
    };
    let bars: Vec<ChartBar> = bars.into_iter().map(bar).collect();
    (!bars.is_empty()).then(|| Chart { title, bars, scale, needed, needed_at, turnout: turnout(tally) })
}
