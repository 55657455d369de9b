//! Session in this process, with seats and storage of the test's choice.
//!
//! Uses the engine and the journal, but no service, command line or real clock.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use roundtable::core::{Command, ExitCode};
use roundtable::engine::{
    Budget, Engine, EngineConfig, Facilitator, FacilitatorRequest, Observer, ReplacementSeat, SeatReplacer,
    SeatedParticipants, WaitPoint,
};
use roundtable::history::{LogEntry, PauseReason, Session, SessionOpened};
use roundtable::journal::{Disk, Journal, KeyStore, fold, read_log, verify};
use roundtable::launch::headless::HeadlessFacilitator;
use roundtable::launch::scripted_answers::Answers;
use roundtable::participants::progress::ProgressBoard;
use roundtable::participants::{Failure, Participant, Reply, SeatRequest};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::patience::PATIENCE;
use crate::sitting;

/// Two rounds of three seats; [`says`] has their answers.
pub const TWO_ROUNDS: &str = "\
id: two
goal: \"Pick one\"
participants: [ann, bob, cyd]
steps:
  - {id: first, type: round, question: \"Which first?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality}
  - {id: second, type: round, question: \"Which then?\", ballot: {kind: choice, options: [alpha, beta]}, rule: majority}
";

/// Two rounds with an agent's work and a transform between them.
pub const WORKFLOW: &str = "\
goal: \"Pick one\"
participants: [ann, bob, cyd]
steps:
  - {id: first, type: round, question: \"Which first?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality, next: note}
  - {id: note, type: agent, agent: ann, prompt: \"Sum up {{context.first.tally.winners}}.\", next: pick}
  - {id: pick, type: transform, transform: note.result, next: second}
  - {id: second, type: round, question: \"Which then?\", ballot: {kind: choice, options: [alpha, beta]}, rule: majority}
";

pub const ONE_ROUND: &str = "\
goal: \"Pick one\"
participants: [ann, bob, cyd]
steps:
  - {id: pick, type: round, question: \"Which?\", ballot: {kind: choice, options: [alpha, beta]}, rule: majority}
";

type Seating<'a> = &'a dyn Fn(SeatedParticipants) -> SeatedParticipants;
type Said = BoxFuture<'static, Result<Reply, Failure>>;

pub struct Does<F>(pub F);

impl<F: Fn(SeatRequest) -> Said + Send + Sync> Participant for Does<F> {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        self.0(ask.clone())
    }
}

pub fn seated(
    names: &[&'static str],
    does: impl Fn(SeatRequest) -> Said + Send + Sync + 'static,
) -> impl Fn(SeatedParticipants) -> SeatedParticipants {
    let (names, seat): (_, Arc<dyn Participant>) = (names.to_vec(), Arc::new(Does(does)));
    move |mut table| {
        table.extend(names.iter().map(|name| ((*name).to_owned(), Arc::clone(&seat))));
        table
    }
}

/// Takes an hour, or until the deadline.
pub fn slow(ask: SeatRequest) -> Said {
    async move {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok(said(&ask))
    }
    .boxed()
}

pub fn unreachable(_: SeatRequest) -> Said {
    let reason = "cannot connect to `models.example`".to_owned();
    std::future::ready(Err(Failure { tries: 3, ..Failure::from(reason) })).boxed()
}

pub fn said(ask: &SeatRequest) -> Reply {
    Reply { text: says(&ask.seat, &ask.step), tries: 1, ..Reply::default() }
}

pub fn says(seat: &str, step: &str) -> String {
    let vote = if (seat == "bob") == (step == "first") { "beta" } else { "alpha" };
    format!("vote: {vote}\nrationale: [\"so says {seat}\"]\n")
}

type Watching<'a> = &'a mut (dyn FnMut(&LogEntry) + Send);

/// Passes each line to a callback, and keeps none.
struct Watch<'a>(Watching<'a>);

impl Observer for Watch<'_> {
    fn on_event(&mut self, line: &LogEntry, _: &Session) {
        (self.0)(line);
    }
}

pub type Screen<'a> = &'a mut (dyn FnMut(&LogEntry, &Session) -> Vec<FacilitatorRequest> + Send);

struct AtScreen<'a> {
    screen: Screen<'a>,
    orders: UnboundedSender<FacilitatorRequest>,
    seen: Vec<LogEntry>,
}

impl Observer for AtScreen<'_> {
    fn on_event(&mut self, line: &LogEntry, session: &Session) {
        self.seen.push(line.clone());
        for order in (self.screen)(line, session) {
            self.orders.send(order).expect("the engine listens");
        }
    }
}

struct Person {
    orders: UnboundedReceiver<FacilitatorRequest>,
    refused: Vec<String>,
}

impl Facilitator for Person {
    fn next_request<'a>(
        &'a mut self,
        _: Option<&'a WaitPoint>,
        _: &'a Session,
    ) -> BoxFuture<'a, Result<FacilitatorRequest, String>> {
        let left = || FacilitatorRequest::Leave { reason: PauseReason::Left };
        self.orders.recv().map(move |order| Ok(order.unwrap_or_else(left))).boxed()
    }

    fn on_refused(&mut self, why: &str) {
        self.refused.push(why.to_owned());
    }

    fn is_person(&self) -> bool {
        true
    }
}

