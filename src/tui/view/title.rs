//! The title line: which session, which round, how it stands.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::report::words::{headline, turnout};
use crate::text::harmless_line;
use crate::tui::model::Model;

/// Draws it.
pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let session = model.replay.session();
    let theme = model.theme;
    let name = session.definition.as_ref().map_or("replay", |definition| definition.id.as_str());
    let mut spans = vec![Span::styled(format!(" {}", harmless_line(name)), theme.strong())];
    let mut right = String::new();
    if let Some(round) = session.rounds.last() {
        let number = round.opened.number;
        spans.push(format!(" {} round {number} · ", theme.sign("▸", ">")).into());
        match (&round.closed, crate::report::view::tally(round)) {
            (None, _) => {
                spans.push(Span::styled("OPEN", theme.under_way()));
                right = format!("{} of {} sealed ", round.sealed(), round.seats.len());
            }
            (Some(_), None) => spans.push(Span::styled("CLOSED", theme.strong())),
            (Some(_), Some(tally)) => {
                let style = if tally.decided || tally.rule.is_none() { theme.good() } else { theme.bad() };
                spans.push(Span::styled(harmless_line(&headline(tally).label), style));
                right = format!("{} ", turnout(tally));
            }
        }
    }
    if session.has_rehearsal() {
        spans.push(Span::styled(" · rehearsal", theme.under_way()));
    }
    let left = Line::from(spans);
    let used = left.width() + right.chars().count();
    frame.render_widget(Paragraph::new(left), area);
    // The right part gives way before the left one is covered.
    if used < usize::from(area.width) {
        frame.render_widget(Paragraph::new(right).alignment(Alignment::Right), area);
    }
}
