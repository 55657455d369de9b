//! Ideas that were merged: each option with the ideas it was made of, and who had them.

use std::fmt::Write as _;

use super::quote::{code, inline};
use crate::ballot::BallotKind;
use crate::history::{CollectedIdea, IdeasMerged, RoundRun, Session};

pub fn merges(session: &Session, out: &mut String) {
    for round in &session.rounds {
        let Some(merged) = session.merge_of(&round.opened.round) else { continue };
        let is_findings = round.opened.ballot.kind == BallotKind::Findings;
        let noun = if is_findings { "Findings" } else { "Ideas" };
        let _ = writeln!(out, "## {noun} of round {}, merged\n", code(&merged.round));
        section(merged, round, out);
    }
}

fn section(merged: &IdeasMerged, round: &RoundRun, out: &mut String) {
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
