//! A pane: its frame, and the part of its lines that is seen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::click_map::{ClickMap, Target};
use super::content::{lines, title};
use super::frame::Heading;
use super::layout::{panes, rows, with_agenda};
use super::reading::{highlighted, position};
use super::{agenda, answer, frame, reveal, seats, tally};
use crate::tui::cell_text::{safe, without_cut_number};
use crate::tui::model::{AnswerLayout, Mode, Model, Pane};

/// Draws the panes that are seen, and the agenda beside them.
pub fn draw_all(frame: &mut Frame<'_>, area: Rect, model: &Model, hits: &mut ClickMap) {
    let (panes, beside) = with_agenda(area, model);
    for (pane, place) in panes {
        draw(frame, place, model, pane, hits);
    }
    if let Some(place) = beside {
        agenda::draw(frame, place, model, hits);
    }
    if let Some(place) = reveal::with_yours(area, model).1 {
        let lines = reveal::yours(model, frame::inner(place).width);
        frame::draw(frame, place, model.theme, &Heading::of("yours"), lines);
    }
}

fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, pane: Pane, hits: &mut ClickMap) {
    let inner = frame::inner(area);
    let height = usize::from(inner.height);
    let scroll = model.scroll[pane.index()];
    hits.note(area, Target::Pane(pane));
    let mut note = String::new();
    let (title, shown) = match pane {
        Pane::Seats => seats::pane(model, inner, hits),
        Pane::Events => events(model, scroll, usize::from(inner.width), height),
        text => {
            let all = lines(model, text, inner.width);
            let count = all.len();
            let start = scroll.min(count.saturating_sub(height));
            note = position(start, height, count);
            (title(model, text), from(all, start, height))
        }
    };
    let shown: Vec<Line<'static>> = shown.into_iter().map(|line| highlighted(line, &model.words)).collect();
    let heading = Heading { title, note, is_focused: model.focus == pane };
    frame::draw(frame, area, model.theme, &heading, shown);
}

/// The lines of a pane that are seen: at most `height` from `scroll` on, the last page at least.
fn from(lines: Vec<Line<'static>>, scroll: usize, height: usize) -> Vec<Line<'static>> {
    let start = scroll.min(lines.len().saturating_sub(height));
    lines.into_iter().skip(start).take(height).collect()
}

/// Whether answers fill the screen, as many as fit beside each other.
pub fn is_side_by_side(model: &Model) -> bool {
    let is_spread = model.answer_layout == AnswerLayout::SideBySide && model.focus == Pane::Answer;
    is_spread && model.preview().is_none()
}

fn body(model: &Model) -> Rect {
    let (width, height) = model.size;
    rows(Rect { x: 0, y: 0, width, height }, model)[1]
}

/// Where a pane is on the screen, or would be if it were looked at.
fn place(model: &Model, pane: Pane) -> Rect {
    let body = body(model);
    let all = panes(body, model);
    all.into_iter().find(|(other, _)| *other == pane).map_or(body, |(_, place)| place)
}

pub fn max_scroll(model: &Model, pane: Pane) -> usize {
    let inner = frame::inner(place(model, pane));
    let height = usize::from(inner.height);
    if pane == Pane::Answer && model.answer_layout == AnswerLayout::SideBySide {
        return answer::most_beside(model, body(model));
    }
    match pane {
        Pane::Seats => 0,
        Pane::Events => model.replay.at().saturating_sub(1),
        text => lines(model, text, inner.width).len().saturating_sub(height),
    }
}

/// The lines of a pane of text that hold `words`, each as often as it does.
pub fn find_lines(model: &Model, pane: Pane, words: &str) -> Vec<usize> {
    let width = frame::inner(place(model, pane)).width;
    let words = words.to_lowercase();
    let count = |line: &Line<'_>| line.to_string().to_lowercase().matches(&words).count();
    let lines = lines(model, pane, width);
    lines.iter().enumerate().flat_map(|(index, line)| std::iter::repeat_n(index, count(line))).collect()
}

/// A pane of text, its lines as they are without a screen's edge.
pub fn text_lines(model: &Model, pane: Pane) -> Vec<String> {
    lines(model, pane, u16::MAX).iter().map(ToString::to_string).collect()
}

/// The pane that is looked at as plain text, unless it is a list.
pub fn pane_text(model: &Model) -> Option<String> {
    let text: Vec<String> = lines(model, model.focus, 200).iter().map(ToString::to_string).collect();
    Some(text.join("\n")).filter(|text| !text.trim().is_empty())
}

/// Title and short text of what is under the cursor: in the list of seats, the chosen seat.
pub fn seat_or_pane(model: &Model) -> (String, String) {
    let (pane, name) = match model.focus {
        Pane::Seats => (Pane::Answer, None),
        Pane::Events => (Pane::Events, Some(" Event ".to_owned())),
        pane => (pane, None),
    };
    let text: Vec<String> = lines(model, pane, 76).iter().map(ToString::to_string).collect();
    (name.unwrap_or_else(|| title(model, pane)), text.join("\n"))
}

pub fn tally_text(model: &Model) -> Option<String> {
    model.shown_round().and_then(crate::insight::round_view::tally)?;
    let text: Vec<String> = tally::lines(model, 100).iter().map(ToString::to_string).collect();
    Some(text.join("\n"))
}

/// The events up to the one shown, of those to come their number: title and lines.
fn events(model: &Model, scroll: usize, width: usize, height: usize) -> (String, Vec<Line<'static>>) {
    let replay = &model.replay;
    let text = |index: usize| replay.text(index).map(|text| (index, text));
    // What is still to come is not shown: the reveal happens as it happened.
    let mut shown: Vec<(usize, String)> =
        (0..replay.at()).rev().filter_map(text).skip(scroll).take(height.saturating_sub(1)).collect();
    shown.reverse();
    let is_replay = matches!(model.mode, Mode::Replay);
    let line = |(index, text): (usize, String)| {
        let text = format!("{:>5}  {}", replay.lines()[index].seq, safe(&text).replace('\n', " "));
        let text = without_cut_number(&text, width);
        let is_current = is_replay && index + 1 == replay.at();
        if is_current { Line::styled(text, model.theme.chosen()) } else { Line::from(text) }
    };
    let to_come = replay.len() - replay.at();
    let mut lines: Vec<Line<'static>> = shown.into_iter().map(line).collect();
    if to_come > 0 {
        let text = format!("{} {to_come} later events", model.theme.sign("…", "..."));
        lines.push(Line::styled(format!("       {text}"), model.theme.faint()));
    }
    (" Events ".to_owned(), lines)
}
