//! Offline verification of a session file, with findings in words.
//!
//! The core decides every derived event again. The event must be the same, also in the bytes that the writer
//! produces. Values from outside are taken from the file: answers, times, keys, people's input
//! ([`UNCHECKED`]). [`UNPROVEN`] lists what no file can prove.

mod command;

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use serde_json::Value;

use super::document::Chain;
use super::reader::{Damage, EventLog, LogReader, fold};
use crate::core::decide;
use crate::history::{
    ApprovalGiven, Door, Event, ItemStatus, LogEntry, PseudonymMap, Receipt, RemoteSeat, RoundRun, Session,
    SessionOpened, TEXTS, TimedEvent,
};
use crate::round::seal::sign::is_public_key;
use crate::round::snapshot::sha256_hex;
use crate::workflow::{Definition, read_answer};

pub const UNPROVEN: [&str; 5] = [
    "what a provider received, and whether it isolated the seats",
    "who really gave an answer: a file made by one hand can name any model, program or person",
    "whether other runs were discarded",
    "that timestamps are correct",
    "that the whole file was not rewritten: compare its last hash with one noted earlier (--expect)",
];

/// Note on a file that contains another program's texts.
pub const OTHER_TEXTS: &str = "written by a program with other texts: chain, seals, signatures, commitments, order \
    and counts are checked, wording and exact bytes are not";

