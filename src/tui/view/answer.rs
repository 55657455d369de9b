//! The chosen seat's answer, once it may be read.

use ratatui::text::Line;
use serde_json::Value;

use crate::report::view::{SeatView, confidence, seats, vote};
use crate::session::AnswerRevealed;
use crate::text::harmless_line;
use crate::tui::model::Model;
use crate::tui::text::wrapped;

/// No answer is shown longer than this, in lines of the screen.
const MOST_LINES: usize = 5000;

/// The pane's title and the lines that are seen.
pub fn pane(model: &Model, width: u16, scroll: usize, height: usize) -> (String, Vec<Line<'static>>) {
    let session = model.replay.session();
    let Some(round) = session.rounds.last() else { return (" answer ".to_owned(), Vec::new()) };
    let count = round.seats.len();
    let chosen = model.seat.min(count.saturating_sub(1));
    let Some(seat) = seats(session, round).nth(chosen) else { return (" answer ".to_owned(), Vec::new()) };
    let title = format!(" {} · {} of {count} ", harmless_line(seat.name), chosen + 1);
    let text = match seat.answer() {
        Some(answer) => answered(&seat, answer),
        None => unanswered(&seat, round.closed.is_some()),
    };
    let lines = wrapped(&text, usize::from(width), MOST_LINES);
    (title, super::from(lines.into_iter().map(Line::from).collect(), scroll, height))
}

fn unanswered(seat: &SeatView<'_>, is_closed: bool) -> String {
    match (seat.reason(), is_closed) {
        (Some(reason), _) => reason.to_owned(),
        (None, true) => "No answer came before the round was closed.".to_owned(),
        (None, false) => {
            "Answers stay sealed until the round is closed: no text, no length, no tokens, no cost."
                .to_owned()
        }
    }
}

fn answered(seat: &SeatView<'_>, answer: &AnswerRevealed) -> String {
    let mut parts = vec![seat.model.to_owned()];
    parts.push(seat.ballot().and_then(vote).unwrap_or_else(|| answer.outcome.name().to_owned()));
    parts.extend(confidence(answer).map(|sure| format!("confidence {sure}")));
    let mut text = parts.join(" · ");
    if let Some(reason) = &answer.reason {
        text.push_str(&format!("\n\n{reason}"));
    }
    for (key, value) in &answer.answer {
        if !matches!(key.as_str(), "vote" | "consent" | "confidence") {
            text.push_str(&format!("\n\n{}\n", key.replace('_', " ")));
            field(value, "", &mut text);
        }
    }
    for flag in &answer.flags {
        text.push_str(&format!("\n\nnote: {flag}"));
    }
    text
}

fn field(value: &Value, indent: &str, text: &mut String) {
    match value {
        Value::String(words) => text.push_str(&format!("{indent}{}", words.trim_end())),
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(words) => text.push_str(&format!("{indent}- {}\n", words.trim_end())),
                    other => text.push_str(&format!("{indent}- {other}\n")),
                }
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                text.push_str(&format!("{indent}{}: ", key.replace('_', " ")));
                if value.is_array() {
                    text.push('\n');
                }
                field(value, "  ", text);
                text.push('\n');
            }
        }
        other => text.push_str(&format!("{indent}{other}")),
    }
}
