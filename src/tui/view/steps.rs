//! The steps and how each went; below them what was offered, made and reviewed.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::history::{Session, WorkItem};
use crate::insight::wording::format_duration;
use crate::sanitize::harmless_line;
use crate::tui::cell_text::wrapped;
use crate::tui::model::Model;
use crate::workflow::Step;

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let session = model.session();
    let Some(definition) = &session.definition else { return Vec::new() };
    let longest = definition.all_steps().map(|step| step.id.chars().count()).max().unwrap_or(0).min(24);
    let width = usize::from(width);
    let mut lines = Vec::new();
    for step in definition.all_steps() {
        lines.push(row(model, step, longest));
        if let Some(error) = session.results.get(&step.id).and_then(|result| result.error.as_deref()) {
            for line in wrapped(error, width.saturating_sub(6), 3) {
                lines.push(Line::styled(format!("      {line}"), model.theme.bad()));
            }
        }
        output(model, session, step, width, &mut lines);
    }
    needs(model, width, &mut lines);
    items(model, session, &mut lines);
    made(model, session, width, &mut lines);
    lines
}

fn row(model: &Model, step: &Step, longest: usize) -> Line<'static> {
    let session = model.session();
    let (sign, style, took) = standing(model, session, step);
    let id: String = harmless_line(&step.id).chars().take(longest).collect();
    let runs = session.runs.get(&step.id).copied().unwrap_or(0);
    let again = if runs > 1 { format!(" · run {runs}×") } else { String::new() };
    let who = step.agents().join(", ");
    let who = if who.is_empty() { String::new() } else { format!(" · {}", harmless_line(&who)) };
    Line::from(vec![
        Span::styled(format!(" {sign} "), style),
        Span::styled(
            format!("{id:longest$}  "),
            if took.is_some() { model.theme.strong() } else { Style::new() },
        ),
        Span::raw(format!("{}{who}{again}", step.kind_name())),
        Span::styled(took.map(|took| format!(" · {took}")).unwrap_or_default(), model.theme.faint()),
    ])
}

/// The last lines that the program of a failed step printed.
fn output(model: &Model, session: &Session, step: &Step, width: usize, lines: &mut Vec<Line<'static>>) {
    const SHOWN: usize = 8;
    let of_step = |item: &&WorkItem| item.offered.step == step.id;
    let last = session.items.values().rev().find(of_step).and_then(|item| item.outcome()?.output());
    let Some(output) = last else { return };
    let all: Vec<&str> = output.lines().collect();
    for line in &all[all.len().saturating_sub(SHOWN)..] {
        let line: String = harmless_line(line).chars().take(width.saturating_sub(8)).collect();
        lines.push(Line::styled(format!("      {} {line}", model.theme.sign("│", "|")), model.theme.faint()));
    }
}

/// A step's sign and style, and how long it took where it has ended.
fn standing(model: &Model, session: &Session, step: &Step) -> (&'static str, Style, Option<String>) {
    let theme = model.theme;
    if session.running(&step.id).is_some() {
        // A session that is only looked at has begun nothing.
        let is_draft = model.live().is_some_and(|live| live.draft.is_some());
        let what = if is_draft { "first step" } else { "running" };
        return (theme.sign("●", "*"), theme.active(), Some(what.to_owned()));
    }
    let inside = session.step.as_ref().and_then(|run| run.find(&step.id)?.result.clone());
    match inside.as_ref().or_else(|| session.results.get(&step.id)) {
        Some(result) if result.success => {
            (theme.sign("✓", "v"), theme.good(), Some(format_duration(result.duration)))
        }
        Some(result) => (theme.sign("✗", "x"), theme.bad(), Some(format_duration(result.duration))),
        None => (theme.sign("○", "o"), theme.faint(), None),
    }
}

fn heading(model: &Model, text: &str, lines: &mut Vec<Line<'static>>) {
    lines.push(Line::from(""));
    lines.push(Line::styled(format!(" {text}"), model.theme.strong()));
}

/// What a session would run and ask that has not begun.
fn needs(model: &Model, width: usize, lines: &mut Vec<Line<'static>>) {
    let Some(live) = model.live().filter(|live| live.draft.is_some() && !live.needs.is_empty()) else {
        return;
    };
    heading(model, "runs and asks", lines);
    let needs = live.needs.iter().flat_map(|need| wrapped(need, width, usize::MAX));
    lines.extend(needs.map(Line::from));
}

fn items(model: &Model, session: &Session, lines: &mut Vec<Line<'static>>) {
    if session.items.is_empty() {
        return;
    }
    heading(model, "Work items · Enter shows one", lines);
    let now = model.now.max(session.last_at);
    for (id, item) in &session.items {
        let tries = item.returned.len();
        let tries = if tries > 1 { format!(" · {tries} attempts") } else { String::new() };
        let offered = &item.offered;
        let said = model.progress.get(id).and_then(|progress| progress.said.as_deref());
        let said = said.filter(|_| item.outcome().is_none()).map(|said| format!("  {said}"));
        let text = format!(
            " {id}  {} {}  {}{tries}{}",
            model.theme.sign("→", "->"),
            offered.participant,
            item.state(now),
            said.unwrap_or_default()
        );
        lines.push(Line::from(harmless_line(&text)));
    }
}

fn made(model: &Model, session: &Session, width: usize, lines: &mut Vec<Line<'static>>) {
    let made: Vec<_> = session.made_in_order().collect();
    if made.is_empty() && session.links.is_empty() {
        return;
    }
    heading(model, "artifacts", lines);
    for made in made {
        let text = |key: &str| made.recorded.artifact.get(key).and_then(|value| value.as_str()).unwrap_or("");
        let id = text("id").to_owned();
        let version = made.recorded.version.map(|version| format!(" v{version}")).unwrap_or_default();
        let by = &made.recorded.by;
        lines.push(Line::from(harmless_line(&format!(" {id}{version}  {} · by {by}", text("summary")))));
        for review in session.reviews_in_order().filter(|review| review.artifact == id) {
            let said = match &review.feedback {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            for line in
                wrapped(&format!("reviewed by {}: {said}", review.participant), width.saturating_sub(4), 4)
            {
                lines.push(Line::styled(format!("    {line}"), model.theme.faint()));
            }
        }
    }
    for recorded in &session.links {
        let link = &recorded.link;
        let arrow = model.theme.sign("→", "->");
        let text = format!(" {}: {} {arrow} {}", link.kind, link.from_id, link.to_id);
        lines.push(Line::styled(harmless_line(&text), model.theme.faint()));
    }
}
