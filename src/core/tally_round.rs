//! The count of a closed round: who took part, whether the quorum is met, what the rule found.

use super::profile::profile;
use super::strength::{is_placeholder, same_answers, strength};
use crate::history::{RoundRun, SeatStatus, Session, Tally};
use crate::round::answer::Outcome;
use crate::tally::{self, NoDecision, Rule, Settled, Tier, Ties, Verdict, seeded_winner};

pub fn tally_round(session: &Session, round: &RoundRun) -> Tally {
    let opened = &round.opened;
    let mut tally = Tally {
        step: opened.step.clone(),
        round: opened.round.clone(),
        rule: opened.rule,
        terms: opened.terms.clone(),
        asked: round.seats.len(),
        sealed: round.sealed(),
        quorum: opened.quorum,
        quorum_ballots: opened.quorum_ballots,
        act_at: opened.act_at,
        ..Tally::default()
    };
    for seat in round.seats.values() {
        *bucket(&mut tally, &seat.status) += 1;
    }
    tally.placeholders = placeholders(round);
    tally.rehearsal =
        tally.placeholders > 0 && (session.rehearses() || tally.placeholders as usize == tally.asked);
    let shortfall = tally.shortfall();
    tally.quorum_met = shortfall.is_none();
    tally.verdict = verdict(session, round);
    tally.same_answers = same_answers(round);
    if tally.rule.is_none() {
        return tally;
    }
    if let Some(shortfall) = shortfall {
        tally.verdict.decide_nothing(NoDecision::NoQuorum(shortfall));
    } else if let Some(why) = decides_nothing(session, &tally) {
        tally.verdict.decide_nothing(why);
    } else if tally.verdict.tie {
        break_tie(&mut tally.verdict, opened.ties, round.tie_choice.as_deref());
    }
    let waits = tally.verdict.tie && opened.ties == Ties::Ask;
    if tally.rehearsal && session.rehearses() && tally.quorum_met && !waits && tally.terms.choose.is_none() {
        go_on(&mut tally.verdict);
    }
    let count = tally.verdict.winners.len();
    let is_enough = count == 1 || count > 1 && tally.terms.choose.is_some();
    tally.decided = tally.quorum_met && is_enough && !tally.verdict.tie;
    weigh(session, round, &mut tally);
    tally
}

fn placeholders(round: &RoundRun) -> u32 {
    let voted = round.seats.values().filter_map(|seat| match &seat.status {
        SeatStatus::Revealed(answer, _) => Some(answer),
        _ => None,
    });
    voted.filter(|answer| is_placeholder(answer)).count() as u32
}

/// Why a count decides nothing whatever its rule finds: placeholders voted, and it is no rehearsal.
pub fn decides_nothing(session: &Session, tally: &Tally) -> Option<NoDecision> {
    let is_by_lot = tally.placeholders > 0 && !session.rehearses();
    is_by_lot.then_some(NoDecision::Placeholders { placeholders: tally.placeholders, seats: tally.asked })
}

/// Notes how strong the result is; one that is weaker than was asked for is no decision.
fn weigh(session: &Session, round: &RoundRun, tally: &mut Tally) {
    tally.tier = Some(Tier::None);
    let winners = tally.verdict.winners.iter().filter(|_| tally.decided && !tally.rehearsal);
    // The strength of several is that of the weakest.
    let found = winners.map(|winner| strength(session, round, tally, winner));
    let weakest =
        found.min_by(|(a, by), (b, than)| a.cmp(b).then(by.votes.as_f64().total_cmp(&than.votes.as_f64())));
    let Some((tier, backing)) = weakest else { return };
    (tally.tier, tally.tier_because) = (Some(tier), Some(backing));
    if let Some(wanted) = tally.act_at.filter(|_| tally.is_too_weak()) {
        tally.decided = false;
        tally.verdict.reason = Some(NoDecision::TooWeak { tier, wanted });
    }
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

fn verdict(session: &Session, round: &RoundRun) -> Verdict {
    let opened = &round.opened;
    // Counted and not decided: the numbers are shown, nobody wins.
    let Some(rule) = opened.rule.or(opened.ballot.kind.info().default_rule) else {
        return Verdict::default();
    };
    let found = tally::count(&profile(session, round), rule, &opened.terms);
    if opened.rule.is_some() {
        return found;
    }
    let reason = would(rule, &found);
    Verdict { winners: Vec::new(), order: Vec::new(), order_by: None, tie: false, reason, ..found }
}

/// What a rule would decide that the round does not have.
fn would(rule: Rule, found: &Verdict) -> Option<NoDecision> {
    Some(match (found.winners.as_slice(), &found.reason) {
        (_, Some(reason)) => NoDecision::WouldNotDecide(rule, Box::new(reason.clone())),
        ([winner], None) => NoDecision::WouldWin(rule, winner.clone()),
        _ => return None,
    })
}

/// A rehearsal that finds no single winner takes the first.
fn go_on(verdict: &mut Verdict) {
    let first = verdict.winners.first().or_else(|| verdict.order.first()?.first());
    if let Some(first) = first.filter(|_| verdict.winners.len() != 1).cloned() {
        verdict.settle(&first, Settled::Rehearsal);
    }
}

fn break_tie(verdict: &mut Verdict, ties: Ties, choice: Option<&str>) {
    let (winner, by) = match ties {
        Ties::None => return,
        Ties::Ask => {
            let choice = choice.filter(|choice| verdict.winners.iter().any(|winner| winner == choice));
            (choice.map(str::to_owned), Settled::Facilitator)
        }
        Ties::Seeded(seed) => (seeded_winner(seed, &verdict.winners), Settled::Seed(seed)),
    };
    if let Some(winner) = winner {
        verdict.settle(&winner, by);
    }
}
