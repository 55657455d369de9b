//! Checks across a definition: ids, routes, references, reachability, revisions, notes and directives.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};

use super::definition::Definition;
use super::lang::Template;
use super::load::entries::Findings;
use super::participants::ParticipantSpec;
use super::steps::agent::FacilitatorForm;
use super::steps::round::{Close, Round, Selection};
use super::steps::step::{Step, StepKind};
use crate::ballot::{BallotForm, BallotKind, OptionOrder};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::sanitize::pluralize;
use crate::tally::Rule;

/// Ids and keys that no step may have.
const RESERVED: [&str; 3] = ["input", "context", "error"];

/// Reports errors and warnings between parts of a definition.
pub fn check(definition: &Definition, found: &Findings<'_>) {
    let rounds = |is: fn(&Round) -> bool| {
        let rounds = definition.all_steps().filter(move |step| step.round().is_some_and(is));
        rounds.map(|step| step.id.as_str()).collect()
    };
    let names = Names {
        steps: definition.steps.iter().map(|step| step.id.as_str()).collect(),
        rounds: rounds(|_| true),
        of_ideas: rounds(|round| matches!(round.ballot.kind, BallotKind::Ideas | BallotKind::Findings)),
        participants: definition.participants.iter().map(|one| one.name.as_str()).collect(),
        artifacts: definition.artifacts.iter().map(|one| one.id.as_str()).collect(),
    };
    let checker = Checker { definition, found, names };
    checker.check_ids();
    checker.check_copies();
    let steps = definition.steps.iter().flat_map(|top| top.all().into_iter().map(move |step| (top, step)));
    for (top, step) in steps {
        let is_nested = !std::ptr::eq(top, step);
        checker.check_routes(step, is_nested);
        checker.check_references(step);
        checker.check_round(step);
        checker.check_rule(step);
        checker.check_runs(step, is_nested);
        checker.check_tools(step);
        checker.check_review(step);
        checker.check_form(step);
        if let Some(why) = step.round().and_then(|round| revision_mismatch(definition, step, round)) {
            checker.refuse(step, format!("round `{}` {why}", step.id), "revise a round of the same ballot");
        }
        checker.check_approval(step);
    }
    checker.check_names();
    checker.check_recall();
    checker.warn_of_unreachable();
}

/// Returns the problems of a definition whose participants changed after loading.
pub fn recheck(definition: &Definition, file: &str) -> Vec<Diagnostic> {
    let found = Findings::new(file);
    check(definition, &found);
    found.problems.take()
}

/// Returns the reasons why a definition cannot run without a facilitator at the screen.
pub fn needs_screen(definition: &Definition, file: &str) -> Vec<Diagnostic> {
    let found = Findings::new(file);
    let is_closed_by_hand = |step: &&Step| step.round().is_some_and(|round| round.close == Close::Manual);
    for step in definition.all_steps().filter(is_closed_by_hand) {
        let message = format!("round `{}` is closed by the facilitator alone: `--batch` refuses it", step.id);
        let hint = "give `close: all`, `quorum` or `deadline`, or run it on the screen";
        found.refuse_at(step.place, message, hint);
    }
    found.problems.take()
}

/// Returns an error for each step whose task is unknown. Call it once all task lists are read.
pub fn unknown_tasks(definition: &Definition, file: &str) -> Vec<Diagnostic> {
    let found = Findings::new(file);
    let known = definition.tasks.iter().map(|task| task.id.as_str()).collect();
    definition.all_steps().for_each(|step| unknown(&found, step, "task", "task", &step.task, &known));
    found.problems.take()
}

/// Names that step keys may refer to. Collected once, because a definition may have thousands of steps.
struct Names<'a> {
    /// Top-level steps.
    steps: IndexSet<&'a str>,
    rounds: IndexSet<&'a str>,
    /// Rounds with answers that can be merged.
    of_ideas: IndexSet<&'a str>,
    participants: IndexSet<&'a str>,
    artifacts: IndexSet<&'a str>,
}

