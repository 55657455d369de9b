//! What must hold between the parts of a definition: ids, routes, names, reachability.

use std::collections::HashSet;

use super::definition::{Definition, Selection, Step, StepKind};
use crate::problem::{Problem, did_you_mean};

const RESERVED: [&str; 3] = ["input", "context", "error"];

/// Adds every problem and warning of a definition that reads well part by part.
pub fn check(definition: &Definition, file: &str, problems: &mut Vec<Problem>, warnings: &mut Vec<Problem>) {
    let ids: Vec<&str> = definition.steps.iter().map(|step| step.id.as_str()).collect();
    let mut seen = HashSet::new();
    for step in &definition.steps {
        let at = |message: String| Problem::new(message).at(file, step.place.0, step.place.1);
        if !step.id.is_empty() && !seen.insert(step.id.as_str()) {
            problems.push(at(format!("two steps have the id `{}`", step.id)).hint("give each its own id"));
        }
        if RESERVED.contains(&step.id.as_str()) {
            problems.push(at(format!("`{}` is a reserved id", step.id)).hint("choose another id"));
        }
        for (key, target) in step.targets() {
            if !ids.contains(&target) {
                let message = format!("`{key}` of step `{}` names no step: `{target}`", step.id);
                problems.push(at(message).hint(did_you_mean(target, &ids)));
            }
        }
        check_round(definition, step, file, problems);
    }
    check_names(definition, file, problems);
    unreachable(definition, file, warnings);
}

/// The problems of a definition whose participants were changed after it was loaded.
pub fn recheck(definition: &Definition, file: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    check(definition, file, &mut problems, &mut Vec::new());
    problems
}

fn check_round(definition: &Definition, step: &Step, file: &str, problems: &mut Vec<Problem>) {
    let StepKind::Round(round) = &step.kind else { return };
    let at = |message: String| Problem::new(message).at(file, step.place.0, step.place.1);
    let roster: Vec<&str> = definition.participants.iter().map(|p| p.name.as_str()).collect();
    let artifacts: Vec<&str> = definition.artifacts.iter().map(|a| a.id.as_str()).collect();
    for (selection, known, what) in
        [(&round.participants, &roster, "participant"), (&round.artifacts, &artifacts, "artifact")]
    {
        let Selection::Named(names) = selection else { continue };
        for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
            let message = format!("step `{}` names no {what} of this file: `{name}`", step.id);
            problems.push(at(message).hint(did_you_mean(name, known)));
        }
    }
    let seats = definition.seats(round).count();
    if seats == 0 {
        // Who is named and not there was told above; a file that seats nobody, where it says so.
        if round.participants == Selection::Named(Vec::new()) {
            problems.push(at(format!("round `{}` has no participants", step.id)).hint("name at least one"));
        }
    } else if round.quorum.of(seats) > seats {
        let message = format!("round `{}` can never reach its quorum: {seats} seats", step.id);
        problems.push(at(message).hint("lower `quorum`, or seat more participants"));
    }
}

fn check_names(definition: &Definition, file: &str, problems: &mut Vec<Problem>) {
    let mut seen = HashSet::new();
    for seat in &definition.participants {
        if !seen.insert(seat.name.as_str()) {
            let problem = Problem::new(format!("two participants have the name `{}`", seat.name))
                .hint("give one a `name: …` of its own, or use `count`");
            problems.push(problem.at(file, seat.place.0, seat.place.1));
        }
    }
}

fn unreachable(definition: &Definition, file: &str, warnings: &mut Vec<Problem>) {
    // A step of a type that runs later may lead anywhere its own keys say.
    let any_later = definition.steps.iter().any(|step| matches!(step.kind, StepKind::Later(_)));
    if !definition.is_routed() || any_later {
        return;
    }
    let mut reached: HashSet<&str> = HashSet::new();
    let mut todo: Vec<&Step> = definition.steps.first().into_iter().collect();
    while let Some(step) = todo.pop() {
        if reached.insert(&step.id) {
            todo.extend(step.targets().iter().filter_map(|(_, target)| definition.step(target)));
        }
    }
    for step in definition.steps.iter().filter(|step| !reached.contains(step.id.as_str())) {
        let problem = Problem::new(format!("no step leads to `{}`: it will never run", step.id))
            .hint("point a `next` at it, or remove it");
        warnings.push(problem.at(file, step.place.0, step.place.1));
    }
}
