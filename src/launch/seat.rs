//! Seats everyone who may still be asked, and opens the session file: a session ready to run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::{Map, Value};

use super::budget::budget;
use super::environment::{Environment, PROGRAM, random};
use super::error::{RunError, no_problems};
use super::needs::{asked, asked_seats, file_of, outside};
use super::prepare::{LaunchOptions, check_answers, opened};
use super::scripted_answers::Answers;
use super::wrapped::{rewrap, wrap_seats};
use crate::config::ParticipantFactory;
use crate::config::evidence::EvidenceReader;
use crate::core::Command;
use crate::diagnostic::Diagnostic;
use crate::engine::{Budget, SeatedParticipants};
use crate::history::{Door, SeatInfo, SeatStatus, Session, SessionOpened, WorkItemReturned};
use crate::journal::{Disk, Journal, KeyStore, OpenedJournal, SessionClaim, TABLE_KEY};
use crate::participants::human::HumanQueue;
use crate::participants::scripted::{ScriptedParticipant, ScriptedSeat};
use crate::participants::{Failure, Participant, Reply, SeatRequest};
use crate::round::answer::ReplyAttempt;
use crate::round::seal::sign::SigningKey;
use crate::workflow::written_id;

/// A session with a participant in every seat and its file open.
pub struct ReadySession {
    pub session: Session,
    pub start: Command,
    pub journal: Journal,
    /// That no other process runs the session meanwhile, in a copy of its file.
    pub claim: SessionClaim,
    pub table: SeatedParticipants,
    pub answers: Answers,
    pub budget: Option<Budget>,
    /// Evidence that the command line adds, as a snapshot shows it.
    pub evidence: Vec<Map<String, Value>>,
    pub evidence_reader: EvidenceReader,
    pub path: PathBuf,
}

impl ReadySession {
    pub fn header(&self) -> Option<&SessionOpened> {
        match &self.start {
            Command::Open(header) => Some(header),
            _ => self.session.header.as_deref(),
        }
    }
}

/// Returns a header with what is known of each program that takes a seat. One of which nothing is known is
/// measured, which takes up to 20 s; `tell` receives that.
pub fn measured(
    header: &SessionOpened,
    options: &LaunchOptions,
    set_up: &Environment,
    tell: &mut dyn FnMut(&Diagnostic),
) -> Result<SessionOpened, RunError> {
    let session = opened(header, crate::clock::now());
    let mut header = header.clone();
    wrap_seats(
        &mut header.participants,
        &asked_seats(&session, &options.answers_of(&session)),
        set_up,
        tell,
    )?;
    Ok(header)
}

/// Makes a new session ready: its seats taken, its file made. People are asked over `desk`. `header` is
/// [`measured`].
pub fn begin(
    mut header: SessionOpened,
    path: PathBuf,
    options: &LaunchOptions,
    set_up: &Environment,
    desk: Option<&HumanQueue>,
) -> Result<ReadySession, RunError> {
    if header.participants.iter().any(|seat| seat.remote.is_some()) {
        header.table_key = Some(make_table_key(&header, set_up)?);
    }
    let session = opened(&header, crate::clock::now());
    let answers = options.answers_of(&session);
    let table = seat_for(desk, &session, set_up, &answers)?;
    let budget = budget(options.max_usd, &session, set_up)?;
    let evidence_reader = set_up.sending_reader(&session)?;
    let claim = claim(&header.session, set_up)?;
    let journal = Journal::create(&Disk::default(), &path).map_err(|error| {
        let problem = Diagnostic::new(error.to_string()).hint(match error.cause.kind() {
            std::io::ErrorKind::AlreadyExists => "--save does not overwrite; choose another path",
            _ => "check the folder's permissions and room, or give another path with --save",
        });
        RunError::unwritable(problem, &error.cause)
    })?;
    let start = Command::Open(Box::new(header));
    Ok(ReadySession {
        session: Session::default(),
        start,
        journal,
        claim,
        table,
        answers,
        budget,
        evidence: options.evidence.clone(),
        evidence_reader,
        path,
    })
}

/// Claims a session for this process. Two that ran copies of it would share the keys of its rounds.
fn claim(session: &str, set_up: &Environment) -> Result<SessionClaim, RunError> {
    KeyStore::new(Disk::default(), &set_up.folders.keys()).claim(session).map_err(|error| {
        let Some(holder) = error.locked else {
            let problem = Diagnostic::new(error.to_string());
            let problem = problem.hint("set ROUNDTABLE_HOME to a folder that can be written");
            return RunError::unwritable(problem, &error.cause);
        };
        Diagnostic::new(format!("{holder} runs this session, in another file"))
            .hint("resume the copy once that has ended, or fork it: `F` in `roundtable replay`")
            .into()
    })
}

