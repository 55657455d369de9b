//! How strong a result is: how many of the seats that were asked stand behind it, and who they are.
//!
//! Excused seats were not asked. Where seats weigh differently the shares are of the weight, save under
//! consent. Seats that are all one model, or all gave the same answer, are one voice: then the result is
//! weak. People, and answers a person gave beforehand, count each for themselves.

use super::alike;
use super::profile::profile;
use crate::history::{AnswerRevealed, RoundRun, Seat, SeatStatus, Session, Tally};
use crate::round::answer::Origin;
use crate::round::answer::Outcome;
use crate::tally::{CountableKind, Decimal, IndexedBallot, Profile, Quartiles, Tier, UNLISTED};
use serde_json::Value;

pub struct ResultStrength {
    pub tier: Tier,
    pub because: String,
}

/// How many stand behind a result, of how many, and by name.
struct Behind {
    votes: Decimal,
    of: Decimal,
    seats: Vec<String>,
    deed: &'static str,
    at_most: Tier,
}

/// The strength of a decided result over options, stances or estimates.
pub fn strength(session: &Session, round: &RoundRun, tally: &Tally, was_tied: bool) -> ResultStrength {
    let profile = profile(session, round);
    let Some(winner) = tally.verdict.winners.first() else {
        return ResultStrength { tier: Tier::None, because: String::new() };
    };
    let kind = round.opened.ballot.kind.spec().countable();
    let is_by_head = kind == Some(CountableKind::Consent);
    let asked = asked(session, round, winner, is_by_head);
    let behind = match kind {
        Some(CountableKind::Consent) => stances(&profile, asked),
        Some(CountableKind::Estimate) => {
            let spread = tally.verdict.trace.as_ref().and_then(|trace| trace.spread.as_ref());
            estimates(&profile, asked, spread, !round.opened.ballot.cards.is_empty())
        }
        Some(
            CountableKind::Choice | CountableKind::Approval | CountableKind::Ranking | CountableKind::Score,
        )
        | None => options(&profile, asked, winner),
    };
    let is_heavy = !is_by_head && profile.weights_step().is_some();
    let of = if is_heavy { "of the weight asked" } else { "seats asked" };
    let mut because = format!("{} of {} {of} {}", behind.votes, behind.of, behind.deed);
    let tier = tier(&behind);
    let cap = if was_tied {
        Some("a tie was broken".to_owned())
    } else {
        one_voice(session, round, &behind.seats, &tally.same_answers)
    };
    match cap {
        Some(cap) if tier > Tier::Weak => {
            because = format!("{because}, but {cap}");
            ResultStrength { tier: Tier::Weak, because }
        }
        _ => ResultStrength { tier, because },
    }
}

fn tier(behind: &Behind) -> Tier {
    let (votes, of) = (behind.votes.units(), behind.of.units());
    let share = match of {
        0 => Tier::Weak,
        _ if votes >= of => Tier::Unanimous,
        _ if 4 * votes >= 3 * of => Tier::Strong,
        _ => Tier::Weak,
    };
    share.min(behind.at_most)
}

/// What the seats that could choose the winner weigh together.
fn asked(session: &Session, round: &RoundRun, winner: &str, is_by_head: bool) -> Decimal {
    let is_asked = |status: &SeatStatus| match status {
        SeatStatus::Excused(_) => false,
        SeatStatus::Revealed(answer, _) => answer.outcome != Outcome::Excused,
        _ => true,
    };
    let is_own = |seat: &&Seat| round.opened.ballot.exclude_own && session.display_name(&seat.name) == winner;
    let seats = round.seats.values().filter(|seat| is_asked(&seat.status) && !is_own(seat));
    let weight =
        |name: &str| session.seat_info(name).map_or(Decimal::ONE, |info| Decimal::of_weight(info.weight));
    seats.map(|seat| if is_by_head { Decimal::ONE } else { weight(&seat.name) }).sum()
}

fn stances(profile: &Profile, of: Decimal) -> Behind {
    let support = profile.ballots.iter().filter(|ballot| ballot.mark == IndexedBallot::Support);
    let seats: Vec<String> = support.map(|ballot| ballot.voter.clone()).collect();
    Behind {
        votes: Decimal::whole(seats.len() as u64),
        of,
        seats,
        deed: "support it",
        at_most: Tier::Unanimous,
    }
}

/// All estimates stand behind their median; it is strong where the middle half of them is close: within one
/// card, or for numbers within a quarter of the median.
fn estimates(profile: &Profile, of: Decimal, spread: Option<&Quartiles>, has_cards: bool) -> Behind {
    let seats = profile.ballots.iter().map(|ballot| ballot.voter.clone()).collect();
    let votes = profile.total_weight();
    let is_same = spread.is_some_and(|spread| spread.values.len() == 1);
    let is_close = spread.is_some_and(|spread| {
        let number = |text: &str| Decimal::parse_cut(text).map(Decimal::units);
        if has_cards {
            return spread.iqr.as_f64() <= 1.0;
        }
        match (number(&spread.first_quartile), number(&spread.median), number(&spread.third_quartile)) {
            (Some(first), Some(median), Some(third)) => 4 * (third - first) <= median.abs(),
            _ => false,
        }
    });
    let (at_most, deed) = match (is_same, is_close) {
        (true, _) => (Tier::Unanimous, "gave it"),
        (_, true) => (Tier::Strong, "gave an estimate, and the middle half is close"),
        _ => (Tier::Weak, "gave an estimate, and the middle half is wide"),
    };
    Behind { votes, of, seats, deed, at_most }
}

