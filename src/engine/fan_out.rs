//! The fan-out: every seat of a round asked at once, taken in as they settle.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::future::FutureExt as _;
use tokio::task::{AbortHandle, JoinError, JoinHandle, JoinSet};
use tokio::time::Instant;

use super::orders::ordered;
use super::seat::{self, Settled, Shared};
use super::{Engine, EngineError, Written};
use crate::participants::Ask;
use crate::round::seal::RoundKey;
use crate::session::{CloseReason, Command, RoundRun};
use crate::workflow::Close;

/// Answers that come this soon after another share its write to disk.
const GATHER: Duration = Duration::from_millis(2);

/// The seats of one round at work. Dropping it gives up every request.
pub(super) struct FanOut {
    number: u32,
    seats: JoinSet<(String, Settled)>,
    /// What gives up the request of one seat; kept where seats may be let go.
    requests: HashMap<String, AbortHandle>,
    deadline: Option<Instant>,
    /// Whether a seat may wait a moment for others: not where the next one may close the round.
    gathers: bool,
}

impl Engine<'_> {
    /// Asks the seats that are not asked yet, and takes in what settles next, or the deadline.
    pub(super) async fn await_seats(&mut self) -> Result<(), EngineError> {
        if !self.is_asking() {
            self.commit().await?;
            let Some(key) = self.round_key()? else {
                return Ok(self.stage(Command::LoseKey)?);
            };
            self.fan_out(&key)?;
        }
        let Some(fan_out) = &mut self.fan_out else { return Ok(()) };
        let deadline = fan_out.deadline;
        let first = tokio::select! {
            settled = fan_out.seats.join_next() => settled,
            ended = ended(&mut self.writing) => {
                self.written(ended)?;
                return self.commit().await;
            }
            () = sleep_until(deadline) => None,
            order = ordered(&mut self.orders) => return self.obey(order),
            () = self.interrupt.cancelled() => return Ok(()),
        };
        let time_is_up = is_past(deadline);
        match first {
            Some(joined) => self.settle(joined)?,
            // Nobody is being asked any more: whoever is still open is asked anew.
            None if !time_is_up => self.fan_out = None,
            None => {}
        }
        // What is ready when time is up still counts; what comes later is refused.
        self.take_in_ready()?;
        if !time_is_up {
            self.gather(deadline).await?;
        }
        self.begin_write()?;
        if time_is_up && self.session.open_round().is_some() {
            self.close_round(CloseReason::Deadline)?;
        }
        Ok(())
    }

    /// Whether the seats of the open round have been asked.
    fn is_asking(&self) -> bool {
        let open = self.session.open_round().map(|round| round.opened.number);
        self.fan_out.as_ref().is_some_and(|running| Some(running.number) == open)
    }

    /// Gives seats that settle at nearly the same time the chance to share one write.
    async fn gather(&mut self, deadline: Option<Instant>) -> Result<(), EngineError> {
        let is_worth_it = |fan_out: &FanOut| fan_out.gathers && !fan_out.seats.is_empty();
        if !self.fan_out.as_ref().is_some_and(is_worth_it) {
            return Ok(());
        }
        let end = Instant::now() + GATHER;
        tokio::time::sleep_until(deadline.map_or(end, |deadline| deadline.min(end))).await;
        self.take_in_ready()
    }

    /// Takes in what has settled already, without waiting.
    pub(super) fn take_in_ready(&mut self) -> Result<(), EngineError> {
        while let Some(joined) = self.fan_out.as_mut().and_then(|fan_out| fan_out.seats.try_join_next()) {
            self.settle(joined)?;
        }
        Ok(())
    }

    fn settle(&mut self, joined: Result<(String, Settled), JoinError>) -> Result<(), EngineError> {
        let (participant, settled) = match joined {
            // The seat was let go.
            Err(error) if error.is_cancelled() => return Ok(()),
            Err(error) => return Err(EngineError::Table(format!("a seat's task failed: {error}"))),
            Ok(settled) => settled,
        };
        let Some(round) = self.session.open_round().map(|round| round.opened.round.clone()) else {
            return Ok(());
        };
        let is_open = |round: &RoundRun| round.seat(&participant).is_some_and(|seat| seat.status.is_open());
        if !self.session.open_round().is_some_and(is_open) {
            return Ok(());
        }
        // A seat whose time was the round's time is missing at the close, whichever clock rings first.
        let is_late = is_past(self.fan_out.as_ref().and_then(|fan_out| fan_out.deadline));
        if is_late && matches!(&settled, Settled::Failed(failure) if failure.timed_out) {
            return Ok(());
        }
        self.stage(match settled {
            Settled::Sealed(seal) => Command::Seal { round, participant, seal },
            Settled::Failed(failure) => Command::Fail {
                round,
                participant,
                reason: failure.reason,
                timed_out: failure.timed_out,
                tries: failure.tries,
            },
        })?;
        Ok(())
    }

    /// Asks every open seat of the open round.
    fn fan_out(&mut self, key: &RoundKey) -> Result<(), EngineError> {
        let Some(round) = self.session.open_round() else { return Ok(()) };
        let time_left = self.time_left(round);
        // A deadline that may be moved binds the round alone, and through it every seat.
        let for_seats = time_left.filter(|_| self.orders.is_none());
        let step = self.session.definition.as_ref().and_then(|d| d.step(&round.opened.step));
        let timeout = step.and_then(|step| step.round()?.timeout_ms).map(Duration::from_millis);
        let shared = Arc::new(Shared {
            session: self.session.id.clone(),
            round: round.opened.round.clone(),
            snapshot_sha256: round.opened.snapshot_sha256.clone(),
            form: round.opened.ballot.clone(),
            key: key.clone(),
            timeout,
        });
        // Before anyone begins, so that no seat's own clock runs out before the round's.
        let deadline = time_left.map(|left| Instant::now() + left);
        let (mut seats, mut requests) = (JoinSet::new(), HashMap::new());
        for seat in round.open_seats() {
            let ask = self.ask(round, &seat.name, for_seats);
            let (Some(ask), Some(participant)) = (ask, self.table.get(&seat.name).cloned()) else {
                return Err(EngineError::Table(format!("nobody takes the seat of `{}`", seat.name)));
            };
            let (name, model) =
                (seat.name.clone(), seat.item.as_ref().map(|i| i.model.clone()).unwrap_or_default());
            let shared = Arc::clone(&shared);
            let request = seats.spawn(async move {
                // A fault of the program at one seat is that seat's failure, not the round's.
                let work = AssertUnwindSafe(seat::work(participant, ask, model, shared)).catch_unwind();
                (name, work.await.unwrap_or_else(|_| Settled::fault()))
            });
            if self.orders.is_some() {
                requests.insert(seat.name.clone(), request);
            }
        }
        let gathers = round.opened.close != Close::Quorum;
        self.fan_out = Some(FanOut { number: round.opened.number, seats, requests, deadline, gathers });
        Ok(())
    }

    /// Gives up the request of a seat that was let go.
    pub(super) fn let_go(&mut self, seat: &str) {
        if let Some(request) = self.fan_out.as_mut().and_then(|fan_out| fan_out.requests.remove(seat)) {
            request.abort();
        }
    }

    /// Reckons the deadline anew.
    pub(super) fn reset_deadline(&mut self) {
        let left = self.session.open_round().and_then(|round| self.time_left(round));
        if let Some(fan_out) = &mut self.fan_out {
            fan_out.deadline = left.map(|left| Instant::now() + left);
        }
    }

    /// How long the open round may still take: its deadline, or the session's end if that is sooner.
    fn time_left(&self, round: &RoundRun) -> Option<Duration> {
        let now = (self.now)();
        let ran = self.session.round_ran_ms(round, now);
        let of_round = round.deadline_ms.map(|ms| ms.saturating_sub(ran));
        let limit = self.session.definition.as_ref().and_then(|d| d.max_duration_ms);
        let of_session = limit.map(|limit| limit.saturating_sub(self.session.ran_ms(now)));
        of_round.into_iter().chain(of_session).min().map(Duration::from_millis)
    }

    fn ask(&self, round: &RoundRun, seat: &str, time_left: Option<Duration>) -> Option<Ask> {
        let item = round.seat(seat)?.item.as_ref()?;
        let info = self.session.seat_info(seat)?;
        let (_, model) = info.model.split_once('/').unwrap_or(("", &info.model));
        Some(Ask {
            seat: seat.to_owned(),
            step: round.opened.step.clone(),
            round: round.opened.round.clone(),
            persona: Arc::clone(self.personas.get(&info.persona)?),
            model: model.to_owned(),
            prompt: self.session.prompt(round, item),
            again: None,
            seed: info.seed,
            time_left,
        })
    }
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|at| Instant::now() >= at)
}

/// The end of the write that is running, if one is.
async fn ended(writing: &mut Option<JoinHandle<Written>>) -> Result<Written, JoinError> {
    match writing {
        Some(writing) => writing.await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
