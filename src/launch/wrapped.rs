//! Measurements of the programs in seats, looked up or made before opening.

use std::collections::{BTreeSet, HashMap};

use super::environment::Environment;
use super::error::no_problems;
use super::needs::asked_in_rounds;
use super::plan::RunMode;
use super::prepare::Tell;
use super::scripted_answers::Answers;
use crate::config::findings::InstalledProgram;
use crate::diagnostic::Diagnostic;
use crate::history::{SeatInfo, Session, Wrapped};

/// Returns notices about the user's settings that programs ignore, and the reasons why programs get no seat.
pub fn program_notes(
    session: &Session,
    answers: &Answers,
    set_up: &Environment,
) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let models: BTreeSet<&str> = asked_in_rounds(session, answers).map(|seat| seat.model.as_str()).collect();
    let programs = models.into_iter().filter_map(|model| set_up.installed(model).ok().flatten());
    let programs: Vec<InstalledProgram<'_>> = programs.collect();
    (
        programs.iter().filter_map(InstalledProgram::ignored_settings).collect(),
        programs.iter().filter_map(InstalledProgram::refusal).collect(),
    )
}

/// Returns each seat's program measurement by seat name. Measures unknown versions, announced to `tell`.
pub(super) fn wrapped_seats(
    session: &Session,
    answers: &Answers,
    set_up: &Environment,
    mode: RunMode,
    tell: Tell<'_>,
) -> Result<HashMap<String, Wrapped>, Vec<Diagnostic>> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut by_model: HashMap<&str, Option<Wrapped>> = HashMap::new();
    let seats: Vec<&SeatInfo> = asked_in_rounds(session, answers).collect();
    // A seat without its program fails in the round.
    let fails = |seat: &SeatInfo| mode == RunMode::Screen && set_up.catalog().check(&seat.model).is_err();
    for seat in seats.iter().filter(|seat| !fails(seat)) {
        by_model.entry(&seat.model).or_insert_with(|| {
            wrapped(&seat.model, set_up, tell).map_err(|problem| problems.push(problem)).ok().flatten()
        });
    }
    no_problems(problems)?;
    let found = |seat: &&SeatInfo| Some((seat.name.clone(), by_model.get(&*seat.model)?.clone()?));
    Ok(seats.iter().filter_map(found).collect())
}

/// Returns the measurement of a model's program; `None` if no program answers for it.
pub fn wrapped(model: &str, set_up: &Environment, tell: Tell<'_>) -> Result<Option<Wrapped>, Diagnostic> {
    let Some(mut program) = set_up.installed(model)? else { return Ok(None) };
    if let Some(aside) = program.ignored_settings() {
        tell(&aside);
    }
    if let Some(unknown) = program.unknown() {
        let provider = &unknown.provider;
        tell(&Diagnostic::new(format!("checking what `{provider}` adds to the question, at most 20 s")));
        program.measure()?;
    }
    program.refusal().map_or_else(|| Ok(Some(program.wrapped())), Err)
}
