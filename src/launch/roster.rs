//! From a definition to a session that can open: personas found, models chosen, seats taken.
//!
//! A participant's model is the first given of: `--model NAME=…`, `<NAME>_MODEL` in the environment,
//! the definition, `--model …`, the persona, the configured default.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::error::no_problems;
use super::scripted_answers::Answers;
use crate::config::{Config, ParticipantFactory, PathPolicy, PersonaLibrary, is_model, price_of};
use crate::core::ROLE_WITHOUT_PERSONA;
use crate::diagnostic::{Diagnostic, nearest};
use crate::history::{NO_MODEL, PersonaInfo, Price, ProviderSettings, SeatInfo};
use crate::participants::api::ApiStyle;
use crate::persona::Persona;
use crate::words::model_meant;
use crate::workflow::{Definition, ParticipantSpec, SeatTools, Step};

/// A roster: what the header says of it, and what should be said about it.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    pub seats: Vec<SeatInfo>,
    pub personas: Vec<PersonaInfo>,
    /// Known prices of the models that a service answers.
    pub prices: IndexMap<String, Price>,
    pub providers: IndexMap<String, ProviderSettings>,
    pub notices: Vec<Diagnostic>,
}

#[derive(Clone, Copy)]
pub struct RosterInputs<'a> {
    pub definition: &'a Definition,
    pub file: &'a str,
    pub library: &'a PersonaLibrary,
    pub catalog: &'a ParticipantFactory<'a>,
    pub bounds: &'a PathPolicy,
    pub config: &'a Config,
    pub flags: &'a ModelFlags,
    pub answers: &'a Answers,
    pub rehearse: bool,
    pub nobody: UnknownAgentPolicy,
}

/// The treatment of an agent that is no participant, no persona, and not scripted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownAgentPolicy {
    Refused,
    /// It is noticed: its answers may still be scripted.
    Noticed,
}

/// Who may take a seat or do the work of an agent, the steps that ask it, and those of them whose answers
/// are scripted.
struct Candidate<'a> {
    spec: ParticipantSpec,
    steps: Vec<&'a Step>,
    scripted: Vec<String>,
}

impl Candidate<'_> {
    fn is_seated(&self) -> bool {
        self.steps.iter().any(|step| step.round().is_some())
    }
}

/// Finds the persona and model of everyone whom a step asks.
///
/// With it come the errors: every missing persona, persona with a tool in a round, seated program, agent
/// that is nobody, and invalid model.
pub fn resolve(from: RosterInputs<'_>) -> (Roster, Vec<Diagnostic>) {
    let mut roster = Roster::default();
    let mut problems = from.unknown_flags();
    let mut personas: IndexMap<String, Option<Persona>> = IndexMap::new();
    for candidate in from.everyone() {
        let spec = &candidate.spec;
        let at = |problem: Diagnostic| problem.at(from.file, spec.place.0, spec.place.1);
        let needs_nobody = candidate.steps.len() == candidate.scripted.len();
        if !personas.contains_key(&spec.persona) {
            let persona = match from.persona(spec, &mut roster.notices) {
                Ok(persona) => Some(persona),
                Err(problem) => {
                    // A persona that cannot be read is reported as such.
                    let is_missing = problem.place.is_none();
                    if needs_nobody || is_missing && from.needs_no_persona(&candidate) {
                        roster.notices.extend(from.near_persona(spec).map(at));
                    } else if from.nobody == UnknownAgentPolicy::Noticed && from.is_nobody(spec) {
                        roster.notices.push(at(from.say_nobody(spec)));
                    } else if is_missing && from.is_nobody(spec) {
                        problems.push(at(from.say_nobody(spec)));
                    } else if is_missing {
                        problems.push(at(or_a_model(&spec.name, problem)));
                    } else {
                        problems.push(at(problem));
                    }
                    None
                }
            };
            personas.insert(spec.persona.clone(), persona);
        }
        let persona = personas.get(&spec.persona).and_then(Option::as_ref);
        let (model, named_by) = from.model(spec, persona, &mut roster.notices);
        if !needs_nobody {
            problems.extend(from.seat_problems(&candidate, persona, &model, &named_by, &mut roster.notices));
        }
        let has_no_persona = persona.is_none() && !spec.needs_persona && candidate.is_seated();
        let role = spec.role.clone().or_else(|| has_no_persona.then(|| ROLE_WITHOUT_PERSONA.to_owned()));
        roster.seats.push(SeatInfo { role, ..SeatInfo::given(spec, model, candidate.scripted) });
    }
    roster.personas = personas.into_iter().map(|(name, persona)| PersonaInfo::of(name, persona)).collect();
    roster.notices.extend(from.unsent_seeds(&roster.seats));
    roster.notices.extend(from.idle_flag(&roster.seats));
    roster.notices.extend(crate::config::unreachable(from.definition, &roster.seats, from.file));
    let fallbacks = from.definition.participants.iter().flat_map(|spec| &spec.fallbacks);
    let models: Vec<&String> = roster.seats.iter().map(|seat| &seat.model).chain(fallbacks).collect();
    roster.prices = from.prices(&models);
    roster.providers = from.catalog.provider_settings(&models);
    roster.notices.dedup();
    // Several seats may share one fault.
    (roster, no_problems(problems).err().unwrap_or_default())
}

