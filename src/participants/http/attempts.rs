//! The attempts of one call: requests until one is answered, or until there is no sense in another.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::SemaphorePermit;

use super::complaint::change;
use super::error::{RequestError, format_duration, masked, masked_answer};
use super::parameters::{Learned, Parameter, dropped};
use super::patience::{Patience, pay};
use super::request_body::SplitBody;
use super::retry::{RetryDecision, jitter};
use super::{Failure, Finish, HttpParticipant, Reply, SeatRequest, WarmupGuard};
use crate::participants::api::{ApiStyle, RequestOptions, SchemaMode};
use crate::tokens::estimated_tokens;

/// What is sent beside the prompt: as it is wanted, and as the service takes it.
pub(super) struct Parameters {
    wanted: RequestOptions,
    pub sent: RequestOptions,
    pub learned: Learned,
    changed: Vec<Parameter>,
}

impl Parameters {
    /// Returns the parameters of a call, as far as the service has made known what it takes.
    pub fn of(participant: &HttpParticipant, ask: &SeatRequest, learned: Learned) -> Self {
        let usual = participant.limits;
        let limit = ask.max_output_tokens.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        let room = if ask.has_twice_the_room { 2 } else { 1 };
        let wanted = RequestOptions {
            max_output_tokens: limit.or(usual.max_output_tokens).map(|limit| limit.saturating_mul(room)),
            form: if ask.schema.is_some() { usual.form } else { SchemaMode::InWords },
            seed: ask.seed.filter(|_| participant.service.dialect.takes_seed()),
            temperature: ask.temperature,
            effort: ask.effort.or(usual.effort),
            ..usual
        };
        Self { wanted, sent: learned.apply(wanted), learned, changed: Vec::new() }
    }

    /// Takes in that a request was declined. Returns whether to try another one in its place: once for
    /// each parameter.
    pub fn adapt(&mut self, participant: &HttpParticipant, fault: &RequestError, ask: &SeatRequest) -> bool {
        let style = participant.service.dialect;
        let complaint = fault.declined.as_ref();
        let change = complaint.and_then(|found| change(style, &self.sent, found, ask.purse.is_limited()));
        let Some(change) = change.filter(|change| !self.changed.contains(&change.parameter())) else {
            return false;
        };
        self.changed.push(change.parameter());
        self.learned.add(change, &self.sent);
        self.sent = self.learned.apply(self.wanted);
        true
    }

    /// Takes in that a request was answered: what it took to get there is remembered. That a reply was
    /// given twice the room is content, and leaves no trace while the round is open.
    pub fn settle(&self, participant: &HttpParticipant, ask: &SeatRequest) -> Vec<String> {
        if !self.changed.is_empty() && !ask.has_twice_the_room {
            participant.memory.learn(&ask.model, |known| known.merge(&self.learned));
        }
        dropped(ask, &self.wanted, &self.sent)
    }

    /// Names the parameters of the last request as it was sent; the limit by the name it had.
    pub fn taken(&self, style: ApiStyle) -> Vec<String> {
        let is_sent = |parameter: &Parameter| {
            parameter.is_in(&self.sent) && !matches!(parameter, Parameter::Stream | Parameter::StreamUsage)
        };
        let names = Parameter::MaxOutputTokens.names(style);
        let limit = names.get(usize::from(self.sent.completion_tokens)).or(names.first()).copied();
        let limit = limit.filter(|_| self.sent.max_output_tokens.is_some());
        let others = Parameter::OPTIONAL.into_iter().filter(is_sent).map(Parameter::name);
        limit.into_iter().chain(others).map(str::to_owned).collect()
    }

    /// How many requests were declined for a parameter.
    pub fn declined(&self) -> u32 {
        u32::try_from(self.changed.len()).unwrap_or(u32::MAX)
    }
}

impl HttpParticipant {
    /// How many tokens the service will count of its minute for a request, estimated.
    fn tokens(&self, ask: &SeatRequest, shared: u64, sent: RequestOptions) -> u64 {
        let prompt = shared + estimated_tokens(&ask.prompt.tail) as u64;
        self.service.dialect.rate_limit_tokens(prompt, sent)
    }

