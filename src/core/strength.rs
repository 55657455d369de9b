//! How strong a result is: how many of the seats that were asked stand behind it, and who they are.
//!
//! Excused seats were not asked. Where seats weigh differently the shares are of the weight, save under
//! consent. Seats that are all one model, or all gave the same answer, are one voice: then the result is
//! weak. People, and answers a person gave beforehand, count each for themselves.

use super::alike;
use super::profile::{asked, profile};
use crate::history::{AnswerRevealed, RoundRun, SeatStatus, Session, Tally};
use crate::round::answer::{Origin, Outcome};
use crate::tally::{
    Backing, CountableKind, Decimal, Deed, IndexedBallot, Profile, Quartiles, Tier, UNLISTED, WeakBecause,
};
use serde_json::Value;

/// The seats that stand behind a result, and what they did.
struct Behind {
    votes: Decimal,
    seats: Vec<String>,
    deed: Deed,
    at_most: Tier,
}

/// The strength of a decided result over options, stances or estimates.
pub fn strength(session: &Session, round: &RoundRun, tally: &Tally, winner: &str) -> (Tier, Backing) {
    let profile = profile(session, round);
    let kind = round.opened.ballot.kind.info().countable;
    let is_by_head = kind == Some(CountableKind::Consent);
    let of = asked(session, round, winner, is_by_head);
    let behind = match kind {
        Some(CountableKind::Consent) => stances(&profile),
        Some(CountableKind::Estimate) => {
            let spread = tally.verdict.trace.as_ref().and_then(|trace| trace.spread.as_ref());
            estimates(&profile, spread, !round.opened.ballot.cards.is_empty())
        }
        Some(
            CountableKind::Choice | CountableKind::Approval | CountableKind::Ranking | CountableKind::Score,
        )
        | None => options(&profile, winner),
    };
    let tier = tier(behind.votes.units(), of.units()).min(behind.at_most);
    let but = if tier <= Tier::Weak {
        None
    } else if tally.verdict.was_tied() {
        Some(WeakBecause::TieBroken)
    } else if has_cut_prompt(round) {
        Some(WeakBecause::PromptCut)
    } else {
        one_voice(session, round, &behind.seats, &tally.same_answers)
    };
    let tier = if but.is_some() { Tier::Weak } else { tier };
    let by_weight = !is_by_head && profile.weights_step().is_some();
    (tier, Backing { votes: behind.votes.into(), of: of.into(), by_weight, deed: behind.deed, but })
}

fn has_cut_prompt(round: &RoundRun) -> bool {
    let tokens = round.opened.estimated_tokens;
    round.seats.values().any(|seat| match &seat.status {
        SeatStatus::Revealed(answer, _) => answer.record.cut_prompt(tokens).is_some(),
        _ => false,
    })
}

fn tier(votes: i128, of: i128) -> Tier {
    match of {
        0 => Tier::Weak,
        _ if votes >= of => Tier::Unanimous,
        _ if 4 * votes >= 3 * of => Tier::Strong,
        _ => Tier::Weak,
    }
}

fn stances(profile: &Profile) -> Behind {
    let support = profile.ballots.iter().filter(|ballot| ballot.mark == IndexedBallot::Support);
    let seats: Vec<String> = support.map(|ballot| ballot.voter.clone()).collect();
    let votes = Decimal::whole(seats.len() as u64);
    Behind { votes, seats, deed: Deed::Support, at_most: Tier::Unanimous }
}

/// All estimates stand behind their median; it is strong where the middle half of them is close: within one
/// card, or for numbers within a quarter of the median.
fn estimates(profile: &Profile, spread: Option<&Quartiles>, has_cards: bool) -> Behind {
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
        (true, _) => (Tier::Unanimous, Deed::GaveSame),
        (_, true) => (Tier::Strong, Deed::GaveClose),
        _ => (Tier::Weak, Deed::GaveWide),
    };
    Behind { votes, seats, deed, at_most }
}

/// Who puts an option first: votes for it, approves of it, ranks it before each other one, scores it highest.
fn options(profile: &Profile, winner: &str) -> Behind {
    let mut behind =
        Behind { votes: Decimal::ZERO, seats: Vec::new(), deed: Deed::Chose, at_most: Tier::Unanimous };
    let Some(winner) = profile.options.iter().position(|option| option == winner) else { return behind };
    let mut over = vec![Decimal::ZERO; profile.options.len()];
    for ballot in &profile.ballots {
        let is_for = match &ballot.mark {
            IndexedBallot::Choice(option) => *option == winner,
            IndexedBallot::Approval(options) => {
                behind.deed = Deed::Approve;
                options.contains(&winner)
            }
            IndexedBallot::Scores(scores) => {
                behind.deed = Deed::ScoreHighest;
                let most = scores.iter().flatten().max();
                // Who scores all options alike prefers none.
                most.is_some()
                    && scores[winner].as_ref() == most
                    && scores.iter().any(|score| score.as_ref() != most)
            }
            IndexedBallot::Ranking(ranks) => {
                behind.deed = Deed::RankFirst;
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
            behind.votes += ballot.total_weight();
            behind.seats.push(ballot.voter.clone());
        }
    }
    if behind.deed == Deed::RankFirst {
        let others = over.iter().enumerate().filter(|(other, _)| *other != winner);
        behind.votes = others.map(|(_, over)| *over).min().unwrap_or(behind.votes);
    }
    behind
}

/// Why the seats behind a result are one voice, if they are.
fn one_voice(
    session: &Session,
    round: &RoundRun,
    seats: &[String],
    same: &[Vec<String>],
) -> Option<WeakBecause> {
    let answers: Vec<&AnswerRevealed> = seats.iter().filter_map(|name| answer_of(round, name)).collect();
    match answers.iter().filter(|answer| is_scripted(session, answer)).count() {
        _ if answers.is_empty() => return None,
        _ if answers.len() == 1 => return Some(WeakBecause::OneSeat),
        0 => {}
        scripted => return Some(WeakBecause::Scripted { scripted, of: answers.len() }),
    }
    if answers.iter().any(|answer| is_persons(answer)) {
        return None;
    }
    let model = |answer: &AnswerRevealed| {
        answer.record.answered_by().rsplit('/').next().unwrap_or_default().to_owned()
    };
    let first = answers.first().map(|answer| model(answer)).unwrap_or_default();
    if answers.iter().all(|answer| model(answer) == first) {
        let model = answers[0].record.answered_by().to_owned();
        return Some(WeakBecause::OneModel { seats: answers.len(), model });
    }
    let is_one = |group: &Vec<String>| seats.iter().all(|seat| group.contains(seat));
    same.iter().any(is_one).then_some(WeakBecause::SameText)
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
