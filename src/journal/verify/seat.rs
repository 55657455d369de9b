//! What happens at single seats: handed a prompt, sealed, failed, revealed.

use super::Verifier;
use crate::core::{Command, is_asked_once, unseal_answer};
use crate::history::{
    AnswerRevealed, BallotSealed, LogEntry, RemoteSeat, RoundRun, SealedBy, SeatFailed, SeatStatus, Session,
    WorkItemOffered,
};
use crate::round::envelope::{FailedDelivery, Failure, VERSION};
use crate::round::seal::{RoundKey, SealedRecord};

impl Verifier {
    pub(super) fn offered(&mut self, line: &LogEntry, item: &WorkItemOffered) {
        let who = &item.participant;
        let Some(due) = self.due.pop_front() else {
            return self.find(line, format!("`{who}` is handed a work item it has no seat for"));
        };
        if *due == *item {
            return;
        }
        let what = if due.participant != *who {
            format!("`{who}` is handed a work item when it is the turn of `{}`", due.participant)
        } else if due.context_sha256 != item.context_sha256 {
            format!("the prompt of `{who}` names another snapshot")
        } else if due.prompt_sha256 != item.prompt_sha256 {
            format!("the prompt of `{who}` is not rules, snapshot, address and persona")
        } else {
            format!("the work item of `{who}` is not what its round and roster give")
        };
        self.find(line, what);
    }

    pub(super) fn sealed(&mut self, line: &LogEntry, sealed: &BallotSealed) {
        if let Some(what) = self.unlike_signed(sealed) {
            self.find(line, what);
        }
        let round = self.session.round(&sealed.round).filter(|round| round.closed.is_none());
        let seat = round.and_then(|round| round.seat(&sealed.participant));
        if !seat.is_some_and(|seat| seat.status.is_open()) {
            self.find(line, format!("`{}` has no open seat to seal", sealed.participant));
        } else if round.is_some_and(|round| round.opened.step != sealed.step) {
            self.find(line, format!("`{}` seals in another step than its round's", sealed.participant));
        } else if round.is_some_and(|round| line.stamped.at.since(round.opened_at) != sealed.elapsed_ms) {
            self.find(
                line,
                format!("`{}` was not sealed so long after its round opened", sealed.participant),
            );
        } else if !self.all_asked.contains(&sealed.round) {
            // Looked up once a round: every seat must have its item before the first seal.
            if round.is_some_and(|round| round.seats.values().all(|seat| seat.item.is_some())) {
                self.all_asked.insert(sealed.round.clone());
            } else {
                let what = format!("`{}` was sealed before every prompt was logged", sealed.participant);
                self.find(line, what);
            }
        }
    }

    /// What is wrong with the signature of a ballot, or that it has none, or has one.
    fn unlike_signed(&mut self, sealed: &BallotSealed) -> Option<String> {
        let who = &sealed.participant;
        if !self.session.is_remote(who) {
            let is_plain = sealed.signature.is_none() && sealed.by.is_none();
            return (!is_plain).then(|| format!("`{who}` is no remote seat, and its ballot is signed"));
        }
        if sealed.by == Some(SealedBy::Table) {
            let is_so = self.session.remote(who).is_some_and(RemoteSeat::is_sealed_here);
            self.sealed_for += usize::from(is_so);
            return (!is_so || sealed.signature.is_some())
                .then(|| format!("`{who}` seals its ballots itself, and this one was sealed for it"));
        }
        if sealed.by != Some(SealedBy::Seat) || !self.session.is_signed_by_seat(sealed) {
            return Some(format!(
                "the ballot of `{who}` is not signed with the key that the seat joined with"
            ));
        }
        self.signed += 1;
        None
    }

    /// What is proven of signatures, and of whom there was more than one key.
    pub(super) fn of_keys(&mut self) {
        if self.signed > 0 && self.result.findings.iter().all(|finding| finding.place.is_none()) {
            let count = self.signed;
            let what = format!("{count} ballots are signed with the keys that their seats had joined with");
            self.result.proven.push(what);
        }
        if self.sealed_for > 0 {
            let count = self.sealed_for;
            let what = format!(
                "{count} ballots came as plain text, and the program that ran the session sealed them"
            );
            self.result.notes.push(what);
        }
        for (seat, invitation) in &self.session.invitations {
            if invitation.earlier_keys > 0 && invitation.key.is_some() {
                let what = format!("`{seat}` was invited again and has joined with more than one key");
                self.result.notes.push(what);
            }
        }
    }

