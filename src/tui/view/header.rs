//! The title line: which session, which round, how it stands.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use crate::core::{Deciding, deciding};
use crate::insight::wording::{headline, turnout};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::clipped_middle;
use crate::tui::model::Model;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    if area.height == 0 {
        return;
    }
    let session = model.session();
    let theme = model.theme;
    let name = session.definition.as_ref().map_or("replay", |definition| definition.id.as_str());
    let mut rest = Vec::new();
    let right = state(model, &mut rest);
    // A narrow screen has a line of its own for the numbers.
    let [area, own_line] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let beside = if own_line.is_empty() { right.width() } else { 0 };
    if session.has_rehearsal() {
        rest.push(Span::styled(" · rehearsal", theme.active()));
    }
    // The name gives way before anything that is said of the round.
    let said = Line::from(rest.clone()).width() + beside;
    let room = usize::from(area.width).saturating_sub(said + 2).max(8);
    let name = harmless_line(name);
    let name = if name.width() > room { clipped_middle(&name, room) } else { name };
    let mut spans = vec![Span::styled(format!(" {name}"), theme.strong())];
    spans.extend(rest);
    let left = Line::from(spans);
    let used = left.width() + beside;
    frame.render_widget(Paragraph::new(left), area);
    if !own_line.is_empty() {
        let numbers = Line::from(vec![Span::raw(" "), right]);
        return frame.render_widget(Paragraph::new(numbers), own_line);
    }
    // The right part gives way before the left one is covered.
    if used < usize::from(area.width) {
        frame.render_widget(Paragraph::new(Line::from(right)).alignment(Alignment::Right), area);
    }
}

/// The state of the round, and what is said of it at the right.
fn state(model: &Model, spans: &mut Vec<Span<'static>>) -> Span<'static> {
    let (session, theme) = (model.session(), model.theme);
    let round = |number: u32| format!(" {} round {number} · ", theme.sign("▸", ">"));
    if let Some(preview) = model.preview() {
        spans.push(round(preview.opened.number).into());
        spans.push(Span::styled("DRAFT", theme.active()));
        let seats = preview.opened.seats.len();
        return format!("{seats} seats · quorum {} ", preview.opened.quorum).into();
    }
    // Once it is over the round that decides is spoken of, or why there is none.
    let over =
        session.closed.as_ref().and_then(|_| Some((deciding(session)?, crate::report::outcome(session)?)));
    let (mut last, mut over) = (session.rounds.last(), over);
    if let Some((Deciding::Round(round) | Deciding::Person(round, _), _)) = over {
        (last, over) = (Some(round), over.filter(|(deciding, _)| matches!(deciding, Deciding::Person(..))));
    }
    if let Some((_, outcome)) = over {
        spans.push(format!(" {} ", theme.sign("▸", ">")).into());
        spans.push(Span::styled(harmless_line(&outcome), theme.bad()));
        return Span::default();
    }
    let Some(last) = last else {
        if let Some(run) = &session.step {
            spans.push(format!(" {} {}", theme.sign("▸", ">"), harmless_line(&run.id)).into());
        }
        return Span::default();
    };
    spans.push(round(last.opened.number).into());
    match (&last.closed, crate::insight::round_view::tally(last)) {
        (None, _) => {
            spans.push(Span::styled("OPEN", theme.active()));
            let sealed = format!("{} of {} sealed", last.sealed(), last.seats.len());
            if model.live().is_none() {
                return format!("{sealed} ").into();
            }
            let ran = session.round_ran_ms(last, model.now.max(session.last_at));
            let Some(deadline) = last.deadline_ms else {
                return format!("{sealed} · {} ", clock(ran / 1000)).into();
            };
            let left = deadline.saturating_sub(ran).div_ceil(1000);
            if left > LAST_SECONDS {
                return format!("{sealed} · {} left ", clock(left)).into();
            }
            Span::styled(format!("{sealed} · ! {} left ", clock(left)), theme.bad())
        }
        (Some(_), None) => {
            spans.push(Span::styled("CLOSED", theme.strong()));
            Span::default()
        }
        (Some(_), Some(tally)) => {
            let style = if tally.decided || tally.rule.is_none() { theme.good() } else { theme.bad() };
            spans.push(Span::styled(harmless_line(&headline(tally).label), style));
            format!("{} ", turnout(tally)).into()
        }
    }
}

/// The last seconds before a deadline look different.
const LAST_SECONDS: u64 = 10;

fn clock(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