impl<'a> RosterInputs<'a> {
    /// Returns the reasons why a participant cannot be asked.
    fn seat_problems(
        &self,
        candidate: &Candidate<'_>,
        persona: Option<&Persona>,
        model: &str,
        named_by: &ModelOrigin,
        notices: &mut Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let spec = &candidate.spec;
        let at = |problem: Diagnostic| problem.at(self.file, spec.place.0, spec.place.1);
        let fallbacks = spec.models_after(model);
        let models = || std::iter::once(model).chain(fallbacks.iter().map(String::as_str));
        let is_named = spec.command.is_none() && model != NO_MODEL;
        let unusable = models().filter(|_| is_named).filter_map(|model| self.catalog.check(model).err());
        let mut problems: Vec<_> = unusable.map(|problem| named_by.blame(problem, spec, self.file)).collect();
        // One usable model of a list is enough.
        if problems.len() <= fallbacks.len() {
            notices.append(&mut problems);
        }
        let in_file = matches!(named_by, ModelOrigin::Definition | ModelOrigin::Persona);
        let outside = models().filter(|_| in_file);
        let outside = outside.filter_map(|model| self.bounds.of_participant(spec, model));
        let of_seat = candidate.is_seated().then(|| refusal(spec, persona)).flatten();
        notices.extend(left_out(spec, persona));
        let of_tools = self.tools_error(spec, model);
        let of_spec = of_seat.into_iter().chain(outside).chain(of_tools);
        problems.extend(of_spec.chain(self.temperature_error(spec, model)).map(at));
        problems
    }