    /// While a round is open a seat fails on the way; after the close only a seal that does not open.
    pub(super) fn failed(&mut self, line: &LogEntry, failed: &SeatFailed) {
        let SeatFailed { round, participant, reason, timed_out, tries, tokens, .. } = failed.clone();
        let Some(run) = self.session.round(&round) else {
            return self.find(line, format!("`{participant}` fails in round `{round}`, which there is not"));
        };
        if let (Some(signature), None) = (&failed.signature, &run.closed) {
            let delivery = run.delivery(&participant).unwrap_or_default();
            return self.check_recomputed(
                line,
                Command::FailRemote(Box::new(FailedDelivery {
                    v: VERSION,
                    delivery,
                    session: run.session.clone(),
                    round,
                    participant,
                    failed: Failure { reason, timed_out, tries },
                    signature: signature.clone(),
                })),
            );
        }
        if run.closed.is_none() {
            let model = run.seat(&participant).and_then(|seat| seat.item.as_ref()).map(|item| &item.model);
            if model.is_some_and(|model| is_asked_once(model)) && tries != 1 {
                self.find(line, format!("`{participant}` was asked once, and `tries` is {tries}"));
            }
            return self.check_recomputed(
                line,
                Command::Fail { round, participant, reason, timed_out, tries, tokens },
            );
        }
        let what = match sealed_in_turn(run, &participant) {
            Err(what) => Some(what),
            Ok(sealed) if unsealed(&self.session, run, &participant, sealed).is_ok() => {
                Some(format!("`{participant}` is said to have failed, and its sealed answer opens"))
            }
            Ok(_) => {
                let elapsed_ms = run.seat(&participant).and_then(|seat| seat.elapsed_ms).unwrap_or(0);
                let step = run.opened.step.clone();
                let due = SeatFailed {
                    step,
                    timed_out: false,
                    tries: 0,
                    tokens: None,
                    elapsed_ms,
                    signature: None,
                    ..failed.clone()
                };
                (due != *failed).then(|| format!("`{participant}` did not fail like this"))
            }
        };
        if let Some(what) = what {
            self.find(line, what);
        }
    }

    pub(super) fn revealed(&mut self, line: &LogEntry, answer: &AnswerRevealed) {
        let what = match self.session.round(&answer.round) {
            None => Some(format!("an answer of round `{}`, which there is not", answer.round)),
            Some(round) => opens_to(&self.session, round, answer).err(),
        };
        if let Some(what) = what {
            self.find(line, what);
        }
    }
}

/// The seal that a seat reveals now: it must have one, and every seat before it in the roster must
/// have revealed its own.
fn sealed_in_turn<'a>(round: &'a RoundRun, who: &str) -> Result<&'a SealedRecord, String> {
    let Some(SeatStatus::Sealed(sealed)) = round.seat(who).map(|seat| &seat.status) else {
        return Err(format!("`{who}` is revealed and was not sealed"));
    };
    match round.sealed_seats().next() {
        Some(first) if first.name != who => {
            Err(format!("`{who}` is revealed before `{}`: not in the roster's order", first.name))
        }
        _ => Ok(sealed),
    }
}

/// What a seal holds under the key its round has published.
fn unsealed(
    session: &Session,
    round: &RoundRun,
    who: &str,
    seal: &SealedRecord,
) -> Result<AnswerRevealed, String> {
    let key = round.closed.as_ref().and_then(|closed| RoundKey::from_hex(&closed.key));
    let key = key.ok_or_else(|| format!("`{who}` is revealed before its round published a key"))?;
    unseal_answer(session, round, &key, who, seal).map_err(|error| format!("`{who}`: {error}"))
}

fn opens_to(session: &Session, round: &RoundRun, answer: &AnswerRevealed) -> Result<(), String> {
    let who = &answer.participant;
    let held = unsealed(session, round, who, sealed_in_turn(round, who)?)?;
    if held != *answer {
        return Err(format!("`{who}`: the revealed answer is not the one that was sealed"));
    }
    Ok(())
}
