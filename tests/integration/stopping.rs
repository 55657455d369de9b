//! Stopping under load: the session pauses within a second.
//!
//! A panic in a seat, the engine or the screen loses nothing that was shown, and restores the terminal.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::FutureExt as _;
use roundtable::config::need::Need;
use roundtable::config::settings::NotifyConfig;
use roundtable::core::ExitCode;
use roundtable::diagnostic::Diagnostic;
use roundtable::history::{Event, LogEntry, SeatInvited, SeatStatus, Session, SessionOpened};
use roundtable::journal::{Disk, read_log};
use roundtable::participants::Failure;
use roundtable::tui::{
    Draft, EngineHandle, Home, Host, ModelSource, OpenTarget, ScreenOptions, SeatChoice, SeatLink,
    StartRefusal, Theme,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::cases;
use crate::patience::{NEVER, SOON, wait_for};
use crate::program::{Desk, ran};
use crate::pty::{Screen, command, start};
use crate::seats::{ONE_ROUND, Place, TWO_ROUNDS, outcome, seated};
use crate::server::{Answer, Server};

/// Returns the limit for promises of "a second": one second in a full run, which has the machine to itself.
pub fn a_second() -> Duration {
    cases(SOON, Duration::from_secs(1))
}

fn table(seats: usize) -> String {
    format!(
        "goal: \"Pick one\"\nparticipants: [{{name: seat, persona: qa-lead, model: openai/test, count: {seats}}}]\nsteps:\n  \
         - {{id: pick, type: round, question: \"Which?\", ballot: {{kind: choice, options: [alpha, beta]}}, rule: plurality}}\n"
    )
}

fn rests(signal: Signal, code: i32, seats: usize) -> Duration {
    let desk = Desk::with(&table(seats));
    let server = Server::start(|_| Answer::chat("vote: alpha").after(NEVER));
    let child = desk.begin(&server, &["decide.yaml", "--save", "s.s2s"]);
    wait_for("all requests", || (server.open() >= seats).then_some(()));
    let sent = Instant::now();
    kill_process(Pid::from_child(&child), signal).expect("sent");
    let output = child.wait_with_output().expect("ends");
    let took = sent.elapsed();
    ran(output).code(code).tells("interrupted").tells("resume with: roundtable resume");
    let last = desk.kept("s.s2s").lines.pop().expect("a line");
    assert!(matches!(last.stamped.event, Event::SessionPaused { .. }), "{last:?}");
    assert_eq!(desk.state("s.s2s").open_round().expect("open").open_seats().count(), seats);
    took
}

#[test]
fn with_2_000_requests_open_a_session_rests_within_a_second() {
    // Every signal pauses the session in the same way.
    for (signal, code, seats) in [(Signal::INT, 130, 2_000), (Signal::TERM, 143, 20), (Signal::HUP, 129, 20)]
    {
        let took = rests(signal, code, seats);
        assert!(took < a_second(), "{signal:?}: {took:?}");
    }
}

#[test]
fn a_closed_terminal_rests_the_session() {
    let (server, seats) = (Server::start(|_| Answer::chat("vote: alpha").after(NEVER)), cases(200, 2_000));
    let desk = Desk::with(&table(seats).replace("openai/test", "lab/m")).served_by(&server);
    let (mut terminal, mut child) = start(command(&desk, &["decide.yaml"]), (80, 24));
    let (mut seen, mut buffer, mut is_open) = (String::new(), [0; 8192], false);
    // The screen keeps drawing while requests are open, so each read returns.
    while server.open() < seats {
        let count = terminal.read(&mut buffer).expect("it draws");
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if !is_open && seen.contains("quit") {
            terminal.write_all(b"o").expect("typed");
            is_open = true;
        }
    }
    let closed = Instant::now();
    drop(terminal);
    assert_eq!(child.wait().expect("ends").code(), Some(129));
    assert!(closed.elapsed() < SOON, "{:?}", closed.elapsed());
    let log = read_log(&std::fs::read(desk.session()).expect("a file")).expect("whole");
    assert!(matches!(log.lines.last().expect("a line").stamped.event, Event::SessionPaused { .. }));
}

fn broken() -> Failure {
    panic!("Quetzalcoatl-7319")
}

#[test]
fn a_panic_at_a_seat_is_that_seats_failure() {
    let place = Place::fresh();
    let ran = place.start_with(ONE_ROUND, &seated(&["bob"], |_| async { Err(broken()) }.boxed()));
    assert_eq!(ran.done, Ok(ExitCode::Finished));
    let session = place.session();
    let seats = &session.rounds[0].seats;
    let SeatStatus::Failed(failed) = &seats["bob"].status else { panic!("{:?}", seats["bob"].status) };
    assert!(!failed.reason.is_empty() && !failed.reason.contains("Quetzalcoatl"), "{}", failed.reason);
    assert_eq!(session.rounds[0].sealed(), 2);
    place.verify();
}

#[test]
fn a_panic_in_the_engines_own_task_loses_nothing_that_was_shown() {
    let dir = tempfile::tempdir().expect("a folder");
    let expected = Place::new(Disk::default(), &dir.path().join("clean"));
    let mut all = 0;
    assert_eq!(expected.start_watched(TWO_ROUNDS, &mut |_| all += 1), Ok(ExitCode::Finished));
    for at in 0..all {
        let place = Place::new(Disk::default(), &dir.path().join(at.to_string()));
        let mut shown: Vec<String> = Vec::new();
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            place.start_watched(TWO_ROUNDS, &mut |line| {
                assert!(shown.len() < at, "broken on purpose");
                shown.push(line.hash.clone());
            })
        }));
        assert!(ran.is_err(), "event {at}");
        let log = read_log(&std::fs::read(place.file()).expect("a file")).expect("readable");
        let held: Vec<&String> = log.lines.iter().map(|line| &line.hash).take(shown.len()).collect();
        assert_eq!(held, shown.iter().collect::<Vec<_>>(), "event {at}");
        place.reaches(TWO_ROUNDS, &outcome(&expected.session()), &format!("event {at}"));
    }
}

