//! The ids of steps and the keys of their results.

use std::collections::HashSet;

use super::definition::Definition;
use super::steps::step::{Step, StepKind};
use crate::diagnostic::Diagnostic;

const RESERVED: [&str; 3] = ["input", "context", "error"];

fn at(step: &Step, file: &str, message: String) -> Diagnostic {
    Diagnostic::new(message).at(file, step.place.0, step.place.1)
}

/// Whether the step revises a round, or edits a proposal, whose result has this key: the second result
/// takes its place.
fn replaces(definition: &Definition, step: &Step, key: &str) -> bool {
    let edited = if let StepKind::Approval(approval) = &step.kind { approval.edits.as_ref() } else { None };
    let revised = step.round().and_then(|round| round.revises.as_ref());
    edited.or(revised).and_then(|id| definition.step(id)).is_some_and(|earlier| earlier.key() == key)
}

/// Ids and output keys share one space: the context has one entry for each.
pub fn check(definition: &Definition, file: &str, problems: &mut Vec<Diagnostic>) {
    let mut scoped = Vec::new();
    in_scopes(&definition.steps, "", &mut scoped);
    let (mut ids, mut keys) = (HashSet::new(), HashSet::new());
    for (scope, step) in &scoped {
        let at = |message: String| at(step, file, message);
        keys.insert((*scope, step.id.as_str()));
        if !step.id.is_empty() && !ids.insert(step.id.as_str()) {
            problems.push(at(format!("two steps have the id `{}`", step.id)).hint("give each its own id"));
        }
        if RESERVED.contains(&step.id.as_str()) {
            problems.push(at(format!("`{}` is a reserved id", step.id)).hint("choose another id"));
        }
    }
    for (scope, step) in scoped {
        let Some(key) = step.output.as_deref().filter(|key| *key != step.id) else { continue };
        let at = |message: String| at(step, file, message);
        if RESERVED.contains(&key) || key.is_empty() {
            problems
                .push(at(format!("`{key}` is a reserved key for an `output`")).hint("choose another key"));
        } else if !keys.insert((scope, key)) && !replaces(definition, step, key) {
            let message = format!("`output` of step `{}` is taken already: `{key}`", step.id);
            problems.push(at(message).hint("give each result its own key"));
        }
    }
    check_copies(definition, file, problems);
}

/// Every step with the sequence in which its result is seen under its key, empty outside of sequences.
fn in_scopes<'a>(steps: &'a [Step], scope: &'a str, all: &mut Vec<(&'a str, &'a Step)>) {
    for step in steps {
        all.push((scope, step));
        let is_scope = matches!(step.kind, StepKind::Sequence(_) | StepKind::Each(_));
        in_scopes(step.nested(), if is_scope { &step.id } else { scope }, all);
    }
}

/// Adds a problem for every item whose key is taken, and every id that a copy would have.
fn check_copies(definition: &Definition, file: &str, problems: &mut Vec<Diagnostic>) {
    for step in definition.all_steps() {
        let StepKind::Each(each) = &step.kind else { continue };
        let mut taken =
            definition.all_steps().filter(|other| other.key() == each.item || other.id == each.item);
        if RESERVED.contains(&each.item.as_str()) || each.item.is_empty() || taken.next().is_some() {
            let message = format!("`as` of step `{}` is taken already: `{}`", step.id, each.item);
            problems.push(at(step, file, message).hint("choose another key"));
        }
        let of_copy = format!("{}.", step.id);
        for other in definition.all_steps().filter(|other| other.id.starts_with(&of_copy)) {
            let message = format!("the id `{}` may be that of a copy inside `{}`", other.id, step.id);
            problems.push(at(other, file, message).hint("choose another id"));
        }
    }
}
