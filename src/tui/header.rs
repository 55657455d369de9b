//! The lines at the top: what is asked and which state it is in; the numbers of that state; what comes next.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::frame::cells;
use super::keys::{Action, ScreenState};
use super::model::{Mode, Model};
use super::panes::{checks, seats::quorum, votes};
use super::text::{clipped_middle, clock, cut_middle, hanging};
use crate::core::{Deciding, deciding};
use crate::history::{RoundOutcome, RoundRun, SeatStatus, Tally, round_outcome};
use crate::insight::asked::blocked;
use crate::insight::headline::{headline, rehearsal_mark};
use crate::insight::movement::movement;
use crate::insight::phase::phase_of;
use crate::insight::round_view::{self, dissents};
use crate::insight::wording::{group_digits, pluralize, turnout};
use crate::sanitize::harmless_line;
use crate::tally::Tier;

const WIDE: u16 = 60;
/// The narrowest screen that shows all states of a round beside the phase of a discussion.
const ALL_STATES: u16 = 100;
/// The lowest screen that says what comes next even if nothing presses.
const LOW: u16 = 14;
const GAUGE: usize = 12;
const LAST_SECONDS: u64 = 10;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let has_numbers = u16::from(has_numbers(model)).min(area.height.saturating_sub(1));
    let rows = [Constraint::Length(area.height.min(1)), Constraint::Length(has_numbers), Constraint::Min(0)];
    let [first, second, third] = Layout::vertical(rows).areas(area);
    let right = track(model, first.width);
    let room = usize::from(first.width).saturating_sub(right.width());
    ends(frame, first, name(model, room, first.width), right);
    let (left, right) = numbers(model, second.width);
    ends(frame, second, left, right);
    frame.render_widget(Paragraph::new(what_next(model, third.width, frame.area().height)), third);
}

/// There are no numbers before seats were asked.
pub fn has_numbers(model: &Model) -> bool {
    model.preview().is_some() || !model.session().rounds.is_empty()
}

/// A line with a left and a right part; the left one gives way before the right one is covered.
fn ends(frame: &mut Frame<'_>, area: Rect, left: Line<'static>, right: Line<'static>) {
    let room = area.width.saturating_sub(cells(right.width()));
    frame.render_widget(Paragraph::new(left), Rect { width: room, ..area });
    frame.render_widget(Paragraph::new(right).alignment(Alignment::Right), area);
}

/// Returns the phase of a discussion and the next ones, as far as the width allows; none outside discussions.
fn phase(model: &Model, width: u16) -> Option<String> {
    let session = model.session();
    // The step that is looked at: of the draft, the one that runs, the last round's, or a replay's first.
    let running = || session.step.as_ref().map(|run| run.id.as_str());
    let last = || session.rounds.last().map(|round| round.opened.step.as_str());
    let coming = || model.replay.coming().map(|opened| opened.step.as_str());
    let step = model.preview().map(|preview| preview.opened.step.as_str());
    let step = step.or_else(running).or_else(last).or_else(coming)?;
    let phase = phase_of(session.definition.as_ref()?, step)?;
    let (number, count) = (phase.number, phase.count);
    if width < WIDE {
        return Some(format!(" p{number}/{count} "));
    }
    let label = cut_middle(&harmless_line(&phase.label), 20);
    let next = phase.next.filter(|_| session.closed.is_none()).map(|next| harmless_line(&next));
    let next = match next {
        Some(next) if width < ALL_STATES => format!(" → {}", cut_middle(&next, 16)),
        Some(next) if phase.is_next_optional => format!(", then {next} if needed"),
        Some(next) => format!(", then {next}"),
        None => String::new(),
    };
    Some(format!(" · phase {number}/{count} {label}{next}"))
}

