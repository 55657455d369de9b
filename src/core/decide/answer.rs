//! What a person answers: a yes or no, or one of the options that are level.

use super::facilitator::FACILITATOR;
use super::result::{DecideResult, refuse};
use crate::history::{ApprovalGiven, Event, Session};

/// Who may answer what a person is asked.
const BY: [&str; 2] = [FACILITATOR, "scripted"];

/// Takes in an answer that fits what is asked.
pub fn answer(session: &Session, given: ApprovalGiven) -> DecideResult {
    let asked = session.running(&given.step).and_then(|run| run.approval.as_ref());
    let exhausted = session.exhausted.as_ref().filter(|asked| asked.requested.step == given.step);
    let Some(asked) = asked.or(exhausted).filter(|asked| asked.given.is_none()) else {
        return refuse(format!("step `{}` asks nothing of a person now", given.step));
    };
    let choices = &asked.requested.choices;
    if !BY.contains(&given.by.as_str()) {
        return refuse(format!("`{}` answers nothing: a person does, or a script", given.by));
    }
    match &given.choice {
        _ if !choices.is_empty() && !given.approved => refuse("a choice is no refusal"),
        Some(_) if choices.is_empty() => refuse(format!("step `{}` asks for yes or no", given.step)),
        Some(choice) if !choices.contains(choice) => {
            refuse(format!("`{choice}` is not one of the tied options: {}", choices.join(", ")))
        }
        None if !choices.is_empty() => refuse(format!("choose one of {}", choices.join(", "))),
        _ => Ok(vec![Event::ApprovalGiven(given)]),
    }
}