struct Checker<'a> {
    definition: &'a Definition,
    found: &'a Findings<'a>,
    names: Names<'a>,
}

/// Reports each name under a key that is not in `known`.
fn unknown(
    found: &Findings<'_>,
    step: &Step,
    key: &str,
    kind: &str,
    named: impl IntoIterator<Item: AsRef<str>>,
    known: &IndexSet<&str>,
) {
    for named in named.into_iter().filter(|named| !known.contains(named.as_ref())) {
        let named = named.as_ref();
        let known: Vec<&str> = known.iter().copied().collect();
        let hint =
            if known.is_empty() { format!("this file has no {kind}") } else { did_you_mean(named, &known) };
        let message = format!("`{key}` of step `{}` names no {kind}: `{named}`", step.id);
        found.refuse_at(step.place, message, hint);
    }
}

impl<'a> Checker<'a> {
    fn refuse(&self, step: &Step, message: String, hint: impl Into<String>) {
        self.found.refuse_at(step.place, message, hint);
    }

    fn refuse_if(&self, is_wrong: bool, step: &Step, message: String, hint: &str) {
        if is_wrong {
            self.refuse(step, message, hint);
        }
    }

    fn ids(&self) -> Vec<&'a str> {
        self.definition.all_steps().map(|step| step.id.as_str()).collect()
    }

    /// Checks ids and output keys, which share one namespace: the context has one entry for each.
    fn check_ids(&self) {
        let mut scoped = Vec::new();
        in_scopes(&self.definition.steps, "", &mut scoped);
        let (mut ids, mut keys) = (HashSet::new(), HashSet::new());
        for (scope, step) in &scoped {
            let id = step.id.as_str();
            keys.insert((*scope, id));
            let is_twice = !id.is_empty() && !ids.insert(id);
            self.refuse_if(is_twice, step, format!("two steps have the id `{id}`"), "give each its own id");
            let is_reserved = RESERVED.contains(&id);
            self.refuse_if(is_reserved, step, format!("`{id}` is a reserved id"), "choose another id");
        }
        for (scope, step) in scoped {
            let Some(key) = step.output.as_deref().filter(|key| *key != step.id) else { continue };
            if RESERVED.contains(&key) || key.is_empty() {
                self.refuse(step, format!("`{key}` is a reserved key for an `output`"), "choose another key");
            } else if !keys.insert((scope, key)) && !replaces(self.definition, step, key) {
                let message = format!("`output` of step `{}` is taken already: `{key}`", step.id);
                self.refuse(step, message, "give each result its own key");
            }
        }
    }

    /// Checks that item keys of an `each` are free, and that no step has a future copy's id.
    fn check_copies(&self) {
        for step in self.definition.all_steps() {
            let StepKind::Each(each) = &step.kind else { continue };
            let item = &each.item;
            let mut others = self.definition.all_steps();
            let is_taken = RESERVED.contains(&item.as_str())
                || item.is_empty()
                || others.any(|other| other.key() == item || other.id == *item);
            let message = format!("`as` of step `{}` is taken already: `{item}`", step.id);
            self.refuse_if(is_taken, step, message, "choose another key");
            let of_copy = format!("{}.", step.id);
            for other in self.definition.all_steps().filter(|other| other.id.starts_with(&of_copy)) {
                let message = format!("the id `{}` may be that of a copy inside `{}`", other.id, step.id);
                self.refuse(other, message, "choose another id");
            }
        }
    }

    fn check_routes(&self, step: &Step, is_nested: bool) {
        for (key, target) in step.targets() {
            if is_nested {
                let message = format!("step `{}` runs inside another and leads nowhere: `{key}`", step.id);
                self.refuse(step, message, format!("remove `{key}`; the step around it says what follows"));
            } else if target == "end" && !self.names.steps.contains(target) {
                let message = format!("`{key}` of step `{}` names no step: `end`", step.id);
                let hint =
                    "leave it out: a step that names no next step is the last, where another names one";
                self.refuse(step, message, hint);
            } else {
                unknown(self.found, step, key, "step", [target], &self.names.steps);
            }
        }
    }

    /// Checks references to participants, artifacts and rounds.
    fn check_references(&self, step: &Step) {
        let (found, names) = (self.found, &self.names);
        match &step.kind {
            StepKind::Round(round) => {
                let seats = self.definition.seats(round).map(|seat| seat.name.as_str()).collect();
                let (seated, shown) = (round.participants.names(), round.artifacts.names());
                unknown(found, step, "participants", "participant", seated, &names.participants);
                unknown(found, step, "artifacts", "artifact", shown, &names.artifacts);
                unknown(found, step, "directives", "seat", round.directives.keys(), &seats);
            }
            StepKind::Agent(agent) => {
                unknown(found, step, "synthesis_of", "round", &agent.synthesis_of, &names.rounds);
            }
            StepKind::Approval(approval) => {
                unknown(found, step, "merges", "round of ideas", &approval.merges, &names.of_ideas);
                unknown(found, step, "adopts", "round", approval.adopts.iter().flatten(), &names.rounds);
            }
            _ => {}
        }
    }

    fn check_round(&self, step: &Step) {
        let (Some(round), definition) = (step.round(), self.definition) else { return };
        let is_named = |p: &&ParticipantSpec| round.participants.names().contains(&p.name);
        if let Some(agent) = definition.participants.iter().filter(|p| p.agent_only).find(is_named) {
            let message = format!("round `{}` names `{}`, which is `agent_only`", step.id, agent.name);
            self.refuse(step, message, "leave it out of `participants`, or take `agent_only` away");
        }
        let seats = definition.seats(round).count();
        if seats == 0 {
            // Unknown names are already reported; this round names no seat at all.
            let is_empty = round.participants == Selection::Named(Vec::new());
            let message = format!("round `{}` has no participants", step.id);
            return self.refuse_if(is_empty, step, message, "name at least one");
        }
        let is_beyond = round.quorum.required_of(seats) > seats;
        let message = format!("round `{}` can never reach its quorum: {}", step.id, pluralize(seats, "seat"));
        self.refuse_if(is_beyond, step, message, "lower `quorum`, or seat more participants");
    }

    /// Warns of a round without a rule if a rule could decide its ballots.
    fn check_rule(&self, step: &Step) {
        let Some(round) = step.round().filter(|round| round.rule.is_none() && !round.is_wrong) else {
            return;
        };
        let kind = round.ballot.kind;
        let rules = kind.info().countable.map(Rule::for_kind).unwrap_or_default();
        let [first, others @ ..] = rules.as_slice() else { return };
        let (id, kind) = (&step.id, kind.name());
        let message =
            format!("round `{id}` has no rule: its `{kind}` ballots are counted and nothing is decided");
        let also = if others.is_empty() { String::new() } else { format!("; also {}", others.join(", ")) };
        self.found.warn_at(step.place, message, format!("add `rule: {first}`{also}"));
    }

    /// Rejects keys without effect: those for top-level steps, and those that need another key.
    fn check_runs(&self, step: &Step, is_nested: bool) {
        let id = &step.id;
        let notes = step.agent().is_some_and(|agent| agent.synthesis_of.is_some());
        let of_list = [
            ("max_runs", step.max_runs.is_some()),
            ("record", step.record.is_some()),
            ("synthesis_of", notes),
        ];
        for (key, is_given) in of_list {
            let message = format!("`{key}` of step `{id}` has no effect inside another step");
            self.refuse_if(is_given && is_nested, step, message, "put it on a step of the list");
        }
        let is_uncounted = step.on_exhausted.is_some() && step.max_runs.is_none();
        let message = format!("`on_exhausted` of step `{id}` needs a `max_runs`");
        self.refuse_if(is_uncounted, step, message, "add `max_runs: 3`");
        let is_open = |round: &Round| round.on_undecided.is_some() && round.rule.is_none();
        let message = format!("`on_undecided` of round `{id}` needs a `rule`");
        let hint = "add `rule: majority`, or use `next`";
        self.refuse_if(step.round().is_some_and(is_open), step, message, hint);
    }

    /// Checks `tools` of a step that names a model: all steps with this model must agree.
    fn check_tools(&self, step: &Step) {
        let (Some(agent), definition) = (step.agent(), self.definition) else { return };
        let is_named = definition.participants.iter().any(|spec| spec.name == agent.agent);
        let is_model = agent.agent.contains('/') && !is_named;
        if agent.allows_tools && !is_model {
            let message = format!("`tools` of step `{}` needs a model as its `agent`", step.id);
            let hint = "name a program such as `claude-cli/MODEL`, or write `tools` on the participant";
            self.refuse(step, message, hint);
        } else if is_model && definition.allows_tools(&agent.agent) != agent.allows_tools {
            let message = format!("`{}` has `tools: allowed` in one step and not in another", agent.agent);
            self.refuse(step, message, "write it in every step that names it, or make it two participants");
        }
    }

    /// Checks that a review has something to review and a reviewer who is not the author.
    fn check_review(&self, step: &Step) {
        let (StepKind::Review(review), definition) = (&step.kind, self.definition) else { return };
        if review.of.is_empty() {
            return;
        }
        let (id, of) = (&step.id, &review.of);
        let artifacts = &self.names.artifacts;
        if definition.step(of).is_none() && !artifacts.contains(&**of) {
            let known = [self.ids(), artifacts.iter().copied().collect()].concat();
            let message = format!("`of` of review `{id}` names no step and no artifact: `{of}`");
            return self.refuse(step, message, did_you_mean(of, &known));
        }
        if definition.authors(of).is_empty() {
            let message = format!("review `{id}` is of a step that makes nothing to review: `{of}`");
            let hint = "name an `agent` or `round` step, or one that contains them";
            return self.refuse(step, message, hint);
        }
        let has_nobody = definition.reviewers(review).is_empty();
        let message = format!("review `{id}` has nobody but the author to review");
        self.refuse_if(has_nobody, step, message, "name another reviewer");
    }

    /// Checks that a step with a `form` has a topic and, unless it opens, a round.
    fn check_form(&self, step: &Step) {
        let Some((agent, form)) = step.agent().and_then(|agent| Some((agent, agent.form?))) else { return };
        let refuse_if = |is_wrong: bool, what: &str, hint: &str| {
            self.refuse_if(is_wrong, step, format!("step `{}` {what}", step.id), hint);
        };
        refuse_if(agent.prompt.is_none(), "with a `form` has no topic", "write it as `prompt`");
        let has_both = agent.output_schema.is_some();
        refuse_if(has_both, "has a `form` and an `output_schema`", "leave one of them out");
        let is_about_none = form != FacilitatorForm::Open && agent.synthesis_of.is_none();
        refuse_if(is_about_none, "with a `form` is about no round", "name the round in `synthesis_of`");
    }

    /// Checks that `edits` names a step with a `form`, and that `merges` and the edited note share a round.
    fn check_approval(&self, step: &Step) {
        let StepKind::Approval(approval) = &step.kind else { return };
        let id = &step.id;
        let Some(edited) = &approval.edits else {
            let message = format!("`ask_if` of step `{id}` has no effect without `edits`");
            let hint = "leave it out, or name the proposal in `edits`";
            return self.refuse_if(approval.ask_if.is_some(), step, message, hint);
        };
        let agent = self.definition.step(edited).and_then(Step::agent);
        if let Some(agent) = agent.filter(|agent| agent.form.is_some()) {
            let is_other = approval.merges.is_some() && agent.synthesis_of != approval.merges;
            let message = format!("step `{id}` merges ideas and edits a note on another round");
            let hint = "name the same round in `merges` and in the `synthesis_of` of the note";
            self.refuse_if(is_other, step, message, hint);
        } else {
            let message = format!("`edits` of step `{id}` names no step with a `form`: `{edited}`");
            self.refuse(step, message, "name an agent step with a `form`");
        }
    }

    fn check_names(&self) {
        let mut seen = HashSet::new();
        let agents: HashSet<&str> = self.definition.all_steps().flat_map(Step::agents).collect();
        for seat in &self.definition.participants {
            // A prompt with placeholders is the template of agent steps without a prompt.
            let is_template = |prompt: &&str| agents.contains(&*seat.name) && prompt.contains("{{");
            let prompt = seat.prompt.as_deref().filter(is_template);
            if let Some(Err(error)) = prompt.map(Template::parse) {
                let message = format!("the prompt of `{}` cannot be read: {error}", seat.name);
                let hint = error.hint.unwrap_or_else(|| "correct the `prompt`".to_owned());
                self.found.refuse_at(seat.place, message, hint);
            }
            if !seat.name.is_empty() && !seen.insert(seat.name.as_str()) {
                let message = format!("duplicate participant name `{}`", seat.name);
                let hint = "give one its own `name: …`, or use `count`";
                self.found.refuse_at(seat.place, message, hint);
            }
        }
    }

    fn warn_of_unreachable(&self) {
        let Some(first) = self.definition.steps.first().filter(|_| self.definition.is_routed()) else {
            return;
        };
        let reached = self.definition.reached_from(first);
        let is_lost =
            |step: &&Step| !step.id.is_empty() && step.id != first.id && !reached.contains(step.id.as_str());
        for step in self.definition.steps.iter().filter(is_lost) {
            let message = format!("unreachable step `{}`", step.id);
            self.found.warn_at(step.place, message, "point a `next` at it, or remove it");
        }
    }

    /// Checks that `results` names steps with a result other than rounds.
    fn check_recall(&self) {
        let definition = self.definition;
        let rounds = definition.all_steps().filter_map(|step| Some((step.place, &step.round()?.recall)));
        for (place, keys) in std::iter::once(((1, 1), &definition.recall)).chain(rounds) {
            let Some(Selection::Named(names)) = &keys.results else { continue };
            for name in names {
                let step = definition.all_steps().find(|step| step.id == *name || step.key() == name);
                let (what, hint) = match step {
                    None => ("no step", did_you_mean(name, &self.ids())),
                    Some(step) if step.round().is_some() => {
                        ("a round", "`answers` and `rounds` say what is seen of rounds".to_owned())
                    }
                    Some(_) => continue,
                };
                self.found.refuse_at(place, format!("`results` of `context` names {what}: `{name}`"), hint);
            }
        }
    }
}

/// Returns whether the step's result replaces an earlier one under this key: a revision or an edited
/// proposal.
fn replaces(definition: &Definition, step: &Step, key: &str) -> bool {
    let edited = if let StepKind::Approval(approval) = &step.kind { approval.edits.as_ref() } else { None };
    let revised = step.round().and_then(|round| round.revises.as_ref());
    edited.or(revised).and_then(|id| definition.step(id)).is_some_and(|earlier| earlier.key() == key)
}

/// Collects every step with the id of its key scope: the nearest sequence or `each`, empty at the top.
fn in_scopes<'a>(steps: &'a [Step], scope: &'a str, all: &mut Vec<(&'a str, &'a Step)>) {
    for step in steps {
        all.push((scope, step));
        let is_scope = matches!(step.kind, StepKind::Sequence { .. } | StepKind::Each(_));
        in_scopes(step.nested(), if is_scope { &step.id } else { scope }, all);
    }
}

fn revision_mismatch(definition: &Definition, step: &Step, round: &Round) -> Option<String> {
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
