//! The loader: a file's text to a [`Definition`], or every problem in it with its place.

use super::check;
use super::definition::{
    Approval, Close, Definition, ParticipantSpec, Quorum, Round, Selection, Step, StepKind,
};
use super::fields::{Fields, as_text};
use crate::persona::is_name;
use crate::problem::{Problem, did_you_mean};
use crate::round::ballot::{BallotForm, BallotKind};
use crate::round::material::{AgendaItem, Artifact};
use crate::tally::{Rule, Ties};
use crate::yaml::{Node, Value, read, read_json};

/// A definition larger than this is refused, in bytes.
pub const MAX_DEFINITION: usize = 4 * 1024 * 1024;
/// Who is asked when a definition names nobody.
pub const DEFAULT_PANEL: [&str; 5] =
    ["software-architect", "security-champion", "product-manager", "qa-lead", "devops-engineer"];

const STEP_TYPES: [(&str, bool); 7] = [
    ("agent", false),
    ("round", true),
    ("parallel", false),
    ("transform", false),
    ("condition", false),
    ("approval", true),
    ("review", false),
];
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
const COUNTED_RULES: [(&str, Rule); 3] =
    [("majority", Rule::Majority), ("plurality", Rule::Plurality), ("consent", Rule::Consent)];
const LATER_RULES: [&str; 15] = [
    "supermajority",
    "unanimous",
    "weighted-majority",
    "approval",
    "score-mean",
    "score-median",
    "borda",
    "irv",
    "condorcet",
    "copeland",
    "minimax",
    "ranked-pairs",
    "schulze",
    "majority-judgment",
    "median",
];

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
    let (definition, mut problems) = definition(&node, source)?;
    let mut warnings = Vec::new();
    check::check(&definition, file, &mut problems, &mut warnings);
    if problems.is_empty() {
        return Ok(Loaded { definition, warnings });
    }
    problems.sort_by_key(|p| p.place.as_ref().map_or((0, 0), |at| (at.line, at.column)));
    Err(problems)
}

