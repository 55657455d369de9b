//! The steps that are no rounds: what agents, transforms and parallels came to, and the reviews.

use std::fmt::Write as _;

use super::quote::{code, inline, quote_value};
use crate::history::{Session, StepFinished};
use crate::insight::format_duration;
use crate::workflow::{Step, StepKind};

/// The last result of every step that hands work out or takes a value, in the order they came.
pub fn results(session: &Session, out: &mut String) {
    let Some(definition) = &session.definition else { return };
    let mut found = String::new();
    for (id, result) in &session.results {
        let Some(step) = definition.step(id) else { continue };
        let says = !matches!(step.kind, StepKind::Round(_) | StepKind::Approval(_) | StepKind::Condition(_));
        if says && result.success {
            section(session, step, result, &mut found);
        }
    }
    if !found.is_empty() {
        let _ = write!(out, "## Steps\n\n{found}");
    }
}

fn section(session: &Session, step: &Step, result: &StepFinished, out: &mut String) {
    let runs = session.runs.get(&step.id).copied().unwrap_or(1);
    let again = if runs > 1 { format!(", run {runs} times") } else { String::new() };
    let by = match &step.kind {
        StepKind::Agent(agent) => {
            let model = session.seat_info(&agent.agent).map_or("", |seat| seat.label(&step.id));
            format!(" by {} ({})", inline(&agent.agent), inline(model))
        }
        StepKind::Round(_)
        | StepKind::Approval(_)
        | StepKind::Parallel(_)
        | StepKind::Sequence(_)
        | StepKind::Each(_)
        | StepKind::Transform(_)
        | StepKind::Condition(_)
        | StepKind::Review(_) => String::new(),
    };
    let kind = step.kind_name();
    let took = format_duration(result.duration);
    let _ = writeln!(out, "**{}** ({kind}{by}{again}, {took})\n", inline(&step.id));
    let data = match result.data.as_array().filter(|_| step.is_envelope()) {
        Some(entries) => {
            let entry = |entry: &serde_json::Value| {
                let id = entry["stepId"].as_str().unwrap_or_default().to_owned();
                let what = if entry["error"].is_string() { &entry["error"] } else { &entry["result"] };
                (id, what.clone())
            };
            entries.iter().map(entry).collect::<serde_json::Map<_, _>>().into()
        }
        None => result.data.clone(),
    };
    let _ = writeln!(out, "{}", quote_value(&data));
    for item in session.items.values().filter(|item| item.offered.step == step.id) {
        super::seat::leaks(session, session.leaks_of(&item.offered.item), "", out);
    }
}

/// The feedback on what steps made, each under its artifact.
pub fn reviews(session: &Session, out: &mut String) {
    if session.reviews.is_empty() {
        return;
    }
    out.push_str("## Reviews\n\n");
    for review in session.reviews_in_order() {
        let (artifact, by) = (code(&review.artifact), inline(&review.participant));
        let criteria = inline(&review.criteria.join(", "));
        let _ = writeln!(out, "**{artifact}**, reviewed by {by} ({criteria})\n");
        let _ = writeln!(out, "{}", quote_value(&review.feedback));
    }
}
