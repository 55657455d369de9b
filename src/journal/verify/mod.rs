//! `verify`: what a file proves, replayed offline, in words.
//!
//! Checks the chain, every prompt against its parts, every seal against its commitment and its
//! revealed answer, the order of things, and the tally. It cannot prove what was really sent to a
//! service, runs that were thrown away, clock times, or a file rewritten whole when no earlier hash
//! is known; [`UNPROVEN`] says so.

use std::collections::HashSet;

use super::read::{Damage, read_log};
use crate::round::record::Record;
use crate::round::seal::{Binding, RoundKey, open};
use crate::round::snapshot::sha256_hex;
use crate::session::{
    AnswerRevealed, BallotSealed, Command, Event, Line, RoundClosed, RoundRun, SeatStatus, Session,
    SessionOpened, Status, WorkItemOffered, decide,
};

/// What no reading of the file can show.
pub const UNPROVEN: [&str; 4] = [
    "what was really sent to a service, and whether the service kept the seats apart",
    "whether other runs were made and thrown away",
    "that the clock was right",
    "that the whole file was not written anew: compare its last hash with one noted earlier (--expect)",
];

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The `seq` of the document it is about, if it is about one.
    pub seq: Option<u64>,
    /// What does not hold.
    pub what: String,
}

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// What holds, one line each.
    pub proven: Vec<String>,
    /// What should be known though nothing is wrong.
    pub notes: Vec<String>,
    /// What does not hold; empty when the file verifies.
    pub findings: Vec<Finding>,
    /// The last hash.
    pub head: Option<String>,
}

/// Verifies a file's bytes; `expect` is a hash that must stand in it, noted earlier.
pub fn verify(bytes: &[u8], expect: Option<&str>) -> Verification {
    let mut result = Verification::default();
    let log = match read_log(bytes) {
        Ok(log) => log,
        Err(damage) => {
            result.findings.push(finding_of(&damage));
            return result;
        }
    };
    if log.torn > 0 {
        let what = format!("{} bytes of a torn write follow the last complete document", log.torn);
        result.findings.push(Finding { seq: None, what });
    }
    if log.lines.is_empty() {
        let what = "the file holds no complete document".to_owned();
        result.findings.push(Finding { seq: None, what });
        return result;
    }
    result.proven.push(format!("the chain of {} documents is whole", log.lines.len()));
    result.head = log.lines.last().map(|line| line.hash.clone());
    let mut checker =
        Checker { session: Session::default(), result, items: HashSet::new(), all_asked: HashSet::new() };
    for line in &log.lines {
        checker.line(line);
    }
    checker.finish(expect, &log.lines)
}

fn finding_of(damage: &Damage) -> Finding {
    let what = match damage.seq {
        Some(seq) => {
            format!("document {seq} (line {}, byte {}): {}", damage.line, damage.offset, damage.what)
        }
        None => damage.what.clone(),
    };
    Finding { seq: damage.seq, what }
}

struct Checker {
    session: Session,
    result: Verification,
    items: HashSet<(String, String)>,
    all_asked: HashSet<String>,
}

impl Checker {
    fn find(&mut self, line: &Line, what: impl Into<String>) {
        self.result.findings.push(Finding { seq: Some(line.seq), what: what.into() });
    }

    fn line(&mut self, line: &Line) {
        match &line.stamped.event {
            Event::SessionOpened(opened) => self.opened(line, opened),
            Event::RoundOpened(opened) => {
                if sha256_hex(&opened.snapshot) != opened.snapshot_sha256 {
                    self.find(
                        line,
                        format!("the snapshot of round `{}` does not have its hash", opened.round),
                    );
                }
                if self.session.open_round().is_some() {
                    self.find(line, "a round is opened while another is open");
                }
            }
            Event::WorkItemOffered(item) => self.offered(line, item),
            Event::BallotSealed(sealed) => self.sealed(line, sealed),
            Event::AnswerRevealed(answer) => self.revealed(line, answer),
            Event::RoundClosed(closed) => self.closed(line, closed),
            Event::TallyMade(_) => self.redecide(line, Command::Tally),
            Event::StepFinished(_) => self.redecide(line, Command::FinishStep),
            Event::StepStarted { .. } => self.redecide(line, Command::StartStep),
            Event::SessionClosed(closed) if closed.status != Status::Stopped => {
                self.redecide(line, Command::Close);
            }
            _ => {}
        }
        self.session.apply(&line.stamped);
    }

    fn opened(&mut self, line: &Line, opened: &SessionOpened) {
        if line.seq != 0 {
            self.find(line, "the session is opened twice");
        }
        if sha256_hex(&opened.definition) != opened.definition_sha256 {
            self.find(line, "the definition is not the one its hash was made of");
        }
        for persona in opened.personas.iter().filter(|persona| sha256_hex(&persona.text) != persona.sha256) {
            let what = format!("the text of persona `{}` is not the one its hash was made of", persona.name);
            self.find(line, what);
        }
    }

    fn sealed(&mut self, line: &Line, sealed: &BallotSealed) {
        let round = self.session.round(&sealed.round);
        let seat = round.and_then(|round| round.seat(&sealed.participant));
        if !seat.is_some_and(|seat| seat.status.is_open()) {
            self.find(line, format!("`{}` has no open seat to seal", sealed.participant));
        } else if !self.all_asked.contains(&sealed.round) {
            // Looked up once a round: every seat must have its item before the first seal.
            if round.is_some_and(|round| round.seats.values().all(|seat| seat.item.is_some())) {
                self.all_asked.insert(sealed.round.clone());
            } else {
                self.find(
                    line,
                    format!("`{}` was sealed before every prompt was logged", sealed.participant),
                );
            }
        }
    }

