//! Programs that take seats: what they were seen to send, looked up or measured before a session opens.
//!
//! A program that declares tools, or changes the snapshot, takes no seat in a blind round.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use super::environment::Environment;
use super::error::no_problems;
use super::needs::asked_in_rounds;
use super::prepare::Tell;
use super::scripted_answers::Answers;
use crate::config::findings::{Measured, WiretapFindings};
use crate::config::programs::ConfiguredProgram;
use crate::diagnostic::Diagnostic;
use crate::history::{Session, Wrapped};
use crate::participants::programs::WiretapFinding;

/// The installed program that answers for a model.
pub struct InstalledProgram<'a> {
    model: &'a str,
    found: ConfiguredProgram,
    pub path: PathBuf,
    pub known: Measured,
}

impl<'a> InstalledProgram<'a> {
    /// Returns `None` for a model that no program answers for.
    pub fn of(model: &'a str, set_up: &Environment) -> Result<Option<Self>, Diagnostic> {
        let (provider, name) = model.split_once('/').unwrap_or((model, ""));
        let catalog = set_up.catalog();
        let Some(found) = catalog.seat_program(provider) else { return Ok(None) };
        let path = catalog.runnable(&found)?;
        let known = WiretapFindings::of(&set_up.folders).of_program(&found, &path, name)?;
        Ok(Some(Self { model, found, path, known }))
    }

    fn name(&self) -> &str {
        self.model.split_once('/').map_or("", |(_, name)| name)
    }

    fn aside(&self) -> Option<Diagnostic> {
        let aside = self.found.program.left_aside(false)?;
        Some(Diagnostic::new(format!("`{}`: {aside}", self.model)))
    }

    fn is_unknown(&self) -> bool {
        self.known.finding.is_none() && !self.found.program.is_declared(self.name())
    }

    pub fn measure(&self, set_up: &Environment) -> Result<WiretapFinding, Diagnostic> {
        let findings = WiretapFindings::of(&set_up.folders);
        findings.measure(&self.found, &self.path, &self.known.version, self.name())
    }

    /// Returns why the program takes no seat in a blind round.
    pub fn refusal(&self, finding: &WiretapFinding) -> Option<Diagnostic> {
        let (model, program) = (self.model, &self.found.program);
        if !finding.is_whole {
            let problem =
                Diagnostic::new(format!("`{model}` does not send the snapshot whole and unchanged"));
            return Some(problem.hint("seat another model; a blind round hands everyone the same bytes"));
        }
        let refused: Vec<String> =
            finding.tools.iter().filter(|tool| !program.allow_tools.contains(tool)).cloned().collect();
        if refused.is_empty() {
            return None;
        }
        let message =
            format!("`{model}` declares tools ({}); blind rounds allow no tools", refused.join(", "));
        Some(Diagnostic::new(message).hint(format!(
            "name another model, or for tools that read, run and fetch nothing set \
             `providers.{}.allow_tools` in your config.yaml",
            program.provider
        )))
    }
}

/// Says what the programs of seats leave aside of the user's own settings, and why some take no seat.
pub fn program_notes(
    session: &Session,
    answers: &Answers,
    set_up: &Environment,
) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let models: BTreeSet<&str> = asked_in_rounds(session, answers).map(|seat| seat.model.as_str()).collect();
    let programs = models.into_iter().filter_map(|model| InstalledProgram::of(model, set_up).ok().flatten());
    let programs: Vec<InstalledProgram<'_>> = programs.collect();
    let refusal = |program: &InstalledProgram<'_>| program.refusal(program.known.finding.as_ref()?);
    (
        programs.iter().filter_map(InstalledProgram::aside).collect(),
        programs.iter().filter_map(refusal).collect(),
    )
}

/// Returns what the program of each seat was seen to send, by the seat's name; one of which nothing is known
/// in its version is measured, after `tell` has said so.
pub(super) fn wrapped_seats(
    session: &Session,
    answers: &Answers,
    set_up: &Environment,
    tell: Tell<'_>,
) -> Result<HashMap<String, Wrapped>, Vec<Diagnostic>> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut by_model: HashMap<&str, Option<Wrapped>> = HashMap::new();
    let mut by_seat = HashMap::new();
    for seat in asked_in_rounds(session, answers) {
        let found = by_model.entry(&seat.model).or_insert_with(|| {
            wrapped(&seat.model, set_up, tell).unwrap_or_else(|problem| {
                problems.push(problem);
                None
            })
        });
        let Some(now) = found else { continue };
        by_seat.insert(seat.name.clone(), now.clone());
    }
    no_problems(problems)?;
    Ok(by_seat)
}

/// Returns what a model's program was seen to send; none where no program answers for it.
pub fn wrapped(model: &str, set_up: &Environment, tell: Tell<'_>) -> Result<Option<Wrapped>, Diagnostic> {
    let Some(program) = InstalledProgram::of(model, set_up)? else { return Ok(None) };
    if let Some(aside) = program.aside() {
        tell(&aside);
    }
    let measured = if program.is_unknown() {
        let provider = &program.found.program.provider;
        tell(&Diagnostic::new(format!("checking what `{provider}` adds to the question, at most 20 s")));
        Some(program.measure(set_up)?)
    } else {
        None
    };
    let finding = measured.as_ref().or(program.known.finding.as_ref());
    if let Some(problem) = finding.and_then(|finding| program.refusal(finding)) {
        return Err(problem);
    }
    Ok(Some(Wrapped {
        program: program.found.program.executable().to_owned(),
        version: program.known.version.clone(),
        tools: finding.map(|finding| finding.tools.clone()).unwrap_or_default(),
        added_bytes: finding.map(|finding| finding.bytes_before + finding.bytes_after),
        requests: finding.map(|finding| finding.requests),
        checked_at: finding.map(|finding| finding.checked_at.clone()),
    }))
}
