//! Progress of a headless session on standard error.
//!
//! Prints waits with their reason, a regular line while work runs, and after the close the seats without a
//! ballot. Prints nothing of an answer before the close.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Mutex;
use std::time::Duration;

use indexmap::IndexMap;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::Instant;

use crate::clock;
use crate::config::providers::{BuiltInProvider, known};
use crate::history::{Event, PauseReason, RoundRun, Session, Timestamp};
use crate::insight::independence::{left_out, same_seats};
use crate::insight::round_view::{SeatView, seats};
use crate::insight::wording::format_duration;
use crate::participants::lock;
use crate::participants::progress::{Progress, ProgressBoard, RequestPhase};
use crate::round::answer::{Finish, Origin, Outcome};

/// Shorter waits are not printed, in milliseconds.
const SHORT_MS: u64 = 5000;
const EVERY: Duration = Duration::from_secs(30);

pub struct ProgressPrinter {
    pub watches: ProgressBoard,
    say: Box<dyn Fn(&str) + Send + Sync>,
    /// Whether a progress bar replaces the regular line.
    on_terminal: bool,
    state: Mutex<PrinterState>,
}

#[derive(Default)]
struct PrinterState {
    bar: Option<ProgressBar>,
    work: Option<ReportedWork>,
    waits: HashMap<String, Instant>,
    /// Last round whose seats were printed.
    round: u32,
    warned: HashSet<String>,
}

struct ReportedWork {
    what: String,
    detail: String,
    since: Instant,
    told: Instant,
}

impl ProgressPrinter {
    pub fn new(on_terminal: bool, say: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { watches: ProgressBoard::default(), say: Box::new(say), on_terminal, state: Mutex::default() }
    }

    /// Prints a line, above the progress bar if it is shown.
    pub fn note(&self, text: &str) {
        let bar = lock(&self.state).bar.clone();
        match bar {
            Some(bar) => bar.suspend(|| (self.say)(text)),
            None => (self.say)(text),
        }
    }

    /// Prints the progress line of an event, if it has one.
    pub fn print_event(&self, event: &Event, session: &Session) {
        self.lines_of(event, session).iter().for_each(|line| self.note(line));
    }

