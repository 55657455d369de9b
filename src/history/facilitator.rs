//! Changes by the facilitator: revised rounds, artifacts, notes, retries, forks.
//!
//! Includes the answers to the question about a step that reached its `max_runs`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::event::{ApprovalGiven, ArtifactRecorded, PROJECT, RoundRevised};
use super::state::{
    AnsweredQuestion, ApprovalRun, RoundRun, SeatStatus, Session, StepArtifact, first_problem,
};
use super::timestamp::Timestamp;
use crate::diagnostic::Diagnostic;
use crate::round::material::{Artifact, PROVENANCE};
use crate::workflow::{
    Definition, FacilitatorForm, Round, Selection, Source, Step, StepKind, load, recorded_artifact,
};

/// Message of the approval when a person accepts a result on the screen.
pub(crate) const ACCEPTS_RESULT: &str = "Accept the result?";
/// Message of the same if the person then leaves the strategy.
pub(crate) const LEAVES_STRATEGY: &str = "Leave the strategy here?";

pub const TAKE: &str = "take";
pub const CONTINUE: &str = "continue";
pub const STOP: &str = "stop";
/// Choice to skip the remaining steps of a strategy after a counted round.
pub const LEAVE: &str = "leave";
/// Prefix of the facilitator's own choice; the option follows.
pub const DECIDE: &str = "decide: ";

pub fn exhausted_key(step: &str) -> String {
    format!("{step}-exhausted")
}

impl AnsweredQuestion {
    pub fn decides(&self) -> Option<&str> {
        self.given.choice.as_deref()?.strip_prefix(DECIDE)
    }
}

impl Definition {
    pub fn revised(&self, revised: &RoundRevised) -> Result<Self, Diagnostic> {
        let mut after = self.clone();
        let step = after.step_mut(&revised.step);
        let Some(StepKind::Round(round)) = step.map(|step| &mut step.kind) else {
            return Err(Diagnostic::new(format!("`{}` is no round step", revised.step)));
        };
        let form = read_round(&revised.form)?;
        **round = Round {
            participants: revised.participants.clone().map_or(Selection::All, Selection::Named),
            artifacts: round.artifacts.clone(),
            closes_below_quorum: round.closes_below_quorum || form.closes_below_quorum,
            recall: round.recall.clone(),
            on_undecided: round.on_undecided.clone(),
            ..form
        };
        Ok(after)
    }

    fn with_artifact(&mut self, artifact: Artifact) {
        let id = artifact.id.clone();
        match self.artifacts.iter_mut().find(|known| known.id == id) {
            Some(known) => *known = artifact,
            None => self.artifacts.push(artifact),
        }
        // Every later round includes it.
        for step in &mut self.steps {
            step.show_artifact(&id);
        }
    }
}

impl Session {
    pub(super) fn revise(&mut self, revised: &RoundRevised) {
        if let Ok(after) = self.definition().revised(revised) {
            self.definition = Arc::new(after);
        }
        for (seat, model) in &revised.models {
            if let Some(info) = Arc::make_mut(&mut self.roster).get_mut(seat) {
                info.model.clone_from(model);
            }
        }
    }

    /// Records an artifact; those of steps are stored apart from the definition's.
    pub(super) fn note_artifact(&mut self, recorded: &ArtifactRecorded, at: Timestamp) {
        if recorded.step.is_some() {
            let made = StepArtifact { recorded: recorded.clone(), at };
            self.made.insert(made.id().to_owned(), made);
            return;
        }
        let definition = Arc::make_mut(&mut self.definition);
        let artifact = recorded_artifact(&recorded.artifact);
        if recorded.by != PROJECT {
            definition.with_artifact(artifact);
        } else if let Some(known) = definition.artifacts.iter_mut().find(|known| known.id == artifact.id) {
            known.take_evidence(artifact);
        }
    }

    pub(super) fn note_synthesis(&mut self, round: &str, text: &str) {
        self.synthesis_due = false;
        if let Some(round) = self.round_mut(round) {
            round.synthesis = Some(text.to_owned()).filter(|text| !text.trim().is_empty());
        }
    }

    pub(super) fn ask_round_again(&mut self, step: &str) {
        if let Some(run) = self.run_mut(step) {
            (run.round, run.approval) = (None, None);
        }
        self.leaves_strategy = false;
    }

