//! View of a form, with a cursor in the focused field.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};
use unicode_width::UnicodeWidthStr as _;

use super::round::{rule_hint, strategy_hint};
use super::{CheckItem, Field, FieldValue, Form};
use crate::sanitize::harmless_line;
use crate::tui::frame::cells;
use crate::tui::keys::{FORM_KEYS, FormKey};
use crate::tui::text::{clipped, hanging};
use crate::tui::theme::Theme;

/// Maximum lines of an error under its field.
const MOST_ERROR: usize = 3;

pub fn draw(frame: &mut Frame<'_>, area: Rect, form: &Form, notice: Option<&str>, theme: Theme) {
    let width = area.width.min(100);
    let inside = usize::from(width.saturating_sub(2));
    let foot = footer(form, notice, theme, inside);
    let mut intro = hanging(" ", &form.intro, inside, usize::from(area.height / 3), Style::new());
    intro.push(Line::default());
    intro.truncate(if form.intro.is_empty() { 0 } else { intro.len() });
    let (above, below) = (cells(intro.len()), cells(foot.len()));
    // Reserves room for the tallest focused field, so that the form keeps its height.
    let plain: u16 = form.visible().iter().map(|field| wanted(field, false)).sum();
    let more =
        form.visible().iter().map(|field| wanted(field, true) - wanted(field, false)).max().unwrap_or(0);
    let error = if form.error_field().is_some() { MOST_ERROR } else { 0 };
    let height = (plain + more + cells(error) + above + below + 3).min(area.height);
    // A form that answers a question is at the bottom, so that the question stays in view.
    let down = if form.is_answer() { area.height - height } else { (area.height - height) / 2 };
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + down, width, height };
    let hint = form.fields.get(form.at).map(|field| field.hint).unwrap_or_default();
    let hint = format!(" {} ", clipped(hint, hint.width().min(inside.saturating_sub(2))));
    let hint = Line::styled(hint, theme.faint());
    let framed = theme.block(&form.title, width).title_bottom(hint);
    let inner = framed.inner(place);
    frame.render_widget(Clear, place);
    frame.render_widget(framed, place);
    let parts = [Constraint::Length(above), Constraint::Min(1), Constraint::Length(below)];
    let [head, fields, under] = Layout::vertical(parts).areas(inner);
    frame.render_widget(Paragraph::new(intro), head);
    draw_fields(frame, fields, form, theme);
    frame.render_widget(Paragraph::new(foot), under);
}

/// Returns the form's error if no field has it, else the notice, else the keys.
fn footer(form: &Form, notice: Option<&str>, theme: Theme, width: usize) -> Vec<Line<'static>> {
    if let Some(error) = form.error.as_ref().filter(|_| form.error_field().is_none()) {
        return hanging(" ", error, width, MOST_ERROR, theme.bad());
    }
    if let Some(notice) = notice {
        return hanging(" ", notice, width, 2, theme.active());
    }
    let enter = match form.fields.get(form.at).map(|field| &field.entry) {
        Some(FieldValue::Text(_)) => "Enter new line",
        Some(_) if form.at + 1 < form.visible().len() => "Enter next",
        _ => "Enter submit",
    };
    let word = |key: &FormKey| Some(format!("{} {}", key.keys[0], key.footer?));
    let keys: Vec<String> = FORM_KEYS.iter().filter_map(word).chain([enter.to_owned()]).collect();
    hanging(" ", &keys.join(" · "), width, 2, theme.faint())
}

/// Returns the preferred height of a field in lines; the focused text field gets more.
fn wanted(field: &Field, is_at: bool) -> u16 {
    match &field.entry {
        FieldValue::Text(area) if is_at => cells(area.lines().len()).clamp(5, 13),
        FieldValue::Text(area) => cells(area.lines().len()).clamp(1, 5),
        FieldValue::Picks(picks, _) => cells(picks.len()).clamp(1, 12),
        FieldValue::Line(_) | FieldValue::Choice(..) => 1,
    }
}

/// Draws the fields from top to bottom.
/// If they do not fit, all but the focused field shrink to one line, and the first ones are hidden.
fn draw_fields(frame: &mut Frame<'_>, area: Rect, form: &Form, theme: Theme) {
    let fields = form.visible();
    let labels = fields.iter().map(|field| field.label.chars().count()).max().unwrap_or(0);
    let error = form.error.as_deref().unwrap_or_default();
    let mut errors = hanging("    ✗ ", error, usize::from(area.width), MOST_ERROR, theme.bad());
    let wrong = form.error_field();
    errors.truncate(if wrong.is_some() { MOST_ERROR } else { 0 });
    let mut heights: Vec<u16> = (0..).zip(fields).map(|(at, field)| wanted(field, at == form.at)).collect();
    let (of_error, at) = (cells(errors.len()), form.at.min(fields.len().saturating_sub(1)));
    if heights.iter().sum::<u16>() + of_error > area.height {
        let own = heights[at].min((area.height / 2).max(1));
        heights.fill(1);
        heights[at] = own;
    }
    let is_below = |first: &usize| heights[*first..=at].iter().sum::<u16>() + of_error <= area.height;
    let first = (0..=at).find(is_below).unwrap_or(at);
    let mut y = area.y;
    for (index, field) in fields.iter().enumerate().skip(first) {
        let height = heights[index].min(area.bottom() - y);
        draw_field(frame, Rect { y, height, ..area }, field, labels, index == at, theme);
        y += height;
        if wrong == Some(index) {
            let height = of_error.min(area.bottom() - y);
            frame.render_widget(Paragraph::new(errors.clone()), Rect { y, height, ..area });
            y += height;
        }
    }
}

