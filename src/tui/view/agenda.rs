//! The agenda, conflicts and questions beside the rounds, where a wide screen has room; elsewhere they are
//! a list over the panes. What is chosen from is the same list.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::click_map::{ClickMap, Target};
use super::frame::{self, Heading};
use crate::sanitize::harmless_line;
use crate::tui::agenda_list::{AgendaGroup, AgendaRow, agenda_rows};
use crate::tui::cell_text::wrapped;
use crate::tui::keymap::Action;
use crate::tui::model::Model;

/// The narrowest screen with the agenda beside the rounds.
pub const BESIDE: u16 = 120;
/// The most lines of a title, and of what is said below it.
const MOST_LINES: usize = 2;

/// The lines; none where there is nothing on the agenda.
pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let (mut lines, mut before) = (Vec::new(), AgendaGroup::New);
    for row in agenda_rows(&model.session().agenda).iter().filter(|row| row.group != AgendaGroup::New) {
        if row.group != before {
            before = row.group;
            lines.push(Line::styled(row.group.heading(), model.theme.strong()));
        }
        lines.extend(entry(model, row, width));
    }
    lines
}

/// A row with its sign, and below it what is said of it.
fn entry(model: &Model, row: &AgendaRow, width: u16) -> Vec<Line<'static>> {
    const INDENT: usize = 4;
    let theme = model.theme;
    let (sign, style) = match (row.group, row.is_open) {
        (AgendaGroup::New, _) => (" ", Style::new()),
        (_, false) => (theme.sign("✓", "v"), theme.good()),
        (AgendaGroup::Item, true) => (theme.sign("•", "o"), Style::new()),
        (AgendaGroup::Conflict, true) => ("!", theme.bad()),
        (AgendaGroup::Question, true) => ("?", theme.active()),
    };
    let room = usize::from(width).saturating_sub(INDENT);
    let id = if row.id.is_empty() { String::new() } else { format!("{}  ", row.id) };
    let title = wrapped(&harmless_line(&format!("{id}{}", row.title)), room, MOST_LINES);
    let more = wrapped(&harmless_line(&row.more), room, MOST_LINES);
    let lead = |at: usize| if at == 0 { format!(" {sign}  ") } else { " ".repeat(INDENT) };
    let title = title.into_iter().enumerate();
    let title = title.map(|(at, line)| Line::from(vec![Span::styled(lead(at), style), Span::raw(line)]));
    let more = more.into_iter().filter(|line| !line.is_empty());
    title.chain(more.map(|line| Line::styled(format!("    {line}"), theme.faint()))).collect()
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, hits: &mut ClickMap) {
    hits.note(area, Target::Key(Action::ShowAgenda));
    let inner = frame::inner(area);
    let mut lines = lines(model, inner.width);
    let below = lines.len().saturating_sub(usize::from(inner.height));
    lines.truncate(usize::from(inner.height));
    let note = if below == 0 { "O changes, adds".to_owned() } else { format!("O shows {below} more lines") };
    frame::draw(frame, area, model.theme, &Heading { note, ..Heading::of("Agenda") }, lines);
}
