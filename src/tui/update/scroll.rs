//! Scrolling: the panes, the list of the home screen, the texts over them.

use crate::tui::model::{Mode, Model, Overlay, Pane};

pub fn scroll(model: &mut Model, by: i32) {
    let moved = |at: usize, most: usize| {
        let at = i64::try_from(at).unwrap_or(i64::MAX).saturating_add(i64::from(by)).max(0);
        usize::try_from(at).unwrap_or(0).min(most)
    };
    if matches!(model.mode, Mode::Home) {
        model.home.at = moved(model.home.at, model.home.shown().len().saturating_sub(1));
    } else if model.focus == Pane::Seats {
        let order = model.seat_order();
        let at = order.iter().position(|seat| *seat == model.seat).unwrap_or(0);
        model.seat = order.get(moved(at, order.len().saturating_sub(1))).copied().unwrap_or(0);
        model.scroll[Pane::Answer.index()] = 0;
    } else {
        scroll_pane(model, model.focus, by);
    }
}

pub fn scroll_pane(model: &mut Model, pane: Pane, by: i32) {
    // Events are read from the newest back: up is further back.
    let by = if pane == Pane::Events { -by } else { by };
    let most = crate::tui::view::max_scroll(model, pane);
    let scroll = &mut model.scroll[pane.index()];
    *scroll = (*scroll).min(most).saturating_add_signed(by as isize).min(most);
}

/// The wheel over a pane, or over the list of the home screen.
pub fn wheel(model: &mut Model, pane: Option<Pane>, lines: i32) {
    let most = crate::tui::view::most_text(model);
    match (&mut model.overlay, pane) {
        (Some(Overlay::Text(read)), _) => {
            let to = read.scroll.min(most).saturating_add_signed(isize::try_from(lines).unwrap_or(0));
            read.scroll = to.min(most);
        }
        (Some(_), _) => {}
        (None, Some(Pane::Seats) | None) => scroll(model, lines.signum()),
        (None, Some(pane)) => scroll_pane(model, pane, lines),
    }
}
