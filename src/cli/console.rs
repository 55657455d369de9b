//! Console output: results to standard output, everything else to standard error.
//!
//! A closed pipe ends printing, never the session. Any other write error is reported once, and the program ends
//! with exit code 1. The session continues, because its file is complete.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::{Json, RunOptions};
use super::progress::ProgressPrinter;
use crate::core::ExitCode;
use crate::diagnostic::{Diagnostic, nearest};
use crate::launch::error::RunError;
use crate::report::Document;
use crate::sanitize::{harmless, harmless_line};
use crate::words::meant;

/// Exit code of a command, or the errors that stopped it.
pub type VerbResult = Result<ExitCode, RunError>;

/// Standard output and standard error, with the verbosity options.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Console {
    pub json: bool,
    pub result_only: bool,
    pub quiet: bool,
    pub full: bool,
    closed: bool,
    /// Exit code if a result could not be written.
    lost: Option<ExitCode>,
}

impl Console {
    pub fn from_options(options: &RunOptions) -> Self {
        Self {
            json: options.json == Some(Json::Events),
            result_only: options.json == Some(Json::Result),
            quiet: options.quiet,
            full: options.full,
            ..Self::default()
        }
    }

    /// Prints a line of the result; foreign text in it must be sanitized already.
    pub fn line(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(b"\n");
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        if !self.closed {
            let mut out = io::stdout().lock();
            if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
                self.closed = true;
                if report_lost_output(&error) {
                    self.lost = Some(ExitCode::Failure);
                }
            }
        }
    }

    /// Returns whether scripts read standard output; then no report is printed there.
    pub fn is_for_scripts(&self) -> bool {
        self.json || self.result_only
    }

    /// Returns whether a person reads the result on a terminal and wants the short report.
    pub fn wants_summary(&self) -> bool {
        !self.full && !self.is_for_scripts() && io::stdout().is_terminal()
    }

    /// Prints the result line of a session with `--json=result`.
    pub fn result_line(&mut self, document: &Document<'_>, exit: ExitCode, file: &Path) {
        if self.result_only {
            let line = crate::report::result(document, exit as i32, &file.display().to_string());
            self.line(&crate::report::safe_json(&line));
        }
    }

    /// Returns the exit code, or that of a failure if output was lost.
    pub fn exit(&self, exit: ExitCode) -> ExitCode {
        self.lost.unwrap_or(exit)
    }

    pub fn note(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr().lock(), "{}", harmless(text));
        }
    }

    pub fn warn(&self, problem: &Diagnostic) {
        if !self.quiet {
            say("warning", problem);
        }
    }

    pub fn printer(&self) -> ProgressPrinter {
        let console = self.clone();
        ProgressPrinter::new(!self.quiet && io::stderr().is_terminal(), move |text| {
            console.note(&harmless_line(text));
        })
    }
}

/// Prints only the place of a panic, because its message could contain an answer.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        let mut err = io::stderr().lock();
        let _ = writeln!(err, "error: internal error{place}; recorded events are safe");
    }));
}

/// Returns rows of two columns, the first as wide as its longest entry.
pub fn aligned<A: AsRef<str>, B: AsRef<str>>(rows: &[(A, B)]) -> impl Iterator<Item = String> {
    let width = rows.iter().map(|(left, _)| left.as_ref().trim_end().chars().count()).max().unwrap_or(0);
    rows.iter().map(move |(left, right)| {
        harmless_line(&format!("{:width$}  {}", left.as_ref().trim_end(), right.as_ref().trim_start()))
    })
}

pub fn is_on_terminal() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// Prints a prompt to standard error and reads a line from the terminal; `None` at end of input.
pub fn ask(lines: &str) -> Option<String> {
    let _ = write!(io::stderr().lock(), "{}", harmless(lines));
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer).is_ok_and(|bytes| bytes > 0);
    read.then(|| answer.trim().to_owned())
}

