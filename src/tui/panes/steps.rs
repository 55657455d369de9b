//! Steps and their results, then the work items.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::history::WorkItem;
use crate::insight::wording::format_duration;
use crate::sanitize::harmless_line;
use crate::tui::model::Model;
use crate::tui::text::{clipped, clipped_middle, hanging, paragraph};
use crate::workflow::Step;

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let session = model.session();
    let definition = session.definition();
    let longest = definition.all_steps().map(|step| step.id.chars().count()).max().unwrap_or(0).min(24);
    let width = usize::from(width);
    let mut lines = Vec::new();
    for step in definition.all_steps() {
        lines.push(row(model, step, longest));
        if let Some(error) = session.results.get(&step.id).and_then(|result| result.error.as_deref()) {
            lines.extend(hanging("      ", error, width, 3, model.theme.bad()));
        }
        output(model, step, width, &mut lines);
    }
    let draft = model.live().and_then(|live| live.draft.as_ref());
    if let Some(draft) = draft.filter(|draft| !draft.needs.is_empty()) {
        heading(model, "runs and asks", &mut lines);
        lines.extend(draft.needs.iter().flat_map(|need| paragraph(need, width, usize::MAX, Style::new())));
    }
    items(model, width, &mut lines);
    lines
}

fn row(model: &Model, step: &Step, longest: usize) -> Line<'static> {
    let (sign, style, took) = step_status(model, step);
    let id = clipped_middle(&harmless_line(&step.id), longest);
    let id_style = if took.is_some() { model.theme.strong() } else { Style::new() };
    let mut about = step.kind_name().to_owned();
    let who = step.agents().join(", ");
    if !who.is_empty() {
        about.push_str(&format!(" · {}", harmless_line(&who)));
    }
    if let Some(runs) = model.session().runs.get(&step.id).filter(|runs| **runs > 1) {
        about.push_str(&format!(" · run {runs}×"));
    }
    Line::from(vec![
        Span::styled(format!(" {sign} "), style),
        Span::styled(id + "  ", id_style),
        Span::raw(about),
        Span::styled(took.map(|took| format!(" · {took}")).unwrap_or_default(), model.theme.faint()),
    ])
}

/// Adds the last lines that the program of a failed step printed.
fn output(model: &Model, step: &Step, width: usize, lines: &mut Vec<Line<'static>>) {
    const SHOWN: usize = 8;
    let of_step = |item: &&WorkItem| item.offered.step == step.id;
    let last = model.session().items.values().rev().find(of_step);
    let Some(output) = last.and_then(|item| item.outcome()?.output()) else { return };
    let all: Vec<&str> = output.lines().collect();
    for line in &all[all.len().saturating_sub(SHOWN)..] {
        let line = clipped(&harmless_line(line), width.saturating_sub(8));
        lines.push(Line::styled(format!("      │ {line}"), model.theme.faint()));
    }
}

/// Returns a step's sign and style, and its duration, or a word while it runs.
fn step_status(model: &Model, step: &Step) -> (&'static str, Style, Option<String>) {
    let (session, theme) = (model.session(), model.theme);
    if session.running(&step.id).is_some() {
        // Before the session begins, no step has started.
        let is_draft = model.live().is_some_and(|live| live.draft.is_some());
        let what = if is_draft { "first step" } else { "running" };
        return ("●", theme.active(), Some(what.to_owned()));
    }
    let inside = session.step.as_ref().and_then(|run| run.find(&step.id)?.result.as_ref());
    let Some(result) = inside.or_else(|| session.results.get(&step.id)) else {
        return (if session.runs.contains_key(&step.id) { "·" } else { "○" }, theme.faint(), None);
    };
    let (sign, style) = if result.success { ("✓", theme.good()) } else { ("✗", theme.bad()) };
    (sign, style, Some(format_duration(result.duration)))
}

fn heading(model: &Model, text: &str, lines: &mut Vec<Line<'static>>) {
    lines.extend([Line::default(), Line::styled(format!(" {text}"), model.theme.strong())]);
}

fn items(model: &Model, width: usize, lines: &mut Vec<Line<'static>>) {
    let session = model.session();
    if session.items.is_empty() {
        return;
    }
    heading(model, "Work items · Enter shows one", lines);
    let now = model.now.max(session.last_at);
    for (id, item) in &session.items {
        let tries = item.returned.len();
        let tries = if tries > 1 { format!(" · {tries} attempts") } else { String::new() };
        let said = model.progress.get(id).and_then(|progress| progress.said.as_deref());
        let said = said.filter(|_| item.outcome().is_none()).map(|said| format!("  {said}"));
        let (who, state) = (&item.offered.participant, item.state(now));
        let text = format!("{id}  → {who}  {state}{tries}{}", said.unwrap_or_default());
        lines.extend(hanging(" ", &harmless_line(&text), width, 2, Style::new()));
    }
}
