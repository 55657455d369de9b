//! Findings in their groups, those of several seats first; every claim word for word.

use std::fmt::Write as _;

use super::quote::{code, inline};
use crate::history::Session;
use crate::insight::findings::{FindingGroup, grouped};

pub fn findings(session: &Session, out: &mut String) {
    for round in &session.rounds {
        let found = grouped(session, round);
        if found.groups.is_empty() {
            continue;
        }
        let _ = writeln!(out, "## Findings of round {}\n", code(&round.opened.round));
        let (shared, unique): (Vec<_>, Vec<_>) = found.groups.iter().partition(|group| group.seats() > 1);
        for (title, groups) in [("Found by several seats", shared), ("Found by one seat", unique)] {
            if groups.is_empty() {
                continue;
            }
            let _ = writeln!(out, "### {title}\n");
            for group in groups {
                section(group, found.answered, out);
            }
            out.push('\n');
        }
    }
}

fn section(group: &FindingGroup<'_>, answered: usize, out: &mut String) {
    let place = group.place().map_or_else(|| "no place".to_owned(), |place| code(&place));
    let title = group.title.map(|title| format!(", {}", inline(title))).unwrap_or_default();
    let severity = group.severity().name();
    let _ = writeln!(out, "- **{severity}**, {place}{title}: {} of {answered}", group.seats());
    for (seat, finding) in &group.findings {
        let place = finding.place().map(|place| format!(", {}", code(&place))).unwrap_or_default();
        let evidence = finding.evidence.as_ref().map(|text| format!(" Evidence: {}", inline(text)));
        let (severity, claim) = (finding.severity.name(), inline(&finding.claim));
        let _ = writeln!(
            out,
            "  - {} ({severity}{place}): {claim}{}",
            inline(seat),
            evidence.unwrap_or_default()
        );
    }
    for (seat, place) in &group.not_in_evidence {
        let _ = writeln!(out, "  - Not in the evidence: {} ({})", code(place), inline(seat));
    }
    if let Some(reason) = group.set_aside {
        let _ = writeln!(out, "  - Set aside: {}", inline(reason));
    }
}
