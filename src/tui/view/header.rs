//! The two lines at the top: what is asked and which state it is in; the numbers of that state.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::numbers::{clock, quorum};
use super::phase::{ALL_STATES, current_step, phase_words};
use crate::core::{Deciding, deciding};
use crate::history::{RoundRun, Session};
use crate::insight::headline;
use crate::insight::headline::rehearsal_mark;
use crate::insight::wording::{pluralize, turnout};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::clipped_middle;
use crate::tui::model::{Mode, Model};

/// The narrowest screen that shows all three states.
const WIDE: u16 = 60;
/// The widest gauge, in cells.
const GAUGE: usize = 12;
/// The last seconds before a deadline look different.
const LAST_SECONDS: u64 = 10;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    if area.height == 0 {
        return;
    }
    if let Some(round) = super::reveal::round(model).filter(|_| area.height == 2) {
        return super::reveal::header(frame, area, model, round);
    }
    if area.height == 2 && super::layout::is_replayed(model) {
        return super::replay_header::draw(frame, area, model);
    }
    let [first, second] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let right = track(model, first.width);
    let room = usize::from(first.width).saturating_sub(right.width());
    let left = name(model, room, first.width);
    ends(frame, first, left, right);
    if !second.is_empty() {
        let (left, right) = numbers(model, second.width);
        ends(frame, second, left, right);
    }
}

/// A line with a left and a right part; the right one gives way before the left one is covered.
fn ends(frame: &mut Frame<'_>, area: Rect, left: Line<'static>, right: Line<'static>) {
    let fits = left.width() + right.width() <= usize::from(area.width);
    frame.render_widget(Paragraph::new(left), area);
    if fits {
        frame.render_widget(Paragraph::new(right).alignment(Alignment::Right), area);
    }
}

/// What is asked, or the name of the session, in this many columns; the words behind it stay whole.
fn name(model: &Model, room: usize, width: u16) -> Line<'static> {
    let is_wide = width >= WIDE;
    let (session, theme) = (model.session(), model.theme);
    let question = match (model.preview(), session.rounds.last()) {
        (Some(preview), _) => Some(preview.opened.question.as_str()),
        (None, round) => round.map(|round| round.opened.question.as_str()),
    };
    let id = session.definition.as_ref().map_or("replay", |definition| definition.id.as_str());
    let text = question.and_then(|text| text.lines().next()).filter(|line| !line.trim().is_empty());
    let text = rehearsal_mark(session).to_owned() + &harmless_line(text.unwrap_or(id));
    let number = model.preview().map(|preview| preview.opened.number);
    let number = number.or_else(|| session.rounds.last().map(|round| round.opened.number));
    let mut rest: Vec<Span<'static>> = Vec::new();
    if matches!(model.mode, Mode::Replay) {
        rest.push(" · replay".into());
    }
    let phase = phase_words(model, current_step(model), width);
    match (number, &session.step) {
        _ if phase.is_some() => rest.extend(phase.map(Span::from)),
        (Some(number), _) if is_wide => rest.push(format!(" · round {number}").into()),
        (Some(number), _) => rest.push(format!(" r{number} ").into()),
        (None, Some(run)) => rest.push(format!(" · step {}", harmless_line(&run.id)).into()),
        (None, None) => {}
    }
    let used = Line::from(rest.clone()).width() + 2;
    let room = room.saturating_sub(used).max(8);
    let text = if text.width() > room { clipped_middle(&text, room) } else { text };
    let mut spans = vec![Span::styled(format!(" {text}"), theme.strong())];
    spans.extend(rest);
    Line::from(spans)
}

/// The three states of a round, the one it is in marked; a narrow line with a phase shows that one alone.
fn track(model: &Model, width: u16) -> Line<'static> {
    let (session, theme) = (model.session(), model.theme);
    let at = match (model.preview(), session.rounds.last()) {
        (Some(_), _) => 0,
        (None, Some(round)) if round.closed.is_none() => 1,
        (None, Some(_)) => 2,
        (None, None) => return Line::default(),
    };
    let words = ["draft", "open", "reveal"];
    let marked = |index: usize| format!("[{} {}]", index + 1, words[index].to_uppercase());
    let is_short = width < ALL_STATES && phase_words(model, current_step(model), width).is_some();
    if width < WIDE || is_short {
        return Line::styled(format!("{} ", marked(at)), theme.active());
    }
    let link = theme.sign("─", "-");
    let mut spans = Vec::new();
    for (index, word) in words.iter().enumerate() {
        spans.push(if index == at {
            Span::styled(marked(index), theme.active())
        } else {
            Span::styled(format!(" {} {word} ", index + 1), theme.faint())
        });
        if index < 2 {
            spans.push(Span::styled(link, theme.faint()));
        }
    }
    Line::from(spans)
}

