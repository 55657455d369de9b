//! Needs of a session's seats: scripts, programs, services and prices.

use std::collections::HashMap;

use super::environment::Environment;
use super::error::no_problems;
use super::scripted_answers::Answers;
use crate::config::prices::{highest_price_of, needed_price};
use crate::config::programs::ConfiguredProgram;
use crate::config::{Need, ParticipantFactory, PathPolicy};
use crate::diagnostic::Diagnostic;
use crate::engine::Budget;
use crate::history::{NO_MODEL, Price, SeatInfo, Session};
use crate::participants::scripted::{Script, ScriptedReply};
use crate::workflow::{ParticipantSpec, ProgramSpec, SeatTools, Step};

/// Seat of the roster: its scripted answers, and the candidates that answer in other steps.
pub(super) struct RosterSeat<'a> {
    pub seat: &'a SeatInfo,
    /// Scripted answers by step.
    pub parts: HashMap<String, Script<ScriptedReply>>,
    /// Asked in at least one step that is not scripted.
    pub is_asked: bool,
    is_asked_in_rounds: bool,
    command: Option<&'a ProgramSpec>,
    /// The model's program may use its tools.
    allows_tools: bool,
    /// Models that may answer, in order.
    pub models: Vec<&'a str>,
}

impl RosterSeat<'_> {
    /// Returns the seat's command, or its model's program with tools allowed; `None` if only a model answers.
    pub fn program(&self, catalog: &ParticipantFactory<'_>, file: &str) -> Option<ConfiguredProgram> {
        match self.command {
            Some(command) => Some(ConfiguredProgram::of_command(command, file)),
            None => self.allows_tools.then(|| catalog.with_tools(&self.seat.model, file))?,
        }
    }
}

pub(super) fn roster<'a>(session: &'a Session, answers: &Answers) -> Vec<RosterSeat<'a>> {
    let definition = session.definition();
    let specs: HashMap<&str, &ParticipantSpec> =
        definition.participants.iter().map(|spec| (spec.name.as_str(), spec)).collect();
    let seat = |seat: &'a SeatInfo| {
        let spec = specs.get(seat.name.as_str()).copied();
        let parts = answers.parts(definition, &seat.name);
        let is_asking = |step: &&Step| seat.sits_in(definition, step) && !parts.contains_key(&step.id);
        let asking: Vec<&Step> = definition.all_steps().filter(is_asking).collect();
        let allows_tools = spec.map_or_else(
            || definition.allows_tools(&seat.name),
            |spec| spec.tools == Some(SeatTools::Allowed),
        );
        let models = spec.map(|spec| spec.models_from(&seat.model).collect::<Vec<&str>>());
        RosterSeat {
            seat,
            is_asked: !asking.is_empty(),
            is_asked_in_rounds: asking.iter().any(|step| step.round().is_some()),
            parts,
            command: spec.and_then(|spec| spec.command.as_ref()).filter(|_| !seat.is_rehearsal()),
            allows_tools: allows_tools && !seat.is_rehearsal(),
            models: models.unwrap_or_else(|| vec![&seat.model]),
        }
    };
    session.roster.values().map(seat).collect()
}

/// Returns the seats that are asked in a round without a script.
pub(super) fn asked_in_rounds<'a>(
    session: &'a Session,
    answers: &Answers,
) -> impl Iterator<Item = &'a SeatInfo> {
    roster(session, answers).into_iter().filter(|seat| seat.is_asked_in_rounds).map(|seat| seat.seat)
}

pub(super) fn file_of(session: &Session) -> &str {
    session.header.as_ref().map_or("the definition", |header| &header.definition_file)
}

/// Returns the needs of a session in roster order, without duplicates: programs, services, and the project's
/// prices that a cost limit needs. Evidence that looks like a secret follows.
pub fn needs(
    session: &Session,
    set_up: &Environment,
    answers: &Answers,
    max_usd: Option<f64>,
) -> Result<Vec<Need>, Vec<Diagnostic>> {
    let catalog = &set_up.catalog();
    let (mut needs, mut problems): (Vec<Need>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    let file = file_of(session);
    for asked in roster(session, answers).iter().filter(|seat| seat.is_asked) {
        let found = match asked.program(catalog, file) {
            Some(found) => vec![Ok(Some(found.need()))],
            None => asked.models.iter().map(|model| catalog.need(model)).collect(),
        };
        for need in found {
            match need {
                Ok(need) => needs.extend(need.filter(|need| !needs.contains(need))),
                Err(problem) => problems.push(problem),
            }
        }
        if max_usd.or(session.definition().budget).is_some() {
            let prices = asked.models.iter().filter_map(|model| needed_price(catalog, model)).cloned();
            needs.extend(prices.filter(|price| !needs.contains(price)).collect::<Vec<_>>());
        }
    }
    needs.extend(set_up.secrets(session));
    no_problems(problems)?;
    Ok(needs)
}

/// Returns an error for each recording outside the project that a resumed session names.
pub(super) fn outside(session: &Session, answers: &Answers, bounds: &PathPolicy) -> Vec<Diagnostic> {
    let asked = roster(session, answers).into_iter().filter(|seat| seat.is_asked && seat.command.is_none());
    asked.flat_map(|seat| seat.models).filter_map(|model| bounds.check_recording(model)).collect()
}

/// Returns the cost limit: the smaller of `max_usd` and the definition's. Fails if a model's price is unknown.
pub fn budget(
    max_usd: Option<f64>,
    session: &Session,
    answers: &Answers,
    set_up: &Environment,
) -> Result<Option<Budget>, Vec<Diagnostic>> {
    let limits = max_usd.into_iter().chain(session.definition().budget);
    let Some(limit) = limits.reduce(f64::min) else { return Ok(None) };
    let prices = known_prices(session, set_up);
    let catalog = set_up.catalog();
    let asked = roster(session, answers).into_iter().filter(|seat| seat.is_asked);
    let models = asked.flat_map(|seat| seat.models).filter(|model| *model != NO_MODEL);
    no_problems(models.filter_map(|model| highest_price_of(&catalog, model).err()).collect())?;
    let mut budget = Budget::new(limit, prices, set_up.config.reply_limits());
    budget.resume(session);
    Ok(Some(budget))
}

/// Returns the known prices of a session's models.
pub fn known_prices(session: &Session, set_up: &Environment) -> HashMap<String, Price> {
    let catalog = set_up.catalog();
    let priced = |model: &str| Some((model.to_owned(), highest_price_of(&catalog, model).ok()?));
    models(session).filter_map(priced).collect()
}

/// Returns every model that may answer.
fn models(session: &Session) -> impl Iterator<Item = &str> {
    let specs = session.definition().participants.iter();
    let lists =
        specs.filter_map(|spec| Some(spec.models_from(&session.roster.get(&spec.name)?.model).skip(1)));
    session.roster.values().map(|seat| seat.model.as_str()).chain(lists.flatten())
}
