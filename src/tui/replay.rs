//! A saved session as a replay: every event a frame, the state at any frame by folding from a mark; its keys;
//! and its time line: real time with quiet stretches folded, what happened when, where one is.

use std::cell::OnceCell;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::frame::{self, ClickMap, Heading, Target};
use super::keys::Action;
use super::text::clock;
use super::theme::Theme;
use crate::engine::{WaitPoint, hold};
use crate::history::{Event, LogEntry, RoundOpened, Session, Timestamp};
use crate::report;

/// A mark is kept every so many events, so that a seek folds at most this many.
const MARK_EVERY: usize = 8192;
/// Longer rests between events are quiet stretches.
const QUIET_FROM: u64 = 10_000;
/// A quiet stretch is played, and drawn, as this many milliseconds.
const QUIET: u64 = 2000;
/// Shorter ones as this many, so that a rehearsal can be watched.
const SHORTEST_REST: u64 = 120;
const SPEEDS: [f64; 6] = [0.5, 1.0, 2.0, 5.0, 10.0, 50.0];

#[derive(Debug, Clone, Default)]
pub struct Replay {
    lines: Vec<LogEntry>,
    /// When each event is played, in milliseconds from the first: real time, quiet stretches folded.
    axis: Vec<u64>,
    marks: Vec<Session>,
    at: usize,
    session: Session,
    /// The open question of the session, computed once for each of its states.
    waits: OnceCell<Option<WaitPoint>>,
    speed: usize,
    /// Milliseconds since the event shown; none while it does not play.
    playing: Option<u64>,
}

