//! What an agent is handed: its input, its stage, its prompt; frozen when it is offered.
//!
//! Nothing is read but the results so far. What is missing or incomplete is found here, before
//! anything is offered.

use serde_json::{Map, Value};

use super::event::{ReviewContext, StageContext, Task, WorkItemOffered};
use super::item::is_blank;
use super::linked::NO_LINKS;
use super::state::Session;
use crate::round::snapshot::sha256_hex;
use crate::workflow::{Completeness, Definition, ExpectedOutput, Step, StepKind, Template};

/// A hand-over that could be made now: to whom, and what.
pub struct HandOver {
    /// The agent.
    pub to: String,
    /// What it is handed.
    pub task: Task,
    /// What a person should know of it.
    pub warnings: Vec<String>,
}

impl Session {
    /// Exactly what an agent step would be handed now, before anything is added for a prompt.
    ///
    /// # Errors
    /// `Referenced step not found: …`.
    pub fn input_of(&self, step: &Step) -> Result<Map<String, Value>, String> {
        let mut input = Map::new();
        let given = self.header.as_ref().map_or(Value::Null, |header| header.input.clone());
        input.insert("input".to_owned(), given);
        if let Some(reference) = &step.input {
            input.insert(reference.clone(), self.referenced(reference)?);
        }
        input.insert("context".to_owned(), Value::Object(self.context()));
        if let Some(failed) = self.error_before() {
            let message = self.shown_error(failed);
            input.insert(
                "error".to_owned(),
                serde_json::json!({ "stepId": failed.step_id, "message": message }),
            );
        }
        Ok(input)
    }

    /// An earlier result by its step or key, as agents see it; null when that step failed.
    fn referenced(&self, reference: &str) -> Result<Value, String> {
        let not_found = || format!("Referenced step not found: {reference}");
        let step = self.definition.as_ref().and_then(|definition| definition.step_of_key(reference));
        let step = step.ok_or_else(not_found)?;
        let result = self.results.get(&step.id).ok_or_else(not_found)?;
        Ok(self.injected(step, result).unwrap_or(Value::Null))
    }

    /// The hand-overs that `step` would make now, in order; fails with the reason why it makes none.
    ///
    /// # Errors
    /// What is missing.
    pub fn hand_overs(&self, definition: &Definition, step: &Step) -> Result<Vec<HandOver>, String> {
        match &step.kind {
            StepKind::Agent(agent) => {
                let input = self.input_of(step)?;
                Ok(vec![self.hand_over(definition, step, &agent.agent, input, None)?])
            }
            StepKind::Review(review) => self.reviews(definition, step, review),
            _ => Ok(Vec::new()),
        }
    }

    pub(super) fn hand_over(
        &self,
        definition: &Definition,
        step: &Step,
        agent: &str,
        input: Map<String, Value>,
        review_context: Option<ReviewContext>,
    ) -> Result<HandOver, String> {
        let seat = self.seat_info(agent).ok_or_else(|| format!("`{agent}` is not in the roster"))?;
        let stage_context = StageContext {
            stage_description: stage_description(step).to_owned(),
            expected_output: expected(step),
            available_skills: seat.skills.clone(),
            previous_artifacts: self.previous_artifacts(seat.skills.is_empty()),
        };
        missing(step, &input)?;
        let linked = self.linked(definition, step);
        let linked_tasks = Some(linked.json).filter(|json| json != NO_LINKS);
        let scope =
            scope(&input, definition, &stage_context, review_context.as_ref(), linked_tasks.as_deref());
        let template = template(definition, step, agent)?;
        let prompt = template.as_ref().map(|template| template.render(&scope)).transpose();
        let prompt = prompt.map_err(|error| format!("the prompt cannot be made: {error}"))?;
        let whole = prompt.is_none().then(|| as_json(&input));
        let text = prompt.as_deref().or(whole.as_deref()).unwrap_or_default();
        let template = template.as_ref().map(|template| (template, &scope));
        let lack = self.agent_lack(definition, step, template, &input, text);
        let mut warnings: Vec<String> = match lack {
            Some(why) if step.completeness == Completeness::Refuse => {
                return Err(format!("the hand-over is incomplete: {why}"));
            }
            found => found.into_iter().collect(),
        };
        let rules = rules(definition, step);
        warnings.extend(linked.warnings);
        let task = Task { input, stage_context, rules, prompt, linked_tasks, review_context };
        Ok(HandOver { to: agent.to_owned(), task, warnings })
    }

