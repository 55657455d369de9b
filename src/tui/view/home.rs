//! The home screen: what can go on, what is over, ways to begin, who can answer.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::click_map::{ClickMap, Target};
use super::frame::{self, Heading};
use crate::history::NO_MODEL;
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, clipped_middle, cut_middle, wrapped};
use crate::tui::home::{HomeRow, HomeSection};
use crate::tui::model::Model;
use crate::tui::sources::{ModelSource, REHEARSAL, SourceState};

const TWO_COLUMNS: u16 = 100;
const WITH_SOURCES: u16 = 12;

/// A part of the list: its title, its rows, and the place of its first row in the whole list.
struct Part<'a> {
    title: String,
    rows: &'a [&'a HomeRow],
    first: usize,
}

pub fn draw(frame: &mut Frame<'_>, title: Rect, body: Rect, model: &Model, hits: &mut ClickMap) {
    heading(frame, title, model);
    let [body, beside] = if body.width >= TWO_COLUMNS {
        Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)]).areas(body)
    } else {
        [body, Rect::default()]
    };
    let has_sources = body.height >= WITH_SOURCES;
    let of_sources = if has_sources { 2 } else { 0 };
    let [list, who] = Layout::vertical([Constraint::Min(1), Constraint::Length(of_sources)]).areas(body);
    let shown = model.home.shown();
    let parts = parts(model, &shown);
    let heights = heights(&parts, list.height);
    let rows: Vec<Constraint> = heights.into_iter().map(Constraint::Length).collect();
    let places = Layout::vertical(rows).split(list);
    for (part, place) in parts.iter().zip(places.iter()) {
        draw_part(frame, *place, model, part, hits);
    }
    if has_sources {
        let heading = Heading { note: "m takes one · D tests them".to_owned(), ..Heading::of("can answer") };
        let width = usize::from(frame::inner(who).width);
        frame::draw(frame, who, model.theme, &heading, vec![sources(model, width)]);
    }
    if beside.width > 0 {
        let name = model.home.chosen().map(|row| harmless_line(&row.name)).unwrap_or_default();
        let lines = about(model, usize::from(frame::inner(beside).width));
        frame::draw(frame, beside, model.theme, &Heading::of(name), lines);
    }
}

