//! Creation of a session's participants and of its file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::{Map, Value};

use super::environment::{Environment, PROGRAM, random};
use super::error::{RunError, no_problems};
use super::needs::{RosterSeat, budget, file_of, needs, outside, roster};
use super::plan::LaunchOptions;
use super::prepare::{Tell, check_answers, opened};
use super::scripted_answers::Answers;
use super::wrapped::wrapped_seats;
use crate::config::ParticipantFactory;
use crate::config::evidence::EvidenceReader;
use crate::core::Command;
use crate::diagnostic::Diagnostic;
use crate::engine::{Budget, SeatedParticipants};
use crate::history::{Door, SeatInfo, SeatStatus, Session, SessionOpened, WorkItemReturned};
use crate::journal::{Disk, Journal, KeyStore, OpenedJournal, SessionClaim, TABLE_KEY};
use crate::participants::human::HumanQueue;
use crate::participants::scripted::{Script, ScriptedParticipant, ScriptedReply};
use crate::participants::{Failure, Participant, Reply, SeatRequest};
use crate::round::answer::ReplyAttempt;
use crate::round::seal::sign::SigningKey;
use crate::workflow::written_id;

/// Session with all participants, and with its file open.
pub struct ReadySession {
    /// State at the start; of a new session, as its header opens it.
    pub session: Session,
    pub start: Command,
    pub journal: Journal,
    /// Prevents another process from running the session in a copy of its file.
    pub claim: SessionClaim,
    pub table: SeatedParticipants,
    pub answers: Answers,
    pub budget: Option<Budget>,
    /// Command line's evidence, as shown in a snapshot.
    pub evidence: Vec<Map<String, Value>>,
    pub evidence_reader: EvidenceReader,
    pub path: PathBuf,
}

/// Starts and resumes sessions; people are asked through `desk`.
#[derive(Clone, Copy)]
pub struct Launcher<'a> {
    pub options: &'a LaunchOptions,
    pub set_up: &'a Environment,
    pub desk: Option<&'a HumanQueue>,
}

impl Launcher<'_> {
    /// Returns the header with the measurements of its programs. Measures unknown programs, which takes up to 20
    /// s each and is announced to `tell`.
    pub fn measured(&self, header: &SessionOpened, tell: Tell<'_>) -> Result<SessionOpened, RunError> {
        let session = opened(header, crate::clock::now());
        let answers = self.options.answers_of(&session);
        let mut found = wrapped_seats(&session, &answers, self.set_up, self.options.mode, tell)?;
        let mut header = header.clone();
        for seat in &mut header.participants {
            seat.wrapped = found.remove(&seat.name);
        }
        Ok(header)
    }

    /// Prepares a new session and creates its file. `header` is a result of [`measured`](Self::measured).
    pub fn begin(&self, mut header: SessionOpened, path: &Path) -> Result<ReadySession, RunError> {
        if header.participants.iter().any(|seat| seat.remote.is_some()) {
            header.table_key = Some(make_table_key(&header, self.set_up)?);
        }
        let session = opened(&header, crate::clock::now());
        let create = || {
            Journal::create(&Disk::default(), path).map_err(|error| {
                let problem = Diagnostic::new(error.to_string()).hint(match error.cause.kind() {
                    std::io::ErrorKind::AlreadyExists => "--save does not overwrite; choose another path",
                    _ => "check the folder's permissions and room, or give another path with --save",
                });
                RunError::unwritable(problem, &error.cause)
            })
        };
        let answers = self.options.answers_of(&session);
        self.ready(session, Command::Open(Box::new(header)), answers, path, create)
    }

    /// Prepares an unfinished session, with the seats it opened with; `tell` receives each warning.
    pub fn resume(
        &self,
        session: Session,
        file: OpenedJournal,
        path: &Path,
        tell: Tell<'_>,
    ) -> Result<ReadySession, RunError> {
        let set_up = self.set_up;
        let mut answers = self.options.answers_of(&session);
        answers.resume(&session);
        let keys = set_up.keys();
        let is_lost = |number| matches!(keys.find(&session.id, number), Ok(None));
        answers.has_lost_key = session.open_round().is_some_and(|round| is_lost(round.opened.number));
        check_answers(self.options, session.definition(), file_of(&session), tell)?;
        let bounds = set_up.folders.path_policy(path.to_str());
        no_problems(outside(&session, &answers, &bounds))?;
        set_up.trust.check_all(&needs(&session, set_up, &answers, self.options.max_usd)?)?;
        wrapped_seats(&session, &answers, set_up, self.options.mode, tell)?;
        let start = Command::Resume { program: PROGRAM.to_owned(), torn_bytes: Some(file.log.torn as u64) };
        self.ready(session, start, answers, path, || Ok(file.journal))
    }

    /// Creates the participants, and opens the session's file last.
    fn ready(
        &self,
        session: Session,
        start: Command,
        answers: Answers,
        path: &Path,
        open: impl FnOnce() -> Result<Journal, RunError>,
    ) -> Result<ReadySession, RunError> {
        Ok(ReadySession {
            table: self.table(&session, &answers)?,
            budget: budget(self.options.max_usd, &session, &answers, self.set_up)?,
            evidence_reader: self.set_up.sending_reader(&session),
            claim: claim(&session.id, self.set_up)?,
            journal: open()?,
            session,
            start,
            answers,
            evidence: self.options.evidence.clone(),
            path: path.to_owned(),
        })
    }

    /// Creates the participants. With a person at the screen, a broken seat that sits only in rounds fails when
    /// it is asked; the person can then choose another model. Otherwise a broken seat is an error.
    fn table(&self, session: &Session, answers: &Answers) -> Result<SeatedParticipants, Vec<Diagnostic>> {
        let (table, problems) = seated(session, &mut self.set_up.catalog().with_desk(self.desk), answers);
        let is_saved =
            self.desk.is_some() && problems.iter().all(|(seat, _)| is_only_in_rounds(session, seat));
        if !is_saved {
            no_problems(problems.into_iter().map(|(_, problem)| problem).collect())?;
        }
        Ok(table)
    }
}

