//! Request of one seat: ask, parse, re-ask once if invalid, seal.
//!
//! An answer is sealed in the function that received it. Only a [`SealedRecord`] or the reason of a failure
//! leaves this file. A plain reason never contains reply text.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::ballot::{BallotForm, ParsedReply, holds_no_answer};
use crate::history::{RoundRun, Session};
use crate::participants::{Failure, Participant, Reply, SeatRequest};
use crate::round::answer::{AnswerRecord, Finish, Origin, ReplyAttempt, TOO_LONG, TokenUsage};
use crate::round::offer::Offer;
use crate::round::prompt;
use crate::round::seal::{Binding, Nonces, SealedRecord, Sealer};

/// Part of a round that its seats share; the binding names no seat yet.
pub struct RoundShared {
    pub binding: Binding,
    pub form: Arc<BallotForm>,
    pub sealer: Sealer,
    pub timeout: Option<Duration>,
}

impl RoundShared {
    /// Returns `None` if the round's public key is invalid.
    pub fn from_round(session: &Session, round: &RoundRun) -> Option<Self> {
        let step = session.definition().step(&round.opened.step);
        Some(Self {
            binding: round.binding(""),
            form: Arc::new(round.opened.ballot.clone()),
            sealer: Sealer::to(&round.seal_to.as_ref()?.public_key)?,
            timeout: step.and_then(|step| step.timeout_ms).map(Duration::from_millis),
        })
    }

    /// Creates the same for the seat of an offer.
    pub fn from_offer(offer: &Offer, timeout: Option<Duration>) -> Option<Self> {
        let sealer = Sealer::to(&offer.public_key)?;
        let form = Arc::new(offer.ballot.clone());
        Some(Self { binding: offer.binding(), form, sealer, timeout })
    }
}

pub enum SeatResult {
    /// The seat replied; nobody can read the reply yet.
    Sealed(SealedRecord),
    /// The seat did not reply; its full reason is sealed if it must wait for the close.
    Failed(Failure, Option<SealedRecord>),
}

impl SeatResult {
    /// Returns an internal error, unrelated to any answer.
    pub fn internal_error() -> Self {
        Failure::from("internal error while asking this seat".to_owned()).into()
    }
}

impl From<Failure> for SeatResult {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure, None)
    }
}

pub async fn ask_and_seal(
    participant: Arc<dyn Participant>,
    ask: SeatRequest,
    model: String,
    shared: Arc<RoundShared>,
) -> SeatResult {
    let started = Instant::now();
    let seat = ask.seat.clone();
    let mut transcript =
        AnswerRecord { origin: Origin::from_model(&model), model, ..AnswerRecord::default() };
    let ask = SeatRequest { ballot: Some(Arc::clone(&shared.form)), ..ask };
    let work = ask_with_reask(&*participant, ask, &shared.form, &mut transcript);
    let limit = shared.timeout.unwrap_or(Duration::MAX);
    transcript.failed = match timeout(limit, work).await {
        Ok(Err(mut failure)) if transcript.replies.is_empty() => {
            let in_full = failure.in_full.take().and_then(|reason| {
                failure.reason.push_str("; what it said is shown when the round closes");
                transcript.failed = Some(reason);
                seal_record(&seat, transcript, &shared).ok()
            });
            return SeatResult::Failed(failure, in_full);
        }
        Ok(Err(failure)) => {
            transcript.add_failure(&failure);
            Some(failure.full_reason().to_owned())
        }
        Err(_) if transcript.replies.is_empty() => {
            return Failure { tries: transcript.tries.max(1), ..Failure::late(limit) }.into();
        }
        // The seat replied. If its correction was too slow, the first reply counts with its error.
        Ok(Ok(())) | Err(_) => None,
    };
    let tries = transcript.tries;
    transcript.latency_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    match seal_record(&seat, transcript, &shared) {
        Ok(sealed) => SeatResult::Sealed(sealed),
        Err(reason) => Failure { tries, ..reason.into() }.into(),
    }
}

pub(super) fn seal_record(
    seat: &str,
    mut record: AnswerRecord,
    shared: &RoundShared,
) -> Result<SealedRecord, String> {
    let mut nonces = Nonces { ephemeral: [0; 32], commitment: [0; 32] };
    getrandom::fill(&mut nonces.ephemeral)
        .and_then(|()| getrandom::fill(&mut nonces.commitment))
        .map_err(|error| format!("the operating system gives no randomness: {error}"))?;
    let binding = Binding { participant: seat.to_owned(), ..shared.binding.clone() };
    loop {
        let text = serde_json::to_string(&record).map_err(|_| "the answer could not be sealed")?;
        if let Some(sealed) = shared.sealer.seal(&nonces, &binding, &text) {
            return Ok(sealed);
        }
        let whole = record.replies.iter_mut().filter(|reply| reply.finish != Finish::TooLong);
        let longest = whole.max_by_key(|reply| reply.text.len());
        longest.ok_or("the answer is too long to be sealed")?.cut();
    }
}

