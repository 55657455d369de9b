//! The lines at the top: what is asked and which state it is in; the numbers of that state; what comes next.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::numbers::{clock, quorum};
use super::phase::{ALL_STATES, current_step, phase_words};
use super::{layout, reveal, votes, what_next};
use crate::core::{Deciding, deciding};
use crate::history::{RoundRun, Session, Tally};
use crate::insight::headline;
use crate::insight::headline::rehearsal_mark;
use crate::insight::movement::movement;
use crate::insight::round_view::{self, dissents};
use crate::insight::wording::{group_digits, pluralize, turnout};
use crate::sanitize::harmless_line;
use crate::tally::Tier;
use crate::tui::cell_text::{clipped_middle, cut_middle};
use crate::tui::model::{Mode, Model};

const WIDE: u16 = 60;
const GAUGE: usize = 12;
/// The last seconds before a deadline look different.
const LAST_SECONDS: u64 = 10;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let has_numbers = u16::from(layout::has_numbers(model)).min(area.height.saturating_sub(1));
    let rows = [Constraint::Length(area.height.min(1)), Constraint::Length(has_numbers), Constraint::Min(0)];
    let [first, second, third] = Layout::vertical(rows).areas(area);
    let right = track(model, first.width);
    let room = usize::from(first.width).saturating_sub(right.width());
    ends(frame, first, name(model, room, first.width), right);
    let (left, right) = numbers(model, second.width);
    ends(frame, second, left, right);
    if third.height > 0 {
        frame.render_widget(Paragraph::new(what_next::line(model, third.width)), third);
    }
}

/// A line with a left and a right part; the left one gives way before the right one is covered.
fn ends(frame: &mut Frame<'_>, area: Rect, left: Line<'static>, right: Line<'static>) {
    let room = area.width.saturating_sub(u16::try_from(right.width()).unwrap_or(u16::MAX));
    frame.render_widget(Paragraph::new(left), Rect { width: room, ..area });
    frame.render_widget(Paragraph::new(right).alignment(Alignment::Right), area);
}

/// What is asked, or the name of the session, in this many columns; the words behind it stay whole.
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
    let mut rest = String::new();
    let phase = phase_words(model, current_step(model), width);
    let of = if model.rounds_back > 0 { format!(" of {}", session.rounds.len()) } else { String::new() };
    match (asked, &session.step) {
        _ if phase.is_some() && of.is_empty() => rest.push_str(&phase.unwrap_or_default()),
        (Some(opened), _) if width >= WIDE => rest.push_str(&format!(" · round {}{of}", opened.number)),
        (Some(opened), _) => rest.push_str(&format!(" r{} ", opened.number)),
        (None, Some(run)) => rest.push_str(&format!(" · step {}", harmless_line(&run.id))),
        (None, None) => {}
    }
    if layout::is_replayed(model) {
        let date: String = model.replay.moment().to_string().chars().take(10).collect();
        let dated = format!(" · {date} · {}", pluralize(model.replay.rounds(), "round"));
        // What fits beside the name.
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
    let is_short = width < ALL_STATES && phase_words(model, current_step(model), width).is_some();
    if width < WIDE || is_short {
        return Line::styled(format!("{} ", marked(at)), theme.strong());
    }
    let link = theme.sign("─", "-");
    let mut spans = Vec::new();
    for (index, word) in words.iter().enumerate().take(at.max(2) + 1) {
        spans.extend((index > 0).then(|| Span::styled(link, theme.faint())));
        spans.push(if index == at {
            Span::styled(marked(index), theme.strong())
        } else {
            Span::styled(format!(" {} {word} ", index + 1), theme.faint())
        });
    }
    Line::from(spans)
}

/// What counts in this state, and what is said of it at the right.
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
    let decides = match deciding(model.session()).filter(|_| reveal::round(model).is_none()) {
        Some(Deciding::Round(round) | Deciding::Person(round, _)) => round,
        _ => shown,
    };
    (outcome(model, decides, usize::from(width)), Line::default())
}

/// The outcome of a round, and behind it the numbers that fit.
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
    let sign = if otherwise.is_none() && tally.decided { theme.sign("✓ ", "+ ") } else { "" };
    let made = headline(session, round, tally);
    let label = harmless_line(&otherwise.unwrap_or(made.label));
    let label = format!(" {sign}{} ", cut_middle(&label, width.saturating_sub(5)));
    let mut used = label.width() + 1;
    let mut left =
        vec![Span::raw(" "), Span::styled(label, style.add_modifier(Modifier::BOLD | Modifier::REVERSED))];
    for part in counted(model, round, tally, &made.sentence) {
        let part = format!("{}{part}", if left.len() == 2 { "  " } else { " · " });
        if used + part.width() > width {
            break;
        }
        used += part.width();
        left.push(Span::raw(part));
    }
    Line::from(left)
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
    let made = tiers.map(|tier| (gauge(model, round, tier), time(model, round, tier)));
    let fits = |(left, right): &(Line<'_>, Line<'_>)| left.width() + right.width() < usize::from(width);
    let last = (gauge(model, round, 3), time(model, round, 4));
    made.into_iter().find(fits).unwrap_or(last)
}

/// How many seats are sealed and failed, and what that means for the quorum; shorter with each tier.
fn gauge(model: &Model, round: &RoundRun, tier: u8) -> Line<'static> {
    let theme = model.theme;
    let (sealed, seats) = (round.sealed(), round.seats.len());
    let cells = seats.min(GAUGE);
    let full = (sealed * cells).checked_div(seats).unwrap_or(0);
    let drawn = theme.sign("■", "#").repeat(full) + &theme.sign("□", ".").repeat(cells - full);
    let failed = round.failed_seats().count();
    let mut spans = vec![Span::raw(" "), Span::styled(drawn, theme.good())];
    let (sealed, seats) = (group_digits(sealed), group_digits(seats));
    if tier == 3 {
        spans.push(format!(" {sealed}/{seats}  q{}", group_digits(round.opened.quorum)).into());
        if failed > 0 {
            spans.push(Span::styled(format!("  {failed}{}", theme.sign("✗", "x")), theme.bad()));
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
    let (session, theme): (&Session, _) = (model.session(), model.theme);
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
    let bar = theme.sign("▓", "#").repeat(share) + &theme.sign("░", ".").repeat(cells - share);
    let whole = if tier == 0 { format!(" of {}", clock(deadline / 1000)) } else { String::new() };
    let text = format!("{} left {bar}{whole}", clock(left));
    if left > LAST_SECONDS {
        return format!("{} ", text.trim_end()).into();
    }
    Line::styled(format!("! {} ", text.trim_end()), theme.bad())
}
