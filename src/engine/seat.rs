//! One seat's work: ask, read, ask once more if the reply does not fit, seal.
//!
//! An answer is sealed in the function that received it; what leaves this file is [`Sealed`], or
//! the reason why nothing came back. No reply text is ever part of a reason.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use tokio::time::{Instant, timeout};

use super::taken::Taken;
use crate::participants::{Ask, Failure, Finish, Participant, Reply};
use crate::round::ballot::{Answer, Ballot, BallotForm, Reading};
use crate::round::prompt;
use crate::round::record::{Outcome, Record};
use crate::round::reply::read_reply;
use crate::round::seal::{Binding, Nonces, RoundKey, Sealed, seal};
use crate::session::{RoundRun, Session};

/// What all seats of one round share.
pub struct Shared {
    /// The session's id.
    pub session: String,
    /// The round's id.
    pub round: String,
    /// The snapshot's hash.
    pub snapshot_sha256: String,
    /// The form of an answer.
    pub form: BallotForm,
    /// The round's key.
    pub key: RoundKey,
    /// How long one seat may take.
    pub timeout: Option<Duration>,
    /// Whether a block is one without a minimum change: not in sessions of format 1.
    pub counts_bare_blocks: bool,
}

impl Shared {
    /// What the seats of an open round share.
    pub fn of(session: &Session, round: &RoundRun, key: &RoundKey) -> Self {
        let step = session.definition.as_ref().and_then(|definition| definition.step(&round.opened.step));
        Self {
            session: session.id.clone(),
            round: round.opened.round.clone(),
            snapshot_sha256: round.opened.snapshot_sha256.clone(),
            form: round.opened.ballot.clone(),
            key: key.clone(),
            timeout: step.and_then(|step| step.timeout_ms).map(Duration::from_millis),
            counts_bare_blocks: !session.is_format_1(),
        }
    }
}

/// What came of asking a seat.
pub enum Settled {
    /// Something came back; nobody can read it yet.
    Sealed(Sealed),
    /// Nothing came back.
    Failed(Failure),
}

impl Settled {
    /// A fault of the program itself, which says nothing of any answer.
    pub fn fault() -> Self {
        let reason = "a fault of the program while this seat was asked".to_owned();
        Self::Failed(Failure { reason, timed_out: false, tries: 1 })
    }
}

/// Works one seat to its end.
pub async fn work(
    participant: Arc<dyn Participant>,
    ask: Ask,
    model: String,
    shared: Arc<Shared>,
) -> Settled {
    let started = Instant::now();
    let (seat, mut taken) = (ask.seat.clone(), Taken::default());
    let work = converse(&*participant, ask, &shared.form, &mut taken);
    let read = within(shared.timeout, work).await;
    let bare_block = taken.bare_block.take().filter(|_| shared.counts_bare_blocks);
    let read = match (read, bare_block) {
        (Ok(Ok(read)), _) if read.ballot.is_some() => Ok(Ok(read)),
        // Asked for its minimum change it gave no other ballot: the block stands.
        (_, Some(block)) => Ok(Ok(Read::valid(block))),
        (read, None) => read,
    };
    let read = match read {
        Ok(Ok(read)) => read,
        Ok(Err(failure)) => return Settled::Failed(failure),
        Err(limit) if taken.replies.is_empty() => {
            let reason = format!("timed out after {} ms", limit.as_millis());
            return Settled::Failed(Failure { reason, timed_out: true, tries: taken.tries.max(1) });
        }
        // It replied, and was too slow to correct itself: the first reply's fault stands.
        Err(_) => Read::invalid(taken.last_reason().unwrap_or_default().to_owned()),
    };
    let record = Record {
        session: shared.session.clone(),
        round: shared.round.clone(),
        participant: seat,
        snapshot_sha256: shared.snapshot_sha256.clone(),
        model,
        outcome: read.outcome,
        reason: read.reason,
        ballot: read.ballot,
        answer: read.answer,
        flags: read.flags,
        replies: taken.replies,
        tries: taken.tries,
        latency_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        tokens: taken.usage,
    };
    seal_record(&record, &shared)
        .unwrap_or_else(|reason| Settled::Failed(Failure { reason, timed_out: false, tries: record.tries }))
}

