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
use crate::workflow::{Definition, ParticipantSpec, Step};

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

/// Where a roster is resolved from.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The definition.
    pub definition: &'a Definition,
    /// Its file, for messages.
    pub file: &'a str,
    /// The personas.
    pub library: &'a Library,
    /// The models.
    pub catalog: &'a Catalog<'a>,
    /// The settings.
    pub config: &'a Config,
    /// What the command line says of models.
    pub flags: &'a ModelFlags,
    /// Scripted answers.
    pub answers: &'a Answers,
}

/// Finds the persona and model of every participant that a round seats.
///
/// # Errors
/// Every missing persona, persona with a tool, seated program, and invalid model.
pub fn resolve(from: Sources<'_>) -> Result<Roster, Vec<Problem>> {
    let mut roster = Roster::default();
    let mut problems = from.unknown_flags();
    let mut personas: IndexMap<String, Option<Persona>> = IndexMap::new();
    for spec in from.definition.participants.iter().filter(|spec| from.is_seated(spec)) {
        let at = |problem: Problem| problem.at(from.file, spec.place.0, spec.place.1);
        let scripted = from.scripted_steps(spec);
        let needs_nobody = from.is_all_scripted(spec, &scripted);
        if !personas.contains_key(&spec.persona) {
            match from.persona(spec, &mut roster.notices) {
                Ok(persona) => personas.insert(spec.persona.clone(), Some(persona)),
                Err(_) if needs_nobody => personas.insert(spec.persona.clone(), None),
                Err(problem) => {
                    say_once(at(problem), &mut problems);
                    continue;
                }
            };
        }
        let persona = personas.get(&spec.persona).and_then(Option::as_ref);
        let (model, named_by) = from.model(spec, persona, &mut roster.notices);
        if !needs_nobody {
            let refusals = refusal(spec, persona).into_iter().map(at);
            let of_model =
                from.catalog.check(&model).err().map(|problem| named_by.blame(problem, spec, from.file));
            let new: Vec<Problem> =
                refusals.chain(of_model).filter(|problem| !problems.contains(problem)).collect();
            problems.extend(new);
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

impl Sources<'_> {
    fn unknown_flags(&self) -> Vec<Problem> {
        let participants = &self.definition.participants;
        let known: Vec<&str> = participants.iter().map(|spec| spec.name.as_str()).collect();
        let is_known =
            |name: &String| participants.iter().any(|spec| spec.name == *name || spec.persona == *name);
        let unknown = |name: &String| {
            Problem::new(format!("--model names no participant: `{name}`"))
                .hint(crate::problem::did_you_mean(name, &known))
        };
        self.flags.named.keys().filter(|name| !is_known(name)).map(unknown).collect()
    }

    fn is_seated(&self, spec: &ParticipantSpec) -> bool {
        self.definition.steps.iter().any(|step| is_seated_in(spec, step))
    }

    fn persona(&self, spec: &ParticipantSpec, notices: &mut Vec<Problem>) -> Result<Persona, Problem> {
        if let Some(text) = &spec.prompt {
            return Ok(own_persona(&spec.persona, text));
        }
        let found = self.library.find(&spec.persona)?;
        let notice = |text: &String| Problem::new(text.clone()).in_file(&found.from);
        notices.extend(found.persona.notices.iter().map(notice));
        Ok(found.persona)
    }

    fn scripted_steps(&self, spec: &ParticipantSpec) -> Vec<String> {
        let parts = self.answers.parts(&spec.name);
        let is_scripted = |step: &&Step| step.round().is_some() && parts.contains_key(&step.id);
        self.definition.steps.iter().filter(is_scripted).map(|step| step.id.clone()).collect()
    }

    /// Whether no step asks the seat anything that is not scripted.
    fn is_all_scripted(&self, spec: &ParticipantSpec, scripted: &[String]) -> bool {
        let mut seated = self.definition.steps.iter().filter(|step| is_seated_in(spec, step));
        seated.all(|step| scripted.contains(&step.id))
    }

    fn model(
        &self,
        spec: &ParticipantSpec,
        persona: Option<&Persona>,
        notices: &mut Vec<Problem>,
    ) -> (String, NamedBy) {
        model_of(spec, persona, self.config, self.flags, notices)
    }
}

/// Why a participant cannot be asked, whatever its model.
fn refusal(spec: &ParticipantSpec, persona: Option<&Persona>) -> Option<Problem> {
    if spec.is_command {
        let message =
            format!("`{}` is an external program and cannot take a seat in a blind round", spec.name);
        return Some(Problem::new(message).hint("seat a persona with a model, or script its answers"));
    }
    if let Some(tool) = persona.and_then(|persona| persona.tools.first()) {
        let message = format!("persona `{}` lists the tool `{tool}`; a blind seat has none", spec.persona);
        return Some(Problem::new(message).hint("set `tools: []` in the persona"));
    }
    None
}

fn is_seated_in(spec: &ParticipantSpec, step: &Step) -> bool {
    step.round().is_some_and(|round| round.participants.holds(&spec.name))
}

/// The persona of a participant that brings its own text.
fn own_persona(name: &str, text: &str) -> Persona {
    Persona {
        name: name.to_owned(),
        description: String::new(),
        model: None,
        tools: Vec::new(),
        tags: Vec::new(),
        priorities: IndexMap::new(),
        text: format!("{}\n", text.trim_end()),
        notices: Vec::new(),
    }
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
