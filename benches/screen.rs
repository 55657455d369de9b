//! Response times of the screen: first frame, keys, seeking.
//!
//! The program runs in a pseudo-terminal; its drawing functions are also measured directly. Run with `cargo
//! bench --bench screen`; a number after `--` sets the events of the long session.

mod synthetic_session;

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Command, Pty};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use roundtable::history::{Event, LogEntry};
use roundtable::tui::{
    Draft, EngineUpdate, LiveSession, Message, Mode, Model, OpenTarget, Replay, SeatChoice, Theme, draw,
    update,
};

fn main() {
    let (flags, args): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    // As a test, checks only that the benchmark works.
    let is_bench = flags.iter().any(|flag| flag == "--bench");
    let events = args.first().map(|events| events.parse().expect("a number"));
    let events = events.unwrap_or(if is_bench { 100_000 } else { 2_000 });
    let repeat = if is_bench { 9 } else { 1 };
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on disk");
    println!("| what | median | most |\n|---|---:|---:|");
    row(
        "first frame of the home screen, from start",
        &(0..repeat).map(|_| first_frame(home.path(), &[], "quit")).collect::<Vec<_>>(),
    );
    let (seats, news) = if is_bench { (10_000, 2_000) } else { (200, 50) };
    row(&format!("one frame of an open round with {seats} seats"), &frames(seats, repeat * 20));
    row(&format!("a key and its frame while {news} seats report"), &keys(news));
    row("a key and its frame in a draft of 2,000 seats of one model", &keys_of_draft(2000, 0, repeat));
    row("a key and its frame in a draft with 250 KB of background", &keys_of_draft(5, 250_000, repeat));
    let file = home.path().join("long.s2s");
    let bytes = synthetic_session::write(&file, events);
    let what = format!("{events} events, {} MB", bytes / 1_000_000);
    let path = file.to_str().expect("UTF-8");
    let (mut screen, whole, seeks) = replay(home.path(), path, events, repeat);
    row(&format!("first frame of a replay of {what}"), &[whole]);
    row("a seek anywhere in it, and its frame", &seeks);
    let idle = idle(&mut screen);
    println!("| processor time in 2 s in which nothing happens | {idle:.0} ms | |");
    row("a key after its report was asked for", &[screen.press("R?", "Keys")]);
    screen.press("q", "event");
    screen.press("F", "Fork");
    row("a key while it is forked", &[screen.press("y?", "Keys")]);
    screen.press("q", "Forking");
    row("a cancelled fork", &[screen.press("\x1b", "Cancelled")]);
    row("back to the home screen", &[screen.press("\x1b", "can answer")]);
}