/// What comes of the work, or how long it was given. Without a limit there is no clock to look at.
async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Result<T, Duration> {
    match limit {
        Some(limit) => timeout(limit, work).await.map_err(|_| limit),
        None => Ok(work.await),
    }
}

fn seal_record(record: &Record, shared: &Shared) -> Result<Settled, String> {
    let text = record.to_json().ok_or("the answer could not be sealed")?;
    let mut nonces = Nonces { cipher: [0; 24], commitment: [0; 32] };
    getrandom::fill(&mut nonces.cipher)
        .and_then(|()| getrandom::fill(&mut nonces.commitment))
        .map_err(|error| format!("the operating system gives no randomness: {error}"))?;
    let binding = Binding {
        session: &shared.session,
        round: &shared.round,
        participant: &record.participant,
        snapshot_sha256: &shared.snapshot_sha256,
    };
    let sealed = seal(&shared.key, &nonces, binding, &text).ok_or("the answer could not be sealed")?;
    Ok(Settled::Sealed(sealed))
}

struct Read {
    outcome: Outcome,
    reason: Option<String>,
    ballot: Option<Ballot>,
    answer: Map<String, serde_json::Value>,
    flags: Vec<String>,
}

impl Read {
    fn without_answer(outcome: Outcome, reason: String) -> Self {
        Self { outcome, reason: Some(reason), ballot: None, answer: Map::new(), flags: Vec::new() }
    }

    fn invalid(reason: String) -> Self {
        Self::without_answer(Outcome::Invalid, reason)
    }

    fn valid(answer: Answer) -> Self {
        let abstains = answer.ballot == Ballot::Abstain;
        Self {
            outcome: if abstains { Outcome::Abstained } else { Outcome::Answered },
            reason: None,
            ballot: Some(answer.ballot),
            answer: answer.content,
            flags: answer.flags,
        }
    }
}

/// Asks, and asks once more with the reason when the first reply does not fit.
async fn converse(
    participant: &dyn Participant,
    mut ask: Ask,
    form: &BallotForm,
    taken: &mut Taken,
) -> Result<Read, Failure> {
    for is_last in [false, true] {
        let reply = match participant.ask(&ask).await {
            Ok(reply) => reply,
            Err(failure) if taken.replies.is_empty() => return Err(failure),
            Err(failure) => {
                taken.tries += failure.tries;
                let reason = format!(
                    "{}; asked again: {}",
                    taken.last_reason().unwrap_or_default().to_owned(),
                    failure.reason
                );
                return Ok(Read::invalid(reason));
            }
        };
        taken.add(&reply);
        let reason = match judge(form, &reply) {
            Reading::Answered(answer) => return Ok(Read::valid(answer)),
            Reading::Refused(reason) => return Ok(Read::without_answer(Outcome::Refused, reason)),
            Reading::Invalid(reason) => reason,
            Reading::BareBlock(answer, reason) => {
                taken.bare_block = Some(answer);
                reason
            }
        };
        taken.refuse_last(&reason);
        if is_last {
            return Ok(Read::invalid(reason));
        }
        ask.again = Some(prompt::again(&reason));
    }
    Ok(Read::invalid(taken.last_reason().unwrap_or_default().to_owned()))
}

fn judge(form: &BallotForm, reply: &Reply) -> Reading {
    match reply.finish {
        Finish::Complete => read_reply(form, &reply.text),
        Finish::Length => {
            Reading::Invalid("the reply was cut off at its length limit; be shorter".to_owned())
        }
        Finish::ToolCall => Reading::Invalid("the reply tried to call a tool; there are none".to_owned()),
        Finish::Refusal => Reading::Refused("the model or its service declined to answer".to_owned()),
    }
}