/// A host that panics when a draft is restored, and if configured also when the home screen is read.
struct Void {
    home_panics: bool,
}

impl Host for Void {
    fn home(&self) -> Home {
        assert!(!self.home_panics, "Quetzalcoatl-7320");
        Home::default()
    }
    fn draft(&self, _: &OpenTarget, _: &SeatChoice) -> Result<Draft, Vec<Diagnostic>> {
        Err(Vec::new())
    }
    fn sources(&self) -> Vec<ModelSource> {
        Vec::new()
    }
    fn use_model(&self, _: &str) -> Result<(), Diagnostic> {
        Ok(())
    }
    fn measure(
        &self,
        opened: &SessionOpened,
        _: &mut dyn FnMut(&Diagnostic),
    ) -> Result<SessionOpened, StartRefusal> {
        Ok(opened.clone())
    }
    fn begin(&self, _: &SessionOpened) -> Result<EngineHandle, StartRefusal> {
        Err(Vec::new().into())
    }
    fn resume(
        &self,
        _: &Path,
        _: &mut dyn FnMut(&Diagnostic),
    ) -> Result<(Vec<LogEntry>, EngineHandle), StartRefusal> {
        Err(Vec::new().into())
    }
    fn fork(&self, _: &Path, _: u64) -> Result<PathBuf, StartRefusal> {
        Err(Vec::new().into())
    }
    fn invite(&self, _: &Session, _: &str) -> Result<(SeatInvited, SeatLink), Diagnostic> {
        Err(Diagnostic::new("nobody"))
    }
    fn agree(&self, _: &[Need]) -> Result<(), Diagnostic> {
        Ok(())
    }
    fn load_replay(&self, _: &Path) -> Result<(Vec<LogEntry>, Option<String>), Vec<Diagnostic>> {
        Err(Vec::new())
    }
    fn paths(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
    fn context(&self) -> Result<Option<String>, Diagnostic> {
        Ok(None)
    }
    fn doctor(&self) -> String {
        String::new()
    }
    fn report(&self, _: &Session) -> Result<String, Diagnostic> {
        Ok(String::new())
    }
    fn keep(&self, _: &str, _: Option<&str>) -> Result<(), Diagnostic> {
        Ok(())
    }
    fn kept(&self, _: &str) -> Option<String> {
        panic!("Quetzalcoatl-7319")
    }
}

/// Runs the screen for the next test, on a separate terminal.
#[test]
fn on_a_terminal() {
    let Ok(what) = std::env::var("STOPPING_ON_A_TERMINAL") else { return };
    let world = Arc::new(Void { home_panics: what == "home" });
    let looks = ScreenOptions { theme: Theme::from_environment(|_| None), notify: NotifyConfig::Bell };
    let _ = roundtable::tui::run(world, None, looks);
}

fn world(desk: &Desk, what: &str) -> Screen {
    let program = std::env::current_exe().expect("a test");
    let arguments = ["stopping::on_a_terminal", "--exact", "--nocapture", "--test-threads=1"];
    let mut command = Command::new(program);
    command.args(arguments).current_dir(desk.path("")).env("STOPPING_ON_A_TERMINAL", what);
    command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
    Screen::run(command, (80, 24))
}

#[test]
fn a_panic_on_another_thread_is_shown_on_the_screen() {
    let desk = Desk::new();
    let mut screen = world(&desk, "home");
    screen.wait_for(&["Internal error"]);
    screen.kill();
}

#[test]
fn a_panic_under_the_screen_gives_the_terminal_back() {
    let desk = Desk::new();
    let mut screen = world(&desk, "form");
    screen.wait_for(&["n new"]);
    screen.send("n");
    let (code, raw) = screen.end();
    let raw = String::from_utf8_lossy(&raw);
    let taken = raw.rfind("\u{1b}[?1049h").expect("the terminal was taken");
    let given = raw.rfind("\u{1b}[?1049l").expect("the terminal is given back");
    assert!(taken < given && code != 0, "{code}: {raw}");
    assert!(raw.rfind("\u{1b}[?25h") >= raw.rfind("\u{1b}[?25l"), "the cursor");
}