    fn closed(&mut self, line: &Line, closed: &RoundClosed) {
        let open = self.session.round(&closed.round).filter(|round| round.closed.is_none());
        let missing = open.map(|round| round.open_seats().map(|seat| seat.name.clone()).collect::<Vec<_>>());
        if missing.as_ref() != Some(&closed.missing) {
            self.find(line, format!("round `{}` does not close as its seats stand", closed.round));
        }
    }

    /// An event that the core decides alone must be the one it decides.
    fn redecide(&mut self, line: &Line, command: Command) {
        let decided = decide(&self.session, command, line.stamped.at).ok();
        if decided != Some(vec![line.stamped.event.clone()]) {
            self.find(line, "the event is not what the session's rules give at this point");
        }
    }

    fn offered(&mut self, line: &Line, item: &WorkItemOffered) {
        let Some(round) = self.session.round(&item.round) else {
            return self.find(line, format!("a work item of round `{}`, which is not open", item.round));
        };
        let prompt = self.session.prompt(round, item).text();
        let whole = sha256_hex(&prompt) == item.prompt_sha256;
        let bound = item.context_sha256 == round.opened.snapshot_sha256;
        let seated = round.seat(&item.participant).is_some();
        if !whole {
            self.find(
                line,
                format!("the prompt of `{}` is not rules, snapshot, address and persona", item.participant),
            );
        }
        if !bound {
            self.find(line, format!("the prompt of `{}` names another snapshot", item.participant));
        }
        if !seated || !self.items.insert((item.round.clone(), item.participant.clone())) {
            self.find(line, format!("`{}` is handed a work item it has no seat for", item.participant));
        }
    }

    fn revealed(&mut self, line: &Line, answer: &AnswerRevealed) {
        let what = match self.session.round(&answer.round) {
            None => Some(format!("an answer of round `{}`, which there is not", answer.round)),
            Some(round) => opens_to(&self.session, round, answer).err(),
        };
        if let Some(what) = what {
            self.find(line, what);
        }
    }

    fn finish(mut self, expect: Option<&str>, lines: &[Line]) -> Verification {
        for round in &self.session.rounds {
            let name = &round.opened.round;
            let unrevealed =
                round.seats.values().filter(|s| matches!(s.status, SeatStatus::Sealed(_))).count();
            match (&round.closed, unrevealed) {
                (None, _) => self.result.notes.push(format!(
                    "round `{name}` is open: {} of {} seats are sealed and cannot be read yet",
                    round.sealed(),
                    round.seats.len()
                )),
                (Some(_), 0) => self.result.proven.push(format!(
                    "round `{name}`: {} prompts share one snapshot ({}…), all logged before the first seal; \
                     {} sealed answers open to their commitments",
                    round.seats.len(),
                    &round.opened.snapshot_sha256.get(..12).unwrap_or_default(),
                    round.sealed()
                )),
                (Some(_), count) => self.result.notes.push(format!(
                    "round `{name}` is closed and {count} answers are not revealed yet: resume the session"
                )),
            }
            if let Some(tally) = round.tally.as_ref().filter(|tally| tally.rule.is_some()) {
                let rule = tally.rule.map_or("", |rule| rule.name());
                self.result
                    .proven
                    .push(format!("round `{name}`: the tally by {rule} recounts to the same result"));
            }
            if !round.key_lost.is_empty() {
                let lost = round.key_lost.join(", ");
                self.result.notes.push(format!(
                    "the key of round `{name}` was lost once: what {lost} had sealed under it cannot be opened"));
            }
        }
        match &self.session.closed {
            Some(_) => {}
            None => self.result.notes.push("the session is not finished; it can be resumed".to_owned()),
        }
        if let Some(hash) = expect {
            if lines.iter().any(|line| line.hash == hash) {
                self.result
                    .proven
                    .push("the file holds the expected hash, and everything before it".to_owned());
            } else {
                let what =
                    "the expected hash does not stand in the file: it was cut back or rewritten".to_owned();
                self.result.findings.push(Finding { seq: None, what });
            }
        }
        self.result
    }
}

fn opens_to(session: &Session, round: &RoundRun, answer: &AnswerRevealed) -> Result<(), String> {
    let who = &answer.participant;
    let Some(SeatStatus::Sealed(sealed)) = round.seat(who).map(|seat| &seat.status) else {
        return Err(format!("`{who}` is revealed and was not sealed"));
    };
    let key = round.closed.as_ref().and_then(|closed| RoundKey::from_hex(&closed.key));
    let key = key.ok_or_else(|| format!("`{who}` is revealed before its round published a key"))?;
    let binding = Binding {
        session: &session.id,
        round: &round.opened.round,
        participant: who,
        snapshot_sha256: &round.opened.snapshot_sha256,
    };
    let opened = open(&key, binding, sealed).map_err(|error| format!("`{who}`: {error}"))?;
    let record: Record = serde_json::from_str(&opened.record)
        .map_err(|_| format!("`{who}`: the sealed record is no record"))?;
    if AnswerRevealed::of(&answer.step, record, opened.nonce) != *answer {
        return Err(format!("`{who}`: the revealed answer is not the one that was sealed"));
    }
    Ok(())
}