impl Replay {
    /// A replay of these events, standing at its end.
    pub fn new(lines: Vec<LogEntry>) -> Self {
        let mut replay = Self { marks: vec![Session::default()], speed: 1, ..Self::default() };
        for line in lines {
            replay.push(line);
        }
        replay
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn waits(&self) -> Option<&WaitPoint> {
        self.waits.get_or_init(|| hold(&self.session)).as_ref()
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn lines(&self) -> &[LogEntry] {
        &self.lines
    }

    /// Appends an event; at the end the replay goes along.
    pub fn push(&mut self, line: LogEntry) {
        let follows = self.at == self.lines.len();
        let rest = self.lines.last().map_or(0, |last| played(line.stamped.at.since(last.stamped.at)).0);
        let played = self.axis.last().map_or(0, |last| last + rest);
        self.axis.push(played);
        self.lines.push(line);
        if follows {
            self.pass_one();
        }
    }

    /// Shows the next event; the state is kept at every mark.
    fn pass_one(&mut self) {
        self.session.apply_entry(&self.lines[self.at]);
        self.waits = OnceCell::new();
        self.at += 1;
        if self.at == self.marks.len() * MARK_EVERY {
            self.marks.push(self.session.clone());
        }
    }

    /// The text of an event that is shown; none for what another event's says.
    pub fn text(&self, index: usize) -> Option<String> {
        let line = self.lines.get(index)?;
        report::event_line(&line.stamped.event, line.stamped.at, &self.session)
    }

    pub fn is_playing(&self) -> bool {
        self.playing.is_some()
    }

    fn speed(&self) -> f64 {
        SPEEDS[self.speed]
    }

    /// When an event is played, in milliseconds from the first; the last one's time behind the end.
    fn played_at(&self, index: usize) -> u64 {
        self.axis.get(index).or(self.axis.last()).copied().unwrap_or(0)
    }

    /// When the moment shown is played.
    fn played_now(&self) -> u64 {
        let last = self.at.checked_sub(1).map_or(0, |last| self.played_at(last));
        // The time since the last tick is scaled back to a speed of one.
        let waited = self.playing.unwrap_or(0) as f64 * self.speed();
        (last + waited as u64).min(self.played_at(self.lines.len()))
    }

    /// Counts the events that have happened by a time of the playback.
    fn count_by(&self, played: u64) -> usize {
        self.axis.partition_point(|at| *at <= played)
    }

    /// The time before an event is a quiet stretch that is folded.
    fn is_folded(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.lines.get(before));
        let pair = before.zip(self.lines.get(index));
        pair.is_some_and(|(before, line)| played(line.stamped.at.since(before.stamped.at)).1)
    }

    /// The moment that is shown, as the clock was then.
    pub fn moment(&self) -> Timestamp {
        let Some(last) = self.lines.get(self.at.saturating_sub(1)) else { return Timestamp::default() };
        let last = last.stamped.at;
        let Some((waited, next)) = self.playing.zip(self.lines.get(self.at)).filter(|_| self.at > 0) else {
            return last;
        };
        let real = next.stamped.at.since(last);
        let share = waited as f64 / self.rest().max(1) as f64;
        Timestamp(last.0 + (real as f64 * share.min(1.0)) as i64)
    }

    /// The first round to come, where none has been opened yet.
    pub fn coming(&self) -> Option<&RoundOpened> {
        // Rounds that come late come after steps, which are what there is to see until then.
        const SOON: usize = 1000;
        self.lines.iter().skip(self.at).take(SOON).find_map(|line| {
            if let Event::RoundOpened(opened) = &line.stamped.event { Some(&**opened) } else { None }
        })
    }

    /// Counts all rounds, also those to come.
    pub fn rounds(&self) -> usize {
        self.lines.iter().filter(|line| matches!(line.stamped.event, Event::RoundOpened(_))).count()
    }

    /// Milliseconds from the first event to the one shown, and to the last.
    pub fn times(&self) -> (u64, u64) {
        let moment = |index: usize| self.lines.get(index).map(|line| line.stamped.at);
        let first = moment(0).unwrap_or_default();
        let since = |index: usize| moment(index).map_or(0, |at| at.since(first));
        let now = self.moment().since(first).max(since(self.at.saturating_sub(1)));
        (now, since(self.lines.len().saturating_sub(1)))
    }

    pub fn seek(&mut self, at: usize) {
        let at = at.min(self.lines.len());
        let mark = (at / MARK_EVERY).min(self.marks.len() - 1);
        if at < self.at || mark * MARK_EVERY > self.at {
            self.session = self.marks[mark].clone();
            self.waits = OnceCell::new();
            self.at = mark * MARK_EVERY;
        }
        while self.at < at {
            self.pass_one();
        }
    }

    pub fn act(&mut self, action: Action) {
        match action {
            Action::NextEvent => self.seek(self.at + 1),
            Action::PreviousEvent => self.seek(self.at.saturating_sub(1)),
            Action::NextRound => self.round(true),
            Action::PreviousRound => self.round(false),
            Action::GoToStart => self.seek(0),
            Action::GoToEnd => self.seek(self.len()),
            Action::PlayPause => self.toggle(),
            Action::PlayFaster => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            Action::PlaySlower => self.speed = self.speed.saturating_sub(1),
            Action::NextReveal => self.seek(self.next_reveal().unwrap_or(self.at)),
            _ => {}
        }
    }

    pub fn to_tenth(&mut self, tenth: usize) {
        let whole = self.played_at(self.len());
        self.seek(self.count_by(whole * tenth as u64 / 10).max(1));
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

    /// Returns the number of events at which the next round is revealed and counted; none if none will be.
    pub fn next_reveal(&self) -> Option<usize> {
        let counts = |index: &usize| matches!(self.lines[*index].stamped.event, Event::TallyMade(_));
        (self.at..self.lines.len()).find(counts).map(|index| index + 1)
    }

    /// To the next event whose text holds `words`, or the one before; false when there is none.
    pub fn find(&mut self, words: &str, forward: bool) -> bool {
        let words = words.to_lowercase();
        let holds =
            |index: &usize| self.text(*index).is_some_and(|text| text.to_lowercase().contains(&words));
        let found = if forward {
            (self.at..self.lines.len()).find(holds)
        } else {
            (0..self.at.saturating_sub(1)).rev().find(holds)
        };
        let Some(index) = found.filter(|_| !words.is_empty()) else { return false };
        self.seek(index + 1);
        true
    }

    /// Plays, or pauses; at the end it plays from the start.
    fn toggle(&mut self) {
        if self.playing.take().is_none() {
            if self.at == self.lines.len() {
                self.seek(0);
            }
            self.playing = Some(0);
        }
    }

    /// Milliseconds until the next event is due; `None` when it does not play.
    pub fn due_in(&self) -> Option<u64> {
        let waited = self.playing?;
        Some(self.rest().saturating_sub(waited))
    }

    /// The time between the event shown and the next one, as it is played.
    fn rest(&self) -> u64 {
        let (Some(_), Some(last)) = (self.lines.get(self.at), self.at.checked_sub(1)) else { return 0 };
        ((self.axis[self.at] - self.axis[last]) as f64 / self.speed()) as u64
    }

    /// Lets time pass while it plays.
    pub fn pass(&mut self, millis: u64) {
        let Some(mut waited) = self.playing.map(|waited| waited + millis) else { return };
        while self.at < self.lines.len() {
            let rest = self.rest();
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

/// Returns the playing time of a pause in milliseconds, and whether it is a quiet stretch that is folded.
fn played(real: u64) -> (u64, bool) {
    if real > QUIET_FROM { (QUIET, true) } else { (real.max(SHORTEST_REST), false) }
}

/// Lines of the time line with a frame, a strip, marks and times.
pub const FRAMED: u16 = 4;

/// A cell of the time line: its rank, of which the highest is drawn, its sign and style.
type Cell = (u8, &'static str, Style);

/// Draws the time line: framed where there is room, else as one line.
pub fn draw(frame: &mut Frame<'_>, area: Rect, replay: &Replay, theme: Theme, hits: &mut ClickMap) {
    if area.height == 0 {
        return;
    }
    let (now, whole) = replay.times();
    let sign = if replay.is_playing() { "▶" } else { "⏸" };
    let (head, at, len) = (format!(" {sign} {}× ", replay.speed()), replay.at, replay.len());
    let (now, whole) = (clock(now / 1000), clock(whole / 1000));
    let tail = if area.width < 60 {
        format!("{at}/{len} · {now} ")
    } else {
        format!("event {at} of {len} · {now} of {whole} ")
    };
    if area.height < FRAMED {
        let room = usize::from(area.width).saturating_sub(head.width() + tail.width() + 2);
        let mut spans = vec![Span::styled(head.clone(), theme.key())];
        if room >= 10 {
            let x = area.x + frame::cells(head.width());
            let axis = Axis { replay, theme, width: room };
            axis.seekable(Rect { x, width: frame::cells(room), ..area }, hits);
            spans.extend(axis.strip());
            spans.push(Span::raw(" "));
        }
        spans.push(Span::raw(tail));
        return frame.render_widget(Paragraph::new(Line::from(spans)), area);
    }
    let note = "quiet stretches folded ┊".to_owned();
    let heading = Heading { note, ..Heading::of(format!("{head}· {tail}")) };
    let inner = frame::inner(area);
    let axis = Axis { replay, theme, width: usize::from(inner.width) };
    let lines = vec![axis.strip().into(), axis.marks(), axis.times(&now, &whole)];
    frame::draw(frame, area, theme, &heading, lines);
    axis.seekable(inner, hits);
}

/// The time line in so many columns.
struct Axis<'a> {
    replay: &'a Replay,
    theme: Theme,
    width: usize,
}

impl Axis<'_> {
    /// Each column leads to its moment: to its end, so that what is drawn on it has happened.
    fn seekable(&self, place: Rect, hits: &mut ClickMap) {
        let whole = self.replay.played_at(self.replay.len());
        let last = self.width.saturating_sub(1).max(1) as u64;
        for column in 0..place.width {
            let to = u64::from(column);
            let moment = if to >= last { whole } else { (whole * (to + 1)).saturating_sub(1) / last };
            let at = self.replay.count_by(moment);
            hits.note(Rect { x: place.x + column, width: 1, ..place }, Target::Moment(at.max(1)));
        }
    }

    fn column(&self, played: u64) -> usize {
        let whole = self.replay.played_at(self.replay.len()).max(1);
        let last = self.width.saturating_sub(1) as u64;
        usize::try_from(played.min(whole) * last / whole).unwrap_or(0)
    }

    fn here(&self) -> usize {
        self.column(self.replay.played_now())
    }

    /// Cells as spans; the future is fainter than the past.
    fn spans(&self, cells: Vec<Cell>) -> Vec<Span<'static>> {
        let (here, faint) = (self.here(), self.theme.faint());
        let style = |column: usize, style: Style| if column > here { style.patch(faint) } else { style };
        let cells = cells.into_iter().enumerate();
        cells.map(|(column, (_, text, shown))| Span::styled(text, style(column, shown))).collect()
    }

    /// The strip: open rounds, seals, folded stretches; reversed where one is.
    fn strip(&self) -> Vec<Span<'static>> {
        let (replay, theme) = (self.replay, self.theme);
        let mut cells = vec![(0, "┄", theme.faint()); self.width];
        let mut set = |from: usize, to: usize, new: Cell| {
            for cell in cells.iter_mut().take(to + 1).skip(from).filter(|cell| cell.0 < new.0) {
                *cell = new;
            }
        };
        let open = (1, "─", Style::new());
        let mut opened = None;
        for (index, line) in replay.lines.iter().enumerate() {
            let at = self.column(replay.played_at(index));
            if replay.is_folded(index) {
                let middle = usize::midpoint(self.column(replay.played_at(index - 1)), at);
                set(middle, middle, (2, "┊", theme.faint()));
            }
            let event = &line.stamped.event;
            if matches!(event, Event::RoundOpened(_)) {
                opened = Some(at);
                set(at, at, (4, "├", Style::new()));
            } else if matches!(event, Event::BallotSealed(_)) {
                set(at, at, (3, "■", theme.good()));
            } else if matches!(event, Event::RoundClosed(_)) {
                set(opened.take().unwrap_or(at), at, open);
                set(at, at, (5, "◆", theme.strong()));
            }
        }
        if let Some(from) = opened {
            set(from, self.width.saturating_sub(1), open);
        }
        let mut spans = self.spans(cells);
        if let Some(here) = spans.get_mut(self.here()) {
            here.style = Style::new().add_modifier(Modifier::REVERSED);
        }
        spans
    }

    /// Marks of rounds and the like, below the strip.
    fn marks(&self) -> Line<'static> {
        let mut cells = vec![(0, " ", Style::new()); self.width];
        for (index, line) in self.replay.lines.iter().enumerate() {
            let mark = self.mark(&line.stamped.event);
            let cell = &mut cells[self.column(self.replay.played_at(index))];
            if mark.0 > cell.0 {
                *cell = mark;
            }
        }
        if let Some(here) = cells.get_mut(self.here()) {
            *here = (5, "▲", self.theme.strong());
        }
        self.spans(cells).into()
    }

    fn mark(&self, event: &Event) -> Cell {
        let strong = self.theme.strong();
        if matches!(event, Event::SeatFailed(_) | Event::KeyLost { .. }) {
            (2, "✗", self.theme.bad())
        } else if matches!(event, Event::AnswerRevealed(_)) {
            (3, "◇", strong)
        } else if matches!(event, Event::SessionClosed(_)) {
            (4, "■", strong)
        } else if matches!(
            event,
            Event::SeatRetried(_)
                | Event::SeatExcused { .. }
                | Event::RoundAskedAgain { .. }
                | Event::DeadlineExtended(_)
                | Event::ApprovalRequested(_)
        ) {
            (1, "r", strong)
        } else {
            (0, " ", Style::new())
        }
    }

    /// The times of both ends, and of here where it fits between them.
    fn times(&self, here: &str, last: &str) -> Line<'static> {
        let (mut text, width) = (clock(0), self.width);
        let at = self.here().saturating_sub(here.width() / 2);
        if at > text.width() && at + here.width() < width.saturating_sub(last.width()) {
            text = format!("{text:at$}{here}");
        }
        let gap = width.saturating_sub(text.width() + last.width());
        format!("{text}{}{last}", " ".repeat(gap)).into()
    }
}
