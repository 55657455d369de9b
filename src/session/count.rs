//! The count of a closed round: who took part, whether the quorum is met, what the rule found.

use super::event::Tally;
use super::state::{RoundRun, SeatStatus};
use crate::round::ballot::{Ballot, Stance};
use crate::round::record::Outcome;
use crate::tally::{Rule, Stances, Ties, Verdict, consent, majority, plurality, seeded_winner};

/// Counts a closed round in the order of its roster.
pub fn count(round: &RoundRun) -> Tally {
    let opened = &round.opened;
    let mut tally = Tally {
        step: opened.step.clone(),
        round: opened.round.clone(),
        rule: opened.rule,
        asked: round.seats.len(),
        sealed: round.sealed(),
        answered: 0,
        abstained: 0,
        invalid: 0,
        refused: 0,
        failed: 0,
        missing: 0,
        excused: 0,
        quorum: opened.quorum,
        quorum_met: false,
        decided: false,
        verdict: Verdict::default(),
    };
    for seat in round.seats.values() {
        *bucket(&mut tally, &seat.status) += 1;
    }
    tally.quorum_met = tally.answered + tally.abstained >= tally.quorum;
    tally.verdict = verdict(round);
    if tally.rule.is_none() {
        return tally;
    }
    if !tally.quorum_met {
        let reason = format!(
            "no quorum: {} of {} took part, {} are needed",
            tally.answered + tally.abstained,
            tally.asked,
            tally.quorum
        );
        tally.verdict.winners.clear();
        tally.verdict.tie = false;
        tally.verdict.reason = Some(reason);
    } else if tally.verdict.tie {
        break_tie(&mut tally.verdict, opened.ties, round.tie_choice.as_deref());
    }
    tally.decided = tally.quorum_met && tally.verdict.winners.len() == 1 && !tally.verdict.tie;
    tally
}

fn bucket<'a>(tally: &'a mut Tally, status: &SeatStatus) -> &'a mut usize {
    match status {
        SeatStatus::Revealed(answer, _) => match answer.outcome {
            Outcome::Answered => &mut tally.answered,
            Outcome::Abstained => &mut tally.abstained,
            Outcome::Refused => &mut tally.refused,
            Outcome::Failed | Outcome::TimedOut => &mut tally.failed,
            Outcome::Missing => &mut tally.missing,
            Outcome::Excused => &mut tally.excused,
            Outcome::Invalid => &mut tally.invalid,
        },
        SeatStatus::Failed(_) | SeatStatus::Lost(_) => &mut tally.failed,
        SeatStatus::Excused(_) => &mut tally.excused,
        _ => &mut tally.missing,
    }
}

fn ballots(round: &RoundRun) -> impl Iterator<Item = (&str, &Ballot)> {
    round.seats.values().filter_map(|seat| match &seat.status {
        SeatStatus::Revealed(answer, _) if answer.outcome == Outcome::Answered => {
            Some((seat.name.as_str(), answer.ballot.as_ref()?))
        }
        _ => None,
    })
}

fn verdict(round: &RoundRun) -> Verdict {
    let options = &round.opened.ballot.options;
    let choices = || -> Vec<usize> {
        ballots(round)
            .filter_map(|(_, ballot)| match ballot {
                Ballot::Choice(option) => options.iter().position(|known| known == option),
                _ => None,
            })
            .collect()
    };
    match round.opened.rule {
        Some(Rule::Majority) => majority(options, &choices()),
        Some(Rule::Plurality) => plurality(options, &choices()),
        Some(Rule::Consent) => consent(&stances(round)),
        // Counted and not decided: the numbers are shown, nobody wins.
        None if options.is_empty() => Verdict::default(),
        None => Verdict { winners: Vec::new(), tie: false, reason: None, ..plurality(options, &choices()) },
    }
}

fn stances(round: &RoundRun) -> Stances {
    let mut stances = Stances::default();
    for (name, ballot) in ballots(round) {
        match ballot {
            Ballot::Consent(Stance::Support, _) => stances.support += 1,
            Ballot::Consent(Stance::StandAside, _) => stances.stand_aside += 1,
            Ballot::Consent(Stance::Block, change) => {
                stances.blocks.push((name.to_owned(), change.clone().unwrap_or_default()));
            }
            _ => {}
        }
    }
    stances
}

fn break_tie(verdict: &mut Verdict, ties: Ties, choice: Option<&str>) {
    let winner = match ties {
        Ties::None => None,
        Ties::Ask => choice.map(str::to_owned).filter(|choice| verdict.winners.contains(choice)),
        Ties::Seeded(seed) => seeded_winner(seed, &verdict.winners),
    };
    let Some(winner) = winner else { return };
    let how = match ties {
        Ties::Seeded(seed) => format!("tie broken by seed {seed}: {winner}"),
        _ => format!("tie broken by the facilitator: {winner}"),
    };
    verdict.steps.push(how);
    verdict.winners = vec![winner];
    verdict.tie = false;
    verdict.reason = None;
}