fn draw_field(frame: &mut Frame<'_>, area: Rect, field: &Field, labels: usize, is_at: bool, theme: Theme) {
    let before = cells(labels + 3).min(area.width);
    let (pointer, style) = if is_at { ("▸", theme.key()) } else { (" ", theme.faint()) };
    let label = Line::styled(format!("{pointer} {:labels$} ", field.label), style);
    frame.render_widget(Paragraph::new(label), Rect { width: before, ..area });
    let entry = Rect { x: area.x + before, width: area.width - before, ..area };
    let room = usize::from(entry.width).saturating_sub(if is_at { 2 } else { 0 });
    let hint = Line::styled(clipped(field.hint, room), theme.faint());
    let lines = match &field.entry {
        FieldValue::Line(text) | FieldValue::Text(text) if is_at => {
            frame.render_widget(&**text, entry);
            let after = Rect { x: entry.x + 2, width: entry.width.saturating_sub(2), ..entry };
            if text.is_empty() {
                frame.render_widget(Paragraph::new(hint), after.intersection(area));
            }
            return;
        }
        FieldValue::Line(text) | FieldValue::Text(text) if text.is_empty() => vec![hint],
        FieldValue::Line(text) | FieldValue::Text(text) => beginning(text.lines(), entry),
        FieldValue::Choice(words, at) => {
            let word = words.get(*at).map(|word| harmless_line(word)).unwrap_or_default();
            let hint = match field.id {
                "rule" => Cow::from(rule_hint(&word)),
                "strategy" => strategy_hint(&word),
                _ => field.hint.into(),
            };
            let word =
                if is_at { Span::styled(format!("◂ {word} ▸"), theme.strong()) } else { Span::raw(word) };
            let hint = clipped(&format!("   {hint}"), usize::from(entry.width).saturating_sub(word.width()));
            vec![Line::from(vec![word, Span::styled(hint, theme.faint())])]
        }
        FieldValue::Picks(picks, at) => picked(picks, *at, entry, is_at, theme),
    };
    frame.render_widget(Paragraph::new(lines), entry);
}

/// Returns the start of a text that is not being edited; a single line joins the text's lines with ` · `.
fn beginning(lines: &[String], area: Rect) -> Vec<Line<'static>> {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    if height < 2 {
        return vec![clipped(&lines.join(" · "), width).into()];
    }
    let shown = if lines.len() > height { height - 1 } else { lines.len() };
    let more = (lines.len() > shown).then(|| format!("… {} more lines", lines.len() - shown));
    lines[..shown].iter().map(|line| clipped(line, width)).chain(more).map(Line::from).collect()
}

/// Returns the items, or only their number if the field has one line and no focus.
fn picked(picks: &[CheckItem], at: usize, area: Rect, is_at: bool, theme: Theme) -> Vec<Line<'static>> {
    let height = usize::from(area.height);
    if height < 2 && !is_at {
        let picked = picks.iter().filter(|pick| pick.is_picked).count();
        return vec![format!("{picked} of {} selected", picks.len()).into()];
    }
    let start = if is_at { (at + 1).saturating_sub(height) } else { 0 };
    let longest = picks.iter().map(|pick| pick.name.chars().count()).max().unwrap_or(0).min(26);
    let room = usize::from(area.width).saturating_sub(longest + 6);
    let below = picks.len().saturating_sub(start + height);
    let line = |(index, pick): (usize, &CheckItem)| {
        if below > 0 && index + 1 == start + height && !(is_at && index == at) {
            return Line::styled(format!("    … {} more", below + 1), theme.faint());
        }
        let mark = if pick.is_picked { "[x]" } else { "[ ]" };
        let name = clipped(&harmless_line(&pick.name), longest);
        let about = Span::styled(clipped(&harmless_line(&pick.about), room), theme.faint());
        let line = Line::from(vec![Span::raw(format!("{mark} {name}  ")), about]);
        if is_at && index == at { line.style(theme.chosen()) } else { line }
    };
    picks.iter().enumerate().skip(start).take(height).map(line).collect()
}