/// Values from outside, which nothing else in the file determines. One event per line: its keys, and why.
pub const UNCHECKED: &str = "\
every event: at (from the clock; values computed from it (`elapsed_ms`, `until`, `duration`) must fit)
session_opened: program, texts, definition_file, input, seed, prices (found or given at the start)
session_opened: participants/model, participants/scripted, participants/agent_only, participants/wrapped (the command line and the answers file override the definition; what follows from them must fit)
session_opened: table_key (signs offers, which are not in the file)
session_opened: personas/description, personas/tags (front matter of a persona file; the header keeps only the text)
seat_invited: expires (from the clock; who joins must do so before)
envelope_refused: why, commitment (the envelope is not kept)
seat_failed: reason, timed_out, tries, declined (what a provider did (`tries` is 1 if none was asked))
seat_excused: reason (the facilitator's text)
seat_retried: model (the facilitator's choice)
round_closed: reason (if several reasons are possible, such as the facilitator and a deadline)
late_answer_refused: participant (which of the missing seats answered late)
approval_given: by, comment, approved, choice, edited, name (a decision of a person or script; what follows from it must fit)
ideas_merged: set_aside/reason (the facilitator's text)
round_revised: form, participants (a decision of the facilitator; what follows from it must fit)
artifact_recorded: artifact (the facilitator's, unless a step made it)
synthesis_recorded: text (the facilitator's)
agenda_updated: id, title, status, reason (the facilitator's, unless a step led to them)
conflict_opened: title, description, minimum_change (the facilitator's, unless a count or a step led to them)
conflict_resolved: how (the facilitator's, unless a count or a step led to them)
question_opened: title, description (the facilitator's, unless a step led to them)
question_answered: answer (the facilitator's, unless a step led to them)
deadline_extended: deadline_ms (the facilitator's)
work_item_claimed: holder (which of several workers; the return must match)
work_item_returned: origin, served, error, replies/text, replies/reason, replies/finish, replies/limit, tokens, dropped, declined, tries, latency_ms, exit_status, stderr, stdout (what a provider or program did; the last reply of a completed item must give `data`)
session_paused: reason, step (why the session paused; the step must be running)
session_resumed: program, texts, torn_bytes (a kill leaves nothing in the file, so any state before the end can be resumed)
session_closed: reason (of a stopped session: time and cost limits are given on the command line)
";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyFinding {
    pub place: Option<DocumentPlace>,
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentPlace {
    pub seq: u64,
    /// First line of the document, counted from 1.
    pub line: u64,
    pub offset: usize,
}

impl fmt::Display for VerifyFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(DocumentPlace { seq, line, offset }) = self.place {
            write!(f, "document {seq} (line {line}, byte {offset}): ")?;
        }
        f.write_str(&self.what)
    }
}

impl VerifyFinding {
    fn whole(what: impl Into<String>) -> Self {
        Self { place: None, what: what.into() }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// One statement per line; none about rounds if an event has a finding.
    pub proven: Vec<String>,
    pub notes: Vec<String>,
    pub findings: Vec<VerifyFinding>,
    /// A program with other texts wrote part of the file; see [`OTHER_TEXTS`].
    pub has_other_texts: bool,
    pub head: Option<String>,
    pub damage: Option<Damage>,
}

/// Verifies a file's bytes, one document at a time. `expect` is a hash noted earlier, or its first digits, that
/// the file must contain.
pub fn verify(bytes: &[u8], expect: Option<&str>) -> Verification {
    match read_and_check(bytes, expect) {
        Ok(found) => found,
        // A damaged file is rejected as a whole.
        Err(damage) => {
            let place = |seq| DocumentPlace { seq, line: damage.line, offset: damage.offset };
            let findings = vec![VerifyFinding { place: damage.seq.map(place), what: damage.what.clone() }];
            Verification { findings, damage: Some(damage), ..Verification::default() }
        }
    }
}

fn read_and_check(bytes: &[u8], expect: Option<&str>) -> Result<Verification, Damage> {
    let mut checker = Verifier::default();
    let (mut reader, mut holds_expected) = (LogReader::new(bytes)?, false);
    let (mut offset, mut number) = (0, 1);
    while let Some(line) = reader.next() {
        let line = line?;
        let document = &bytes[offset..reader.offset()];
        checker.place = Some(DocumentPlace { seq: line.seq, line: number, offset });
        checker.check_document(&line, document);
        (offset, number) =
            (reader.offset(), number + document.iter().filter(|byte| **byte == b'\n').count() as u64);
        holds_expected |= expect.is_some_and(|expect| line.hash.starts_with(expect));
        checker.result.head = Some(line.hash);
    }
    checker.place = None;
    if reader.torn_bytes() > 0 {
        let what = format!("{} bytes of a torn write follow the last complete document", reader.torn_bytes());
        checker.result.findings.insert(0, VerifyFinding::whole(what));
    }
    Ok(checker.finish(expect.map(|_| holds_expected)))
}

impl Verification {
    /// Checks a receipt against the verified log.
    pub fn check_receipt(&mut self, log: &EventLog, receipt: &Receipt) {
        match receipt.check(&fold(log)) {
            Ok(proven) => self.proven.push(proven),
            Err(what) => self.findings.push(VerifyFinding::whole(what)),
        }
    }
}

/// State of a verification, document by document.
#[derive(Clone, Default)]
pub struct Verifier {
    session: Session,
    /// The writing program has other texts, so its wording cannot be decided again.
    has_other_wording: bool,
    pub result: Verification,
    place: Option<DocumentPlace>,
    chain: Chain,
    /// Next events, as the last decision requires.
    due: VecDeque<Event>,
    /// Documents with an earlier time than the document before.
    backwards: Vec<u64>,
}

impl Verifier {
    fn add_finding(&mut self, what: impl Into<String>) {
        self.result.findings.push(VerifyFinding { place: self.place, what: what.into() });
    }

    /// Records whether the program that writes from here on has other texts.
    fn note_texts(&mut self, event: &Event) {
        let texts = if let Event::SessionOpened(opened) = event {
            &opened.texts
        } else if let Event::SessionResumed { texts, .. } = event {
            texts
        } else {
            return;
        };
        self.has_other_wording = texts != TEXTS;
        self.result.has_other_texts |= self.has_other_wording;
    }

    /// Checks one document against the state before it, then applies it.
    pub fn check_document(&mut self, line: &LogEntry, bytes: &[u8]) {
        let event = &line.stamped.event;
        self.note_texts(event);
        let mut text = String::new();
        self.chain.write(line.stamped.clone(), &mut text);
        if text.as_bytes() != bytes {
            if !self.has_other_wording {
                self.add_finding("no writer writes this event in these bytes");
            }
            (self.chain.seq, self.chain.head) = (line.seq + 1, line.hash.clone());
        }
        if self.session.closed.is_some() {
            self.add_finding("event after session_closed");
        }
        if line.seq > 0 && line.stamped.at < self.session.last_at {
            self.backwards.push(line.seq);
        }
        if let Err(what) = self.follows(line) {
            self.due.clear();
            self.add_finding(what);
        }
        self.session.apply_entry(line);
        if let Event::SessionOpened(opened) = event
            && self.session.header.is_some()
            && let Err(what) = check_header(opened, self.session.definition())
        {
            self.add_finding(what);
        }
    }

    /// Checks if an event is the one that is due. Under other texts only its kind, its place and its counted
    /// values must match.
    fn is_due(&self, due: &Event, is: &Event) -> bool {
        const SAME: [&str; 7] = ["event", "step", "round", "participant", "item", "outcome", "ballot"];
        if !self.has_other_wording || matches!(due, Event::TallyMade(_)) {
            return due == is;
        }
        let (due, is) = (as_json(due), as_json(is));
        SAME.iter().all(|key| due[key] == is[key])
    }

    /// Checks that the event is the one that is due, or one that the core decides now.
    fn follows(&mut self, line: &LogEntry) -> Result<(), String> {
        let event = &line.stamped.event;
        self.check_outside(line)?;
        match self.due.pop_front() {
            Some(due) if self.is_due(&due, event) => return Ok(()),
            // Only the approval after a merge contains comment and name.
            Some(Event::ApprovalGiven(due))
                if matches!(event, Event::ApprovalGiven(given)
                    if *given == ApprovalGiven { comment: given.comment.clone(), name: given.name.clone(), ..due.clone() }) =>
            {
                return Ok(());
            }
            Some(due) => return Err(difference(&due, event)),
            None => {}
        }
        if let Event::ContextChanged { text } = event {
            let own = &self.session.definition().project_summary;
            let is_change = own.is_none() && *text != self.session.context;
            return is_change.then_some(()).ok_or_else(|| "it changes nothing that a round shows".to_owned());
        }
        let command = command::for_event(&self.session, event, line.stamped.at)?;
        let decided = decide(&self.session, command, line.stamped.at)
            .map_err(|refusal| format!("{} cannot be here: {refusal}", event_label(&as_json(event))))?;
        let mut decided = VecDeque::from(decided);
        let Some(due) = decided.pop_front() else { return Err("nothing led to it".to_owned()) };
        if !self.is_due(&due, event) {
            return Err(difference(&due, event));
        }
        self.due = decided;
        Ok(())
    }

    fn check_outside(&self, line: &LogEntry) -> Result<(), String> {
        let event = &line.stamped.event;
        if matches!(event, Event::SessionForked { at_seq, .. } if at_seq + 1 != line.seq) {
            return Err("it does not say where the other session's events end".to_owned());
        }
        if let Event::AnswerRevealed(answer) = event
            && !self.session.is_remote(&answer.participant)
            && self.asked_model(&answer.round, &answer.participant) != Some(&answer.record.model)
        {
            return Err(format!("`{}` is said to be asked of another model than it was", answer.participant));
        }
        if let Event::WorkItemReturned(back) = event
            && (back.status == ItemStatus::Completed || !back.data.is_null())
            && back.record.replies.last().and_then(|reply| read_answer(&reply.text).ok()).as_ref()
                != Some(&back.data)
        {
            return Err(format!("the data of `{}` is not what its reply says", back.participant));
        }
        Ok(())
    }

    fn asked_model(&self, round: &str, seat: &str) -> Option<&str> {
        Some(&self.session.round(round)?.seat(seat)?.item.as_ref()?.model)
    }

    pub fn finish(mut self, holds_expected: Option<bool>) -> Verification {
        let Some(seq) = self.chain.seq.checked_sub(1) else {
            self.add_finding("the file contains no complete document");
            return self.result;
        };
        if self.session.closed.is_some() && !self.due.is_empty() {
            self.add_finding("the file ends before everything is said that follows from it");
        }
        let is_whole = self.result.findings.iter().all(|finding| finding.place.is_none());
        if holds_expected == Some(false) {
            self.add_finding("expected hash not found: file truncated or rewritten");
        }
        let mut result = self.result;
        result.proven.push(format!("hash chain intact ({} documents)", seq + 1));
        for round in &self.session.rounds {
            result.add_round(round, is_whole);
        }
        result.add_session(&self.session, is_whole);
        if let Some(first) = self.backwards.first() {
            let count = self.backwards.len();
            result.notes.push(format!(
                "{count} documents, from {first} on, are dated before the one before: a clock was set back, or the \
                 times are not true"
            ));
        }
        if self.session.closed.is_none() {
            result.notes.push("the session is not finished; it can be resumed".to_owned());
        }
        if holds_expected == Some(true) {
            result.proven.push("the file contains the expected hash and everything before it".to_owned());
        }
        result
    }
}

/// Checks that the header's hashes, keys, seeds and definition fit each other.
fn check_header(opened: &SessionOpened, definition: &Definition) -> Result<(), String> {
    if sha256_hex(&opened.definition) != opened.definition_sha256 {
        return Err("the definition is not the one its hash was made of".to_owned());
    }
    if let Some(persona) = opened.personas.iter().find(|persona| sha256_hex(&persona.text) != persona.sha256)
    {
        return Err(format!("the text of persona `{}` is not the one its hash was made of", persona.name));
    }
    let has_remote = opened.participants.iter().any(|seat| seat.remote.is_some());
    if opened.table_key.as_deref().map(is_public_key) != has_remote.then_some(true) {
        return Err("a session with remote seats has a `table_key`, another has no such key".to_owned());
    }
    for seat in &opened.participants {
        if let Some(what) = seat.remote.as_ref().and_then(wrong_key) {
            return Err(format!("remote seat `{}` {what}", seat.name));
        }
    }
    if !has_its_pseudonyms(opened, definition) {
        return Err("the pseudonyms are not those that their seed gives, or are not asked for".to_owned());
    }
    let is_drawn_by_run =
        opened.seed.is_none() || opened.draw_seed.is_none() || opened.seed == opened.draw_seed;
    if opened.draw_seed.is_some() != definition.draws() || !is_drawn_by_run {
        return Err("`draw_seed` is not the run's seed, or there is one and nothing is drawn".to_owned());
    }
    opened.unlike_definition(definition).map_or(Ok(()), Err)
}

fn wrong_key(remote: &RemoteSeat) -> Option<&'static str> {
    match (remote.door, &remote.key) {
        (_, Some(key)) if !is_public_key(key) => Some("has a key that is none"),
        (Door::Nats, None) => Some("has a worker without a key"),
        (Door::Link, Some(_)) => Some("has a key before it has joined"),
        (Door::Inbox, Some(_)) => Some("has a key, and its ballots are sealed for it"),
        (Door::Link | Door::Inbox, None) | (Door::Nats, Some(_)) => None,
    }
}

/// Checks that pseudonyms exist if the definition asks for them, and that they match their seed.
fn has_its_pseudonyms(opened: &SessionOpened, definition: &Definition) -> bool {
    let names = opened.participants.iter().map(|seat| seat.name.as_str());
    match &opened.pseudonyms {
        None => !definition.pseudonyms,
        Some(drawn) => definition.pseudonyms && *drawn == PseudonymMap::draw(drawn.seed, names),
    }
}

/// Returns the events of a log's last decision that a kill during the write left out. Returns none if the log's
/// events do not follow from each other.
pub fn unwritten(lines: &[LogEntry]) -> Vec<TimedEvent> {
    let Some(last) = lines.last() else { return Vec::new() };
    let at = last.stamped.at;
    // All events of a decision have the same time.
    let begun = lines.iter().rposition(|line| line.stamped.at != at).map_or(0, |before| before + 1);
    let mut verifier = Verifier::default();
    for (index, line) in lines.iter().enumerate() {
        verifier.note_texts(&line.stamped.event);
        if index >= begun && verifier.follows(line).is_err() {
            return Vec::new();
        }
        verifier.session.apply_entry(line);
    }
    verifier.due.into_iter().map(|event| TimedEvent { at, event }).collect()
}

fn difference(due: &Event, is: &Event) -> String {
    if let (Event::SeatFailed(failed), Event::AnswerRevealed(_)) = (due, is) {
        return format!("the answer of `{}` is not to be revealed: {}", failed.participant, failed.reason);
    }
    let (due, is) = (as_json(due), as_json(is));
    if (&due["event"], &due["participant"]) != (&is["event"], &is["participant"]) {
        return format!("{} follows from what comes before it", event_label(&due));
    }
    let maps = [&due, &is].into_iter().filter_map(Value::as_object);
    let keys: BTreeSet<&String> =
        maps.flat_map(|map| map.keys()).filter(|key| due[*key] != is[*key]).collect();
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    format!("{} of {} does not follow from what comes before it", keys.join(", "), event_label(&is))
}

fn as_json(event: &Event) -> Value {
    serde_json::to_value(event).unwrap_or_default()
}

/// Names the event and its participant.
fn event_label(event: &Value) -> String {
    let of = event["participant"].as_str().map(|name| format!(" of `{name}`")).unwrap_or_default();
    format!("`{}`{of}", event["event"].as_str().unwrap_or_default())
}

impl Verification {
    /// Reports on a round: its proofs if `is_whole`, and its state.
    fn add_round(&mut self, round: &RoundRun, is_whole: bool) {
        let (name, seats, sealed) = (&round.opened.round, round.seats.len(), round.sealed());
        let left = round.sealed_seats().count();
        if is_whole && round.closed.is_some() && left == 0 {
            let snapshot = round.opened.snapshot_sha256.get(..12).unwrap_or_default();
            self.proven.push(format!(
                "round `{name}`: {seats} prompts share one snapshot ({snapshot}…), all logged before the first seal; \
                 {sealed} sealed answers match their commitments"
            ));
        }
        if let Some(rule) = round.tally.as_ref().and_then(|tally| tally.rule).filter(|_| is_whole) {
            self.proven.push(format!("round `{name}`: recounting by {} gives the same result", rule.name()));
        }
        if round.closed.is_none() {
            self.notes.push(format!(
                "round `{name}` is open: {sealed} of {seats} seats are sealed and cannot be read yet"
            ));
        } else if left > 0 {
            self.notes.push(format!(
                "round `{name}` is closed and {left} answers are not revealed yet: resume the session"
            ));
        }
        if !round.key_lost.is_empty() {
            let lost = round.key_lost.join(", ");
            self.notes.push(format!(
                "the key of round `{name}` was lost once: what {lost} had sealed under it cannot be opened"
            ));
        }
    }

    fn add_session(&mut self, session: &Session, is_whole: bool) {
        let items = session.items.len();
        if items > 0 && is_whole {
            self.proven.push(format!("{items} work items follow from the results before them"));
        }
        let seats = session.rounds.iter().flat_map(|round| round.seats.values());
        let signed = seats.filter(|seat| seat.signed_with.is_some() && seat.status.was_sealed()).count();
        if signed > 0 && is_whole {
            let told = "ballots are signed with the keys that their seats had joined with";
            self.proven.push(format!("{signed} {told}"));
        }
        self.notes.extend(session.remote_notes());
    }
}
