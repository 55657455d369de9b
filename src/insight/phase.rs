//! Phases of a discussion, read from the rounds that its strategy expands to.

use crate::core::{discussion_of, is_within};
use crate::workflow::{Definition, Step};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhasePlace {
    pub number: usize,
    pub count: usize,
    pub label: String,
    pub next: Option<String>,
    pub is_next_optional: bool,
}

/// Returns the phase that a step belongs to; none for steps outside discussions.
pub fn phase_of(definition: &Definition, step: &str) -> Option<PhasePlace> {
    let has = |id: String| definition.steps.iter().any(|step| step.id == id);
    // The expansion of a discussion always ends with this step.
    let is_whole = |id: &&str| is_within(step, id) && has(format!("{id}-done"));
    let discussion = definition.steps.iter().filter_map(discussion_of).find(is_whole)?;
    let is_phase = |it: &&Step| it.round().is_some() && is_within(&it.id, discussion);
    let phases: Vec<&Step> = definition.steps.iter().filter(is_phase).collect();
    let is_at = |it: &Step| it.id == step || is_within(step, &it.id);
    let at = phases.iter().enumerate().filter(|(_, it)| is_at(it)).max_by_key(|(_, it)| it.id.len())?.0;
    let label = |it: &Step| it.label.clone().unwrap_or_else(|| it.id[discussion.len() + 1..].to_owned());
    let merge = format!("{}-merge", phases[at].id);
    let merges = step != merge && has(merge);
    let next = phases.get(at + 1).copied();
    Some(PhasePlace {
        number: at + 1,
        count: phases.len(),
        label: label(phases[at]),
        next: if merges { Some("merging ideas".to_owned()) } else { next.map(label) },
        is_next_optional: !merges && next.is_some_and(|next| has(format!("{}-if", next.id))),
    })
}
