//! Work items: input, stage and prompt of an agent, frozen at the offer.
//!
//! Reads only the results so far. Missing or incomplete content is found before the offer.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::completeness::missing;
use super::linked_tasks::NO_LINKS;
use super::rendering::{directive, of_definition, render, stage};
use crate::history::{AgentWork, PreviousArtifact, ReviewContext, Session, StageContext, WorkItemOffered};
use crate::round::snapshot::sha256_hex;
use crate::workflow::{Definition, ExpectedOutput, Step, StepKind, Template, VERDICT, read_answer};

/// Work item without an id.
pub struct WorkItemDraft {
    pub offered: WorkItemOffered,
    pub warnings: Vec<String>,
}

impl Session {
    /// Returns the input of an agent step now, without additions for a prompt.
    pub fn input_of(&self, step: &Step) -> Result<Map<String, Value>, String> {
        let mut input = Map::new();
        input.insert("input".to_owned(), self.given_input(&step.id));
        if let Some(reference) = &step.input {
            input.insert(reference.clone(), self.referenced(reference, &step.id)?);
        }
        let items = self.definition().items_for(&step.id).into_iter();
        input.extend(items.map(|item| (item.key.clone(), item.value.clone())));
        input.insert("context".to_owned(), Value::Object(self.context_for(&step.id)));
        if let Some(failed) = self.preceding_error() {
            let message = self.shown_error(failed);
            let mut error = json!({ "stepId": failed.step_id, "message": message });
            if let Some(output) = self.output_of(failed) {
                error["output"] = output.into();
            }
            input.insert("error".to_owned(), error);
        }
        Ok(input)
    }

    /// Returns the result that the nearest enclosing step names as `input`, or null; else the session's input.
    pub fn given_input(&self, step: &str) -> Value {
        let around = self.definition().around(step).into_iter();
        let named = around.filter_map(|around| Some((around, around.input.as_ref()?))).next_back();
        match named {
            Some((around, reference)) => self.referenced(reference, &around.id).unwrap_or_default(),
            None => self.header.as_ref().map_or(Value::Null, |header| header.input.clone()),
        }
    }

    /// Returns an earlier result by step or key, as agents see it; null if that step failed.
    pub(super) fn referenced(&self, reference: &str, by: &str) -> Result<Value, String> {
        let found = self.results_for(by).into_iter().rev().find_map(|result| {
            let step = self.definition().step(&result.step)?;
            (step.key() == reference || step.id == reference).then_some((step, result))
        });
        let (step, result) = found.ok_or_else(|| format!("Referenced step not found: {reference}"))?;
        Ok(self.context_value(step, result).unwrap_or(Value::Null))
    }

    /// Returns the work items of a step now, in order. Fails with the reason if one cannot be made.
    pub fn work_item_drafts(&self, step: &Step) -> Result<Vec<WorkItemDraft>, String> {
        match &step.kind {
            StepKind::Agent(agent) => {
                let input = self.input_of(step)?;
                Ok(vec![self.draft_work_item(step, &agent.agent, input, None)?])
            }
            StepKind::Review(review) => self.reviews(step, review),
            _ => Ok(Vec::new()),
        }
    }