/// Reports that standard output cannot be written, unless its reader has left; returns whether it reported.
fn report_lost_output(error: &io::Error) -> bool {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return false;
    }
    let path = std::fs::read_link("/proc/self/fd/1").ok().filter(|path| path.is_absolute());
    let path = path.map(|path| format!(" ({})", path.display())).unwrap_or_default();
    let problem = Diagnostic::new(format!("cannot write standard output{path}: {error}"));
    say("error", &problem.hint("the result is incomplete; free some space and run it again"));
    true
}

/// Prints errors to standard error, and for scripts to standard output; returns their exit code.
pub fn fail(error: &RunError, output: &mut Console) -> ExitCode {
    for problem in &error.problems {
        say("error", problem);
    }
    print_for_scripts(error, output);
    error.exit
}

/// Prints errors to standard output: one line each with `--json`, one result line with `--json=result`.
fn print_for_scripts(error: &RunError, output: &mut Console) {
    if output.json {
        for problem in &error.problems {
            let place = problem.place.as_ref();
            // Errors are no events, so they have no `seq`.
            output.line(&crate::report::safe_json(&serde_json::json!({
                "event": "error",
                "message": problem.message,
                "hint": problem.hint,
                "file": place.map(|place| &place.file),
                "line": place.map(|place| place.line).filter(|line| *line > 0),
                "column": place.map(|place| place.column).filter(|column| *column > 0),
            })));
        }
    }
    if output.result_only {
        let first = error.problems.first();
        let (reason, place) =
            first.map_or(("", None), |problem| (problem.message.as_str(), problem.place.as_ref()));
        let line =
            crate::report::no_result(error.exit as i32, reason, place.map(|place| place.file.as_str()));
        output.line(&crate::report::safe_json(&line));
    }
}

fn flag_meant(flag: &str, command: &Command, verb: Option<&Command>) -> String {
    let long = |of: &Command| {
        let flags = of.get_arguments().filter_map(|argument| argument.get_long());
        flags.map(|flag| format!("--{flag}")).collect::<Vec<_>>()
    };
    let own = long(verb.unwrap_or(command));
    let has = |of: &&Command| long(of).iter().any(|known| known == flag);
    if let Some((_, hint)) = meant("flag", flag) {
        hint.to_owned()
    } else if let Some(near) = nearest(flag, own.iter().map(String::as_str)) {
        format!("did you mean `{near}`?")
    } else if let Some(other) = command.get_subcommands().find(has) {
        format!("`{flag}` is a flag of `roundtable {}`", other.get_name())
    } else {
        let verb = verb.map_or_else(String::new, |verb| format!(" {}", verb.get_name()));
        format!("`roundtable{verb} --help` lists the flags")
    }
}

/// Prints the requested help, or why the command line is invalid.
pub fn print_help_or_error(error: &clap::Error, command: &Command, verb: Option<&Command>) -> ExitCode {
    let text = error.render().to_string();
    if !error.use_stderr() {
        let printed = error.print().and_then(|()| io::stdout().flush());
        return match printed {
            Err(error) if report_lost_output(&error) => ExitCode::Failure,
            _ => ExitCode::Finished,
        };
    }
    let is_given = |flag: &str| std::env::args_os().any(|arg| arg == flag);
    let json = is_given("--json") || is_given("--json=events");
    let mut output = Console { json, result_only: is_given("--json=result"), ..Console::default() };
    if let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg)
        && error.kind() == ErrorKind::UnknownArgument
        && given.starts_with('-')
    {
        let flag = given.split(['=', ' ']).next().unwrap_or_default();
        let problem = Diagnostic::new(format!("unknown flag `{flag}`"));
        return fail(&problem.hint(flag_meant(flag, command, verb)).into(), &mut output);
    }
    let _ = write!(io::stderr().lock(), "{}", harmless(&text));
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message).to_owned();
    let hint = "`roundtable --help` lists what is understood";
    print_for_scripts(&Diagnostic::new(message).hint(hint).into(), &mut output);
    ExitCode::Usage
}

fn say(kind: &str, problem: &Diagnostic) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{kind}: {}", harmless_line(&problem.to_string()));
    if let Some(hint) = &problem.hint {
        let _ = writeln!(err, "  hint: {}", harmless_line(hint));
    }
}
