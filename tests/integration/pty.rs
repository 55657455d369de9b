//! The program in a real pseudo-terminal: keys go in, a terminal emulator shows what comes out.
//!
//! A [`Screen`] waits for words to appear; it never sleeps for a fixed time and checks nothing itself.

use std::io::{Read as _, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtyPair, PtySize, native_pty_system};

use rustix::process::{Pid, Signal, kill_process};

use crate::patience::PATIENCE;
use crate::program::Desk;

/// The program on a terminal.
pub struct Screen {
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    shown: Arc<(Mutex<Shown>, Condvar)>,
}

struct Shown {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// Whether the program has closed its end.
    is_over: bool,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

pub fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a size")
}

/// A terminal of this size, and a program to be started on it at a desk.
pub fn prepared(
    desk: &Desk,
    program: &Path,
    (columns, rows): (u16, u16),
    arguments: &[&str],
    set: &[(&str, &str)],
) -> (PtyPair, CommandBuilder) {
    let pair = native_pty_system().openpty(size(columns, rows)).expect("a terminal");
    let mut command = CommandBuilder::new(program);
    command.args(arguments);
    command.env_clear();
    let plain = desk.command(arguments);
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("TERM", "xterm-256color");
    command.env("LANG", "C.UTF-8");
    for (name, value) in set {
        command.env(name, value);
    }
    command.cwd(desk.path(""));
    (pair, command)
}

impl Screen {
    /// Starts the program at a desk, on a terminal of this size.
    pub fn open(desk: &Desk, size: (u16, u16), arguments: &[&str]) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_roundtable"));
        Self::open_program(desk, program, size, arguments, &[])
    }

    /// The same with another program, and more set in its environment.
    pub fn open_program(
        desk: &Desk,
        program: &Path,
        (columns, rows): (u16, u16),
        arguments: &[&str],
        set: &[(&str, &str)],
    ) -> Self {
        let (pair, command) = prepared(desk, program, (columns, rows), arguments, set);
        let child = pair.slave.spawn_command(command).expect("starts");
        crate::patience::mortal(child.process_id().expect("a process"));
        drop(pair.slave);
        let parser = vt100::Parser::new(cells(rows), cells(columns), 0);
        let shown = Arc::new((Mutex::new(Shown { parser, raw: Vec::new(), is_over: false }), Condvar::new()));
        let mut out = pair.master.try_clone_reader().expect("a reader");
        let keys = pair.master.take_writer().expect("a writer");
        let seen = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = out.read(&mut buffer) {
                let mut shown = seen.0.lock().unwrap_or_else(PoisonError::into_inner);
                shown.parser.process(&buffer[..count]);
                shown.raw.extend_from_slice(&buffer[..count]);
                seen.1.notify_all();
            }
            seen.0.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
            seen.1.notify_all();
        });
        Self { master: pair.master, keys, child, shown }
    }

    /// Every byte the program has written.
    pub fn raw(&self) -> Vec<u8> {
        self.shown.0.lock().unwrap_or_else(PoisonError::into_inner).raw.clone()
    }

    /// What the screen shows once nothing has been written for a while, as the escape sequences that draw it.
    pub fn drawn(&self) -> String {
        let mut shown = self.shown.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let waited = self.shown.1.wait_timeout(shown, Duration::from_millis(300));
            let (now, is_quiet) = waited.unwrap_or_else(PoisonError::into_inner);
            shown = now;
            if is_quiet.timed_out() {
                break;
            }
        }
        shown.parser.screen().contents_formatted()
    }

    /// Waits until the screen shows all of these words.
    #[track_caller]
    pub fn wait_for(&mut self, words: &[&str]) {
        self.wait(&format!("{words:?}"), |text| words.iter().all(|word| text.contains(word)));
    }

    /// Waits until the screen shows none of these words any more.
    #[track_caller]
    pub fn wait_without(&mut self, words: &[&str]) {
        self.wait(&format!("no {words:?}"), |text| words.iter().all(|word| !text.contains(word)));
    }

    #[track_caller]
    fn wait(&self, what: &str, is_there: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        let mut shown = self.shown.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let text = shown.parser.screen().contents();
            if is_there(&text) {
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !shown.is_over, "waiting for {what}, the screen shows:\n{text}");
            shown = self.shown.1.wait_timeout(shown, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Types.
    pub fn send(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).and_then(|()| self.keys.flush()).expect("typed");
    }

    /// Types, and waits until the screen shows all of these words.
    #[track_caller]
    pub fn press(&mut self, keys: &str, words: &[&str]) {
        self.send(keys);
        self.wait_for(words);
    }

    /// Types the same again and again, until the screen shows one of these.
    #[track_caller]
    pub fn press_until(&mut self, keys: &str, any: &[&str]) {
        let until = Instant::now() + PATIENCE;
        let is_there = |shown: &Shown| {
            let text = shown.parser.screen().contents();
            any.iter().any(|words| text.contains(words))
        };
        while !is_there(&self.shown.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            assert!(Instant::now() < until, "waiting for {any:?} in vain");
            self.send(keys);
            let shown = self.shown.0.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.shown.1.wait_timeout(shown, Duration::from_millis(100)));
        }
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.master.resize(size(columns, rows)).expect("resized");
        let mut shown = self.shown.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.parser.screen_mut().set_size(cells(rows), cells(columns));
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.process_id().expect("a process")
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.id()).expect("an id")).expect("an id");
        kill_process(pid, Signal::KILL).expect("killed");
        self.child.wait().expect("ended");
    }

    /// Waits until it ends; its exit code, and every byte it has written.
    #[track_caller]
    pub fn end(mut self) -> (u32, Vec<u8>) {
        let until = Instant::now() + PATIENCE;
        let mut shown = self.shown.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !shown.is_over {
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "it does not end; the screen shows:\n{}",
                shown.parser.screen().contents()
            );
            shown = self.shown.1.wait_timeout(shown, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let raw = std::mem::take(&mut shown.raw);
        drop(shown);
        (self.child.wait().expect("ended").exit_code(), raw)
    }
}