/// Asks, re-asks once after an invalid reply, and once after a reply that ended before its answer.
async fn ask_with_reask(
    participant: &dyn Participant,
    mut ask: SeatRequest,
    form: &BallotForm,
    transcript: &mut AnswerRecord,
) -> Result<(), Failure> {
    // Cutting a long invalid reply leaves room for a valid one.
    const LONG: usize = 120 * 1024;
    loop {
        transcript.add(&participant.ask(&ask).await?);
        let Some(reply) = transcript.replies.last_mut() else { return Ok(()) };
        let (ParsedReply::Invalid(mut reason) | ParsedReply::BareBlock(_, mut reason)) = reply.read(form)
        else {
            return Ok(());
        };
        if reply.text.len() > LONG {
            reply.cut();
            TOO_LONG.clone_into(&mut reason);
        }
        if !transcript.ask_again(&mut ask, &reason) {
            return Ok(());
        }
        ask.watch.again();
    }
}

impl AnswerRecord {
    pub(super) fn add(&mut self, reply: &Reply) {
        self.tries += reply.tries;
        self.declined += reply.declined;
        self.dropped.clone_from(&reply.dropped);
        self.origin = reply.origin;
        self.served.clone_from(&reply.served);
        self.window = reply.window.or(self.window);
        self.add_usage(reply.usage);
        let limit = reply.limit.filter(|_| reply.finish == Finish::Length && holds_no_answer(&reply.text));
        let (text, finish) = (reply.text.clone(), reply.finish);
        self.replies.push(ReplyAttempt { text, finish, limit, reason: None });
    }

    /// Adds a request that got no reply.
    pub(super) fn add_failure(&mut self, failure: &Failure) {
        self.tries += failure.tries;
        self.declined += failure.declined;
        self.origin = failure.origin.unwrap_or(self.origin);
        self.add_usage(failure.usage);
    }

    fn add_usage(&mut self, usage: Option<TokenUsage>) {
        match (&mut self.tokens, usage) {
            (Some(sum), Some(usage)) => *sum += usage,
            (tokens, usage) => *tokens = tokens.or(usage),
        }
    }

    /// Changes the request for a re-ask: adds the reason, or doubles the room if the reply reached its limit
    /// without an answer. Returns false if that change was already made.
    pub(super) fn ask_again(&self, ask: &mut SeatRequest, reason: &str) -> bool {
        if self.replies.last().is_some_and(|last| last.limit.is_some()) {
            !std::mem::replace(&mut ask.has_twice_the_room, true)
        } else {
            ask.again.replace(prompt::reask_suffix(reason)).is_none()
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::future::{BoxFuture, FutureExt as _};

    use super::*;
    use crate::ballot::BallotKind;
    use crate::participants::progress::{Progress, ProgressBoard};
    use crate::participants::testing::ask;
    use crate::round::seal::RoundKey;

    /// Replies with unreadable text, and records the progress of its seat while it is asked.
    struct Babbler(ProgressBoard, std::sync::Mutex<Vec<Progress>>, Reply);

    impl Participant for Babbler {
        fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
            ask.watch.asked(1);
            self.1.lock().unwrap().extend(self.0.progress().remove("ann"));
            ask.watch.on_data(1);
            std::future::ready(Ok(self.2.clone())).boxed()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn re_asks_are_not_visible() {
        let unreadable = Reply { text: "neither this nor that".to_owned(), tries: 1, ..Reply::default() };
        let thinking = Reply { finish: Finish::Length, limit: Some(9), tries: 1, ..Reply::default() };
        for reply in [unreadable, thinking] {
            asked_twice(reply).await;
        }
    }

    async fn asked_twice(reply: Reply) {
        let watches = ProgressBoard::default();
        let babbler = Arc::new(Babbler(watches.clone(), std::sync::Mutex::default(), reply));
        let ask = SeatRequest { watch: watches.begin("ann"), ..ask("rules\n", "snapshot\n", "") };
        let form = BallotForm::over(BallotKind::Choice, vec!["a".into(), "b".into()]);
        let shared = RoundShared {
            binding: Binding::default(),
            form: Arc::new(form),
            sealer: Sealer::new(&RoundKey::new([1; 32])),
            timeout: None,
        };
        let settled =
            ask_and_seal(Arc::clone(&babbler) as Arc<dyn Participant>, ask, "m".into(), Arc::new(shared));
        assert!(matches!(settled.await, SeatResult::Sealed(_)));
        let seen = babbler.1.lock().unwrap();
        let seen: Vec<_> = seen.iter().map(|progress| (progress.phase.word(), progress.tries)).collect();
        assert_eq!(seen, [("asked", 1), ("answering", 1)]);
    }
}
