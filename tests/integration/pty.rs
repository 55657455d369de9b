//! Program in a real pseudo-terminal, with an emulator for its output.
//!
//! A [`Screen`] waits for words to appear; it never sleeps for a fixed time and checks nothing itself.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::Pty;

use crate::patience::PATIENCE;
use crate::program::Desk;

pub struct Screen {
    terminal: Arc<Pty>,
    child: Child,
    shown: Arc<(Mutex<Shown>, Condvar)>,
}

struct Shown {
    parser: vt100::Parser,
    raw: Vec<u8>,
    is_over: bool,
}

impl Shown {
    /// Returns whether no frame is half drawn.
    fn is_whole(&self) -> bool {
        let last = self.raw.windows(8).rev().find(|bytes| bytes.starts_with(b"\x1b[?2026"));
        last.is_none_or(|mark| mark.ends_with(b"l"))
    }
}

pub fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a size")
}

pub fn command(desk: &Desk, arguments: &[&str]) -> Command {
    let mut command = desk.command(arguments);
    command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
    command
}

pub fn start(command: Command, (columns, rows): (u16, u16)) -> (Pty, Child) {
    let (terminal, end) = pty_process::blocking::open().expect("a terminal");
    terminal.resize(Size::new(rows, columns)).expect("a size");
    let child = pty_process::blocking::Command::from(command).spawn(end).expect("starts");
    crate::patience::mortal(child.id());
    (terminal, child)
}

impl Screen {
    pub fn open(desk: &Desk, size: (u16, u16), arguments: &[&str]) -> Self {
        Self::run(command(desk, arguments), size)
    }

    /// Starts a command on a terminal of this size, and waits until it has drawn something or ended.
    /// Earlier keys could act as signals.
    pub fn run(command: Command, size: (u16, u16)) -> Self {
        let (terminal, child) = start(command, size);
        let terminal = Arc::new(terminal);
        let parser = vt100::Parser::new(cells(size.1), cells(size.0), 0);
        let shown = Arc::new((Mutex::new(Shown { parser, raw: Vec::new(), is_over: false }), Condvar::new()));
        let (out, seen) = (Arc::clone(&terminal), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = (&*out).read(&mut buffer) {
                let mut shown = seen.0.lock().unwrap_or_else(PoisonError::into_inner);
                shown.parser.process(&buffer[..count]);
                shown.raw.extend_from_slice(&buffer[..count]);
                seen.1.notify_all();
            }
            seen.0.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
            seen.1.notify_all();
        });
        let screen = Self { terminal, child, shown };
        drop(screen.until("anything", |shown| !shown.raw.is_empty() || shown.is_over));
        screen
    }

    /// Waits for a condition, and returns the screen.
    #[track_caller]
    fn until(&self, what: &str, is_there: impl Fn(&Shown) -> bool) -> MutexGuard<'_, Shown> {
        let until = Instant::now() + PATIENCE;
        let mut shown = self.lock();
        while !is_there(&shown) {
            let left = until.saturating_duration_since(Instant::now());
            let text = || shown.parser.screen().contents();
            assert!(!left.is_zero() && !shown.is_over, "waiting for {what}, the screen shows:\n{}", text());
            shown = self.shown.1.wait_timeout(shown, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        shown
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.shown.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn raw(&self) -> Vec<u8> {
        self.lock().raw.clone()
    }

    /// Returns the screen as escape sequences, once nothing has been written for a while.
    pub fn drawn(&self) -> String {
        let mut shown = self.lock();
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

    #[track_caller]
    pub fn wait_for(&mut self, words: &[&str]) {
        self.wait(&format!("{words:?}"), |text| words.iter().all(|word| text.contains(word)));
    }

    #[track_caller]
    pub fn wait_without(&mut self, words: &[&str]) {
        self.wait(&format!("no {words:?}"), |text| words.iter().all(|word| !text.contains(word)));
    }

    #[track_caller]
    fn wait(&self, what: &str, is_there: impl Fn(&str) -> bool) {
        drop(self.until(what, |shown| shown.is_whole() && is_there(&shown.parser.screen().contents())));
    }

    pub fn send(&mut self, keys: &str) {
        (&*self.terminal).write_all(keys.as_bytes()).expect("typed");
    }

    #[track_caller]
    pub fn press(&mut self, keys: &str, words: &[&str]) {
        self.send(keys);
        self.wait_for(words);
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.resize(Size::new(rows, columns)).expect("resized");
        let mut shown = self.lock();
        shown.parser.screen_mut().set_size(cells(rows), cells(columns));
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }

    /// Waits for the end; returns the exit code (-1 after a signal) and all output.
    #[track_caller]
    pub fn end(mut self) -> (i32, Vec<u8>) {
        let mut shown = self.until("its end", |shown| shown.is_over);
        let raw = std::mem::take(&mut shown.raw);
        drop(shown);
        (self.child.wait().expect("ended").code().unwrap_or(-1), raw)
    }

    /// Quits by key; returns all output.
    #[track_caller]
    pub fn quits(mut self) -> String {
        self.send("q");
        let (code, raw) = self.end();
        assert_eq!(code, 0);
        String::from_utf8_lossy(&raw).into_owned()
    }
}
