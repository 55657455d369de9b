//! Roster of a session: personas, models and seats.
//!
//! The first of these that is set is a participant's model: `--model NAME=…`, `<NAME>_MODEL` in the environment,
//! the definition, `--model …`, the persona, the configured default.

use indexmap::IndexMap;

use super::environment::Environment;
use super::plan::{RunMode, SessionPlan};
use crate::config::prices::{needed_price, price_of, unagreed_price};
use crate::config::{ParticipantFactory, PathPolicy, PersonaLibrary, is_model};
use crate::core::ROLE_WITHOUT_PERSONA;
use crate::diagnostic::{Diagnostic, did_you_mean, nearest};
use crate::history::{NO_MODEL, PersonaInfo, Price, SeatInfo, SessionOpened};
use crate::persona::Persona;
use crate::tally::Tier;
use crate::words::model_meant;
use crate::workflow::load::entries::Findings;
use crate::workflow::{Definition, ParticipantSpec, SeatTools, Step};

/// Treatment of an agent that is neither participant nor persona, and not scripted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownAgentPolicy {
    Refused,
    /// A warning, because its answers may still be scripted.
    Noticed,
}

/// Participant or agent, with the steps that ask it and those of them that are scripted.
struct Candidate<'a> {
    spec: ParticipantSpec,
    /// Agent that a step names and that is not a participant.
    is_added: bool,
    steps: Vec<&'a Step>,
    scripted: Vec<String>,
}

impl Candidate<'_> {
    fn is_seated(&self) -> bool {
        self.steps.iter().any(|step| step.round().is_some())
    }

    fn is_scripted(&self) -> bool {
        self.steps.len() == self.scripted.len()
    }
}

/// Finds persona and model of all who are asked, and writes them into the header.
///
/// Reports missing personas, personas with tools in rounds, programs in rounds, unknown agents and invalid
/// models.
pub fn resolve(
    plan: &SessionPlan,
    set_up: &Environment,
    nobody: UnknownAgentPolicy,
    header: &mut SessionOpened,
    found: &Findings<'_>,
) {
    let resolver = Resolver {
        plan,
        set_up,
        library: PersonaLibrary::new(&set_up.folders),
        catalog: set_up.catalog(),
        bounds: set_up.folders.path_policy(Some(&plan.file)),
        nobody,
        found,
    };
    let agents = resolver.added_agents();
    resolver.check_flags(&agents);
    let mut personas: IndexMap<String, Option<Persona>> = IndexMap::new();
    for candidate in resolver.everyone(agents) {
        let spec = &candidate.spec;
        if !personas.contains_key(&spec.persona) {
            personas.insert(spec.persona.clone(), resolver.persona(&candidate));
        }
        let persona = personas.get(&spec.persona).and_then(Option::as_ref);
        let (model, named_by) = resolver.model(spec, persona);
        if !candidate.is_scripted() {
            resolver.check_seat(&candidate, persona, &model, &named_by);
        }
        let has_no_persona = persona.is_none() && !spec.needs_persona && candidate.is_seated();
        let role = spec.role.clone().or_else(|| has_no_persona.then(|| ROLE_WITHOUT_PERSONA.to_owned()));
        header.participants.push(SeatInfo { role, ..SeatInfo::from_spec(spec, model, candidate.scripted) });
    }
    header.personas = personas.into_iter().map(|(name, persona)| PersonaInfo::new(name, persona)).collect();
    let seats = &mut header.participants;
    resolver.notice_idle_flag(seats);
    warn_of_unreachable(&plan.definition, seats, found);
    let fallbacks = plan.definition.participants.iter().flat_map(|spec| spec.models.iter().skip(1));
    header.prices = resolver.prices(seats.iter().map(|seat| &seat.model).chain(fallbacks));
    for seat in seats {
        seat.seed = seat.seed.or(plan.options.seed);
    }
}

struct Resolver<'a> {
    plan: &'a SessionPlan,
    set_up: &'a Environment,
    library: PersonaLibrary,
    catalog: ParticipantFactory<'a>,
    bounds: PathPolicy,
    nobody: UnknownAgentPolicy,
    found: &'a Findings<'a>,
}