    /// Updates the running work and the progress bar.
    pub fn see(&self, session: &Session) {
        let now = Instant::now();
        let mut state = lock(&self.state);
        let before = state.work.take();
        state.work = under_way(session).map(|(what, detail)| match before.filter(|work| work.what == what) {
            Some(before) => ReportedWork { detail, ..before },
            None => ReportedWork { what, detail, since: now, told: now },
        });
        let Some(round) = session.open_round().filter(|_| self.on_terminal) else {
            drop(state);
            return self.finish();
        };
        let bar = state.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(round.seats.len() as u64);
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} seats done {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar.set_message(format!("round {}", round.opened.number));
            bar
        });
        bar.set_position((round.seats.len() - round.open_seats().count()) as u64);
    }

    fn lines_of(&self, event: &Event, session: &Session) -> Vec<String> {
        if let Event::TallyMade(tally) = event
            && let Some(round) = session.round(&tally.round)
            && std::mem::replace(&mut lock(&self.state).round, round.opened.number) != round.opened.number
        {
            return closed_round_remarks(session, round);
        }
        if let Event::SessionPaused { reason: PauseReason::QuorumUnreachable, .. } = event
            && let Some(round) = session.open_round()
        {
            return by_reason(session, round, |seat| {
                seat.failed.map(|failed| ("failed", failed.reason.clone())).into_iter().collect()
            });
        }
        let line = if let Event::EnvelopeRefused(refused) = event {
            format!("an answer for {} was refused: {}", refused.participant, refused.why)
        } else if let Event::LateAnswerRefused { round, participant, .. } = event {
            format!("late: {participant}: answered after round `{round}` was closed; not counted")
        } else if let Event::WorkItemReturned(back) = event
            && let Some(error) = &back.error
        {
            format!("step `{}`: failed: {}: {error}", back.step, back.participant)
        } else if let Event::Warning { message, .. } = event
            && !session.header.as_ref().is_some_and(|header| header.unread.contains(message))
            && lock(&self.state).warned.insert(message.clone())
        {
            format!("warning: {message}")
        } else {
            return Vec::new();
        };
        vec![line]
    }

    pub fn finish(&self) {
        if let Some(bar) = lock(&self.state).bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Prints waits, and the regular line while work runs; never returns.
    pub async fn keep_reporting(&self) -> Infallible {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.wait_lines().iter().chain(&self.work_line()).for_each(|line| self.note(line));
        }
    }

    /// Returns lines about seats with a long wait that was not printed lately, grouped by reason.
    fn wait_lines(&self) -> Vec<String> {
        let progress: BTreeMap<String, Progress> = self.watches.progress().into_iter().collect();
        let mut state = lock(&self.state);
        let mut groups: IndexMap<(bool, String), (Vec<String>, u64)> = IndexMap::new();
        for (seat, progress) in progress {
            let has_turn = progress.phase != RequestPhase::Queued || progress.trouble.is_none();
            let Some(left) = progress.left_ms.or((!has_turn).then_some(0)) else {
                state.waits.remove(&seat);
                continue;
            };
            let is_new = state.waits.get(&seat).is_none_or(|told| told.elapsed() >= EVERY);
            if left == 0 && has_turn || !is_new || progress.for_ms.saturating_add(left) <= SHORT_MS {
                continue;
            }
            state.waits.insert(seat.clone(), Instant::now());
            let (seats, longest) =
                groups.entry((has_turn, progress.trouble.unwrap_or_default())).or_default();
            seats.push(seat);
            *longest = left.max(*longest);
        }
        let line = |((has_turn, why), (seats, left)): ((bool, String), (Vec<String>, u64))| {
            if !has_turn {
                return format!("waiting for a turn: {}: {why}", seats.join(", "));
            }
            let until = Timestamp(clock::now().0.saturating_add(i64::try_from(left).unwrap_or(i64::MAX)));
            format!("waiting: {} for {} more, until {until}: {why}", seats.join(", "), format_duration(left))
        };
        groups.into_iter().map(line).collect()
    }

    /// Updates the progress bar, or returns the regular line if none was printed lately.
    fn work_line(&self) -> Option<String> {
        let mut state = lock(&self.state);
        let PrinterState { bar, work, .. } = &mut *state;
        let ReportedWork { since, what, detail, told } = work.as_mut()?;
        if let Some(bar) = bar {
            bar.set_message(format!("{what}{}", self.writing()));
        }
        if self.on_terminal || told.elapsed() < EVERY {
            return None;
        }
        *told = Instant::now();
        Some(format!("running for {} s: {what}, {detail}{}", since.elapsed().as_secs(), self.writing()))
    }

    /// Describes the seat that has been asked or writing longest; empty up to `SHORT_MS`.
    fn writing(&self) -> String {
        let progress = self.watches.progress().into_iter();
        let writes = |(_, of): &(String, Progress)| {
            of.for_ms > SHORT_MS && matches!(of.phase, RequestPhase::Asked | RequestPhase::Answering)
        };
        let Some((seat, of)) = progress.filter(writes).max_by_key(|(_, of)| of.for_ms) else {
            return String::new();
        };
        let so_far = match (of.phase, of.tokens) {
            (RequestPhase::Asked, _) => "nothing yet".to_owned(),
            (_, 0) => "writing".to_owned(),
            (_, tokens) => format!("about {tokens} tokens"),
        };
        format!(" · {seat} {}: {so_far}", format_duration(of.for_ms / 1000 * 1000))
    }
}

fn under_way(session: &Session) -> Option<(String, String)> {
    if session.closed.is_some() || session.paused.is_some() {
        return None;
    }
    if let Some(round) = session.open_round() {
        let (all, open) = (round.seats.len(), round.open_seats().count());
        let detail = format!("{} of {all} seats settled", all - open);
        return Some((format!("round {} (`{}`)", round.opened.number, round.opened.round), detail));
    }
    let out = session.open_items().count();
    let step = session.step.as_ref().filter(|_| out > 0)?;
    Some((format!("step `{}`", step.id), format!("{out} work item(s) out")))
}