    fn everyone(&self) -> Vec<Candidate<'a>> {
        let (definition, agents) = (self.definition, self.agents_by_persona());
        // A seat without a name has been refused by the loader.
        let named = definition.participants.iter().filter(|spec| !spec.name.is_empty());
        let candidate = |spec: ParticipantSpec| {
            let parts = self.answers.parts(definition, &spec.name);
            let asks = |step: &&Step| definition.asks(step, &spec.name, spec.agent_only);
            let steps: Vec<&Step> = definition.all_steps().filter(asks).collect();
            let scripted = steps.iter().filter(|step| parts.contains_key(&step.id));
            Candidate { scripted: scripted.map(|step| step.id.clone()).collect(), steps, spec }
        };
        let everyone = named.cloned().chain(agents).map(candidate);
        everyone.filter(|candidate| !candidate.steps.is_empty()).collect()
    }

    fn unknown_flags(&self) -> Vec<Diagnostic> {
        let agents = self.agents_by_persona();
        let participants: Vec<&ParticipantSpec> =
            self.definition.participants.iter().chain(&agents).collect();
        let known: Vec<&str> = participants.iter().map(|spec| spec.name.as_str()).collect();
        let is_known = |name: &String| {
            !name.is_empty() && participants.iter().any(|spec| [&spec.name, &spec.persona].contains(&name))
        };
        let unknown = |name: &String| {
            Diagnostic::new(format!("--model names no participant: `{name}`"))
                .hint(crate::diagnostic::did_you_mean(name, &known))
        };
        self.flags.named.keys().filter(|name| !is_known(name)).map(unknown).collect()
    }

    /// Says that the model for seats which name none is that of no seat.
    fn idle_flag(&self, seats: &[SeatInfo]) -> Option<Diagnostic> {
        let model = self.flags.all.as_ref().filter(|_| !self.rehearse)?;
        if seats.iter().any(|seat| seat.model == *model) {
            return None;
        }
        let problem = Diagnostic::new(format!("`--model {model}` seats nobody: every seat has one"));
        Some(problem.hint(format!("seat it by `--model NAME={model}`; `--rehearse` needs no model")))
    }

    /// Says that the model which the definition gives a participant has no tools that could be allowed.
    fn tools_error(&self, spec: &ParticipantSpec, model: &str) -> Option<Diagnostic> {
        let is_its_own = spec.tools == SeatTools::Allowed && spec.model.as_deref() == Some(model);
        if !is_its_own || self.catalog.with_tools(model, self.file).is_some() {
            return None;
        }
        let problem = Diagnostic::new(format!("`{model}` has no tools that could be allowed"));
        Some(problem.hint("name a program such as `claude-cli/MODEL`, or leave `tools` out"))
    }

    /// Refuses a temperature for a program, which takes none.
    fn temperature_error(&self, spec: &ParticipantSpec, model: &str) -> Option<Diagnostic> {
        let provider = model.split('/').next().unwrap_or_default();
        spec.temperature.and(self.catalog.seat_program(provider))?;
        let problem = Diagnostic::new(format!("`{provider}` takes no `temperature`"));
        Some(problem.hint("leave it out, or seat the model by its service"))
    }

    fn prices(&self, models: &[&String]) -> IndexMap<String, Price> {
        let mut prices = IndexMap::new();
        for model in models {
            let provider = model.split('/').next().unwrap_or_default();
            let is_charged =
                self.catalog.dialect(provider).is_some() || self.catalog.seat_program(provider).is_some();
            if is_charged && !prices.contains_key(*model) {
                prices.extend(price_of(self.catalog, model).map(|price| ((*model).clone(), price)));
            }
        }
        prices
    }

    /// The services that are sent no seed though the definition gives their seats one.
    fn unsent_seeds(&self, seats: &[SeatInfo]) -> Vec<Diagnostic> {
        let mut providers: Vec<&str> = Vec::new();
        for seat in seats.iter().filter(|seat| seat.seed.is_some()) {
            let provider = seat.model.split('/').next().unwrap_or_default();
            let is_program = self.catalog.seat_program(provider).is_some();
            let takes = !is_program && self.catalog.dialect(provider).is_none_or(ApiStyle::takes_seed);
            if !takes && !providers.contains(&provider) {
                providers.push(provider);
            }
        }
        let say = |provider: &&str| {
            Diagnostic::new(format!("`{provider}` takes no seed: those of its seats are recorded, not sent"))
                .with_file(self.file)
        };
        providers.iter().map(say).collect()
    }

    /// Agents that steps name and that are no participants: personas, or nobody in particular.
    fn agents_by_persona(&self) -> Vec<ParticipantSpec> {
        let mut specs: Vec<ParticipantSpec> = Vec::new();
        for step in self.definition.all_steps() {
            for name in step.agents().into_iter().filter(|name| !name.is_empty()) {
                let is_known = |spec: &ParticipantSpec| spec.name == name;
                if !self.definition.participants.iter().chain(&specs).any(is_known) {
                    specs.push(self.agent_spec(name, step.place));
                }
            }
        }
        specs
    }

    /// An agent that is no participant: a model by its name, else a persona, or nobody in particular.
    fn agent_spec(&self, name: &str, place: (u64, u64)) -> ParticipantSpec {
        let allows_tools = self.definition.allows_tools(name);
        let tools = if allows_tools { SeatTools::Allowed } else { SeatTools::Unset };
        let of_model = || ParticipantSpec { name: name.to_owned(), ..ParticipantSpec::of_model(name, place) };
        let spec = if name.contains('/') { of_model() } else { ParticipantSpec::named(name, place) };
        ParticipantSpec { agent_only: true, tools, ..spec }
    }

    /// Every step that asks the agent has a prompt or a scripted answer.
    fn needs_no_persona(&self, candidate: &Candidate<'_>) -> bool {
        let spec = &candidate.spec;
        if !spec.needs_persona {
            return true;
        }
        if !spec.agent_only {
            let is_someone = spec.model.is_some() && !candidate.is_seated();
            return spec.persona == spec.name && (spec.command.is_some() || is_someone);
        }
        let has_prompt = |step: &Step| step.agent().is_some_and(|agent| agent.prompt.is_some());
        let is_told = |step: &&Step| has_prompt(step) || candidate.scripted.contains(&step.id);
        self.definition.is_tracker(spec) || candidate.steps.iter().all(is_told)
    }

    /// Says that a participant has no persona, where its name is nearly that of one.
    fn near_persona(&self, spec: &ParticipantSpec) -> Option<Diagnostic> {
        if spec.agent_only || spec.persona.is_empty() || spec.model.is_none() {
            return None;
        }
        let (personas, _) = self.library.all();
        let near = nearest(&spec.name, personas.iter().map(|found| found.persona.name.as_str()))?;
        let problem = Diagnostic::new(format!("`{}` sits without a persona", spec.name));
        Some(problem.hint(format!("did you mean `persona: {near}`? else nothing is to be done")))
    }

    /// The agent is no participant; participants have been looked for among the personas.
    fn is_nobody(&self, spec: &ParticipantSpec) -> bool {
        spec.agent_only && !self.definition.participants.iter().any(|other| other.name == spec.name)
    }

    fn say_nobody(&self, spec: &ParticipantSpec) -> Diagnostic {
        let seats = self.definition.participants.iter().map(|other| other.name.as_str());
        let (personas, _) = self.library.all();
        let names: Vec<&str> =
            seats.chain(personas.iter().map(|found| found.persona.name.as_str())).collect();
        let message = format!("unknown agent `{}`: not a participant or persona", spec.name);
        let near = nearest(&spec.name, names.iter().copied());
        let near = near.map(|name| format!("did you mean `{name}`? else ")).unwrap_or_default();
        Diagnostic::new(message).hint(format!(
            "{near}write its persona, give the step a `prompt`, or script its answer with --answers"
        ))
    }

    fn persona(&self, spec: &ParticipantSpec, notices: &mut Vec<Diagnostic>) -> Result<Persona, Diagnostic> {
        if let Some(text) = &spec.prompt {
            return Ok(Persona::own(&spec.persona, text));
        }
        let found = self.library.find(&spec.persona)?;
        let notice = |text: &String| Diagnostic::new(text.clone()).with_file(&found.from);
        notices.extend(found.persona.notices.iter().map(notice));
        Ok(found.persona)
    }

    fn model(
        &self,
        spec: &ParticipantSpec,
        persona: Option<&Persona>,
        notices: &mut Vec<Diagnostic>,
    ) -> (String, ModelOrigin) {
        match self.definition.answered_by(spec, self.rehearse) {
            Some(model) if self.rehearse => (model, ModelOrigin::Flag),
            Some(model) => (model, ModelOrigin::Definition),
            None => {
                let (model, by) = model_of(spec, persona, self.config, self.flags, notices);
                if let ModelOrigin::Variable(name) = &by {
                    let message = format!("`{}`: {model}, from {name} in the environment", spec.name);
                    notices.push(Diagnostic::new(message));
                }
                (model, by)
            }
        }
    }
}

