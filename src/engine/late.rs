//! An answer that comes after the close: refused, never counted, and on record without a word of it.

use super::seat::SeatResult;
use super::{Engine, EngineError};
use crate::core::Command;
use crate::history::{RoundRun, SeatStatus};

impl Engine<'_> {
    /// An answer that came back in the moment its round was closed is refused, which is history too.
    pub(super) fn refuse_late(
        &mut self,
        of: (u32, u32),
        participant: String,
        settled: SeatResult,
    ) -> Result<(), EngineError> {
        let is_missing = |round: &&RoundRun| {
            let seat = round.seat(&participant).filter(|seat| (round.opened.number, seat.retried) == of);
            seat.is_some_and(|seat| seat.status == SeatStatus::Missing)
        };
        let round = self.session.rounds.iter().find(is_missing).map(|round| round.opened.round.clone());
        let is_over = self.session.closed.is_some() || self.session.paused.is_some();
        if let (Some(round), SeatResult::Sealed(seal), false) = (round, settled, is_over) {
            self.stage(Command::Seal { round, participant, seal })?;
        }
        Ok(())
    }
}
