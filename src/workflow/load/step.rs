//! Loading the steps: each type with its own keys, and what any step may have.

use super::ballot::{ballot, close, quorum, quorum_ballots};
use super::map_reader::{Fields, as_text};
use super::rule::{act_at, rule, ties};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::workflow::definition::{Round, Selection};
use crate::workflow::lang::{Condition, GrammarError, OutputSchema, Template, Transform};
use crate::workflow::recall::recall;
use crate::workflow::step::{
    Agent, Approval, Branch, Completeness, ExpectedOutput, Parallel, RejectWhen, Retry, Review, Step,
    StepKind,
};
use crate::yaml::{Node, Value};

const STEP_TYPES: [&str; 7] = ["agent", "round", "parallel", "transform", "condition", "approval", "review"];
/// Keys of single step types, for a step whose type is not known.
const TYPE_KEYS: [&str; 30] = [
    "reject_when",
    "agent",
    "prompt",
    "output_schema",
    "expected_output",
    "of",
    "reviewers",
    "criteria",
    "min_success",
    "condition",
    "then",
    "else",
    "transform",
    "steps",
    "message",
    "on_approve",
    "on_reject",
    "question",
    "exploration",
    "context",
    "ballot",
    "rule",
    "ties",
    "quorum",
    "quorum_ballots",
    "act_at",
    "close",
    "deadline",
    "on_failed",
    "on_undecided",
];
/// Keys that a step may have and that say something about a work item only.
const HAND_OVER: [&str; 8] = [
    "brief",
    "requires",
    "completeness",
    "max_retries",
    "retry_delay_ms",
    "timeout_ms",
    "facilitator_directive",
    "min_success",
];

/// Takes every key that belongs to some step, of a definition that is none.
pub fn take_all(fields: &mut Fields<'_>) {
    let of_any = ["output", "label", "next", "on_error", "max_runs", "on_exhausted"];
    for key in TYPE_KEYS.iter().chain(&HAND_OVER).chain(&of_any) {
        fields.node(key);
    }
}

/// What loading a list of steps finds beside them.
pub struct Findings<'a> {
    /// The file's name.
    pub file: &'a str,
    /// Problems so far.
    pub problems: &'a mut Vec<Diagnostic>,
    /// Warnings so far.
    pub warnings: &'a mut Vec<Diagnostic>,
}

/// The steps of a list.
pub fn steps(nodes: &[Node], found: &mut Findings<'_>) -> Vec<Step> {
    let mut steps = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut fields = match Fields::from_node(node, "a step", found.file) {
            Ok(fields) => fields,
            Err(problem) => {
                found.problems.push(problem);
                continue;
            }
        };
        let id = fields.text("id");
        if id.as_deref().map_or(!fields.has("id"), str::is_empty) {
            fields.refuse(node, "step has no `id`", "give each step an `id`");
        }
        let id = id.unwrap_or_default();
        let description = fields.text("description");
        let mut step = step_body(&mut fields, &id, node, StepPosition::InList, found);
        step.description = description;
        found.warnings.append(&mut fields.notices);
        found.problems.extend(fields.finish(&[]));
        steps.push(step);
    }
    steps
}

/// Where a step's keys stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepPosition {
    /// Among the definition's own: the file is this one step.
    AtTop,
    /// In a list of steps.
    InList,
}