/// Refuses a participant that cannot be asked, whatever its model.
fn refusal(spec: &ParticipantSpec, persona: Option<&Persona>) -> Option<Diagnostic> {
    if spec.command.as_ref().is_some_and(|program| !program.tool_less) {
        let message =
            format!("`{}` is an external program and cannot take a seat in a blind round", spec.name);
        return Some(Diagnostic::new(message).hint(
            "declare `agent_only: true`, or `tool_less: true` if it has no tools; or script its answers",
        ));
    }
    if spec.tools == SeatTools::Allowed {
        let message = format!("`{}` may use tools and cannot take a seat in a blind round", spec.name);
        let hint = "leave its `tools` out, or list the others in the round's `participants`";
        return Some(Diagnostic::new(message).hint(hint));
    }
    if let Some(tool) =
        persona.filter(|_| spec.tools != SeatTools::LeftOut).and_then(|persona| persona.tools.first())
    {
        let message =
            format!("persona `{}` declares tool `{tool}`; blind rounds allow no tools", spec.persona);
        let hint = format!("seat it without them: `{{persona: {}, tools: none}}`", spec.persona);
        return Some(Diagnostic::new(message).hint(hint));
    }
    None
}

/// Adds to a persona that is not found how whoever is no persona is written.
fn or_a_model(name: &str, problem: Diagnostic) -> Diagnostic {
    let hint = problem.hint.clone().unwrap_or_default();
    match model_meant(name) {
        Some(model) => problem.hint(format!("a model is named with its provider: `{model}`")),
        None if hint.ends_with('?') => problem,
        None => problem.hint(format!("{hint}; write a model as `provider/model`, a person as `human`")),
    }
}

