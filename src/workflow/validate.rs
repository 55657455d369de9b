//! What must hold between the parts of a definition: ids, routes, names, reachability.

use std::collections::HashSet;

use super::definition::{Definition, ParticipantSpec};
use super::lang::Template;
use super::recall::Results;
use super::steps::round::{Close, Selection};
use super::steps::step::{Step, StepKind};
use super::{follow_ups, ids};
use crate::ballot::BallotKind;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::tally::Rule;

/// Adds every problem and warning of a definition that reads well part by part.
pub fn check(
    definition: &Definition,
    file: &str,
    problems: &mut Vec<Diagnostic>,
    warnings: &mut Vec<Diagnostic>,
) {
    ids::check(definition, file, problems);
    let ids = definition.steps.iter().map(|step| step.id.as_str());
    let ids: Vec<&str> = ids.filter(|id| !id.is_empty()).collect();
    for step in definition.all_steps() {
        let is_nested = !definition.steps.iter().any(|top| std::ptr::eq(top, step));
        for (key, target) in step.targets() {
            let at = |message: String| at(step, file, message);
            if is_nested {
                let message = format!("step `{}` runs inside another and leads nowhere: `{key}`", step.id);
                problems
                    .push(at(message).hint(format!("remove `{key}`; the step around it says what follows")));
            } else if !ids.contains(&target) {
                let message = format!("`{key}` of step `{}` names no step: `{target}`", step.id);
                problems.push(at(message).hint(did_you_mean(target, &ids)));
            }
        }
        check_round(definition, step, file, problems);
        warnings.extend(manual_close(step, file).map(|problem| {
            problem.hint("run it on the screen, or give `close: all`, `quorum` or `deadline`")
        }));
        check_rule(step, file, warnings);
        check_runs(step, is_nested, file, problems);
        check_tools(definition, step, file, problems);
        check_review(definition, step, file, problems);
        follow_ups::check(definition, step, is_nested, (file, problems));
        check_merge(definition, step, file, problems);
        check_reference(definition, step, file, warnings);
        check_expression(definition, step, file, problems, warnings);
    }
    check_names(definition, file, problems);
    check_recall(definition, file, problems);
    unreachable(definition, file, warnings);
}

fn at(step: &Step, file: &str, message: String) -> Diagnostic {
    Diagnostic::new(message).at(file, step.place.0, step.place.1)
}

/// A round that only a facilitator at the screen closes.
fn manual_close(step: &Step, file: &str) -> Option<Diagnostic> {
    step.round().filter(|round| round.close == Close::Manual)?;
    let message = format!("round `{}` is closed by the facilitator alone: `--batch` refuses it", step.id);
    Some(at(step, file, message))
}

/// Why a definition cannot run without a facilitator at the screen.
pub fn needs_screen(definition: &Definition, file: &str) -> Vec<Diagnostic> {
    let problems = definition.all_steps().filter_map(|step| manual_close(step, file));
    problems
        .map(|problem| problem.hint("give `close: all`, `quorum` or `deadline`, or run it on the screen"))
        .collect()
}

/// A review looks at what an earlier step made, by people who are there.
fn check_review(definition: &Definition, step: &Step, file: &str, problems: &mut Vec<Diagnostic>) {
    let StepKind::Review(review) = &step.kind else { return };
    let at = |message: String| at(step, file, message);
    if review.of.is_empty() {
        return;
    }
    let is_artifact = definition.artifacts.iter().any(|artifact| artifact.id == review.of);
    if definition.step(&review.of).is_none() && !is_artifact {
        let steps = definition.all_steps().map(|step| step.id.as_str());
        let known: Vec<&str> = steps.chain(definition.artifacts.iter().map(|a| a.id.as_str())).collect();
        let message = format!("`of` of review `{}` names no step and no artifact: `{}`", step.id, review.of);
        return problems.push(at(message).hint(did_you_mean(&review.of, &known)));
    }
    if definition.authors(&review.of).is_empty() {
        let message =
            format!("review `{}` is of a step that makes nothing to review: `{}`", step.id, review.of);
        return problems.push(at(message).hint("name an `agent` or `round` step, or one that holds them"));
    }
    if definition.reviewers(review).is_empty() {
        let message = format!("review `{}` has nobody but the author to review", step.id);
        problems.push(at(message).hint("name another reviewer"));
    }
}

