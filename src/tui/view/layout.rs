//! Which panes are on the screen, and where.

use ratatui::layout::{Constraint, Layout, Rect};

use super::timeline::FRAMED;
use super::{agenda, content, frame};
use crate::tui::keymap::ScreenState;
use crate::tui::model::{Mode, Model, Pane};

const TWO_COLUMNS: u16 = 90;
const TWO_ROWS: u16 = 16;

/// The panes that are seen in `area`, each with its place.
pub fn panes(area: Rect, model: &Model) -> Vec<(Pane, Rect)> {
    with_agenda(area, model).0
}

/// The panes, and on a wide screen the place of the agenda, if there is one: below the panes at the right.
pub fn with_agenda(area: Rect, model: &Model) -> (Vec<(Pane, Rect)>, Option<Rect>) {
    const ABOVE: u16 = 8;
    let mut panes = all_panes(area, model);
    let is_last = |place: &Rect| place.x > area.x && place.bottom() == area.bottom();
    let above = panes.iter_mut().find(|(_, place)| area.width >= agenda::BESIDE && is_last(place));
    let Some((_, above)) = above.filter(|(_, place)| place.height >= 2 * ABOVE) else { return (panes, None) };
    let lines = agenda::lines(model, frame::inner(*above).width).len();
    if lines == 0 {
        return (panes, None);
    }
    let height = frame::height(lines).min(above.height / 2);
    above.height -= height;
    let place = Rect { y: above.bottom(), height, ..*above };
    (panes, Some(place))
}

fn all_panes(area: Rect, model: &Model) -> Vec<(Pane, Rect)> {
    if super::reveal::round(model).is_some() {
        return super::reveal::panes(area, model);
    }
    let main = main_panes(model);
    if area.width < TWO_COLUMNS {
        if area.height < TWO_ROWS || !main.contains(&model.focus) {
            return vec![(model.focus, area)];
        }
        return column(area, model, &main);
    }
    let share = if model.session().open_round().is_some() { 60 } else { 44 };
    let [left, right] = Layout::horizontal([Constraint::Percentage(share), Constraint::Fill(1)]).areas(area);
    let beside = beside(model, &main);
    let left_panes: Vec<Pane> = main.into_iter().filter(|pane| !beside.contains(pane)).collect();
    let mut panes = column(left, model, &left_panes);
    panes.extend(column(right, model, &beside));
    panes
}

/// The panes that belong over each other now, what matters most first.
fn main_panes(model: &Model) -> Vec<Pane> {
    match model.screen_state() {
        ScreenState::Draft if model.preview().is_some() => vec![Pane::Question, Pane::Seats, Pane::Checks],
        _ if model.session().rounds.is_empty()
            && model.live().is_none()
            && model.replay.coming().is_some() =>
        {
            vec![Pane::Question, Pane::Steps]
        }
        // Where nothing was asked of seats, the steps are what there is to see.
        _ if model.session().rounds.is_empty() => vec![Pane::Steps],
        _ if model.session().open_round().is_some() && model.has_many_seats() => {
            vec![Pane::Seats, Pane::Tally]
        }
        _ if model.session().open_round().is_some() => vec![Pane::Seats, Pane::Tally, Pane::Question],
        _ => vec![Pane::Tally, Pane::Seats],
    }
}

/// The panes beside them: the one that is looked at, else what matters most now.
fn beside(model: &Model, main: &[Pane]) -> Vec<Pane> {
    let is_open = model.session().open_round().is_some() && model.preview().is_none();
    if is_open && (main.contains(&model.focus) || model.focus == Pane::Events) {
        return vec![Pane::Question, Pane::Events];
    }
    if !main.contains(&model.focus) {
        return vec![model.focus];
    }
    vec![match model.screen_state() {
        ScreenState::Draft if model.preview().is_some() => Pane::Snapshot,
        ScreenState::Question => Pane::Question,
        _ if model.session().rounds.is_empty() => Pane::Events,
        _ => Pane::Answer,
    }]
}

/// Panes over each other, each as high as its content. What is left goes to the one that people read;
/// where there is too little, the highest give way, and the last are left out.
fn column(area: Rect, model: &Model, all: &[Pane]) -> Vec<(Pane, Rect)> {
    const LEAST: u16 = 3;
    let shown = &all[..all.len().min(usize::from(area.height / LEAST).max(1))];
    let width = frame::inner(area).width;
    let lines = |pane: Pane| match pane {
        Pane::Seats => model.seat_count(),
        Pane::Events => usize::from(area.height),
        other => content::lines(model, other, width).len(),
    };
    let wanted = |pane: &Pane| frame::height(lines(*pane)).max(LEAST);
    let mut heights: Vec<u16> = shown.iter().map(|pane| wanted(pane).min(area.height)).collect();
    let read = shown.iter().position(|pane| reads(model) == *pane).unwrap_or(shown.len() - 1);
    while heights.iter().sum::<u16>() > area.height {
        let Some(most) = heights.iter_mut().max() else { break };
        *most -= 1;
    }
    heights[read] += area.height - heights.iter().sum::<u16>();
    let rows: Vec<Constraint> = heights.into_iter().map(Constraint::Length).collect();
    let places = Layout::vertical(rows).split(area);
    shown.iter().copied().zip(places.iter().copied()).collect()
}

/// The pane with the text that people read now.
fn reads(model: &Model) -> Pane {
    match model.screen_state() {
        ScreenState::Draft | ScreenState::Open => Pane::Question,
        ScreenState::Home
        | ScreenState::Question
        | ScreenState::Revealed
        | ScreenState::Closed
        | ScreenState::Replay => Pane::Tally,
    }
}

/// The lowest screen with a title, and with a line that says what comes next.
const WITH_TITLE: u16 = 10;
const WITH_NEXT: u16 = 14;

fn timeline(area: Rect, model: &Model) -> u16 {
    match model.mode {
        Mode::Home | Mode::Live(_) => 0,
        Mode::Replay if area.width < 60 || area.height < 22 => 1,
        Mode::Replay => FRAMED,
    }
}

/// Whether the title is a replay's, of a session that is not over at this moment.
pub fn is_replayed(model: &Model) -> bool {
    matches!(model.mode, Mode::Replay) && model.session().closed.is_none()
}

/// Whether there are numbers: where nothing was asked of seats yet there are none.
pub fn has_numbers(model: &Model) -> bool {
    model.preview().is_some() || !model.session().rounds.is_empty()
}

/// The lines of the screen: title, body, time line, footer; those without room are empty.
pub fn rows(area: Rect, model: &Model) -> [Rect; 4] {
    let title = match area {
        Rect { height: ..WITH_TITLE, .. } => 0,
        _ if matches!(model.mode, Mode::Home) => 2,
        _ => {
            let says_next = model.live().is_some() && area.height >= WITH_NEXT;
            1 + u16::from(has_numbers(model)) + u16::from(says_next)
        }
    };
    Layout::vertical([
        Constraint::Length(title),
        Constraint::Min(3),
        Constraint::Length(timeline(area, model)),
        Constraint::Length(super::footer::height(model, area.width).min((area.height / 3).max(1))),
    ])
    .areas(area)
}
