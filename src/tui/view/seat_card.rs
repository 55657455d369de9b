//! What can be done for the chosen seat while its round is open.

use ratatui::text::Line;

use super::numbers::{clock, quorum};
use super::seats::progress;
use crate::history::RoundRun;
use crate::insight::round_view::{SeatView, VisibleState, seats};
use crate::insight::wording::{format_duration, pluralize};
use crate::participants::progress::RequestPhase;
use crate::sanitize::harmless_line;
use crate::tui::cell_text::wrapped;
use crate::tui::model::Model;

pub fn title(model: &Model) -> String {
    let name = model.seat_name().map(harmless_line).unwrap_or_default();
    if model.live().is_some() { format!("What you can do for {name}") } else { name }
}

pub fn lines(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let mut parts: Vec<(String, bool)> = Vec::new();
    let chosen = model.seat.min(round.seats.len().saturating_sub(1));
    if let Some(seat) = seats(model.session(), round).nth(chosen) {
        state(model, round, &seat, &mut parts);
    }
    // Of a replay nothing can be done.
    if model.live().is_none() {
        parts.retain(|(text, _)| !["r  ", "x  "].iter().any(|key| text.starts_with(key)));
    } else if let Some(held) = on_hold(model, round) {
        parts.push((held, false));
    }
    parts.push((SEALED.to_owned(), false));
    let mut lines = Vec::new();
    for (text, is_strong) in parts {
        for line in wrapped(&text, width.saturating_sub(1), 6) {
            let line = format!(" {line}");
            lines.push(if is_strong { Line::styled(line, model.theme.bad()) } else { Line::from(line) });
        }
    }
    lines
}

const SEALED: &str = "Sealed until the close, for you too: no text, length, tokens or cost.";

/// How the chosen seat stands, and the keys that help it.
fn state(model: &Model, round: &RoundRun, seat: &SeatView<'_>, parts: &mut Vec<(String, bool)>) {
    let without = round.seats.len() - 1;
    let excuse = format!("x  continues without it: {} stay ({})", pluralize(without, "seat"), quorum(round));
    let retry = format!("r  asks it again: {}, a model that is there, or another", harmless_line(seat.model));
    match &seat.standing {
        VisibleState::Failed(failed) => {
            let tries = if failed.tries > 1 { format!(", {} attempts", failed.tries) } else { String::new() };
            parts.push((format!("failed{tries}: {}", harmless_line(&failed.reason)), true));
            parts.extend([(retry, false), (excuse, false)]);
        }
        VisibleState::Unread("sealed") => parts.push(("Its answer is sealed and stays.".to_owned(), false)),
        VisibleState::Unread(_) if model.pending_human().is_some_and(|(name, _)| name == seat.name) => {
            parts.push(("Your turn: Enter opens the question and your ballot.".to_owned(), true));
        }
        VisibleState::Unread(_) => {
            if let Some(progress) = progress(model, seat) {
                if let Some(trouble) = &progress.trouble {
                    parts.push((harmless_line(trouble), true));
                }
                let left = progress.left_ms.map(|left| format!(", again in {}", clock(left.div_ceil(1000))));
                let word = match progress.standing {
                    RequestPhase::Stalled => "silent",
                    other => other.word(),
                };
                let text = format!(
                    "{word} for {}, attempt {}{}",
                    format_duration(progress.for_ms),
                    progress.tries.max(1),
                    left.unwrap_or_default()
                );
                parts.push((text, false));
            }
            parts.extend([(retry, false), (excuse, false)]);
        }
        VisibleState::Excused(why) => {
            parts.push((format!("excused: {}", harmless_line(why)), false));
            parts.push((retry, false));
        }
        VisibleState::Lost | VisibleState::Missing | VisibleState::Revealed(_) => {}
    }
}

/// Why a round whose seats are all settled is still open.
fn on_hold(model: &Model, round: &RoundRun) -> Option<String> {
    model.session().round_on_hold()?;
    let failed = round.failed_seats().count();
    Some(match failed {
        0 => "All seats are settled; this round closes only when you say so.".to_owned(),
        _ => format!("The round stays open while a failed seat can be saved ({failed} failed)."),
    })
}