/// Reads a step's own keys.
pub fn step_body(
    fields: &mut Fields<'_>,
    id: &str,
    node: &Node,
    place: StepPosition,
    found: &mut Findings<'_>,
) -> Step {
    let word = step_type(fields, id, node, place);
    let (kind, known): (StepKind, &[&'static str]) = match word.as_str() {
        "agent" => (StepKind::Agent(Box::new(agent(fields, node))), &HAND_OVER[..7]),
        "parallel" => (StepKind::Parallel(parallel(fields, node, found)), &["min_success"]),
        "transform" => (transform(fields, node), &[]),
        "condition" => (condition(fields, node), &[]),
        "approval" => (StepKind::Approval(approval(fields, node)), &[]),
        "review" => (StepKind::Review(review(fields, node)), &HAND_OVER[..7]),
        "round" => (
            StepKind::Round(round(fields, node, place)),
            &["requires", "completeness", "timeout_ms", "facilitator_directive"],
        ),
        _ => {
            // Of a type that is not known nothing else can be told.
            take_all(fields);
            for key in ["input", "participants", "artifacts"] {
                fields.node(key);
            }
            (unreadable(), &HAND_OVER)
        }
    };
    let in_list = place == StepPosition::InList;
    let step = Step {
        id: id.to_owned(),
        description: None,
        label: fields.text("label"),
        next: fields.text("next"),
        on_error: fields.text("on_error"),
        on_undecided: if word == "round" { fields.text("on_undecided") } else { None },
        max_runs: fields.whole_number("max_runs", 1).map(|max| u32::try_from(max).unwrap_or(u32::MAX)),
        on_exhausted: fields.text("on_exhausted"),
        output: if word == "condition" { None } else { fields.text("output") },
        input: if in_list && word == "agent" { fields.text("input") } else { None },
        task: if known.contains(&"requires") { fields.text("task") } else { None },
        requires: fields.texts_if(known, "requires"),
        brief: !known.contains(&"brief")
            || fields.word("brief", &[("full", true), ("none", false)]).unwrap_or(true),
        completeness: if known.contains(&"completeness") { completeness(fields) } else { None },
        retry: if known.contains(&"max_retries") { retry(fields) } else { Retry::default() },
        timeout_ms: if known.contains(&"timeout_ms") { fields.whole_number("timeout_ms", 1) } else { None },
        facilitator_directive: if known.contains(&"facilitator_directive") {
            fields.text("facilitator_directive")
        } else {
            None
        },
        kind,
        place: (node.line, node.column),
    };
    let idle: Vec<&'static str> = HAND_OVER.into_iter().filter(|key| !known.contains(key)).collect();
    fields.without_effect_here(&idle, &word);
    step
}

fn step_type(fields: &mut Fields<'_>, id: &str, node: &Node, place: StepPosition) -> String {
    match fields.node("type") {
        Some(written) => {
            let word = as_text(written).unwrap_or_default();
            if !STEP_TYPES.contains(&word.as_str()) {
                let hint = did_you_mean(&word, &STEP_TYPES);
                fields.refuse(written, format!("unknown step type `{word}`"), hint);
            }
            word
        }
        None if place == StepPosition::AtTop || fields.has("question") => "round".to_owned(),
        None => {
            fields.refuse(node, format!("step `{id}` has no `type`"), "add `type: round`");
            String::new()
        }
    }
}

/// A text that must be there.
fn needed(fields: &mut Fields<'_>, node: &Node, key: &'static str, example: &str) -> String {
    let text = fields.text(key);
    if text.as_deref().map_or(!fields.has(key), |text| text.trim().is_empty()) {
        let what = fields.node("type").and_then(as_text).unwrap_or_default();
        fields.refuse(node, format!("{what} has no `{key}`"), format!("add `{key}: …`, {example}"));
    }
    text.unwrap_or_default()
}

/// Stands for a step that is refused: the file does not load.
fn unreadable() -> StepKind {
    StepKind::Approval(Approval { message: String::new(), on_approve: None, on_reject: None })
}

/// Notes what is wrong with a text of one of the small languages.
fn refuse_grammar(fields: &mut Fields<'_>, key: &'static str, error: GrammarError) {
    let Some(node) = fields.node(key) else { return };
    let text = as_text(node).unwrap_or_default();
    let rest: String = text.get(error.offset..).unwrap_or_default().chars().take(20).collect();
    let place = if rest.is_empty() || error.offset == 0 { String::new() } else { format!(", at `{rest}`") };
    let hint = error.hint.unwrap_or_else(|| format!("correct the `{key}`"));
    fields.refuse(node, format!("`{key}` cannot be read: {}{place}", error.message), hint);
}

fn agent(fields: &mut Fields<'_>, node: &Node) -> Agent {
    Agent {
        agent: needed(fields, node, "agent", "the name of a participant or a persona"),
        prompt: prompt(fields),
        output_schema: schema(fields),
        expected_output: expected_output(fields),
    }
}

fn prompt(fields: &mut Fields<'_>) -> Option<Template> {
    let text = fields.text("prompt")?;
    // A prompt with an error is still one: nobody else is looked for to give it.
    let read = Template::parse(&text).map_err(|error| refuse_grammar(fields, "prompt", error));
    read.or_else(|()| Template::parse("")).ok()
}

fn schema(fields: &mut Fields<'_>) -> Option<OutputSchema> {
    let node = fields.node("output_schema")?;
    let refuse = |why: String| {
        let hint = "write a JSON Schema, such as `{type: object, required: [answer]}`";
        fields.refuse(node, format!("`output_schema` cannot be read: {why}"), hint);
    };
    OutputSchema::parse(&node.to_json()).map_err(refuse).ok()
}

fn transform(fields: &mut Fields<'_>, node: &Node) -> StepKind {
    let text = needed(fields, node, "transform", "such as `context.STEP.FIELD`");
    if text.trim().is_empty() {
        return unreadable();
    }
    match Transform::parse(&text) {
        Ok(transform) => StepKind::Transform(transform),
        Err(error) => {
            refuse_grammar(fields, "transform", error);
            unreadable()
        }
    }
}

fn condition(fields: &mut Fields<'_>, node: &Node) -> StepKind {
    let text = needed(fields, node, "condition", "such as `context.tests.success === true`");
    let (then, otherwise) = (fields.text("then"), fields.text("else"));
    if text.trim().is_empty() {
        return unreadable();
    }
    match Condition::parse(&text) {
        Ok(condition) => StepKind::Condition(Branch { condition, then, otherwise }),
        Err(error) => {
            refuse_grammar(fields, "condition", error);
            unreadable()
        }
    }
}

fn expected_output(fields: &mut Fields<'_>) -> ExpectedOutput {
    let Some(node) = fields.node("expected_output") else { return ExpectedOutput::default() };
    if let Some(description) = as_text(node) {
        return ExpectedOutput { description, ..ExpectedOutput::default() };
    }
    match Fields::from_node(node, "`expected_output`", fields.file()) {
        Err(problem) => {
            fields.problems.push(problem.hint("write a line of text, or {description, length, format}"));
            ExpectedOutput::default()
        }
        Ok(mut inner) => {
            let mut text = |key| inner.text(key).unwrap_or_default();
            let expected = ExpectedOutput {
                description: text("description"),
                length: text("length"),
                format: text("format"),
            };
            fields.problems.extend(inner.finish(&[]));
            expected
        }
    }
}

fn parallel(fields: &mut Fields<'_>, node: &Node, found: &mut Findings<'_>) -> Parallel {
    let nodes = fields.list("steps");
    if nodes.is_empty() && fields.problems.is_empty() {
        fields.refuse(node, "parallel has no `steps`", "add `steps:`, the steps to run at once");
    }
    let steps = steps(nodes, found);
    let written = fields.node("min_success");
    let min_success = fields.whole_number("min_success", 0).and_then(|count| usize::try_from(count).ok());
    if let (Some(written), Some(count)) = (written, min_success.filter(|count| *count > steps.len())) {
        let message = format!("`min_success` is {count}, and there are {} steps", steps.len());
        fields.refuse(written, message, "lower it, or add steps");
    }
    Parallel { steps, min_success }
}

fn review(fields: &mut Fields<'_>, node: &Node) -> Review {
    let of = needed(fields, node, "of", "the step or artifact that is reviewed");
    let reviewers = selection(fields, "reviewers");
    let criteria = fields.texts("criteria");
    if criteria.is_empty() && !fields.has("criteria") {
        let hint = "add `criteria: [clarity, risk]`, what the reviewers look at";
        fields.refuse(node, "review has no `criteria`", hint);
    }
    let words = [("any", RejectWhen::Any), ("majority", RejectWhen::Majority), ("all", RejectWhen::All)];
    Review {
        of,
        reviewers,
        criteria,
        prompt: prompt(fields),
        on_reject: fields.text("on_reject"),
        reject_when: fields.word("reject_when", &words).unwrap_or_default(),
    }
}

fn approval(fields: &mut Fields<'_>, node: &Node) -> Approval {
    Approval {
        message: needed(fields, node, "message", "the question to answer"),
        on_approve: fields.text("on_approve"),
        on_reject: fields.text("on_reject"),
    }
}

/// How work items are checked; `refuse` is what older files write for `strict`.
pub fn completeness(fields: &mut Fields<'_>) -> Option<Completeness> {
    let words = [
        ("strict", Completeness::Strict),
        ("warn", Completeness::Warn),
        ("off", Completeness::Off),
        ("refuse", Completeness::Strict),
    ];
    fields.word("completeness", &words)
}

fn retry(fields: &mut Fields<'_>) -> Retry {
    let max = fields.whole_number("max_retries", 0).unwrap_or(0);
    Retry {
        max: u32::try_from(max).unwrap_or(u32::MAX),
        delay_ms: fields.whole_number("retry_delay_ms", 0).unwrap_or(0),
    }
}

fn round(fields: &mut Fields<'_>, node: &Node, place: StepPosition) -> Round {
    let question = fields.text("question");
    if question.as_deref().map_or(!fields.has("question"), |q| q.trim().is_empty()) {
        fields.refuse(node, "round has no `question`", "add `question: …`");
    }
    let ballot = ballot(fields);
    let close = close(fields, node);
    let at_top = place == StepPosition::AtTop;
    let exploration = fields.text("exploration");
    let participants = if at_top { Selection::All } else { selection(fields, "participants") };
    let artifacts = if at_top { Selection::All } else { selection(fields, "artifacts") };
    let (rule, terms) = rule(fields, ballot.kind);
    Round {
        question: question.unwrap_or_default(),
        exploration,
        participants,
        artifacts,
        recall: Box::new(recall(fields)),
        rule,
        terms,
        ballot,
        ties: ties(fields),
        quorum: quorum(fields),
        quorum_ballots: quorum_ballots(fields),
        act_at: act_at(fields, node, rule),
        close,
        deadline_ms: fields.duration("deadline"),
        closes_below_quorum: fields.word("on_failed", &[("stop", false), ("close", true)]).unwrap_or(false),
    }
}

fn selection(fields: &mut Fields<'_>, key: &'static str) -> Selection {
    match fields.node(key).map(|node| &node.value) {
        None => Selection::All,
        Some(Value::Text(word)) if word == "all" => Selection::All,
        Some(_) => Selection::Named(fields.texts(key)),
    }
}
