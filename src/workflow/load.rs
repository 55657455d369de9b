//! The loader: a file's text to a [`Definition`], or every problem in it with its place.

use super::check;
use super::definition::{Approval, Close, Definition, Round, Selection, Step, StepKind};
use super::fields::{Fields, as_text};
use super::load_ballot::{ballot, quorum};
use super::load_material::{agenda, artifacts, participants};
use super::load_rule::{rule, ties};
use crate::problem::{Problem, did_you_mean};
use crate::yaml::{Node, Value, literal_keys, read, read_json};

/// What standard input is called in messages and in a session's header.
pub const STANDARD_INPUT: &str = "standard input";
/// A definition larger than this is refused, in bytes.
pub const MAX_DEFINITION: usize = 4 * 1024 * 1024;
const STEP_TYPES: [(&str, bool); 7] = [
    ("agent", false),
    ("round", true),
    ("parallel", false),
    ("transform", false),
    ("condition", false),
    ("approval", true),
    ("review", false),
];
/// Keys that any step may have and that nothing acts on yet.
const COMMON_LATER: [&str; 5] = ["requires", "completeness", "max_retries", "retry_delay_ms", "min_success"];
/// Keys that some step type knows; each is refused in a step it does not belong to.
const LATER_KEYS: [&str; 25] = [
    "agent",
    "input",
    "prompt",
    "output_schema",
    "expected_output",
    "of",
    "reviewers",
    "criteria",
    "requires",
    "completeness",
    "max_retries",
    "retry_delay_ms",
    "timeout_ms",
    "min_success",
    "condition",
    "then",
    "else",
    "transform",
    "output",
    "steps",
    "facilitator_directive",
    "message",
    "on_approve",
    "on_reject",
    "participants",
];
/// Keys of a round alone.
const ROUND_KEYS: [&str; 8] =
    ["question", "exploration", "ballot", "rule", "ties", "quorum", "close", "deadline"];
/// Where a definition's text came from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// The name for messages.
    pub file: &'a str,
    /// The id when the text gives none.
    pub id: &'a str,
}

/// The id of a definition that gives none: its file's name without folder and extension.
pub fn default_id(file: &str) -> &str {
    if file == STANDARD_INPUT {
        return "stdin";
    }
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// A loaded definition and what should be said about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The definition.
    pub definition: Definition,
    /// Warnings, in the order of the file.
    pub warnings: Vec<Problem>,
}

/// Loads a definition from YAML, or from JSON with comments.
///
/// # Errors
/// Every problem found, in the order of the file.
pub fn load(source: Source<'_>) -> Result<Loaded, Vec<Problem>> {
    load_with(source, &mut Vec::new())
}

/// As [`load`]; of a definition that does not load, the warnings are in `warnings`.
///
/// # Errors
/// As [`load`].
pub fn load_with(source: Source<'_>, warnings: &mut Vec<Problem>) -> Result<Loaded, Vec<Problem>> {
    let file = source.file;
    if source.text.len() > MAX_DEFINITION {
        let problem = Problem::new(format!("definition is {} bytes; the limit is 4 MiB", source.text.len()))
            .hint("keep long material in fewer words, or in artifacts of several sessions");
        return Err(vec![problem.in_file(file)]);
    }
    let looks_json =
        source.text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).starts_with(['{', '/']);
    let node = if looks_json { read_json(source.text, file) } else { read(source.text, file) };
    let node = node.map_err(|problem| vec![problem])?;
    let keys = written_keys(&node, file);
    if !keys.is_empty() {
        return Err(keys);
    }
    let (definition, mut problems) = definition(&node, source, warnings)?;
    check::check(&definition, file, &mut problems, warnings);
    if problems.is_empty() {
        return Ok(Loaded { definition, warnings: std::mem::take(warnings) });
    }
    problems.sort_by_key(|p| p.place.as_ref().map_or((0, 0), |at| (at.line, at.column)));
    Err(problems)
}

/// Keys to services written as values. Of a participant a `key` or a `token` can be nothing else; in an input or an artifact it can.
fn written_keys(node: &Node, file: &str) -> Vec<Problem> {
    let mut problems = literal_keys(node, file, &[]);
    let Value::Map(map) = &node.value else { return problems };
    for (_, seats) in map.iter().filter(|(key, _)| key.text == "participants") {
        let found = literal_keys(seats, file, &["key", "token"]);
        let new: Vec<Problem> = found.into_iter().filter(|problem| !problems.contains(problem)).collect();
        problems.extend(new);
    }
    problems
}

fn definition(
    node: &Node,
    source: Source<'_>,
    warnings: &mut Vec<Problem>,
) -> Result<(Definition, Vec<Problem>), Vec<Problem>> {
    let file = source.file;
    let mut fields = Fields::of(node, "the definition", file)
        .map_err(|p| vec![p.hint("write at least `question: …`, or `steps:`")])?;
    let mut problems = Vec::new();
    let id = fields.text("id").unwrap_or_else(|| source.id.to_owned());
    let participants = participants(&mut fields, file, &mut problems);
    let single = fields.node("steps").is_none();
    let steps = if single && !fields.has("type") && !fields.has("question") {
        fields.refuse(node, "the definition has neither `steps` nor a `question`", "add `question: …`");
        for key in LATER_KEYS.iter().chain(&ROUND_KEYS) {
            fields.node(key);
        }
        Vec::new()
    } else if single {
        vec![step_body(&mut fields, &id, node, true)]
    } else {
        steps(fields.list("steps"), file, &mut problems, warnings)
    };
    let definition = Definition {
        description: fields.text("description"),
        goal: fields.text("goal"),
        constraints: fields.texts("constraints"),
        project_summary: fields.text("project_summary"),
        input: fields.node("input").map(Node::to_json),
        participants,
        facilitator_directive: if single { None } else { fields.text("facilitator_directive") },
        artifacts: artifacts(&mut fields, file, &mut problems),
        agenda: agenda(&mut fields, file, &mut problems),
        open_conflicts: fields.values("open_conflicts"),
        open_questions: fields.values("open_questions"),
        budget: fields.positive("budget"),
        max_iterations: fields
            .count("max_iterations", 1)
            .map_or(100, |n| u32::try_from(n).unwrap_or(u32::MAX)),
        max_duration_ms: fields.count("max_duration_ms", 1),
        id,
        steps,
    };
    if fields.node("steps").is_some_and(|node| node.value == Value::List(Vec::new())) {
        fields.refuse(node, "`steps` is empty", "add a step, or write `question: …` instead");
    }
    fields.without_effect(&["facilitator", "warm_first", "tasks", "links", "reports"]);
    warnings.append(&mut fields.notices);
    problems.extend(fields.finish(&["$schema"]));
    Ok((definition, problems))
}

