//! The two lines over a replay before the reveal: what is replayed, and how it stood at this moment.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::phase::{current_step, phase_words};
use super::reveal::spread;
use super::timeline::clock;
use crate::history::{RoundRun, SeatStatus, Timestamp};
use crate::insight::headline::rehearsal_mark;
use crate::sanitize::harmless_line;
use crate::tui::cell_text::cut_middle;
use crate::tui::model::Model;

/// The fewest columns of the question's name.
const SHORTEST_NAME: usize = 8;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let width = usize::from(area.width);
    let [first, second] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(area);
    let open = model.session().open_round();
    let at = model.replay.moment();
    let round_word = if width < 60 { "r" } else { "round " };
    let right = match (open, model.session().rounds.last()) {
        (Some(round), _) => {
            let ran = clock(model.session().round_ran_ms(round, at));
            vec![Span::styled(
                format!("{round_word}{} OPEN · {ran} ", round.opened.number),
                model.theme.active(),
            )]
        }
        (None, Some(round)) if round.closed.is_some() => {
            vec![Span::raw(format!("{round_word}{} closed ", round.opened.number))]
        }
        _ => vec![Span::raw("not open yet ")],
    };
    let used = Line::from(right.clone()).width();
    let label = if width < 60 { " REPLAY " } else { " REPLAY · " };
    let phase = |width| phase_words(model, current_step(model), width).unwrap_or_default();
    let used = used + label.width() + 1;
    let room = width.saturating_sub(used + SHORTEST_NAME);
    let rounds = model.replay.rounds();
    let dated = format!(" · {} · {rounds} {}", date(at), if rounds == 1 { "round" } else { "rounds" });
    // What fits beside the name, the most telling first.
    let told = [phase(area.width) + &dated, phase(area.width), phase(0)];
    let rest = told.into_iter().find(|told| told.width() <= room).unwrap_or_default();
    let used = used + rest.width();
    let name = cut_middle(&question(model), width.saturating_sub(used).max(SHORTEST_NAME));
    let left = vec![
        Span::styled(label, model.theme.key()),
        Span::styled(name, model.theme.strong()),
        Span::raw(rest),
    ];
    frame.render_widget(Paragraph::new(spread(left, right, width)), first);
    let left = open.map_or_else(Vec::new, |round| gauge(model, round, width));
    let right = vec![Span::raw(format!("as it was at {} ", time(at)))];
    frame.render_widget(Paragraph::new(spread(left, right, width)), second);
}

/// The question that is shown or comes next, else the name of what is replayed.
fn question(model: &Model) -> String {
    let session = model.session();
    let opened = session.rounds.last().map(|round| &*round.opened).or_else(|| model.replay.coming());
    let question = opened.and_then(|opened| opened.question.lines().next()).unwrap_or_default();
    let id = || session.definition.as_ref().map_or("session", |known| known.id.as_str());
    let name = if question.trim().is_empty() { id() } else { question };
    rehearsal_mark(session).to_owned() + &harmless_line(name)
}

/// How many are sealed, as a gauge, and how many failed.
fn gauge(model: &Model, round: &RoundRun, width: usize) -> Vec<Span<'static>> {
    let theme = model.theme;
    let (sealed, seats) = (round.sealed(), round.seats.len());
    let room = if width < 60 { 8 } else { 16 }.min(seats);
    let full = sealed * room / seats.max(1);
    let failed = round.seats.values().filter(|seat| matches!(seat.status, SeatStatus::Failed(_))).count();
    let mut spans = vec![
        Span::raw(if width < 60 { " " } else { " sealed " }),
        Span::styled(theme.sign("■", "#").repeat(full), theme.good()),
        Span::styled(theme.sign("□", ".").repeat(room - full), theme.faint()),
        Span::raw(format!(" {sealed} of {seats}")),
    ];
    if width >= 60 {
        spans.push(Span::raw(format!("   quorum {}", round.opened.quorum)));
    }
    if failed > 0 {
        spans.push(Span::styled(format!("   {failed} failed"), theme.bad()));
    }
    spans
}

fn date(at: Timestamp) -> String {
    at.to_string().get(..10).unwrap_or_default().to_owned()
}

fn time(at: Timestamp) -> String {
    at.to_string().get(11..19).map(|time| format!("{time} UTC")).unwrap_or_default()
}
