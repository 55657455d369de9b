//! Fan-out: all seats of a round and all agents with work items are asked at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinError;
use tokio::time::{Instant, sleep_until};

use super::facilitator::FacilitatorRequest;
use super::request_pool::{FinishedRequest, PendingRound, PreparedSeat, RequestId};
use super::seat::{RoundShared, SeatResult};
use super::state::{Engine, EngineError};
use crate::ballot::ReplySchema;
use crate::core::{Command, out_of_time};
use crate::history::{CloseReason, RoundRun, Seat, SeatFailed, SeatStatus};
use crate::participants::SeatRequest;

impl Engine<'_> {
    /// Asks the seats and agents that are not asked yet, and handles the next result, request, arrival or deadline.
    pub(super) async fn await_seats(&mut self) -> Result<(), EngineError> {
        if self.session.open_round().is_some_and(|round| !self.has_asked(round)) {
            self.commit().await?;
            if self.stored_key()?.is_none() {
                return self.replace_key();
            }
            self.ask_round()?;
        }
        self.run_work_items().await?;
        // Agents that poll see their work once it is on disk.
        self.begin_write()?;
        // An open round ends by its own deadline.
        if self.session.open_round().is_none()
            && let Some(reason) = out_of_time(&self.session, (self.now)())
        {
            return Ok(self.stage(Command::Stop { reason })?);
        }
        let deadline = self.pool.round.as_ref().and_then(|round| round.deadline);
        let due = self.wake().into_iter().chain(deadline).min();
        let (arrivals, writing) = (&mut self.arrivals, &mut self.writing);
        let first = tokio::select! {
            Some(settled) = self.pool.at_work.join_next() => Some(settled),
            Some(ended) = async { Some(writing.as_mut()?.await) } => {
                self.written(ended)?;
                return self.commit().await;
            }
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => None,
            request = self.config.facilitator.next_request(None, &self.session) => {
                self.execute(request.map_err(EngineError::Other)?)?;
                return self.begin_write();
            }
            Some(arrival) = async { arrivals.as_mut()?.recv().await } => {
                self.handle_arrival(arrival);
                return self.begin_write();
            }
            () = self.config.interrupt.cancelled() => return Ok(()),
        };
        let time_is_up = is_past(deadline);
        if let Some(joined) = first {
            self.settle(joined)?;
        }
        // Results that are ready when the time is up still count; later ones are refused.
        self.collect_finished()?;
        self.begin_write()?;
        if time_is_up && self.session.open_round().is_some() {
            self.close_round(CloseReason::Deadline)?;
        }
        Ok(())
    }

    /// Checks if every seat of a round is asked. A round without open local seats has none to ask.
    pub(super) fn has_asked(&self, round: &RoundRun) -> bool {
        let number = round.opened.number;
        self.pool.round.as_ref().is_some_and(|asked| asked.number == number)
            && (self.pool.is_asking(number) || Self::local_seats(round).next().is_none())
    }

    /// Returns the open seats that this program asks; doors ask the remote ones.
    fn local_seats(round: &RoundRun) -> impl Iterator<Item = &Seat> {
        round.open_seats().filter(|seat| seat.door.is_none())
    }

    /// Handles the results that are ready, without waiting.
    pub(super) fn collect_finished(&mut self) -> Result<(), EngineError> {
        while let Some(joined) = self.pool.at_work.try_join_next() {
            self.settle(joined)?;
        }
        Ok(())
    }

    fn settle(&mut self, joined: Result<(RequestId, FinishedRequest), JoinError>) -> Result<(), EngineError> {
        let (place, back) = match joined {
            // The request was abandoned.
            Err(error) if error.is_cancelled() => return Ok(()),
            Err(error) => return Err(EngineError::Other(format!("a seat's task failed: {error}"))),
            Ok(settled) => settled,
        };
        // A retried seat has a new request id, so an earlier result does not end its progress entry.
        if self.pool.requests.remove(&place).is_some() {
            let (RequestId::Seat(_, name, _) | RequestId::Item(name)) = &place;
            self.config.progress.end(name);
        }
        match (place, back) {
            (RequestId::Seat(number, seat, attempt), FinishedRequest::Seat(back)) => {
                self.settle_seat(number, seat, attempt, back)
            }
            (_, FinishedRequest::Item(returned)) => self.settle_item(returned),
            (RequestId::Item(_), FinishedRequest::Seat(_)) => Ok(()),
        }
    }

    /// Handles the result of a seat; ignores a result that a retry has superseded.
    fn settle_seat(
        &mut self,
        number: u32,
        participant: String,
        attempt: u32,
        back: SeatResult,
    ) -> Result<(), EngineError> {
        let session = &self.session;
        let run = session.rounds.iter().rev().find(|run| run.opened.number == number);
        let asked = run.and_then(|run| run.seat(&participant)).filter(|seat| seat.retried == attempt);
        let Some((run, asked)) = run.zip(asked) else { return Ok(()) };
        let (round, is_open) = (run.opened.round.clone(), asked.status.is_open());
        // An answer that arrives just as its round closes is refused, and the refusal is logged.
        let is_refused =
            asked.status == SeatStatus::Missing && session.closed.is_none() && session.paused.is_none();
        // A seat that times out together with its round is missing, whichever timer fires first.
        let is_late = is_past(self.pool.round.as_ref().and_then(|round| round.deadline));
        let (failure, in_full) = match back {
            _ if !is_open && !is_refused => return Ok(()),
            SeatResult::Sealed(seal) => {
                // This thread reuses the memory of the copy; memory of the seats' threads would stay idle.
                let seal = seal.clone();
                return Ok(self.stage(Command::Seal { round, participant, seal })?);
            }
            SeatResult::Failed(failure, _) if !is_open || is_late && failure.timed_out => return Ok(()),
            SeatResult::Failed(failure, in_full) => (failure, in_full),
        };
        let (reason, next) = self.fallback(&participant, failure.reason);
        self.stage(Command::Fail(Box::new(SeatFailed {
            round,
            participant: participant.clone(),
            reason,
            in_full: in_full.map(Arc::new),
            timed_out: failure.timed_out,
            tries: failure.tries,
            declined: failure.declined,
            tokens: failure.usage,
            ..SeatFailed::default()
        })))?;
        let Some(next) = next.filter(|_| !is_late) else { return Ok(()) };
        self.execute(FacilitatorRequest::Order(Command::Retry { participant, model: Some(next) }))
    }

    /// Returns the failure reason with the failed models of the seat's list, and the next model to ask.
    fn fallback(&mut self, participant: &str, reason: String) -> (String, Option<String>) {
        let mut specs = self.session.definition().participants.iter();
        let spec = specs.find(|spec| spec.models.len() > 1 && spec.name == participant);
        let asked = spec.zip(self.session.seat_info(participant));
        let at = asked.and_then(|(spec, seat)| spec.models.iter().position(|model| *model == seat.model));
        let Some((spec, at)) = spec.zip(at) else { return (reason, None) };
        let earlier = self.pool.round.as_mut().map(|round| &mut round.failed_models);
        let before = earlier.as_ref().filter(|_| at > 0).and_then(|failed| failed.get(participant));
        let list = || spec.models[..=at].join(", then ");
        let models = before.map_or_else(list, |before| format!("{before}; then {}", spec.models[at]));
        let told = format!("{models}: {reason}");
        earlier.map(|failed| failed.insert(participant.to_owned(), told.clone()));
        (told, spec.models.get(at + 1).cloned())
    }

    fn ask_round(&mut self) -> Result<(), EngineError> {
        let Some(round) = self.session.open_round() else { return Ok(()) };
        let Some(shared) = RoundShared::from_round(&self.session, round).map(Arc::new) else { return Ok(()) };
        let left = self.time_left(round);
        let pending = PendingRound {
            number: round.opened.number,
            // Set before any seat starts, so that no seat's timer fires before the round's.
            deadline: left.map(|left| Instant::now() + left),
            shared,
            schema: ReplySchema::for_form(&round.opened.ballot).map(Arc::new),
            unfit: HashMap::new(),
            sealed: HashMap::new(),
            failed_models: HashMap::new(),
        };
        // A person may move the deadline; then only the round enforces it, not each seat.
        let left = left.filter(|_| !self.config.facilitator.is_person());
        let ready = |seat: &Seat| self.ready(round, &seat.name, left, &pending);
        let seats = Self::local_seats(round).map(ready).collect::<Result<Vec<_>, _>>()?;
        self.pool.cancel_round();
        self.pool.round = Some(pending);
        for seat in seats {
            self.pool.ask(seat);
        }
        Ok(())
    }

    pub(super) fn retry_seat(&mut self, seat: &str) -> Result<(), EngineError> {
        let asked = self.session.open_round().zip(self.pool.round.as_ref());
        let Some((round, pending)) = asked.filter(|_| !self.session.is_remote(seat)) else { return Ok(()) };
        let ready = self.ready(round, seat, None, pending)?;
        self.pool.ask(ready);
        Ok(())
    }

    pub(super) fn cancel_seat(&mut self, seat: &str) {
        let Some(round) = self.session.open_round() else { return };
        let attempt = round.seat(seat).map_or(0, |seat| seat.retried);
        let place = RequestId::Seat(round.opened.number, seat.to_owned(), attempt);
        if let Some(request) = self.pool.requests.remove(&place) {
            request.abort();
        }
    }

    pub(super) fn reset_deadline(&mut self) {
        let left = self.session.open_round().and_then(|round| self.time_left(round));
        if let Some(round) = &mut self.pool.round {
            round.deadline = left.map(|left| Instant::now() + left);
        }
    }

    fn ready(
        &self,
        round: &RoundRun,
        seat: &str,
        time_left: Option<Duration>,
        pending: &PendingRound,
    ) -> Result<PreparedSeat, EngineError> {
        let run = round.seat(seat).and_then(|run| Some((run, run.item.as_ref()?)));
        let (Some((run, item)), Some(participant)) = (run, self.config.participants.get(seat)) else {
            return Err(EngineError::Other(format!("no participant for seat `{seat}`")));
        };
        let ask = SeatRequest {
            round: round.opened.round.clone(),
            warm_first: self.session.definition().warm_first,
            schema: pending.schema.clone(),
            time_left,
            watch: self.config.progress.begin(seat),
            purse: self.seat_purse(&round.opened, seat, &item.model),
            ..self.request(seat, &round.opened.step, self.session.prompt(round, item))
        };
        let participant = Arc::clone(participant);
        Ok(PreparedSeat { participant, ask, attempt: run.retried, model: item.model.clone() })
    }
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|at| Instant::now() >= at)
}