    /// Returns the last closed round on which a step's result is a note. A proposed note counts only once
    /// approved, as the approval's result.
    pub fn synthesis_of(&self, step: &str) -> Option<&RoundRun> {
        let definition = self.definition();
        let step = definition.step(step)?;
        let agent = if let StepKind::Approval(approval) = &step.kind {
            let proposing = definition.step(approval.edits.as_deref()?)?.agent()?;
            Some(proposing).filter(|agent| agent.form == Some(FacilitatorForm::Synthesize))?
        } else {
            step.agent().filter(|agent| agent.form.is_none())?
        };
        self.last_round_of(agent.synthesis_of.as_deref()?).filter(|round| round.closed.is_some())
    }

    pub(crate) fn counted(&self) -> usize {
        self.rounds.iter().filter(|round| round.tally.is_some()).count()
    }

    /// Returns the answer that adopts or rejects the result of `round`: the last answer to the first approval
    /// after its count that concerns it, else a person's acceptance of the result. Without a round, returns the
    /// answer to the last approval.
    pub fn approval_of(&self, round: Option<&RoundRun>) -> Option<&AnsweredQuestion> {
        let definition = self.definition();
        let answers = || self.approvals.iter().filter(|asked| asked.given.choice.is_none());
        let adopts = |asked: &&AnsweredQuestion, round| {
            let step = definition.step(&asked.given.step);
            matches!(step.map(|step| &step.kind), Some(StepKind::Approval(approval)) if approval.adopts(round))
        };
        let Some(round) = round else { return answers().rfind(|asked| adopts(asked, None)) };
        let before = self.rounds.iter().position(|known| known.opened.round == round.opened.round)?;
        let since = || answers().filter(|asked| asked.counted > before);
        let step = &round.opened.step;
        let first = since().find(|asked| adopts(asked, Some(step)));
        let of = first.map_or(step, |first| &first.given.step);
        since().rfind(|asked| asked.given.step == *of)
    }

    pub(super) fn retry(&mut self, round: &str, participant: &str, model: Option<&String>, at: Timestamp) {
        if let (Some(model), Some(info)) = (model, Arc::make_mut(&mut self.roster).get_mut(participant)) {
            info.model.clone_from(model);
        }
        self.seat(round, participant, |seat| {
            seat.give_up(SeatStatus::Asking);
            seat.elapsed_ms = None;
            seat.retried += 1;
            seat.retried_at = Some(at);
            if let (Some(model), Some(item)) = (model, &mut seat.item) {
                Arc::make_mut(item).model.clone_from(model);
            }
        });
    }

    pub(crate) fn is_exhausted(&self, step: &Step) -> bool {
        let granted = self.granted.get(&step.id).copied().unwrap_or(0);
        let runs = self.runs.get(&step.id).copied().unwrap_or(0);
        step.max_runs.is_some_and(|max| runs >= max.saturating_add(granted))
    }

    pub(crate) fn answer_exhausted(&mut self, asked: &ApprovalRun, given: &ApprovalGiven, at: Timestamp) {
        let step = &given.step;
        *self.answered.entry(exhausted_key(step)).or_insert(0) += 1;
        let answer = self.note_answer(asked, given, at);
        match given.choice.as_deref().unwrap_or_default() {
            CONTINUE => {
                let max = self.definition().step(step).and_then(|step| step.max_runs).unwrap_or(1);
                *self.granted.entry(step.clone()).or_insert(0) += max;
            }
            STOP => self.stopped_at = Some(step.clone()),
            _ => {
                self.is_result_accepted = true;
                self.finished_step = Some(step.clone());
                if answer.decides().is_some() {
                    self.chosen.insert(step.clone(), answer);
                }
            }
        }
    }

    /// Switches to the fork's session id; earlier seals stay bound to the old id.
    pub(crate) fn fork(&mut self, session: &str, last: Timestamp, at: Timestamp) {
        session.clone_into(&mut self.id);
        self.resume(last, at);
    }
}

fn read_round(form: &str) -> Result<Round, Diagnostic> {
    let source = Source { text: form, file: "the round", id: "round" };
    let mut steps = load(source).map_err(first_problem)?.steps.into_iter();
    let round =
        steps.find_map(|step| if let StepKind::Round(round) = step.kind { Some(*round) } else { None });
    round.ok_or_else(|| Diagnostic::new("the form is no round").hint("write at least `question: …`"))
}

pub fn check_artifact(artifact: &Map<String, Value>) -> Result<(), Diagnostic> {
    let written: Map<String, Value> =
        artifact.clone().into_iter().filter(|(key, _)| !PROVENANCE.contains(&key.as_str())).collect();
    let text = json!({ "question": "-", "artifacts": [written] }).to_string();
    load(Source { text: &text, file: "the artifact", id: "artifact" }).map_err(first_problem)?;
    Ok(())
}
