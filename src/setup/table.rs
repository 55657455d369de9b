//! From a header to a table: everyone who may still be asked, with what they have said already.

use std::collections::HashMap;
use std::sync::Arc;

use super::answers::Answers;
use super::models::Catalog;
use crate::engine::Table;
use crate::participants::Participant;
use crate::participants::scripted::{Part, Scripted};
use crate::persona::Persona;
use crate::problem::Problem;
use crate::round::record::Returned;
use crate::session::{SeatStatus, Session, WorkItemReturned};

/// The personas of a header, as participants are handed them.
pub fn personas_of(session: &Session) -> HashMap<String, Arc<Persona>> {
    let personas = session.header.as_ref().map(|header| header.personas.as_slice()).unwrap_or_default();
    personas
        .iter()
        .map(|info| {
            let persona = Persona {
                description: info.description.clone(),
                tags: info.tags.clone(),
                priorities: info.priorities.clone(),
                text: info.text.clone(),
                ..Persona::nobody(&info.name)
            };
            (info.name.clone(), Arc::new(persona))
        })
        .collect()
}

/// Seats everyone of a header's roster who may still be asked.
///
/// # Errors
/// A service whose key is missing, a recording that cannot be read.
pub fn seat_all(
    session: &Session,
    catalog: &mut Catalog<'_>,
    answers: &Answers,
) -> Result<Table, Vec<Problem>> {
    let mut table = Table::new();
    let mut problems: Vec<Problem> = Vec::new();
    let Some(definition) = &session.definition else { return Ok(table) };
    for seat in session.roster.values() {
        let parts = answers.parts(definition, &seat.name);
        let asks_model = definition
            .all_steps()
            .any(|step| seat.sits_in(definition, step) && !parts.contains_key(&step.id));
        let participant = if asks_model {
            let program = definition.participants.iter().find(|spec| spec.name == seat.name);
            match program.and_then(|spec| spec.command.as_ref()) {
                Some(program) => Some(catalog.program(program)),
                None => match catalog.participant(&seat.model) {
                    Ok(participant) => Some(participant),
                    Err(problem) => {
                        if !problems.contains(&problem) {
                            problems.push(problem);
                        }
                        continue;
                    }
                },
            }
        } else {
            None
        };
        let participant: Arc<dyn Participant> = match participant {
            Some(participant) if parts.is_empty() => participant,
            otherwise => Arc::new(Scripted::new(parts.clone(), used(session, &seat.name, &parts), otherwise)),
        };
        table.insert(seat.name.clone(), participant);
    }
    if problems.is_empty() { Ok(table) } else { Err(problems) }
}

/// How many scripted answers of each step a seat has used up, from what the log holds of it.
fn used(session: &Session, seat: &str, parts: &HashMap<String, Part>) -> HashMap<String, usize> {
    let mut used = HashMap::new();
    for round in session.rounds.iter().filter(|round| parts.contains_key(&round.opened.step)) {
        let tries = match round.seat(seat).map(|seat| &seat.status) {
            Some(SeatStatus::Revealed(answer, _)) => answer.replies.len(),
            Some(SeatStatus::Failed(_) | SeatStatus::Sealed(_)) => 1,
            _ => 0,
        };
        *used.entry(round.opened.step.clone()).or_insert(0) += tries;
    }
    for item in session.items.values().filter(|item| item.offered.participant == seat) {
        // A try that failed on the way used one answer up beside those that came.
        let of_try = |back: &WorkItemReturned| {
            let is_counted = |reply: &Returned| reply.reason.is_none();
            let ended = back.replies.last().is_some_and(is_counted) || back.replies.len() == 2;
            back.replies.len() + usize::from(!ended)
        };
        let tries: usize = item.returned.iter().map(|(back, _)| of_try(back)).sum();
        *used.entry(item.offered.step.clone()).or_insert(0) += tries;
    }
    used
}