fn definition(node: &Node, source: Source<'_>) -> Result<(Definition, Vec<Problem>), Vec<Problem>> {
    let file = source.file;
    let mut fields = Fields::of(node, "the definition", file)
        .map_err(|p| vec![p.hint("write at least `question: …`, or `steps:`")])?;
    let mut problems = Vec::new();
    let id = fields.text("id").unwrap_or_else(|| source.id.to_owned());
    let participants = participants(&mut fields, file, &mut problems);
    let single = !fields.has("steps");
    let steps = if single {
        if !fields.has("type") && !fields.has("question") {
            fields.refuse(node, "the definition has neither `steps` nor a `question`", "add `question: …`");
        }
        vec![step_body(&mut fields, &id, node, true)]
    } else {
        steps(fields.list("steps"), file, &mut problems)
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
    if fields.has("steps") && definition.steps.is_empty() {
        fields.refuse(node, "`steps` is empty", "add a step, or write `question: …` instead");
    }
    problems.extend(fields.finish(&["facilitator", "warm_first", "tasks", "links", "reports", "$schema"]));
    Ok((definition, problems))
}

fn steps(nodes: &[Node], file: &str, problems: &mut Vec<Problem>) -> Vec<Step> {
    let mut steps = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut fields = match Fields::of(node, "a step", file) {
            Ok(fields) => fields,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let id = fields.text("id").unwrap_or_default();
        if id.is_empty() {
            fields.refuse(node, "step has no `id`", "give each step an `id`");
        }
        let description = fields.text("description");
        let mut step = step_body(&mut fields, &id, node, false);
        step.description = description;
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
        "round" => StepKind::Round(round(fields, node, single)),
        "approval" => StepKind::Approval(approval(fields, node)),
        other => {
            for key in LATER_KEYS {
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
    if message.is_none() {
        fields.refuse(node, "approval has no `message`", "add `message: …`, the question to answer");
    }
    Approval {
        message: message.unwrap_or_default(),
        on_approve: fields.text("on_approve"),
        on_reject: fields.text("on_reject"),
    }
}

fn round(fields: &mut Fields<'_>, node: &Node, single: bool) -> Round {
    let question = fields.text("question").filter(|q| !q.trim().is_empty());
    if question.is_none() {
        fields.refuse(node, "round has no `question`", "add `question: …`");
    }
    let ballot = ballot(fields);
    Round {
        question: question.unwrap_or_default(),
        exploration: fields.text("exploration"),
        participants: if single { Selection::All } else { selection(fields, "participants") },
        artifacts: if single { Selection::All } else { selection(fields, "artifacts") },
        rule: rule(fields, ballot.kind),
        ballot,
        ties: ties(fields),
        quorum: quorum(fields),
        close: fields
            .word(
                "close",
                &[
                    ("all", Close::All),
                    ("quorum", Close::Quorum),
                    ("deadline", Close::Deadline),
                    ("manual", Close::Manual),
                ],
            )
            .unwrap_or_default(),
        deadline_ms: fields.duration("deadline"),
        timeout_ms: fields.count("timeout_ms", 1),
        facilitator_directive: fields.text("facilitator_directive"),
    }
}

fn selection(fields: &mut Fields<'_>, key: &'static str) -> Selection {
    match fields.node(key).map(|node| &node.value) {
        None => Selection::All,
        Some(Value::Text(word)) if word == "all" => Selection::All,
        Some(_) => Selection::Named(fields.texts(key)),
    }
}

fn ballot(fields: &mut Fields<'_>) -> BallotForm {
    let Some(node) = fields.node("ballot") else { return BallotForm::position() };
    if let Value::Text(word) = &node.value {
        let kind = BallotKind::NAMES.iter().find(|(name, _)| name == word).map(|(_, kind)| *kind);
        if kind.is_none() {
            let known: Vec<&str> = BallotKind::NAMES.iter().map(|(name, _)| *name).collect();
            fields.refuse(node, format!("unknown ballot kind `{word}`"), did_you_mean(word, &known));
        }
        let form = BallotForm { kind: kind.unwrap_or(BallotKind::Position), options: Vec::new() };
        check_form(&form, node, fields);
        return form;
    }
    let mut inner = match Fields::of(node, "the ballot", fields.file()) {
        Ok(inner) => inner,
        Err(problem) => {
            fields.problems.push(problem);
            return BallotForm::position();
        }
    };
    let kind = inner.word("kind", &BallotKind::NAMES).unwrap_or(BallotKind::Position);
    let form = BallotForm { kind, options: inner.texts("options") };
    fields.problems.extend(inner.finish(&["min", "max", "cards"]));
    check_form(&form, node, fields);
    form
}

fn check_form(form: &BallotForm, node: &Node, fields: &mut Fields<'_>) {
    let name = form.kind.name();
    match form.kind {
        BallotKind::Position | BallotKind::Consent if !form.options.is_empty() => {
            fields.refuse(node, format!("a `{name}` ballot takes no options"), "remove `options`");
        }
        BallotKind::Choice if form.options.len() < 2 => {
            fields.refuse(node, "a `choice` ballot needs at least two options", "add `options: [a, b]`");
        }
        BallotKind::Position | BallotKind::Consent | BallotKind::Choice => {}
        _ => fields.refuse(
            node,
            format!("ballots of kind `{name}` are not counted by this version"),
            "use `position`, `choice` or `consent`",
        ),
    }
    for (i, option) in form.options.iter().enumerate() {
        if option.trim().is_empty() || option.trim() != option {
            fields.refuse(node, format!("option `{option}` is blank or has blanks around it"), "trim it");
        }
        if form.options[..i].iter().any(|other| other.to_lowercase() == option.to_lowercase()) {
            fields.refuse(node, format!("option `{option}` is given twice"), "give each option once");
        }
        if option.eq_ignore_ascii_case("abstain") {
            fields.refuse(node, "`abstain` is always possible and is no option", "remove it");
        }
    }
}

fn rule(fields: &mut Fields<'_>, kind: BallotKind) -> Option<Rule> {
    let node = fields.node("rule")?;
    let name = match &node.value {
        Value::Map(_) => {
            let mut inner = Fields::of(node, "the rule", fields.file()).ok()?;
            let name = inner.text("name");
            fields.problems.extend(inner.finish(&["threshold", "strength"]));
            name.unwrap_or_default()
        }
        _ => as_text(node).unwrap_or_default(),
    };
    if LATER_RULES.contains(&name.as_str()) {
        fields.refuse(
            node,
            format!("rule `{name}` is not counted by this version"),
            "use `majority`, `plurality` or `consent`",
        );
        return None;
    }
    let Some((_, rule)) = COUNTED_RULES.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = COUNTED_RULES.iter().map(|(n, _)| *n).chain(LATER_RULES).collect();
        fields.refuse(node, format!("unknown rule `{name}`"), did_you_mean(&name, &known));
        return None;
    };
    let wanted = if *rule == Rule::Consent { BallotKind::Consent } else { BallotKind::Choice };
    if kind != wanted {
        let message = format!("rule `{name}` does not count `{}` ballots", kind.name());
        fields.refuse(node, message, format!("set `ballot: {{kind: {}}}`", wanted.name()));
        return None;
    }
    Some(*rule)
}

fn ties(fields: &mut Fields<'_>) -> Ties {
    let Some(node) = fields.node("ties") else { return Ties::None };
    match &node.value {
        Value::Text(word) if word == "none" => Ties::None,
        Value::Text(word) if word == "ask" => Ties::Ask,
        Value::Map(_) => {
            let Ok(mut inner) = Fields::of(node, "`ties`", fields.file()) else { return Ties::None };
            let seed = inner.count("seeded", 0);
            if seed.is_none() && inner.problems.is_empty() {
                inner.refuse(node, "`ties` has no seed", "write `ties: {seeded: 7}`");
            }
            fields.problems.extend(inner.finish(&[]));
            seed.map_or(Ties::None, Ties::Seeded)
        }
        _ => {
            fields.wrong(node, "ties", "`none`, `ask` or `{seeded: NUMBER}`");
            Ties::None
        }
    }
}

fn quorum(fields: &mut Fields<'_>) -> Quorum {
    let Some(node) = fields.node("quorum") else { return Quorum::MoreThanHalf };
    let read = match &node.value {
        Value::Number(n) => n.as_u64().and_then(|n| u32::try_from(n).ok()).map(Quorum::Seats),
        Value::Text(text) => text
            .strip_suffix('%')
            .and_then(|n| n.trim().parse().ok())
            .filter(|n| *n <= 100)
            .map(Quorum::Percent),
        _ => None,
    };
    if read.is_none() {
        fields.wrong(node, "quorum", "a number of seats or a share such as `60%`");
    }
    read.unwrap_or(Quorum::MoreThanHalf)
}

fn participants(fields: &mut Fields<'_>, file: &str, problems: &mut Vec<Problem>) -> Vec<ParticipantSpec> {
    if !fields.has("participants") {
        fields.node("participants");
        return DEFAULT_PANEL.iter().map(|name| ParticipantSpec::named(name, (0, 0))).collect();
    }
    let mut all = Vec::new();
    for node in fields.list("participants") {
        if let Some(name) = as_text(node) {
            if is_name(&name) {
                all.push(ParticipantSpec::named(&name, (node.line, node.column)));
            } else {
                problems.push(
                    node.problem(file, format!("`{name}` is not a participant's name"))
                        .hint("use a persona's name, or a map `{persona: …, model: …}`"),
                );
            }
        } else {
            participant_map(node, file, problems, &mut all);
        }
    }
    all
}

fn participant_map(node: &Node, file: &str, problems: &mut Vec<Problem>, all: &mut Vec<ParticipantSpec>) {
    let mut fields = match Fields::of(node, "a participant", file) {
        Ok(fields) => fields,
        Err(problem) => return problems.push(problem),
    };
    let persona = fields.text("persona");
    let name = fields.text("name").or_else(|| persona.clone()).unwrap_or_default();
    if !is_name(&name) {
        fields.refuse(node, "participant has no usable `persona` or `name`", "add `persona: qa-lead`");
    }
    for key in ["command", "prompt"] {
        if let Some(inner) = fields.node(key) {
            let message =
                format!("participants with a `{key}` come with the `agent` step of a later version");
            fields.refuse(inner, message, "seat a persona instead");
        }
    }
    let model = fields.text("model");
    let weight = fields.positive("weight").unwrap_or(1.0);
    let seed = fields.count("seed", 0);
    let count = fields.count("count", 1).unwrap_or(1);
    if count > 10_000 {
        fields.refuse(node, "`count` is above 10000", "seat fewer participants");
    }
    let place = (node.line, node.column);
    let persona = persona.unwrap_or_else(|| name.clone());
    for i in 0..count.min(10_000) {
        all.push(ParticipantSpec {
            name: if count == 1 { name.clone() } else { format!("{name}-{}", i + 1) },
            persona: persona.clone(),
            model: model.clone(),
            weight,
            seed: seed.map(|seed| seed.wrapping_add(i)),
            place,
        });
    }
    problems.extend(fields.finish(&["tags"]));
}

fn artifacts(fields: &mut Fields<'_>, file: &str, problems: &mut Vec<Problem>) -> Vec<Artifact> {
    let mut artifacts: Vec<Artifact> = Vec::new();
    for node in fields.list("artifacts") {
        let mut inner = match Fields::of(node, "an artifact", file) {
            Ok(inner) => inner,
            Err(problem) => {
                problems.push(problem.hint("write `{id: REQ-001, summary: \"…\"}`"));
                continue;
            }
        };
        let id = inner.text("id").unwrap_or_default();
        let title = inner.text("title");
        let summary = inner.text("summary").or_else(|| title.clone());
        if id.is_empty() || summary.is_none() {
            inner.refuse(node, "artifact needs an `id` and a `summary` or `title`", "add what is missing");
        }
        if artifacts.iter().any(|other| other.id == id) {
            inner.refuse(node, format!("two artifacts have the id `{id}`"), "give each its own id");
        }
        let relevant = inner.flag("relevant").unwrap_or(false);
        let mut details = Vec::new();
        details.extend(title.map(|title| ("title", title.into())));
        for key in ["kind", "status", "priority", "description", "content", "acceptance"] {
            details.extend(inner.node(key).map(|node| (key, node.to_json())));
        }
        problems.extend(inner.finish(&[]));
        artifacts.push(Artifact { id, summary: summary.unwrap_or_default(), details, relevant });
    }
    artifacts
}

fn agenda(fields: &mut Fields<'_>, file: &str, problems: &mut Vec<Problem>) -> Vec<AgendaItem> {
    let mut items = Vec::new();
    for node in fields.list("agenda") {
        match Fields::of(node, "an agenda item", file) {
            Err(problem) => problems.push(problem),
            Ok(mut inner) => {
                let title = inner.text("title");
                let id = inner.text("id").or_else(|| title.clone()).unwrap_or_default();
                let status = inner.text("status").unwrap_or_else(|| "open".to_owned());
                items.push(AgendaItem { title: title.unwrap_or_else(|| id.clone()), id, status });
                problems.extend(inner.finish(&[]));
            }
        }
    }
    items
}