impl<'a> Resolver<'a> {
    /// Reports the reasons why a participant cannot be asked.
    fn check_seat(
        &self,
        candidate: &Candidate<'_>,
        persona: Option<&Persona>,
        model: &str,
        named_by: &ModelOrigin,
    ) {
        let spec = &candidate.spec;
        let models = || spec.models_from(model);
        if spec.command.is_none() && model != NO_MODEL {
            let is_in_draft = |model: &&str| {
                let provider = model.split('/').next().unwrap_or_default();
                self.plan.options.mode == RunMode::Screen && self.catalog.seat_program(provider).is_some()
            };
            let unusable = models().filter(|model| !is_in_draft(model));
            let unusable: Vec<_> = unusable.filter_map(|model| self.catalog.check(model).err()).collect();
            // One usable model of a list is enough.
            let note = if unusable.len() < models().count() { Findings::warn } else { Findings::add };
            for problem in unusable {
                note(self.found, named_by.blame(problem, spec, self.found.file));
            }
        }
        if candidate.is_seated() {
            self.check_blind(spec, persona);
        }
        let is_projects = matches!(named_by, ModelOrigin::Definition | ModelOrigin::Persona);
        if is_projects && spec.command.is_none() {
            for problem in models().filter_map(|model| self.bounds.check_recording(model)) {
                self.found.add_at(spec.place, problem);
            }
        }
        let is_its_own =
            spec.tools == Some(SeatTools::Allowed) && spec.models.first().is_some_and(|first| first == model);
        if is_its_own && self.catalog.with_tools(model, self.found.file).is_none() {
            let hint = "name a program such as `claude-cli/MODEL`, or leave `tools` out";
            self.refuse(spec, format!("`{model}` has no tools that could be allowed"), hint);
        }
        let provider = model.split('/').next().unwrap_or_default();
        if spec.temperature.is_some() && self.catalog.seat_program(provider).is_some() {
            let hint = "leave it out, or seat the model by its service";
            self.refuse(spec, format!("`{provider}` takes no `temperature`"), hint);
        }
        let tools = persona.map_or(&[][..], |persona| &persona.tools);
        if spec.tools == Some(SeatTools::LeftOut) && !tools.is_empty() {
            let (seat, name, tools) = (&spec.name, &spec.persona, tools.join(", "));
            self.found.warn(Diagnostic::new(format!("`{seat}` sits without the tools of `{name}`: {tools}")));
        }
    }

    fn refuse(&self, spec: &ParticipantSpec, message: String, hint: &str) {
        self.found.refuse_at(spec.place, message, hint);
    }

    /// Refuses a participant of a blind round that may use tools.
    fn check_blind(&self, spec: &ParticipantSpec, persona: Option<&Persona>) {
        let (name, persona_name) = (&spec.name, &spec.persona);
        if spec.command.as_ref().is_some_and(|program| !program.tool_less) {
            let message = format!("`{name}` is an external program and cannot take a seat in a blind round");
            let hint =
                "declare `agent_only: true`, or `tool_less: true` if it has no tools; or script its answers";
            return self.refuse(spec, message, hint);
        }
        match (spec.tools, persona.and_then(|persona| persona.tools.first())) {
            (Some(SeatTools::Allowed), _) => {
                let message = format!("`{name}` may use tools and cannot take a seat in a blind round");
                let hint = "leave its `tools` out, or list the others in the round's `participants`";
                self.refuse(spec, message, hint);
            }
            (None, Some(tool)) => {
                let message =
                    format!("persona `{persona_name}` declares tool `{tool}`; blind rounds allow no tools");
                let hint = format!("seat it without them: `{{persona: {persona_name}, tools: none}}`");
                self.refuse(spec, message, &hint);
            }
            (Some(SeatTools::LeftOut), _) | (None, None) => {}
        }
    }

