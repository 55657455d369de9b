//! Ballots that this program seals for agents that send plain text: read once, sealed, forgotten.

use super::arrival::{Accepted, PlainAnswer};
use super::seat::seal_record;
use super::state::Engine;
use crate::ballot::ParsedReply;
use crate::core::{Command, Refusal};
use crate::history::{Receipt, RefusalWord, RoundRun, SeatStatus, Session};
use crate::round::answer::{AnswerRecord, Finish, Origin, ReplyAttempt};
use crate::round::snapshot::sha256_hex;

/// How many workers of an agent may correct their answers to one question.
const MOST_UNFIT: usize = 16;

impl Engine<'_> {
    /// Seals an agent's answer. One that does not fit is refused, with the reason after the word; another
    /// one of the same worker counts as it is. What is sent twice has the same reply twice.
    pub(super) fn take_plain_answer(&mut self, answer: PlainAnswer) -> Result<Accepted, Refusal> {
        let PlainAnswer { participant, holder, item, text, again } = answer;
        if self.session.paused.is_some() {
            return Err(RefusalWord::NotRunning.into());
        }
        let not_offered = || Refusal::from(RefusalWord::NotOffered);
        let round = asked_of(&self.session, &participant, &item)?;
        let seat = round.seat(&participant).ok_or_else(not_offered)?;
        let asked = self.pool.round.as_mut().filter(|asked| asked.number == round.opened.number);
        let hash = sha256_hex(&text);
        match &seat.status {
            SeatStatus::Sealed(_) | SeatStatus::Revealed(..) => {
                let is_same = asked.is_some_and(|asked| asked.sealed.get(&participant) == Some(&hash));
                let known = known(round, &participant, &text, is_same);
                return known.ok_or_else(|| RefusalWord::AlreadySealed.into());
            }
            SeatStatus::Excused(_) => return Err(RefusalWord::SeatExcused.into()),
            status if round.closed.is_some() || !status.is_open() => {
                return Err(RefusalWord::RoundClosed.into());
            }
            _ => {}
        }
        let asked = asked.ok_or_else(not_offered)?;
        let reply = ReplyAttempt { text, finish: Finish::Complete, limit: None, reason: None };
        let attempt = (participant.clone(), seat.retried, holder);
        let first = asked.unfit.get(&attempt).cloned();
        let may_correct = match &first {
            _ if again => false,
            Some(first) => first.text == reply.text,
            None => asked.unfit.keys().filter(|(of, ..)| *of == participant).count() < MOST_UNFIT,
        };
        if may_correct
            && let ParsedReply::Invalid(reason) | ParsedReply::BareBlock(_, reason) =
                reply.read(&asked.shared.form)
        {
            asked.unfit.insert(attempt, reply);
            return Err(Refusal::Because(RefusalWord::DoesNotFit, reason));
        }
        let replies: Vec<ReplyAttempt> = first.into_iter().chain([reply]).collect();
        let shared = asked.shared.clone();
        let model = seat.item.as_ref().map(|item| item.model.clone()).unwrap_or_default();
        // Nothing that only providers tell.
        let record = AnswerRecord {
            origin: Origin::Program,
            model,
            tries: u32::try_from(replies.len()).unwrap_or(u32::MAX),
            replies,
            latency_ms: (self.now)().since(round.opened_at),
            ..AnswerRecord::default()
        };
        let sealed = seal_record(&participant, record, &shared)?;
        let round = shared.round.clone();
        let sealed = Command::Seal { round: round.clone(), participant: participant.clone(), seal: sealed };
        self.stage(sealed)?;
        if let Some(asked) = &mut self.pool.round {
            asked.unfit.retain(|(of, ..), _| *of != participant);
            asked.sealed.insert(participant.clone(), hash);
        }
        let receipt = self.session.round(&round).and_then(|round| Receipt::of_seat(round, &participant));
        receipt.map(|receipt| Accepted::Sealed(receipt, true)).ok_or_else(not_offered)
    }
}

/// The receipt of an answer that is sealed already, if this is the same.
fn known(round: &RoundRun, participant: &str, text: &str, is_same: bool) -> Option<Accepted> {
    let receipt = if is_same {
        Receipt::of_seat(round, participant)
    } else {
        Receipt::of_text(round, participant, text)
    };
    Some(Accepted::Sealed(receipt?, false))
}

fn asked_of<'a>(session: &'a Session, participant: &str, item: &str) -> Result<&'a RoundRun, Refusal> {
    let asks = |round: &&RoundRun| {
        let asked = round.seat(participant).and_then(|seat| seat.item.as_ref());
        asked.is_some_and(|asked| asked.item == item)
    };
    session.rounds.iter().rev().find(asks).ok_or_else(|| RefusalWord::NotOffered.into())
}
