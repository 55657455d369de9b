//! From a header to a table: everyone who may still be asked, with what they have said already.

use std::collections::HashMap;
use std::sync::Arc;

use super::scripted_answers::Answers;
use crate::config::{Need, ParticipantFactory, PathPolicy, program_need};
use crate::diagnostic::Diagnostic;
use crate::engine::SeatedParticipants;
use crate::history::{SeatInfo, SeatStatus, Session, WorkItemReturned};
use crate::participants::Participant;
use crate::participants::scripted::{ScriptedParticipant, ScriptedSeat};
use crate::persona::Persona;
use crate::round::record::ReplyAttempt;
use crate::workflow::{ParticipantSpec, ProgramSpec};

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

/// A seat that is asked something which is not scripted, and the program that it is, if it is one.
struct Asked<'a> {
    seat: &'a SeatInfo,
    program: Option<&'a ProgramSpec>,
}

/// Everyone of a header's roster who is asked something that is not scripted.
fn asked<'a>(session: &'a Session, answers: &'a Answers) -> impl Iterator<Item = Asked<'a>> {
    let definition = session.definition.as_ref();
    session.roster.values().filter_map(move |seat| {
        let definition = definition?;
        let parts = answers.parts(definition, &seat.name);
        let mut steps = definition.all_steps();
        let spec = definition.participants.iter().find(|spec| spec.name == seat.name);
        let program = spec.and_then(|spec| spec.command.as_ref());
        steps
            .any(|step| seat.sits_in(definition, step) && !parts.contains_key(&step.id))
            .then_some(Asked { seat, program })
    })
}

/// The file that names a session's programs.
fn file_of(session: &Session) -> &str {
    session.header.as_ref().map_or("the definition", |header| &header.definition_file)
}

/// The programs that a session runs and the services that it asks, each once, in the roster's order.
///
/// # Errors
/// A service without an address, or one that a project would have sent another's key.
pub fn needs(
    session: &Session,
    catalog: &ParticipantFactory<'_>,
    answers: &Answers,
) -> Result<Vec<Need>, Vec<Diagnostic>> {
    let (mut needs, mut problems): (Vec<Need>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for Asked { seat, program } in asked(session, answers) {
        let need = match program {
            Some(program) => Ok(Some(program_need(program, file_of(session)))),
            None => catalog.need(&seat.model),
        };
        match need {
            Ok(need) => needs.extend(need.filter(|need| !needs.contains(need))),
            Err(problem) if problems.contains(&problem) => {}
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(needs) } else { Err(problems) }
}

/// What a session that goes on names outside the project: folders and recordings.
pub fn outside(session: &Session, answers: &Answers, bounds: &PathPolicy) -> Vec<Diagnostic> {
    let definition = session.definition.iter();
    let specs: Vec<_> = definition.flat_map(|definition| &definition.participants).collect();
    let of = |asked: Asked<'_>| {
        let spec = specs.iter().find(|spec| spec.name == asked.seat.name);
        let nobody = || ParticipantSpec::named(&asked.seat.name, (0, 0));
        bounds.of_participant(&spec.map_or_else(nobody, |spec| (*spec).clone()), Some(&asked.seat.model))
    };
    asked(session, answers).filter_map(of).collect()
}

/// Seats everyone of a header's roster who may still be asked. Nothing is run or sent.
///
/// # Errors
/// A service whose key is missing, a recording that cannot be read, what the user has not agreed to.
pub fn seat_participants(
    session: &Session,
    catalog: &mut ParticipantFactory<'_>,
    answers: &Answers,
) -> Result<SeatedParticipants, Vec<Diagnostic>> {
    let mut table = SeatedParticipants::new();
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut made: HashMap<&str, Arc<dyn Participant>> = HashMap::new();
    for Asked { seat, program } in asked(session, answers) {
        let participant = match program {
            Some(program) => catalog.program(program, file_of(session)),
            None => catalog.participant(&seat.model),
        };
        match participant {
            Ok(participant) => drop(made.insert(&seat.name, participant)),
            Err(problem) if problems.contains(&problem) => {}
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let Some(definition) = &session.definition else { return Ok(table) };
    for seat in session.roster.values() {
        let parts = answers.parts(definition, &seat.name);
        let participant: Arc<dyn Participant> = match made.remove(seat.name.as_str()) {
            Some(participant) if parts.is_empty() => participant,
            otherwise => Arc::new(ScriptedParticipant::new(
                parts.clone(),
                used(session, &seat.name, &parts),
                otherwise,
            )),
        };
        table.insert(seat.name.clone(), participant);
    }
    Ok(table)
}

/// How many scripted answers of each step a seat has used up, from what the log holds of it.
fn used(session: &Session, seat: &str, parts: &HashMap<String, ScriptedSeat>) -> HashMap<String, usize> {
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
            let is_counted = |reply: &ReplyAttempt| reply.reason.is_none();
            let ended = back.replies.last().is_some_and(is_counted) || back.replies.len() == 2;
            back.replies.len() + usize::from(!ended)
        };
        let tries: usize = item.returned.iter().map(|(back, _)| of_try(back)).sum();
        *used.entry(item.offered.step.clone()).or_insert(0) += tries;
    }
    used
}
