//! A step that has run as often as `max_runs` allows and has no `on_exhausted`: the facilitator is asked.
//!
//! `take` goes on with its last result as it stands, `decide: OPTION` with the facilitator's own choice
//! among a round's options, `continue` lets it run as often again, `stop` ends the session.

use super::next::{Question, QuestionKind};
use crate::history::{AnsweredQuestion, ApprovalGiven, ApprovalRequested, ApprovalRun, Session, Timestamp};
use crate::workflow::Step;

const TAKE: &str = "take";
const CONTINUE: &str = "continue";
const STOP: &str = "stop";
/// What stands before the option in the facilitator's own choice.
const DECIDE: &str = "decide: ";

impl Session {
    /// Whether a step has run as often as it may.
    pub(crate) fn is_exhausted(&self, step: &Step) -> bool {
        let granted = self.granted.get(&step.id).copied().unwrap_or(0);
        let runs = self.runs.get(&step.id).copied().unwrap_or(0);
        step.max_runs.is_some_and(|max| runs >= max.saturating_add(granted))
    }

    /// The step that would run next and may not: the facilitator is asked.
    pub(crate) fn exhausted_step(&self) -> Option<&Step> {
        let step = self.definition.as_ref()?.step(self.next_step()?)?;
        (self.step.is_none() && self.is_exhausted(step)).then_some(step)
    }

    /// What the facilitator is asked of a step whose runs are used up.
    pub(crate) fn exhausted_request(&self, step: &Step) -> ApprovalRequested {
        let options = step.round().map_or(&[][..], |round| &round.ballot.options);
        let mut choices = vec![TAKE.to_owned()];
        choices.extend(options.iter().map(|option| format!("{DECIDE}{option}")));
        choices.extend([CONTINUE.to_owned(), STOP.to_owned()]);
        let runs = self.runs.get(&step.id).copied().unwrap_or(0);
        ApprovalRequested {
            step: step.id.clone(),
            message: format!(
                "step `{}` has run {runs} times, as often as `max_runs` allows: how does it go on?",
                step.id
            ),
            choices,
            input: self.header.as_ref().map_or(serde_json::Value::Null, |header| header.input.clone()),
            context: self.context(),
        }
    }

    /// The question that is open on a step whose runs are used up.
    pub(crate) fn exhausted_question(&self) -> Option<Question> {
        let requested = &self.exhausted.as_ref()?.requested;
        Some(Question {
            step: requested.step.clone(),
            kind: QuestionKind::Exhausted(requested.choices.clone()),
            message: requested.message.clone(),
        })
    }

    /// Folds in what the facilitator said of it.
    pub(crate) fn answer_exhausted(&mut self, asked: &ApprovalRun, given: &ApprovalGiven, at: Timestamp) {
        let step = &given.step;
        *self.answered.entry(exhausted_key(step)).or_insert(0) += 1;
        self.waited_ms += at.since(asked.at.max(self.asked_until));
        self.asked_until = at;
        let (message, choices) = (asked.requested.message.clone(), asked.requested.choices.clone());
        self.approvals.push(AnsweredQuestion { message, choices, given: given.clone(), at });
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
                if let Some(option) = choice.strip_prefix(DECIDE) {
                    self.chosen.insert(step.clone(), option.to_owned());
                }
            }
        }
    }
}

/// By what name the answers file speaks of a step whose runs are used up.
pub fn exhausted_key(step: &str) -> String {
    format!("{step}-exhausted")
}
