//! Options of a round: letters, descriptions, results; and the chart of the tally.

use std::cmp::Reverse;

use serde::Serialize;

use super::question::QuestionRounds;
use super::reasons::{self, Reasons};
use crate::ballot::{Ballot, BallotKind, OptionText, Stance};
use crate::history::{RoundRun, Session, Tally};
use crate::insight::SeatView;
use crate::insight::round_view::{Bar, author, bars, votes};
use crate::tally::Score;

/// Ballot kinds whose result is the number of seats for an option.
const COUNTED: [BallotKind; 2] = [BallotKind::Choice, BallotKind::Approval];

/// Order in which options get letters: that of the form, or of the result if the result is a ranking.
#[derive(Debug, Default)]
pub struct Letters(Vec<String>);

impl Letters {
    fn new(run: &RoundRun, tally: Option<&Tally>) -> Self {
        let form = &run.opened.ballot;
        let by_result = matches!(form.kind, BallotKind::Ranking | BallotKind::Score);
        let order: Vec<String> =
            tally.iter().flat_map(|tally| tally.verdict.order.iter().flatten().cloned()).collect();
        let is_whole = order.len() == form.options.len();
        Self(if by_result && is_whole { order } else { form.options.clone() })
    }

    fn place(&self, option: &str) -> Option<usize> {
        self.0.iter().position(|known| known == option)
    }

    /// Returns the badge of an option: a letter, or a number after Z; `None` for any other text.
    pub fn badge(&self, option: &str) -> Option<Badge> {
        self.place(option).map(Badge::for_position)
    }
}

/// Letter or sign, with its color.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Badge {
    pub mark: String,
    /// Color. Options use their position, repeating after eight; stances have their own colors.
    pub tone: Option<String>,
}

impl Badge {
    fn for_position(place: usize) -> Self {
        let letter = u8::try_from(place).ok().filter(|place| *place < 26);
        let mark =
            letter.map_or_else(|| (place + 1).to_string(), |place| char::from(b'A' + place).to_string());
        Self { mark, tone: Some(format!("o{}", place % 8 + 1)) }
    }

    fn for_stance(stance: Stance) -> Self {
        let (mark, tone) = match stance {
            Stance::Support => ("✓", "c-yes"),
            Stance::StandAside => ("–", "c-aside"),
            Stance::Block => ("✕", "c-no"),
        };
        Self { mark: mark.to_owned(), tone: Some(tone.to_owned()) }
    }
}

pub fn stance_badge(seat: &SeatView<'_>) -> Option<Badge> {
    let Some(Ballot::Consent(stance, _)) = seat.ballot() else { return None };
    Some(Badge::for_stance(*stance))
}

#[derive(Debug, Default, Serialize)]
pub struct OptionView {
    pub name: String,
    /// Set for the proposal of a consent round, which has no letter.
    #[serde(rename = "proposal")]
    pub is_proposal: bool,
    pub letter: String,
    pub tone: Option<String>,
    pub description: Option<String>,
    /// "4 of 6", "7.25", "2=".
    pub result: String,
    /// Number of seats for the option, if the ballot kind counts seats.
    pub votes: Option<usize>,
    /// Seats for the option in each round of the question, the deciding one included.
    #[serde(rename = "votes_by_round")]
    pub by_round: Vec<(u32, usize)>,
    #[serde(rename = "chosen")]
    pub is_chosen: bool,
    #[serde(flatten)]
    pub reasons: Reasons,
}