/// Returns the notice of a persona that is seated without its tools.
fn left_out(spec: &ParticipantSpec, persona: Option<&Persona>) -> Option<Diagnostic> {
    let persona = persona.filter(|persona| spec.tools == SeatTools::LeftOut && !persona.tools.is_empty())?;
    let (seat, name, tools) = (&spec.name, &persona.name, persona.tools.join(", "));
    Some(Diagnostic::new(format!("`{seat}` sits without the tools of `{name}`: {tools}")))
}

#[derive(Debug, Clone, Default)]
pub struct ModelFlags {
    pub all: Option<String>,
    pub named: HashMap<String, String>,
}

impl ModelFlags {
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

enum ModelOrigin {
    Flag,
    Variable(String),
    Definition,
    Persona,
    Configuration(String),
}

impl ModelOrigin {
    /// Says of a problem with the model where it was named.
    fn blame(&self, problem: Diagnostic, spec: &ParticipantSpec, file: &str) -> Diagnostic {
        let named =
            |by: &str| Diagnostic { message: format!("{by}: {}", problem.message), ..problem.clone() };
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
    notices: &mut Vec<Diagnostic>,
) -> (String, ModelOrigin) {
    // `inherit` leaves the choice to the next place.
    let is_given = |model: &String| !matches!(model.as_str(), "" | "inherit");
    let names = || [&spec.name, &spec.persona].into_iter().filter(|name| !name.is_empty());
    let flag = |model: &String| (model.clone(), ModelOrigin::Flag);
    let variable = |name: &String| {
        let name = format!("{}_MODEL", name.to_uppercase().replace('-', "_"));
        let model = std::env::var(&name).ok().filter(is_given)?;
        Some((model, ModelOrigin::Variable(name)))
    };
    let mut by_persona = persona.and_then(|persona| persona.model.clone()).filter(is_given);
    if let Some(model) = by_persona.take_if(|model| !is_model(model)) {
        let name = &spec.persona;
        let message = format!("the model `{model}` of persona `{name}` is not `provider/model`: not used");
        notices.push(Diagnostic::new(message));
    }
    let candidates = [
        names().find_map(|name| flags.named.get(name)).map(flag),
        names().find_map(variable),
        spec.model.clone().map(|model| (model, ModelOrigin::Definition)),
        flags.all.as_ref().map(flag),
        by_persona.map(|model| (model, ModelOrigin::Persona)),
        config.model.clone().map(|model| (model.value, ModelOrigin::Configuration(model.from))),
    ];
    let given = candidates.into_iter().flatten().find(|(model, _)| is_given(model));
    given.unwrap_or_else(|| (NO_MODEL.to_owned(), ModelOrigin::Definition))
}
