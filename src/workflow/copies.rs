//! What must hold of steps that are copied for each item of a list.

use super::definition::Definition;
use super::steps::step::StepKind;
use crate::diagnostic::Diagnostic;

/// Adds a problem for every item whose key is taken, and every id that a copy would have.
pub fn check(definition: &Definition, reserved: &[&str], file: &str, problems: &mut Vec<Diagnostic>) {
    for step in definition.all_steps() {
        let StepKind::Each(each) = &step.kind else { continue };
        let mut taken =
            definition.all_steps().filter(|other| other.key() == each.item || other.id == each.item);
        if reserved.contains(&each.item.as_str()) || each.item.is_empty() || taken.next().is_some() {
            let message = format!("`as` of step `{}` is taken already: `{}`", step.id, each.item);
            let problem = Diagnostic::new(message).at(file, step.place.0, step.place.1);
            problems.push(problem.hint("choose another key"));
        }
        let of_copy = format!("{}.", step.id);
        for other in definition.all_steps().filter(|other| other.id.starts_with(&of_copy)) {
            let message = format!("the id `{}` may be that of a copy inside `{}`", other.id, step.id);
            let problem = Diagnostic::new(message).at(file, other.place.0, other.place.1);
            problems.push(problem.hint("choose another id"));
        }
    }
}