/// Makes the key that signs a session's offers, keeps it, and returns its public key. Workers know this
/// machine by its lasting one.
fn make_table_key(header: &SessionOpened, set_up: &Environment) -> Result<String, Diagnostic> {
    let keys = KeyStore::new(Disk::default(), &set_up.folders.keys());
    let is_workers = |seat: &SeatInfo| seat.remote.as_ref().is_some_and(|remote| remote.door == Door::Nats);
    let key = if header.participants.iter().any(is_workers) {
        lasting_table_key(&keys)?
    } else {
        SigningKey::new(random()?)
    };
    keys.keep_table_key(&header.session, &key).map_err(|error| no_table_key(&error))?;
    Ok(key.public())
}

/// The key by which workers know this machine, made where there is none.
pub fn lasting_table_key(keys: &KeyStore) -> Result<SigningKey, Diagnostic> {
    keys.lasting_key(TABLE_KEY, random()?).map_err(|error| no_table_key(&error))
}

fn no_table_key(error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::new(format!("cannot make the key that signs offers: {error}"))
}

/// Makes an unfinished session ready: its seats taken as it was opened. `tell` receives each warning.
pub fn resume(
    session: Session,
    opened: OpenedJournal,
    path: &Path,
    options: &LaunchOptions,
    set_up: &Environment,
    desk: Option<&HumanQueue>,
    tell: &mut dyn FnMut(&Diagnostic),
) -> Result<ReadySession, RunError> {
    let mut answers = options.answers_of(&session);
    answers.resume(&session);
    let claim = claim(&session.id, set_up)?;
    let keys = KeyStore::new(Disk::default(), &set_up.folders.keys());
    answers.has_lost_key = session
        .open_round()
        .is_some_and(|round| matches!(keys.find(&session.id, round.opened.number), Ok(None)));
    if let Some(definition) = &session.definition {
        check_answers(options, definition, file_of(&session), tell)?;
    }
    let led_out = outside(&session, &answers, &set_up.folders.path_policy(path.to_str()));
    if !led_out.is_empty() {
        return Err(led_out.into());
    }
    rewrap(&session, &asked_seats(&session, &answers), set_up, tell)?;
    let table = seat_for(desk, &session, set_up, &answers)?;
    let budget = budget(options.max_usd, &session, set_up)?;
    let start = Command::Resume { program: PROGRAM.to_owned(), torn_bytes: opened.log.torn as u64 };
    let journal = opened.journal;
    let evidence_reader = set_up.sending_reader(&session)?;
    Ok(ReadySession {
        session,
        start,
        journal,
        claim,
        table,
        answers,
        budget,
        evidence: options.evidence.clone(),
        evidence_reader,
        path: path.to_owned(),
    })
}

/// Returns what makes participants, people among them where there is a `desk`.
pub(super) fn factory<'a>(set_up: &'a Environment, desk: Option<&HumanQueue>) -> ParticipantFactory<'a> {
    match desk {
        Some(desk) => set_up.catalog().with_desk(desk.clone()),
        None => set_up.catalog(),
    }
}

/// Seats everyone. With a person at the screen a seat of a round that cannot answer fails when it is asked,
/// and can be asked again with another model; else the session does not start.
fn seat_for(
    desk: Option<&HumanQueue>,
    session: &Session,
    set_up: &Environment,
    answers: &Answers,
) -> Result<SeatedParticipants, Vec<Diagnostic>> {
    let (table, problems) = seated(session, &mut factory(set_up, desk), answers);
    let is_saved = desk.is_some() && problems.iter().all(|(seat, _)| is_only_in_rounds(session, seat));
    if !is_saved {
        no_problems(problems.into_iter().map(|(_, problem)| problem).collect())?;
    }
    Ok(table)
}

pub fn is_only_in_rounds(session: &Session, seat: &str) -> bool {
    let steps = session.definition.iter().flat_map(|definition| definition.all_steps());
    let info = session.seat_info(seat).zip(session.definition.as_ref());
    info.is_some_and(|(info, definition)| {
        steps.into_iter().all(|step| step.round().is_some() || !info.sits_in(definition, step))
    })
}

/// A seat that cannot answer: it fails with the reason.
struct UnseatedParticipant(String);

impl Participant for UnseatedParticipant {
    fn ask<'a>(&'a self, _: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        let failure = Failure { reason: self.0.clone(), ..Failure::default() };
        std::future::ready(Err(failure)).boxed()
    }
}

