//! Layout of the screen: the visible panes and the overlay.
//!
//! Below 90 columns it shows one pane, or related panes above each other. Below 10 lines it shows no title.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph};

use super::frame::{self, Heading, Pane, popup};
use super::keys::ScreenState;
use super::model::{Ask, Mode, Model, Overlay};
use super::panes::{answer, checks, question, seats, snapshot, steps, votes};
use super::text::{highlighted, position};
use super::theme::ascii;
use super::{footer, form, header, home, replay};
use crate::core::questions;
use crate::history::RoundRun;
use crate::insight::independence::independence;
use crate::sanitize::harmless;

const TWO_COLUMNS: u16 = 90;
const TWO_ROWS: u16 = 16;
/// Minimum width and height of a screen with the names next to the answer.
const NAMES_BESIDE: u16 = 60;
const REVEAL_ROWS: u16 = 15;
/// Minimum height of a screen with a title.
const WITH_TITLE: u16 = 10;

pub fn draw(frame: &mut Frame<'_>, model: &Model) {
    let area = frame.area();
    if area.width < 24 || area.height < 6 {
        frame.render_widget(Paragraph::new("Too small:\n24x6 at\nleast"), area);
        return;
    }
    let [title, body, time, foot] = rows(area, model);
    match &model.mode {
        Mode::Home => home::draw(frame, title, body, &model.home, model.theme),
        Mode::Replay | Mode::Live(_) => {
            header::draw(frame, title, model);
            draw_body(frame, body, model);
            replay::draw(frame, time, &model.replay, model.theme);
        }
    }
    footer::draw(frame, foot, model);
    draw_overlay(frame, area, model);
    if model.theme.ascii {
        for cell in &mut frame.buffer_mut().content {
            if let Some(plain) = ascii(cell.symbol()) {
                cell.set_symbol(plain);
            }
        }
    }
}

/// Returns the areas of title, body, time line and footer; those without room are empty.
fn rows(area: Rect, model: &Model) -> [Rect; 4] {
    let title = match area {
        Rect { height: ..WITH_TITLE, .. } => 0,
        _ if matches!(model.mode, Mode::Home) => 2,
        _ => {
            let next = header::what_next(model, area.width, area.height).len();
            1 + u16::from(header::has_numbers(model)) + frame::cells(next)
        }
    };
    let time = u16::from(matches!(model.mode, Mode::Replay));
    let foot = footer::height(model, area.width).min((area.height / 3).max(1));
    let [title, time, foot] = [title, time, foot].map(Constraint::Length);
    Layout::vertical([title, Constraint::Min(3), time, foot]).areas(area)
}

fn draw_body(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    if model.is_side_by_side && model.focus == Pane::Answer && model.preview().is_none() {
        for (place, seat) in answer::columns(model, body) {
            draw_pane(frame, place, model, Pane::Answer, seat);
        }
        return;
    }
    for (pane, place) in places(body, model) {
        draw_pane(frame, place, model, pane, model.seat);
    }
}

/// Draws a pane; the answer pane shows the answer of `seat`.
fn draw_pane(frame: &mut Frame<'_>, area: Rect, model: &Model, pane: Pane, seat: usize) {
    let inner = frame::inner(area);
    let height = usize::from(inner.height);
    let scroll = model.scroll[pane as usize];
    let mut note = String::new();
    let (title, shown) = match pane {
        Pane::Seats if model.seat_count() == 0 => {
            ("Question".to_owned(), question::lines(model, inner.width))
        }
        Pane::Seats => seats::pane(model, inner),
        text => {
            let all = lines(model, text, seat, inner.width);
            let start = scroll.min(all.len().saturating_sub(height));
            note = position(start, height, all.len());
            (title(model, text, seat, inner.width), all.into_iter().skip(start).take(height).collect())
        }
    };
    let shown = shown.into_iter().map(|line| highlighted(line, &model.words)).collect();
    let is_focused = model.focus == pane && seat == model.seat;
    let heading = Heading { title, note, is_focused };
    frame::draw(frame, area, model.theme, &heading, shown);
}

