//! The agenda, conflicts and questions: beside the rounds where a wide screen has room, elsewhere a list over the
//! panes. Both have the same rows.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::core::AgendaChange;
use crate::history::{Agenda, Point};
use crate::insight::wording;
use crate::sanitize::harmless_line;
use crate::tui::frame::{self, ClickMap, Heading, Target};
use crate::tui::keys::Action;
use crate::tui::model::Model;
use crate::tui::text::wrapped;

/// The narrowest screen with the agenda beside the rounds.
pub const BESIDE: u16 = 120;
/// The most lines of a title, and of what is said below it.
const MOST_LINES: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    New,
    Item,
    Conflict,
    Question,
}

pub struct AgendaRow {
    group: Group,
    /// Empty where its title is its id.
    id: String,
    title: String,
    /// Its status unless it is just open, or how it is settled or could be.
    more: String,
    is_open: bool,
    /// The change that Enter prepares; nothing for a settled entry.
    pub change: Option<AgendaChange>,
}

impl AgendaRow {
    fn new(title: &str, change: AgendaChange) -> Self {
        let (id, title, more) = (String::new(), title.to_owned(), String::new());
        Self { group: Group::New, id, title, more, is_open: true, change: Some(change) }
    }

    fn point(group: Group, point: &Point, change: AgendaChange) -> Self {
        let more = match (&point.settled, &point.minimum_change) {
            (Some(how), _) => wording::settled(how).to_owned(),
            (None, Some(change)) => format!("would pass with: {change}"),
            (None, None) => String::new(),
        };
        let id = if point.id == point.title { String::new() } else { point.id.clone() };
        let (title, is_open) = (point.title.clone(), point.is_open());
        Self { group, id, title, more, is_open, change: is_open.then_some(change) }
    }

    pub fn text(&self) -> String {
        let noun = match (self.group, self.is_open) {
            (Group::New, _) => return self.title.clone(),
            (Group::Item, _) => "agenda",
            (Group::Conflict, true) => "conflict",
            (Group::Conflict, false) => "resolved",
            (Group::Question, true) => "question",
            (Group::Question, false) => "answered",
        };
        let more = if self.more.is_empty() { String::new() } else { format!(" · {}", self.more) };
        format!("{noun:9} {:9} {}{more}", self.id, self.title)
    }
}

pub fn rows(agenda: &Agenda) -> Vec<AgendaRow> {
    let item = |id: &str| AgendaChange::Item { id: id.to_owned(), title: None, status: None, reason: None };
    let (title, description, minimum_change) = (String::new(), None, None);
    let conflict = AgendaChange::OpenConflict { title: title.clone(), description: None, minimum_change };
    let mut rows = vec![
        AgendaRow::new("+ new agenda item", item("")),
        AgendaRow::new("+ new conflict", conflict),
        AgendaRow::new("+ new question", AgendaChange::OpenQuestion { title, description }),
    ];
    rows.extend(agenda.items.iter().map(|known| {
        let reason = known.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let more = format!("{}{reason}", known.status);
        AgendaRow {
            group: Group::Item,
            id: known.id.clone(),
            title: known.title.clone(),
            more: if more == "open" { String::new() } else { more },
            is_open: known.is_open(),
            change: Some(item(&known.id)),
        }
    }));
    rows.extend(agenda.conflicts.iter().map(|point| {
        let change = AgendaChange::ResolveConflict { id: point.id.clone(), how: String::new() };
        AgendaRow::point(Group::Conflict, point, change)
    }));
    rows.extend(agenda.questions.iter().map(|point| {
        let change = AgendaChange::AnswerQuestion { id: point.id.clone(), answer: String::new() };
        AgendaRow::point(Group::Question, point, change)
    }));
    rows
}

/// The lines beside the rounds; none where there is nothing on the agenda.
pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let (mut lines, mut before) = (Vec::new(), Group::New);
    for row in rows(&model.session().agenda).iter().filter(|row| row.group != Group::New) {
        if row.group != before {
            before = row.group;
            lines.push(Line::styled(format!("{:?}s", row.group), model.theme.strong()));
        }
        entry(model, row, width, &mut lines);
    }
    lines
}

fn entry(model: &Model, row: &AgendaRow, width: u16, lines: &mut Vec<Line<'static>>) {
    const INDENT: u16 = 4;
    let theme = model.theme;
    let (sign, style) = match (row.group, row.is_open) {
        (Group::New, _) => (" ", Style::new()),
        (_, false) => ("✓", theme.good()),
        (Group::Item, true) => ("•", Style::new()),
        (Group::Conflict, true) => ("!", theme.bad()),
        (Group::Question, true) => ("?", theme.active()),
    };
    let broken =
        |text: &str| wrapped(&harmless_line(text), usize::from(width.saturating_sub(INDENT)), MOST_LINES);
    let id = if row.id.is_empty() { String::new() } else { format!("{}  ", row.id) };
    let mut lead = format!(" {sign}  ");
    for line in broken(&format!("{id}{}", row.title)) {
        let lead = std::mem::replace(&mut lead, "    ".to_owned());
        lines.push(Line::from(vec![Span::styled(lead, style), Span::raw(line)]));
    }
    let more = broken(&row.more).into_iter().filter(|line| !line.is_empty());
    lines.extend(more.map(|line| Line::styled(format!("    {line}"), theme.faint())));
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