/// Seats everyone of a header's roster who may still be asked; with the seats that cannot answer come the
/// reasons: a key is missing, a recording cannot be read, the user has not agreed. Nothing is run or sent.
pub fn seated(
    session: &Session,
    catalog: &mut ParticipantFactory<'_>,
    answers: &Answers,
) -> (SeatedParticipants, Vec<(String, Diagnostic)>) {
    let mut table = SeatedParticipants::new();
    let mut problems: Vec<(String, Diagnostic)> = Vec::new();
    let mut made: HashMap<&str, Arc<dyn Participant>> = HashMap::new();
    for asked in asked(session, answers) {
        let file = file_of(session);
        if let Some(why) = nobody(session, asked.seat, answers) {
            made.insert(&asked.seat.name, Arc::new(UnseatedParticipant(why.to_owned())));
            continue;
        }
        let participant = match (asked.program, asked.with_tools(catalog, file)) {
            (Some(program), _) => catalog.program(program, file),
            (None, Some(found)) => catalog.program_seat(found),
            (None, None) => catalog.participant(&asked.seat.model),
        };
        match participant {
            Ok(participant) => drop(made.insert(&asked.seat.name, participant)),
            Err(problem) => {
                let reason =
                    problem.hint.iter().fold(problem.message.clone(), |why, hint| format!("{why}: {hint}"));
                made.insert(&asked.seat.name, Arc::new(UnseatedParticipant(reason)));
                // Another model of its list answers then.
                if !asked.models[1..].iter().any(|model| catalog.participant(model).is_ok()) {
                    problems.push((asked.seat.name.clone(), problem));
                }
            }
        }
    }
    let Some(definition) = &session.definition else { return (table, problems) };
    for seat in session.roster.values() {
        let parts = answers.parts(definition, &seat.name);
        let participant: Arc<dyn Participant> = match made.remove(seat.name.as_str()) {
            Some(participant) if parts.is_empty() => participant,
            otherwise => Arc::new(ScriptedParticipant::new(
                parts.clone(),
                used(session, &seat.name, &parts, answers.has_lost_key),
                otherwise,
            )),
        };
        table.insert(seat.name.clone(), participant);
    }
    (table, problems)
}

/// Why nobody answers for a seat when it is asked, though the session may go on: it has no model, or a
/// placeholder would pass for the script that gave its earlier answers.
fn nobody(session: &Session, seat: &SeatInfo, answers: &Answers) -> Option<&'static str> {
    if seat.has_no_model() {
        return Some("no model is named for this seat");
    }
    let parts = answers.parts(session.definition.as_ref()?, &seat.name);
    let is_left = |step: &String| !parts.contains_key(step);
    let is_lost = seat.is_rehearsal() && !session.rehearses() && seat.scripted.iter().any(is_left);
    is_lost.then_some("its answers come from a script; give the script with `--answers`")
}

/// Counts the scripted answers of each step that a seat has used. One that was sealed under a lost key is
/// given again.
fn used(
    session: &Session,
    seat: &str,
    parts: &HashMap<String, ScriptedSeat>,
    has_lost_key: bool,
) -> HashMap<String, usize> {
    let mut used = HashMap::new();
    // A copy of a step for one item may be scripted under the id that the step was written with.
    let key = |step: &str| {
        [step, written_id(step)].into_iter().find(|id| parts.contains_key(*id)).map(str::to_owned)
    };
    for round in &session.rounds {
        let Some(key) = key(&round.opened.step) else { continue };
        let tries = match round.seat(seat).map(|seat| &seat.status) {
            Some(SeatStatus::Revealed(answer, _)) => answer.record.replies.len(),
            Some(SeatStatus::Sealed(_)) if has_lost_key => 0,
            Some(SeatStatus::Failed(_) | SeatStatus::Sealed(_)) => 1,
            _ => 0,
        };
        *used.entry(key).or_insert(0) += tries;
    }
    for item in session.items.values().filter(|item| item.offered.participant == seat) {
        let Some(key) = key(&item.offered.step) else { continue };
        // A try that failed on the way used one answer up beside those that came.
        let of_try = |back: &WorkItemReturned| {
            let is_counted = |reply: &ReplyAttempt| reply.reason.is_none();
            let ended = back.record.replies.last().is_some_and(is_counted) || back.record.replies.len() == 2;
            back.record.replies.len() + usize::from(!ended)
        };
        let tries: usize = item.returned.iter().map(|(back, _)| of_try(back)).sum();
        *used.entry(key).or_insert(0) += tries;
    }
    used
}