pub fn title(model: &Model, pane: Pane, seat: usize, room: u16) -> String {
    match pane {
        Pane::Question => question::title(model),
        Pane::Answer => answer::title(model, seat, usize::from(room.saturating_sub(2))),
        Pane::Snapshot => snapshot::title(model),
        Pane::Steps => "Steps".to_owned(),
        Pane::Checks => checks::title(model),
        Pane::Seats | Pane::Tally => match (model.revealed(), model.shown_round()) {
            (Some(round), _) if model.preview().is_none() => format!("Votes · {}", votes::unit(round)),
            (_, Some(round)) if round.closed.is_none() => seats::card_title(model),
            _ => "Tally".to_owned(),
        },
    }
}

/// Returns all lines of a text pane; the answer pane shows the answer of `seat`.
fn lines(model: &Model, pane: Pane, seat: usize, width: u16) -> Vec<Line<'static>> {
    match pane {
        Pane::Question => question::lines(model, width),
        Pane::Tally => votes::lines(model, width),
        Pane::Answer => answer::lines(model, seat, width),
        Pane::Snapshot => snapshot::lines(model, width),
        Pane::Steps => steps::lines(model, width),
        Pane::Checks => checks::lines(model, width),
        Pane::Seats => Vec::new(),
    }
}

fn places(area: Rect, model: &Model) -> Vec<(Pane, Rect)> {
    let (main, is_wide) = (main_panes(model), area.width >= TWO_COLUMNS);
    if let Some(round) = model.revealed().filter(|_| !is_wide) {
        return reveal(area, model, round);
    }
    if !is_wide {
        if area.height < TWO_ROWS || !main.contains(&model.focus) {
            return vec![(model.focus, area)];
        }
        return column(area, model, &main);
    }
    let share = if model.session().open_round().is_some() { 60 } else { 49 };
    let [left, right] = Layout::horizontal([Constraint::Percentage(share), Constraint::Fill(1)]).areas(area);
    let beside = right_panes(model, &main);
    let left_panes: Vec<Pane> = main.into_iter().filter(|pane| !beside.contains(pane)).collect();
    let mut panes = column(left, model, &left_panes);
    panes.extend(column(right, model, &beside));
    panes
}

/// Returns the panes of the left column, the most important first.
fn main_panes(model: &Model) -> Vec<Pane> {
    let has_rounds = !model.session().rounds.is_empty();
    let is_open = model.session().open_round().is_some();
    match model.screen_state() {
        ScreenState::Draft if model.preview().is_some() => vec![Pane::Question, Pane::Seats, Pane::Checks],
        _ if !has_rounds => vec![Pane::Steps],
        _ if is_open => vec![Pane::Seats, Pane::Tally, Pane::Question],
        _ => vec![Pane::Tally, Pane::Seats],
    }
}

/// Returns the panes of the right column: the focused one, else the most important now.
fn right_panes(model: &Model, main: &[Pane]) -> Vec<Pane> {
    let is_open = model.session().open_round().is_some() && model.preview().is_none();
    if is_open && main.contains(&model.focus) {
        return vec![Pane::Question, Pane::Snapshot];
    }
    if !main.contains(&model.focus) {
        return vec![model.focus];
    }
    vec![match model.screen_state() {
        ScreenState::Draft if model.preview().is_some() => Pane::Snapshot,
        ScreenState::Question => Pane::Question,
        _ if model.session().rounds.is_empty() => Pane::Question,
        _ => Pane::Answer,
    }]
}

/// Stacks panes, each as high as its content. The text pane gets spare lines. If lines are missing, the highest
/// panes shrink, and the last ones are dropped.
fn column(area: Rect, model: &Model, all: &[Pane]) -> Vec<(Pane, Rect)> {
    const LEAST: u16 = 3;
    let shown = &all[..all.len().min(usize::from(area.height / LEAST).max(1))];
    let width = frame::inner(area).width;
    let lines = |pane: Pane| match pane {
        Pane::Seats => model.seat_count(),
        other => lines(model, other, model.seat, width).len(),
    };
    let wanted = |pane: &Pane| frame::height(lines(*pane)).clamp(LEAST, area.height.max(LEAST));
    let mut heights: Vec<u16> = shown.iter().map(wanted).collect();
    let place = |read: &Pane| shown.iter().position(|pane| pane == read);
    let read = [Pane::Snapshot, Pane::Question].iter().find_map(place).unwrap_or(shown.len() - 1);
    while heights.iter().sum::<u16>() > area.height {
        let Some(most) = heights.iter_mut().max() else { break };
        *most -= 1;
    }
    heights[read] += area.height - heights.iter().sum::<u16>();
    let places = Layout::vertical(heights.into_iter().map(Constraint::Length)).split(area);
    shown.iter().copied().zip(places.iter().copied()).collect()
}

