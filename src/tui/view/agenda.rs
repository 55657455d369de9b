//! The agenda, conflicts and questions beside the rounds, where a wide screen has room; elsewhere they are
//! a list over the panes. What is chosen from is the same list.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::click_map::{ClickMap, Target};
use crate::sanitize::harmless_line;
use crate::tui::agenda_list::{AgendaGroup, AgendaRow, agenda_rows};
use crate::tui::cell_text::wrapped;
use crate::tui::keymap::Action;
use crate::tui::model::{Menu, MenuKind, Model, Overlay};

/// The narrowest screen with the agenda beside the rounds.
pub const BESIDE: u16 = 120;
/// The most lines of a title, and of what is said below it.
const MOST_LINES: usize = 2;

/// The list of the agenda, if it is open.
fn menu(model: &Model) -> Option<&Menu> {
    match &model.overlay {
        Some(Overlay::Menu(menu)) if menu.kind == MenuKind::Agenda => Some(menu),
        _ => None,
    }
}

/// The lines, each with the row of the list it belongs to; none where there is nothing on the agenda.
pub fn lines(model: &Model, width: u16) -> Vec<(Option<usize>, Line<'static>)> {
    let rows = agenda_rows(&model.session().agenda);
    if rows.iter().all(|row| row.group == AgendaGroup::New) {
        return Vec::new();
    }
    let menu = menu(model);
    let mut lines = Vec::new();
    let mut before = AgendaGroup::New;
    for (index, row) in rows.iter().enumerate() {
        if row.group == AgendaGroup::New && menu.is_none() {
            continue;
        }
        if row.group != before && row.group != AgendaGroup::New {
            before = row.group;
            lines.push((None, Line::styled(row.group.heading(), model.theme.strong())));
        }
        let is_chosen = menu.is_some_and(|menu| menu.at == index);
        lines.extend(entry(model, row, is_chosen, width).into_iter().map(|line| (Some(index), line)));
    }
    lines
}

/// A row with its sign, and below it what is said of it.
fn entry(model: &Model, row: &AgendaRow, is_chosen: bool, width: u16) -> Vec<Line<'static>> {
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
    let pointer = if is_chosen { theme.sign("▸", ">") } else { " " };
    let lead = |at: usize| {
        let lead = if at == 0 { format!("{pointer}{sign}  ") } else { " ".repeat(INDENT) };
        Span::styled(lead, style)
    };
    let title = title.into_iter().enumerate().map(|(at, line)| Line::from(vec![lead(at), Span::raw(line)]));
    let more = more.into_iter().filter(|line| !line.is_empty());
    let more = more.map(|line| Line::styled(format!("{}{line}", " ".repeat(INDENT)), theme.faint()));
    let shown = |line: Line<'static>| if is_chosen { line.style(theme.chosen()) } else { line };
    title.map(shown).chain(more).collect()
}

/// Draws the agenda into its place; while its list is open, with the row that is chosen in view.
pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, hits: &mut ClickMap) {
    hits.note(area, Target::Key(Action::ShowAgenda));
    let all = lines(model, area.width.saturating_sub(2));
    let room = usize::from(area.height.saturating_sub(2));
    let menu = menu(model);
    let last = menu.and_then(|menu| all.iter().rposition(|(row, _)| *row == Some(menu.at)));
    let start = last.map_or(0, |last| (last + 1).saturating_sub(room));
    let below = all.len().saturating_sub(start + room);
    let hint = match (menu, below) {
        (Some(menu), _) => format!(" {} ", menu.hint),
        (None, 0) => " O changes, adds ".to_owned(),
        (None, below) => format!(" {} {below} lines · O shows all ", model.theme.sign("↓", "v")),
    };
    let shown: Vec<(Option<usize>, Line<'static>)> = all.into_iter().skip(start).take(room).collect();
    for (y, (row, _)) in (area.y + 1..area.bottom()).zip(&shown) {
        if let Some(row) = row.filter(|_| menu.is_some()) {
            hits.note(Rect { y, height: 1, ..area }, Target::Choice(row));
        }
    }
    let hint = Line::styled(hint, model.theme.faint());
    let block = model.theme.block(" Agenda ".to_owned(), menu.is_some()).title_bottom(hint);
    frame.render_widget(Clear, area);
    let lines: Vec<Line<'static>> = shown.into_iter().map(|(_, line)| line).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