fn row(what: &str, figures: &[f64]) {
    let mut figures = figures.to_vec();
    figures.sort_by(f64::total_cmp);
    let (median, most) = (figures[figures.len() / 2], figures[figures.len() - 1]);
    println!("| {what} | {median:.1} ms | {most:.1} ms |");
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

struct Screen {
    terminal: Arc<Pty>,
    child: Child,
    chunks: Receiver<Vec<u8>>,
    parser: vt100::Parser,
}

impl Screen {
    fn open(home: &Path, arguments: &[&str]) -> Self {
        let (terminal, end) = pty_process::blocking::open().expect("a terminal");
        terminal.resize(Size::new(40, 120)).expect("a size");
        let command = Command::new(env!("CARGO_BIN_EXE_roundtable")).args(arguments).current_dir(home);
        let command = command.env("ROUNDTABLE_HOME", home).env("TERM", "xterm-256color");
        let child = command.spawn(end).expect("starts");
        let terminal = Arc::new(terminal);
        let out = Arc::clone(&terminal);
        let (send, chunks) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            while let Ok(count @ 1..) = (&*out).read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let cells = |count| std::num::NonZeroU16::new(count).expect("a size");
        let parser = vt100::Parser::new(cells(40), cells(120), 0);
        Self { terminal, child, chunks, parser }
    }

    /// Waits until the screen shows these words.
    fn wait_for(&mut self, words: &str) {
        while !self.parser.screen().contents().contains(words) {
            let chunk = self.chunks.recv_timeout(Duration::from_secs(60));
            self.parser
                .process(&chunk.unwrap_or_else(|_| panic!("{words}:\n{}", self.parser.screen().contents())));
        }
    }

    fn press(&mut self, keys: &str, words: &str) -> f64 {
        let started = Instant::now();
        (&*self.terminal).write_all(keys.as_bytes()).expect("typed");
        self.wait_for(words);
        millis(started)
    }

    fn end(mut self) {
        self.child.kill().expect("ended");
        self.child.wait().expect("ended");
    }
}

/// Returns the time from the start of the process until these words are on the screen.
fn first_frame(home: &Path, arguments: &[&str], words: &str) -> f64 {
    let started = Instant::now();
    let mut screen = Screen::open(home, arguments);
    screen.wait_for(words);
    let took = millis(started);
    screen.end();
    took
}

/// Measures loading a replay to its end, then seeking in it.
fn replay(home: &Path, path: &str, events: usize, repeat: usize) -> (Screen, f64, Vec<f64>) {
    let started = Instant::now();
    let mut screen = Screen::open(home, &[path]);
    screen.wait_for(&format!("event {events} of {events}"));
    let whole = millis(started);
    // The session ends within a round, so the program offers to resume it.
    screen.wait_for("Resume this session?");
    (&*screen.terminal).write_all(b"\x1b").expect("typed");
    while screen.parser.screen().contents().contains("Resume this session?") {
        let chunk = screen.chunks.recv_timeout(Duration::from_secs(60)).expect("a frame");
        screen.parser.process(&chunk);
    }
    let mut seeks = Vec::new();
    for _ in 0..repeat {
        seeks.push(screen.press("g", &format!("event 0 of {events}")));
        seeks.push(screen.press("\x1b[F", &format!("event {events} of {events}")));
        // Seeks back to the opening of the last round.
        seeks.push(screen.press("[", "OPEN"));
        seeks.push(screen.press("\x1b[F", &format!("event {events} of {events}")));
    }
    (screen, whole, seeks)
}

/// Returns the CPU time of two idle seconds, in milliseconds.
fn idle(screen: &mut Screen) -> f64 {
    let id = screen.child.id();
    let used = || {
        let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let fields: Vec<f64> =
            text.rsplit(')').next().unwrap_or("").split_whitespace().filter_map(|f| f.parse().ok()).collect();
        // User and system time, in hundredths of a second.
        fields.get(10).copied().unwrap_or(0.0) + fields.get(11).copied().unwrap_or(0.0)
    };
    std::thread::park_timeout(Duration::from_millis(300));
    let before = used();
    std::thread::park_timeout(Duration::from_secs(2));
    (used() - before) * 10.0
}

fn live(lines: &[LogEntry]) -> Model {
    let theme = Theme::from_environment(|_| None);
    let mut model = Model::home((120, 40), theme);
    model.show(Mode::Live(Box::<LiveSession>::default()), Replay::new(lines.to_vec()), "x.s2s".to_owned());
    model
}

/// Measures frames of an open round with half of the seats sealed.
fn frames(seats: usize, repeat: usize) -> Vec<f64> {
    let lines = synthetic_session::open_round(seats, seats / 2);
    let mut model = live(&lines);
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a screen");
    let frame = |index: usize| {
        model.seat = (index * 97) % seats;
        let started = Instant::now();
        terminal
            .draw(|frame| {
                draw(frame, &model);
            })
            .expect("drawn");
        millis(started)
    };
    (0..repeat).map(frame).collect()
}

/// Measures one key per twenty reports: it handles the reports and the key, and draws one frame.
fn keys(seats: usize) -> Vec<f64> {
    let lines = synthetic_session::open_round(seats, seats);
    let is_report = |line: &&LogEntry| matches!(line.stamped.event, Event::BallotSealed(_));
    let start: Vec<LogEntry> = lines.iter().filter(|line| !is_report(line)).cloned().collect();
    let reports: Vec<LogEntry> = lines.iter().filter(is_report).cloned().collect();
    let mut model = live(&start);
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a screen");
    let down = crossterm::event::KeyEvent::from(crossterm::event::KeyCode::Down);
    let answer = |reports: &[LogEntry]| {
        let started = Instant::now();
        for line in reports {
            update(&mut model, Message::EngineUpdate(EngineUpdate::Saw(Box::new(line.clone()))));
        }
        update(&mut model, Message::Key(down));
        terminal
            .draw(|frame| {
                draw(frame, &model);
            })
            .expect("drawn");
        millis(started)
    };
    reports.chunks(20).map(answer).collect()
}

/// Measures keys and their frames in a draft with these many seats of one model and bytes of background.
fn keys_of_draft(seats: usize, background: usize, repeat: usize) -> Vec<f64> {
    let lines = synthetic_session::open_round(5, 0);
    let Event::SessionOpened(mut opened) = lines[0].stamped.event.clone() else { panic!("no header") };
    let mut seat = opened.participants[0].clone();
    "ollama/llama3.2".clone_into(&mut seat.model);
    let names: Vec<String> = (0..seats).map(|at| format!("seat-{at}")).collect();
    opened.participants.clear();
    for name in &names {
        name.clone_into(&mut seat.name);
        opened.participants.push(seat.clone());
    }
    let seats: Vec<String> =
        names.iter().map(|name| format!("{{name: {name}, model: ollama/llama3.2}}")).collect();
    let (seats, background) = (seats.join(", "), "a line of words ".repeat(background / 16));
    opened.definition = format!("participants: [{seats}]\nquestion: Which?\nexploration: \"{background}\"\n");
    let (needs, from) = (Vec::new(), (OpenTarget::NewQuestion, SeatChoice::default()));
    let (notices, problems, evidence, asks_first) = (Vec::new(), Vec::new(), Vec::new(), false);
    let draft = Draft { opened: *opened, notices, evidence, needs, asks_first, problems, from };
    let mut model = live(&[]);
    update(&mut model, Message::Drafted(Box::new(draft)));
    update(&mut model, Message::Context(Ok(None)));
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a screen");
    let mut answer = |code: crossterm::event::KeyCode| {
        let started = Instant::now();
        update(&mut model, Message::Key(code.into()));
        terminal
            .draw(|frame| {
                draw(frame, &model);
            })
            .expect("drawn");
        millis(started)
    };
    use crossterm::event::KeyCode::{Down, Right, Tab};
    // The first key is not measured: it also draws the new draft.
    answer(Down);
    (0..repeat).flat_map(|_| [Right, Down, Tab]).map(&mut answer).collect()
}
