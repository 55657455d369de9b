//! From a definition to a session that can open: personas found, models chosen, seats taken.
//!
//! A participant's model is the first given of: `--model NAME=…`, `<NAME>_MODEL` in the environment,
//! the definition, the persona, `--model …`, the configured default, `rehearsal`.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;

use super::answers::Answers;
use super::config::Config;
use super::models::{Catalog, is_model};
use super::personas::Library;
use crate::engine::Table;
use crate::participants::Participant;
use crate::participants::scripted::{Part, Scripted};
use crate::persona::Persona;
use crate::problem::Problem;
use crate::round::snapshot::sha256_hex;
use crate::session::{PersonaInfo, SeatInfo, SeatStatus, Session};
use crate::workflow::{Definition, ParticipantSpec};

/// What the command line says about models.
#[derive(Debug, Clone, Default)]
pub struct ModelFlags {
    /// `--model provider/model`.
    pub all: Option<String>,
    /// `--model NAME=provider/model`.
    pub named: HashMap<String, String>,
}

impl ModelFlags {
    /// Reads the values of `--model`.
    pub fn parse(values: &[String]) -> Self {
        let mut flags = Self::default();
        for value in values {
            match value.split_once('=') {
                Some((name, model)) => {
                    flags.named.insert(name.to_owned(), model.to_owned());
                }
                None => flags.all = Some(value.clone()),
            }
        }
        flags
    }
}

/// A roster: what the header says of it, and what should be said about it.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    /// The seats.
    pub seats: Vec<SeatInfo>,
    /// Their personas.
    pub personas: Vec<PersonaInfo>,
    /// Notices for the facilitator.
    pub notices: Vec<Problem>,
}

/// Finds every participant's persona and model.
///
/// # Errors
/// Every missing persona, persona with a tool, and invalid model.
pub fn resolve(
    definition: &Definition,
    file: &str,
    library: &Library,
    catalog: &Catalog<'_>,
    config: &Config,
    flags: &ModelFlags,
    answers: &Answers,
) -> Result<Roster, Vec<Problem>> {
    let mut roster = Roster::default();
    let mut problems = Vec::new();
    let mut personas: IndexMap<String, Option<Persona>> = IndexMap::new();
    for name in flags.named.keys() {
        if !definition.participants.iter().any(|p| p.name == *name || p.persona == *name) {
            let known: Vec<&str> = definition.participants.iter().map(|p| p.name.as_str()).collect();
            problems.push(
                Problem::new(format!("--model names no participant: `{name}`"))
                    .hint(crate::problem::did_you_mean(name, &known)),
            );
        }
    }
    for spec in &definition.participants {
        let at = |problem: Problem| problem.at(file, spec.place.0, spec.place.1);
        let scripted = scripted_steps(definition, spec, answers);
        if !personas.contains_key(&spec.persona) {
            let found = match library.find(&spec.persona) {
                Ok(found) => {
                    let notices = &found.persona.notices;
                    let notice = |text: &String| Problem::new(text.clone()).in_file(&found.from);
                    roster.notices.extend(notices.iter().map(notice));
                    Some(found.persona)
                }
                Err(_) if is_all_scripted(definition, spec, &scripted) => None,
                Err(problem) => {
                    say_once(at(problem), &mut problems);
                    continue;
                }
            };
            personas.insert(spec.persona.clone(), found);
        }
        let persona = personas.get(&spec.persona).and_then(Option::as_ref);
        if let Some(tool) = persona.and_then(|persona| persona.tools.first()) {
            let message =
                format!("persona `{}` lists the tool `{tool}`; a blind seat has none", spec.persona);
            problems.push(at(Problem::new(message).hint("set `tools: []` in the persona")));
        }
        let (model, from) = model_of(spec, persona, config, flags, &mut roster.notices);
        match catalog.check(&model) {
            Err(problem) if !is_all_scripted(definition, spec, &scripted) => {
                say_once(from.blame(problem, spec, file), &mut problems);
            }
            _ => {}
        }
        roster.seats.push(SeatInfo {
            name: spec.name.clone(),
            persona: spec.persona.clone(),
            model,
            weight: spec.weight,
            seed: spec.seed,
            scripted,
        });
    }
    roster.personas = personas.into_iter().map(|(name, persona)| persona_info(name, persona)).collect();
    roster.notices.dedup();
    if problems.is_empty() { Ok(roster) } else { Err(problems) }
}

/// Several seats may share one fault.
fn say_once(problem: Problem, problems: &mut Vec<Problem>) {
    if !problems.contains(&problem) {
        problems.push(problem);
    }
}

