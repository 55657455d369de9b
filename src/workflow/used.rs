//! Replacement of `use` steps by the steps of other definitions.
//!
//! Replacement precedes all other reading. Sessions save the result, so they need no second file.

use std::cell::Cell;

use super::discussion::{TARGETS, is_discussion, is_of_type, nested};
use super::keys::check::check_definition;
use super::load::aliases::read_definition;
use super::load::entries::Findings;
use super::steps::step::type_of;
use crate::diagnostic::Diagnostic;
use crate::yaml::{Node, Value, placed};

/// Most definitions used by one, indirect uses included.
const MOST_USED: usize = 100;
/// Step keys that refer to another step by id.
const REFERENCES: [&str; 5] = ["revises", "merges", "edits", "synthesis_of", "of"];

/// Reads a definition that a file uses; returns its name for messages and its text.
pub type ReadUsed<'a> = &'a dyn Fn(&str, &str) -> Result<(String, String), Diagnostic>;

/// Replaces `use` steps and counts the used definitions.
pub struct UsedDefinitions<'a> {
    read: ReadUsed<'a>,
    count: Cell<usize>,
}

impl<'a> UsedDefinitions<'a> {
    pub fn new(read: ReadUsed<'a>) -> Self {
        Self { read, count: Cell::new(0) }
    }

    /// Replaces each `use` step inside the node by a sequence. Returns `None` after an error, which is then
    /// in `found`. `files` are the current file and its users, outermost first.
    pub fn in_place(&self, node: &Node, files: &[&str], found: &Findings<'_>) -> Option<Node> {
        let replaced = |step: &Node| {
            if is_of_type(step, "use") {
                self.sequence(step, files, found)
            } else {
                self.in_place(step, files, found)
            }
        };
        let steps: Option<Vec<Node>> = nested(node).iter().map(replaced).collect();
        let mut node = node.clone();
        if let Some(inside) = node.get_mut("steps") {
            inside.value = Value::List(steps?);
        }
        Some(node)
    }

    /// Returns the sequence that replaces a `use` step.
    fn sequence(&self, step: &Node, files: &[&str], found: &Findings<'_>) -> Option<Node> {
        let (id, path) = (step.text("id"), step.text("definition"));
        let refuse = |problem: Diagnostic| {
            let message = format!("`{path}` cannot be used: {}", problem.message);
            found.refuse(step, message, problem.hint.unwrap_or_else(|| "name another file".to_owned()));
        };
        let (file, text) = (self.read)(files.last()?, &path).map_err(refuse).ok()?;
        if files.contains(&file.as_str()) {
            let circle: Vec<&str> = files.iter().copied().chain([file.as_str()]).collect();
            let message = format!("definitions use each other in a circle: {}", circle.join(", "));
            found.refuse(step, message, "let the last one do without the first");
            return None;
        }
        self.count.set(self.count.get() + 1);
        if self.count.get() > MOST_USED {
            found.refuse(step, format!("more than {MOST_USED} definitions are used"), "use fewer");
            return None;
        }
        let of_file = Findings::new(&file);
        let steps = self.steps_in(&text, &id, &[files, &[&file]].concat(), &of_file);
        of_file.problems.take().into_iter().for_each(|problem| found.add(problem));
        let (steps, mut sequence) = (steps?, step.clone());
        let ids = ids(&steps);
        let inside = steps.iter().map(|inside| as_inside(inside, &id, &ids, step)).collect();
        sequence.take("definition");
        *sequence.get_mut("type")? = placed("sequence".into(), step);
        sequence.add("steps", step.with(Value::List(inside)));
        Some(sequence)
    }

    fn steps_in(&self, text: &str, id: &str, files: &[&str], found: &Findings<'_>) -> Option<Vec<Node>> {
        let read = read_definition(text, found.file, id);
        let mut root = read.map_err(|problem| found.add(problem)).ok()?;
        check_definition(&root, found);
        if found.is_sound() {
            root = self.in_place(&root, files, found).unwrap_or(root);
        }
        if !found.is_sound() {
            return None;
        }
        let steps = nested(&root);
        if steps.is_empty() {
            found.refuse(&root, "it has no steps to use", "add `steps`");
        }
        for step in steps {
            let route = TARGETS.iter().find(|key| step.get(key).is_some());
            let message = match route {
                Some(route) => format!("step `{}` has `{route}`, a route", step.text("id")),
                None if is_discussion(step) => "a discussion has routes".to_owned(),
                None => continue,
            };
            let hint = "the steps of a used definition run in order, without routes";
            found.refuse(step, message, hint);
        }
        found.is_sound().then(|| steps.to_vec())
    }
}

/// Returns whether the step is or contains a `use` step.
pub fn has_use(step: &Node) -> bool {
    is_of_type(step, "use") || nested(step).iter().any(has_use)
}

fn ids(steps: &[Node]) -> Vec<String> {
    steps.iter().flat_map(|step| std::iter::once(step.text("id")).chain(ids(nested(step)))).collect()
}

/// Prefixes a step's id, and references to `ids`, with `around`. Its result keeps its key.
fn as_inside(step: &Node, around: &str, ids: &[String], at: &Node) -> Node {
    let id = step.text("id");
    let mut inside = placed(step.to_json(), at);
    for key in REFERENCES.into_iter().chain(["id"]) {
        if let Some(Value::Text(text)) = inside.get_mut(key).map(|named| &mut named.value)
            && (key == "id" || ids.contains(text))
        {
            *text = format!("{around}.{text}");
        }
    }
    if let Some(steps) = inside.get_mut("steps") {
        steps.value = Value::List(nested(step).iter().map(|step| as_inside(step, around, ids, at)).collect());
    }
    let has_output = type_of(step).is_some_and(|of| of.shares("output"));
    if has_output && step.get("output").is_none() {
        inside.push("output", id);
    }
    inside
}
