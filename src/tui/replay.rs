//! Replay of a saved session, its keys and its time line.
//!
//! Each event is one frame. The state at a frame is folded from the last checkpoint. The time line shows real
//! time with quiet periods shortened.

use std::cell::OnceCell;
use std::cmp::Ordering;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::keys::Action;
use super::text::clock;
use super::theme::Theme;
use crate::engine::{WaitPoint, current_wait_point};
use crate::history::{Event, LogEntry, Session, Timestamp};
use crate::report;

/// Interval of checkpoints in events: the most that a seek has to fold.
const CHECKPOINT_EVERY: usize = 8192;
/// Longer pauses between events are quiet periods, in milliseconds.
const QUIET_FROM: u64 = 10_000;
/// Length of a quiet period in the replay, in milliseconds.
const QUIET: u64 = 2000;
/// Length of the shortest pause in the replay, in milliseconds, so that a rehearsal can be watched.
const SHORTEST_PAUSE: u64 = 120;

#[derive(Debug, Clone, Default)]
pub struct Replay {
    pub lines: Vec<LogEntry>,
    /// Playing time of each event, in milliseconds from the first.
    axis: Vec<u64>,
    checkpoints: Vec<Session>,
    /// Number of events shown.
    pub at: usize,
    pub session: Session,
    /// Cached wait point of the current state.
    waits: OnceCell<Option<WaitPoint>>,
    /// Milliseconds since the shown event; `None` while paused.
    playing: Option<u64>,
}

impl Replay {
    /// Returns a replay of these events, positioned at its end.
    pub fn new(lines: Vec<LogEntry>) -> Self {
        let mut replay = Self { checkpoints: vec![Session::default()], ..Self::default() };
        for line in lines {
            replay.push(line);
        }
        replay
    }

    pub fn wait_point(&self) -> Option<&WaitPoint> {
        self.waits.get_or_init(|| current_wait_point(&self.session)).as_ref()
    }

    /// Appends an event; a replay at its end stays at its end.
    pub fn push(&mut self, line: LogEntry) {
        let follows = self.at == self.lines.len();
        let rest = self.lines.last().map_or(0, |last| played(line.stamped.at.since(last.stamped.at)));
        let played = self.axis.last().map_or(0, |last| last + rest);
        self.axis.push(played);
        self.lines.push(line);
        if follows {
            self.show_next();
        }
    }

    /// Shows the next event; stores a checkpoint when one is due.
    fn show_next(&mut self) {
        self.session.apply_entry(&self.lines[self.at]);
        self.waits = OnceCell::new();
        self.at += 1;
        if self.at == self.checkpoints.len() * CHECKPOINT_EVERY {
            self.checkpoints.push(self.session.clone());
        }
    }

    /// Returns the line of the last shown event that has one.
    pub fn caption(&self) -> String {
        let line = |line: &LogEntry| report::event_line(&line.stamped.event, line.stamped.at, &self.session);
        self.lines[..self.at].iter().rev().find_map(line).unwrap_or_default()
    }

    /// Returns the playing time of an event, in milliseconds; after the end, that of the last event.
    fn played_at(&self, index: usize) -> u64 {
        self.axis.get(index).or(self.axis.last()).copied().unwrap_or(0)
    }

    pub fn moment(&self) -> Timestamp {
        self.lines.get(self.at.saturating_sub(1)).map(|last| last.stamped.at).unwrap_or_default()
    }

    /// Returns the milliseconds from the first event to the shown one, and to the last.
    fn times(&self) -> (u64, u64) {
        let (first, last) = (self.lines.first(), self.lines.last());
        let since = |at: Timestamp| first.map_or(0, |first| at.since(first.stamped.at));
        (since(self.moment()), last.map_or(0, |last| since(last.stamped.at)))
    }

    pub fn seek(&mut self, at: usize) {
        let at = at.min(self.lines.len());
        let mark = (at / CHECKPOINT_EVERY).min(self.checkpoints.len() - 1);
        if at < self.at || mark * CHECKPOINT_EVERY > self.at {
            self.session = self.checkpoints[mark].clone();
            self.waits = OnceCell::new();
            self.at = mark * CHECKPOINT_EVERY;
        }
        while self.at < at {
            self.show_next();
        }
    }

    pub fn act(&mut self, action: Action) {
        match action {
            Action::NextEvent => self.seek(self.at + 1),
            Action::PreviousEvent => self.seek(self.at.saturating_sub(1)),
            Action::NextRound => self.round(true),
            Action::PreviousRound => self.round(false),
            Action::GoToStart => self.seek(0),
            Action::GoToEnd => self.seek(self.lines.len()),
            Action::PlayPause => self.toggle(),
            Action::NextReveal => self.seek(self.next_reveal().unwrap_or(self.at)),
            _ => {}
        }
    }