fn scripted_steps(definition: &Definition, spec: &ParticipantSpec, answers: &Answers) -> Vec<String> {
    let parts = answers.parts(&spec.name);
    let scripted =
        definition.steps.iter().filter(|step| step.round().is_some() && parts.contains_key(&step.id));
    scripted.map(|step| step.id.clone()).collect()
}

/// Whether no step asks the seat anything that is not scripted.
fn is_all_scripted(definition: &Definition, spec: &ParticipantSpec, scripted: &[String]) -> bool {
    definition.steps.iter().all(|step| {
        step.round().is_none_or(|round| !round.participants.holds(&spec.name) || scripted.contains(&step.id))
    })
}

/// Whether a model's name is one: `inherit` leaves the choice to what comes next.
fn is_given(model: &impl AsRef<str>) -> bool {
    !matches!(model.as_ref(), "" | "inherit")
}

/// Who named a model.
enum NamedBy {
    Flag,
    Variable(String),
    Definition,
    Persona,
    Configuration(String),
}

impl NamedBy {
    /// Says of a problem with the model where it was named.
    fn blame(&self, problem: Problem, spec: &ParticipantSpec, file: &str) -> Problem {
        let named = |by: &str| Problem { message: format!("{by}: {}", problem.message), ..problem.clone() };
        match self {
            Self::Flag => named("--model"),
            Self::Variable(name) => named(name),
            Self::Configuration(from) => named(&format!("`model` of {from}")),
            Self::Persona => named(&format!("persona `{}`", spec.persona)),
            Self::Definition => problem.at(file, spec.place.0, spec.place.1),
        }
    }
}

fn model_of(
    spec: &ParticipantSpec,
    persona: Option<&Persona>,
    config: &Config,
    flags: &ModelFlags,
    notices: &mut Vec<Problem>,
) -> (String, NamedBy) {
    let flag = |model: &String| (model.clone(), NamedBy::Flag);
    let by_flag =
        flags.named.get(&spec.name).or_else(|| flags.named.get(&spec.persona)).filter(is_given).map(flag);
    let variable = |name: &str| {
        let name = format!("{}_MODEL", name.to_uppercase().replace('-', "_"));
        let model = std::env::var(&name).ok().filter(is_given)?;
        Some((model, NamedBy::Variable(name)))
    };
    let by_environment = || variable(&spec.name).or_else(|| variable(&spec.persona));
    let by_persona = persona.and_then(|persona| persona.model.clone()).filter(is_given).filter(|model| {
        if is_model(model) {
            return true;
        }
        let message =
            format!("the model `{model}` of persona `{}` is not `provider/model`: not used", spec.persona);
        notices.push(Problem::new(message));
        false
    });
    let configured = || {
        let model = config.model.value.clone().filter(is_given)?;
        Some((model, NamedBy::Configuration(config.model.from.clone())))
    };
    by_flag
        .or_else(by_environment)
        .or_else(|| Some((spec.model.clone().filter(is_given)?, NamedBy::Definition)))
        .or_else(|| Some((by_persona?, NamedBy::Persona)))
        .or_else(|| flags.all.as_ref().filter(is_given).map(flag))
        .or_else(configured)
        .unwrap_or_else(|| ("rehearsal".to_owned(), NamedBy::Definition))
}

fn persona_info(name: String, persona: Option<Persona>) -> PersonaInfo {
    let text = persona.as_ref().map(|persona| persona.text.clone()).unwrap_or_default();
    PersonaInfo {
        name,
        sha256: sha256_hex(&text),
        description: persona.as_ref().map(|persona| persona.description.clone()).unwrap_or_default(),
        tags: persona.as_ref().map(|persona| persona.tags.clone()).unwrap_or_default(),
        priorities: persona.map(|persona| persona.priorities).unwrap_or_default(),
        text,
    }
}

/// The personas of a header, as participants are handed them.
pub fn personas_of(session: &Session) -> HashMap<String, Arc<Persona>> {
    let personas = session.header.as_ref().map(|header| header.personas.as_slice()).unwrap_or_default();
    personas
        .iter()
        .map(|info| {
            let persona = Persona {
                name: info.name.clone(),
                description: info.description.clone(),
                model: None,
                tools: Vec::new(),
                tags: info.tags.clone(),
                priorities: info.priorities.clone(),
                text: info.text.clone(),
                notices: Vec::new(),
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
        let parts = answers.parts(&seat.name);
        let asks_model = definition.steps.iter().any(|step| {
            step.round().is_some_and(|round| round.participants.holds(&seat.name))
                && !parts.contains_key(&step.id)
        });
        let participant = if asks_model {
            match catalog.participant(&seat.model) {
                Ok(participant) => Some(participant),
                Err(problem) => {
                    say_once(problem, &mut problems);
                    continue;
                }
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
    used
}
