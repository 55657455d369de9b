//! Measurements of the programs of a roster: looked up, or made before a session opens.
//!
//! A program that declares tools, or changes the snapshot, takes no seat in a blind round.

use std::collections::HashSet;

use super::environment::Environment;
use super::error::no_problems;
use super::needs::asked_seats;
use super::scripted_answers::Answers;
use crate::config::findings::{Findings, Measured};
use crate::config::programs::ConfiguredProgram;
use crate::diagnostic::Diagnostic;
use crate::history::{SeatInfo, Session, Wrapped};
use crate::participants::programs::Finding;

/// Notes of each seat of a round that a program takes what that program was seen to send; one of which
/// nothing is known in its version is measured, after `tell` has said so.
pub(super) fn wrap_seats(
    seats: &mut [SeatInfo],
    asked: &HashSet<String>,
    set_up: &Environment,
    tell: &mut dyn FnMut(&Diagnostic),
) -> Result<(), Vec<Diagnostic>> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut done: Vec<(String, Option<Wrapped>)> = Vec::new();
    for seat in seats.iter_mut().filter(|seat| asked.contains(&seat.name)) {
        if let Some((_, wrapped)) = done.iter().find(|(model, _)| *model == seat.model) {
            seat.wrapped.clone_from(wrapped);
            continue;
        }
        match wrapped(&seat.model, set_up, tell) {
            Ok(wrapped) => {
                seat.wrapped.clone_from(&wrapped);
                done.push((seat.model.clone(), wrapped));
            }
            Err(problem) => problems.push(problem),
        }
    }
    no_problems(problems)
}

/// Returns what a model's program was seen to send; none where no program answers for it.
pub fn wrapped(
    model: &str,
    set_up: &Environment,
    tell: &mut dyn FnMut(&Diagnostic),
) -> Result<Option<Wrapped>, Diagnostic> {
    let (provider, name) = model.split_once('/').unwrap_or((model, ""));
    let catalog = set_up.catalog();
    let Some(found) = catalog.seat_program(provider) else { return Ok(None) };
    let path = catalog.runnable(&found)?;
    let findings = Findings::of(&set_up.folders);
    let known = findings.of_program(&found, &path, name)?;
    let finding = match known.finding {
        Some(finding) => Some(finding),
        None if found.program.is_declared(name) => None,
        None => {
            tell(&Diagnostic::new(format!("checking what `{provider}` adds to the question, at most 20 s")));
            Some(findings.measure(&found, &path, &known.version, name)?)
        }
    };
    if let Some(problem) = finding.as_ref().and_then(|finding| refusal(model, &found, finding)) {
        return Err(problem);
    }
    let finding = finding.as_ref();
    Ok(Some(Wrapped {
        program: found.program.executable().to_owned(),
        version: known.version,
        tools: finding.map(|finding| finding.tools.clone()).unwrap_or_default(),
        added_bytes: finding.map(|finding| finding.bytes_before + finding.bytes_after),
        requests: finding.map(|finding| finding.requests),
        checked_at: finding.map(|finding| finding.checked_at.clone()),
    }))
}

/// Looks at the programs of a session again, and says which are another version than when it opened.
pub(super) fn rewrap(
    session: &Session,
    asked: &HashSet<String>,
    set_up: &Environment,
    tell: &mut dyn FnMut(&Diagnostic),
) -> Result<(), Vec<Diagnostic>> {
    let mut seats: Vec<SeatInfo> = session.roster.values().cloned().collect();
    wrap_seats(&mut seats, asked, set_up, tell)?;
    for (seat, then) in seats.iter().zip(session.roster.values()) {
        if let (Some(now), Some(then)) = (&seat.wrapped, &then.wrapped)
            && now.version != then.version
        {
            let (name, program) = (&seat.name, &now.program);
            tell(&Diagnostic::new(format!(
                "`{program}` of {name} is now {}; the session opened with {}",
                now.version, then.version
            )));
        }
    }
    Ok(())
}

/// A model's program that takes a seat in a round, and what is known of what it sends.
pub struct SeatedProgram {
    model: String,
    found: ConfiguredProgram,
    known: Measured,
}

/// Returns the programs that take seats in a session's rounds, once for each model. Of what the user has not
/// agreed to nothing is run, and it is asked about elsewhere.
pub fn seated_programs(session: &Session, answers: &Answers, set_up: &Environment) -> Vec<SeatedProgram> {
    let (catalog, asked) = (set_up.catalog(), asked_seats(session, answers));
    let mut programs: Vec<SeatedProgram> = Vec::new();
    for seat in session.roster.values().filter(|seat| asked.contains(&seat.name)) {
        let (provider, name) = seat.model.split_once('/').unwrap_or((&seat.model, ""));
        let is_new = programs.iter().all(|known| known.model != seat.model);
        let Some(found) = catalog.seat_program(provider).filter(|_| is_new) else { continue };
        let Ok(path) = catalog.runnable(&found) else { continue };
        let Ok(known) = Findings::of(&set_up.folders).of_program(&found, &path, name) else { continue };
        programs.push(SeatedProgram { model: seat.model.clone(), found, known });
    }
    programs
}

impl SeatedProgram {
    /// Says that opening the session measures it, if it was not measured in its version.
    pub fn unmeasured(&self) -> Option<Diagnostic> {
        let name = self.model.split_once('/').map_or("", |(_, name)| name);
        let is_open = self.known.finding.is_none() && !self.found.program.is_declared(name);
        is_open.then(|| {
            Diagnostic::new(format!(
                "what `{}` adds to the question is not known: opening the round checks it first, at most 20 s",
                self.model
            ))
        })
    }

    pub fn in_words(&self) -> Result<Diagnostic, Diagnostic> {
        let (model, version) = (&self.model, &self.known.version);
        let Some(finding) = &self.known.finding else {
            let declared = || format!("`{model}`, version {version}: declared, not checked");
            return Ok(self.unmeasured().unwrap_or_else(|| Diagnostic::new(declared())));
        };
        if let Some(problem) = refusal(model, &self.found, finding) {
            return Err(problem);
        }
        let tools = if finding.tools.is_empty() { "no tools".to_owned() } else { finding.tools.join(", ") };
        let added = finding.bytes_before + finding.bytes_after;
        Ok(Diagnostic::new(format!(
            "`{model}`, version {version}, was measured at {}: {tools}, {added} bytes added, requests: {}",
            finding.checked_at, finding.requests
        )))
    }
}

/// Returns why a program takes no seat in a blind round.
pub fn refusal(model: &str, found: &ConfiguredProgram, finding: &Finding) -> Option<Diagnostic> {
    let program = &found.program;
    if !finding.is_whole {
        let problem = Diagnostic::new(format!("`{model}` does not send the snapshot whole and unchanged"));
        return Some(problem.hint("seat another model; a blind round hands everyone the same bytes"));
    }
    let refused: Vec<String> =
        finding.tools.iter().filter(|tool| !program.allow_tools.contains(tool)).cloned().collect();
    if refused.is_empty() {
        return None;
    }
    let message = format!("`{model}` declares tools ({}); blind rounds allow no tools", refused.join(", "));
    Some(Diagnostic::new(message).hint(format!(
        "name another model, or for tools that read, run and fetch nothing set \
         `providers.{}.allow_tools` in your config.yaml",
        program.provider
    )))
}