    fn round(&mut self, forward: bool) {
        let opens = |index: &usize| matches!(self.lines[*index].stamped.event, Event::RoundOpened(_));
        let to = if forward {
            (self.at..self.lines.len()).find(opens).map_or(self.lines.len(), |index| index + 1)
        } else {
            (0..self.at.saturating_sub(1)).rev().find(opens).map_or(0, |index| index + 1)
        };
        self.seek(to);
    }

    /// Returns the event count at the next tally, if one follows.
    pub fn next_reveal(&self) -> Option<usize> {
        let counts = |index: &usize| matches!(self.lines[*index].stamped.event, Event::TallyMade(_));
        (self.at..self.lines.len()).find(counts).map(|index| index + 1)
    }

    /// Plays or pauses; at the end, plays from the start.
    fn toggle(&mut self) {
        if self.playing.take().is_none() {
            if self.at == self.lines.len() {
                self.seek(0);
            }
            self.playing = Some(0);
        }
    }

    /// Returns the milliseconds until the next event is due; `None` while paused.
    pub fn due_in(&self) -> Option<u64> {
        let waited = self.playing?;
        Some(self.pause_ms().saturating_sub(waited))
    }

    /// Returns the playing time between the shown event and the next one.
    fn pause_ms(&self) -> u64 {
        let (Some(_), Some(last)) = (self.lines.get(self.at), self.at.checked_sub(1)) else { return 0 };
        self.axis[self.at] - self.axis[last]
    }

    pub fn pass(&mut self, millis: u64) {
        let Some(mut waited) = self.playing.map(|waited| waited + millis) else { return };
        while self.at < self.lines.len() {
            let rest = self.pause_ms();
            if waited < rest {
                self.playing = Some(waited);
                return;
            }
            waited -= rest;
            self.seek(self.at + 1);
        }
        self.playing = None;
    }
}

/// Returns the playing time of a pause in milliseconds.
fn played(real: u64) -> u64 {
    if real > QUIET_FROM { QUIET } else { real.max(SHORTEST_PAUSE) }
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, replay: &Replay, theme: Theme) {
    const LEAST: usize = 10;
    let (now, whole) = replay.times();
    let sign = if replay.playing.is_some() { "▶" } else { "⏸" };
    let (head, at, len) = (format!(" {sign} "), replay.at, replay.lines.len());
    let (now, whole) = (clock(now / 1000), clock(whole / 1000));
    let tail = if area.width < 60 {
        format!(" {at}/{len} · {now} ")
    } else {
        format!(" event {at} of {len} · {now} of {whole} ")
    };
    let room = usize::from(area.width).saturating_sub(head.width() + tail.width());
    let mut spans = vec![Span::styled(head, theme.key())];
    if room >= LEAST {
        spans.extend(strip(replay, theme, room));
    }
    spans.push(Span::raw(tail));
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

/// Draws the time line in `width` columns: the future is fainter than the past, the current position reversed.
fn strip(replay: &Replay, theme: Theme, width: usize) -> Vec<Span<'static>> {
    let whole = replay.played_at(replay.lines.len()).max(1);
    let column = |played: u64| (played.min(whole) * (width as u64 - 1) / whole) as usize;
    let here = column(replay.played_at(replay.at.saturating_sub(1)));
    // Events in one column: the highest rank is drawn.
    let mut cells = vec![(0, "┄", theme.faint()); width];
    let mut set = |column: usize, new: (u8, &'static str, Style)| {
        if new.0 > cells[column].0 {
            cells[column] = new;
        }
    };
    for (index, line) in replay.lines.iter().enumerate() {
        let at = column(replay.played_at(index));
        let before = replay.played_at(index.saturating_sub(1));
        if replay.played_at(index) - before == QUIET {
            set(usize::midpoint(column(before), at), (1, "┊", theme.faint()));
        }
        set(at, mark(&line.stamped.event, theme));
    }
    let style = |at: usize, style: Style| match at.cmp(&here) {
        Ordering::Less => style,
        Ordering::Equal => Style::new().add_modifier(Modifier::REVERSED),
        Ordering::Greater => style.patch(theme.faint()),
    };
    let cells = cells.into_iter().enumerate();
    cells.map(|(at, (_, sign, of_sign))| Span::styled(sign, style(at, of_sign))).collect()
}

/// Returns the rank, sign and style of an event on the time line.
fn mark(event: &Event, theme: Theme) -> (u8, &'static str, Style) {
    if matches!(event, Event::BallotSealed(_)) {
        (2, "■", theme.good())
    } else if matches!(event, Event::SeatFailed(_) | Event::KeyLost { .. }) {
        (3, "✗", theme.bad())
    } else if matches!(event, Event::RoundOpened(_)) {
        (4, "├", theme.strong())
    } else if matches!(event, Event::RoundClosed(_)) {
        (5, "◆", theme.strong())
    } else {
        (0, "", theme.faint())
    }
}