/// Sessions that can go on, those that are over, and what can be begun; parts without rows are left out.
fn parts<'a>(model: &Model, shown: &'a [&'a HomeRow]) -> Vec<Part<'a>> {
    let sessions = shown.iter().take_while(|row| row.part == HomeSection::Sessions).count();
    let open = shown[..sessions].iter().take_while(|row| row.is_open()).count();
    let words = harmless_line(&model.home.words);
    let found = if words.is_empty() { String::new() } else { format!(" · “{words}”") };
    let title = |name: &str, count: usize| format!("{name} ({count}){found}");
    let mut parts = vec![
        Part { title: title("go on", open), rows: &shown[..open], first: 0 },
        Part { title: title("done", sessions - open), rows: &shown[open..sessions], first: open },
        Part { title: format!("begin{found}"), rows: &shown[sessions..], first: sessions },
    ];
    parts.retain(|part| !part.rows.is_empty());
    if parts.is_empty() {
        let title =
            if model.home.is_reading { "loading…" } else { "nothing holds this; Esc ends the search" };
        parts.push(Part { title: title.to_owned(), rows: &[], first: 0 });
    }
    parts
}

/// How high each part is: as high as its rows, as far as those below it keep a few lines.
fn heights(parts: &[Part<'_>], room: u16) -> Vec<u16> {
    const LEAST: u16 = 3;
    let mut left = room;
    let below = (0..parts.len()).rev().map(|after| LEAST * u16::try_from(after).unwrap_or(0));
    let height = |(part, below): (&Part<'_>, u16)| {
        let height = frame::height(part.rows.len()).min(left.saturating_sub(below).max(LEAST)).min(left);
        left -= height;
        height
    };
    parts.iter().zip(below).map(height).collect()
}

fn draw_part(frame: &mut Frame<'_>, area: Rect, model: &Model, part: &Part<'_>, hits: &mut ClickMap) {
    if area.height == 0 {
        return;
    }
    let inner = frame::inner(area);
    let height = usize::from(inner.height);
    let chosen = model.home.at.checked_sub(part.first).filter(|at| *at < part.rows.len());
    let start = chosen.map_or(0, |at| (at + 1).saturating_sub(height));
    let shown = part.rows.len().min(start + height) - start.min(part.rows.len());
    let note = if shown < part.rows.len() {
        format!("{} of {} · / finds", shown, part.rows.len())
    } else {
        String::new()
    };
    let room = usize::from(inner.width);
    let width = |text: &str| harmless_line(text).width();
    let names = part.rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
    let abouts = part.rows.iter().map(|row| width(&row.about)).max().unwrap_or(0);
    let ages = if room < 56 { 0 } else { part.rows.iter().map(|row| width(&row.age)).max().unwrap_or(0) };
    let rest = room.saturating_sub(4 + 2 + ages + if ages > 0 { 2 } else { 0 });
    // What fits is whole; else the name has more of the room than what is said of it.
    let names = names.min(rest.saturating_sub(abouts).max(rest * 3 / 5));
    let columns = Columns { names, about: rest - names, ages };
    let mut lines = Vec::new();
    for (y, (index, row)) in (inner.y..inner.bottom()).zip(part.rows.iter().enumerate().skip(start)) {
        hits.note(Rect { y, height: 1, ..inner }, Target::Row(part.first + index));
        lines.push(row_line(model, row, chosen == Some(index), columns));
    }
    let heading = Heading { title: part.title.clone(), note, is_focused: chosen.is_some() };
    frame::draw(frame, area, model.theme, &heading, lines);
}

#[derive(Clone, Copy)]
struct Columns {
    names: usize,
    about: usize,
    ages: usize,
}

fn row_line(model: &Model, row: &HomeRow, is_chosen: bool, columns: Columns) -> Line<'static> {
    let theme = model.theme;
    let pointer = if is_chosen { theme.sign("▸", ">") } else { " " };
    let style = match row.sign.0 {
        "✓" => theme.good(),
        "✗" | "!" => theme.bad(),
        _ => ratatui::style::Style::new(),
    };
    let mut spans = vec![
        Span::raw(pointer),
        Span::styled(format!("{} ", theme.sign(row.sign.0, row.sign.1)), style),
        Span::styled(
            format!("{}  ", clipped_middle(&harmless_line(&row.name), columns.names)),
            if is_chosen { theme.strong() } else { ratatui::style::Style::new() },
        ),
        Span::raw(clipped(&harmless_line(&row.about), columns.about)),
    ];
    if columns.ages > 0 {
        let age = harmless_line(&row.age);
        let gap = " ".repeat(columns.ages.saturating_sub(age.width()) + 2);
        spans.push(Span::styled(format!("{gap}{age}"), theme.faint()));
    }
    let line = Line::from(spans);
    if is_chosen { line.style(theme.chosen()) } else { line }
}

/// What the program is, where it is, and who answers unless a seat says so.
fn heading(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    if area.height == 0 {
        return;
    }
    let usual = model.home.model.as_deref().unwrap_or(NO_MODEL);
    let width = usize::from(area.width);
    let first = Rect { height: 1, ..area };
    let answers = harmless_line(&format!("answers come from: {usual} "));
    let project = harmless_line(&model.home.project);
    let right = if project.width() + answers.width() + 16 < width {
        format!("{project} · {answers}")
    } else {
        answers
    };
    frame.render_widget(Paragraph::new(Line::styled(" roundtable", model.theme.strong())), first);
    let room = width.saturating_sub(13);
    let right = cut_middle(&right, room);
    frame.render_widget(Paragraph::new(right).alignment(Alignment::Right), first);
    if area.height > 1 {
        let text = if width >= 78 {
            " Ask several AIs one question at once; no answer is read before all are in."
        } else {
            " One question to several AIs, blind."
        };
        frame.render_widget(Paragraph::new(text), Rect { y: area.y + 1, height: 1, ..area });
    }
}

/// Who can answer, in one line: those that are there, and how many lack something.
fn sources(model: &Model, width: usize) -> Line<'static> {
    let theme = model.theme;
    let is_ready = |source: &&ModelSource| source.state == SourceState::Ready;
    let name = |source: &ModelSource| match source.models.len() {
        0 => harmless_line(&source.provider),
        count => format!("{} {count}", harmless_line(&source.provider)),
    };
    let mut ready: Vec<String> = model.sources.iter().filter(is_ready).map(name).collect();
    ready.push(format!("{REHEARSAL} (no model)"));
    if model.is_finding_sources {
        ready.push("asking local servers …".to_owned());
    }
    let missing = model.sources.iter().filter(|source| source.state != SourceState::Ready).count();
    let right = match missing {
        0 => String::new(),
        1 => "1 other is not set up: D shows".to_owned(),
        count => format!("{count} others are not set up: D shows"),
    };
    let right = if width < 60 { String::new() } else { right };
    let left = clipped(&ready.join(" · "), width.saturating_sub(right.width() + 2));
    Line::from(vec![Span::raw(left), Span::styled(format!("  {right}"), theme.faint())])
}

/// What is said of the row under the cursor.
fn about(model: &Model, width: usize) -> Vec<Line<'static>> {
    let Some(row) = model.home.chosen() else { return Vec::new() };
    let texts = std::iter::once(&row.about).filter(|_| row.detail.is_empty()).chain(&row.detail);
    texts.flat_map(|text| wrapped(text, width, 6)).map(Line::from).collect()
}
