//! Merging the ideas of a round into options: every idea has its place, or the merge is refused.

use super::answer::answer;
use super::result::{DecideResult, refuse};
use crate::core::command::Refusal;
use crate::history::{ApprovalGiven, Event, IdeasMerged, Merge, Session};

/// The merge, and the yes that comes with it.
pub fn merge_ideas(
    session: &Session,
    step: String,
    merge: Merge,
    comment: Option<String>,
    by: String,
) -> DecideResult {
    let Some(round) = session.round_to_merge(&step) else {
        return refuse(format!("step `{step}` merges no ideas"));
    };
    merge.check(&round.ideas()).map_err(Refusal)?;
    let round = round.opened.round.clone();
    let merged = IdeasMerged { step: step.clone(), round, merge, by: by.clone() };
    let given =
        answer(session, ApprovalGiven { step, approved: true, choice: None, comment, edited: None, by })?;
    Ok(std::iter::once(Event::IdeasMerged(Box::new(merged))).chain(given).collect())
}

/// Refuses a yes to a step that merges ideas and has no merge, or another's.
pub fn check_merged(session: &Session, given: &ApprovalGiven) -> Result<(), Refusal> {
    let is_due = given.approved && session.round_to_merge(&given.step).is_some();
    let has_merge = || session.running(&given.step).is_some_and(|run| run.merge.is_some());
    let is_theirs = || session.merges.last().is_some_and(|merged| merged.by == given.by);
    if is_due && !(has_merge() && is_theirs()) {
        return refuse(format!("step `{}` asks for the ideas to be merged, a yes is not enough", given.step));
    }
    Ok(())
}
