//! How often results, seats and models were right, over rounds whose outcome was recorded later.
//!
//! A share of few cases says little: every share has its 95 % interval (Wilson), and one of fewer than
//! [`FEW`] cases is marked. Nothing is smoothed, weighted or left out of what was recorded.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::round_view::{is_revealed, seats, tally};
use crate::ballot::{Ballot, BallotForm, BallotKind, Stance};
use crate::history::{RoundRun, Session};
use crate::tally::Tier;

/// Fewer cases than this are few.
pub const FEW: usize = 10;
/// Stated confidence is grouped in so many steps from 0 to 1.
const STEPS: usize = 5;

/// How many of several were right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    pub right: usize,
    pub of: usize,
}

impl Share {
    fn count(&mut self, is_right: bool) {
        self.right += usize::from(is_right);
        self.of += 1;
    }

    /// The share itself, from 0 to 1; 0 of nothing.
    pub fn value(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.right as f64 / self.of as f64 }
    }

    /// The 95 % interval of the share (Wilson), from 0 to 1; all of it for nothing.
    pub fn interval(self) -> (f64, f64) {
        const Z: f64 = 1.959_964;
        if self.of == 0 {
            return (0.0, 1.0);
        }
        let (n, p) = (self.of as f64, self.value());
        let scale = 1.0 + Z * Z / n;
        let middle = (p + Z * Z / (2.0 * n)) / scale;
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }

    pub fn is_few(self) -> bool {
        self.of < FEW
    }

    fn json(self) -> Value {
        let (low, high) = self.interval();
        let rounded = |share: f64| (share * 1e4).round() / 1e4;
        json!({
            "right": self.right, "of": self.of, "share": (self.of > 0).then(|| rounded(self.value())),
            "low": rounded(low), "high": rounded(high), "few": self.is_few(),
        })
    }
}

/// Answers of one step of stated confidence.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ConfidenceStep {
    /// The lowest and the highest confidence of the step.
    pub from: f64,
    pub to: f64,
    pub share: Share,
    stated: f64,
}

impl ConfidenceStep {
    /// What its answers stated on average.
    pub fn mean(&self) -> f64 {
        self.stated / self.share.of.max(1) as f64
    }
}

/// Over all recorded outcomes: how often what was right.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Rounds that were judged.
    pub rounds: usize,
    /// Rounds without a decision: neither right nor wrong.
    pub undecided: usize,
    /// Decisions in all.
    pub decisions: Share,
    /// Decisions by strength, the strongest first.
    pub tiers: IndexMap<String, Share>,
    pub seats: IndexMap<String, Share>,
    pub models: IndexMap<String, Share>,
    /// Answers by the confidence they stated.
    pub confidence: Vec<ConfidenceStep>,
    /// The mean squared distance between stated confidence and what was so; none without confidence.
    pub brier: Option<f64>,
    squares: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        let step = |at: usize| ConfidenceStep {
            from: at as f64 / STEPS as f64,
            to: (at + 1) as f64 / STEPS as f64,
            ..ConfidenceStep::default()
        };
        let tiers = [Tier::Unanimous, Tier::Strong, Tier::Weak]
            .map(|tier| (tier.name().to_owned(), Share::default()));
        Self {
            rounds: 0,
            undecided: 0,
            decisions: Share::default(),
            tiers: tiers.into_iter().collect(),
            seats: IndexMap::new(),
            models: IndexMap::new(),
            confidence: (0..STEPS).map(step).collect(),
            brier: None,
            squares: 0.0,
        }
    }
}

/// Why an outcome does not fit a round, with what would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    pub why: String,
    pub hint: String,
}

impl Unfit {
    fn new(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { why: why.into(), hint: hint.into() }
    }
}

/// Whether `was` can have turned out right for a round.
///
/// # Errors
/// The round is not revealed, has nothing that could be right, or no such option.
pub fn check_outcome(round: &RoundRun, was: &str) -> Result<(), Unfit> {
    if !is_revealed(round) {
        return Err(Unfit::new(
            format!("round `{}` is not revealed yet", round.opened.round),
            "finish the session first: `roundtable resume FILE`",
        ));
    }
    let form = &round.opened.ballot;
    let one_of = |known: &[String]| {
        if known.iter().any(|known| known == was) {
            return Ok(());
        }
        let names: Vec<&str> = known.iter().map(String::as_str).collect();
        Err(Unfit::new(
            format!("`{was}` is no answer to round `{}`", round.opened.round),
            crate::diagnostic::did_you_mean(was, &names),
        ))
    };
    match form.kind {
        BallotKind::Choice | BallotKind::Approval | BallotKind::Ranking | BallotKind::Score => {
            one_of(&form.options)
        }
        BallotKind::Consent => one_of(&["support".to_owned(), "block".to_owned()]),
        BallotKind::Estimate if !form.cards.is_empty() => one_of(&form.cards),
        BallotKind::Estimate if was.parse::<f64>().is_ok_and(f64::is_finite) => Ok(()),
        BallotKind::Estimate => {
            Err(Unfit::new(format!("`{was}` is no number"), "give the number that it was"))
        }
        BallotKind::Position | BallotKind::Ideas | BallotKind::Findings => Err(Unfit::new(
            format!("round `{}` asked for words, which are neither right nor wrong", round.opened.round),
            "name a round with options by --round",
        )),
    }
}

