//! The ballots of a round as the voting rules count them.

use crate::history::{RoundRun, SeatStatus, Session};
use crate::round::answer::Outcome;
use crate::tally::{Decimal, IndexedBallot, Profile, UNLISTED, WeightedBallot};

/// The valid ballots of a round, in roster order, as the rules count them.
pub fn profile(session: &Session, round: &RoundRun) -> Profile {
    let form = &round.opened.ballot;
    let options = if form.kind.spec().form_keys().cards { &form.cards } else { &form.options };
    let mut profile = Profile { options: options.clone(), ballots: Vec::new(), may_block: Vec::new() };
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
