//! `verify`: what a file proves, replayed offline, in words.
//!
//! Checks the chain, every prompt against its parts, every seal against its commitment and its
//! revealed answer, the order of things, and the tally. It cannot prove what was really sent to a
//! service, runs that were thrown away, clock times, or a file rewritten whole when no earlier hash
//! is known; [`UNPROVEN`] says so.

mod called;
mod event;
mod header;
mod seat;
mod work_item;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use super::reader::{Damage, EventLog, LogReader, starts};
use crate::history::{Event, LogEntry, Receipt, RoundRun, Session, Timestamp, WorkItemOffered};
use crate::round::seal::SEAL_2;

/// What no reading of the file can show.
pub const UNPROVEN: [&str; 4] = [
    "what a provider received, and whether it isolated the seats",
    "whether other runs were discarded",
    "that timestamps are correct",
    "that the whole file was not rewritten: compare its last hash with one noted earlier (--expect)",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The document it is about, if it is about one.
    pub place: Option<DocumentPlace>,
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentPlace {
    pub seq: u64,
    /// The line it starts at, from 1.
    pub line: u64,
    /// The byte it starts at, from 0.
    pub offset: usize,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(DocumentPlace { seq, line, offset }) = self.place {
            write!(f, "document {seq} (line {line}, byte {offset}): ")?;
        }
        f.write_str(&self.what)
    }
}

impl Finding {
    fn whole(what: impl Into<String>) -> Self {
        Self { place: None, what: what.into() }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// What holds, one line each; nothing of the rounds when an event does not hold.
    pub proven: Vec<String>,
    /// What should be known though nothing is wrong.
    pub notes: Vec<String>,
    /// What does not hold; empty when the file verifies.
    pub findings: Vec<Finding>,
    pub head: Option<String>,
    /// Why nothing of the file was used, if it is damaged or no session.
    pub damage: Option<Damage>,
}

/// Verifies a file's bytes, one document at a time; `expect` is a hash that must stand in it, noted earlier.
pub fn verify(bytes: &[u8], expect: Option<&str>) -> Verification {
    match read_and_check(bytes, expect) {
        Ok(found) => found,
        // Nothing of a damaged file is used.
        Err(damage) => {
            let findings = vec![finding_of(&damage)];
            Verification { findings, damage: Some(damage), ..Verification::default() }
        }
    }
}

fn read_and_check(bytes: &[u8], expect: Option<&str>) -> Result<Verification, Damage> {
    let mut checker = Verifier::default();
    let (mut reader, mut count, mut holds_expected) = (LogReader::new(bytes)?, 0, false);
    for line in reader.by_ref() {
        let line = line?;
        if let Some(what) = unknown_seal(&line) {
            return Err(Damage { what, seq: Some(line.seq), line: 1, offset: 0, other_format: true });
        }
        checker.line(&line);
        count += 1;
        holds_expected |= expect == Some(line.hash.as_str());
        checker.result.head = Some(line.hash);
    }
    if count > 0 {
        checker.result.proven.push(format!("hash chain intact ({count} documents)"));
    } else {
        checker.result.findings.push(Finding::whole("the file holds no complete document"));
    }
    if reader.torn_bytes() > 0 {
        let what = format!("{} bytes of a torn write follow the last complete document", reader.torn_bytes());
        checker.result.findings.insert(0, Finding::whole(what));
    }
    if count == 0 {
        return Ok(checker.result);
    }
    let mut result = checker.finish(expect.map(|_| holds_expected));
    if result.findings.iter().any(|finding| finding.place.is_some()) {
        // Looked up only where a problem is reported.
        let starts: Vec<_> = starts(bytes).collect();
        for place in result.findings.iter_mut().filter_map(|finding| finding.place.as_mut()) {
            if let Some((offset, line)) = starts.get(place.seq as usize) {
                (place.offset, place.line) = (*offset, *line);
            }
        }
    }
    Ok(result)
}

/// Why this version cannot check a file that is sealed in a way it does not have.
fn unknown_seal(line: &LogEntry) -> Option<String> {
    let Event::SessionOpened(opened) = &line.stamped.event else { return None };
    let seal = opened.seal.filter(|seal| *seal != SEAL_2)?;
    Some(format!(
        "a newer program wrote the file: it has `seal` {seal}, and this version knows only {SEAL_2}"
    ))
}

impl Verification {
    /// Holds a receipt against the log that was verified.
    pub fn hold(&mut self, log: &EventLog, receipt: &Receipt) {
        let session = super::reader::fold(log);
        if !receipt.is_of(&session) {
            let Receipt { participant, session: of, .. } = receipt;
            let what =
                format!("the receipt of `{participant}` is of session `{of}`; this one is `{}`", session.id);
            self.findings.push(Finding::whole(what));
            return;
        }
        match receipt.check(&session, log.lines.iter().map(|line| &line.stamped.event)) {
            Ok(proven) => self.proven.push(proven),
            Err(what) => self.findings.push(Finding::whole(what)),
        }
    }
}

fn finding_of(damage: &Damage) -> Finding {
    let place = |seq| DocumentPlace { seq, line: damage.line, offset: damage.offset };
    Finding { place: damage.seq.map(place), what: damage.what.clone() }
}

#[derive(Default)]
struct Verifier {
    session: Session,
    result: Verification,
    /// The work items that the round opened last still has to hand out, in order.
    due: VecDeque<Arc<WorkItemOffered>>,
    /// Rounds of which every seat had its work item at the first seal.
    all_asked: HashSet<String>,
    /// What the header could not read and the next documents must warn of.
    unread: VecDeque<String>,
    /// How many warnings the documents before are, without another event between them.
    warned: usize,
    /// Seats that must be asked again next: the session was resumed.
    asked_anew: VecDeque<Event>,
    /// When each work item was claimed that has not come back.
    begun: HashMap<String, Timestamp>,
    /// How many ballots are signed by their seats.
    signed: usize,
    /// How many ballots of agents this program has sealed.
    sealed_for: usize,
    /// Documents with a time before the one of the document before.
    backwards: Vec<u64>,
}

impl Verifier {
    fn find(&mut self, line: &LogEntry, what: impl Into<String>) {
        let place = DocumentPlace { seq: line.seq, line: 0, offset: 0 };
        self.result.findings.push(Finding { place: Some(place), what: what.into() });
    }

