//! Revealed answer of the chosen seat, or several answers side by side.

use std::fmt::Write as _;

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::votes;
use crate::ballot::Ballot;
use crate::history::AnswerRevealed;
use crate::insight::independence::left_out;
use crate::insight::movement::earlier;
use crate::insight::references::{Citable, references};
use crate::insight::round_view::{SeatView, confidence, seat_at, seat_named, side_of};
use crate::insight::wording::{finding, money, shown_mask};
use crate::sanitize::harmless_line;
use crate::tui::frame;
use crate::tui::model::Model;
use crate::tui::text::{cut_middle, paragraph, sure};
use crate::tui::theme::Theme;

/// Maximum lines of an answer on the screen.
const MOST_LINES: usize = 5000;
const COLUMN: u16 = 36;

fn view(model: &Model, index: usize) -> Option<SeatView<'_>> {
    let round = model.shown_round().filter(|_| model.preview().is_none())?;
    let index = index.min(round.seats.len().saturating_sub(1));
    seat_at(model.session(), round, index)
}

pub fn title(model: &Model, index: usize, room: usize) -> String {
    let Some(seat) = view(model, index) else { return "Answer".to_owned() };
    let count = model.seat_count();
    let at = index.min(count.saturating_sub(1)) + 1;
    let (name, moved) = (harmless_line(seat.name), moved(model, &seat).unwrap_or_default());
    let rest = format!("{moved} · {at} of {count}");
    // A whole name says more than the seat's number.
    let rest = if name.width() + rest.width() <= room { rest } else { moved };
    cut_middle(&name, room.saturating_sub(rest.width()).max(9)) + &rest
}

/// Returns a seat's change of option and confidence since the last round: " · ■ → ● · sure .31 → .70".
fn moved(model: &Model, seat: &SeatView<'_>) -> Option<String> {
    let (session, round) = (model.session(), model.shown_round()?);
    seat.answer?;
    let sign = |seat: &SeatView<'_>, round| side_of(seat, round).map(Theme::option_sign);
    let now = sign(seat, round);
    let before = earlier(session, round);
    let was = before.and_then(|before| sign(&seat_named(session, before, seat.name)?, before));
    let way = match (was, now) {
        (Some(was), Some(now)) if was != now => format!(" · {was} → {now}"),
        (_, Some(now)) => format!(" · {now}"),
        _ => String::new(),
    };
    let certainty = match before {
        Some(before) => votes::confidence_change(model, before, round, seat.name),
        None => seat.answer.and_then(confidence).map(|text| sure(&text)),
    };
    Some(way + &certainty.map(|sure| format!(" · sure {sure}")).unwrap_or_default())
}

pub fn lines(model: &Model, index: usize, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let Some(seat) = view(model, index) else {
        return paragraph("No answers yet.", width, 9, Style::new());
    };
    if let Some(answer) = seat.answer {
        return paragraph(&answered(model, &seat, answer), width, MOST_LINES, Style::new());
    }
    let text = match seat.reason {
        Some(reason) => reason,
        None if model.session().open_round().is_none() => "No answer before the round closed.",
        None => "Sealed until the round closes: text, length, tokens and cost are hidden.",
    };
    paragraph(text, width, MOST_LINES, Style::new())
}

pub fn seat_text(model: &Model, index: usize) -> Option<String> {
    let seat = view(model, index)?;
    Some(answered(model, &seat, seat.answer?))
}

/// Returns the maximum scroll position of answers side by side in a body of this size.
pub fn max_scroll_side_by_side(model: &Model, area: Rect) -> usize {
    let lines = |(place, index): (Rect, usize)| lines(model, index, frame::inner(place).width).len();
    let longest = columns(model, area).into_iter().map(lines).max().unwrap_or(0);
    longest.saturating_sub(usize::from(frame::inner(area).height))
}

/// Returns areas and roster indexes of the answers that fit side by side, starting with the chosen seat.
pub fn columns(model: &Model, area: Rect) -> Vec<(Rect, usize)> {
    let count = model.seat_count();
    let fit = usize::from(area.width / COLUMN).clamp(1, count.max(1));
    let first = model.seat.min(count.saturating_sub(fit));
    let places = Layout::horizontal(vec![Constraint::Fill(1); fit]).split(area);
    places.iter().copied().zip(first..count).collect()
}

fn answered(model: &Model, seat: &SeatView<'_>, answer: &AnswerRevealed) -> String {
    let phrase = seat.ballot().and_then(Ballot::phrase);
    let mut parts = vec![phrase.unwrap_or_else(|| answer.outcome.name().to_owned())];
    parts.extend(confidence(answer).map(|sure| format!("confidence {sure}")));
    parts.push(answer.record.who());
    parts.extend(left_out(seat));
    parts.extend(seat.spent.as_ref().and_then(money));
    parts.extend(seat.leaks.map(|leaks| format!("⚑ {} leaked", leaks.len())));
    let mut text = parts.join(" · ");
    if let Some(reason) = &answer.reason {
        let _ = write!(text, "\n\n{reason}");
    }
    let listing = answer.ballot.as_ref().map(Ballot::listing).unwrap_or_default();
    if !listing.is_empty() {
        text.push('\n');
        field(&listing.clone().into(), 0, &mut text);
    }
    let kind = answer.ballot.as_ref().and_then(Ballot::kind).unwrap_or_default();
    for (key, value) in &answer.answer {
        if !listing.is_empty() && key == kind.key() {
            continue;
        }
        let is_empty = matches!(value, Value::Array(items) if items.is_empty())
            || value.as_str().is_some_and(|text| text.trim().is_empty());
        if !is_empty && !matches!(key.as_str(), "vote" | "consent" | "confidence") {
            // The position is first, without a heading.
            let after = if value.is_string() { " " } else { "" };
            let _ = match key.as_str() {
                "position" => write!(text, "\n\n"),
                _ => write!(text, "\n\n{}:{after}", key.replace('_', " ")),
            };
            match model.shown_round().filter(|_| key == "references") {
                Some(round) => cited(&Citable::from_snapshot(&round.opened.snapshot), answer, &mut text),
                None => field(value, 0, &mut text),
            }
        }
    }
    for flag in &answer.flags {
        let _ = write!(text, "\n\nnote: {flag}");
    }
    for leak in seat.leaks.into_iter().flatten() {
        let _ = write!(text, "\n\n⚑ {}", finding(leak, shown_mask(model.session(), leak)));
    }
    text
}

/// Lists the references of an answer: the lines each cites, or a mark if it cannot be resolved.
fn cited(citable: &Citable, answer: &AnswerRevealed, text: &mut String) {
    for reference in references(answer) {
        let _ = match citable.resolve(reference) {
            Some(found) => write!(text, "\n- {reference}{found}"),
            None => write!(text, "\n- ⚑ unresolved reference {reference}"),
        };
    }
}

fn field(value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::String(words) => text.push_str(&words.trim_end().replace('\n', &format!("\n{indent}"))),
        Value::Array(items) => {
            for item in items {
                let _ = write!(text, "\n{indent}- ");
                field(item, depth + 1, text);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                let _ = write!(text, "\n{indent}- {}: ", key.replace('_', " "));
                field(value, depth + 1, text);
            }
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}