#[cfg(test)]
mod tests {

    use serde_json::json;

    use super::super::testing::with_engine;
    use super::*;
    use crate::core::testing::{does, open_round};
    use crate::history::Timestamp;
    use crate::round::seal::{RoundKey, SealedRecord};

    fn with_session(session: crate::history::Session, act: impl FnOnce(&mut Engine<'_>)) {
        let ann = json!({"name": "ann", "persona": "ann", "model": "test/a", "weight": 1.0});
        with_engine(
            ("question: q\n", &[ann], HashMap::new()),
            || Timestamp(1),
            |engine| {
                engine.session = session;
                engine.staged.clear();
                act(engine);
            },
        );
    }

    #[test]
    fn only_the_answer_to_the_last_retry_is_refused_as_late() {
        let mut session =
            open_round("question: q\nclose: quorum\nquorum: 1\n", &[("ann", "test/a"), ("bob", "test/a")]);
        let (round, participant) = ("w".to_owned(), "ann".to_owned());
        does(&mut session, Command::Retry { participant: participant.clone(), model: None });
        let seal = || SealedRecord { commitment: String::new(), enc: String::new(), sealed: Vec::new() };
        does(&mut session, Command::Seal { round, participant: "bob".to_owned(), seal: seal() });
        does(&mut session, Command::CloseRound { reason: CloseReason::Quorum, key: RoundKey::new([1; 32]) });
        with_session(session, |engine| {
            engine.settle_seat(1, participant.clone(), 0, SeatResult::Sealed(seal())).unwrap();
            assert_eq!(engine.staged.len(), 0, "that asking was given up");
            engine.settle_seat(1, participant, 1, SeatResult::Sealed(seal())).unwrap();
            assert_eq!(engine.staged.len(), 1);
        });
    }
}
