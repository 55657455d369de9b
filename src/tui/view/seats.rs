//! The seats: who is waiting, asking, sealed, failed; not a word of what they said before the close.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::report::view::{SeatView, Standing, confidence, seats, vote};
use crate::report::words::span;
use crate::text::harmless_line;
use crate::tui::model::Model;
use crate::tui::text::wrapped;

/// The pane's title and the lines that are seen.
pub fn pane(model: &Model, width: u16, scroll: usize, height: usize) -> (String, Vec<Line<'static>>) {
    let session = model.replay.session();
    let Some(round) = session.rounds.last() else {
        let goal = session.definition.as_ref().and_then(|d| d.goal.clone()).unwrap_or_default();
        let text =
            if session.header.is_some() { format!("No round is open yet.\n\n{goal}") } else { String::new() };
        let lines = wrapped(&text, usize::from(width), height).into_iter().map(Line::from).collect();
        return (" seats ".to_owned(), lines);
    };
    let count = round.seats.len();
    let chosen = model.seat.min(count.saturating_sub(1));
    // The chosen seat is always seen; scrolling moves the window around it.
    let start = (chosen + 1).saturating_sub(height).max(scroll.min(chosen)).min(count.saturating_sub(height));
    let longest = round.seats.keys().map(|name| name.chars().count()).max().unwrap_or(0).min(24);
    let shown = seats(session, round).enumerate().skip(start).take(height);
    let lines = shown.map(|(index, seat)| line(model, &seat, index == chosen, longest)).collect();
    (format!(" seats ({count}) "), lines)
}

fn line(model: &Model, seat: &SeatView<'_>, is_chosen: bool, longest: usize) -> Line<'static> {
    let (sign, word, style) = standing(model, seat);
    let name: String = harmless_line(seat.name).chars().take(longest).collect();
    let pointer = if is_chosen { model.theme.sign("▸", ">") } else { " " };
    let name_style = if is_chosen { model.theme.strong() } else { Style::new() };
    let time = seat.elapsed_ms.map(span).unwrap_or_default();
    Line::from(vec![
        Span::raw(pointer),
        Span::styled(format!("{sign} "), style),
        Span::styled(format!("{name:longest$}  "), name_style),
        Span::styled(format!("{word:22} "), style),
        Span::styled(time, model.theme.faint()),
    ])
}

/// Sign, word and style of where a seat stands: each state has its own sign and word.
fn standing(model: &Model, seat: &SeatView<'_>) -> (&'static str, String, Style) {
    let theme = model.theme;
    match &seat.standing {
        Standing::Unread("sealed") => (theme.sign("■", "#"), "sealed".to_owned(), theme.good()),
        Standing::Unread("asking") => (theme.sign("◧", "o"), "answering".to_owned(), theme.under_way()),
        Standing::Unread(word) => (theme.sign("◌", "."), (*word).to_owned(), theme.faint()),
        Standing::Lost => ("!", "lost with the key".to_owned(), theme.bad()),
        Standing::Failed(failed) => {
            let word = if failed.timed_out { "timed out" } else { "failed" };
            (theme.sign("✗", "x"), word.to_owned(), theme.bad())
        }
        Standing::Excused(_) => (theme.sign("–", "-"), "excused".to_owned(), theme.faint()),
        Standing::Missing => ("?", "missing".to_owned(), theme.bad()),
        Standing::Revealed(answer) => {
            let said = seat.ballot().and_then(vote).unwrap_or_else(|| answer.outcome.name().to_owned());
            let sure = confidence(answer).map(|sure| format!(" · {sure}")).unwrap_or_default();
            let style = if seat.ballot().is_some() { theme.good() } else { theme.bad() };
            (theme.sign("●", "*"), harmless_line(&format!("{said}{sure}")), style)
        }
    }
}