/// The question, or the name of the session, in this many columns; the words behind it stay whole.
fn name(model: &Model, room: usize, width: u16) -> Line<'static> {
    let (session, theme) = (model.session(), model.theme);
    let asked = model.preview().map(|preview| &preview.opened);
    let asked = asked.or_else(|| model.shown_round().map(|round| &*round.opened)).or(model.replay.coming());
    let id = session.definition.as_ref().map_or("session", |definition| definition.id.as_str());
    let text = asked.and_then(|opened| opened.question.lines().next()).filter(|line| !line.trim().is_empty());
    let text = rehearsal_mark(session).to_owned() + &harmless_line(text.unwrap_or(id));
    let label = match model.mode {
        Mode::Replay if width < WIDE => " REPLAY ",
        Mode::Replay => " REPLAY · ",
        Mode::Home | Mode::Live(_) => " ",
    };
    let of = if model.rounds_back > 0 { format!(" of {}", session.rounds.len()) } else { String::new() };
    let phase = phase(model, width).filter(|_| of.is_empty());
    let mut rest = match (phase, asked, &session.step) {
        (Some(phase), ..) => phase,
        (None, Some(opened), _) if width >= WIDE => format!(" · round {}{of}", opened.number),
        (None, Some(opened), _) => format!(" r{} ", opened.number),
        (None, None, Some(run)) => format!(" · step {}", harmless_line(&run.id)),
        (None, None, None) => String::new(),
    };
    if matches!(model.mode, Mode::Replay) && session.closed.is_none() {
        let date: String = model.replay.moment().to_string().chars().take(10).collect();
        let dated = format!(" · {date} · {}", pluralize(model.replay.rounds(), "round"));
        if label.width() + rest.width() + dated.width() + 24 <= room {
            rest.push_str(&dated);
        }
    }
    let room = room.saturating_sub(label.width() + rest.width() + 1).max(8);
    let text = if text.width() > room { clipped_middle(&text, room) } else { text };
    let label = Span::styled(label, theme.key());
    Line::from(vec![label, Span::styled(text, theme.strong()), Span::raw(rest)])
}

/// The states of a round, the one it is in marked; a narrow line with a phase shows that one alone.
fn track(model: &Model, width: u16) -> Line<'static> {
    let (session, theme) = (model.session(), model.theme);
    let at = match (model.preview(), model.shown_round()) {
        (Some(_), _) => 0,
        (None, Some(round)) if round.closed.is_none() => 1,
        (None, Some(_)) if session.closed.is_some() && model.rounds_back == 0 => 3,
        (None, Some(_)) => 2,
        (None, None) if model.replay.coming().is_some() => return Line::raw("not open yet "),
        (None, None) => return Line::default(),
    };
    let words = ["draft", "open", "reveal", "finished"];
    let marked = |index: usize| match index {
        3 => "[FINISHED]".to_owned(),
        _ => format!("[{} {}]", index + 1, words[index].to_uppercase()),
    };
    if width < WIDE || width < ALL_STATES && phase(model, width).is_some() {
        return Line::styled(format!("{} ", marked(at)), theme.strong());
    }
    let mut spans = Vec::new();
    for (index, word) in words.iter().enumerate().take(at.max(2) + 1) {
        spans.extend((index > 0).then(|| Span::styled("─", theme.faint())));
        spans.push(if index == at {
            Span::styled(marked(index), theme.strong())
        } else {
            Span::styled(format!(" {} {word} ", index + 1), theme.faint())
        });
    }
    Line::from(spans)
}

/// The numbers of this state, and the part at the right.
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
    // Once it is over the round that decides is spoken of.
    let decides = match deciding(model.session()).filter(|_| model.revealed().is_none()) {
        Some(Deciding::Round(round) | Deciding::Person(round, _)) => round,
        _ => shown,
    };
    (outcome(model, decides, usize::from(width)), Line::default())
}

fn outcome(model: &Model, round: &RoundRun, width: usize) -> Line<'static> {
    let theme = model.theme;
    let session = model.session();
    let over = session.closed.as_ref().filter(|_| model.rounds_back == 0);
    let otherwise = over.and_then(|_| match deciding(session)? {
        Deciding::Round(_) => None,
        Deciding::Person(..) | Deciding::NotHeld(..) | Deciding::NoneHeld => crate::report::outcome(session),
    });
    let Some(tally) = round_view::tally(round) else {
        let text = otherwise.unwrap_or_else(|| "closed, not counted".to_owned());
        return Line::styled(format!(" {}", harmless_line(&text)), theme.bad());
    };
    let style = match (&otherwise, tally.rule) {
        (None, None) => theme.strong(),
        (None, Some(_)) if tally.decided => theme.good(),
        _ => theme.bad(),
    };
    let sign = if otherwise.is_none() && tally.decided { "✓ " } else { "" };
    let made = headline(session, round, tally);
    let label = harmless_line(&otherwise.unwrap_or(made.label));
    let label = format!(" {sign}{} ", cut_middle(&label, width.saturating_sub(5)));
    let mut line = Line::raw(" ");
    line.push_span(Span::styled(label, style.add_modifier(Modifier::BOLD | Modifier::REVERSED)));
    let mut gap = "  ";
    for part in counted(model, round, tally, &made.sentence) {
        if line.width() + gap.width() + part.width() > width {
            break;
        }
        line.push_span(format!("{gap}{part}"));
        gap = " · ";
    }
    line
}

