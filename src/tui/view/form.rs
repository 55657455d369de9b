//! A form over the panes: every field, the one that is filled in with its cursor.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::click_map::{ClickMap, Target};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, wrapped};
use crate::tui::form::{CheckItem, Field, FieldValue, Form, rule_hint};
use crate::tui::keymap::{FORM_KEYS, FormKey};
use crate::tui::model::Model;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, form: &Form, hits: &mut ClickMap) {
    let width = area.width.min(100);
    let words = words(model, form, usize::from(width.saturating_sub(3)));
    let below = u16::try_from(words.len()).unwrap_or(1);
    let wanted =
        form.fields.iter().fold(0_u16, |sum, field| sum.saturating_add(extra(field)).saturating_add(1));
    let intro = intro(form, usize::from(width.saturating_sub(4)), usize::from(area.height / 3));
    let above = u16::try_from(intro.len()).unwrap_or(0);
    let height = wanted.saturating_add(below + above + 3).min(area.height);
    let middle = (area.height - height) / 2;
    // What is decided stays in view over the form that decides it.
    let down = if form.is_answer() { area.height.saturating_sub(height + 1) } else { middle };
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + down, width, height };
    frame.render_widget(Clear, place);
    let title = clipped(&format!(" {} ", harmless_line(&form.title)), usize::from(width.saturating_sub(4)));
    let hint = form.fields.get(form.at).map(|field| field.hint).unwrap_or_default();
    let hint = Line::styled(format!(" {hint} "), model.theme.faint());
    let framed = model.theme.block(title.trim_end().to_owned() + " ", true).title_bottom(hint);
    frame.render_widget(framed, place);
    let inner = Rect { x: place.x + 1, y: place.y + 1, width: width.saturating_sub(2), height: height - 2 };
    let rows = [Constraint::Length(above), Constraint::Min(1), Constraint::Length(below)];
    let [head, fields, foot] = Layout::vertical(rows).areas(inner);
    frame.render_widget(Paragraph::new(intro), head);
    draw_fields(frame, fields, model, form, hits);
    frame.render_widget(Paragraph::new(words), foot);
}

/// What is read before the form is filled in, in at most so many lines.
fn intro(form: &Form, width: usize, most: usize) -> Vec<Line<'static>> {
    if form.intro.is_empty() {
        return Vec::new();
    }
    let all = wrapped(&form.intro, width, most);
    all.into_iter().chain([String::new()]).map(|line| Line::from(format!(" {line}"))).collect()
}

/// What is wrong with the form, else its keys.
fn words(model: &Model, form: &Form, width: usize) -> Vec<Line<'static>> {
    let Some(error) = &form.error else {
        let word = |key: &FormKey| Some(format!("{} {}", key.keys[0], key.footer?));
        let keys: Vec<String> = FORM_KEYS.iter().filter_map(word).collect();
        return vec![Line::styled(format!(" {}", keys.join(" · ")), model.theme.faint())];
    };
    let line = |line| Line::styled(format!(" {line}"), model.theme.bad());
    wrapped(error, width, 3).into_iter().map(line).collect()
}

/// The lines a field would like beyond its first.
fn extra(field: &Field) -> u16 {
    match &field.entry {
        FieldValue::Text(area) => u16::try_from(area.lines().len()).unwrap_or(u16::MAX).clamp(4, 12),
        FieldValue::Merge(_) => u16::MAX / 2,
        FieldValue::Picks(picks, _) => u16::try_from(picks.len()).unwrap_or(u16::MAX).clamp(1, 12),
        _ => 0,
    }
}

