//! Tally of a closed round: participation, quorum, result and strength.
//!
//! Excused seats do not count as asked. If weights differ, shares are shares of weight, except under
//! consent. Seats with one model, or with the same answer, are not independent, so the result is weak.
//! People and scripted answers for people always count as independent.

use serde_json::Value;

use super::alike;
use crate::history::{AnswerRevealed, RoundRun, Seat, SeatStatus, Session, Tally};
use crate::round::answer::{Origin, Outcome};
use crate::tally::{
    self, Backing, CountableKind, Decimal, Deed, IndexedBallot, NoDecision, Profile, Quartiles, Settled,
    Tier, Ties, UNLISTED, Verdict, WeakBecause, WeightedBallot,
};

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
        act_at: opened.act_at,
        ..Tally::default()
    };
    for seat in round.seats.values() {
        *bucket(&mut tally, &seat.status) += 1;
    }
    tally.placeholders = round.answers().filter(|answer| is_placeholder(answer)).count() as u32;
    tally.rehearsal =
        tally.placeholders > 0 && (session.rehearses() || tally.placeholders as usize == tally.asked);
    let shortfall = tally.shortfall();
    tally.quorum_met = shortfall.is_none();
    tally.verdict = verdict(session, round);
    tally.same_answers = same_answers(round);
    if tally.rule.is_none() {
        return tally;
    }
    if let Some(seats) = shortfall {
        tally.verdict.decide_nothing(NoDecision::NoQuorum { seats });
    } else if let Some(why) = decides_nothing(session, &tally) {
        tally.verdict.decide_nothing(why);
    } else if tally.verdict.tie {
        tally.verdict.break_tie(opened.ties, round.tie_choice.as_deref());
    }
    let waits = tally.verdict.tie && opened.ties == Ties::Ask;
    if tally.rehearsal && session.rehearses() && tally.quorum_met && !waits && tally.terms.choose.is_none() {
        settle_rehearsal(&mut tally.verdict);
    }
    let count = tally.verdict.winners.len();
    let is_enough = count == 1 || count > 1 && tally.terms.choose.is_some();
    tally.decided = tally.quorum_met && is_enough && !tally.verdict.tie;
    set_strength(session, round, &mut tally);
    tally
}

/// Returns why the round cannot decide: placeholders voted outside a rehearsal.
pub fn decides_nothing(session: &Session, tally: &Tally) -> Option<NoDecision> {
    let is_by_lot = tally.placeholders > 0 && !session.rehearses();
    is_by_lot.then_some(NoDecision::Placeholders { placeholders: tally.placeholders, seats: tally.asked })
}

/// Sets the strength of the result; one below `act_at` is no decision.
fn set_strength(session: &Session, round: &RoundRun, tally: &mut Tally) {
    tally.tier = Some(Tier::None);
    let winners = tally.verdict.winners.iter().filter(|_| tally.decided && !tally.rehearsal);
    // Several winners are as strong as the weakest of them.
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
    // Without a rule, the numbers are shown but nothing wins.
    let Some(rule) = opened.rule.or(opened.ballot.kind.info().default_rule) else {
        return Verdict::default();
    };
    let found = tally::count(&profile(session, round), rule, &opened.terms);
    if opened.rule.is_some() {
        return found;
    }
    Verdict { winners: Vec::new(), order: Vec::new(), order_by: None, tie: false, reason: None, ..found }
}

/// Picks the first option if a rehearsal has no single winner, so that it can continue.
fn settle_rehearsal(verdict: &mut Verdict) {
    let first = verdict.winners.first().or_else(|| verdict.order.first()?.first());
    if let Some(first) = first.filter(|_| verdict.winners.len() != 1).cloned() {
        verdict.settle(&first, Settled::Rehearsal);
    }
}

/// Returns the valid ballots of a round in roster order, as input of the rules.
pub fn profile(session: &Session, round: &RoundRun) -> Profile {
    let form = &round.opened.ballot;
    let options = if form.kind.info().has_cards { &form.cards } else { &form.options };
    let mut profile = Profile {
        options: options.clone(),
        asked: Some(asked(session, round, "", false)),
        ..Profile::default()
    };
    for answer in round.answers() {
        let name = &answer.participant;
        if answer.may_block {
            profile.may_block.push(name.clone());
        }
        let ballot = answer.ballot.as_ref().filter(|_| answer.outcome == Outcome::Answered);
        let Some(mut mark) = ballot.and_then(|ballot| ballot.indexed(form)) else { continue };
        let own = form.place(session.display_name(name)).filter(|_| form.exclude_own);
        if let (Some(own), IndexedBallot::Ranking(ranks)) = (own, &mut mark) {
            ranks[own] = UNLISTED;
        }
        let weight = weight(session, name);
        profile.ballots.push(WeightedBallot { weight, own, ..WeightedBallot::one(name, mark) });
    }
    profile
}

