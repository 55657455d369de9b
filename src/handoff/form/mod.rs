//! What a model that leads a discussion is asked, and what its answer must agree with.
//!
//! It sees what a seat of the next round would see: closed rounds only, under the names that seats are
//! shown to each other by. An answer that contradicts the log is refused, with the reason.
//!
//! The words are in the log, and `verify` makes them again: a change of them is a new wording of work items.

mod answer;
mod schema;

use serde_json::{Map, Value, json};

use crate::ballot::BallotKind;
use crate::history::{CollectedIdea, Point, RoundOutcome, RoundRun, Session};
use crate::round::material::SnapshotContent;
use crate::round::snapshot::{Snapshot, sha256_hex};
use crate::workflow::{Definition, FacilitatorForm, RECENT_ROUNDS, Step, StepKind};
use crate::yaml::Out;

const LEAST_OPTIONS: usize = 2;
const MOST_OPTIONS: usize = 12;

/// What of the session an answer in a form must agree with.
#[derive(Debug, Clone)]
pub struct FormFacts {
    form: FacilitatorForm,
    /// What is discussed, or the proposal as it was asked last.
    topic: String,
    /// The single winner of the round it is about.
    winner: Option<String>,
    options: Vec<String>,
    /// The ideas of that round, under ids that do not name their seats, and their own ids.
    ideas: Vec<(CollectedIdea, String)>,
    is_blocked: bool,
    conflicts: Vec<String>,
    questions: Vec<String>,
    items: Vec<String>,
    pseudonyms: Vec<String>,
    /// Whether that round may be held once more.
    can_repeat: bool,
}

impl Session {
    /// What the answer of a step with a form must agree with now; `None` if the step has no form.
    pub fn form_facts(&self, step: &Step) -> Option<FormFacts> {
        let agent = step.agent()?;
        let form = agent.form?;
        let about = agent.synthesis_of.as_deref();
        let round = about.and_then(|id| self.last_round_of(id)).filter(|round| round.closed.is_some());
        let tally = round.and_then(|round| round.tally.as_ref()).filter(|tally| tally.decided);
        let winner = tally.and_then(|tally| match tally.verdict.winners.as_slice() {
            [winner] => Some(winner.clone()),
            _ => None,
        });
        let repeated = about.and_then(|id| self.definition.as_ref()?.step(id));
        let is_blocked = repeated.and_then(|step| self.round_outcome(step)) == Some(RoundOutcome::Blocked);
        let open_items = self.agenda.items.iter().filter(|item| item.is_open());
        let ids = |points: Vec<&Point>| points.into_iter().map(|point| point.id.clone()).collect();
        Some(FormFacts {
            form,
            topic: round.map_or_else(|| self.topic(step), |round| round.opened.question.clone()),
            winner,
            options: round.map(|round| round.opened.ballot.options.clone()).unwrap_or_default(),
            ideas: round.map(|round| self.ideas_to_show(round)).unwrap_or_default(),
            is_blocked,
            conflicts: ids(self.agenda.open_conflicts().collect()),
            questions: ids(self.agenda.open_questions().collect()),
            items: open_items.map(|item| item.id.clone()).collect(),
            pseudonyms: self.pseudonyms().iter().flat_map(|names| names.values().cloned()).collect(),
            can_repeat: repeated.is_some_and(|step| !self.is_exhausted(step)),
        })
    }

    fn topic(&self, step: &Step) -> String {
        let scope = self.definition.as_ref().and_then(|definition| self.scope_of(definition, step).ok());
        let prompt = step.agent().and_then(|agent| agent.prompt.as_ref()).zip(scope);
        prompt.and_then(|(prompt, scope)| prompt.render(&scope).ok()).unwrap_or_default()
    }

    /// The prompt of a step with a form: what a seat would see, the topic as its question, and the ideas
    /// to merge.
    pub(super) fn facilitator_prompt(
        &self,
        definition: &Definition,
        step: &Step,
        facts: &FormFacts,
    ) -> String {
        let past = self.all_past_rounds(&step.id);
        let past = past.get(past.len().saturating_sub(RECENT_ROUNDS)..).unwrap_or_default();
        let (conflicts, questions) = self.open_points();
        let artifacts = definition.artifacts.iter().collect();
        let context = self.last_answers(definition, step);
        let mut text = Snapshot::freeze(&SnapshotContent {
            project_summary: definition.project_summary.as_deref(),
            goal: definition.goal.as_deref(),
            constraints: &definition.constraints,
            question: &self.topic(step),
            agenda: &self.agenda.items,
            artifacts,
            open_conflicts: &conflicts,
            open_questions: &questions,
            recent_rounds: past,
            context: Some(&context),
            ..SnapshotContent::default()
        })
        .text
        .to_string();
        if !facts.ideas.is_empty() {
            let idea = |(idea, _): &(CollectedIdea, String)| json!({ "id": idea.id, "title": idea.title, "text": idea.text });
            let ideas: Value = facts.ideas.iter().map(idea).collect();
            Out::write_entries(&[("ideas".into(), Out::json(&ideas, false))], 2, &mut text);
        }
        if let Some(comment) = self.refusal_of(definition, step) {
            let refused = json!(format!("A person refused your last proposal: {comment}"));
            Out::write_entries(&[("refusal".into(), Out::json(&refused, false))], 2, &mut text);
        }
        text
    }

    fn refusal_of(&self, definition: &Definition, step: &Step) -> Option<String> {
        let edits = |other: &&Step| matches!(&other.kind, StepKind::Approval(approval) if approval.edits.as_ref() == Some(&step.id));
        let given = &self.results.get(&definition.all_steps().find(edits)?.id)?.data;
        let comment = given["comment"].as_str().filter(|_| given["approved"] == false)?;
        Some(comment.to_owned())
    }

    /// The answers of the round closed last, as seats see them; none of ideas, which are listed apart.
    fn last_answers(&self, definition: &Definition, step: &Step) -> Map<String, Value> {
        let last = self.rounds.iter().rev().find(|round| round.closed.is_some());
        let last = last.filter(|round| round.opened.ballot.kind != BallotKind::Ideas);
        let key = last.and_then(|round| definition.step(&round.opened.step)).map(Step::key);
        let context = self.context_for(&step.id);
        context.into_iter().filter(|(name, _)| Some(name.as_str()) == key).collect()
    }

    /// The ideas of a round as seats may see them, in an order drawn by its snapshot, numbered, and each with
    /// its own id.
    fn ideas_to_show(&self, round: &RoundRun) -> Vec<(CollectedIdea, String)> {
        if round.opened.ballot.kind != BallotKind::Ideas {
            return Vec::new();
        }
        let mut ideas = round.ideas();
        let seed = &round.opened.snapshot_sha256;
        ideas.sort_by_cached_key(|idea| sha256_hex(format!("roundtable ideas 1\n{seed}\n{}", idea.id)));
        let shown = (1..).zip(ideas).map(|(number, idea)| {
            let own = idea.id.clone();
            (CollectedIdea { id: format!("idea-{number}"), ..self.handed_idea(round, idea) }, own)
        });
        shown.collect()
    }
}