    pub(crate) fn draft_work_item(
        &self,
        step: &Step,
        agent: &str,
        input: Map<String, Value>,
        review_context: Option<ReviewContext>,
    ) -> Result<WorkItemDraft, String> {
        let definition = self.definition();
        let seat = self.seat_info(agent).ok_or_else(|| format!("`{agent}` is not in the roster"))?;
        let stage_context = StageContext {
            stage_description: stage(step).to_owned(),
            expected_output: expected(step),
            available_skills: seat.skills.clone(),
            // An agent on another machine cannot open them.
            previous_artifacts: self.previous_artifacts(seat.skills.is_empty() || seat.remote.is_some()),
        };
        missing(step, &input, |_| false)?;
        let linked = self.linked(step);
        let mut task = AgentWork {
            input,
            stage_context,
            rules: None,
            prompt: None,
            linked_tasks: Some(linked.json).filter(|json| json != NO_LINKS),
            review_context,
        };
        let template = template(definition, step, agent)?;
        let mut scope = of_definition(definition);
        scope.extend(work_item(definition, &task));
        let scope = Value::Object(scope);
        let mut said = directive(definition, step).cloned();
        if let Some(said) = &mut said {
            render(said, "`facilitator_directive`", &scope)?;
        }
        task.rules = rules(step, said.as_deref());
        let prompt = template.as_ref().map(|template| template.render(&scope)).transpose();
        task.prompt = prompt.map_err(|error| format!("the prompt cannot be made: {error}"))?;
        if let Some(facts) = self.form_facts(step) {
            task.rules = Some(facts.instructions() + task.rules.as_deref().unwrap_or_default());
            task.prompt = Some(self.facilitator_prompt(step, &facts));
        }
        let text = text(definition, &task);
        let whole = brief(definition, step, &task) + &text;
        let template = template.as_ref().map(|template| (template, &scope));
        let checked = self.check_agent(step, template, &task.input, &whole);
        if let Some(why) = checked.refusal {
            return Err(why);
        }
        // A participant's prompt with tags replaces the work item's prompt, not its system part.
        let is_own = participant_template(definition, agent).is_some();
        let offered = WorkItemOffered {
            step: step.id.clone(),
            round: String::new(),
            participant: agent.to_owned(),
            item: String::new(),
            model: seat.label(&step.id).to_owned(),
            available_skills: seat.skills.clone(),
            address: String::new(),
            persona: if is_own { String::new() } else { seat.persona.clone() },
            prompt_sha256: sha256_hex(text),
            context_sha256: sha256_hex(as_json(&task.input)),
            task: Some(Box::new(task)),
        };
        Ok(WorkItemDraft { offered, warnings: [checked.warnings, linked.warnings].concat() })
    }

    pub fn agent_prompt(&self, item: &WorkItemOffered) -> (String, String) {
        let Some(task) = &item.task else { return Default::default() };
        let definition = self.definition();
        let persona = self.persona(&item.persona).map_or("", |persona| persona.text.as_str());
        let brief = definition.step(&item.step).map(|step| brief(definition, step, task));
        let text = text(definition, task);
        let parts =
            [persona, brief.as_deref().unwrap_or_default(), task.rules.as_deref().unwrap_or_default()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        (parts.join("\n"), text)
    }

    /// Checks that a person's answer to a work item fits the step's schema.
    pub fn check_answer(&self, item: &WorkItemOffered, text: &str) -> Result<(), String> {
        let schema = self.definition().step(&item.step).and_then(Step::answer_schema);
        schema.map_or(Ok(()), |schema| schema.check(&read_answer(text)?))
    }

    pub fn work_item_json(&self, item: &WorkItemOffered) -> Option<String> {
        Some(as_json(&work_item(self.definition(), item.task.as_ref()?)))
    }
}

/// Returns the text of a prompt: the rendered template, else the whole work item as JSON.
fn text(definition: &Definition, task: &AgentWork) -> String {
    task.prompt.clone().unwrap_or_else(|| as_json(&work_item(definition, task)))
}

/// Returns a whole work item: the agent's input, goal, constraints and stage.
pub fn work_item(definition: &Definition, task: &AgentWork) -> Map<String, Value> {
    let mut whole = Map::new();
    whole.extend(task.input.iter().map(|(key, value)| (key.clone(), value.clone())));
    let mut add = |key: &str, value: Value| {
        whole.entry(key).or_insert(value);
    };
    add("goal", definition.goal.as_deref().into());
    add("constraints", definition.constraints.as_slice().into());
    add("stage_context", serde_json::to_value(&task.stage_context).unwrap_or_default());
    add("available_skills", task.stage_context.available_skills.as_slice().into());
    if let Some(linked) = &task.linked_tasks {
        add("linked_tasks", linked.as_str().into());
    }
    if let Some(review) = &task.review_context {
        add("review_context", serde_json::to_value(review).unwrap_or_default());
    }
    whole
}

/// Joins the parts of a prompt: the system part, if any, a line of three dashes, and the text.
pub fn whole_prompt(system: &str, text: &str) -> String {
    if system.is_empty() { text.to_owned() } else { format!("{system}\n---\n\n{text}") }
}

pub(crate) fn as_json(input: &Map<String, Value>) -> String {
    serde_json::to_string(input).unwrap_or_default()
}

fn participant_template<'a>(definition: &'a Definition, agent: &str) -> Option<&'a str> {
    let spec = definition.participants.iter().find(|spec| spec.name == agent)?;
    spec.prompt.as_deref().filter(|prompt| prompt.contains("{{"))
}

