//! The seats of a round by where they stand, what failed ones mean for it, and how it is sealed.

use super::state::{RoundRun, Seat, SeatStatus, Session};
use crate::round::seal::{RoundKey, SEAL_2, SealFormat, unseal};
use crate::workflow::Close;

impl RoundRun {
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

impl Session {
    pub fn seal_format(&self) -> SealFormat {
        match self.header.as_ref().and_then(|header| header.seal) {
            Some(SEAL_2) => SealFormat::Two,
            _ => SealFormat::One,
        }
    }

    /// The number of its seal, where this version does not have it.
    pub fn other_seal(&self) -> Option<u32> {
        self.header.as_ref()?.seal.filter(|seal| *seal != SEAL_2)
    }

    /// Whether `key` opens what is sealed in a round, as far as its first seal or its public key shows.
    pub fn opens_with(&self, round: &RoundRun, key: &RoundKey) -> bool {
        if let Some(seal_to) = &round.seal_to {
            return key.seal_to() == *seal_to;
        }
        round.sealed_seats().next().is_none_or(|seat| match &seat.status {
            SeatStatus::Sealed(sealed) => {
                unseal(key, round.binding(&seat.name), sealed, self.seal_format()).is_ok()
            }
            _ => true,
        })
    }
}