    /// The prompt of an agent's work item: the system's part, empty if there is none, and the text.
    pub fn agent_prompt(&self, item: &WorkItemOffered) -> (String, String) {
        let Some(task) = &item.task else { return (String::new(), String::new()) };
        let persona = self.persona(&item.persona).map_or("", |persona| persona.text.as_str());
        let text = task.prompt.clone().unwrap_or_else(|| as_json(&task.input));
        // A template that shows them has them in the prompt already.
        let linked = task.linked_tasks.as_deref().filter(|linked| !text.contains(linked));
        let linked = linked.map(|linked| format!("Tasks linked to this one:\n{linked}\n"));
        let parts =
            [persona, task.rules.as_deref().unwrap_or_default(), linked.as_deref().unwrap_or_default()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        (parts.join("\n"), text)
    }
}

/// What a template sees: the input, and beside it goal, constraints and stage.
fn scope(
    input: &Map<String, Value>,
    definition: &Definition,
    stage: &StageContext,
    review: Option<&ReviewContext>,
    linked: Option<&str>,
) -> Value {
    let mut scope = Map::new();
    scope.insert("goal".to_owned(), definition.goal.as_deref().into());
    scope.insert("constraints".to_owned(), definition.constraints.as_slice().into());
    scope.insert("stage_context".to_owned(), serde_json::to_value(stage).unwrap_or_default());
    if let Some(linked) = linked {
        scope.insert("linked_tasks".to_owned(), linked.into());
    }
    if let Some(review) = review {
        scope.insert("review_context".to_owned(), serde_json::to_value(review).unwrap_or_default());
    }
    scope.extend(input.iter().map(|(key, value)| (key.clone(), value.clone())));
    Value::Object(scope)
}

/// The offer of a hand-over.
pub fn offer(
    session: &Session,
    definition: &Definition,
    step: &Step,
    item: String,
    hand_over: HandOver,
) -> WorkItemOffered {
    let HandOver { to, task, .. } = hand_over;
    let seat = session.seat_info(&to);
    // A prompt of its own that is a template is a prompt, never the system's part.
    let is_own = participant_template(definition, &to).is_some();
    let persona = seat.filter(|_| !is_own).map(|seat| seat.persona.clone());
    let text = as_json(&task.input);
    WorkItemOffered {
        step: step.id.clone(),
        round: String::new(),
        item,
        model: seat.map(|seat| seat.label(&step.id).to_owned()).unwrap_or_default(),
        available_skills: task.stage_context.available_skills.clone(),
        address: String::new(),
        persona: persona.unwrap_or_default(),
        prompt_sha256: sha256_hex(task.prompt.as_deref().unwrap_or(&text)),
        context_sha256: sha256_hex(&text),
        participant: to,
        task: Some(Box::new(task)),
    }
}

/// An input as the agent without a prompt is handed it.
pub(super) fn as_json(input: &Map<String, Value>) -> String {
    serde_json::to_string(input).unwrap_or_default()
}

fn stage_description(step: &Step) -> &str {
    step.description.as_deref().or(step.label.as_deref()).unwrap_or(&step.id)
}

fn expected(step: &Step) -> ExpectedOutput {
    match &step.kind {
        StepKind::Agent(agent) => {
            let mut expected = agent.expected_output.clone();
            if agent.output_schema.is_some() && expected.format.is_empty() {
                "json".clone_into(&mut expected.format);
            }
            expected
        }
        _ => ExpectedOutput {
            description: "feedback on the artifact, by each criterion".to_owned(),
            ..ExpectedOutput::default()
        },
    }
}

/// The prompt a step brings itself.
fn own_prompt(step: &Step) -> Option<&Template> {
    match &step.kind {
        StepKind::Agent(agent) => agent.prompt.as_ref(),
        StepKind::Review(review) => review.prompt.as_ref(),
        _ => None,
    }
}

/// The prompt a participant brings, where it is written as a template.
fn participant_template<'a>(definition: &'a Definition, agent: &str) -> Option<&'a str> {
    let spec = definition.participants.iter().find(|spec| spec.name == agent)?;
    spec.prompt.as_deref().filter(|prompt| prompt.contains("{{"))
}

fn template(definition: &Definition, step: &Step, agent: &str) -> Result<Option<Template>, String> {
    if let Some(own) = own_prompt(step) {
        return Ok(Some(own.clone()));
    }
    let parse = |text: &str| {
        Template::parse(text).map_err(|error| format!("the prompt of `{agent}` cannot be read: {error}"))
    };
    participant_template(definition, agent).map(parse).transpose()
}

/// What must be there and is not, by the step's own word.
fn missing(step: &Step, input: &Map<String, Value>) -> Result<(), String> {
    let lacking: Vec<&str> = step
        .requires
        .iter()
        .map(String::as_str)
        .filter(|path| look_up(input, path).is_none_or(is_blank))
        .collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = lacking.iter().map(|path| format!("`{path}`")).collect();
    Err(format!("the hand-over lacks {}, which step `{}` requires", named.join(" and "), step.id))
}

/// A path into what is handed over: at its top, else in the context, else in the session's input.
fn look_up<'a>(input: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let keys: Vec<&str> = path.split('.').collect();
    let walk = |start: &'a Value, keys: &[&str]| {
        keys.iter().try_fold(start, |value, key| match value {
            Value::Object(map) => map.get(*key),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    };
    let (first, rest) = keys.split_first()?;
    let at_top = input.get(*first).and_then(|value| walk(value, rest));
    let inside = |key: &str| input.get(key).and_then(|value| walk(value, &keys));
    at_top.or_else(|| inside("context")).or_else(|| inside("input"))
}

/// What an agent is told beside its prompt: the form of its answer, and the facilitator's line.
fn rules(definition: &Definition, step: &Step) -> Option<String> {
    let mut rules = String::new();
    let expected = expected(step);
    let words: Vec<&str> = [&expected.description, &expected.length]
        .into_iter()
        .map(String::as_str)
        .filter(|word| !word.is_empty())
        .collect();
    if !words.is_empty() {
        rules.push_str(&format!("Expected of you: {}.\n", words.join("; ").trim_end_matches('.')));
    }
    if let StepKind::Agent(agent) = &step.kind
        && let Some(schema) = &agent.output_schema
    {
        let schema = schema.written();
        rules.push_str(&format!(
            "Answer with one JSON value that fits this JSON Schema, and with nothing else:\n{schema}\n"
        ));
    }
    if let StepKind::Review(review) = &step.kind {
        rules.push_str(&format!(
            "You review `artifact`, made by another. Judge it by {} and say what should change; \
             answer with your feedback.\n",
            review.criteria.join(", ")
        ));
    }
    let directive = step.facilitator_directive.as_ref().or(definition.facilitator_directive.as_ref());
    if let Some(directive) = directive {
        rules.push_str(&format!("The facilitator adds: {directive}\n"));
    }
    (!rules.is_empty()).then_some(rules)
}
