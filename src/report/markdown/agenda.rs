//! The agenda at the end of the report: items, what was settled, artifacts, what is still open.

use std::fmt::Write as _;

use super::quote::{code, inline};
use crate::history::{Point, Session};
use crate::insight::wording;

pub fn agenda(session: &Session, out: &mut String) {
    let agenda = &session.agenda;
    let items = agenda.items.iter().map(|item| {
        let reason = item.reason.as_ref().map(|reason| format!(" ({})", inline(reason))).unwrap_or_default();
        format!("{} {}: {}{reason}", code(&item.id), inline(&item.title), inline(&item.status))
    });
    list("Agenda", items, out);
    let points = agenda.conflicts.iter().chain(&agenda.questions);
    list("Resolved and answered", points.filter_map(settled), out);
    let artifacts = session.definition.iter().flat_map(|definition| &definition.artifacts);
    let artifacts = artifacts.map(|artifact| format!("{} {}", code(&artifact.id), inline(&artifact.summary)));
    list("Artifacts", artifacts, out);
    list("Open conflicts", agenda.open_conflicts().map(open), out);
    list("Open questions", agenda.open_questions().map(open), out);
}

fn list(heading: &str, lines: impl Iterator<Item = String>, out: &mut String) {
    let lines: Vec<String> = lines.map(|line| format!("- {line}\n")).collect();
    if !lines.is_empty() {
        let _ = writeln!(out, "## {heading}\n\n{}", lines.concat());
    }
}

/// The id and title; the text alone of one that has no id.
fn named(point: &Point) -> String {
    if point.id == point.title {
        inline(&point.title)
    } else {
        format!("{} {}", code(&point.id), inline(&point.title))
    }
}

fn open(point: &Point) -> String {
    let mut line = named(point);
    if let (Some(who), Some(round)) = (&point.participant, &point.round) {
        let _ = write!(line, ". {} blocks in round {}", inline(who), code(round));
    }
    if let Some(text) = &point.description {
        let _ = write!(line, ": {}", inline(text));
    }
    if let Some(change) = &point.minimum_change {
        let _ = write!(line, ". Would pass with: {}", inline(change));
    }
    line
}

fn settled(point: &Point) -> Option<String> {
    let how = wording::settled(point.settled.as_deref()?);
    Some(format!("{}: {}", named(point), inline(how)))
}