/// Whether an estimate is close to what was: a card at most one away, a number within a quarter.
fn is_close(form: &BallotForm, estimate: &str, was: &str) -> bool {
    let place = |card: &str| form.cards.iter().position(|known| known == card);
    if let (Some(a), Some(b)) = (place(estimate), place(was)) {
        return a.abs_diff(b) <= 1;
    }
    match (estimate.parse::<f64>(), was.parse::<f64>()) {
        (Ok(estimate), Ok(was)) => (estimate - was).abs() <= was.abs() / 4.0,
        _ => estimate == was,
    }
}

/// Whether a ballot says what turned out right; none of one that says neither, such as standing aside.
fn is_right(form: &BallotForm, ballot: &Ballot, was: &str) -> Option<bool> {
    if let Ballot::Consent(stance, _) = ballot {
        return match stance {
            Stance::Support => Some(was == "support"),
            Stance::Block => Some(was == "block"),
            Stance::StandAside => None,
        };
    }
    if let Ballot::Estimate(value) = ballot {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        return Some(is_close(form, &text, was));
    }
    let top = ballot.top_options()?;
    Some(top.iter().any(|option| option == was))
}

impl Calibration {
    /// Counts a round whose outcome `was` is known and fits, by [`check_outcome`].
    pub fn count(&mut self, session: &Session, round: &RoundRun, was: &str) {
        let form = &round.opened.ballot;
        self.rounds += 1;
        let counted = tally(round);
        let winner = counted.filter(|tally| tally.decided).and_then(|tally| tally.verdict.winners.first());
        match winner {
            Some(winner) => {
                let is_right = if form.kind == BallotKind::Estimate {
                    is_close(form, winner, was)
                } else {
                    winner == was
                };
                self.decisions.count(is_right);
                if let Some(tier) = counted.and_then(|tally| tally.tier) {
                    self.tiers.entry(tier.name().to_owned()).or_default().count(is_right);
                }
            }
            None => self.undecided += 1,
        }
        for seat in seats(session, round) {
            let Some(is_right) = seat.ballot().and_then(|ballot| is_right(form, ballot, was)) else {
                continue;
            };
            self.seats.entry(seat.name.to_owned()).or_default().count(is_right);
            self.models.entry(seat.model.to_owned()).or_default().count(is_right);
            let stated = seat.answer().and_then(|answer| answer.answer.get("confidence")?.as_f64());
            let Some(stated) = stated.filter(|stated| (0.0..=1.0).contains(stated)) else { continue };
            let at = ((stated * STEPS as f64) as usize).min(STEPS - 1);
            let step = &mut self.confidence[at];
            step.share.count(is_right);
            step.stated += stated;
            self.squares += (stated - f64::from(u8::from(is_right))).powi(2);
            let stating: usize = self.confidence.iter().map(|step| step.share.of).sum();
            self.brier = Some(self.squares / stating as f64);
        }
    }

    /// The tables: a heading, and rows of a name with its share.
    pub fn tables(&self) -> [(&'static str, Vec<(String, Share)>); 4] {
        let rows =
            |map: &IndexMap<String, Share>| map.iter().map(|(name, share)| (name.clone(), *share)).collect();
        let decisions = std::iter::once(("all decisions".to_owned(), self.decisions));
        let tiers = self.tiers.iter().map(|(name, share)| (name.clone(), *share));
        let steps = self
            .confidence
            .iter()
            .map(|step| (format!("{:.0} to {:.0} %", step.from * 100.0, step.to * 100.0), step.share));
        [
            ("Strength of the decision", decisions.chain(tiers).collect()),
            ("Seat", rows(&self.seats)),
            ("Model", rows(&self.models)),
            ("Stated confidence", steps.collect()),
        ]
    }

    /// What is to be said of all of it before any share: how many, and what is few.
    pub fn summary(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} with a recorded outcome: {} right, {} wrong, {} without a decision",
            super::pluralize(self.rounds, "round"),
            self.decisions.right,
            self.decisions.of - self.decisions.right,
            self.undecided
        )];
        if self.rounds < FEW {
            lines.push(format!(
                "Few cases: below {FEW} of them a share says little. Read its 95 % interval, not the share."
            ));
        }
        lines
    }

    pub fn json(&self) -> Value {
        let rows = |map: &IndexMap<String, Share>| -> Value {
            map.iter()
                .map(|(name, share)| (name.clone(), share.json()))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let steps = self.confidence.iter().map(|step| {
            let mut row = step.share.json();
            row["from"] = json!(step.from);
            row["to"] = json!(step.to);
            row["stated"] = json!((step.share.of > 0).then(|| (step.mean() * 1e4).round() / 1e4));
            row
        });
        json!({
            "rounds": self.rounds,
            "undecided": self.undecided,
            "decisions": self.decisions.json(),
            "tiers": rows(&self.tiers),
            "seats": rows(&self.seats),
            "models": rows(&self.models),
            "confidence": steps.collect::<Value>(),
            "brier": self.brier.map(|brier| (brier * 1e4).round() / 1e4),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn the_interval_is_wilsons() {
        let is = |right, of, low: f64, high: f64| {
            let (a, b) = Share { right, of }.interval();
            assert!((a - low).abs() < 5e-4 && (b - high).abs() < 5e-4, "{right} of {of}: {a} to {b}");
        };
        // Newcombe 1998, table I, and the rule of three at its ends.
        is(81, 263, 0.2553, 0.3662);
        is(15, 148, 0.0624, 0.1605);
        is(0, 20, 0.0, 0.1611);
        is(1, 29, 0.0061, 0.1718);
        is(29, 29, 0.8830, 1.0);
        is(0, 0, 0.0, 1.0);
    }
}