/// Returns the panes of a reveal on a narrow screen: the votes, below them the seats and the answer.
fn reveal(area: Rect, model: &Model, round: &RoundRun) -> Vec<(Pane, Rect)> {
    let is_one = !matches!(model.focus, Pane::Seats | Pane::Tally | Pane::Answer);
    if is_one || area.width < NAMES_BESIDE || area.height < REVEAL_ROWS {
        let is_list = model.session().closed.is_some() && questions(model.session()).len() > 1;
        let first = if is_list { Pane::Tally } else { Pane::Answer };
        return vec![(if model.focus == Pane::Seats { first } else { model.focus }, area)];
    }
    let inner = frame::inner(area).width;
    // Only the votes; the focused pane also shows how they were counted.
    let (votes, most) = if model.focus == Pane::Tally {
        (votes::lines(model, inner), area.height * 2 / 3)
    } else {
        let found = independence(model.session(), round);
        (votes::head(model, usize::from(inner), found.as_ref()), area.height / 2)
    };
    let rows = [Constraint::Length(frame::height(votes.len()).clamp(3, most.max(3))), Constraint::Min(3)];
    let [over, under] = Layout::vertical(rows).areas(area);
    let names = seats::counted_width(round).clamp(14, (area.width / 2 + 2).max(14));
    let [left, right] = Layout::horizontal([Constraint::Length(names), Constraint::Min(30)]).areas(under);
    vec![(Pane::Tally, over), (Pane::Seats, left), (Pane::Answer, right)]
}

fn draw_overlay(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let (theme, notice) = (model.theme, model.notice.as_deref());
    match &model.overlay {
        None => {}
        Some(Overlay::Search(words)) => {
            let line = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
            frame.render_widget(Clear, line);
            let text = format!("/{}▏", harmless(words));
            frame.render_widget(Paragraph::new(Line::styled(text, theme.strong())), line);
        }
        Some(Overlay::Form(shown)) => form::draw(frame, area, shown, notice, theme),
        Some(Overlay::List(list)) => list.draw(frame, area, theme),
        Some(Overlay::Text(read)) => read.draw(frame, area, notice, theme),
        Some(Overlay::Ask(Ask { title, text, .. })) => {
            let width = area.width.min(64);
            let room = usize::from(width.saturating_sub(3));
            let lines = super::text::hanging(" ", text, room, 9, Style::new());
            let foot = Line::styled(" y yes · Esc no ", theme.key());
            popup(frame, area, theme, title, lines, foot, width);
        }
    }
}

/// Returns the area between the title and the footer.
fn body(model: &Model) -> Rect {
    let (width, height) = model.size;
    rows(Rect { x: 0, y: 0, width, height }, model)[1]
}

pub fn place(model: &Model, pane: Pane) -> Rect {
    let body = body(model);
    places(body, model).into_iter().find(|(other, _)| *other == pane).map_or(body, |(_, place)| place)
}

pub fn max_scroll(model: &Model, pane: Pane) -> usize {
    if pane == Pane::Answer && model.is_side_by_side {
        return answer::max_scroll_side_by_side(model, body(model));
    }
    let inner = frame::inner(place(model, pane));
    match pane {
        Pane::Seats => 0,
        text => lines(model, text, model.seat, inner.width).len().saturating_sub(usize::from(inner.height)),
    }
}

/// Returns the line numbers of a text pane with `words`, one per occurrence.
pub fn find_lines(model: &Model, pane: Pane, words: &str) -> Vec<usize> {
    let width = frame::inner(place(model, pane)).width;
    let words = words.to_lowercase();
    let count = |line: &Line<'_>| line.to_string().to_lowercase().matches(&words).count();
    let lines = lines(model, pane, model.seat, width);
    lines.iter().enumerate().flat_map(|(index, line)| std::iter::repeat_n(index, count(line))).collect()
}

/// Returns the text of a pane, wrapped at this width.
pub fn pane_text(model: &Model, pane: Pane, width: u16) -> String {
    lines(model, pane, model.seat, width).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
