//! The reveal: what was decided first, then the votes, then what was said.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::tally;
use crate::core::{Deciding, deciding};
use crate::history::{RoundRun, Tally};
use crate::insight::headline;
use crate::insight::headline::rehearsal_mark;
use crate::insight::movement::movement;
use crate::insight::round_view::{self, dissents, seats};
use crate::insight::wording::turnout;
use crate::sanitize::harmless_line;
use crate::tally::Tier;
use crate::tui::cell_text::cut_middle;
use crate::tui::keymap::ScreenState;
use crate::tui::model::{Mode, Model, Pane};

/// The narrowest screen with two columns.
const TWO_COLUMNS: u16 = 90;
/// The narrowest screen with the names beside the answer.
const NAMES_BESIDE: u16 = 60;
/// The lowest body with the votes over the answer.
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
    let beside = match model.focus {
        Pane::Seats | Pane::Tally | Pane::Checks => Pane::Answer,
        focus @ (Pane::Question
        | Pane::Answer
        | Pane::Snapshot
        | Pane::Events
        | Pane::Steps
        | Pane::Results) => focus,
    };
    if area.width >= TWO_COLUMNS {
        let columns = [Constraint::Percentage(49), Constraint::Percentage(51)];
        let [left, right] = Layout::horizontal(columns).areas(area);
        // The seats that fit below the votes are seen; of many a third of the height.
        let seats = height(model.seat_count()).min((area.height / 3).max(5));
        let votes = height(tally::lines(model, left.width.saturating_sub(2)).len());
        let votes = votes.clamp(3, left.height.saturating_sub(seats).max(3));
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
    let inner = area.width.saturating_sub(2);
    // The votes alone, until the rest of the count is looked at.
    let over = if model.focus == Pane::Tally {
        tally::lines(model, inner).len()
    } else {
        round(model).map_or(0, |round| tally::head(model, round, usize::from(inner)).len())
    };
    let most = if model.focus == Pane::Tally { area.height * 2 / 3 } else { area.height * 9 / 20 };
    let rows = [Constraint::Length(height(over).clamp(3, most.max(3))), Constraint::Min(3)];
    let [over, under] = Layout::vertical(rows).areas(area);
    let name = |name: &String| harmless_line(name).width();
    let longest = round(model).and_then(|round| round.seats.keys().map(name).max()).unwrap_or(0);
    let names = u16::try_from(longest + 5).unwrap_or(u16::MAX).clamp(14, (area.width / 3).max(14));
    let [left, right] = Layout::horizontal([Constraint::Length(names), Constraint::Min(30)]).areas(under);
    vec![(Pane::Tally, over), (Pane::Seats, left), (Pane::Answer, right)]
}

fn height(lines: usize) -> u16 {
    u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(2)
}

/// Two lines: where the session stands, and what the round came to.
pub fn header(frame: &mut Frame<'_>, area: Rect, model: &Model, round: &RoundRun) {
    let width = usize::from(area.width);
    let [first, second] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(area);
    frame.render_widget(Paragraph::new(state(model, round, width)), first);
    let (left, right) = numbers(model, round, width);
    frame.render_widget(Paragraph::new(spread(left, right, width)), second);
}

/// The question and the round, and at the right the reveal among the steps of a round.
fn state(model: &Model, round: &RoundRun, width: usize) -> Line<'static> {
    let theme = model.theme;
    let dash = theme.sign("─", "-");
    let columns = u16::try_from(width).unwrap_or(u16::MAX);
    let phase = super::phase::phase_words(model, Some(&round.opened.step), columns);
    let right = if width < 70 || phase.is_some() && width < 100 {
        vec![Span::styled(format!("[3 REVEAL] r{} ", round.opened.number), theme.good())]
    } else {
        let rest = Span::raw(format!("1 draft {dash} 2 open {dash}"));
        vec![rest, Span::styled("[3 REVEAL] ", theme.good())]
    };
    let mut rest: Vec<Span<'static>> = phase.map(Span::from).into_iter().collect();
    if width >= 70 && (rest.is_empty() || model.rounds_back > 0) {
        let number = round.opened.number;
        let of = model.session().rounds.len();
        let is_back = model.rounds_back > 0;
        let text =
            if is_back { format!(" · round {number} of {of}") } else { format!(" · round {number}") };
        rest.push(Span::styled(text, if is_back { theme.active() } else { theme.strong() }));
    }
    let said = Line::from(rest.clone()).width() + Line::from(right.clone()).width();
    let label = match model.mode {
        Mode::Replay if width < 60 => " REPLAY ",
        Mode::Replay => " REPLAY · ",
        Mode::Home | Mode::Live(_) => " ",
    };
    let used = said + label.width() + 2;
    let name = cut_middle(&name(model, round), width.saturating_sub(used));
    let mut left = vec![Span::styled(label, theme.key()), Span::styled(name, theme.strong())];
    left.extend(rest);
    spread(left, right, width)
}