/// What counts in this state, and what is said of it at the right.
fn numbers(model: &Model, width: u16) -> (Line<'static>, Line<'static>) {
    let (session, theme) = (model.session(), model.theme);
    if let Some(preview) = model.preview() {
        let seats = pluralize(preview.opened.seats.len(), "seat");
        let left = format!(" {seats} · quorum {} ", preview.opened.quorum);
        let each = if width < WIDE { "tokens/seat" } else { "tokens per seat" };
        let right = format!("~{} {each} ", preview.opened.estimated_tokens);
        return (left.into(), right.into());
    }
    // Once it is over the round that decides is spoken of, or why there is none.
    let over =
        session.closed.as_ref().and_then(|_| Some((deciding(session)?, crate::report::outcome(session)?)));
    let (mut last, mut over) = (session.rounds.last(), over);
    if let Some((Deciding::Round(round) | Deciding::Person(round, _), _)) = over {
        (last, over) = (Some(round), over.filter(|(deciding, _)| matches!(deciding, Deciding::Person(..))));
    }
    if let Some((_, outcome)) = over {
        return (Line::styled(format!(" {}", harmless_line(&outcome)), theme.bad()), Line::default());
    }
    let Some(last) = last else { return <_>::default() };
    match (&last.closed, crate::insight::round_view::tally(last)) {
        (None, _) => (gauge(model, last, width), time(model, last, width)),
        (Some(_), None) => (Line::styled(" CLOSED", theme.strong()), Line::default()),
        (Some(_), Some(tally)) => {
            let style = if tally.decided || tally.rule.is_none() { theme.good() } else { theme.bad() };
            let left = format!(" {}", harmless_line(&headline(session, last, tally).label));
            (Line::styled(left, style), format!("{} ", turnout(tally)).into())
        }
    }
}

/// How many seats are sealed and failed, and what that means for the quorum.
fn gauge(model: &Model, round: &RoundRun, width: u16) -> Line<'static> {
    let theme = model.theme;
    let (sealed, seats) = (round.sealed(), round.seats.len());
    let cells = seats.min(GAUGE);
    let full = (sealed * cells).checked_div(seats).unwrap_or(0);
    let drawn = theme.sign("■", "#").repeat(full) + &theme.sign("□", ".").repeat(cells - full);
    let failed = round.failed_seats().count();
    let mut spans = vec![Span::raw(" "), Span::styled(drawn, theme.good())];
    if width < WIDE {
        spans.push(format!(" {sealed}/{seats}  q{}", round.opened.quorum).into());
        if failed > 0 {
            spans.push(Span::styled(format!("  {failed}{}", theme.sign("✗", "x")), theme.bad()));
        }
        return Line::from(spans);
    }
    spans.push(format!(" {sealed} of {seats} sealed   {}", quorum(round)).into());
    if failed > 0 {
        spans.push(Span::styled(format!("   {failed} failed"), theme.bad()));
    }
    Line::from(spans)
}

/// The time left, or the time spent where there is no deadline.
fn time(model: &Model, round: &RoundRun, width: u16) -> Line<'static> {
    let (session, theme): (&Session, _) = (model.session(), model.theme);
    if model.live().is_none() {
        return Line::default();
    }
    let ran = session.round_ran_ms(round, model.now.max(session.last_at));
    let Some(deadline) = round.deadline_ms else { return format!("{} ", clock(ran / 1000)).into() };
    let left = deadline.saturating_sub(ran).div_ceil(1000);
    let cells = if width < WIDE { 3 } else { 10 };
    let share = usize::try_from(deadline.saturating_sub(ran) * cells as u64 / deadline.max(1)).unwrap_or(0);
    let share = share.min(cells);
    let bar = theme.sign("▓", "#").repeat(share) + &theme.sign("░", ".").repeat(cells - share);
    let whole = if width < WIDE { String::new() } else { format!(" of {}", clock(deadline / 1000)) };
    if left > LAST_SECONDS {
        return format!("{} left {bar}{whole} ", clock(left)).into();
    }
    Line::styled(format!("! {} left {bar}{whole} ", clock(left)), theme.bad())
}