/// The numbers of a count, those that say most first.
fn counted(model: &Model, round: &RoundRun, tally: &Tally, sentence: &str) -> Vec<String> {
    let session = model.session();
    let mut parts = Vec::new();
    match (tally.verdict.winners.as_slice(), tally.rule) {
        ([winner], Some(rule)) if tally.decided && votes::unit(round) == "seats" => {
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
    match round_view::seats(session, round).filter(|seat| dissents(seat, &winners)).count() {
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

/// The gauge and the time of an open round. Where both are too long, first the whole time goes, then the bar of
/// the time, then words; the time left never.
fn open_numbers(model: &Model, round: &RoundRun, width: u16) -> (Line<'static>, Line<'static>) {
    let tiers = if width < WIDE { 3..=3 } else { 0..=3 };
    let mut made = tiers.map(|tier| (gauge(model, round, tier), time(model, round, tier)));
    let fits = |(left, right): &(Line<'_>, Line<'_>)| left.width() + right.width() < usize::from(width);
    made.find(fits).unwrap_or_else(|| (gauge(model, round, 3), time(model, round, 4)))
}

/// Returns the numbers of sealed and failed seats and their meaning for the quorum; shorter with each tier.
fn gauge(model: &Model, round: &RoundRun, tier: u8) -> Line<'static> {
    let theme = model.theme;
    let (sealed, seats) = (round.sealed(), round.seats.len());
    let cells = seats.min(GAUGE);
    let full = (sealed * cells).checked_div(seats).unwrap_or(0);
    let drawn = "■".repeat(full) + &"□".repeat(cells - full);
    let failed = round.failed_seats().count();
    let mut spans = vec![Span::raw(" "), Span::styled(drawn, theme.good())];
    let (sealed, seats) = (group_digits(sealed), group_digits(seats));
    if tier == 3 {
        spans.push(format!(" {sealed}/{seats}  q{}", group_digits(round.opened.quorum)).into());
        if failed > 0 {
            spans.push(Span::styled(format!("  {failed}✗"), theme.bad()));
        }
        return Line::from(spans);
    }
    let word = if tier < 2 { " sealed" } else { "" };
    spans.push(format!(" {sealed} of {seats}{word}   {}", quorum(round)).into());
    if failed > 0 {
        spans.push(Span::styled(format!("   {} failed", group_digits(failed)), theme.bad()));
    }
    Line::from(spans)
}

/// The time left, or the time spent where there is no deadline; shorter with each tier.
fn time(model: &Model, round: &RoundRun, tier: u8) -> Line<'static> {
    let (session, theme) = (model.session(), model.theme);
    if model.live().is_none() {
        let at = model.replay.moment();
        let time = at.to_string().get(11..19).unwrap_or_default().to_owned();
        let as_it_was = if tier < 3 { format!(" · as it was at {time} UTC") } else { String::new() };
        return format!("{}{as_it_was} ", clock(session.round_ran_ms(round, at) / 1000)).into();
    }
    let ran = session.round_ran_ms(round, model.now.max(session.last_at));
    let Some(deadline) = round.deadline_ms else { return format!("{} ", clock(ran / 1000)).into() };
    let left = deadline.saturating_sub(ran).div_ceil(1000);
    let cells = [10, 0, 0, 3, 0][usize::from(tier).min(4)];
    let share = usize::try_from(deadline.saturating_sub(ran) * cells as u64 / deadline.max(1)).unwrap_or(0);
    let share = share.min(cells);
    let bar = "▓".repeat(share) + &"░".repeat(cells - share);
    let whole = if tier == 0 { format!(" of {}", clock(deadline / 1000)) } else { String::new() };
    let text = format!("{} left {bar}{whole}", clock(left));
    if left > LAST_SECONDS {
        return format!("{} ", text.trim_end()).into();
    }
    Line::styled(format!("! {} ", text.trim_end()), theme.bad())
}

/// The next thing in words with its keys, in at most two lines; on a low screen only what is pressing.
pub fn what_next(model: &Model, width: u16, height: u16) -> Vec<Line<'static>> {
    let (text, is_pressing) = match model.screen_state() {
        ScreenState::Draft => draft(model),
        ScreenState::Open => open(model),
        ScreenState::Question => {
            let enter = model.keys.first(Action::OpenItem);
            let amends = format!("{enter} amends the proposal and asks again, or leaves it blocked");
            let is_blocked = blocked(model.session()).is_some();
            (if is_blocked { amends } else { format!("you are asked: {enter} answers") }, true)
        }
        ScreenState::Revealed => (revealed(model), false),
        ScreenState::Closed => (closed(model), false),
        ScreenState::Home | ScreenState::Replay => return Vec::new(),
    };
    if height < LOW && !is_pressing {
        return Vec::new();
    }
    let style = if is_pressing { model.theme.active() } else { model.theme.faint() };
    hanging(" → ", &harmless_line(&text), usize::from(width.saturating_sub(1)), 2, style)
}

fn draft(model: &Model) -> (String, bool) {
    let (open, edit) = (model.keys.first(Action::OpenRound), model.keys.first(Action::EditRound));
    let choose = model.keys.first(Action::ChooseModel);
    let (Some(live), Some(preview)) = (model.live(), model.preview()) else {
        return (format!("{open} starts the session"), false);
    };
    if preview.checked.refusal.is_some() {
        return (format!("it cannot be opened as it is: {edit} edits the question"), true);
    }
    let without = live.seats_without_model();
    if without > 0 {
        let seats = pluralize(without, "seat");
        return (format!("no model yet for {seats}: {choose} chooses who answers, {open} rehearses"), true);
    }
    if let Some((seat, _)) = live.problems.first() {
        let text = format!("{seat} would fail: {choose} gives it another model, {open} opens all the same");
        return (text, true);
    }
    if checks::is_too_big(model) {
        return (format!("too many bytes to be sent: {edit} shortens the background"), true);
    }
    let seats = preview.opened.seats.len();
    let bytes = group_digits(preview.opened.snapshot_bytes);
    (format!("{open} opens the round: {} get the same {bytes} bytes", pluralize(seats, "seat")), false)
}

fn open(model: &Model) -> (String, bool) {
    let session = model.session();
    let Some(round) = session.open_round() else {
        let step = session.step.as_ref().map(|run| format!("step {} runs: ", run.id)).unwrap_or_default();
        return (format!("{step}{} shows the steps", model.keys.first(Action::NextPane)), false);
    };
    if let Some((seat, _)) = model.pending_human() {
        let enter = model.keys.first(Action::OpenItem);
        return (format!("{seat}: your turn. {enter} opens the question and your ballot"), true);
    }
    let (sealed, seats, close) = (round.sealed(), round.seats.len(), model.keys.first(Action::CloseRound));
    let below = if sealed < round.opened.quorum { ", no decision" } else { "" };
    let closes = format!("{close} closes at {sealed} of {seats}{below}");
    let failed = round.failed_seats().count();
    if failed > 0 {
        let help = model.seat_to_help().unwrap_or_default();
        let is_failed = round.seat(&help).is_some_and(|seat| matches!(seat.status, SeatStatus::Failed(_)));
        let first = round.failed_seats().next().map(|seat| seat.name.clone()).unwrap_or_default();
        let seat = if is_failed { help } else { first };
        let (again, without) = (model.keys.first(Action::RetrySeat), model.keys.first(Action::ExcuseSeat));
        let text = format!("{failed} failed: {again} asks {seat} again, {without} drops it, {closes}");
        return (text, true);
    }
    if session.round_on_hold().is_some() {
        return (format!("all are settled: {closes} and reveals"), true);
    }
    let waits = pluralize(round.open_seats().count(), "seat");
    (format!("waiting for {waits}: it closes by itself; {closes} now"), false)
}

fn revealed(model: &Model) -> String {
    let (accept, again) = (model.keys.first(Action::AcceptResult), model.keys.first(Action::RepeatRound));
    let note = model.keys.first(Action::AddMaterial);
    let last = model.session().rounds.last().and_then(round_view::tally);
    let word = match last.map(round_outcome) {
        Some(RoundOutcome::Blocked) => "goes on from the block",
        _ if last.is_some_and(|tally| tally.decided) => "adopts it",
        _ => "goes on without a decision",
    };
    format!("{accept} {word}, {again} asks again, {note} adds a note for the next round")
}

fn closed(model: &Model) -> String {
    let (report, new) = (model.keys.first(Action::ExportReport), model.keys.first(Action::NewQuestion));
    if model.session().closed.is_none() {
        let resume = model.keys.first(Action::ResumeSession);
        return format!("paused: {resume} resumes it, {report} exports a report");
    }
    let file = model.file.rsplit('/').next().unwrap_or_default();
    format!("over, saved as {file}: {report} exports a report, {new} asks something new")
}
