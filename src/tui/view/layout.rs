//! Which panes are on the screen, and where.

use ratatui::layout::{Constraint, Layout, Rect};

use super::content;
use crate::tui::keymap::ScreenState;
use crate::tui::model::{Mode, Model, Pane};

/// The narrowest screen with two columns.
const TWO_COLUMNS: u16 = 90;
/// The lowest body with two panes over each other.
const TWO_ROWS: u16 = 16;

/// The panes that are seen in `area`, each with its place.
pub fn panes(area: Rect, model: &Model) -> Vec<(Pane, Rect)> {
    let upper = upper(model);
    if area.width < TWO_COLUMNS {
        if area.height < TWO_ROWS || !upper.contains(&model.focus) {
            return vec![(model.focus, area)];
        }
        return stack(area, model, upper);
    }
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(44), Constraint::Percentage(56)]).areas(area);
    let mut panes = stack(left, model, upper);
    panes.push((beside(model, upper), right));
    panes
}

/// The two panes that belong over each other now.
fn upper(model: &Model) -> [Pane; 2] {
    match model.screen_state() {
        ScreenState::Draft if model.preview().is_some() => [Pane::Question, Pane::Seats],
        // Where nothing was asked of seats, the steps are what there is to see.
        _ if model.session().rounds.is_empty() => [Pane::Steps, Pane::Results],
        _ => [Pane::Seats, Pane::Tally],
    }
}

/// The pane beside them: the one that is looked at, else what matters most now.
fn beside(model: &Model, upper: [Pane; 2]) -> Pane {
    if !upper.contains(&model.focus) {
        return model.focus;
    }
    match model.screen_state() {
        ScreenState::Draft if model.preview().is_some() => Pane::Snapshot,
        ScreenState::Question => Pane::Question,
        _ if model.session().rounds.is_empty() => Pane::Events,
        ScreenState::Open if model.session().open_round().is_some() => Pane::Events,
        _ => Pane::Answer,
    }
}

fn stack(area: Rect, model: &Model, [top, bottom]: [Pane; 2]) -> Vec<(Pane, Rect)> {
    let width = area.width.saturating_sub(2);
    let lines = |pane: Pane| match pane {
        Pane::Seats => model.seat_count(),
        other => content::lines(model, other, width).len(),
    };
    let wanted = |pane: Pane| u16::try_from(lines(pane)).unwrap_or(u16::MAX).saturating_add(2);
    // Seats give way to what is beneath them, down to half of the room; a question to its seats.
    let most = area.height.saturating_sub(wanted(bottom).min(area.height / 2)).max(3);
    let rows = [Constraint::Length(wanted(top).clamp(3, most)), Constraint::Min(3)];
    let [over, under] = Layout::vertical(rows).areas(area);
    vec![(top, over), (bottom, under)]
}

/// The lowest screen with a title.
const WITH_TITLE: u16 = 10;
/// The narrowest screen whose title is one line.
const ONE_TITLE_LINE: u16 = 60;

/// The lines of the screen: title, body, time line, footer; those without room are empty.
pub fn rows(area: Rect, model: &Model) -> [Rect; 4] {
    let title = match area {
        Rect { height: ..WITH_TITLE, .. } => 0,
        Rect { width: ..ONE_TITLE_LINE, .. } => 2,
        _ => 1,
    };
    let has_line = matches!(model.mode, Mode::Replay);
    Layout::vertical([
        Constraint::Length(title),
        Constraint::Min(3),
        Constraint::Length(u16::from(has_line)),
        Constraint::Length(1),
    ])
    .areas(area)
}
