//! What the programs that take seats were seen to send, looked up or measured before a session opens.

use std::collections::{BTreeSet, HashMap};

use super::environment::Environment;
use super::error::no_problems;
use super::needs::asked_in_rounds;
use super::prepare::Tell;
use super::scripted_answers::Answers;
use crate::config::findings::InstalledProgram;
use crate::diagnostic::Diagnostic;
use crate::history::{SeatInfo, Session, Wrapped};

/// Says what the programs of seats leave aside of the user's own settings, and why some take no seat.
pub fn program_notes(
    session: &Session,
    answers: &Answers,
    set_up: &Environment,
) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let models: BTreeSet<&str> = asked_in_rounds(session, answers).map(|seat| seat.model.as_str()).collect();
    let programs = models.into_iter().filter_map(|model| set_up.installed(model).ok().flatten());
    let programs: Vec<InstalledProgram<'_>> = programs.collect();
    (
        programs.iter().filter_map(InstalledProgram::aside).collect(),
        programs.iter().filter_map(InstalledProgram::refusal).collect(),
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
    let seats: Vec<&SeatInfo> = asked_in_rounds(session, answers).collect();
    for seat in &seats {
        by_model.entry(&seat.model).or_insert_with(|| {
            wrapped(&seat.model, set_up, tell).map_err(|problem| problems.push(problem)).ok().flatten()
        });
    }
    no_problems(problems)?;
    let found = |seat: &&SeatInfo| Some((seat.name.clone(), by_model[&*seat.model].clone()?));
    Ok(seats.iter().filter_map(found).collect())
}

/// Returns what a model's program was seen to send; none where no program answers for it.
pub fn wrapped(model: &str, set_up: &Environment, tell: Tell<'_>) -> Result<Option<Wrapped>, Diagnostic> {
    let Some(mut program) = set_up.installed(model)? else { return Ok(None) };
    if let Some(aside) = program.aside() {
        tell(&aside);
    }
    if let Some(unknown) = program.unknown() {
        let provider = &unknown.provider;
        tell(&Diagnostic::new(format!("checking what `{provider}` adds to the question, at most 20 s")));
        program.measure()?;
    }
    program.refusal().map_or_else(|| Ok(Some(program.wrapped())), Err)
}
