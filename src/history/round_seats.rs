//! The seats of a round by where they stand, what failed ones mean for it, and how it is sealed.

use super::state::{RoundRun, Seat, SeatStatus, Session};
use crate::round::seal::{RoundKey, SealedRecord};
use crate::workflow::Close;

impl RoundRun {
    /// The seats of which something is sealed that nobody can read yet: an answer, or why there is none.
    pub fn unrevealed(&self) -> impl Iterator<Item = (&Seat, &SealedRecord)> {
        self.seats.values().filter_map(|seat| match &seat.status {
            SeatStatus::Sealed(seal) => Some((seat, &**seal)),
            SeatStatus::Failed(failed) => Some((seat, &**failed.in_full.as_ref()?)),
            _ => None,
        })
    }

    /// Whether every seat was handed its work item: they get them in the roster's order.
    pub fn all_have_items(&self) -> bool {
        self.seats.last().is_some_and(|(_, seat)| seat.item.is_some())
    }

    pub fn seat(&self, name: &str) -> Option<&Seat> {
        self.seats.get(name)
    }

    pub fn sealed(&self) -> usize {
        let sealed = |s: &&Seat| matches!(s.status, SeatStatus::Sealed(_) | SeatStatus::Revealed(..));
        self.seats.values().filter(sealed).count()
    }

    pub fn open_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|seat| seat.status.is_open())
    }

    pub fn sealed_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|seat| matches!(seat.status, SeatStatus::Sealed(_)))
    }

    pub fn failed_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|seat| matches!(seat.status, SeatStatus::Failed(_)))
    }

    pub fn lost_seats(&self) -> Vec<String> {
        let lost = |s: &&Seat| matches!(s.status, SeatStatus::Lost(_));
        self.seats.values().filter(lost).map(|seat| seat.name.clone()).collect()
    }
}

impl Session {
    /// The open round, where all seats are settled and a facilitator can still save one that failed,
    /// or where the facilitator alone closes it.
    pub fn round_on_hold(&self) -> Option<&RoundRun> {
        let round = self.open_round().filter(|round| round.open_seats().next().is_none())?;
        let close = round.opened.close;
        let is_at_quorum = close == Close::Quorum && round.sealed() >= round.opened.quorum;
        let is_held = close == Close::Manual || round.failed_seats().next().is_some() && !is_at_quorum;
        is_held.then_some(round)
    }

    /// The open round, where so many seats failed that its quorum cannot be reached, unless its
    /// definition has it close all the same.
    pub fn below_quorum(&self) -> Option<&RoundRun> {
        let round = self.open_round()?;
        let failed = round.failed_seats().count();
        let (may_seal, quorum) = (round.sealed() + round.open_seats().count(), round.opened.quorum);
        let step = self.definition.as_ref()?.step(&round.opened.step)?.round()?;
        let is_below = may_seal < quorum && may_seal + failed >= quorum;
        (is_below && !step.closes_below_quorum).then_some(round)
    }
}

impl RoundRun {
    pub fn opens_with(&self, key: &RoundKey) -> bool {
        self.seal_to.as_ref() == Some(&key.seal_to())
    }
}
