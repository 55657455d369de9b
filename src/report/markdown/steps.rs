//! The steps that are no rounds: what agents, transforms and parallels came to, the reviews, and the ideas that were merged.

use std::fmt::Write as _;

use super::quote::{code, inline, quote_value};
use crate::ballot::BallotKind;
use crate::history::{CollectedIdea, IdeasMerged, RoundRun, Session, StepFinished};
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
        _ => String::new(),
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

pub fn merges(session: &Session, out: &mut String) {
    for round in &session.rounds {
        let Some(merged) = session.merge_of(&round.opened.round) else { continue };
        let is_findings = round.opened.ballot.kind == BallotKind::Findings;
        let noun = if is_findings { "Findings" } else { "Ideas" };
        let _ = writeln!(out, "## {noun} of round {}, merged\n", code(&merged.round));
        merged_ideas(merged, round, out);
    }
}

fn merged_ideas(merged: &IdeasMerged, round: &RoundRun, out: &mut String) {
    let ideas = round.ideas();
    let shown = |id: &String| -> String {
        let idea: Option<&CollectedIdea> = ideas.iter().find(|idea| idea.id == *id);
        let seat = id.rsplit_once('#').map_or(id.as_str(), |(seat, _)| seat);
        format!("{} ({})", inline(idea.map_or(id.as_str(), |idea| &idea.title)), inline(seat))
    };
    for option in &merged.merge.options {
        let from: Vec<String> = option.from.iter().map(shown).collect();
        let _ = writeln!(out, "- **{}** {}: {}", code(&option.id), inline(&option.title), from.join(", "));
    }
    for aside in &merged.merge.set_aside {
        let _ = writeln!(out, "- Set aside: {}: {}", shown(&aside.idea), inline(&aside.reason));
    }
    out.push('\n');
}
