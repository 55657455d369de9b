//! The time line of a replay: real time with quiet stretches folded, what happened when, where one is.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::click_map::{ClickMap, Target};
use super::frame::{self, Heading};
use super::numbers::clock;
use crate::history::Event;
use crate::tui::model::Model;
use crate::tui::replay::Replay;

/// Lines of the time line with a frame, a strip, marks and times.
pub const FRAMED: u16 = 4;

/// What is on a column of the strip, the more important later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Nothing,
    Open,
    /// A quiet stretch that is folded.
    Folded,
    Sealed,
    Opened,
    Closed,
}

/// What stands out below the strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Nothing,
    /// A seat was asked again or let go, or a person was asked.
    Order,
    Failed,
    Revealed,
    End,
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, hits: &mut ClickMap) {
    if area.height == 0 {
        return;
    }
    let replay = &model.replay;
    let theme = model.theme;
    let (now, whole) = replay.times();
    let sign = if replay.is_playing() { theme.sign("▶", ">") } else { theme.sign("⏸", "=") };
    let head = format!(" {sign} {}{} ", replay.speed(), theme.sign("×", "x"));
    let tail = if area.width < 60 {
        format!("{}/{} · {} ", replay.at(), replay.len(), clock(now / 1000))
    } else {
        format!(
            "event {} of {} · {} of {} ",
            replay.at(),
            replay.len(),
            clock(now / 1000),
            clock(whole / 1000)
        )
    };
    if area.height < FRAMED {
        let used = head.width() + tail.width() + 2;
        let room = usize::from(area.width).saturating_sub(used);
        let mut spans = vec![Span::styled(head.clone(), theme.key())];
        if room >= 10 {
            let strip = strip(model, room);
            let at = area.x + u16::try_from(head.width()).unwrap_or(0);
            seekable(replay, Rect { x: at, width: u16::try_from(room).unwrap_or(0), ..area }, hits);
            spans.extend(with_here(replay, strip, room));
            spans.push(Span::raw(" "));
        }
        spans.push(Span::raw(tail));
        return frame.render_widget(Paragraph::new(Line::from(spans)), area);
    }
    let note = format!("quiet stretches folded {}", theme.sign("┊", ":"));
    let heading = Heading { note, ..Heading::of(format!("{head}· {tail}")) };
    let inner = frame::inner(area);
    let room = usize::from(inner.width);
    let lines = vec![
        Line::from(with_here(replay, strip(model, room), room)),
        marks_line(model, room),
        times_line(replay, room, now, whole),
    ];
    frame::draw(frame, area, theme, &heading, lines);
    seekable(replay, inner, hits);
}

/// Each column leads to its moment.
fn seekable(replay: &Replay, place: Rect, hits: &mut ClickMap) {
    let width = usize::from(place.width);
    for column in 0..place.width {
        let at = replay.count_by(moment_of(replay, usize::from(column), width));
        hits.note(Rect { x: place.x + column, width: 1, ..place }, Target::Moment(at.max(1)));
    }
}

fn moment_of(replay: &Replay, column: usize, width: usize) -> u64 {
    let whole = replay.played_at(replay.len());
    let last = width.saturating_sub(1).max(1) as u64;
    // The end of the column, so that what is drawn on it has happened; of the last one all.
    if column as u64 >= last { whole } else { (whole * (column as u64 + 1)).saturating_sub(1) / last }
}

fn column_of(replay: &Replay, played: u64, width: usize) -> usize {
    let whole = replay.played_at(replay.len()).max(1);
    let last = width.saturating_sub(1) as u64;
    usize::try_from(played.min(whole) * last / whole).unwrap_or(0)
}

