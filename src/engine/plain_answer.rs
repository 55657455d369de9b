//! Ballots that this program seals for agents that send plain text: read once, sealed, forgotten.

use super::arrival::{Accepted, PlainAnswer};
use super::seat::{RoundShared, SeatResult, seal_record};
use super::state::Engine;
use crate::ballot::ParsedReply;
use crate::core::{Command, refusal};
use crate::history::{Receipt, RoundRun, SeatStatus};
use crate::round::record::{Finish, Raw, ReplyAttempt};

impl Engine<'_> {
    /// Seals an agent's answer. One that does not fit is refused once, with the reason after the word; the
    /// next one counts as it is.
    pub(super) fn take_plain_answer(&mut self, answer: PlainAnswer) -> Result<Accepted, String> {
        let PlainAnswer { participant, item, text } = answer;
        if self.session.paused.is_some() {
            return Err(refusal::NOT_RUNNING.to_owned());
        }
        let not_offered = || refusal::NOT_OFFERED.to_owned();
        if !self.session.remote(&participant).is_some_and(|remote| remote.table_seals) {
            let hint =
                "it seals its ballots itself: `roundtable inbox run`, or give its seat `table_seals: true`";
            return Err(format!("{}: {hint}", refusal::NOT_OFFERED));
        }
        let asks = |round: &&RoundRun| {
            let asked = round.seat(&participant).and_then(|seat| seat.item.as_ref());
            asked.is_some_and(|asked| asked.item == item)
        };
        let round = self.session.rounds.iter().rev().find(asks).ok_or_else(not_offered)?;
        let seat = round.seat(&participant).ok_or_else(not_offered)?;
        match &seat.status {
            SeatStatus::Sealed(_) | SeatStatus::Revealed(..) => {
                return Err(refusal::ALREADY_SEALED.to_owned());
            }
            SeatStatus::Excused(_) => return Err(refusal::SEAT_EXCUSED.to_owned()),
            status if round.closed.is_some() || !status.is_open() => {
                return Err(refusal::ROUND_CLOSED.to_owned());
            }
            _ => {}
        }
        let asked = self.pool.round.as_mut().filter(|asked| asked.number == round.opened.number);
        let asked = asked.ok_or_else(not_offered)?;
        let reply = ReplyAttempt { text, finish: Finish::Complete, limit: None, reason: None };
        let attempt = (participant.clone(), seat.retried);
        let mut replies: Vec<ReplyAttempt> = asked.unfit.remove(&attempt).into_iter().collect();
        if replies.is_empty()
            && let ParsedReply::Invalid(reason) | ParsedReply::BareBlock(_, reason) =
                reply.read(&asked.shared.form)
        {
            asked.unfit.insert(attempt, reply);
            return Err(format!("{}: {reason}", refusal::DOES_NOT_FIT));
        }
        replies.push(reply);
        let shared = asked.shared.clone();
        let model = seat.item.as_ref().map(|item| item.model.clone()).unwrap_or_default();
        let raw = raw(&shared, (&participant, model), replies, (self.now)().since(round.opened_at));
        let SeatResult::Sealed(ballot) = seal_record(&participant, raw, &shared)? else {
            return Err(refusal::TOO_LONG.to_owned());
        };
        let round = shared.round.clone();
        let sealed = Command::Seal { round: round.clone(), participant: participant.clone(), seal: ballot };
        self.stage(sealed).map_err(|refused| refused.0)?;
        let receipt = self.session.round(&round).and_then(|round| Receipt::of_seat(round, &participant));
        receipt.map(|receipt| Accepted::Sealed(receipt, true)).ok_or_else(not_offered)
    }
}

/// What is sealed of an agent's answer: nothing that only providers tell.
fn raw(
    shared: &RoundShared,
    (participant, model): (&str, String),
    replies: Vec<ReplyAttempt>,
    latency_ms: u64,
) -> Raw {
    Raw {
        session: shared.session.clone(),
        round: shared.round.clone(),
        participant: participant.to_owned(),
        snapshot_sha256: shared.snapshot_sha256.clone(),
        model,
        tries: u32::try_from(replies.len()).unwrap_or(u32::MAX),
        replies,
        failed: None,
        latency_ms,
        tokens: None,
        dropped: Vec::new(),
        declined: 0,
    }
}
