//! The fan-out: every seat of a round and every agent with a work item asked at once, taken in as
//! they settle.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::Instant;

use super::commit::ended;
use super::facilitator::next_request;
use super::seat::{self, RoundShared, SeatResult};
use super::{Engine, EngineError};
use crate::ballot::answer_schema;
use crate::core::Command;
use crate::history::{CloseReason, RoundRun, WorkItemReturned};
use crate::participants::{Participant, SeatRequest};
use crate::round::seal::RoundKey;
use crate::workflow::{Close, StructuredAnswers, WarmFirst};

/// Answers that come this soon after another share its write to disk.
const GATHER: Duration = Duration::from_millis(2);

/// Everyone at work: the seats of the open round, and agents with their work items. Dropping it
/// gives up every request.
#[derive(Default)]
pub(super) struct FanOut {
    at_work: JoinSet<(RequestId, FinishedRequest)>,
    /// What gives up one request.
    requests: HashMap<RequestId, AbortHandle>,
    round: Option<PendingRound>,
}

/// Who is at work.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum RequestId {
    /// A seat of the round of that number, and how often it was asked again before.
    Seat(u32, String, u32),
    /// The agent that holds this work item.
    Item(String),
}

/// What came of it.
pub(super) enum FinishedRequest {
    Seat(SeatResult),
    Item(Box<WorkItemReturned>),
}

/// The round whose seats are asked.
struct PendingRound {
    number: u32,
    /// Seats that have not settled.
    left: usize,
    deadline: Option<Instant>,
    /// Whether a seat may wait a moment for others: not where the next one may close the round.
    gathers: bool,
    shared: Arc<RoundShared>,
}

/// How long a seat may take, and the form its service holds the reply to.
type AskOptions = (Option<Duration>, Option<Arc<str>>);

/// A seat that is to be asked.
struct PreparedSeat {
    participant: Arc<dyn Participant>,
    ask: SeatRequest,
    attempt: u32,
    model: String,
}

impl FanOut {
    /// Sets someone to work. A fault of the program there is that one's failure, no more. The work is
    /// boxed, since the runtime moves what it is given, and its place for the result, several times.
    pub(super) fn begin(
        &mut self,
        place: RequestId,
        work: BoxFuture<'static, FinishedRequest>,
        fault: impl FnOnce() -> FinishedRequest + Send + 'static,
    ) {
        let of = place.clone();
        let work =
            async move { (of, AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| fault())) };
        self.requests.insert(place, self.at_work.spawn(work));
    }

    /// Asks a seat of the round.
    fn ask(&mut self, ready: PreparedSeat) {
        let Some(round) = &mut self.round else { return };
        let PreparedSeat { participant, ask, attempt, model } = ready;
        let place = RequestId::Seat(round.number, ask.seat.clone(), attempt);
        let shared = Arc::clone(&round.shared);
        round.left += 1;
        let work = seat::ask_and_seal(participant, ask, model, shared).map(FinishedRequest::Seat);
        self.begin(place, work.boxed(), || FinishedRequest::Seat(SeatResult::fault()));
    }

    /// Whether the request is still out.
    pub(super) fn is_pending(&self, place: &RequestId) -> bool {
        self.requests.contains_key(place)
    }

    fn settled(&mut self, place: &RequestId) {
        // One that was let go just as it settled is counted once.
        if self.requests.remove(place).is_none() {
            return;
        }
        if let (RequestId::Seat(number, ..), Some(round)) = (place, &mut self.round)
            && *number == round.number
        {
            round.left = round.left.saturating_sub(1);
        }
    }

    /// Gives up the seats of the round; agents go on.
    pub(super) fn cancel_round(&mut self) {
        self.round = None;
        self.requests.retain(|place, request| {
            if matches!(place, RequestId::Seat(..)) {
                request.abort();
            }
            matches!(place, RequestId::Item(_))
        });
    }
}

