//! Where things are printed: results to standard output, everything else to standard error.
//!
//! A closed pipe ends printing, never the session.

use std::io::{self, IsTerminal as _, Write as _};

use crate::problem::Problem;
use crate::session::Exit;
use crate::text::{harmless, harmless_line};

/// The two streams, and how much is said on them.
#[derive(Debug)]
pub struct Output {
    /// Whether standard output is NDJSON.
    pub json: bool,
    /// Whether standard error carries errors only.
    pub quiet: bool,
    closed: bool,
}

impl Output {
    /// Printing with these flags.
    pub fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet, closed: false }
    }

    /// A line of the result; foreign text in it must be harmless already.
    pub fn line(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(b"\n");
    }

    /// Bytes of the result, as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        if !self.closed {
            let mut out = io::stdout().lock();
            self.closed = out.write_all(bytes).and_then(|()| out.flush()).is_err();
        }
    }

    /// A problem as a line of NDJSON, without a `seq`.
    pub fn error_line(&mut self, problem: &Problem) {
        let place = problem.place.as_ref();
        let line = serde_json::json!({
            "event": "error",
            "message": problem.message,
            "hint": problem.hint,
            "file": place.map(|place| &place.file),
            "line": place.map(|place| place.line).filter(|line| *line > 0),
            "column": place.map(|place| place.column).filter(|column| *column > 0),
        });
        self.line(&crate::report::safe_json(&line));
    }

    /// A line for the person at the terminal.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr().lock(), "{}", harmless(text));
        }
    }

    /// A warning.
    pub fn warn(&self, problem: &Problem) {
        if !self.quiet {
            say("warning", problem);
        }
    }

    /// Whether progress is shown.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }
}

/// A usage error of the command line, in one line.
pub fn usage_problem(error: &clap::Error) -> Problem {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    Problem::new(first.trim_start_matches("error: ")).hint("roundtable --help")
}

/// Prints problems as errors; with `--json` also as lines of the result.
pub fn fail(problems: &[Problem], output: &mut Output) -> Exit {
    fail_as(problems, Exit::Usage, output)
}

/// As [`fail`], with another exit code.
pub fn fail_as(problems: &[Problem], exit: Exit, output: &mut Output) -> Exit {
    for problem in problems {
        say("error", problem);
        if output.json {
            output.error_line(problem);
        }
    }
    exit
}

fn say(kind: &str, problem: &Problem) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{kind}: {}", harmless_line(&problem.to_string()));
    if let Some(hint) = &problem.hint {
        let _ = writeln!(err, "  hint: {}", harmless_line(hint));
    }
}

/// With `ROUNDTABLE_LOG=FILE`, writes debug lines there; they never hold an answer or a key.
pub fn debug_log() -> Option<()> {
    let path = std::env::var_os("ROUNDTABLE_LOG").filter(|path| !path.is_empty())?;
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = std::sync::Mutex::new(options.open(path).ok()?);
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(file).with_max_level(tracing::Level::TRACE);
    tracing::subscriber::set_global_default(subscriber.finish()).ok()
}