/// What is merged are the ideas of a round.
fn check_merge(definition: &Definition, step: &Step, file: &str, problems: &mut Vec<Diagnostic>) {
    let StepKind::Approval(approval) = &step.kind else { return };
    let Some(named) = &approval.merges else { return };
    let collects = |step: &&Step| {
        step.round()
            .is_some_and(|round| matches!(round.ballot.kind, BallotKind::Ideas | BallotKind::Findings))
    };
    if definition.step(named).as_ref().is_some_and(collects) {
        return;
    }
    let rounds: Vec<&str> = definition.all_steps().filter(collects).map(|step| step.id.as_str()).collect();
    let message = format!("`merges` of step `{}` names no round of ideas: `{named}`", step.id);
    let hint = if rounds.is_empty() {
        "add a round with `ballot: ideas`".to_owned()
    } else {
        did_you_mean(named, &rounds)
    };
    problems.push(at(step, file, message).hint(hint));
}

/// What a condition names must be there; a transform fails when it runs, so it is reported beforehand.
fn check_expression(
    definition: &Definition,
    step: &Step,
    file: &str,
    problems: &mut Vec<Diagnostic>,
    warnings: &mut Vec<Diagnostic>,
) {
    let known: Vec<&str> = definition.keys_seen_by(step);
    let unknown = |what: &str, named: &str| {
        let message = format!("`{what}` of step `{}` names no step: `{named}`", step.id);
        at(step, file, message).hint(did_you_mean(named, &known))
    };
    let mut check_prompt = |prompt| check_template(definition, prompt, step, &known, file, warnings);
    let is_unknown = |named: &&str| !known.contains(named) && definition.step_of_key(named, step).is_none();
    match &step.kind {
        StepKind::Condition(branch) => {
            problems
                .extend(branch.condition.steps().filter(is_unknown).map(|named| unknown("condition", named)));
        }
        StepKind::Transform(transform) => {
            let named = Some(transform.step()).filter(is_unknown);
            warnings.extend(named.map(|named| unknown("transform", named)));
        }
        StepKind::Agent(agent) => check_prompt(agent.prompt.as_ref()),
        StepKind::Review(review) => check_prompt(review.prompt.as_ref()),
        StepKind::Round(_) | StepKind::Approval(_) | StepKind::Parallel(_) | StepKind::Sequence(_) => {}
        StepKind::Each(each) => {
            let of = Some(each.of.step()).filter(|named| *named != "input" && is_unknown(named));
            problems.extend(of.map(|named| unknown("of", named)));
        }
    }
}

/// A path of a template that names nothing prints nothing; it is reported beforehand.
fn check_template(
    definition: &Definition,
    template: Option<&Template>,
    step: &Step,
    known: &[&str],
    file: &str,
    warnings: &mut Vec<Diagnostic>,
) {
    let scope = [
        "input",
        "context",
        "error",
        "goal",
        "constraints",
        "stage_context",
        "available_skills",
        "linked_tasks",
        "project_summary",
        "artifacts",
        "agenda",
    ];
    let review = ["review_context", "artifact"];
    let mut said: Vec<String> = Vec::new();
    for path in template.map(Template::paths).unwrap_or_default() {
        let (named, known): (&str, Vec<&str>) = match path.segments {
            [root, key, ..] if root == "context" => (key, known.to_vec()),
            [root, ..] => {
                let beside =
                    step.input.as_deref().into_iter().chain(definition.items_seen_by(step)).chain(scope);
                let is_review = matches!(step.kind, StepKind::Review(_));
                (root, beside.chain(review.into_iter().filter(|_| is_review)).collect())
            }
            [] => continue,
        };
        if !known.contains(&named) && !said.iter().any(|before| before == named) {
            said.push(named.to_owned());
            let message =
                format!("the prompt of step `{}` names nothing: `{}`", step.id, path.segments.join("."));
            warnings.push(at(step, file, message).hint(did_you_mean(named, &known)));
        }
    }
}

