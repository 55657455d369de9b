//! The options of a round: their letters, what they are, what they got.

use serde::Serialize;

use super::reasons::Reasons;
use super::{Report, reasons};
use crate::ballot::{Ballot, BallotKind, OptionText, Stance};
use crate::history::{RoundRun, Tally};
use crate::insight::{SeatView, is_revealed, seats};
use crate::tally::Rule;

/// The kinds whose result is how many seats are for an option.
const COUNTED: [BallotKind; 2] = [BallotKind::Choice, BallotKind::Approval];

/// The options of a form in the order in which they are lettered: by the form, or by the result where the
/// result is an order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Letters {
    pub options: Vec<String>,
}

impl Letters {
    pub fn new(run: &RoundRun, tally: Option<&Tally>) -> Self {
        let form = &run.opened.ballot;
        let by_result = matches!(form.kind, BallotKind::Ranking | BallotKind::Score);
        let order: Vec<String> =
            tally.iter().flat_map(|tally| tally.verdict.order.iter().flatten().cloned()).collect();
        let is_whole = order.len() == form.options.len();
        Self { options: if by_result && is_whole { order } else { form.options.clone() } }
    }

    /// The place of an option, from 0.
    pub fn place(&self, option: &str) -> Option<usize> {
        self.options.iter().position(|known| known == option)
    }

    /// Its letter, A to Z, then its number; none for what is no option.
    pub fn badge(&self, option: &str) -> Option<Badge> {
        self.place(option).map(Badge::of_place)
    }
}

/// A letter or sign, and the colour that goes with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Badge {
    pub mark: String,
    /// Options by their place, the colours repeat after eight; stances have their own.
    pub tone: Option<String>,
}

impl Badge {
    fn of_place(place: usize) -> Self {
        Self { mark: letter(place), tone: Some(format!("o{}", place % 8 + 1)) }
    }

    pub fn of_stance(stance: Stance) -> Self {
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
    Some(Badge::of_stance(*stance))
}

fn letter(place: usize) -> String {
    u8::try_from(place)
        .ok()
        .filter(|place| *place < 26)
        .map_or_else(|| (place + 1).to_string(), |place| char::from(b'A' + place).to_string())
}

#[derive(Debug, Serialize)]
pub struct RoundVotes {
    pub round: u32,
    pub votes: usize,
}

#[derive(Debug, Serialize)]
pub struct OptionView {
    pub name: String,
    /// Whether it is what is consented to, which has no letter.
    #[serde(rename = "proposal")]
    pub is_proposal: bool,
    pub letter: String,
    pub tone: Option<String>,
    pub description: Option<String>,
    /// "4 of 6", "7.25", "2=".
    pub result: String,
    /// How many seats are for it, where that is what is counted.
    pub votes: Option<usize>,
    /// The same in each round of the question, the deciding one among them.
    #[serde(rename = "votes_by_round")]
    pub by_round: Vec<RoundVotes>,
    #[serde(rename = "chosen")]
    pub is_chosen: bool,
    #[serde(flatten)]
    pub reasons: Reasons,
}

impl Report<'_> {
    /// The options of the deciding round, the best first; for consent the proposal alone.
    pub fn options(&self) -> Vec<OptionView> {
        let Some(run) = self.run else { return Vec::new() };
        let form = &run.opened.ballot;
        let mut reasons = reasons::by_option(self, run);
        if form.kind == BallotKind::Consent {
            let of_proposal = reasons.shift_remove(reasons::PROPOSAL).unwrap_or_default();
            return vec![OptionView {
                name: "The proposal".to_owned(),
                is_proposal: true,
                letter: String::new(),
                tone: None,
                description: Some(run.opened.question.clone()),
                result: String::new(),
                votes: None,
                by_round: Vec::new(),
                is_chosen: false,
                reasons: of_proposal,
            }];
        }
        let descriptions = self.descriptions(run);
        let winners = self.winners();
        let is_counted = self.tally.is_some() && COUNTED.contains(&run.opened.ballot.kind);
        let mut found: Vec<OptionView> = self
            .letters
            .options
            .iter()
            .enumerate()
            .map(|(place, option)| (Badge::of_place(place), option))
            .map(|(badge, option)| OptionView {
                name: option.clone(),
                is_proposal: false,
                letter: badge.mark,
                tone: badge.tone,
                description: descriptions
                    .iter()
                    .find(|(name, _)| name == option)
                    .map(|(_, text)| text.clone()),
                result: self.result(run, option),
                votes: is_counted.then(|| self.votes(run, option)),
                by_round: if is_counted { self.votes_by_round(run, option) } else { Vec::new() },
                is_chosen: winners.contains(&option.as_str()),
                reasons: reasons.shift_remove(option).unwrap_or_default(),
            })
            .collect();
        let order: Vec<&String> =
            self.tally.iter().flat_map(|tally| tally.verdict.order.iter().flatten()).collect();
        let rank =
            |option: &OptionView| order.iter().position(|name| **name == option.name).unwrap_or(usize::MAX);
        found.sort_by_key(|option| (!option.is_chosen, rank(option), std::cmp::Reverse(option.votes)));
        found
    }

