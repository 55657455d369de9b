//! Top lines: the question with its state, its numbers, the next action.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::frame::cells;
use super::keys::ScreenState;
use super::model::{Mode, Model};
use super::panes::{checks, seats::quorum, votes};
use super::text::{clipped_middle, clock, cut_middle, hanging};
use crate::core::{Deciding, ExitCode, decided_by_person, deciding, questions, session_exit};
use crate::history::{RoundOutcome, RoundRun, SeatStatus, Tally, WorkItemOffered, round_outcome};
use crate::insight::headline::{blocked, question_headline, rehearsal_mark, session_headline};
use crate::insight::movement::movement;
use crate::insight::round_view::{self, dissents};
use crate::insight::wording::{group_digits, pluralize, turnout};
use crate::sanitize::harmless_line;
use crate::tally::{Rule, Tier};

const WIDE: u16 = 60;
/// Lowest screen height that shows the next action even if it is not urgent.
const LOW: u16 = 14;
const GAUGE: usize = 12;
const LAST_SECONDS: u64 = 10;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let has_numbers = u16::from(has_numbers(model)).min(area.height.saturating_sub(1));
    let rows = [Constraint::Length(area.height.min(1)), Constraint::Length(has_numbers), Constraint::Min(0)];
    let [first, second, third] = Layout::vertical(rows).areas(area);
    let right = state(model);
    let room = usize::from(first.width).saturating_sub(right.width());
    ends(frame, first, name(model, room, first.width), right);
    let (left, right) = numbers(model, second.width);
    ends(frame, second, left, right);
    frame.render_widget(Paragraph::new(what_next(model, third.width, frame.area().height)), third);
}

/// Returns whether a round or preview has numbers to show.
pub fn has_numbers(model: &Model) -> bool {
    model.preview().is_some() || !model.session().rounds.is_empty()
}

/// Draws a line with a left and a right part; the left one is cut first.
fn ends(frame: &mut Frame<'_>, area: Rect, left: Line<'static>, right: Line<'static>) {
    let room = area.width.saturating_sub(cells(right.width()));
    frame.render_widget(Paragraph::new(left), Rect { width: room, ..area });
    frame.render_widget(Paragraph::new(right).alignment(Alignment::Right), area);
}

/// Returns the question, or the session's name, in `room` columns; the suffixes are never cut.
fn name(model: &Model, room: usize, width: u16) -> Line<'static> {
    let (session, theme) = (model.session(), model.theme);
    let asked = model.preview().map(|preview| &preview.opened);
    let asked = asked.or_else(|| model.shown_round().map(|round| &*round.opened));
    let id = if session.header.is_some() { &session.definition().id } else { "session" };
    let text = asked.and_then(|opened| opened.question.lines().next()).filter(|line| !line.trim().is_empty());
    let text = rehearsal_mark(session).to_owned() + &harmless_line(text.unwrap_or(id));
    let label = if matches!(model.mode, Mode::Replay) { " REPLAY " } else { " " };
    let of = if model.rounds_back > 0 { format!(" of {}", session.rounds.len()) } else { String::new() };
    let phase = asked.and_then(|opened| {
        let steps = &session.definition().steps;
        let at = steps.iter().position(|step| step.id == opened.step)?;
        let place = (steps.len() > 1).then(|| format!(" · step {} of {}", at + 1, steps.len()));
        let label = steps[at].label.as_deref().map(harmless_line);
        label.map(|label| format!(" · {}", cut_middle(&label, 24))).or(place)
    });
    let rest = match (asked, &session.step) {
        (Some(opened), _) if width >= WIDE => {
            format!(" · round {}{of}{}", opened.number, phase.unwrap_or_default())
        }
        (Some(opened), _) => format!(" r{} ", opened.number),
        (None, Some(run)) => format!(" · step {}", harmless_line(&run.id)),
        (None, None) => String::new(),
    };
    let room = room.saturating_sub(label.width() + rest.width() + 1).max(8);
    let text = if text.width() > room { clipped_middle(&text, room) } else { text };
    let label = Span::styled(label, theme.key());
    Line::from(vec![label, Span::styled(text, theme.strong()), Span::raw(rest)])
}

