//! A step that has run as often as `max_runs` allows and has no `on_exhausted`: the facilitator is asked.
//!
//! `take` continues with its last result as it is, `decide: OPTION` with the facilitator's own choice
//! among a round's options, `continue` lets it run as often again, `stop` ends the session.

use super::next::{Question, QuestionKind};
use crate::history::{ApprovalRequested, CONTINUE, DECIDE, STOP, Session, TAKE};
use crate::workflow::Step;

impl Session {
    /// The step that would run next and may not: the facilitator is asked.
    pub(crate) fn exhausted_step(&self) -> Option<&Step> {
        let step = self.definition.as_ref()?.step(self.next_step()?)?;
        (self.step.is_none() && self.is_exhausted(step)).then_some(step)
    }

    pub(crate) fn exhausted_request(&self, step: &Step) -> ApprovalRequested {
        let asked = self.last_round_of(&step.id);
        let ballot = asked.map(|round| &round.opened.ballot).or(step.round().map(|round| &round.ballot));
        let options = ballot.map_or(&[][..], |ballot| &ballot.options);
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
            input: self.given_input(&step.id),
            context: self.context(),
            ..ApprovalRequested::default()
        }
    }

    pub(crate) fn exhausted_question(&self) -> Option<Question> {
        let requested = &self.exhausted.as_ref()?.requested;
        Some(Question {
            step: requested.step.clone(),
            kind: QuestionKind::Exhausted(requested.choices.clone()),
            message: requested.message.clone(),
        })
    }
}
