//! A form over the panes: every field, the one that is filled in with its cursor.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::round::{rule_hint, strategy_hint};
use super::{CheckItem, Field, FieldValue, Form};
use crate::sanitize::harmless_line;
use crate::tui::frame::{ClickMap, Target, cells};
use crate::tui::keys::{FORM_KEYS, FormKey};
use crate::tui::text::{clipped, hanging};
use crate::tui::theme::Theme;

/// An error takes at most so many lines under its field.
const MOST_ERROR: u16 = 3;

pub fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    form: &Form,
    notice: Option<&str>,
    theme: Theme,
    hits: &mut ClickMap,
) {
    let width = area.width.min(100);
    let inside = usize::from(width.saturating_sub(3));
    let has_error_field = form.error_field().is_some();
    let foot = footer(form, has_error_field, notice, theme, inside);
    let fields = form.shown();
    let plain: u16 = fields.iter().fold(0, |sum, field| sum.saturating_add(extra(field, false) + 1));
    // Room for whichever field is written in, so that the form keeps its height.
    let more = fields.iter().map(|field| extra(field, true).saturating_sub(extra(field, false))).max();
    let wanted =
        plain.saturating_add(more.unwrap_or(0)).saturating_add(if has_error_field { MOST_ERROR } else { 0 });
    let intro = intro(form, usize::from(width.saturating_sub(4)), usize::from(area.height / 3));
    let (above, below) = (cells(intro.len()), cells(foot.len()));
    let height = wanted.saturating_add(below + above + 3).min(area.height);
    let middle = (area.height - height) / 2;
    // The subject of a decision stays in view over its form.
    let down = if form.is_answer() { area.height.saturating_sub(height + 1) } else { middle };
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + down, width, height };
    let title = clipped(&format!(" {} ", harmless_line(&form.title)), usize::from(width.saturating_sub(4)));
    let hint = form.fields.get(form.at).map(|field| field.hint).unwrap_or_default();
    let hint = Line::styled(format!(" {hint} "), theme.faint());
    let framed = theme.block(title.trim_end().to_owned() + " ", true).title_bottom(hint);
    let inner = framed.inner(place);
    frame.render_widget(Clear, place);
    frame.render_widget(framed, place);
    let parts = [Constraint::Length(above), Constraint::Min(1), Constraint::Length(below)];
    let [head, fields, under] = Layout::vertical(parts).areas(inner);
    frame.render_widget(Paragraph::new(intro), head);
    draw_fields(frame, fields, form, theme, hits);
    frame.render_widget(Paragraph::new(foot), under);
}

fn intro(form: &Form, width: usize, most: usize) -> Vec<Line<'static>> {
    let mut lines = hanging(" ", &form.intro, width + 1, most, Style::new());
    if form.intro.is_empty() {
        Vec::new()
    } else {
        lines.push(Line::default());
        lines
    }
}

/// The error of the whole form, else a notice, else the keys.
fn footer(
    form: &Form,
    is_under_field: bool,
    notice: Option<&str>,
    theme: Theme,
    width: usize,
) -> Vec<Line<'static>> {
    if let Some(error) = form.error.as_ref().filter(|_| !is_under_field) {
        return hanging(" ", error, width + 1, 3, theme.bad());
    }
    if let Some(notice) = notice {
        return hanging(" ", notice, width + 1, 2, theme.active());
    }
    let enter = match form.fields.get(form.at).map(|field| &field.entry) {
        Some(FieldValue::Text(_)) => "Enter new line",
        None => "Enter takes",
        Some(_) if form.at + 1 == form.shown().len() => "Enter submit",
        Some(_) => "Enter next",
    };
    let word = |key: &FormKey| Some(format!("{} {}", key.keys[0], key.footer?));
    let keys: Vec<String> = FORM_KEYS.iter().filter_map(word).chain([enter.to_owned()]).collect();
    vec![Line::styled(format!(" {}", keys.join(" · ")), theme.faint())]
}

/// The lines a field would like beyond its first: what is written in takes more room.
fn extra(field: &Field, is_at: bool) -> u16 {
    match &field.entry {
        FieldValue::Text(area) if is_at => cells(area.lines().len()).clamp(4, 12),
        FieldValue::Text(area) => cells(area.lines().len().saturating_sub(1)).min(4),
        FieldValue::Picks(picks, _) => cells(picks.len()).clamp(1, 12),
        FieldValue::Line(_) | FieldValue::Choice(..) => 0,
    }
}