fn state(model: &Model) -> Line<'static> {
    let session = model.session();
    let word = match (model.preview(), model.shown_round()) {
        (Some(_), _) => "[1 DRAFT] ",
        (None, Some(round)) if round.closed.is_none() => "[2 OPEN] ",
        (None, Some(_)) if session.closed.is_some() && model.rounds_back == 0 => "[FINISHED] ",
        (None, Some(_)) => "[3 REVEAL] ",
        (None, None) => "",
    };
    Line::styled(word, model.theme.strong())
}

fn numbers(model: &Model, width: u16) -> (Line<'static>, Line<'static>) {
    if let Some(preview) = model.preview() {
        let seats = pluralize(preview.opened.seats.len(), "seat");
        let left = format!(" {seats} · quorum {} ", group_digits(preview.opened.quorum));
        let each = if width < WIDE { "tokens/seat" } else { "tokens per seat" };
        let right = format!("~{} {each} ", group_digits(preview.opened.estimated_tokens));
        return (left.into(), right.into());
    }
    let Some(shown) = model.shown_round() else { return <_>::default() };
    if shown.closed.is_none() {
        return open_numbers(model, shown, width);
    }
    // Unless a reveal is shown, these are the numbers of the deciding round.
    let decides = match deciding(model.session()).filter(|_| model.revealed().is_none()) {
        Some(Deciding::Round(round)) => round,
        _ => shown,
    };
    (outcome(model, decides, usize::from(width)), Line::default())
}

/// Returns the result of the round, or the result of all questions once the session is closed.
fn outcome(model: &Model, round: &RoundRun, width: usize) -> Line<'static> {
    let (session, theme) = (model.session(), model.theme);
    let is_one = questions(session).len() < 2 && matches!(deciding(session), Some(Deciding::Round(_)));
    let is_whole = session.closed.is_some() && model.rounds_back == 0 && !is_one;
    let made = if is_whole { session_headline(session) } else { question_headline(session, round) };
    let Some(tally) = round_view::tally(round) else {
        let text = if is_whole { &made.label } else { "closed, not counted" };
        return Line::styled(format!(" {}", harmless_line(text)), theme.bad());
    };
    let has_finished = || session_exit(session) == ExitCode::Finished;
    let is_made = || tally.decided || decided_by_person(session, round).is_some();
    let is_decided = if is_whole { has_finished() } else { is_made() };
    let (sign, style) = match tally.rule {
        None if !is_whole && !is_decided => ("", theme.strong()),
        _ if is_decided => ("✓ ", theme.good()),
        _ => ("", theme.bad()),
    };
    let label = format!(" {sign}{} ", cut_middle(&harmless_line(&made.label), width.saturating_sub(5)));
    let mut line = Line::raw(" ");
    line.push_span(Span::styled(label, style.add_modifier(Modifier::BOLD | Modifier::REVERSED)));
    let parts = if is_whole {
        made.sentence.split_inclusive(". ").map(|part| harmless_line(part.trim())).collect()
    } else {
        counted(model, round, tally, &made.sentence)
    };
    let mut gap = "  ";
    for part in parts {
        if line.width() + gap.width() + part.width() > width {
            break;
        }
        line.push_span(format!("{gap}{part}"));
        gap = " · ";
    }
    line
}

