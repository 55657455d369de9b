//! The seats of a session that are not scripted, and the programs and services behind them.

use std::collections::{HashMap, HashSet};

use super::environment::Environment;
use super::error::no_problems;
use super::scripted_answers::Answers;
use crate::config::programs::ConfiguredProgram;
use crate::config::{Need, ParticipantFactory, PathPolicy, program_need};
use crate::diagnostic::Diagnostic;
use crate::history::{SeatInfo, Session};
use crate::workflow::{Definition, ParticipantSpec, ProgramSpec, SeatTools, Step};

/// A seat that is asked something which is not scripted, and the program that it is, if it is one.
pub(super) struct Asked<'a> {
    pub seat: &'a SeatInfo,
    pub program: Option<&'a ProgramSpec>,
    /// The model's program may use its tools.
    allows_tools: bool,
    /// The models that may answer for it, in turn.
    pub models: Vec<&'a str>,
}

impl Asked<'_> {
    /// Returns the program that answers for its model with its tools, as the file allows; none where
    /// none does.
    pub fn with_tools(&self, catalog: &ParticipantFactory<'_>, file: &str) -> Option<ConfiguredProgram> {
        self.allows_tools.then(|| catalog.with_tools(&self.seat.model, file))?
    }
}

/// The steps that ask a seat something that is not scripted.
fn asking<'a>(
    definition: &'a Definition,
    seat: &'a SeatInfo,
    answers: &Answers,
) -> impl Iterator<Item = &'a Step> {
    let parts = answers.parts(definition, &seat.name);
    definition.all_steps().filter(move |step| seat.sits_in(definition, step) && !parts.contains_key(&step.id))
}

/// Everyone of a header's roster who is asked something that is not scripted.
pub(super) fn asked<'a>(session: &'a Session, answers: &'a Answers) -> impl Iterator<Item = Asked<'a>> {
    let definition = session.definition.as_ref();
    let specs: HashMap<&str, &ParticipantSpec> =
        definition.iter().flat_map(|one| &one.participants).map(|spec| (spec.name.as_str(), spec)).collect();
    session.roster.values().filter_map(move |seat| {
        let definition = definition?;
        let spec = specs.get(seat.name.as_str()).copied();
        let program = spec.and_then(|spec| spec.command.as_ref()).filter(|_| !seat.is_rehearsal());
        let fallbacks = spec.map_or(&[][..], |spec| spec.models_after(&seat.model));
        asking(definition, seat, answers).next().map(|_| Asked {
            seat,
            program,
            allows_tools: match spec {
                _ if seat.is_rehearsal() => false,
                Some(spec) => spec.tools == SeatTools::Allowed,
                None => definition.allows_tools(&seat.name),
            },
            models: std::iter::once(&seat.model).chain(fallbacks).map(String::as_str).collect(),
        })
    })
}

/// The names of all who are asked something in a round that is not scripted.
pub(super) fn asked_seats(session: &Session, answers: &Answers) -> HashSet<String> {
    let Some(definition) = &session.definition else { return HashSet::new() };
    let sits = |seat: &&SeatInfo| asking(definition, seat, answers).any(|step| step.round().is_some());
    session.roster.values().filter(sits).map(|seat| seat.name.clone()).collect()
}

pub(super) fn file_of(session: &Session) -> &str {
    session.header.as_ref().map_or("the definition", |header| &header.definition_file)
}

/// The programs that a session runs and the services that it asks, each once, in the roster's order, and
/// what of its evidence looks like a secret.
pub fn needs(
    session: &Session,
    set_up: &Environment,
    answers: &Answers,
) -> Result<Vec<Need>, Vec<Diagnostic>> {
    let catalog = &set_up.catalog();
    let (mut needs, mut problems): (Vec<Need>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for asked in asked(session, answers) {
        let file = file_of(session);
        let found = match (asked.program, asked.with_tools(catalog, file)) {
            (Some(program), _) => vec![Ok(Some(program_need(program, file)))],
            (None, Some(found)) => vec![Ok(Some(found.need()))],
            (None, None) => asked.models.iter().map(|model| catalog.need(model)).collect(),
        };
        for need in found {
            match need {
                Ok(need) => needs.extend(need.filter(|need| !needs.contains(need))),
                Err(problem) => problems.push(problem),
            }
        }
    }
    needs.extend(set_up.secrets(session));
    no_problems(problems)?;
    Ok(needs)
}

/// Returns the folders and recordings outside the project that a resumed session names.
pub(super) fn outside(session: &Session, answers: &Answers, bounds: &PathPolicy) -> Vec<Diagnostic> {
    let definition = session.definition.iter();
    let specs: Vec<_> = definition.flat_map(|definition| &definition.participants).collect();
    let of = |asked: Asked<'_>| {
        let spec = specs.iter().find(|spec| spec.name == asked.seat.name);
        let nobody = || ParticipantSpec::named(&asked.seat.name, (0, 0));
        let spec = spec.map_or_else(nobody, |spec| (*spec).clone());
        let outside = |model: &&str| bounds.of_participant(&spec, model);
        asked.models.iter().filter_map(outside).collect::<Vec<_>>()
    };
    asked(session, answers).flat_map(of).collect()
}
