//! What must hold of rounds that follow from rounds: revisions, notes, lines for single seats.

use indexmap::IndexMap;

use super::definition::Definition;
use super::steps::agent::FacilitatorForm;
use super::steps::round::Round;
use super::steps::step::{Step, StepKind};
use crate::ballot::{BallotForm, OptionOrder};
use crate::diagnostic::{Diagnostic, did_you_mean};

impl Definition {
    /// Whether anything of it is drawn by lot: the order of options or of reasons.
    pub fn draws(&self) -> bool {
        let mut rounds = self.all_steps().filter_map(Step::round);
        rounds.any(|round| round.revises.is_some() || !round.ballot.order.is_same())
    }

    pub fn revisions(&self) -> impl Iterator<Item = (&Step, &Step)> {
        let revising = |step: &'_ Step| step.round()?.revises.clone();
        self.all_steps().filter_map(move |step| Some((self.step(&revising(step)?)?, step)))
    }

    /// The step of the list that a step is, or is in.
    pub fn top(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.holds(id))
    }

    /// Whether the way from one step can lead to another, both of the list.
    pub fn leads_to(&self, from: &str, to: &str) -> bool {
        if !self.is_routed() {
            let place = |id: &str| self.steps.iter().position(|step| step.id == id);
            return place(from) < place(to);
        }
        let mut seen: Vec<&str> = Vec::new();
        let mut todo: Vec<&Step> = self.step(from).into_iter().collect();
        while let Some(step) = todo.pop() {
            for (_, target) in step.targets() {
                if target == to {
                    return true;
                }
                if !seen.contains(&target) {
                    seen.push(target);
                    todo.extend(self.step(target));
                }
            }
        }
        false
    }
}

/// Adds the problems of one step.
pub fn check(
    definition: &Definition,
    step: &Step,
    is_nested: bool,
    (file, problems): (&str, &mut Vec<Diagnostic>),
) {
    check_synthesis(definition, step, is_nested, file, problems);
    check_form(step, (file, problems));
    check_edits(definition, step, (file, problems));
    check_record(definition, step, is_nested, (file, problems));
    let Some(round) = step.round() else { return };
    let roster: Vec<&str> = definition.participants.iter().map(|p| p.name.as_str()).collect();
    let at = |message: String| at(step, file, message);
    for name in round.directives.keys().filter(|name| !definition.seats(round).any(|s| s.name == **name)) {
        let message = format!("`directives` of round `{}` names no seat of it: `{name}`", step.id);
        problems.push(at(message).hint(did_you_mean(name, &roster)));
    }
    if let Some(why) = misfit(definition, step, round) {
        problems.push(at(format!("round `{}` {why}", step.id)).hint("revise a round of the same ballot"));
    }
}

fn at(step: &Step, file: &str, message: String) -> Diagnostic {
    Diagnostic::new(message).at(file, step.place.0, step.place.1)
}

/// A note is on a round, and written by a step of the list.
fn check_synthesis(
    definition: &Definition,
    step: &Step,
    is_nested: bool,
    file: &str,
    problems: &mut Vec<Diagnostic>,
) {
    let StepKind::Agent(agent) = &step.kind else { return };
    let Some(of) = agent.synthesis_of.as_deref() else { return };
    let rounds: Vec<&str> =
        definition.all_steps().filter(|step| step.round().is_some()).map(|step| step.id.as_str()).collect();
    if !rounds.contains(&of) {
        let message = format!("`synthesis_of` of step `{}` names no round: `{of}`", step.id);
        problems.push(at(step, file, message).hint(did_you_mean(of, &rounds)));
    } else if is_nested {
        let message = format!("`synthesis_of` of step `{}` has no effect inside another step", step.id);
        problems.push(at(step, file, message).hint("put the step into the list"));
    }
}

/// A form has its topic and its round.
fn check_form(step: &Step, (file, problems): (&str, &mut Vec<Diagnostic>)) {
    let Some((agent, form)) = step.agent().and_then(|agent| Some((agent, agent.form?))) else { return };
    let mut refuse = |message: String, hint: &str| problems.push(at(step, file, message).hint(hint));
    if agent.prompt.is_none() {
        refuse(format!("step `{}` with a `form` has no topic", step.id), "write it as `prompt`");
    }
    if agent.output_schema.is_some() {
        let message = format!("step `{}` has a `form` and an `output_schema`", step.id);
        refuse(message, "leave one of them out");
    }
    if form != FacilitatorForm::Open && agent.synthesis_of.is_none() {
        let message = format!("step `{}` with a `form` is about no round", step.id);
        refuse(message, "name the round in `synthesis_of`");
    }
}

/// Only an answer in a form is edited, and ideas are merged by the note on their round.
fn check_edits(definition: &Definition, step: &Step, (file, problems): (&str, &mut Vec<Diagnostic>)) {
    let StepKind::Approval(approval) = &step.kind else { return };
    let mut refuse = |message: String, hint: &str| problems.push(at(step, file, message).hint(hint));
    let Some(id) = &approval.edits else {
        if approval.ask_if.is_some() {
            let message = format!("`ask_if` of step `{}` has no effect without `edits`", step.id);
            refuse(message, "leave it out, or name the proposal in `edits`");
        }
        return;
    };
    let Some(agent) = definition.step(id).and_then(Step::agent).filter(|agent| agent.form.is_some()) else {
        let message = format!("`edits` of step `{}` names no step with a `form`: `{id}`", step.id);
        return refuse(message, "name an agent step with a `form`");
    };
    if approval.merges.is_some() && agent.synthesis_of != approval.merges {
        let message = format!("step `{}` merges ideas and edits a note on another round", step.id);
        refuse(message, "name the same round in `merges` and in the `synthesis_of` of the note");
    }
}

/// Why a round cannot revise the one it names.
fn misfit(definition: &Definition, step: &Step, round: &Round) -> Option<String> {
    let of = round.revises.as_deref()?;
    let Some(before) = definition.step(of).and_then(Step::round).filter(|_| of != step.id) else {
        return Some(format!("revises no other round of this file: `{of}`"));
    };
    let form = |round: &Round| BallotForm {
        order: OptionOrder::Same,
        about: IndexMap::default(),
        ..round.ballot.clone()
    };
    let (now, then) = (form(round), form(before));
    if now.kind != then.kind {
        let (now, then) = (now.kind.name(), then.kind.name());
        return Some(format!("is of kind `{now}` and revises `{of}`, which is of kind `{then}`"));
    }
    let source = |round: &Round| round.options_from.as_ref().map(|from| from.transform.text().to_owned());
    (now != then || source(round) != source(before))
        .then(|| format!("revises `{of}`, which has other options or another scale"))
}

/// Adds a problem for a `record` that reads from no step, or stands inside another step.
fn check_record(
    definition: &Definition,
    step: &Step,
    is_nested: bool,
    (file, problems): (&str, &mut Vec<Diagnostic>),
) {
    let Some(record) = &step.record else { return };
    let mut refuse = |message: String, hint: String| {
        problems.push(Diagnostic::new(message).at(file, step.place.0, step.place.1).hint(hint));
    };
    if is_nested {
        let message = format!("`record` of step `{}` has no effect inside another step", step.id);
        refuse(message, "put it on the step around it".to_owned());
    }
    let named = record.from.step();
    if definition.step_of_key(named, step).is_none() {
        let known: Vec<&str> = definition.keys_seen_by(step);
        let message = format!("`record` of step `{}` names no step: `{named}`", step.id);
        refuse(message, did_you_mean(named, &known));
    }
}
