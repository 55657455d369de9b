//! What an agent gets with its prompt: a short block on the session and its stage, and the form of
//! its answer.
//!
//! Made of what the work item and the definition hold, so that it can be made again from the file.

use std::fmt::Write as _;

use serde_json::Value;

use crate::history::{AgentWork, PreviousArtifact};
use crate::workflow::{Definition, ExpectedOutput, Step, StepKind, VERDICT};

/// The block before a prompt. Nothing where there is no prompt, since the work item is handed over
/// whole then, and where the step says `brief: none`.
pub fn brief(definition: &Definition, step: &Step, task: &AgentWork) -> String {
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
        let _ = writeln!(out, "{}", artifact(made));
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

/// What an earlier stage made, in a line, and what it says below it.
fn artifact(made: &PreviousArtifact) -> String {
    let PreviousArtifact { artifact_id, stage, version, .. } = made;
    format!(
        "Earlier artifact: `{artifact_id}` (stage `{stage}`, version {version}){}",
        shown(made.content.as_ref())
    )
}

/// What an artifact says: its text where it is one, else JSON.
fn shown(content: Option<&Value>) -> String {
    let Some(content) = content else { return String::new() };
    let only_text = content.as_object().filter(|map| map.len() == 1).and_then(|map| map.get("result"));
    match only_text.unwrap_or(content) {
        Value::String(text) => format!(":\n{}", text.trim_end()),
        other => format!(":\n{other}"),
    }
}

pub fn stage_description(step: &Step) -> &str {
    step.description.as_deref().or(step.label.as_deref()).unwrap_or(&step.id)
}

pub fn expected(step: &Step) -> ExpectedOutput {
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

/// The form of an answer, and the facilitator's line; the same for whoever answers.
pub fn rules(step: &Step, directive: Option<&str>) -> Option<String> {
    let mut rules = String::new();
    // That a schema wants JSON is said with the schema.
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
                "You review `artifact`, made by another. Judge it by {criteria} and say what should change."
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