impl QuestionRounds<'_> {
    pub fn letters(&self) -> Letters {
        self.run.map(|run| Letters::new(run, self.tally)).unwrap_or_default()
    }

    /// Returns the options of the deciding round, best first; for consent only the proposal.
    pub fn options(&self) -> Vec<OptionView> {
        let Some(run) = self.run else { return Vec::new() };
        let mut reasons = reasons::by_option(self, run);
        if self.kind() == BallotKind::Consent {
            return vec![OptionView {
                name: "The proposal".to_owned(),
                is_proposal: true,
                description: Some(run.opened.question.clone()),
                reasons: reasons.shift_remove(reasons::PROPOSAL).unwrap_or_default(),
                ..OptionView::default()
            }];
        }
        let winners = self.winners();
        let is_counted = self.tally.is_some() && COUNTED.contains(&self.kind());
        let rounds: Vec<&RoundRun> = if is_counted { self.alike().collect() } else { Vec::new() };
        let votes: Vec<_> =
            rounds.iter().map(|round| (round.opened.number, votes(self.session, round))).collect();
        let view = |(place, option): (usize, &String)| {
            let badge = Badge::for_position(place);
            let about = run.opened.ballot.about.get(option);
            let votes = votes.iter().map(|(round, votes)| (*round, votes.get(option).copied().unwrap_or(0)));
            let by_round: Vec<(u32, usize)> = votes.collect();
            let now = by_round.iter().find(|(round, _)| *round == run.opened.number).map(|(_, votes)| *votes);
            OptionView {
                name: option.clone(),
                is_proposal: false,
                letter: badge.mark,
                tone: badge.tone,
                description: about.map(|about| self.description(run, option, about)),
                result: self.tally.map(|tally| result(tally, self.kind(), option, now)).unwrap_or_default(),
                votes: now,
                by_round,
                is_chosen: winners.contains(&option.as_str()),
                reasons: reasons.shift_remove(option).unwrap_or_default(),
            }
        };
        let mut found: Vec<OptionView> = self.letters().0.iter().enumerate().map(view).collect();
        let order: Vec<&String> =
            self.tally.iter().flat_map(|tally| tally.verdict.order.iter().flatten()).collect();
        let rank =
            |option: &OptionView| order.iter().position(|name| **name == option.name).unwrap_or(usize::MAX);
        found.sort_by_key(|option| (!option.is_chosen, rank(option), Reverse(option.votes)));
        found
    }

    fn description(&self, run: &RoundRun, option: &str, about: &OptionText) -> String {
        let texts: Vec<&str> = about.entries().map(|(_, text)| text).collect();
        author(self.session, run, option).map(|name| format!("by {name}. ")).unwrap_or_default()
            + &texts.join(". ")
    }
}

/// Formats an option's result: "4 of 6", "place 2=", "7.25".
fn result(tally: &Tally, kind: BallotKind, option: &str, votes: Option<usize>) -> String {
    if let Some(votes) = votes {
        return format!("{votes} of {}", tally.not_excused());
    }
    let mut before = 0;
    for level in tally.verdict.order.iter().filter(|_| kind == BallotKind::Ranking) {
        if level.iter().any(|known| known == option) {
            let tied = if level.len() > 1 { "=" } else { "" };
            return format!("place {}{tied}", before + 1);
        }
        before += level.len();
    }
    tally.verdict.scores.get(option).map(Score::rounded).unwrap_or_default()
}

#[derive(Debug, Serialize)]
pub struct Chart<'a> {
    pub bars: Vec<ChartBar<'a>>,
    /// Value of a full bar.
    pub scale: String,
}

#[derive(Debug, Serialize)]
pub struct ChartBar<'a> {
    #[serde(flatten)]
    pub badge: Badge,
    #[serde(flatten)]
    pub bar: Bar<'a>,
}

/// Returns the chart of a counted round, in the order of the letters; `None` if it has no bars.
pub fn chart<'a>(session: &'a Session, run: &'a RoundRun, tally: &'a Tally) -> Option<Chart<'a>> {
    let letters = Letters::new(run, Some(tally));
    let badge = |name: &str| {
        let stance = Stance::WORDS.into_iter().find_map(|(word, stance)| (word == name).then_some(stance));
        let plain = || Badge { mark: String::new(), tone: Some("o1".to_owned()) };
        letters.badge(name).or(stance.map(Badge::for_stance)).unwrap_or_else(plain)
    };
    let with_badge = |bar: Bar<'a>| ChartBar { badge: badge(bar.name), bar };
    let (mut bars, scale) = bars(session, run);
    bars.sort_by_key(|bar| letters.place(bar.name));
    (!bars.is_empty()).then(|| Chart { bars: bars.into_iter().map(with_badge).collect(), scale })
}
