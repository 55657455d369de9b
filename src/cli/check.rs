//! `check`: all errors and warnings of definitions at once, for editors and continuous integration.
//!
//! Findings are the result: a line each on standard output, with a hint below it; notes say what a run
//! would run and which addresses it would ask. Nothing is run,
//! sent or saved. Personas and models are looked up as a run would; keys are not needed.

use std::path::Path;

use serde_json::json;

use super::VerbResult;
use super::console::Console;
use super::foreseen::foreseen;
use super::plan::{Environment, PreparedSession, definition_text, with_tasks};
use crate::config::trust::lines;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::history::{Event, Session, TimedEvent, Timestamp};
use crate::launch::roster::{ModelFlags, Roster};
use crate::launch::scripted_answers::Answers;
use crate::sanitize::harmless_line;
use crate::workflow::{Source, default_id, load_with, unknown_tasks};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Error,
    Warning,
    /// What a run would run or ask: nothing is wrong with it.
    Note,
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Checks each file and prints what was found.
pub fn run(files: &[impl AsRef<Path>], trusts: bool, output: &mut Console) -> VerbResult {
    let set_up = Environment::find_and_tell(trusts, output)?;
    let (mut errors, mut warnings) = (0, 0);
    for path in files {
        let mut found = findings(path.as_ref(), &set_up);
        found.sort_by_key(|(severity, problem)| {
            let place = problem.place.as_ref().map_or((0, 0), |place| (place.line, place.column));
            (place, *severity)
        });
        for (severity, problem) in found {
            match severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
                Severity::Note => {}
            }
            print(severity, &problem, output);
        }
    }
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let checked = count(files.len(), "definition");
    output.note(&format!("{checked} checked: {}, {}", count(errors, "error"), count(warnings, "warning")));
    Ok(if errors > 0 { ExitCode::Usage } else { ExitCode::Finished })
}

fn findings(path: &Path, set_up: &Environment) -> Vec<(Severity, Diagnostic)> {
    if path.extension().is_some_and(|extension| extension == "s2s") {
        let problem = Diagnostic::new("this is a session, not a definition")
            .hint("`roundtable verify` checks sessions");
        return vec![(Severity::Error, problem.with_file(&path.display().to_string()))];
    }
    let (file, text) = match definition_text(path) {
        Ok(read) => read,
        Err(problems) => return errors(problems).collect(),
    };
    let mut warnings = Vec::new();
    let loaded = load_with(Source { text: &text, file: &file, id: default_id(&file) }, &mut warnings);
    let found = loaded.and_then(|loaded| {
        warnings.clone_from(&loaded.warnings);
        let (flags, answers) = (ModelFlags::default(), Answers::default());
        let (definition, tasks_file, unread) = with_tasks(loaded.definition, &file, &set_up.folders)?;
        warnings.extend(unread.iter().filter(|problem| !loaded.warnings.contains(problem)).cloned());
        warnings.extend(unknown_tasks(&definition, &file));
        let is_own = set_up.folders.is_own(path);
        let plan = PreparedSession { definition, text, file, flags, answers, tasks_file, unread, is_own };
        of_plan(&plan, set_up, &mut warnings)
    });
    let mut found = found.unwrap_or_else(|problems| errors(problems).collect());
    found.extend(warnings.into_iter().map(|warning| (Severity::Warning, warning)));
    found
}

fn errors(problems: Vec<Diagnostic>) -> impl Iterator<Item = (Severity, Diagnostic)> {
    problems.into_iter().map(|problem| (Severity::Error, problem))
}

/// What is to be said of a definition that loads, beside its warnings.
fn of_plan(
    plan: &PreparedSession,
    set_up: &Environment,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<(Severity, Diagnostic)>, Vec<Diagnostic>> {
    warnings.extend(plan.linked_sessions(&set_up.folders).1);
    let roster = plan.roster_before_answers(set_up)?;
    warnings.extend(roster.notices.iter().cloned());
    let session = opened(plan, roster, set_up)?;
    let (refused, warned) = foreseen(&session, &plan.file);
    warnings.extend(warned);
    let mut found: Vec<_> = errors(refused).collect();
    match plan.needs(&session, set_up) {
        Ok(needs) => {
            let note = |line| (Severity::Note, Diagnostic::new(line).with_file(&plan.file));
            found.extend(lines(&needs, &set_up.trust).into_iter().map(note));
        }
        Err(problems) => found.extend(errors(problems)),
    }
    Ok(found)
}

/// The session as a run would open it.
fn opened(plan: &PreparedSession, roster: Roster, set_up: &Environment) -> Result<Session, Vec<Diagnostic>> {
    let header = plan.header(roster, "check", (None, None), &set_up.folders)?;
    let mut session = Session::default();
    session.apply(&TimedEvent { at: Timestamp(0), event: Event::SessionOpened(Box::new(header)) });
    Ok(session)
}

fn print(severity: Severity, problem: &Diagnostic, output: &mut Console) {
    let place = problem.place.as_ref();
    if output.json {
        let line = json!({
            "severity": severity.word(),
            "message": problem.message,
            "hint": problem.hint,
            "file": place.map(|place| &place.file),
            "line": place.map(|place| place.line).filter(|line| *line > 0),
            "column": place.map(|place| place.column).filter(|column| *column > 0),
        });
        return output.line(&crate::report::safe_json(&line));
    }
    let mut at = String::new();
    if let Some(place) = place {
        at.push_str(&place.file);
        // Editors find a place by file, line and column, so all three stand where any does.
        if place.line > 0 {
            at.push_str(&format!(":{}:{}", place.line, place.column.max(1)));
        }
        at.push_str(": ");
    }
    output.line(&harmless_line(&format!("{at}{}: {}", severity.word(), problem.message)));
    if let Some(hint) = &problem.hint {
        output.line(&format!("  hint: {}", harmless_line(hint)));
    }
}