/// Steps whose task is in no list, once all lists are read.
pub fn unknown_tasks(definition: &Definition, file: &str) -> Vec<Diagnostic> {
    let known: Vec<&str> = definition.tasks.iter().map(|task| task.id.as_str()).collect();
    let unknown = |step: &Step| {
        let task = step.task.as_deref().filter(|task| !known.contains(task))?;
        let message = format!("`task` of step `{}` names no task: `{task}`", step.id);
        let hint =
            if known.is_empty() { "define it in `tasks`".to_owned() } else { did_you_mean(task, &known) };
        Some(at(step, file, message).hint(hint))
    };
    definition.all_steps().filter_map(unknown).collect()
}

/// A reference that no step gives fails when the step runs; it is told beforehand.
fn check_reference(definition: &Definition, step: &Step, file: &str, warnings: &mut Vec<Diagnostic>) {
    let Some(reference) = step.input.as_deref() else { return };
    if definition.step_of_key(reference, step).is_none() {
        let known: Vec<&str> = definition.keys_seen_by(step);
        let message = format!("`input` of step `{}` names no step: `{reference}`", step.id);
        warnings.push(at(step, file, message).hint(did_you_mean(reference, &known)));
    }
}

/// The problems of a definition whose participants were changed after it was loaded.
pub fn recheck(definition: &Definition, file: &str) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    check(definition, file, &mut problems, &mut Vec::new());
    problems
}

/// A step allows tools to the model that it names, as every step does that names it.
fn check_tools(definition: &Definition, step: &Step, file: &str, problems: &mut Vec<Diagnostic>) {
    let Some(agent) = step.agent() else { return };
    let is_named = definition.participants.iter().any(|spec| spec.name == agent.agent);
    let is_model = agent.agent.contains('/') && !is_named;
    if agent.allows_tools && !is_model {
        let message = format!("`tools` of step `{}` needs a model as its `agent`", step.id);
        let hint = "name a program such as `claude-cli/MODEL`, or write `tools` on the participant";
        problems.push(at(step, file, message).hint(hint));
    } else if is_model && definition.allows_tools(&agent.agent) != agent.allows_tools {
        let message = format!("`{}` has `tools: allowed` in one step and not in another", agent.agent);
        let hint = "write it in every step that names it, or make it two participants";
        problems.push(at(step, file, message).hint(hint));
    }
}

/// Runs are counted and limited for the steps of the list, and only what a rule decides can be undecided.
fn check_runs(step: &Step, is_nested: bool, file: &str, problems: &mut Vec<Diagnostic>) {
    let mut refuse = |message: String, hint: &str| problems.push(at(step, file, message).hint(hint));
    if step.max_runs.is_some() && is_nested {
        let message = format!("`max_runs` of step `{}` has no effect inside another step", step.id);
        refuse(message, "put it on the step around it");
    }
    if step.on_exhausted.is_some() && step.max_runs.is_none() {
        let message = format!("`on_exhausted` of step `{}` needs a `max_runs`", step.id);
        refuse(message, "add `max_runs: 3`");
    }
    if step.on_undecided.is_some() && step.round().is_some_and(|round| round.rule.is_none()) {
        let message = format!("`on_undecided` of round `{}` needs a `rule`", step.id);
        refuse(message, "add `rule: majority`, or use `next`");
    }
}

fn check_round(definition: &Definition, step: &Step, file: &str, problems: &mut Vec<Diagnostic>) {
    let StepKind::Round(round) = &step.kind else { return };
    let at = |message: String| Diagnostic::new(message).at(file, step.place.0, step.place.1);
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
    let named = |p: &&ParticipantSpec| matches!(&round.participants, Selection::Named(names) if names.contains(&p.name));
    if let Some(agent) = definition.participants.iter().filter(|p| p.agent_only).find(named) {
        let message = format!("round `{}` names `{}`, which is `agent_only`", step.id, agent.name);
        problems.push(at(message).hint("leave it out of `participants`, or take `agent_only` away"));
    }
    let seats = definition.seats(round).count();
    if seats == 0 {
        // Who is named and not there was told above; a file that seats nobody, where it says so.
        if round.participants == Selection::Named(Vec::new()) {
            problems.push(at(format!("round `{}` has no participants", step.id)).hint("name at least one"));
        }
    } else if round.quorum.required_of(seats) > seats {
        let message = format!("round `{}` can never reach its quorum: {seats} seats", step.id);
        problems.push(at(message).hint("lower `quorum`, or seat more participants"));
    } else if round.quorum_ballots.is_some_and(|ballots| ballots.required_of(seats) > seats) {
        let message = format!("round `{}` can never have the ballots it needs: {seats} seats", step.id);
        problems.push(at(message).hint("lower `quorum_ballots`, or seat more participants"));
    }
}