    fn descriptions(&self, run: &RoundRun) -> Vec<(String, String)> {
        let told = |(option, about): (&String, &OptionText)| {
            let texts: Vec<&str> = about.entries().map(|(_, text)| text).collect();
            let is_author = |name: &&String| self.session.display_name(name) == option && *name != option;
            let author = run.opened.seats.iter().find(is_author).filter(|_| run.opened.ballot.exclude_own);
            let by = author.map(|name| format!("by {name}. ")).unwrap_or_default();
            (option.clone(), by + &texts.join(". "))
        };
        run.opened.ballot.about.iter().map(told).collect()
    }

    fn votes_by_round(&self, run: &RoundRun, option: &str) -> Vec<RoundVotes> {
        let alike =
            |round: &&&RoundRun| is_revealed(round) && round.opened.ballot.is_like(&run.opened.ballot);
        let votes =
            |round: &&RoundRun| RoundVotes { round: round.opened.number, votes: self.votes(round, option) };
        self.rounds.iter().filter(alike).map(votes).collect()
    }

    /// How many seats chose or approved an option, or place it first.
    pub fn votes(&self, run: &RoundRun, option: &str) -> usize {
        let is_for =
            |ballot: &Ballot| ballot.top_options().is_some_and(|top| top.iter().any(|one| one == option));
        seats(self.session, run).filter(|seat| seat.ballot().is_some_and(is_for)).count()
    }

    fn result(&self, run: &RoundRun, option: &str) -> String {
        let Some(tally) = self.tally else { return String::new() };
        if COUNTED.contains(&run.opened.ballot.kind) {
            return format!("{} of {}", self.votes(run, option), asked(tally));
        }
        if run.opened.ballot.kind == BallotKind::Ranking {
            let mut before = 0;
            for level in &tally.verdict.order {
                if level.iter().any(|known| known == option) {
                    let tied = if level.len() > 1 { "=" } else { "" };
                    return format!("place {}{tied}", before + 1);
                }
                before += level.len();
            }
        }
        tally.verdict.scores.get(option).map(ToString::to_string).unwrap_or_default()
    }
}

/// How many seats were asked; those that were let go were not.
pub fn asked(tally: &Tally) -> usize {
    tally.asked.saturating_sub(tally.excused)
}

/// How many votes a rule asks for, where its votes are ballots and there are enough of them.
pub fn needed_votes(tally: &Tally) -> Option<usize> {
    let rule = tally.rule.filter(|_| tally.quorum_met && tally.answered > 0)?;
    let sum: f64 = tally.verdict.scores.values().map(crate::tally::Score::as_f64).sum();
    if (sum - tally.answered as f64).abs() > 1e-6 {
        return None;
    }
    if rule == Rule::Majority {
        return Some(tally.answered / 2 + 1);
    }
    if rule == Rule::Unanimous {
        return Some(tally.answered);
    }
    let share = rule.threshold(&tally.terms).filter(|_| rule == Rule::Supermajority)?.to_string();
    let (top, bottom) = share.split_once('/').unwrap_or((&share, "1"));
    let share = top.trim().parse::<f64>().ok()? / bottom.trim().parse::<f64>().ok()?;
    Some((share * tally.answered as f64 - 1e-9).ceil() as usize)
}