    pub(super) async fn tries<'a>(
        &'a self,
        ask: &SeatRequest,
        (head, shared): (Bytes, u64),
        mut patience: Patience,
        (mut permit, mut lead): (Option<SemaphorePermit<'a>>, Option<WarmupGuard>),
    ) -> Result<Reply, Failure> {
        let mut tries = 0;
        let mut parameters = Parameters::of(self, ask, self.memory.of(&ask.model));
        let mut body = SplitBody { head, tail: Bytes::from(self.service.dialect.tail(ask, parameters.sent)) };
        let mut last = None;
        let gate = self.gates.limit_for(&ask.model);
        let tokens = self.tokens(ask, shared, parameters.sent);
        loop {
            if patience.heed(gate.closed_for(tokens), ask, tries)? {
                // Whoever waits for one model holds up nobody who asks another.
                permit = None;
            }
            let pass = patience.wait(tries, gate.acquire(tokens)).await?;
            if permit.is_none() {
                permit = patience.wait(tries, self.permit()).await?;
            }
            if patience.left().is_zero() {
                return Err(patience.late(tries));
            }
            let paid = pay(ask, last.as_deref(), tries)?;
            tries += 1;
            ask.watch.asked(tries);
            let mut may_cost = false;
            let sending = self.send(body.clone(), (&gate, &pass), (&mut lead, &mut may_cost), &ask.watch);
            let sent = patience.spend(tries, sending).await?;
            drop((pass, permit.take()));
            paid.settle(sent.as_ref().is_ok_and(|reply| reply.usage.is_some()), may_cost || sent.is_ok());
            let fault = match sent {
                Ok(reply) => {
                    gate.raise();
                    let limit = parameters.sent.max_output_tokens.filter(|_| reply.finish == Finish::Length);
                    let (dropped, declined) = (parameters.settle(self, ask), parameters.declined());
                    let text = masked_answer(reply.text, self.service.key());
                    return Ok(Reply { text, tries, declined, dropped, limit, ..reply });
                }
                Err(fault) => {
                    let reason = masked(fault.reason, self.service.key());
                    RequestError { reason, ..fault }
                }
            };
            if parameters.adapt(self, &fault, ask) {
                if ask.again.is_none() && !ask.has_twice_the_room {
                    ask.watch.waits(&fault.reason, Duration::ZERO);
                }
                body.tail = Bytes::from(self.service.dialect.tail(ask, parameters.sent));
                continue;
            }
            let wait = self.pause(&fault, ask, (tries, parameters.declined()), &patience)?;
            last = Some(fault.reason.clone());
            ask.watch.waits(&fault.reason, wait);
            let pause = tokio::time::sleep(wait);
            match fault.asked {
                Some(_) => patience.wait(tries, pause).await?,
                None => patience.spend(tries, pause).await?,
            }
        }
    }

    /// How long to wait before the next try, or why there is none. What was declined for a parameter is
    /// not counted among the tries there may be.
    fn pause(
        &self,
        fault: &RequestError,
        ask: &SeatRequest,
        (tries, declined): (u32, u32),
        patience: &Patience,
    ) -> Result<Duration, Failure> {
        let failure = |more: String, timed_out| {
            Err(Failure { reason: format!("{}{more}", fault.reason), timed_out, tries, usage: None })
        };
        let asked = (fault.asked, patience.longest_wait());
        match self.service.retry.next(tries - declined, jitter(&ask.seat, tries), asked, patience.left()) {
            _ if !fault.again => failure(String::new(), false),
            RetryDecision::Again(wait) => Ok(wait),
            RetryDecision::Stop => failure(String::new(), false),
            RetryDecision::NoTime => failure("; no time left to try again".to_owned(), true),
            RetryDecision::TooLong(wait) => {
                failure(format!("; asked to wait {}, {}", format_duration(wait), patience.exceeded()), false)
            }
        }
    }
}