/// The strip's columns: open rounds, seals, folded stretches.
fn strip(model: &Model, width: usize) -> Vec<Span<'static>> {
    let replay = &model.replay;
    let theme = model.theme;
    let mut signs = vec![Sign::Nothing; width];
    let mut set = |from: usize, to: usize, sign: Sign| {
        for cell in signs.iter_mut().take(to + 1).skip(from) {
            *cell = (*cell).max(sign);
        }
    };
    let mut opened = None;
    for (index, line) in replay.lines().iter().enumerate() {
        let at = column_of(replay, replay.played_at(index), width);
        if replay.is_folded(index) {
            let from = column_of(replay, replay.played_at(index - 1), width);
            let middle = usize::midpoint(from, at);
            set(middle, middle, Sign::Folded);
        }
        let event = &line.stamped.event;
        if matches!(event, Event::RoundOpened(_)) {
            opened = Some(at);
            set(at, at, Sign::Opened);
        } else if matches!(event, Event::BallotSealed(_)) {
            set(at, at, Sign::Sealed);
        } else if matches!(event, Event::RoundClosed(_)) {
            set(opened.take().unwrap_or(at), at, Sign::Open);
            set(at, at, Sign::Closed);
        }
    }
    if let Some(from) = opened {
        set(from, width.saturating_sub(1), Sign::Open);
    }
    let here = column_of(replay, replay.played_now(), width);
    let drawn = |(column, sign): (usize, &Sign)| {
        let (text, style) = match sign {
            Sign::Nothing => (theme.sign("┄", "."), theme.faint()),
            Sign::Open => (theme.sign("─", "-"), Style::new()),
            Sign::Folded => (theme.sign("┊", ":"), theme.faint()),
            Sign::Sealed => (theme.sign("■", "#"), theme.good()),
            Sign::Opened => (theme.sign("├", "o"), Style::new()),
            Sign::Closed => (theme.sign("◆", "*"), theme.strong()),
        };
        // What is still to come is fainter than what has happened.
        Span::styled(text, if column > here { style.patch(theme.faint()) } else { style })
    };
    signs.iter().enumerate().map(drawn).collect()
}

fn with_here(replay: &Replay, mut strip: Vec<Span<'static>>, width: usize) -> Vec<Span<'static>> {
    if let Some(cell) = strip.get_mut(column_of(replay, replay.played_now(), width)) {
        *cell = cell.clone().style(Style::new().add_modifier(ratatui::style::Modifier::REVERSED));
    }
    strip
}

fn marks_line(model: &Model, width: usize) -> Line<'static> {
    let replay = &model.replay;
    let theme = model.theme;
    let mut marks = vec![Mark::Nothing; width];
    for (index, line) in replay.lines().iter().enumerate() {
        let mark = mark_of(&line.stamped.event);
        let cell = &mut marks[column_of(replay, replay.played_at(index), width)];
        *cell = (*cell).max(mark);
    }
    let here = column_of(replay, replay.played_now(), width);
    let drawn = |(column, mark): (usize, &Mark)| {
        if column == here {
            return Span::styled(theme.sign("▲", "^"), theme.strong());
        }
        let (text, style) = match mark {
            Mark::Nothing => (" ", Style::new()),
            Mark::Order => ("r", theme.strong()),
            Mark::Failed => (theme.sign("✗", "x"), theme.bad()),
            Mark::Revealed => (theme.sign("◇", "*"), theme.strong()),
            Mark::End => (theme.sign("■", "E"), theme.strong()),
        };
        Span::styled(text, if column > here { style.patch(theme.faint()) } else { style })
    };
    Line::from(marks.iter().enumerate().map(drawn).collect::<Vec<_>>())
}

fn mark_of(event: &Event) -> Mark {
    if matches!(event, Event::SeatFailed(_) | Event::KeyLost { .. }) {
        Mark::Failed
    } else if matches!(event, Event::AnswerRevealed(_)) {
        Mark::Revealed
    } else if matches!(event, Event::SessionClosed(_)) {
        Mark::End
    } else if matches!(
        event,
        Event::SeatRetried(_)
            | Event::SeatExcused { .. }
            | Event::RoundAskedAgain { .. }
            | Event::DeadlineExtended(_)
            | Event::ApprovalRequested(_)
    ) {
        Mark::Order
    } else {
        Mark::Nothing
    }
}

fn times_line(replay: &Replay, width: usize, now: u64, whole: u64) -> Line<'static> {
    let (first, here, last) = (clock(0), clock(now / 1000), clock(whole / 1000));
    let at = column_of(replay, replay.played_now(), width).saturating_sub(here.width() / 2);
    let mut text = first.clone();
    if at > first.width() && at + here.width() < width.saturating_sub(last.width()) {
        text.push_str(&" ".repeat(at - text.width()));
        text.push_str(&here);
    }
    text.push_str(&" ".repeat(width.saturating_sub(text.width() + last.width())));
    text.push_str(&last);
    Line::styled(text, Style::new())
}
