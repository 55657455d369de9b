//! Search in all texts that may be read on this screen.

use crate::tui::frame::Pane;
use crate::tui::model::{Model, SearchHit};
use crate::tui::panes::answer::seat_text;
use crate::tui::screen::{find_lines, max_scroll, pane_text};

/// Maximum bytes to search, so that a key is answered at once.
const MOST_BYTES: usize = 16 << 20;

/// Goes to the next occurrence of the words, starting from the focused text; wraps around.
pub fn find(model: &mut Model, forward: bool) {
    let words = model.words.clone();
    if words.is_empty() {
        model.notice = Some("No search text. Press / to search.".to_owned());
        return;
    }
    let shown = model.rounds_back;
    let (hits, is_whole) = hits(model, &words);
    model.rounds_back = shown;
    let Some(at) = next(model, &hits, forward) else {
        model.notice = Some(format!("No match for “{words}” here. Press / for other words."));
        return;
    };
    go_to(model, hits[at], &words);
    let more = if is_whole { "" } else { "+" };
    model.notice = Some(format!("{} of {}{more} matches of “{words}”", at + 1, hits.len()));
}

/// Returns every occurrence from the first round on, and whether all text was searched.
/// Changes the shown round; the caller restores it.
fn hits(model: &mut Model, words: &str) -> (Vec<SearchHit>, bool) {
    let words = words.to_lowercase();
    let (mut found, mut read) = (Vec::new(), 0);
    let here = model.rounds_back;
    for back in (0..model.newest_round().max(1)).rev() {
        model.rounds_back = back;
        let seats = if model.preview().is_some() { 0 } else { model.seat_count() };
        let focused =
            Some(model.focus).filter(|pane| matches!(pane, Pane::Tally | Pane::Steps) && back == here);
        let panes = [Pane::Question, Pane::Snapshot].into_iter().map(|pane| (pane, 0));
        let answers = (0..seats).map(|seat| (Pane::Answer, seat));
        for (pane, seat) in panes.chain(answers).chain(focused.map(|pane| (pane, 0))) {
            let text = match pane {
                Pane::Answer => seat_text(model, seat).unwrap_or_default(),
                pane => pane_text(model, pane, u16::MAX),
            };
            read += text.len();
            let count = text.to_lowercase().matches(&words).count();
            found.extend((0..count).map(|nth| SearchHit { back, pane, seat, nth }));
            if read > MOST_BYTES {
                return (found, false);
            }
        }
    }
    (found, true)
}

/// Returns the index of the next or previous hit; the first time, the hit nearest to the focused text.
fn next(model: &Model, hits: &[SearchHit], forward: bool) -> Option<usize> {
    let last = hits.len().checked_sub(1)?;
    if let Some(at) = model.hit.and_then(|hit| hits.iter().position(|other| *other == hit)) {
        return Some(if forward { (at + 1) % hits.len() } else { at.checked_sub(1).unwrap_or(last) });
    }
    let in_round = |hit: &SearchHit| hit.back == model.rounds_back;
    let is_near = |hit: &SearchHit| match model.focus {
        Pane::Seats | Pane::Answer => hit.pane == Pane::Answer && hit.seat >= model.seat,
        pane => hit.pane == pane,
    };
    let near = hits.iter().position(|hit| in_round(hit) && is_near(hit));
    Some(near.or_else(|| hits.iter().position(in_round)).unwrap_or(0))
}

fn go_to(model: &mut Model, hit: SearchHit, words: &str) {
    (model.rounds_back, model.focus, model.hit) = (hit.back, hit.pane, Some(hit));
    if hit.pane == Pane::Answer {
        model.seat = hit.seat;
    }
    let lines = find_lines(model, hit.pane, words);
    // A match across a line break is in the text but in no line.
    let line = lines.get(hit.nth).or(lines.last()).copied().unwrap_or(0);
    model.scroll[hit.pane as usize] = line.saturating_sub(2).min(max_scroll(model, hit.pane));
}