fn steps(nodes: &[Node], file: &str, problems: &mut Vec<Problem>, warnings: &mut Vec<Problem>) -> Vec<Step> {
    let mut steps = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut fields = match Fields::of(node, "a step", file) {
            Ok(fields) => fields,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let id = fields.text("id");
        if id.as_deref().map_or(!fields.has("id"), str::is_empty) {
            fields.refuse(node, "step has no `id`", "give each step an `id`");
        }
        let id = id.unwrap_or_default();
        let description = fields.text("description");
        let mut step = step_body(&mut fields, &id, node, false);
        step.description = description;
        warnings.append(&mut fields.notices);
        problems.extend(fields.finish(&[]));
        steps.push(step);
    }
    steps
}

/// Reads a step's own keys; in a `single`-step file they stand among the definition's.
fn step_body(fields: &mut Fields<'_>, id: &str, node: &Node, single: bool) -> Step {
    let kind = match fields.node("type") {
        Some(written) => {
            let word = as_text(written).unwrap_or_default();
            if !STEP_TYPES.iter().any(|(name, _)| *name == word) {
                let known: Vec<&str> = STEP_TYPES.iter().map(|(name, _)| *name).collect();
                fields.refuse(written, format!("unknown step type `{word}`"), did_you_mean(&word, &known));
            }
            word
        }
        None if single || fields.has("question") => "round".to_owned(),
        None => {
            fields.refuse(node, format!("step `{id}` has no `type`"), "add `type: round`");
            String::new()
        }
    };
    let kind = match kind.as_str() {
        "round" => {
            fields.without_effect(&COMMON_LATER);
            StepKind::Round(round(fields, node, single))
        }
        "approval" => {
            fields.without_effect(&COMMON_LATER);
            fields.without_effect(&["timeout_ms", "facilitator_directive"]);
            StepKind::Approval(approval(fields, node))
        }
        other => {
            // Of a type that is not known nothing else can be told.
            let is_known = STEP_TYPES.iter().any(|(name, _)| *name == other);
            for key in LATER_KEYS.iter().chain(ROUND_KEYS.iter().filter(|_| !is_known)) {
                fields.node(key);
            }
            StepKind::Later(STEP_TYPES.iter().find(|(name, _)| *name == other).map_or("", |(name, _)| name))
        }
    };
    Step {
        id: id.to_owned(),
        description: None,
        label: fields.text("label"),
        next: fields.text("next"),
        on_error: fields.text("on_error"),
        kind,
        place: (node.line, node.column),
    }
}

fn approval(fields: &mut Fields<'_>, node: &Node) -> Approval {
    let message = fields.text("message");
    if message.is_none() && !fields.has("message") {
        fields.refuse(node, "approval has no `message`", "add `message: …`, the question to answer");
    }
    Approval {
        message: message.unwrap_or_default(),
        on_approve: fields.text("on_approve"),
        on_reject: fields.text("on_reject"),
    }
}

fn round(fields: &mut Fields<'_>, node: &Node, single: bool) -> Round {
    let question = fields.text("question");
    if question.as_deref().map_or(!fields.has("question"), |q| q.trim().is_empty()) {
        fields.refuse(node, "round has no `question`", "add `question: …`");
    }
    let ballot = ballot(fields);
    let close = close(fields, node);
    let exploration = fields.text("exploration");
    let participants = if single { Selection::All } else { selection(fields, "participants") };
    let artifacts = if single { Selection::All } else { selection(fields, "artifacts") };
    let (rule, terms) = rule(fields, ballot.kind);
    Round {
        question: question.unwrap_or_default(),
        exploration,
        participants,
        artifacts,
        rule,
        terms,
        ballot,
        ties: ties(fields),
        quorum: quorum(fields),
        close,
        deadline_ms: fields.duration("deadline"),
        timeout_ms: fields.count("timeout_ms", 1),
        facilitator_directive: fields.text("facilitator_directive"),
    }
}

fn close(fields: &mut Fields<'_>, node: &Node) -> Close {
    let words = [
        ("all", Close::All),
        ("quorum", Close::Quorum),
        ("deadline", Close::Deadline),
        ("manual", Close::Manual),
    ];
    let close = fields.word("close", &words).unwrap_or_default();
    if close == Close::Deadline && !fields.has("deadline") {
        fields.refuse(node, "the round closes at a deadline it does not have", "add `deadline: 90s`");
    }
    close
}

fn selection(fields: &mut Fields<'_>, key: &'static str) -> Selection {
    match fields.node(key).map(|node| &node.value) {
        None => Selection::All,
        Some(Value::Text(word)) if word == "all" => Selection::All,
        Some(_) => Selection::Named(fields.texts(key)),
    }
}