/// Fields above each other; where there is no room for all, those around the one at hand.
fn draw_fields(frame: &mut Frame<'_>, area: Rect, model: &Model, form: &Form, hits: &mut ClickMap) {
    let count = form.fields.len();
    let room = usize::from(area.height);
    // The field at hand gets what it wants first, then all get their line, then the rest.
    let mut heights: Vec<u16> = vec![1; count];
    let first = form.at.saturating_sub(room.saturating_sub(4).min(form.at));
    let last = count.min(first + room.max(1));
    let mut left = area.height.saturating_sub(u16::try_from(last - first).unwrap_or(u16::MAX));
    let by_need = std::iter::once(form.at).chain((first..last).filter(|index| *index != form.at));
    for index in by_need {
        let more = extra(&form.fields[index]).min(left);
        heights[index] += more;
        left -= more;
    }
    let places = Layout::vertical((first..last).map(|index| Constraint::Length(heights[index]))).split(area);
    let labels = form.fields.iter().map(|field| field.label.chars().count()).max().unwrap_or(0);
    for (place, index) in places.iter().zip(first..last) {
        hits.note(*place, Target::Field(index));
        draw_field(frame, *place, model, &form.fields[index], labels, index == form.at);
    }
}

/// Draws one field; `labels` is the width of the longest label of the form.
fn draw_field(frame: &mut Frame<'_>, area: Rect, model: &Model, field: &Field, labels: usize, is_at: bool) {
    if let FieldValue::Merge(desk) = &field.entry {
        return super::merge::draw(frame, area, model, desk, is_at);
    }
    let before = u16::try_from(labels + 3).unwrap_or(0).min(area.width);
    let style = if is_at { model.theme.key() } else { model.theme.faint() };
    let pointer = if is_at { model.theme.sign("▸", ">") } else { " " };
    let label = Line::styled(format!("{pointer} {:labels$} ", field.label), style);
    frame.render_widget(Paragraph::new(label), Rect { width: before, height: 1, ..area });
    let entry = Rect { x: area.x + before, width: area.width - before, ..area };
    match &field.entry {
        FieldValue::Line(text) | FieldValue::Text(text) => {
            if text.is_empty() && !is_at {
                let hint = Line::styled(field.hint, model.theme.faint());
                return frame.render_widget(Paragraph::new(hint), entry);
            }
            frame.render_widget(&**text, entry);
            if text.is_empty() && entry.width > 2 {
                let hint = Line::styled(field.hint, model.theme.faint());
                let after = Rect { x: entry.x + 2, width: entry.width - 2, height: 1, ..entry };
                frame.render_widget(Paragraph::new(hint), after);
            }
        }
        FieldValue::Choice(words, at) => {
            let word = words.get(*at).map(|word| harmless_line(word)).unwrap_or_default();
            let (left, right) = (model.theme.sign("◂", "<"), model.theme.sign("▸", ">"));
            let hint = if field.id == "rule" { rule_hint(&word) } else { field.hint };
            let arrows = if is_at { format!("{left} {word} {right}") } else { word };
            let line = Line::from(vec![
                Span::styled(arrows, if is_at { model.theme.strong() } else { ratatui::style::Style::new() }),
                Span::styled(format!("   {hint}"), model.theme.faint()),
            ]);
            frame.render_widget(Paragraph::new(line), entry);
        }
        FieldValue::Merge(_) => {}
        FieldValue::Picks(picks, at) => draw_picks(frame, entry, model, picks, *at, is_at),
    }
}

fn draw_picks(frame: &mut Frame<'_>, area: Rect, model: &Model, picks: &[CheckItem], at: usize, is_at: bool) {
    let height = usize::from(area.height);
    if height < 2 && !is_at {
        let picked = picks.iter().filter(|pick| pick.is_picked).count();
        let text = format!("{picked} of {} selected", picks.len());
        return frame.render_widget(Paragraph::new(Line::from(text)), area);
    }
    let start = if is_at { (at + 1).saturating_sub(height) } else { 0 };
    let longest = picks.iter().map(|pick| pick.name.chars().count()).max().unwrap_or(0).min(26);
    let lines: Vec<Line<'static>> = picks
        .iter()
        .enumerate()
        .skip(start)
        .take(height)
        .map(|(index, pick)| {
            let mark = if pick.is_picked { "[x]" } else { "[ ]" };
            let name = clipped(&harmless_line(&pick.name), longest);
            let line = Line::from(vec![
                Span::raw(format!("{mark} {name}  ")),
                Span::styled(harmless_line(&pick.about), model.theme.faint()),
            ]);
            if is_at && index == at { line.style(model.theme.chosen()) } else { line }
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}
