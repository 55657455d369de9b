//! Main loop: performs the next action, or waits for the facilitator's request.

use super::facilitator::wait_point;
use super::request_pool::RequestPool;
use super::state::{Engine, EngineError};
use crate::core::{Command, ExitCode, NextAction, exit_code, next};
use crate::history::{CloseReason, PauseReason};

impl Engine<'_> {
    /// Runs the session until it ends or pauses, and returns the exit code.
    pub async fn run(&mut self) -> Result<ExitCode, EngineError> {
        loop {
            if self.config.interrupt.is_cancelled()
                && self.session.closed.is_none()
                && self.session.paused.is_none()
            {
                let reason = self.leave_reason.take();
                return self.pause(reason.unwrap_or(PauseReason::Interrupted), None).await;
            }
            // Seals are bound to the hash of the entry that opened the round.
            let is_opening = self.session.open_round().is_some_and(|round| round.opened_sha256.is_empty());
            if self.is_task_due || is_opening {
                self.commit().await?;
            }
            let now = next(&self.session);
            // Seats already asked need no check: their participant was available when they were asked.
            let has_asked = || self.session.open_round().is_some_and(|round| self.has_asked(round));
            if (matches!(now, NextAction::OpenRound) || matches!(now, NextAction::AwaitSeats) && !has_asked())
                && let Some((step, message)) = self.missing_human()
            {
                return self.pause(PauseReason::Waiting(message), Some(step)).await;
            }
            if let Some(exit) = match wait_point(&self.session, &now) {
                Some(at) => self.await_request(&at).await?,
                None => self.perform(now).await?,
            } {
                return Ok(exit);
            }
        }
    }

    /// Performs an action that needs no request; returns the exit code if it ends the run.
    async fn perform(&mut self, now: NextAction) -> Result<Option<ExitCode>, EngineError> {
        match now {
            NextAction::Decide(Command::Offer { step }) => self.offer(step)?,
            NextAction::Decide(command) => self.stage(command)?,
            NextAction::AwaitSeats => self.await_seats().await?,
            NextAction::CloseRound(_) if self.is_held() => self.await_seats().await?,
            NextAction::CloseRound(reason) => return self.close_or_stop(reason).await,
            NextAction::Rest => return Ok(Some(ExitCode::Waiting)),
            NextAction::Done => {
                self.commit().await?;
                let code = self.session.closed.as_ref().map(|closed| closed.status);
                return Ok(Some(code.map_or(ExitCode::Failure, |status| exit_code(&self.session, status))));
            }
            // The caller handles `OpenRound` and `AskPerson` as wait points.
            NextAction::Nothing | NextAction::OpenRound | NextAction::AskPerson(_) => {
                return Err(EngineError::Other("the session is not open".to_owned()));
            }
        }
        Ok(None)
    }

    /// Returns the step that waits for a person who cannot be asked here, with a message. The session then
    /// pauses before anything is sent.
    fn missing_human(&self) -> Option<(String, String)> {
        let session = &self.session;
        let waiting = session.waiting_round().filter(|_| session.open_round().is_none());
        let open = session.open_round().filter(|round| round.open_seats().next().is_some());
        let (step, mut names): (&String, Vec<&str>) = if let Some(round) = open {
            (&round.opened.step, round.open_seats().map(|seat| seat.name.as_str()).collect())
        } else if let Some((step, round)) = waiting {
            let seats = session.roster.keys().filter(|name| round.participants.includes(name));
            (&step.id, seats.map(String::as_str).collect())
        } else {
            let step = &session.open_items().next()?.offered.step;
            let offered = session.open_items().map(|item| &item.offered).filter(|item| item.step == *step);
            (step, offered.map(|item| item.participant.as_str()).collect())
        };
        names.retain(|name| {
            let is_at_a_door = self.arrivals.is_some() && session.is_remote(name);
            let seated = self.config.participants.get(*name).filter(|_| !is_at_a_door);
            seated.is_some_and(|participant| participant.waits_for_person(step))
        });
        // A round that cannot open ends its step without asking anyone.
        let is_in_vain = |(step, round)| session.round_refusal(step, round).is_some();
        if names.is_empty() || waiting.is_some_and(is_in_vain) {
            return None;
        }
        let seats = if names.iter().all(|name| session.is_remote(name)) { "remote" } else { "human" };
        Some((step.clone(), format!("waiting for {seats} seat: {}", names.join(", "))))
    }

    /// Checks if the open round waits for a person, who can still save its failed seats.
    fn is_held(&self) -> bool {
        self.config.facilitator.is_person() && self.session.round_on_hold().is_some()
    }

    /// Closes the open round. If failed seats keep it below its quorum, pauses the session instead, and nothing
    /// is revealed. If a person leads or the round's time is up, closes it anyway.
    async fn close_or_stop(&mut self, reason: CloseReason) -> Result<Option<ExitCode>, EngineError> {
        let below = self.session.below_quorum().filter(|_| !self.config.facilitator.is_person());
        match below.map(|round| self.time_left(round)) {
            None => self.close_round(reason)?,
            Some(Some(left)) if left.is_zero() => self.close_round(CloseReason::Deadline)?,
            Some(_) => {
                self.pause(PauseReason::QuorumUnreachable, None).await?;
                return Ok(Some(ExitCode::Unreachable));
            }
        }
        Ok(None)
    }

    pub(super) async fn pause(
        &mut self,
        reason: PauseReason,
        step: Option<String>,
    ) -> Result<ExitCode, EngineError> {
        self.collect_finished()?;
        self.pool = RequestPool::default();
        self.stage(Command::Pause { reason, step })?;
        self.commit().await?;
        Ok(ExitCode::Waiting)
    }

    /// Closes the open round: abandons its requests and publishes its key, which is erased once that is on disk.
    /// A missing key is recorded as lost instead.
    pub(super) fn close_round(&mut self, reason: CloseReason) -> Result<(), EngineError> {
        let Some(key) = self.stored_key()? else {
            return Ok(self.stage(Command::LoseKey)?);
        };
        if let Some(round) = self.session.open_round() {
            round.seats.keys().for_each(|seat| self.config.progress.end(seat));
        }
        self.pool.cancel_round();
        let number = self.session.open_round().map(|round| round.opened.number);
        self.stage(Command::CloseRound { reason, key })?;
        self.spent_key = number;
        Ok(())
    }
}
