//! The reveal: what was decided first, then the votes, then what was said.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;

use super::{frame, seats, tally};
use crate::history::RoundRun;
use crate::insight::round_view;
use crate::sanitize::harmless;
use crate::tui::cell_text::wrapped;
use crate::tui::keymap::ScreenState;
use crate::tui::model::{Model, Pane};

const TWO_COLUMNS: u16 = 90;
/// The narrowest screen with the names beside the answer.
const NAMES_BESIDE: u16 = 60;
const TWO_ROWS: u16 = 15;

/// The round that is shown, where its answers may be read and nothing else is wanted of the facilitator.
pub fn round(model: &Model) -> Option<&RoundRun> {
    let is_elsewhere = match model.screen_state() {
        ScreenState::Home | ScreenState::Draft | ScreenState::Question => true,
        ScreenState::Open | ScreenState::Revealed | ScreenState::Closed | ScreenState::Replay => false,
    };
    let round = model.shown_round().filter(|_| !is_elsewhere || model.rounds_back > 0)?;
    round_view::is_revealed(round).then_some(round)
}

/// The panes of a reveal: the votes over the seats, beside them the answer or what is looked at.
pub fn panes(area: Rect, model: &Model) -> Vec<(Pane, Rect)> {
    let (area, _) = with_yours(area, model);
    let beside = match model.focus {
        Pane::Seats | Pane::Tally | Pane::Checks => Pane::Answer,
        focus @ (Pane::Question | Pane::Answer | Pane::Snapshot | Pane::Events | Pane::Steps) => focus,
    };
    if area.width >= TWO_COLUMNS {
        let columns = [Constraint::Percentage(49), Constraint::Percentage(51)];
        let [left, right] = Layout::horizontal(columns).areas(area);
        // The seats that fit below the votes are seen; of many a third of the height.
        let of_seats = frame::height(model.seat_count()).min((area.height / 3).max(5));
        let votes = frame::height(tally::lines(model, frame::inner(left).width).len());
        let votes = votes.clamp(3, left.height.saturating_sub(of_seats).max(3));
        let [over, under] = Layout::vertical([Constraint::Length(votes), Constraint::Min(3)]).areas(left);
        return vec![(Pane::Tally, over), (Pane::Seats, under), (beside, right)];
    }
    if area.width < NAMES_BESIDE
        || area.height < TWO_ROWS
        || !matches!(model.focus, Pane::Seats | Pane::Tally | Pane::Answer)
    {
        // Of a few seats the arrows lead through the answers; many are a list.
        let is_answer = model.focus == Pane::Seats && !model.has_many_seats();
        return vec![(if is_answer { Pane::Answer } else { model.focus }, area)];
    }
    let inner = frame::inner(area).width;
    // The votes alone, until the rest of the count is looked at.
    let over = if model.focus == Pane::Tally {
        tally::lines(model, inner).len()
    } else {
        round(model).map_or(0, |round| tally::head(model, round, usize::from(inner)).len())
    };
    let most = if model.focus == Pane::Tally { area.height * 2 / 3 } else { area.height / 2 };
    let rows = [Constraint::Length(frame::height(over).clamp(3, most.max(3))), Constraint::Min(3)];
    let [over, under] = Layout::vertical(rows).areas(area);
    let wanted = round(model).map_or(0, seats::counted_width);
    let names = wanted.clamp(14, (area.width / 2).saturating_sub(1).max(14));
    let [left, right] = Layout::horizontal([Constraint::Length(names), Constraint::Min(30)]).areas(under);
    vec![(Pane::Tally, over), (Pane::Seats, left), (Pane::Answer, right)]
}

/// What is left of the body, and below it the place of what the facilitator said of the round.
pub fn with_yours(area: Rect, model: &Model) -> (Rect, Option<Rect>) {
    let lines = yours(model, frame::inner(area).width).len();
    if lines == 0 || area.height < TWO_ROWS {
        return (area, None);
    }
    let height = frame::height(lines);
    let below = Rect { y: area.bottom() - height, height, ..area };
    (Rect { height: area.height - height, ..area }, Some(below))
}

/// The facilitator's note on the round, and whether its result was adopted.
pub fn yours(model: &Model, width: u16) -> Vec<Line<'static>> {
    const MOST_LINES: usize = 2;
    let Some(round) = round(model) else { return Vec::new() };
    let session = model.session();
    let mut said: Vec<String> = round.synthesis.iter().map(|note| format!("note: {note}")).collect();
    match session.approval_of(Some(round)) {
        Some(asked) => {
            let word = if asked.given.approved { "adopted" } else { "rejected" };
            let why = asked.given.comment.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            said.push(format!("{word} by {}{why}", asked.given.approver()));
        }
        None if session.closed.is_some() && !round_view::winners(session, round).is_empty() => {
            said.push("recommended by the seats; adopted by nobody".to_owned());
        }
        None => {}
    }
    let wrapped = |text: &String| wrapped(&harmless(text).replace('\n', " "), usize::from(width), MOST_LINES);
    said.iter().flat_map(wrapped).map(Line::from).collect()
}
