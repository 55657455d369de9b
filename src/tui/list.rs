//! List over the panes: rows to choose from, narrowed by typing.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::frame::{cells, popup};
use super::text::{clipped, cut_middle};
use super::theme::Theme;
use crate::sanitize::{harmless, harmless_line};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    pub kind: ListKind,
    pub title: String,
    pub rows: Vec<ListRow>,
    /// Search words; rows without them are hidden.
    pub typed: String,
    /// Index of the chosen row among the visible ones.
    pub at: usize,
    pub keys: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListRow {
    pub value: String,
    pub text: String,
    pub about: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    Models(ModelTarget),
    Invitation(String),
    Agenda,
    /// Step results and work items.
    Steps,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelTarget {
    /// The seats of this project that name no model.
    Project,
    /// A seat of a session that has not begun.
    Seat(String),
    /// A seat of the open round that is retried.
    Retry(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListEvent {
    Moved,
    Closed,
    /// Whether the choice is for all seats.
    Chosen(bool),
}

const TYPED: &str = "as typed";
/// Lists with more rows reserve a line for the search words, so that they keep their height.
const LONG: usize = 8;

impl ListRow {
    pub fn new(value: &str, text: &str, about: &str) -> Self {
        Self { value: value.to_owned(), text: text.to_owned(), about: about.to_owned() }
    }
}

impl List {
    pub fn new(kind: ListKind, title: &str, rows: Vec<ListRow>, keys: &str) -> Self {
        Self { kind, title: title.to_owned(), rows, typed: String::new(), at: 0, keys: keys.to_owned() }
    }

    /// Returns the visible rows, each with its index among all.
    fn visible_rows(&self) -> Vec<(usize, &ListRow)> {
        let typed = self.typed.to_lowercase();
        let holds = |row: &ListRow| {
            let text = format!("{} {}", row.text, row.about).to_lowercase();
            typed.split_whitespace().all(|word| text.contains(word))
        };
        self.rows.iter().enumerate().filter(|(_, row)| holds(row)).collect()
    }

    pub fn chosen(&self) -> Option<(usize, &ListRow)> {
        self.visible_rows().get(self.at).copied()
    }

    pub fn press(&mut self, key: &KeyEvent, page: usize) -> ListEvent {
        let last = self.visible_rows().len().saturating_sub(1);
        self.at = match key.code {
            KeyCode::Esc if self.typed.is_empty() => return ListEvent::Closed,
            KeyCode::Enter => return ListEvent::Chosen(key.modifiers.contains(KeyModifiers::ALT)),
            KeyCode::Up => self.at.saturating_sub(1),
            KeyCode::Down => (self.at + 1).min(last),
            KeyCode::PageUp => self.at.saturating_sub(page),
            KeyCode::PageDown => (self.at + page).min(last),
            KeyCode::Home => 0,
            KeyCode::End => last,
            KeyCode::Esc => {
                self.typed.clear();
                return self.narrow();
            }
            _ if type_in(&mut self.typed, key) => return self.narrow(),
            _ => self.at,
        };
        ListEvent::Moved
    }

    pub fn paste(&mut self, text: &str) {
        self.typed.push_str(text);
        self.narrow();
    }

    /// Narrows the rows to those with the typed words; a typed model is added as a row.
    fn narrow(&mut self) -> ListEvent {
        self.at = 0;
        self.rows.retain(|row| row.about != TYPED);
        let typed = self.typed.trim();
        let is_new = !typed.is_empty() && self.rows.iter().all(|row| row.value != typed);
        if is_new && matches!(self.kind, ListKind::Models(_)) {
            self.rows.push(ListRow::new(typed, typed, TYPED));
        }
        ListEvent::Moved
    }

    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, theme: Theme) {
        let rows = self.visible_rows();
        let has_line = self.rows.len() > LONG || !self.typed.is_empty();
        let widest = |text: fn(&ListRow) -> &str| {
            self.rows.iter().map(|row| harmless_line(text(row)).width()).max().unwrap_or(0)
        };
        let about = widest(|row| &row.about);
        let text = widest(|row| &row.text).min(if about == 0 { 104 } else { 48 });
        let wanted = (text + about + 8).max(self.title.width() + 6).max(self.keys.width() + 6).max(44);
        let inside = usize::from(area.width.min(110)).min(wanted).saturating_sub(2);
        let room = usize::from(area.height.saturating_sub(2 + u16::from(has_line)));
        let start = (self.at + 1).saturating_sub(room);
        let mut lines = Vec::new();
        if has_line {
            let typed = format!(" > {}▏", harmless(&self.typed));
            let count = format!("{} of {} ", rows.len(), self.rows.len());
            let gap = inside.saturating_sub(typed.width() + count.width());
            let count = Span::styled(format!("{}{count}", " ".repeat(gap)), theme.faint());
            lines.push(Line::from(vec![Span::styled(typed, theme.strong()), count]));
        }
        let text = text.min(inside.saturating_sub(3));
        for (at, (_, row)) in rows.iter().enumerate().skip(start).take(room) {
            let name = clipped(&cut_middle(&harmless_line(&row.text), text), text);
            let about = clipped(&harmless_line(&row.about), inside.saturating_sub(text + 5));
            let line = Line::from(vec![
                Span::raw(if at == self.at { " ▸ " } else { "   " }),
                Span::raw(name),
                Span::styled(format!("  {}", about.trim_end()), theme.faint()),
            ]);
            lines.push(if at == self.at { line.style(theme.chosen()) } else { line });
        }
        if rows.is_empty() {
            lines.push(Line::from("   no match; Esc empties it"));
        }
        // The height stays the same while the list is narrowed.
        let height = self.rows.len().min(room) + usize::from(has_line);
        lines.resize(height.max(lines.len()), Line::default());
        let keys = harmless_line(&self.keys);
        let keys = format!(" {} ", clipped(&keys, keys.width().min(inside.saturating_sub(2))));
        popup(frame, area, theme, &self.title, lines, Line::styled(keys, theme.faint()), cells(inside + 2));
    }
}

/// Edits a line; returns whether the key does that.
pub fn type_in(words: &mut String, key: &KeyEvent) -> bool {
    match key.code {
        KeyCode::Backspace => {
            words.pop();
        }
        KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => words.clear(),
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => words.push(c),
        _ => return false,
    }
    true
}
