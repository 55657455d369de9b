//! Messages of remote seats: keys, sealed ballots, agents' work and plain answers.
//!
//! Sealed ballots are never opened here. Plain answers are sealed on arrival; an invalid first one is kept until
//! its correction. The core decides in order of arrival. A reply is sent once its events are on disk.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::arrival::{AbandonedOffer, Accepted, Arrival, Message};
use super::seat::seal_record;
use super::state::Engine;
use crate::ballot::ParsedReply;
use crate::core::{Command, ItemHolder, Refusal};
use crate::history::{Door, EnvelopeRefused, Receipt, RefusalWord, Seat, SeatFailed, SeatJoined, SeatStatus};
use crate::round::answer::{AnswerRecord, Origin, ReplyAttempt};
use crate::round::envelope::{DeliveryIds, Envelope, FailedDelivery};
use crate::round::snapshot::sha256_hex;

impl Engine<'_> {
    /// Accepts messages of remote seats from now on.
    pub fn receive(&mut self, arrivals: mpsc::Receiver<Arrival>) {
        self.arrivals = Some(arrivals);
    }

    /// Handles an arrival and those that wait behind it, so that they share a write to disk.
    pub(super) fn handle_arrival(&mut self, arrival: Arrival) {
        let mut next = Some(arrival);
        while let Some(Arrival { message, answer }) = next {
            let accepted = match message {
                Message::Join(joined) => self.take_join(joined),
                Message::Ballot(envelope) => self.take_ballot(*envelope),
                Message::Failed(failed) => self.take_failure(*failed),
                Message::Abandoned(abandoned) => self.take_abandoned(abandoned),
                Message::Work(work) => self.take_work(work),
            };
            match accepted {
                Ok(accepted) => self.due.push((answer, accepted)),
                // The sender may be gone.
                Err(word) => drop(answer.send(Err(word))),
            }
            next = self.arrivals.as_mut().and_then(|arrivals| arrivals.try_recv().ok());
        }
        self.answer_due();
    }

    /// Sends the answers whose events are on disk.
    pub(super) fn answer_due(&mut self) {
        if self.staged.is_empty() && self.writing.is_none() {
            for (answer, accepted) in self.due.drain(..) {
                drop(answer.send(Ok(accepted)));
            }
        }
    }

    fn take_join(&mut self, joined: SeatJoined) -> Result<Accepted, Refusal> {
        let is_known = self.session.invitations.get(&joined.participant).is_some_and(|known| {
            known.invitation == joined.invitation && known.key.as_ref() == Some(&joined.key)
        });
        if !is_known {
            self.stage(Command::Join(joined))?;
        }
        Ok(Accepted::Done)
    }

    fn take_ballot(&mut self, envelope: Envelope) -> Result<Accepted, Refusal> {
        let run =
            self.session.round(&envelope.binding.round).filter(|run| run.session == envelope.binding.session);
        // A sealed ballot may be sent again.
        if let Some(receipt) = run.and_then(|run| Receipt::for_seat(run, &envelope.binding.participant))
            && receipt.commitment == envelope.seal.commitment
        {
            return Ok(Accepted::Sealed(receipt, false));
        }
        if self.session.closed.is_some() {
            return Err(RefusalWord::RoundClosed.into());
        }
        if self.session.paused.is_some() {
            return Err(RefusalWord::TheSessionIsNotRunning.into());
        }
        let (round, participant) = (envelope.binding.round.clone(), envelope.binding.participant.clone());
        let commitment = envelope.seal.commitment.clone();
        if let Err(refused) = self.stage(Command::SealRemote(Box::new(envelope))) {
            // The ballot is refused even if the core does not log the refusal.
            if let Refusal::Word(why) = refused {
                let step = String::new();
                let refused = EnvelopeRefused { step, round, participant, why, commitment };
                drop(self.stage(Command::RefuseEnvelope(refused)));
            }
            return Err(refused);
        }
        self.newly_sealed(&round, &participant)
    }

    fn take_failure(&mut self, failed: FailedDelivery) -> Result<Accepted, Refusal> {
        let round = self.session.round(&failed.ids.round).filter(|round| round.session == failed.ids.session);
        let status = round.and_then(|round| Some(&round.seat(&failed.ids.participant)?.status));
        let is_known = matches!(status, Some(SeatStatus::Failed(known)) if known.signature.as_ref() == Some(&failed.signature));
        if !is_known {
            self.stage(Command::FailRemote(Box::new(failed)))?;
        }
        Ok(Accepted::Done)
    }

    /// Fails a seat whose offer no worker will answer; nobody signed this failure.
    fn take_abandoned(&mut self, abandoned: AbandonedOffer) -> Result<Accepted, Refusal> {
        let AbandonedOffer { why, ids } = abandoned;
        let DeliveryIds { delivery, session, round, participant } = ids;
        // Only offers over NATS can be given up; the operator of the queue must not fail other seats.
        let is_carried = self.session.remote(&participant).is_some_and(|remote| remote.door == Door::Nats);
        let run = self.session.round(&round).filter(|run| run.session == session && run.closed.is_none());
        let is_due = run.is_some_and(|run| run.delivery(&participant).as_ref() == Some(&delivery));
        if !is_carried || !is_due {
            return Err(RefusalWord::Stale.into());
        }
        if !run.and_then(|run| run.seat(&participant)).is_some_and(|seat| seat.status.is_open()) {
            // The answer or failure has arrived after all.
            return Ok(Accepted::Done);
        }
        let reason = why.to_owned();
        let failed = SeatFailed { round, participant, reason, tries: 1, ..SeatFailed::default() };
        self.stage(Command::Fail(Box::new(failed)))?;
        Ok(Accepted::Done)
    }

    /// Seals an agent's answer. The first invalid one is refused with a reason; the next one counts as it is.
    /// An answer that is sent again gets the same reply.
    pub(super) fn take_plain_answer(
        &mut self,
        participant: &str,
        item: &str,
        text: String,
        again: bool,
    ) -> Result<Accepted, Refusal> {
        if self.session.paused.is_some() {
            return Err(RefusalWord::TheSessionIsNotRunning.into());
        }
        let mut asked =
            self.session.rounds.iter().rev().filter_map(|round| Some((round, round.seat(participant)?)));
        let asks = |seat: &Seat| seat.item.as_ref().is_some_and(|asked| asked.item == item);
        let (round, seat) = asked.find(|(_, seat)| asks(seat)).ok_or(RefusalWord::NotOffered)?;
        let asked = self.pool.round.as_mut().filter(|asked| asked.number == round.opened.number);
        let hash = sha256_hex(&text);
        match &seat.status {
            SeatStatus::Sealed(_) | SeatStatus::Revealed(..) => {
                let is_same = asked.is_some_and(|asked| asked.sealed.get(participant) == Some(&hash));
                let of_text = || Receipt::for_text(round, participant, &text);
                let receipt = if is_same { Receipt::for_seat(round, participant) } else { of_text() };
                return Ok(Accepted::Sealed(receipt.ok_or(RefusalWord::AlreadySealed)?, false));
            }
            SeatStatus::Excused(_) => return Err(RefusalWord::SeatExcused.into()),
            status if round.closed.is_some() || !status.is_open() => {
                return Err(RefusalWord::RoundClosed.into());
            }
            _ => {}
        }
        let asked = asked.ok_or(RefusalWord::NotOffered)?;
        let reply = ReplyAttempt { text, ..ReplyAttempt::default() };
        let first = asked.unfit.get(participant).filter(|(attempt, _)| *attempt == seat.retried);
        let first = first.map(|(_, reply)| reply.clone());
        let may_correct = !again && first.as_ref().is_none_or(|first| first.text == reply.text);
        if may_correct
            && let ParsedReply::Invalid(reason) | ParsedReply::BareBlock(_, reason) =
                reply.read(&asked.shared.form)
        {
            asked.unfit.insert(participant.to_owned(), (seat.retried, reply));
            return Err(Refusal::Because(RefusalWord::DoesNotFit, reason));
        }
        let replies: Vec<ReplyAttempt> = first.into_iter().chain([reply]).collect();
        let shared = asked.shared.clone();
        let model = seat.item.as_ref().map(|item| item.model.clone()).unwrap_or_default();
        // Leaves out the fields that only providers report.
        let record = AnswerRecord {
            origin: Origin::Program,
            model,
            tries: u32::try_from(replies.len()).unwrap_or(u32::MAX),
            replies,
            latency_ms: (self.now)().since(round.opened_at),
            ..AnswerRecord::default()
        };
        let answer = seal_record(participant, record, &shared)?;
        let (round, name) = (shared.binding.round.clone(), participant.to_owned());
        self.stage(Command::Seal { round: round.clone(), participant: name, seal: answer })?;
        if let Some(asked) = &mut self.pool.round {
            asked.unfit.remove(participant);
            asked.sealed.insert(participant.to_owned(), hash);
        }
        self.newly_sealed(&round, participant)
    }

    /// Fails a ballot's seat. The agent's reason may quote an answer, so it is sealed until the close.
    pub(super) fn give_up_ballot(&mut self, who: ItemHolder, why: String) -> Result<Accepted, Refusal> {
        let (pending, round) = (self.pool.round.as_ref(), self.session.open_round());
        let item = round.and_then(|round| round.seat(&who.participant)?.item.as_ref());
        let item = item.filter(|asked| asked.item == who.item);
        let (pending, item) = pending.zip(item).ok_or(RefusalWord::NotOffered)?;
        let (model, failed) = (item.model.clone(), Some(why));
        let record =
            AnswerRecord { origin: Origin::Program, model, failed, tries: 1, ..AnswerRecord::default() };
        let in_full = Some(Arc::new(seal_record(&who.participant, record, &pending.shared)?));
        let reason = "the agent gave up; what it said is shown when the round closes".to_owned();
        let (round, participant) = (pending.shared.binding.round.clone(), who.participant);
        let failed = SeatFailed { round, participant, reason, in_full, tries: 1, ..SeatFailed::default() };
        self.stage(Command::Fail(Box::new(failed)))?;
        Ok(Accepted::Returned("failed"))
    }

    fn newly_sealed(&self, round: &str, participant: &str) -> Result<Accepted, Refusal> {
        let receipt = self.session.round(round).and_then(|round| Receipt::for_seat(round, participant));
        Ok(Accepted::Sealed(receipt.ok_or(RefusalWord::Stale)?, true))
    }
}