/// Who puts an option first: votes for it, approves of it, ranks it before each other one, scores it highest.
fn options(profile: &Profile, of: Decimal, winner: &str) -> Behind {
    let Some(winner) = profile.options.iter().position(|option| option == winner) else {
        return Behind {
            votes: Decimal::ZERO,
            of,
            seats: Vec::new(),
            deed: "chose it",
            at_most: Tier::Unanimous,
        };
    };
    let mut deed = "chose it";
    let (mut votes, mut seats) = (Decimal::ZERO, Vec::new());
    let mut over = vec![Decimal::ZERO; profile.options.len()];
    for ballot in &profile.ballots {
        let is_for = match &ballot.mark {
            IndexedBallot::Choice(option) => *option == winner,
            IndexedBallot::Approval(options) => {
                deed = "approve of it";
                options.contains(&winner)
            }
            IndexedBallot::Scores(scores) => {
                deed = "score it highest";
                let most = scores.iter().flatten().max();
                // Who scores all options alike prefers none.
                most.is_some()
                    && scores[winner].as_ref() == most
                    && scores.iter().any(|score| score.as_ref() != most)
            }
            IndexedBallot::Ranking(ranks) => {
                deed = "put it before each other option";
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
            votes += ballot.total_weight();
            seats.push(ballot.voter.clone());
        }
    }
    let is_ranking = profile.ballots.iter().any(|ballot| matches!(ballot.mark, IndexedBallot::Ranking(_)));
    if is_ranking {
        let others = over.iter().enumerate().filter(|(other, _)| *other != winner);
        votes = others.map(|(_, over)| *over).min().unwrap_or(votes);
    }
    Behind { votes, of, seats, deed, at_most: Tier::Unanimous }
}

/// Why the seats behind a result are one voice, if they are.
fn one_voice(session: &Session, round: &RoundRun, seats: &[String], same: &[Vec<String>]) -> Option<String> {
    let answers: Vec<&AnswerRevealed> = seats.iter().filter_map(|name| answer_of(round, name)).collect();
    match answers.iter().filter(|answer| is_scripted(session, answer)).count() {
        _ if answers.is_empty() => return None,
        _ if answers.len() == 1 => return Some("one seat alone stands behind it".to_owned()),
        0 => {}
        count => return Some(format!("{count} of these {} answers are scripted", answers.len())),
    }
    if answers.iter().any(|answer| is_persons(answer)) {
        return None;
    }
    let model = |answer: &AnswerRevealed| {
        answer.record.answered_by().rsplit('/').next().unwrap_or_default().to_owned()
    };
    let first = answers.first().map(|answer| model(answer)).unwrap_or_default();
    if answers.iter().all(|answer| model(answer) == first) {
        return Some(format!("all {} are one model ({})", answers.len(), answers[0].record.answered_by()));
    }
    let is_one = |group: &Vec<String>| seats.iter().all(|seat| group.contains(seat));
    same.iter().any(is_one).then(|| "their answers are the same or nearly the same text".to_owned())
}

/// Whether a script gave the answer in the place of a model.
pub fn is_scripted(session: &Session, answer: &AnswerRevealed) -> bool {
    let seat = session.seat_info(&answer.participant);
    let of_person = seat.is_some_and(|seat| Origin::of_model(&seat.model) == Origin::Person);
    answer.record.origin == Origin::Script && !of_person
}

fn answer_of<'a>(round: &'a RoundRun, name: &str) -> Option<&'a AnswerRevealed> {
    match &round.seat(name)?.status {
        SeatStatus::Revealed(answer, _) => Some(answer),
        _ => None,
    }
}

/// Whether a person gave the answer, at the screen or beforehand in a script.
pub fn is_persons(answer: &AnswerRevealed) -> bool {
    matches!(answer.record.origin, Origin::Person | Origin::Script)
}

pub fn is_placeholder(answer: &AnswerRevealed) -> bool {
    answer.record.origin == Origin::Placeholder
}

/// The seats that gave the same or nearly the same answer, in groups, in roster order.
pub fn same_answers(round: &RoundRun) -> Vec<Vec<String>> {
    let answered = round.seats.values().filter_map(|seat| match &seat.status {
        SeatStatus::Revealed(answer, _) if answer.outcome == Outcome::Answered => Some(answer),
        _ => None,
    });
    let (names, texts): (Vec<&str>, Vec<String>) =
        answered.map(|answer| (answer.participant.as_str(), said(answer))).unzip();
    let seats = |group: Vec<usize>| group.into_iter().map(|at| names[at].to_owned()).collect();
    alike::groups(&texts).into_iter().map(seats).collect()
}

/// Everything an answer says, its confidence aside.
fn said(answer: &AnswerRevealed) -> String {
    let mut text = String::new();
    for (key, value) in answer.answer.iter().filter(|(key, _)| *key != "confidence") {
        text.push_str(key);
        collect(value, &mut text);
    }
    text
}

fn collect(value: &Value, text: &mut String) {
    text.push(' ');
    match value {
        Value::String(said) => text.push_str(said),
        Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
        Value::Object(map) => map.iter().for_each(|(key, item)| {
            text.push_str(key);
            collect(item, text);
        }),
        Value::Null => {}
        other => text.push_str(&other.to_string()),
    }
    text.push(' ');
}