/// Claims a session for this process. Two processes with copies of it would share its round keys.
fn claim(session: &str, set_up: &Environment) -> Result<SessionClaim, RunError> {
    set_up.keys().claim(session).map_err(|error| {
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

/// Creates and stores the key that signs a session's offers; returns its public key. A session with workers uses
/// this machine's lasting key, which they know.
fn make_table_key(header: &SessionOpened, set_up: &Environment) -> Result<String, Diagnostic> {
    let keys = set_up.keys();
    let is_workers = |seat: &SeatInfo| seat.remote.as_ref().is_some_and(|remote| remote.door == Door::Nats);
    let key = if header.participants.iter().any(is_workers) {
        lasting_table_key(&keys)?
    } else {
        SigningKey::new(random()?)
    };
    keys.keep_table_key(&header.session, &key).map_err(|error| no_table_key(&error))?;
    Ok(key.public())
}

/// Returns the key by which workers know this machine; creates it if needed.
pub fn lasting_table_key(keys: &KeyStore) -> Result<SigningKey, Diagnostic> {
    keys.lasting_key(TABLE_KEY, random()?).map_err(|error| no_table_key(&error))
}

fn no_table_key(error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::new(format!("cannot make the key that signs offers: {error}"))
}

pub fn is_only_in_rounds(session: &Session, seat: &str) -> bool {
    let definition = session.definition();
    let in_rounds = |info: &SeatInfo| {
        definition.all_steps().all(|step| step.round().is_some() || !info.sits_in(definition, step))
    };
    session.seat_info(seat).is_some_and(in_rounds)
}

/// Seat that cannot answer; it fails with this reason.
struct UnseatedParticipant(String);

impl Participant for UnseatedParticipant {
    fn ask<'a>(&'a self, _: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        let failure = Failure { reason: self.0.clone(), ..Failure::default() };
        std::future::ready(Err(failure)).boxed()
    }
}

/// Creates the participants of a session. Also returns the seats that cannot answer, with the reason: no key, no
/// consent or an unreadable recording. Sends nothing.
pub fn seated(
    session: &Session,
    catalog: &mut ParticipantFactory<'_>,
    answers: &Answers,
) -> (SeatedParticipants, Vec<(String, Diagnostic)>) {
    let (mut table, mut problems) = (SeatedParticipants::new(), Vec::new());
    for of_seat in roster(session, answers) {
        let seat = of_seat.seat;
        let own = of_seat.is_asked.then(|| {
            participant(session, &of_seat, catalog).unwrap_or_else(|problem| {
                let hints = problem.hint.iter();
                let reason = hints.fold(problem.message.clone(), |why, hint| format!("{why}: {hint}"));
                // A missing model is reported elsewhere, and another model of the list may answer.
                let has_other = of_seat.models[1..].iter().any(|model| catalog.participant(model).is_ok());
                if !seat.has_no_model() && !has_other {
                    problems.push((seat.name.clone(), problem));
                }
                Arc::new(UnseatedParticipant(reason))
            })
        });
        let parts = of_seat.parts;
        let participant: Arc<dyn Participant> = match own {
            Some(participant) if parts.is_empty() => participant,
            otherwise => {
                let used = used(session, &seat.name, &parts, answers.has_lost_key);
                Arc::new(ScriptedParticipant::new(parts, used, otherwise))
            }
        };
        table.insert(seat.name.clone(), participant);
    }
    (table, problems)
}

fn participant(
    session: &Session,
    asked: &RosterSeat<'_>,
    catalog: &mut ParticipantFactory<'_>,
) -> Result<Arc<dyn Participant>, Diagnostic> {
    match asked.program(catalog, file_of(session)) {
        _ if asked.seat.has_no_model() => Err(Diagnostic::new("no model is named for this seat")),
        Some(found) => catalog.program_seat(found),
        None => catalog.participant(&asked.seat.model),
    }
}

/// Counts the scripted answers that a seat has used, by step, except those sealed under a lost key.
fn used(
    session: &Session,
    seat: &str,
    parts: &HashMap<String, Script<ScriptedReply>>,
    has_lost_key: bool,
) -> HashMap<String, usize> {
    let mut used = HashMap::new();
    // The copy of a step may be scripted under the id written in the definition.
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
        // A request that failed in transport used an answer, but recorded no reply.
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