impl Engine<'_> {
    /// Asks the seats and agents that are not asked yet, and takes in what settles next, or the
    /// deadline.
    pub(super) async fn await_seats(&mut self) -> Result<(), EngineError> {
        if self.session.open_round().is_some_and(|round| round.open_seats().next().is_some())
            && !self.is_asking()
        {
            // What is to be asked is made ready while the work items are written.
            self.begin_write()?;
            let ready = self.ready_seats()?;
            self.commit().await?;
            let Some(key) = self.round_key()? else {
                return Ok(self.stage(Command::LoseKey)?);
            };
            self.fan_out(&key, ready);
        }
        self.run_work_items().await?;
        if self.is_over_time() {
            let limit = self.session.definition.as_ref().and_then(|d| d.max_duration_ms).unwrap_or(0);
            let reason = format!("the session's time is up: `max_duration_ms` is {limit}");
            return Ok(self.stage(Command::Stop { reason })?);
        }
        let deadline = self.fan_out.round.as_ref().and_then(|round| round.deadline);
        let wake = self.wake();
        let first = tokio::select! {
            Some(settled) = self.fan_out.at_work.join_next() => Some(settled),
            ended = ended(&mut self.writing) => {
                self.written(ended)?;
                return self.commit().await;
            }
            () = sleep_until(deadline) => None,
            () = sleep_until(wake) => None,
            order = next_request(&mut self.orders) => {
                self.execute(order)?;
                return self.begin_write();
            }
            () = self.interrupt.cancelled() => return Ok(()),
        };
        let time_is_up = is_past(deadline);
        if let Some(joined) = first {
            self.settle(joined)?;
        }
        // What is ready when time is up still counts; what comes later is refused.
        self.collect_finished()?;
        if !time_is_up {
            self.batch_results(deadline).await?;
        }
        self.begin_write()?;
        if time_is_up && self.session.open_round().is_some() {
            self.close_round(CloseReason::Deadline)?;
        }
        Ok(())
    }

    /// Whether the seats of the open round are asked.
    pub(super) fn is_asking(&self) -> bool {
        let open = self.session.open_round().map(|round| round.opened.number);
        let asked = self.fan_out.round.as_ref();
        asked.is_some_and(|asked| Some(asked.number) == open && asked.left > 0)
    }

    /// Gives seats that settle at nearly the same time the chance to share one write.
    async fn batch_results(&mut self, deadline: Option<Instant>) -> Result<(), EngineError> {
        if !self.fan_out.round.as_ref().is_some_and(|round| round.gathers && round.left > 0) {
            return Ok(());
        }
        let end = Instant::now() + GATHER;
        tokio::time::sleep_until(deadline.map_or(end, |deadline| deadline.min(end))).await;
        self.collect_finished()
    }

    /// Takes in what has settled already, without waiting. Where that is much the log is kept at work
    /// meanwhile, since more may settle all the time.
    pub(super) fn collect_finished(&mut self) -> Result<(), EngineError> {
        const MUCH: usize = 64;
        let mut count = 0_usize;
        while let Some(joined) = self.fan_out.at_work.try_join_next() {
            self.settle(joined)?;
            count += 1;
            if count.is_multiple_of(MUCH) {
                self.write_on()?;
            }
        }
        Ok(())
    }

    fn settle(&mut self, joined: Result<(RequestId, FinishedRequest), JoinError>) -> Result<(), EngineError> {
        let (place, back) = match joined {
            // It was let go.
            Err(error) if error.is_cancelled() => return Ok(()),
            Err(error) => return Err(EngineError::Table(format!("a seat's task failed: {error}"))),
            Ok(settled) => settled,
        };
        // A seat that was asked again has another place, and its watch goes on.
        if self.fan_out.is_pending(&place)
            && let (Some(watches), RequestId::Seat(_, name, _) | RequestId::Item(name)) =
                (&self.watches, &place)
        {
            watches.end(name);
        }
        self.fan_out.settled(&place);
        match (place, back) {
            (RequestId::Seat(number, seat, attempt), FinishedRequest::Seat(back)) => {
                self.settle_seat((number, attempt), seat, back)
            }
            (_, FinishedRequest::Item(returned)) => self.settle_item(returned),
            (RequestId::Item(_), FinishedRequest::Seat(_)) => Ok(()),
        }
    }

    fn settle_seat(
        &mut self,
        of: (u32, u32),
        participant: String,
        back: SeatResult,
    ) -> Result<(), EngineError> {
        // What comes back to a question that was asked again since counts no more.
        let is_open = |round: &&RoundRun| {
            let seat = round.seat(&participant).filter(|seat| (round.opened.number, seat.retried) == of);
            seat.is_some_and(|seat| seat.status.is_open())
        };
        let Some(round) = self.session.open_round().filter(is_open) else {
            return self.refuse_late(of, participant, back);
        };
        let round = round.opened.round.clone();
        // A seat whose time was the round's time is missing at the close, whichever clock rings first.
        let is_late = is_past(self.fan_out.round.as_ref().and_then(|round| round.deadline));
        if is_late && matches!(&back, SeatResult::Failed(failure) if failure.timed_out) {
            return Ok(());
        }
        self.stage(match back {
            SeatResult::Sealed(seal) => Command::Seal { round, participant, seal },
            SeatResult::Failed(failure) => Command::Fail {
                round,
                participant,
                reason: failure.reason,
                timed_out: failure.timed_out,
                tries: failure.tries,
            },
        })?;
        Ok(())
    }

    /// What it takes to ask every open seat of the open round.
    fn ready_seats(&self) -> Result<Vec<PreparedSeat>, EngineError> {
        let Some(round) = self.session.open_round() else { return Ok(Vec::new()) };
        // A deadline that may be moved binds the round alone, and through it every seat.
        let time_left = self.time_left(round).filter(|_| self.orders.is_none());
        let schema = self.schema(round);
        round.open_seats().map(|seat| self.ready(round, &seat.name, (time_left, schema.clone()))).collect()
    }

    /// Asks the seats of the open round.
    fn fan_out(&mut self, key: &RoundKey, seats: Vec<PreparedSeat>) {
        let Some(round) = self.session.open_round() else { return };
        let shared = Arc::new(RoundShared::of(&self.session, round, key));
        // Before anyone begins, so that no seat's own clock runs out before the round's.
        let deadline = self.time_left(round).map(|left| Instant::now() + left);
        let (number, gathers) = (round.opened.number, round.opened.close != Close::Quorum);
        self.fan_out.cancel_round();
        self.fan_out.round = Some(PendingRound { number, left: 0, deadline, gathers, shared });
        for ready in seats {
            self.fan_out.ask(ready);
        }
    }

    /// What it takes to ask a seat.
    fn ready(&self, round: &RoundRun, seat: &str, given: AskOptions) -> Result<PreparedSeat, EngineError> {
        let (Some(ask), Some(participant)) = (self.ask(round, seat, given), self.table.get(seat)) else {
            return Err(EngineError::Table(format!("no participant for seat `{seat}`")));
        };
        let run = round.seat(seat);
        let attempt = run.map_or(0, |seat| seat.retried);
        let model = run.and_then(|seat| seat.item.as_ref()).map(|item| item.model.clone());
        Ok(PreparedSeat {
            participant: Arc::clone(participant),
            ask,
            attempt,
            model: model.unwrap_or_default(),
        })
    }

    /// Asks one seat of the open round again, if its seats are asked now.
    pub(super) fn retry_seat(&mut self, seat: &str) -> Result<(), EngineError> {
        let Some(round) = self.session.open_round().filter(|_| self.fan_out.round.is_some()) else {
            return Ok(());
        };
        let ready = self.ready(round, seat, (None, self.schema(round)))?;
        self.fan_out.ask(ready);
        Ok(())
    }

    /// Gives up the request of a seat that was let go.
    pub(super) fn cancel_seat(&mut self, seat: &str) {
        let Some(round) = self.session.open_round() else { return };
        let attempt = round.seat(seat).map_or(0, |seat| seat.retried);
        let place = RequestId::Seat(round.opened.number, seat.to_owned(), attempt);
        if let Some(request) = self.fan_out.requests.get(&place) {
            request.abort();
            self.fan_out.settled(&place);
        }
    }

    /// Computes the deadline again.
    pub(super) fn reset_deadline(&mut self) {
        let left = self.session.open_round().and_then(|round| self.time_left(round));
        if let Some(round) = &mut self.fan_out.round {
            round.deadline = left.map(|left| Instant::now() + left);
        }
    }

    /// Whether one seat of this model goes ahead of the others.
    fn needs_warmup(&self, round: &RoundRun, model: &str) -> bool {
        // Services cache nothing shorter, and with fewer seats waiting costs more than it saves.
        const TOKENS: usize = 1024;
        const SEATS: usize = 3;
        match self.session.definition.as_ref().map(|definition| definition.warm_first) {
            None | Some(WarmFirst::Off) => false,
            Some(WarmFirst::On) => true,
            Some(WarmFirst::Auto) => {
                let seats = round.opened.seats.iter().filter_map(|name| self.session.seat_info(name));
                let sharing = seats.filter(|seat| seat.model == model).take(SEATS).count();
                round.opened.estimated_tokens >= TOKENS && sharing == SEATS
            }
        }
    }

    /// The schema of an answer, made once a round, unless the definition wants none.
    fn schema(&self, round: &RoundRun) -> Option<Arc<str>> {
        let structured = self.session.definition.as_ref().map(|definition| definition.structured);
        let schema =
            answer_schema(&round.opened.ballot).filter(|_| structured == Some(StructuredAnswers::Auto));
        schema.map(|schema| schema.to_string().into())
    }

    fn ask(&self, round: &RoundRun, seat: &str, (time_left, schema): AskOptions) -> Option<SeatRequest> {
        let item = round.seat(seat)?.item.as_ref()?;
        let info = self.session.seat_info(seat)?;
        Some(SeatRequest {
            seat: seat.to_owned(),
            place: (round.seats.get_index_of(seat)?, round.seats.len()),
            step: round.opened.step.clone(),
            round: round.opened.round.clone(),
            persona: Arc::clone(self.personas.get(&info.persona)?),
            model: info.model.split_once('/').map_or(&*info.model, |(_, model)| model).to_owned(),
            prompt: self.session.prompt(round, item),
            again: None,
            warm_first: self.needs_warmup(round, &info.model),
            seed: info.seed,
            temperature: info.temperature,
            schema,
            time_left,
            timeout: self.participant_timeout(&round.opened.step),
            watch: self.watch(seat),
            purse: self.seat_purse(&round.opened, &item.model),
            task: None,
        })
    }
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|at| Instant::now() >= at)
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