/// What a session is called on the screen: its question.
fn name(model: &Model, round: &RoundRun) -> String {
    let session = model.session();
    let question = round.opened.question.lines().next().filter(|line| !line.trim().is_empty());
    let id = || session.definition.as_ref().map_or("", |definition| definition.id.as_str());
    rehearsal_mark(session).to_owned() + &harmless_line(question.unwrap_or_else(id))
}

/// The outcome at the left; at the right quorum, strength, who disagreed, who changed.
fn numbers(model: &Model, round: &RoundRun, width: usize) -> (Vec<Span<'static>>, Vec<Span<'static>>) {
    let theme = model.theme;
    let session = model.session();
    let over = session.closed.as_ref().filter(|_| model.rounds_back == 0);
    let otherwise = over.and_then(|_| match deciding(session)? {
        Deciding::Round(_) => None,
        Deciding::Person(..) | Deciding::NotHeld(..) | Deciding::NoneHeld => crate::report::outcome(session),
    });
    let Some(tally) = round_view::tally(round) else {
        let text = otherwise.unwrap_or_else(|| "closed, not counted".to_owned());
        return (vec![Span::styled(format!(" {}", harmless_line(&text)), theme.bad())], Vec::new());
    };
    let good = otherwise.is_none() && (tally.decided || tally.rule.is_none());
    let (sign, style) = if good { (theme.sign("✓", "+"), theme.good()) } else { ("!", theme.bad()) };
    let made = headline(session, round, tally);
    let label = otherwise.unwrap_or(made.label);
    let right = counted(model, round, tally, width);
    let room = width.saturating_sub(right.width() + 4);
    let label = harmless_line(&label);
    let both = format!("{label}. {}", harmless_line(&made.sentence));
    let said = if both.width() <= room { both } else { cut_middle(&label, room.max(20)) };
    (vec![Span::styled(format!(" {sign} {said}"), style)], vec![Span::raw(format!("{right} "))])
}

fn counted(model: &Model, round: &RoundRun, tally: &Tally, width: usize) -> String {
    let theme = model.theme;
    if width < 60 {
        return format!("{}/{}", tally.answered, tally.asked);
    }
    let quorum = if tally.quorum_met { theme.sign("✓", "met") } else { theme.sign("✗", "NOT MET") };
    let mut parts = Vec::new();
    if width >= 100 {
        parts.push(turnout(tally));
    }
    parts.push(format!("quorum {quorum}"));
    if let Some(tier) = tally.tier.filter(|tier| *tier > Tier::None) {
        parts.push(tier.name().to_owned());
    }
    let winners = round_view::winners(model.session(), round);
    match seats(model.session(), round).filter(|seat| dissents(seat, &winners)).count() {
        0 => {}
        1 => parts.push("1 disagrees".to_owned()),
        count => parts.push(format!("{count} disagree")),
    }
    if let Some(moved) = movement(model.session(), round).filter(|moved| !moved.moves.is_empty()) {
        parts.push(format!("{} changed", moved.moves.len()));
    }
    let spent = model.session().spent(&|name| model.session().price(name));
    if spent.dollars > 0.0 && width >= 75 {
        parts.push(format!("${:.4}", spent.dollars));
    }
    parts.join(" · ")
}

/// A line with one part at its left and one at its right end; the right one gives way.
pub fn spread(mut left: Vec<Span<'static>>, right: Vec<Span<'static>>, width: usize) -> Line<'static> {
    let (used, wanted) = (Line::from(left.clone()).width(), Line::from(right.clone()).width());
    if used + wanted < width {
        left.push(Span::raw(" ".repeat(width - used - wanted)));
        left.extend(right);
    }
    Line::from(left)
}