/// Returns the numbers of a tally, the most important first.
fn counted(model: &Model, round: &RoundRun, tally: &Tally, sentence: &str) -> Vec<String> {
    let session = model.session();
    let mut parts = Vec::new();
    let is_consent = tally.rule == Some(Rule::Consent);
    match (tally.verdict.winners.as_slice(), tally.rule) {
        ([winner], Some(rule)) if tally.decided && !is_consent && votes::unit(round) == "seats" => {
            let score = tally.verdict.scores.get(winner).map(ToString::to_string).unwrap_or_default();
            parts.push(format!("{score} of {}, {}", tally.asked, rule.name()));
        }
        _ => parts.extend(sentence.split_inclusive(". ").next().map(|first| harmless_line(first.trim()))),
    }
    if !tally.quorum_met {
        parts.push("quorum NOT MET".to_owned());
    }
    if let Some(tier) = tally.tier.filter(|tier| *tier > Tier::None) {
        parts.push(tier.name().to_owned());
    }
    let winners = round_view::winners(session, round);
    match round_view::seats(session, round).filter(|seat| !is_consent && dissents(seat, &winners)).count() {
        0 => {}
        1 => parts.push("1 disagrees".to_owned()),
        count => parts.push(format!("{count} disagree")),
    }
    if let Some(moved) = movement(session, round).filter(|moved| !moved.moves.is_empty()) {
        parts.push(format!("{} changed", moved.moves.len()));
    }
    if tally.answered != tally.asked {
        parts.push(turnout(tally));
    }
    let spent = session.spent(&|name| session.price(name));
    if spent.dollars > 0.0 {
        parts.push(format!("${:.4}", spent.dollars));
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the gauge and the time of an open round, shortened to fit.
/// First the time's bar is dropped, then words; the time left always stays.
fn open_numbers(model: &Model, round: &RoundRun, width: u16) -> (Line<'static>, Line<'static>) {
    for (is_short, has_bar) in [(false, true), (false, false), (true, false)] {
        let (left, right) = (gauge(model, round, is_short), time(model, round, is_short, has_bar));
        let fits = width >= WIDE && left.width() + right.width() < usize::from(width);
        if fits || is_short {
            return (left, right);
        }
    }
    <_>::default()
}

/// Returns the numbers of sealed and failed seats and their meaning for the quorum.
fn gauge(model: &Model, round: &RoundRun, is_short: bool) -> Line<'static> {
    let theme = model.theme;
    let (sealed, seats, failed) = (round.sealed(), round.seats.len(), round.failed_seats().count());
    let cells = seats.min(GAUGE);
    let full = (sealed * cells).checked_div(seats).unwrap_or(0);
    let drawn = "■".repeat(full) + &"□".repeat(cells - full);
    let (sealed, seats, failed) = (group_digits(sealed), group_digits(seats), group_digits(failed));
    let (numbers, trouble) = if is_short {
        (format!(" {sealed}/{seats}  q{}", group_digits(round.opened.quorum)), format!("  {failed}✗"))
    } else {
        (format!(" {sealed} of {seats} sealed   {}", quorum(round)), format!("   {failed} failed"))
    };
    let mut spans = vec![Span::raw(" "), Span::styled(drawn, theme.good()), numbers.into()];
    spans.extend((failed != "0").then(|| Span::styled(trouble, theme.bad())));
    Line::from(spans)
}

/// Returns the time left, or the time spent without a deadline.
fn time(model: &Model, round: &RoundRun, is_short: bool, has_bar: bool) -> Line<'static> {
    const CELLS: u64 = 10;
    let (session, theme) = (model.session(), model.theme);
    if model.live().is_none() {
        let at = model.replay.moment();
        let time = at.to_string().get(11..19).unwrap_or_default().to_owned();
        let as_it_was = if is_short { String::new() } else { format!(" · as it was at {time} UTC") };
        return format!("{}{as_it_was} ", clock(session.round_ran_ms(round, at) / 1000)).into();
    }
    let ran = session.round_ran_ms(round, model.now.max(session.last_at));
    let Some(deadline) = round.deadline_ms else { return format!("{} ", clock(ran / 1000)).into() };
    let left = deadline.saturating_sub(ran);
    let share = (left * CELLS / deadline.max(1)).min(CELLS) as usize;
    let bar = " ".to_owned() + &"▓".repeat(share) + &"░".repeat(CELLS as usize - share);
    let left = left.div_ceil(1000);
    let text = format!("{} left{} ", clock(left), if has_bar { &bar } else { "" });
    if left > LAST_SECONDS { text.into() } else { Line::styled(format!("! {text}"), theme.bad()) }
}

