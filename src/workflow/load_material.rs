//! Loading who takes part and what is on the table.

use super::definition::{ParticipantSpec, Program};
use super::fields::{Fields, as_text};
use crate::persona::is_name;
use crate::problem::Problem;
use crate::round::material::{AgendaItem, Artifact};
use crate::yaml::{Node, Value};

/// Who is asked when a definition names nobody.
pub const DEFAULT_PANEL: [&str; 5] =
    ["software-architect", "security-champion", "product-manager", "qa-lead", "devops-engineer"];

/// Who takes part; the default panel when nobody is named.
pub fn participants(
    fields: &mut Fields<'_>,
    file: &str,
    problems: &mut Vec<Problem>,
) -> Vec<ParticipantSpec> {
    if !fields.has("participants") {
        fields.node("participants");
        return DEFAULT_PANEL.iter().map(|name| ParticipantSpec::named(name, (0, 0))).collect();
    }
    let mut all = Vec::new();
    if let Some(node) = fields.node("participants").filter(|node| node.value == Value::List(Vec::new())) {
        fields.refuse(node, "`participants` is empty", "name at least one, or leave the key out");
    }
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
    let prompt = fields.text("prompt");
    let command = program(&mut fields, node, &name);
    let model = fields.text("model");
    let weight = fields.positive("weight").unwrap_or(1.0);
    let seed = fields.count("seed", 0);
    let count = fields.count("count", 1).unwrap_or(1);
    if count > 10_000 {
        fields.refuse(node, "`count` is above 10000", "seat fewer participants");
    }
    let skills = fields.texts("skills");
    let place = (node.line, node.column);
    let persona = persona.unwrap_or_else(|| name.clone());
    for i in 0..count.min(10_000) {
        all.push(ParticipantSpec {
            name: if count == 1 { name.clone() } else { format!("{name}-{}", i + 1) },
            persona: persona.clone(),
            prompt: prompt.clone(),
            command: command.clone(),
            agent_only: false,
            skills: skills.clone(),
            model: model.clone(),
            weight,
            seed: seed.map(|seed| seed.wrapping_add(i)),
            place,
        });
    }
    problems.extend(fields.finish(&["tags"]));
}

/// The external program a participant is, if it is one.
fn program(fields: &mut Fields<'_>, node: &Node, name: &str) -> Option<Program> {
    let is_program = fields.has("command");
    let program = Program {
        command: fields.texts("command"),
        cwd: fields.text("cwd"),
        env: fields.texts("env"),
        max_bytes: fields.count("max_bytes", 1),
        tool_less: fields.flag("tool_less").unwrap_or(false),
    };
    if !is_program {
        if program != Program::default() {
            let message = format!("`{name}` has keys of an external program and no `command`");
            fields.refuse(node, message, "add `command: [program, argument]`");
        }
        return None;
    }
    if program.command.first().is_none_or(String::is_empty) {
        let message = format!("the `command` of `{name}` is empty");
        fields.refuse(node, message, "write `command: [program, argument]`");
    }
    Some(program)
}

/// The numbered material.
pub fn artifacts(fields: &mut Fields<'_>, file: &str, problems: &mut Vec<Problem>) -> Vec<Artifact> {
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
        if inner.problems.is_empty() && (id.is_empty() || summary.is_none()) {
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

/// What is to be discussed.
pub fn agenda(fields: &mut Fields<'_>, file: &str, problems: &mut Vec<Problem>) -> Vec<AgendaItem> {
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