/// Returns remarks on the seats of a closed round: no ballot, unsupported parameters, a cut prompt, an
/// unsuitable model.
fn closed_round_remarks(session: &Session, round: &RoundRun) -> Vec<String> {
    let (number, tokens) = (round.opened.number, round.opened.estimated_tokens);
    let mut lines = by_reason(session, round, |seat| {
        let mut found = Vec::new();
        match seat.outcome {
            None | Some(Outcome::Answered | Outcome::Abstained | Outcome::Excused) => {}
            Some(Outcome::Missing) => found.push(("late", "no answer came before the close".to_owned())),
            Some(outcome) => {
                found.push((outcome.name(), seat.reason.unwrap_or("no reason is known").to_owned()));
            }
        }
        let cut = seat.answer.filter(|answer| answer.record.few_tokens(tokens).is_some());
        let server = seat.model.split('/').next().and_then(known);
        if let Some(answer) = cut {
            found.extend(answer.flags.iter().map(|flag| ("note", flag.clone())));
            let window = server.and_then(BuiltInProvider::window);
            let setting = window.map_or("its context window", |window| window.setting);
            found.push(("hint", format!("the server reads too little of the prompt: raise {setting}")));
        } else if seat.outcome == Some(Outcome::Invalid) && seat.origin == Origin::Model {
            let last = seat.answer.and_then(|answer| answer.record.replies.last());
            // Small servers get a schema without `structured`.
            let has_schema = server.is_some_and(BuiltInProvider::is_small);
            let schema = if has_schema { "" } else { ", or `structured: true` for its provider" };
            let is_thinking = |finish| matches!(finish, Finish::Length | Finish::Thinking);
            let hint = if last.is_some_and(|reply| is_thinking(reply.finish)) {
                "raise its `max_output_tokens`, or give it a lower `effort`".to_owned()
            } else {
                format!("this model does not keep the form; try a larger one{schema}")
            };
            found.push(("hint", hint));
        }
        found.extend(left_out(seat).map(|what| ("note", format!("{what}: not taken by {}", seat.model))));
        found
    });
    lines.extend(same_seats(session, round).into_iter().map(|names| {
        format!("round {number}: the same seat: {}: they differ by temperature alone", names.join(", "))
    }));
    lines
}

/// Returns lines about seats, grouped by reason.
fn by_reason(
    session: &Session,
    round: &RoundRun,
    of: impl Fn(&SeatView<'_>) -> Vec<(&'static str, String)>,
) -> Vec<String> {
    let mut groups: IndexMap<(&str, String), Vec<&str>> = IndexMap::new();
    for seat in seats(session, round) {
        for group in of(&seat) {
            groups.entry(group).or_default().push(seat.name);
        }
    }
    let number = round.opened.number;
    let line = |((what, why), names): ((&str, String), Vec<&str>)| {
        format!("round {number}: {what}: {}: {why}", names.join(", "))
    };
    groups.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    type Lines = Arc<Mutex<Vec<String>>>;

    fn printer(on_terminal: bool) -> (ProgressPrinter, Lines) {
        let lines = Lines::default();
        let said = Arc::clone(&lines);
        let say = move |line: &str| said.lock().expect("no panic").push(line.to_owned());
        (ProgressPrinter::new(on_terminal, say), lines)
    }

    async fn printed_in(printer: &ProgressPrinter, lines: &Lines, seconds: u64) -> Vec<String> {
        let telling = printer.keep_reporting();
        let _ = tokio::time::timeout(Duration::from_secs(seconds), telling).await;
        std::mem::take(&mut *lines.lock().expect("no panic"))
    }

    #[tokio::test(start_paused = true)]
    async fn only_long_waits_are_printed_at_once_and_every_thirty_seconds() {
        let (printer, lines) = printer(true);
        let watches = ["ann", "bob", "eve"].map(|seat| printer.watches.begin(seat));
        watches[0].waits("HTTP 429", Duration::from_secs(100));
        watches[1].waits("HTTP 429", Duration::from_secs(90));
        watches[2].waits("HTTP 503", Duration::from_secs(4));
        let told = printed_in(&printer, &lines, 10).await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("waiting: ann, bob for 99.0 s more, until "), "{told:?}");
        assert!(told[0].ends_with("Z: HTTP 429"), "{told:?}");
        let told = printed_in(&printer, &lines, 56).await;
        assert_eq!(told.len(), 2, "{told:?}");
        // A new wait of the same seat is printed again.
        watches[0].asked(2);
        printed_in(&printer, &lines, 2).await;
        watches[0].waits("too much", Duration::from_secs(6));
        let told = printed_in(&printer, &lines, 8).await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("ann for 5.0 s more"), "{told:?}");
        watches[2].queues();
        let told = printed_in(&printer, &lines, 10).await;
        assert_eq!(told, ["waiting for a turn: eve: HTTP 503"]);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_terminal_running_work_is_printed_every_thirty_seconds() {
        let now = Instant::now();
        let work = || ReportedWork {
            what: "round 1 (`a`)".into(),
            detail: "1 of 2 seats settled".into(),
            since: now,
            told: now,
        };
        let (there, lines) = printer(false);
        assert!(printed_in(&there, &lines, 100).await.is_empty(), "nothing is under way");
        lock(&there.state).work =
            Some(ReportedWork { told: Instant::now(), since: Instant::now(), ..work() });
        let told = printed_in(&there, &lines, 65).await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0], "running for 30 s: round 1 (`a`), 1 of 2 seats settled");
        let (seen, lines) = printer(true);
        lock(&seen.state).work = Some(work());
        assert!(printed_in(&seen, &lines, 65).await.is_empty(), "on a terminal there is a bar");
    }
}