pub struct Place {
    pub disk: Disk,
    pub dir: PathBuf,
    pub clock: Clock,
    pub diary: Diary,
    pub budget: Option<Budget>,
    #[expect(dead_code, reason = "its folder, where it is its own, goes with it")]
    pub folder: Option<tempfile::TempDir>,
}

#[derive(Clone, Default)]
pub struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    pub fn note(&self, entry: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry.into());
    }

    pub fn entries(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Clock of the seats' delays.
#[derive(Clone, Copy)]
pub enum Clock {
    /// Jumps to the next timer, so that every run is the same.
    Paused,
    /// Real time, on several threads.
    Real,
}

pub struct Ran {
    pub done: Result<ExitCode, String>,
    pub seen: Vec<LogEntry>,
}

struct Begun {
    session: Session,
    journal: Journal,
    table: SeatedParticipants,
    start: Command,
}

impl Place {
    pub fn new(disk: Disk, dir: &Path) -> Self {
        let (dir, clock, diary) = (dir.to_owned(), Clock::Paused, Diary::default());
        Self { disk, dir, clock, diary, budget: None, folder: None }
    }

    /// Returns a place in a temporary folder.
    pub fn fresh() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().to_owned();
        Self { folder: Some(folder), ..Self::new(Disk::default(), &dir) }
    }

    /// Returns a place with a finished session of `definition`.
    pub fn finished(definition: &str) -> Self {
        let place = Self::fresh();
        assert_eq!(place.start(definition).done, Ok(ExitCode::Finished));
        place
    }

    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.file()).expect("a file")
    }

    pub fn file(&self) -> PathBuf {
        self.dir.join("sessions/s.s2s")
    }

    pub fn keys(&self) -> Vec<PathBuf> {
        let listed = std::fs::read_dir(self.dir.join("keys")).into_iter().flatten();
        listed.map(|entry| entry.expect("listed").path()).collect()
    }

    fn begin(&self, definition: &str, seat: Seating<'_>) -> Result<Begun, String> {
        let header = header(definition);
        let journal = Journal::create(&self.disk, &self.file());
        let journal = journal.map_err(|error| error.to_string())?;
        let table = seat(table(header.participants.iter().map(|seat| seat.name.as_str()), &self.diary));
        Ok(Begun { session: Session::default(), journal, table, start: Command::Open(Box::new(header)) })
    }

    pub fn start(&self, definition: &str) -> Ran {
        self.start_with(definition, &|table| table)
    }

    /// Does the same with other seats.
    pub fn start_with(&self, definition: &str, seat: Seating<'_>) -> Ran {
        match self.begin(definition, seat) {
            Ok(begun) => self.run(begun, true),
            Err(error) => Ran { done: Err(error), seen: Vec::new() },
        }
    }

    /// Runs a new session and keeps no events; `watch` sees each.
    pub fn start_watched(&self, definition: &str, watch: Watching<'_>) -> Result<ExitCode, String> {
        self.work(self.begin(definition, &|table| table)?, true, watch)
    }

    /// Runs a new session with a facilitator at the screen; returns the refusals, too.
    pub fn start_live(&self, definition: &str, seat: Seating<'_>, screen: Screen<'_>) -> (Ran, Vec<String>) {
        self.start_live_with(definition, seat, screen, Box::new(newcomer))
    }

    /// Does the same with other replacement seats.
    pub fn start_live_with(
        &self,
        definition: &str,
        seat: Seating<'_>,
        screen: Screen<'_>,
        seating: SeatReplacer<'_>,
    ) -> (Ran, Vec<String>) {
        let begun = self.begin(definition, seat).expect("a journal");
        let (orders, taken) = unbounded_channel();
        let mut screen = AtScreen { screen, orders, seen: Vec::new() };
        let mut person = Person { orders: taken, refused: Vec::new() };
        let (mut engine, start) = self.engine(begun, &mut screen, &mut person, seating);
        let done = self.finish(async {
            engine.stage(start).map_err(|error| error.to_string())?;
            engine.run().await.map_err(|error| error.to_string())
        });
        drop(engine);
        (Ran { done, seen: screen.seen }, person.refused)
    }

    fn engine<'a>(
        &self,
        Begun { session, journal, table, start }: Begun,
        observer: &'a mut dyn Observer,
        facilitator: &'a mut dyn Facilitator,
        replace_seat: SeatReplacer<'a>,
    ) -> (Engine<'a>, Command) {
        let engine = Engine::new(
            session,
            journal,
            EngineConfig {
                keys: self.key_store(),
                participants: table,
                evidence: Box::new(|_| Err("no evidence".to_owned())),
                context_file: Box::new(|| Ok(None)),
                tasks_file: Box::new(|_, _| Ok(())),
                replace_seat,
                observer,
                facilitator,
                interrupt: CancellationToken::new(),
                budget: self.budget.clone(),
                progress: ProgressBoard::default(),
            },
        );
        (engine, start)
    }

    fn key_store(&self) -> KeyStore {
        KeyStore::new(self.disk.clone(), &self.dir.join("keys"))
    }

    /// Runs a session to its end; fails if it does not end.
    fn finish(&self, work: impl Future<Output = Result<ExitCode, String>>) -> Result<ExitCode, String> {
        // A paused clock jumps to the end of the wait as soon as nothing runs.
        let (mut runtime, limit) = match self.clock {
            Clock::Paused => (Builder::new_current_thread(), PATIENCE * 1_000_000),
            Clock::Real => (Builder::new_multi_thread(), PATIENCE),
        };
        if let Clock::Paused = self.clock {
            runtime.start_paused(true);
        }
        let runtime = runtime.enable_all().build().expect("a runtime");
        let ended = runtime.block_on(async { tokio::time::timeout(limit, work).await });
        ended.expect("the session comes to its end")
    }

    /// Resumes the session in the file.
    pub fn resume(&self, ask_again: bool) -> Ran {
        let with = |done| Ran { done, seen: Vec::new() };
        let opened = match Journal::open(&self.disk, &self.file()) {
            Ok(opened) => opened,
            Err(error) => return with(Err(error.to_string())),
        };
        let session = fold(&opened.log);
        if session.closed.is_some() {
            self.key_store().erase_all(&session);
            return with(Ok(ExitCode::Finished));
        }
        let table = table(session.roster.keys().map(String::as_str), &self.diary);
        let start = Command::Resume { program: "test".to_owned(), torn_bytes: Some(opened.log.torn as u64) };
        self.run(Begun { session, journal: opened.journal, table, start }, ask_again)
    }

    /// Resumes the session in the file, or starts it without one, and checks the outcome.
    #[track_caller]
    pub fn reaches(&self, definition: &str, expected: &[RoundOutcome], what: &str) {
        let log = std::fs::read(self.file()).ok().map(|bytes| read_log(&bytes).expect("readable"));
        let ran = if log.is_none_or(|log| log.lines.is_empty()) {
            let _ = std::fs::remove_file(self.file());
            self.start(definition)
        } else {
            self.resume(false)
        };
        assert_eq!(ran.done, Ok(ExitCode::Finished), "{what}");
        assert_eq!(outcome(&self.session()), expected, "{what}");
        self.verify();
    }

    pub fn session(&self) -> Session {
        fold(&read_log(&self.bytes()).expect("readable"))
    }

    #[track_caller]
    pub fn verify(&self) {
        assert_eq!(verify(&self.bytes(), None).findings, []);
    }

    fn run(&self, begun: Begun, ask_again: bool) -> Ran {
        let mut seen = Vec::new();
        let done = self.work(begun, ask_again, &mut |line| {
            seen.push(line.clone());
            self.diary.note("shown");
        });
        Ran { done, seen }
    }

    fn work(&self, begun: Begun, ask_again: bool, watch: Watching<'_>) -> Result<ExitCode, String> {
        let mut facilitator = HeadlessFacilitator::new(Answers::default(), ask_again);
        let mut observer = Watch(watch);
        let (mut engine, start) = self.engine(begun, &mut observer, &mut facilitator, Box::new(newcomer));
        self.finish(async {
            engine.erase_old_keys();
            engine.stage(start).map_err(|error| error.to_string())?;
            engine.run().await.map_err(|error| error.to_string())
        })
    }
}