/// Returns the next action with its keys, in at most two lines; on a low screen only if it is urgent.
pub fn what_next(model: &Model, width: u16, height: u16) -> Vec<Line<'static>> {
    let (text, is_pressing) = match model.screen_state() {
        ScreenState::Draft => draft(model),
        ScreenState::Open => open(model),
        ScreenState::Question if blocked(model.session()).is_some() => {
            ("Enter amends the proposal and asks again, or leaves it blocked".to_owned(), true)
        }
        ScreenState::Question => ("you are asked: Enter answers".to_owned(), true),
        ScreenState::Revealed => (revealed(model), false),
        ScreenState::Closed => (closed(model), false),
        ScreenState::Replay if model.replay.at == 0 => ("no event yet: space plays".to_owned(), false),
        ScreenState::Replay => (model.replay.caption(), false),
        ScreenState::Home => return Vec::new(),
    };
    if height < LOW && !is_pressing {
        return Vec::new();
    }
    let style = if is_pressing { model.theme.active() } else { model.theme.faint() };
    let (room, most) = (usize::from(width.saturating_sub(1)), 2 + usize::from(width < WIDE));
    hanging(" → ", &harmless_line(&text), room, most, style)
}

fn draft(model: &Model) -> (String, bool) {
    let (Some(live), Some(preview)) = (model.live(), model.preview()) else {
        return ("o starts the session".to_owned(), false);
    };
    let without = live.seats_without_model();
    let text = if preview.checked.refusal.is_some() {
        "it cannot be opened as it is: e edits the question".to_owned()
    } else if without > 0 {
        format!("no model yet for {}: m chooses who answers, o rehearses", pluralize(without, "seat"))
    } else if let Some((seat, _)) = live.problems().first() {
        format!("{seat} would fail: m gives it another model, o opens all the same")
    } else if checks::is_too_big(model) {
        "too many bytes to be sent: e shortens the background".to_owned()
    } else {
        let seats = pluralize(preview.opened.seats.len(), "seat");
        let bytes = group_digits(preview.opened.snapshot_bytes);
        return (format!("o opens the round: the same {bytes} bytes for {seats}"), false);
    };
    (text, true)
}

fn open(model: &Model) -> (String, bool) {
    let session = model.session();
    if let Some(WorkItemOffered { participant, step, .. }) = model.pending_item() {
        return (format!("{participant}: your turn. Enter opens the work of step {step}"), true);
    }
    let Some(round) = session.open_round() else {
        let step = session.step.as_ref().map(|run| format!("step {} runs: ", run.id)).unwrap_or_default();
        return (format!("{step}Tab shows the steps"), false);
    };
    if let Some(seat) = model.pending_human() {
        return (format!("{seat}: your turn. Enter opens the question and your ballot"), true);
    }
    let (sealed, seats) = (round.sealed(), round.seats.len());
    let below = if sealed < round.opened.quorum { ", no decision" } else { "" };
    let closes = format!("c closes at {} of {}{below}", group_digits(sealed), group_digits(seats));
    if let Some(first) = round.failed_seats().next() {
        let help = model.seat_to_help().and_then(|name| round.seat(&name));
        let is_failed = help.filter(|seat| matches!(seat.status, SeatStatus::Failed(_)));
        let (failed, seat) = (round.failed_seats().count(), &is_failed.unwrap_or(first).name);
        return (format!("{failed} failed: r asks {seat} again, x drops it, {closes}"), true);
    }
    if session.round_on_hold().is_some() {
        return (format!("all are settled: {closes} and reveals"), true);
    }
    let waits = pluralize(round.open_seats().count(), "seat");
    let now = closes.replacen("closes", "closes now", 1);
    (format!("waiting for {waits}: it closes by itself; {now}"), false)
}

fn revealed(model: &Model) -> String {
    let last = model.session().rounds.last().and_then(round_view::tally);
    let word = match last.map(round_outcome) {
        Some(RoundOutcome::Blocked) if blocked(&model.if_accepted()).is_some() => "leads to the amendment",
        Some(RoundOutcome::Blocked) => "continues despite the block",
        _ if last.is_some_and(|tally| tally.rule.is_none()) => "continues",
        _ if last.is_some_and(|tally| tally.decided) => "adopts it",
        _ => "continues without a decision",
    };
    format!("A {word}, n asks again, N adds a note for the next round")
}

fn closed(model: &Model) -> String {
    let Some(closed) = &model.session().closed else {
        return "paused: o resumes it, R exports a report".to_owned();
    };
    let why = closed.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let file = model.file.rsplit('/').next().unwrap_or_default();
    format!("over{why}, saved as {file}: R exports a report, n asks something new, F forks it")
}