    fn everyone(&self, agents: Vec<ParticipantSpec>) -> Vec<Candidate<'a>> {
        let definition = &self.plan.definition;
        // The loader has already refused seats without a name.
        let named = definition.participants.iter().filter(|spec| !spec.name.is_empty());
        let candidate = |spec: ParticipantSpec, is_added: bool| {
            let parts = self.plan.options.answers.parts(definition, &spec.name);
            let asks = |step: &&Step| definition.asks(step, &spec.name, spec.agent_only);
            let steps: Vec<&Step> = definition.all_steps().filter(asks).collect();
            let scripted = steps.iter().filter(|step| parts.contains_key(&step.id));
            Candidate { scripted: scripted.map(|step| step.id.clone()).collect(), steps, spec, is_added }
        };
        let agents = agents.into_iter().map(|spec| candidate(spec, true));
        let everyone = named.map(|spec| candidate(spec.clone(), false)).chain(agents);
        everyone.filter(|candidate| !candidate.steps.is_empty()).collect()
    }

    fn check_flags(&self, agents: &[ParticipantSpec]) {
        let participants: Vec<&ParticipantSpec> =
            self.plan.definition.participants.iter().chain(agents).collect();
        let known: Vec<&str> = participants.iter().map(|spec| spec.name.as_str()).collect();
        let is_known = |name: &String| {
            !name.is_empty() && participants.iter().any(|spec| [&spec.name, &spec.persona].contains(&name))
        };
        for name in self.plan.options.flags.named.keys().filter(|name| !is_known(name)) {
            let problem = Diagnostic::new(format!("--model names no participant: `{name}`"));
            self.found.add(problem.hint(did_you_mean(name, &known)));
        }
    }

    /// Warns that `--model MODEL` applies to no seat. On the screen it does not: the models are visible there,
    /// and the flag may be an earlier choice.
    fn notice_idle_flag(&self, seats: &[SeatInfo]) {
        let options = &self.plan.options;
        let Some(model) = options.flags.all.as_ref().filter(|_| options.is_headless() && !options.rehearse)
        else {
            return;
        };
        if seats.iter().all(|seat| seat.model != *model) {
            let problem = Diagnostic::new(format!("`--model {model}` seats nobody: every seat has one"));
            let hint = format!("seat it by `--model NAME={model}`; `--rehearse` needs no model");
            self.found.warn(problem.hint(hint));
        }
    }

    fn prices<'m>(&self, models: impl Iterator<Item = &'m String>) -> IndexMap<String, Price> {
        let is_limited = self.plan.options.max_usd.or(self.plan.definition.budget).is_some();
        let mut prices = IndexMap::new();
        for model in models {
            let provider = model.split('/').next().unwrap_or_default();
            let is_charged =
                self.catalog.dialect(provider).is_some() || self.catalog.seat_program(provider).is_some();
            if is_charged && !prices.contains_key(model) {
                prices.extend(price_of(&self.catalog, model).ok().map(|price| (model.clone(), price)));
                let is_needed = is_limited && needed_price(&self.catalog, model).is_some();
                if let Some(unused) = unagreed_price(&self.catalog, model).filter(|_| !is_needed) {
                    let file = unused.named_by.as_deref().unwrap_or_default();
                    let ignored = format!("the price of `{model}` is ignored: nothing here needs it");
                    self.found.warn(Diagnostic::new(ignored).with_file(file));
                }
            }
        }
        prices
    }

    /// Returns the agents that steps name and that are not participants: models, personas, or unknown.
    fn added_agents(&self) -> Vec<ParticipantSpec> {
        let mut specs: Vec<ParticipantSpec> = Vec::new();
        for step in self.plan.definition.all_steps() {
            for name in step.agents().into_iter().filter(|name| !name.is_empty()) {
                let is_known = |spec: &ParticipantSpec| spec.name == name;
                if self.plan.definition.participants.iter().chain(&specs).any(is_known) {
                    continue;
                }
                let tools = self.plan.definition.allows_tools(name).then_some(SeatTools::Allowed);
                let spec = if name.contains('/') {
                    ParticipantSpec::from_model
                } else {
                    ParticipantSpec::from_persona
                };
                let spec = spec(name, step.place);
                specs.push(ParticipantSpec { name: name.to_owned(), agent_only: true, tools, ..spec });
            }
        }
        specs
    }

    /// Returns true if the participant needs no persona, such as an agent with a prompt or script in every step.
    fn needs_no_persona(&self, candidate: &Candidate<'_>) -> bool {
        let spec = &candidate.spec;
        if !spec.needs_persona {
            return true;
        }
        if !spec.agent_only {
            let is_someone = !spec.models.is_empty() && !candidate.is_seated();
            return spec.persona == spec.name && (spec.command.is_some() || is_someone);
        }
        let has_prompt = |step: &Step| step.agent().is_some_and(|agent| agent.prompt.is_some());
        let is_told = |step: &&Step| has_prompt(step) || candidate.scripted.contains(&step.id);
        self.plan.definition.is_tracker(spec) || candidate.steps.iter().all(is_told)
    }

    fn unknown_agent(&self, spec: &ParticipantSpec) -> Diagnostic {
        let seats = self.plan.definition.participants.iter().map(|other| other.name.as_str());
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

    /// Finds a candidate's persona; reports why it is missing, unless none is needed.
    fn persona(&self, candidate: &Candidate<'_>) -> Option<Persona> {
        let spec = &candidate.spec;
        if let Some(text) = &spec.prompt {
            return Some(Persona::with_text(&spec.persona, text));
        }
        let problem = match self.library.find(&spec.persona) {
            Ok(found) => {
                for notice in &found.persona.notices {
                    self.found.warn(Diagnostic::new(notice.clone()).with_file(&found.from));
                }
                return Some(found.persona);
            }
            Err(problem) => problem,
        };
        // Without a place, the persona is missing; otherwise its file is invalid.
        let is_missing = problem.place.is_none();
        if candidate.is_scripted() || is_missing && self.needs_no_persona(candidate) {
            return None;
        }
        if candidate.is_added && self.nobody == UnknownAgentPolicy::Noticed {
            self.found.warn(self.unknown_agent(spec).at(self.found.file, spec.place.0, spec.place.1));
        } else {
            let problem = match is_missing {
                true if candidate.is_added => self.unknown_agent(spec),
                true => with_notation_hint(&spec.name, problem),
                false => problem,
            };
            self.found.add_at(spec.place, problem);
        }
        None
    }

    fn model(&self, spec: &ParticipantSpec, persona: Option<&Persona>) -> (String, ModelOrigin) {
        let options = &self.plan.options;
        if let Some(model) = self.plan.definition.answered_by(spec, options.rehearse) {
            let by = if options.rehearse { flag() } else { ModelOrigin::Definition };
            return (model, by);
        }
        // `inherit` means the next source.
        let is_given = |model: &String| !matches!(model.as_str(), "" | "inherit");
        let names = || [&spec.name, &spec.persona].into_iter().filter(|name| !name.is_empty());
        let variable = |name: &String| {
            let name = format!("{}_MODEL", name.to_uppercase().replace('-', "_"));
            Some((std::env::var(&name).ok().filter(is_given)?, ModelOrigin::Variable(name)))
        };
        let mut by_persona = persona.and_then(|persona| persona.model.clone()).filter(is_given);
        if let Some(model) = by_persona.take_if(|model| !is_model(model)) {
            let name = &spec.persona;
            let message =
                format!("the model `{model}` of persona `{name}` is not `provider/model`: not used");
            self.found.warn(Diagnostic::new(message));
        }
        let configured = self.set_up.config.model.clone();
        let candidates = [
            names().find_map(|name| options.flags.named.get(name)).map(|model| (model.clone(), flag())),
            names().find_map(variable),
            spec.models.first().map(|model| (model.clone(), ModelOrigin::Definition)),
            options.flags.all.clone().map(|model| (model, flag())),
            by_persona.map(|model| (model, ModelOrigin::Persona)),
            configured.map(|model| {
                let by = format!("`model` of {}", model.from);
                (model.value, ModelOrigin::Elsewhere(by))
            }),
        ];
        let given = candidates.into_iter().flatten().find(|(model, _)| is_given(model));
        let (model, by) = given.unwrap_or_else(|| (NO_MODEL.to_owned(), ModelOrigin::Definition));
        if let ModelOrigin::Variable(name) = &by {
            let message = format!("`{}`: {model}, from {name} in the environment", spec.name);
            self.found.warn(Diagnostic::new(message));
        }
        (model, by)
    }
}

