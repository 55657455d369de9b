//! The ballots of a round as the voting rules count them.

use crate::history::{RoundRun, Seat, SeatStatus, Session};
use crate::round::answer::Outcome;
use crate::tally::{Decimal, IndexedBallot, Profile, UNLISTED, WeightedBallot};

/// The valid ballots of a round, in roster order, as the rules count them.
pub fn profile(session: &Session, round: &RoundRun) -> Profile {
    let form = &round.opened.ballot;
    let options = if form.kind.info().has_cards { &form.cards } else { &form.options };
    let mut profile = Profile {
        options: options.clone(),
        asked: Some(asked(session, round, "", false)),
        ..Profile::default()
    };
    for seat in round.seats.values() {
        let SeatStatus::Revealed(answer, _) = &seat.status else { continue };
        if answer.may_block {
            profile.may_block.push(seat.name.clone());
        }
        let ballot = answer.ballot.as_ref().filter(|_| answer.outcome == Outcome::Answered);
        let Some(mut mark) = ballot.and_then(|ballot| ballot.indexed(form)) else { continue };
        let own = form.place(session.display_name(&seat.name)).filter(|_| form.exclude_own);
        if let (Some(own), IndexedBallot::Ranking(ranks)) = (own, &mut mark) {
            ranks[own] = UNLISTED;
        }
        let weight =
            session.seat_info(&seat.name).map_or(Decimal::ONE, |info| Decimal::of_weight(info.weight));
        profile.ballots.push(WeightedBallot { weight, own, ..WeightedBallot::one(&seat.name, mark) });
    }
    profile
}

/// What the seats that could choose an option weigh together, or how many they are.
pub(super) fn asked(session: &Session, round: &RoundRun, option: &str, is_by_head: bool) -> Decimal {
    let is_asked = |status: &SeatStatus| match status {
        SeatStatus::Excused(_) => false,
        SeatStatus::Revealed(answer, _) => answer.outcome != Outcome::Excused,
        _ => true,
    };
    let is_own = |seat: &&Seat| round.opened.ballot.exclude_own && session.display_name(&seat.name) == option;
    let seats = round.seats.values().filter(|seat| is_asked(&seat.status) && !is_own(seat));
    let weight =
        |name: &str| session.seat_info(name).map_or(Decimal::ONE, |info| Decimal::of_weight(info.weight));
    seats.map(|seat| if is_by_head { Decimal::ONE } else { weight(&seat.name) }).sum()
}

#[cfg(test)]
mod tests {
    use super::asked;
    use crate::core::Command;
    use crate::core::testing::{does, open_round};
    use crate::tally::Decimal;

    #[test]
    fn excused_seats_are_not_asked() {
        let mut session = open_round("question: q\n", &[("ann", "test/a"), ("bob", "test/a")]);
        assert_eq!(asked(&session, &session.rounds[0], "", true), Decimal::whole(2));
        let (round, participant) = ("w".to_owned(), "bob".to_owned());
        does(&mut session, Command::Excuse { round, participant, reason: "ill".to_owned() });
        assert_eq!(asked(&session, &session.rounds[0], "", true), Decimal::ONE);
    }
}
