//! What failed seats mean for the open round: whether it waits for a facilitator, whether its quorum is lost.

use super::state::{RoundRun, Session};
use crate::workflow::Close;

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