/// Warns of rounds that cannot reach their `act_at`, because all seats have the same model.
fn warn_of_unreachable(definition: &Definition, seats: &[SeatInfo], found: &Findings<'_>) {
    for step in definition.all_steps() {
        let Some(least) = step.round().and_then(|round| round.act_at).filter(|least| *least > Tier::Weak)
        else {
            continue;
        };
        let seated: Vec<&SeatInfo> = seats.iter().filter(|seat| seat.sits_in(definition, step)).collect();
        let is_person = |seat: &&SeatInfo| {
            seat.scripted.contains(&step.id)
                || matches!(&*seat.model, "human" | "remote/link" | "remote/inbox")
        };
        let name = |seat: &SeatInfo| seat.model.rsplit('/').next().unwrap_or_default().to_owned();
        let Some(first) = seated.first().filter(|_| !seated.iter().any(is_person)) else {
            continue;
        };
        let is_nobody = first.is_rehearsal() || first.has_no_model();
        if !is_nobody && seated.iter().all(|seat| name(seat) == name(first)) {
            let message = format!(
                "round `{}` can never reach `act_at: {}`: all of its seats are one model ({}), which is weak at most",
                step.id,
                least.name(),
                first.model
            );
            found.warn_at(step.place, message, "seat another model or a person, or write `act_at: weak`");
        }
    }
}

/// Extends the hint of a missing persona by the notation for models and people.
fn with_notation_hint(name: &str, problem: Diagnostic) -> Diagnostic {
    let hint = problem.hint.clone().unwrap_or_default();
    match model_meant(name) {
        Some(model) => problem.hint(format!("a model is named with its provider: `{model}`")),
        None if hint.ends_with('?') => problem,
        None => problem.hint(format!("{hint}; write a model as `provider/model`, a person as `human`")),
    }
}

enum ModelOrigin {
    Definition,
    Persona,
    Variable(String),
    Elsewhere(String),
}

fn flag() -> ModelOrigin {
    ModelOrigin::Elsewhere("--model".to_owned())
}

impl ModelOrigin {
    /// Adds the source of the model to an error about it.
    fn blame(&self, problem: Diagnostic, spec: &ParticipantSpec, file: &str) -> Diagnostic {
        let by = match self {
            Self::Definition => return problem.at(file, spec.place.0, spec.place.1),
            Self::Persona => &format!("persona `{}`", spec.persona),
            Self::Variable(by) | Self::Elsewhere(by) => by,
        };
        Diagnostic { message: format!("{by}: {}", problem.message), ..problem }
    }
}