/// Ballots that a rule could decide, and no rule: a forgotten one is reported.
fn check_rule(step: &Step, file: &str, warnings: &mut Vec<Diagnostic>) {
    let Some(round) = step.round().filter(|round| round.rule.is_none()) else { return };
    let kind = round.ballot.kind;
    let rules = kind.spec().countable().map(Rule::for_kind).unwrap_or_default();
    if let [first, ..] = rules.as_slice() {
        let kind = kind.name();
        let message = format!(
            "round `{}` has no rule: its `{kind}` ballots are counted and nothing is decided",
            step.id
        );
        let others =
            if rules.len() > 1 { format!("; also {}", rules[1..].join(", ")) } else { String::new() };
        warnings.push(at(step, file, message).hint(format!("add `rule: {first}`{others}")));
    }
}

fn check_names(definition: &Definition, file: &str, problems: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    for seat in &definition.participants {
        // A prompt with places in it is the template of the agent steps that bring none.
        let is_agent = definition.all_steps().any(|step| step.agents().contains(&seat.name.as_str()));
        let prompt = seat.prompt.as_deref().filter(|prompt| is_agent && prompt.contains("{{"));
        if let Some(Err(error)) = prompt.map(Template::parse) {
            let problem = Diagnostic::new(format!("the prompt of `{}` cannot be read: {error}", seat.name))
                .hint(error.hint.unwrap_or_else(|| "correct the `prompt`".to_owned()));
            problems.push(problem.at(file, seat.place.0, seat.place.1));
        }
        if !seat.name.is_empty() && !seen.insert(seat.name.as_str()) {
            let problem = Diagnostic::new(format!("duplicate participant name `{}`", seat.name))
                .hint("give one a `name: …` of its own, or use `count`");
            problems.push(problem.at(file, seat.place.0, seat.place.1));
        }
    }
}

fn unreachable(definition: &Definition, file: &str, warnings: &mut Vec<Diagnostic>) {
    if !definition.is_routed() {
        return;
    }
    let mut reached: HashSet<&str> = HashSet::new();
    let mut todo: Vec<&Step> = definition.steps.first().into_iter().collect();
    while let Some(step) = todo.pop() {
        if reached.insert(&step.id) {
            todo.extend(step.targets().iter().filter_map(|(_, target)| definition.step(target)));
        }
    }
    let is_lost = |step: &&Step| !step.id.is_empty() && !reached.contains(step.id.as_str());
    for step in definition.steps.iter().filter(is_lost) {
        let problem = Diagnostic::new(format!("unreachable step `{}`", step.id))
            .hint("point a `next` at it, or remove it");
        warnings.push(problem.at(file, step.place.0, step.place.1));
    }
}

/// What `results` names must be steps that leave a result, and no rounds.
fn check_recall(definition: &Definition, file: &str, problems: &mut Vec<Diagnostic>) {
    let rounds = definition.all_steps().filter_map(|step| Some((step.place, &*step.round()?.recall)));
    for (place, keys) in std::iter::once(((1, 1), &definition.recall)).chain(rounds) {
        let Some(Results::Named(names)) = &keys.results else { continue };
        for name in names {
            let (what, hint) =
                match definition.all_steps().find(|step| step.id == *name || step.key() == name) {
                    None => {
                        let known: Vec<&str> = definition.all_steps().map(|step| step.id.as_str()).collect();
                        ("no step", did_you_mean(name, &known))
                    }
                    Some(step) if step.round().is_some() => {
                        ("a round", "`answers` and `rounds` say what is seen of rounds".to_owned())
                    }
                    Some(_) => continue,
                };
            let problem = Diagnostic::new(format!("`results` of `context` names {what}: `{name}`"));
            problems.push(problem.hint(hint).at(file, place.0, place.1));
        }
    }
}
