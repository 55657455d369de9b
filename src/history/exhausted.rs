//! Steps that have run as often as `max_runs` allows, and what the facilitator said of them.

use super::event::ApprovalGiven;
use super::state::{AnsweredQuestion, Session};
use super::step_run::ApprovalRun;
use super::timestamp::Timestamp;
use crate::workflow::Step;

pub const TAKE: &str = "take";
pub const CONTINUE: &str = "continue";
pub const STOP: &str = "stop";
/// What stands before the option in the facilitator's own choice.
pub const DECIDE: &str = "decide: ";

pub fn exhausted_key(step: &str) -> String {
    format!("{step}-exhausted")
}

impl AnsweredQuestion {
    /// The option that the facilitator decided for where a step had used up its runs.
    pub fn decides(&self) -> Option<&str> {
        self.given.choice.as_deref()?.strip_prefix(DECIDE)
    }
}

impl Session {
    pub(crate) fn is_exhausted(&self, step: &Step) -> bool {
        let granted = self.granted.get(&step.id).copied().unwrap_or(0);
        let runs = self.runs.get(&step.id).copied().unwrap_or(0);
        step.max_runs.is_some_and(|max| runs >= max.saturating_add(granted))
    }

    pub(crate) fn answer_exhausted(&mut self, asked: &ApprovalRun, given: &ApprovalGiven, at: Timestamp) {
        let step = &given.step;
        *self.answered.entry(exhausted_key(step)).or_insert(0) += 1;
        let answer = self.note_answer(asked, given, at);
        let choice = given.choice.as_deref().unwrap_or_default();
        match choice {
            CONTINUE => {
                let max = self.definition.as_ref().and_then(|d| d.step(step)?.max_runs).unwrap_or(1);
                *self.granted.entry(step.clone()).or_insert(0) += max;
            }
            STOP => self.stopped_at = Some(step.clone()),
            _ => {
                self.taken = true;
                self.finished_step = Some(step.clone());
                if answer.decides().is_some() {
                    self.chosen.insert(step.clone(), answer);
                }
            }
        }
    }
}