fn template(definition: &Definition, step: &Step, agent: &str) -> Result<Option<Template>, String> {
    if let Some(own) = step.prompt() {
        return Ok(Some(own.clone()));
    }
    let parse = |text: &str| {
        Template::parse(text).map_err(|error| format!("the prompt of `{agent}` cannot be read: {error}"))
    };
    participant_template(definition, agent).map(parse).transpose()
}

/// Returns the block before a prompt. Empty with `brief: none`, or if the whole work item is sent.
fn brief(definition: &Definition, step: &Step, task: &AgentWork) -> String {
    let mut out = String::new();
    if task.prompt.is_none() || !step.brief {
        return out;
    }
    if let Some(goal) = &definition.goal {
        let _ = writeln!(out, "Goal: {goal}");
    }
    if !definition.constraints.is_empty() {
        let _ = writeln!(out, "Constraints:\n- {}", definition.constraints.join("\n- "));
    }
    let stage = &task.stage_context;
    let label = step.label.as_ref().filter(|_| step.description.is_some());
    let label = label.map_or_else(String::new, |label| format!("{label}: "));
    let _ = writeln!(out, "Stage: {label}{}", stage.stage_description);
    if !stage.available_skills.is_empty() {
        let _ = writeln!(out, "What you can use: {}", stage.available_skills.join(", "));
    }
    let reviewed = task.review_context.as_ref().map(|context| context.target_artifact_id.as_str());
    for made in stage.previous_artifacts.iter().filter(|made| Some(made.artifact_id.as_str()) != reviewed) {
        let PreviousArtifact { artifact_id, stage, version, content, .. } = made;
        let content = shown(content.as_ref());
        let _ =
            writeln!(out, "Earlier artifact: `{artifact_id}` (stage `{stage}`, version {version}){content}");
    }
    if let Some(context) = &task.review_context {
        let content = task.input.get("artifact").and_then(|artifact| artifact.get("content"));
        let (id, author) = (&context.target_artifact_id, &context.target_author_tag);
        let _ = writeln!(out, "Under review: `{id}`, by {author}{}", shown(content));
    }
    if let Some(linked) = &task.linked_tasks {
        let _ = writeln!(out, "Tasks linked to this one:\n{linked}");
    }
    out
}

/// Formats an artifact's content: its text if it is only text, else JSON.
fn shown(content: Option<&Value>) -> String {
    let Some(content) = content else { return String::new() };
    let only_text = content.as_object().filter(|map| map.len() == 1).and_then(|map| map.get("result"));
    match only_text.unwrap_or(content) {
        Value::String(text) => format!(":\n{}", text.trim_end()),
        other => format!(":\n{other}"),
    }
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
            description: "feedback on the artifact for each criterion".to_owned(),
            ..ExpectedOutput::default()
        },
    }
}

/// Returns the answer's form and the facilitator's line; the same for everyone who answers.
fn rules(step: &Step, directive: Option<&str>) -> Option<String> {
    let mut rules = String::new();
    // The schema's own text already demands JSON.
    let ExpectedOutput { description, length, format: written } =
        if let StepKind::Agent(agent) = &step.kind { agent.expected_output.clone() } else { expected(step) };
    let named = [("", &description), ("length: ", &length), ("format: ", &written)];
    let words: Vec<String> = named
        .into_iter()
        .filter(|(_, word)| !word.is_empty())
        .map(|(name, word)| format!("{name}{}", word.trim_end_matches('.')))
        .collect();
    if !words.is_empty() {
        let _ = writeln!(rules, "Expected of you: {}.", words.join("; "));
    }
    match &step.kind {
        StepKind::Agent(agent) => {
            if let Some(schema) = &agent.output_schema {
                rules.push_str(&schema.in_words());
            }
        }
        StepKind::Review(review) => {
            let criteria = review.criteria.join(", ");
            let _ = writeln!(
                rules,
                "You review `artifact`, made by somebody else. Judge it by {criteria}; say what should change."
            );
            rules.push_str(&VERDICT.in_words());
        }
        _ => {}
    }
    if let Some(directive) = directive {
        let _ = writeln!(rules, "The facilitator adds: {directive}");
    }
    (!rules.is_empty()).then_some(rules)
}