/// Part of a round that must not depend on interruptions.
#[derive(Debug, PartialEq, Eq)]
pub struct RoundOutcome {
    round: String,
    snapshot_sha256: String,
    ballots: Vec<String>,
    winners: Option<Vec<String>>,
}

pub fn outcome(session: &Session) -> Vec<RoundOutcome> {
    let of_round = |round: &roundtable::history::RoundRun| {
        let votes = round.seats.values().map(|seat| match &seat.status {
            roundtable::history::SeatStatus::Revealed(answer, _) => format!("{:?}", answer.ballot),
            other => format!("{other:?}"),
        });
        let winners = round.tally.as_ref().map(|tally| tally.verdict.winners.clone());
        let (name, snapshot) = (round.opened.round.clone(), round.opened.snapshot_sha256.clone());
        RoundOutcome { round: name, snapshot_sha256: snapshot, ballots: votes.collect(), winners }
    };
    session.rounds.iter().map(of_round).collect()
}

/// Returns the header of a session of `definition`; each participant has a persona of the same name.
pub fn header(definition: &str) -> SessionOpened {
    let source = roundtable::workflow::Source { text: definition, file: "two.yaml", id: "two" };
    let loaded = roundtable::workflow::load(source).expect("a definition");
    let names: Vec<&str> = loaded.participants.iter().map(|seat| seat.name.as_str()).collect();
    let seats: Vec<_> = names.iter().map(|name| sitting::seat(name, "test/test")).collect();
    let personas: Vec<_> =
        names.iter().map(|name| sitting::persona(name, &format!("You are {name}.\n"))).collect();
    let mut header = sitting::header(definition, &seats, &personas);
    header["session"] = "20260101-000000-two-0000".into();
    header["input"] = "Pick one".into();
    serde_json::from_value(header).expect("a header")
}

pub fn newcomer(model: &str) -> Result<ReplacementSeat, String> {
    if model == "nobody/here" {
        return Err("unknown provider `nobody`".to_owned());
    }
    Ok(ReplacementSeat { participant: seat(Duration::from_millis(1), Diary::default()), price: None })
}

fn seat(after: Duration, diary: Diary) -> Arc<dyn Participant> {
    Arc::new(Does(move |ask: SeatRequest| {
        diary.note("asked");
        async move {
            tokio::time::sleep(after).await;
            Ok(said(&ask))
        }
        .boxed()
    }))
}

fn table<'a>(names: impl Iterator<Item = &'a str>, diary: &Diary) -> SeatedParticipants {
    let after = |index: usize| Duration::from_millis(10 * index as u64);
    names.enumerate().map(|(index, name)| (name.to_owned(), seat(after(index), diary.clone()))).collect()
}
