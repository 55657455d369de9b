//! Search: the next place that holds the words, in a pane or among the events.

use crate::tui::keymap::ScreenState;
use crate::tui::model::{Model, Pane};

/// To the next place that holds the words: in the pane that is looked at, else among the events.
pub fn find(model: &mut Model, forward: bool) {
    let words = model.words.clone();
    if words.is_empty() {
        model.notice = Some("No search text. Press / to search.".to_owned());
        return;
    }
    let is_text = !matches!(model.focus, Pane::Seats | Pane::Events);
    let is_found = if is_text {
        let pane = model.focus;
        let found = crate::tui::view::find(model, pane, &words, forward);
        if let Some(line) = found {
            model.scroll[pane.index()] = line;
        }
        found.is_some()
    } else if model.screen_state() == ScreenState::Replay {
        model.replay.find(&words, forward)
    } else {
        find_back(model, &words, forward)
    };
    if !is_found {
        let where_to = if forward { "after" } else { "before" };
        model.notice = Some(format!("No match for “{words}” {where_to} here."));
    }
}

/// In a session at work the events are read from the newest back, and are not walked.
fn find_back(model: &mut Model, words: &str, forward: bool) -> bool {
    let words = words.to_lowercase();
    let newest = model.replay.at();
    let here = model.scroll[Pane::Events.index()];
    let holds = |back: &usize| {
        model.replay.text(newest - 1 - back).is_some_and(|t| t.to_lowercase().contains(&words))
    };
    let found =
        if forward { (0..here.min(newest)).rev().find(holds) } else { (here + 1..newest).find(holds) };
    // From the newest event on, forward begins again at the oldest.
    let found = found.or_else(|| (0..newest).find(holds).filter(|_| here == 0));
    let Some(back) = found else { return false };
    model.focus = Pane::Events;
    model.scroll[Pane::Events.index()] = back;
    true
}