/// Fields above each other; where there is no room for all, those around the one at hand.
fn draw_fields(frame: &mut Frame<'_>, area: Rect, form: &Form, theme: Theme, hits: &mut ClickMap) {
    let count = form.shown().len();
    let room = usize::from(area.height);
    // The field at hand gets what it wants first, then all get their line, then the rest.
    let mut heights: Vec<u16> = vec![1; count];
    let wrong = form.error_field();
    let error = wrong.and(form.error.as_deref()).unwrap_or_default();
    let width = usize::from(area.width);
    let errors = if error.is_empty() {
        Vec::new()
    } else {
        hanging("    ✗ ", error, width, usize::from(MOST_ERROR), theme.bad())
    };
    let extra = |index: usize| {
        let more = if wrong == Some(index) { cells(errors.len()) } else { 0 };
        extra(&form.fields[index], index == form.at).saturating_add(more)
    };
    // The field at hand keeps the room that it needs beyond its line, up to half of all.
    let seen = room.saturating_sub(usize::from(extra(form.at)).min(room / 2)).max(1);
    let first = form.at.saturating_sub(seen.saturating_sub(seen.min(3)));
    let last = count.min(first + seen);
    let mut left = area.height.saturating_sub(cells(last - first));
    let by_need = std::iter::once(form.at).chain((first..last).filter(|index| *index != form.at));
    for index in by_need {
        let more = extra(index).min(left);
        heights[index] += more;
        left -= more;
    }
    let places = Layout::vertical((first..last).map(|index| Constraint::Length(heights[index]))).split(area);
    let labels = form.fields.iter().map(|field| field.label.chars().count()).max().unwrap_or(0);
    for (place, index) in places.iter().zip(first..last) {
        hits.note(*place, Target::Field(index));
        let below = if wrong == Some(index) { cells(errors.len()) } else { 0 };
        let below = below.min(place.height.saturating_sub(1));
        let field = Rect { height: place.height - below, ..*place };
        draw_field(frame, field, &form.fields[index], labels, index == form.at, theme);
        let under = Rect { y: field.bottom(), height: below, ..*place };
        frame.render_widget(Paragraph::new(errors.clone()), under);
    }
}

fn draw_field(frame: &mut Frame<'_>, area: Rect, field: &Field, labels: usize, is_at: bool, theme: Theme) {
    let before = cells(labels + 3).min(area.width);
    let (pointer, style) = if is_at { ("▸", theme.key()) } else { (" ", theme.faint()) };
    let label = Line::styled(format!("{pointer} {:labels$} ", field.label), style);
    frame.render_widget(Paragraph::new(label), Rect { width: before, height: 1, ..area });
    let entry = Rect { x: area.x + before, width: area.width - before, ..area };
    let hint = Paragraph::new(Line::styled(field.hint, theme.faint()));
    match &field.entry {
        FieldValue::Line(text) | FieldValue::Text(text) if is_at => {
            frame.render_widget(&**text, entry);
            if text.is_empty() && entry.width > 2 {
                let after = Rect { x: entry.x + 2, width: entry.width - 2, height: 1, ..entry };
                frame.render_widget(hint, after);
            }
        }
        FieldValue::Line(text) | FieldValue::Text(text) if text.is_empty() => {
            frame.render_widget(hint, entry);
        }
        FieldValue::Line(text) | FieldValue::Text(text) => {
            frame.render_widget(Paragraph::new(beginning(text.lines(), entry)), entry);
        }
        FieldValue::Choice(words, at) => {
            let word = words.get(*at).map(|word| harmless_line(word)).unwrap_or_default();
            let hint = match field.id {
                "rule" => Cow::from(rule_hint(&word)),
                "strategy" => strategy_hint(&word),
                _ => field.hint.into(),
            };
            let word =
                if is_at { Span::styled(format!("◂ {word} ▸"), theme.strong()) } else { Span::raw(word) };
            let line = Line::from(vec![word, Span::styled(format!("   {hint}"), theme.faint())]);
            frame.render_widget(Paragraph::new(line), entry);
        }
        FieldValue::Picks(picks, at) => {
            frame.render_widget(Paragraph::new(picked(picks, *at, entry, is_at, theme)), entry);
        }
    }
}

/// Returns the beginning of a text that is not being edited; on one line its lines are joined.
fn beginning(lines: &[String], area: Rect) -> Vec<Line<'static>> {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    if height < 2 {
        let filled: Vec<&str> =
            lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        return vec![Line::from(clipped(&filled.join(" · "), width))];
    }
    let shown = if lines.len() > height { height - 1 } else { lines.len() };
    let more = lines.len() - shown;
    let more = (more > 0).then(|| format!("… {more} more lines"));
    lines[..shown].iter().map(|line| clipped(line, width)).chain(more).map(Line::from).collect()
}

/// The items, or without room their number.
fn picked(picks: &[CheckItem], at: usize, area: Rect, is_at: bool, theme: Theme) -> Vec<Line<'static>> {
    let height = usize::from(area.height);
    if height < 2 && !is_at {
        let picked = picks.iter().filter(|pick| pick.is_picked).count();
        return vec![format!("{picked} of {} selected", picks.len()).into()];
    }
    let start = if is_at { (at + 1).saturating_sub(height) } else { 0 };
    let longest = picks.iter().map(|pick| pick.name.chars().count()).max().unwrap_or(0).min(26);
    let room = usize::from(area.width).saturating_sub(longest + 6);
    let line = |(index, pick): (usize, &CheckItem)| {
        let mark = if pick.is_picked { "[x]" } else { "[ ]" };
        let name = clipped(&harmless_line(&pick.name), longest);
        let about = Span::styled(clipped(&harmless_line(&pick.about), room), theme.faint());
        let line = Line::from(vec![Span::raw(format!("{mark} {name}  ")), about]);
        if is_at && index == at { line.style(theme.chosen()) } else { line }
    };
    picks.iter().enumerate().skip(start).take(height).map(line).collect()
}