/// Returns the total weight, or the number, of the seats that could choose an option.
fn asked(session: &Session, round: &RoundRun, option: &str, is_by_head: bool) -> Decimal {
    let is_own = |seat: &&Seat| round.opened.ballot.exclude_own && session.display_name(&seat.name) == option;
    let is_asked = |seat: &&Seat| !matches!(seat.status, SeatStatus::Excused(_)) && !is_own(seat);
    let seats = round.seats.values().filter(is_asked);
    seats.map(|seat| if is_by_head { Decimal::ONE } else { weight(session, &seat.name) }).sum()
}

fn weight(session: &Session, name: &str) -> Decimal {
    session.seat_info(name).map_or(Decimal::ONE, |seat| Decimal::from_weight(seat.weight))
}

struct Supporters {
    votes: Decimal,
    seats: Vec<String>,
    deed: Deed,
    at_most: Tier,
}

pub fn strength(session: &Session, round: &RoundRun, tally: &Tally, winner: &str) -> (Tier, Backing) {
    let profile = profile(session, round);
    let kind = round.opened.ballot.kind.info().countable;
    let is_by_head = kind == Some(CountableKind::Consent);
    let of = asked(session, round, winner, is_by_head);
    let supporters = match kind {
        Some(CountableKind::Consent) => stances(&profile),
        Some(CountableKind::Estimate) => {
            let spread = tally.verdict.trace.as_ref().and_then(|trace| trace.spread.as_ref());
            estimates(&profile, spread, !round.opened.ballot.cards.is_empty())
        }
        _ => options(&profile, winner),
    };
    let tier = tier(supporters.votes.0, of.0).min(supporters.at_most);
    let but = if tier <= Tier::Weak {
        None
    } else if tally.verdict.was_tied() {
        Some(WeakBecause::TieBroken)
    } else if has_cut_prompt(round) {
        Some(WeakBecause::PromptCut)
    } else {
        one_voice(session, round, &supporters.seats, &tally.same_answers)
    };
    let tier = if but.is_some() { Tier::Weak } else { tier };
    let by_weight = !is_by_head && profile.weights_step().is_some();
    (tier, Backing { votes: supporters.votes.into(), of: of.into(), by_weight, deed: supporters.deed, but })
}

fn has_cut_prompt(round: &RoundRun) -> bool {
    let tokens = round.opened.estimated_tokens;
    round.answers().any(|answer| answer.ballot.is_some() && answer.record.few_tokens(tokens).is_some())
}

fn tier(votes: i128, of: i128) -> Tier {
    match of {
        0 => Tier::Weak,
        _ if votes >= of => Tier::Unanimous,
        _ if 4 * votes >= 3 * of => Tier::Strong,
        _ => Tier::Weak,
    }
}

fn stances(profile: &Profile) -> Supporters {
    let support = profile.ballots.iter().filter(|ballot| ballot.mark == IndexedBallot::Support);
    let seats: Vec<String> = support.map(|ballot| ballot.voter.clone()).collect();
    let votes = Decimal::whole(seats.len() as u64);
    Supporters { votes, seats, deed: Deed::Support, at_most: Tier::Unanimous }
}

/// Counts all estimates as support for their median. It is strong if the middle half is close: within one
/// card, or for numbers within a quarter of the median.
fn estimates(profile: &Profile, spread: Option<&Quartiles>, has_cards: bool) -> Supporters {
    let seats = profile.ballots.iter().map(|ballot| ballot.voter.clone()).collect();
    let votes = profile.total_weight();
    let is_same = spread.is_some_and(|spread| spread.values.len() == 1);
    let is_close = spread.is_some_and(|spread| {
        let number = |text: &str| Decimal::parse_cut(text).map(|amount| amount.0);
        if has_cards {
            return spread.iqr.as_f64() <= 1.0;
        }
        match (number(&spread.first_quartile), number(&spread.median), number(&spread.third_quartile)) {
            (Some(first), Some(median), Some(third)) => 4 * (third - first) <= median.abs(),
            _ => false,
        }
    });
    let (at_most, deed) = match (is_same, is_close) {
        (true, _) => (Tier::Unanimous, Deed::GaveSame),
        (_, true) => (Tier::Strong, Deed::GaveClose),
        _ => (Tier::Weak, Deed::GaveWide),
    };
    Supporters { votes, seats, deed, at_most }
}

/// Returns the seats that vote for an option, approve it, rank it first or score it highest.
fn options(profile: &Profile, winner: &str) -> Supporters {
    let mut supporters =
        Supporters { votes: Decimal::ZERO, seats: Vec::new(), deed: Deed::Chose, at_most: Tier::Unanimous };
    let Some(winner) = profile.options.iter().position(|option| option == winner) else { return supporters };
    let mut over = vec![Decimal::ZERO; profile.options.len()];
    for ballot in &profile.ballots {
        let is_for = match &ballot.mark {
            IndexedBallot::Choice(option) => *option == winner,
            IndexedBallot::Approval(options) => {
                supporters.deed = Deed::Approve;
                options.contains(&winner)
            }
            IndexedBallot::Scores(scores) => {
                supporters.deed = Deed::ScoreHighest;
                let most = scores.iter().flatten().max();
                // Equal scores for all options express no preference.
                most.is_some()
                    && scores[winner].as_ref() == most
                    && scores.iter().any(|score| score.as_ref() != most)
            }
            IndexedBallot::Ranking(ranks) => {
                supporters.deed = Deed::RankFirst;
                for (other, over) in over.iter_mut().enumerate().filter(|(other, _)| *other != winner) {
                    if ranks[winner] < ranks[other] {
                        *over += ballot.total_weight();
                    }
                }
                ranks[winner] != UNLISTED
                    && (0..ranks.len()).all(|other| other == winner || ranks[winner] < ranks[other])
            }
            _ => false,
        };
        if is_for {
            supporters.votes += ballot.total_weight();
            supporters.seats.push(ballot.voter.clone());
        }
    }
    if supporters.deed == Deed::RankFirst {
        let others = over.iter().enumerate().filter(|(other, _)| *other != winner);
        supporters.votes = others.map(|(_, over)| *over).min().unwrap_or(supporters.votes);
    }
    supporters
}

