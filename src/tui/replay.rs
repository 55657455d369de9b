//! A saved session as a replay: every event a frame, the state at any frame by folding from a mark.

use std::cell::OnceCell;

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
pub const SPEEDS: [f64; 6] = [0.5, 1.0, 2.0, 5.0, 10.0, 50.0];

#[derive(Debug, Clone)]
pub struct Replay {
    lines: Vec<LogEntry>,
    /// When each event is played, in milliseconds from the first: real time, quiet stretches folded.
    axis: Vec<u64>,
    marks: Vec<Session>,
    at: usize,
    session: Session,
    /// What the session waits for, found out once for each of its states.
    waits: OnceCell<Option<WaitPoint>>,
    speed: usize,
    /// Whether it plays, and how long it has waited for the next event, in milliseconds.
    playing: Option<u64>,
}

impl Replay {
    /// A replay of these events, standing at its end.
    pub fn new(lines: Vec<LogEntry>) -> Self {
        let marks = vec![Session::default()];
        let mut replay = Self {
            lines: Vec::new(),
            axis: Vec::new(),
            marks,
            at: 0,
            session: Session::default(),
            waits: OnceCell::new(),
            speed: 1,
            playing: None,
        };
        replay.append(lines);
        replay
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What the session waits for of its facilitator.
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

    /// More events, at the end; who stands at the end goes along.
    pub fn append(&mut self, lines: Vec<LogEntry>) {
        for line in lines {
            self.push(line);
        }
    }

    /// One more event, at the end; who stands at the end goes along.
    pub fn push(&mut self, line: LogEntry) {
        let follows = self.at == self.lines.len();
        let played = self.axis.last().map_or(0, |last| last + self.gap(&line).0);
        self.axis.push(played);
        self.lines.push(line);
        if follows {
            self.pass_one();
        }
    }

    /// The next event is shown. Where one of many was reached first, its state is kept.
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

    pub fn speed(&self) -> f64 {
        SPEEDS[self.speed]
    }

    /// How long the rest before a next line is played, in milliseconds, and whether it is folded.
    fn gap(&self, next: &LogEntry) -> (u64, bool) {
        let real = self.lines.last().map_or(0, |last| next.stamped.at.since(last.stamped.at));
        played(real)
    }

    /// When an event is played, in milliseconds from the first; the last one's time behind the end.
    pub fn played_at(&self, index: usize) -> u64 {
        self.axis.get(index).or(self.axis.last()).copied().unwrap_or(0)
    }

    /// When the moment shown is played.
    pub fn played_now(&self) -> u64 {
        let last = self.at.checked_sub(1).map_or(0, |last| self.played_at(last));
        // What has been waited is scaled back to a speed of one.
        let waited = self.playing.unwrap_or(0) as f64 * self.speed();
        (last + waited as u64).min(self.played_at(self.lines.len()))
    }

    /// How many events have happened by a time at which they are played.
    pub fn count_by(&self, played: u64) -> usize {
        self.axis.partition_point(|at| *at <= played)
    }

    /// Whether the rest before an event is a quiet stretch that is folded.
    pub fn is_folded(&self, index: usize) -> bool {
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

    /// How many rounds there are in all, also those to come.
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

    pub fn step(&mut self, forward: bool) {
        self.seek(if forward { self.at + 1 } else { self.at.saturating_sub(1) });
    }

    pub fn round(&mut self, forward: bool) {
        let opens = |index: &usize| matches!(self.lines[*index].stamped.event, Event::RoundOpened(_));
        let to = if forward {
            (self.at..self.lines.len()).find(opens).map_or(self.lines.len(), |index| index + 1)
        } else {
            (0..self.at.saturating_sub(1)).rev().find(opens).map_or(0, |index| index + 1)
        };
        self.seek(to);
    }

    /// How many events have happened once the next round is revealed and counted; none if none will be.
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
    pub fn toggle(&mut self) {
        if self.playing.take().is_none() {
            if self.at == self.lines.len() {
                self.seek(0);
            }
            self.playing = Some(0);
        }
    }

    pub fn change_speed(&mut self, faster: bool) {
        self.speed =
            if faster { (self.speed + 1).min(SPEEDS.len() - 1) } else { self.speed.saturating_sub(1) };
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

    /// Milliseconds until the screen should be drawn again while it plays: the next event, or the next
    /// move of the clock.
    pub fn due_or_tick(&self) -> Option<u64> {
        const TICK: u64 = 200;
        self.due_in().map(|due| due.min(TICK))
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

/// How long a rest is played, in milliseconds, and whether it is a quiet stretch that is folded.
fn played(real: u64) -> (u64, bool) {
    if real > QUIET_FROM { (QUIET, true) } else { (real.max(SHORTEST_REST), false) }
}
