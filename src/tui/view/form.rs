//! A form over the panes: every field, the one that is filled in with its cursor.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::click_map::{ClickMap, Target};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, wrapped};
use crate::tui::form::{CheckItem, Field, FieldValue, Form, rule_hint, strategy_hint};
use crate::tui::keymap::{FORM_KEYS, FormKey};
use crate::tui::model::Model;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, form: &Form, hits: &mut ClickMap) {
    let width = area.width.min(100);
    let error = form.error_field().zip(form.error.as_deref());
    let words = words(model, form, error.is_some(), usize::from(width.saturating_sub(3)));
    let below = u16::try_from(words.len()).unwrap_or(1);
    let wanted = form
        .shown()
        .iter()
        .fold(0_u16, |sum, field| sum.saturating_add(extra(field, false)).saturating_add(1));
    // Room for whichever field is written in, so that the form keeps its height.
    let more = form.shown().iter().map(|field| extra(field, true).saturating_sub(extra(field, false))).max();
    let wanted = wanted.saturating_add(more.unwrap_or(0));
    let wanted = wanted.saturating_add(if error.is_some() { MOST_ERROR } else { 0 });
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

const MOST_ERROR: u16 = 3;

/// What is read before the form is filled in, in at most so many lines.
fn intro(form: &Form, width: usize, most: usize) -> Vec<Line<'static>> {
    if form.intro.is_empty() {
        return Vec::new();
    }
    let all = wrapped(&form.intro, width, most);
    all.into_iter().chain([String::new()]).map(|line| Line::from(format!(" {line}"))).collect()
}

/// What is wrong with the form as a whole, else its keys.
fn words(model: &Model, form: &Form, is_under_field: bool, width: usize) -> Vec<Line<'static>> {
    let Some(error) = form.error.as_ref().filter(|_| !is_under_field) else {
        let word = |key: &FormKey| Some(format!("{} {}", key.keys[0], key.footer?));
        if let Some(notice) = &model.notice {
            let line = |line| Line::styled(format!(" {line}"), model.theme.active());
            return wrapped(notice, width, 2).into_iter().map(line).collect();
        }
        let enter = match form.fields.get(form.at).map(|field| &field.entry) {
            Some(FieldValue::Text(_)) => "Enter new line",
            None => "Enter takes",
            Some(_) if form.at + 1 == form.shown().len() => "Enter submit",
            Some(_) => "Enter next",
        };
        let keys = FORM_KEYS.iter().filter_map(word).chain([enter.to_owned()]);
        let keys: Vec<String> = keys.collect();
        return vec![Line::styled(format!(" {}", keys.join(" · ")), model.theme.faint())];
    };
    let line = |line| Line::styled(format!(" {line}"), model.theme.bad());
    wrapped(error, width, 3).into_iter().map(line).collect()
}

/// What is wrong with a field, as it stands under it.
fn under_field(model: &Model, error: &str, width: u16) -> Vec<Line<'static>> {
    let sign = model.theme.sign("✗", "x");
    let lines = wrapped(error, usize::from(width.saturating_sub(6)), usize::from(MOST_ERROR));
    let lead = |at: usize| if at == 0 { format!("    {sign} ") } else { " ".repeat(6) };
    let line = |(at, line): (usize, String)| Line::styled(format!("{}{line}", lead(at)), model.theme.bad());
    lines.into_iter().enumerate().map(line).collect()
}

/// The lines a field would like beyond its first: what is written in takes more room.
fn extra(field: &Field, is_at: bool) -> u16 {
    match &field.entry {
        FieldValue::Text(area) if is_at => u16::try_from(area.lines().len()).unwrap_or(u16::MAX).clamp(4, 12),
        FieldValue::Text(area) => {
            u16::try_from(area.lines().len().saturating_sub(1)).unwrap_or(u16::MAX).min(4)
        }
        FieldValue::Picks(picks, _) => u16::try_from(picks.len()).unwrap_or(u16::MAX).clamp(1, 12),
        _ => 0,
    }
}

/// Fields above each other; where there is no room for all, those around the one at hand.
fn draw_fields(frame: &mut Frame<'_>, area: Rect, model: &Model, form: &Form, hits: &mut ClickMap) {
    let count = form.shown().len();
    let room = usize::from(area.height);
    // The field at hand gets what it wants first, then all get their line, then the rest.
    let mut heights: Vec<u16> = vec![1; count];
    let wrong = form.error_field();
    let errors = wrong.zip(form.error.as_ref()).map(|(_, error)| under_field(model, error, area.width));
    let errors = errors.unwrap_or_default();
    let extra = |index: usize| {
        let more = if wrong == Some(index) { u16::try_from(errors.len()).unwrap_or(0) } else { 0 };
        extra(&form.fields[index], index == form.at).saturating_add(more)
    };
    // What the field at hand wants beyond its line is kept free, up to half of the room.
    let rows = room.saturating_sub(usize::from(extra(form.at)).min(room / 2)).max(1);
    let first = form.at.saturating_sub(rows.saturating_sub(rows.min(3)));
    let last = count.min(first + rows);
    let mut left = area.height.saturating_sub(u16::try_from(last - first).unwrap_or(u16::MAX));
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
        let below = errors.iter().filter(|_| wrong == Some(index)).count();
        let below = u16::try_from(below).unwrap_or(0).min(place.height.saturating_sub(1));
        let field = Rect { height: place.height - below, ..*place };
        draw_field(frame, field, model, &form.fields[index], labels, index == form.at);
        let under = Rect { y: field.bottom(), height: below, ..*place };
        frame.render_widget(Paragraph::new(errors.clone()), under);
    }
}

/// Draws one field; `labels` is the width of the longest label of the form.
fn draw_field(frame: &mut Frame<'_>, area: Rect, model: &Model, field: &Field, labels: usize, is_at: bool) {
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
            if !is_at {
                return frame.render_widget(Paragraph::new(beginning(text.lines(), entry)), entry);
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
            let hint = match field.id {
                "rule" => Cow::from(rule_hint(&word)),
                "strategy" => strategy_hint(&word),
                _ => field.hint.into(),
            };
            let arrows = if is_at { format!("{left} {word} {right}") } else { word };
            let line = Line::from(vec![
                Span::styled(arrows, if is_at { model.theme.strong() } else { ratatui::style::Style::new() }),
                Span::styled(format!("   {hint}"), model.theme.faint()),
            ]);
            frame.render_widget(Paragraph::new(line), entry);
        }
        FieldValue::Picks(picks, at) => draw_picks(frame, entry, model, picks, *at, is_at),
    }
}

/// How a text begins that is not being written in; on one line its lines stand beside each other.
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

fn draw_picks(frame: &mut Frame<'_>, area: Rect, model: &Model, picks: &[CheckItem], at: usize, is_at: bool) {
    let height = usize::from(area.height);
    if height < 2 && !is_at {
        let picked = picks.iter().filter(|pick| pick.is_picked).count();
        let text = format!("{picked} of {} selected", picks.len());
        return frame.render_widget(Paragraph::new(Line::from(text)), area);
    }
    let start = if is_at { (at + 1).saturating_sub(height) } else { 0 };
    let longest = picks.iter().map(|pick| pick.name.chars().count()).max().unwrap_or(0).min(26);
    let room = usize::from(area.width).saturating_sub(longest + 6);
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
                Span::styled(clipped(&harmless_line(&pick.about), room), model.theme.faint()),
            ]);
            if is_at && index == at { line.style(model.theme.chosen()) } else { line }
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}