fn one_voice(
    session: &Session,
    round: &RoundRun,
    seats: &[String],
    same: &[Vec<String>],
) -> Option<WeakBecause> {
    let answers: Vec<_> = seats.iter().filter_map(|name| round.seat(name)?.answer()).collect();
    let [first, others @ ..] = answers.as_slice() else { return None };
    if others.is_empty() {
        return Some(WeakBecause::OneSeat);
    }
    let scripted = answers.iter().filter(|answer| is_scripted(session, answer)).count();
    if scripted > 0 {
        return Some(WeakBecause::Scripted { scripted, of: answers.len() });
    }
    if answers.iter().any(|answer| is_persons(answer)) {
        return None;
    }
    let name = |answer: &AnswerRevealed| answer.record.answered_by().rsplit('/').next().map(str::to_owned);
    if others.iter().all(|answer| name(answer) == name(first)) {
        let model = first.record.answered_by().to_owned();
        return Some(WeakBecause::OneModel { seats: answers.len(), model });
    }
    let is_one = |group: &Vec<String>| seats.iter().all(|seat| group.contains(seat));
    same.iter().any(is_one).then_some(WeakBecause::SameText)
}

/// Returns whether a script answered in place of a model.
pub fn is_scripted(session: &Session, answer: &AnswerRevealed) -> bool {
    let seat = session.seat_info(&answer.participant);
    let of_person = seat.is_some_and(|seat| Origin::from_model(&seat.model) == Origin::Person);
    answer.record.origin == Origin::Script && !of_person
}

/// Returns whether a person or a script answered.
pub fn is_persons(answer: &AnswerRevealed) -> bool {
    matches!(answer.record.origin, Origin::Person | Origin::Script)
}

pub fn is_placeholder(answer: &AnswerRevealed) -> bool {
    answer.record.origin == Origin::Placeholder
}

/// Returns groups of seats with equal or nearly equal answers, in roster order.
pub fn same_answers(round: &RoundRun) -> Vec<Vec<String>> {
    let answered = round.answers().filter(|answer| answer.outcome == Outcome::Answered);
    let (names, texts): (Vec<_>, Vec<_>) =
        answered.map(|answer| (&answer.participant, content(round, answer))).unzip();
    let seats = |group: Vec<usize>| group.into_iter().map(|at| names[at].clone()).collect();
    alike::groups(&texts).into_iter().map(seats).collect()
}

/// Returns the answer's content without its confidence; empty for a bare vote, which cannot be compared.
fn content(round: &RoundRun, answer: &AnswerRevealed) -> String {
    let info = round.opened.ballot.kind.info();
    let mut said = answer.answer.clone();
    said.shift_remove("confidence");
    let is_vote = |key: &String| info.countable.is_some() && info.keys.contains(&key.as_str());
    if said.keys().all(is_vote) { String::new() } else { Value::Object(said).to_string().replace("\\n", " ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Command;
    use crate::core::testing::{does, open_round};

    #[test]
    fn estimates_are_close_within_one_card_or_a_quarter_of_the_median() {
        for (iqr, first, third, has_cards, deed) in [
            (1, "3", "5", true, Deed::GaveClose),
            (2, "3", "5", true, Deed::GaveWide),
            (2, "7", "9", false, Deed::GaveClose),
            (3, "6.9", "9", false, Deed::GaveWide),
        ] {
            let spread = serde_json::json!({
                "lowest": "1", "first_quartile": first, "median": "8", "third_quartile": third, "highest": "9",
                "iqr": iqr, "values": {"1": 1, "9": 1},
            });
            let spread: Quartiles = serde_json::from_value(spread).expect("quartiles");
            assert_eq!(estimates(&Profile::default(), Some(&spread), has_cards).deed, deed, "{first} {iqr}");
        }
    }

    #[test]
    fn excused_seats_are_not_asked() {
        let mut session = open_round("question: q\n", &[("ann", "test/a"), ("bob", "test/a")]);
        assert_eq!(asked(&session, &session.rounds[0], "", true), Decimal::whole(2));
        does(&mut session, Command::Excuse { participant: "bob".to_owned(), reason: "ill".to_owned() });
        assert_eq!(asked(&session, &session.rounds[0], "", true), Decimal::ONE);
    }
}