    fn finish(mut self, holds_expected: Option<bool>) -> Verification {
        let rounds = std::mem::take(&mut self.session.rounds);
        let chain = self.result.proven.len();
        for round in &rounds {
            self.of_round(round);
        }
        if !self.session.items.is_empty() {
            let count = self.session.items.len();
            let items =
                if count == 1 { "1 work item is".to_owned() } else { format!("{count} work items are") };
            let what = "what the results before them give, and their data what their replies say";
            self.result.proven.push(format!("{items} {what}"));
        }
        if self.result.findings.iter().any(|finding| finding.place.is_some()) {
            self.result.proven.truncate(chain);
        }
        self.of_leaks();
        self.of_keys();
        self.of_times();
        if self.session.closed.is_none() {
            self.result.notes.push("the session is not finished; it can be resumed".to_owned());
        }
        match holds_expected {
            None => {}
            Some(true) => self
                .result
                .proven
                .push("the file holds the expected hash, and everything before it".to_owned()),
            Some(false) => {
                let what = "expected hash not found: file truncated or rewritten";
                self.result.findings.push(Finding::whole(what));
            }
        }
        self.result
    }

    /// What is proven of what was masked before answers were handed on.
    fn of_leaks(&mut self) {
        let Verification { proven, findings, .. } = &mut self.result;
        if !self.session.leaks.is_empty() && findings.iter().all(|finding| finding.place.is_none()) {
            let count = self.session.leaks.values().map(Vec::len).sum::<usize>();
            let what = format!(
                "what {} answers give away ({count} findings) is found again, and was \
                 masked in what was handed on as the file says",
                self.session.leaks.len()
            );
            proven.push(what);
        }
    }

    /// What is proven of a round, and what should be known of it.
    fn of_round(&mut self, round: &RoundRun) {
        let Verification { proven, notes, .. } = &mut self.result;
        let name = &round.opened.round;
        match (&round.closed, round.sealed_seats().count()) {
            (None, _) => notes.push(format!(
                "round `{name}` is open: {} of {} seats are sealed and cannot be read yet",
                round.sealed(),
                round.seats.len()
            )),
            (Some(_), 0) => proven.push(format!(
                "round `{name}`: {} prompts share one snapshot ({}…), all logged before the first seal; \
                 {} sealed answers match their commitments",
                round.seats.len(),
                &round.opened.snapshot_sha256.get(..12).unwrap_or_default(),
                round.sealed()
            )),
            (Some(_), count) => notes.push(format!(
                "round `{name}` is closed and {count} answers are not revealed yet: resume the session"
            )),
        }
        if let Some(rule) = round.tally.as_ref().and_then(|tally| tally.rule) {
            let rule = rule.name();
            proven.push(format!("round `{name}`: recounting by {rule} gives the same result"));
        }
        if !round.key_lost.is_empty() {
            let lost = round.key_lost.join(", ");
            notes.push(format!(
                "the key of round `{name}` was lost once: what {lost} had sealed under it cannot be opened"
            ));
        }
    }
}
