//! A list over the panes: what it is for, its rows, and what is typed to narrow it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    pub kind: ListKind,
    pub title: String,
    pub rows: Vec<ListRow>,
    /// Only rows that hold these words are shown.
    pub typed: String,
    /// The chosen row, among those that are shown.
    pub at: usize,
    /// The keys that choose, in words.
    pub keys: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListRow {
    /// What it stands for; its text where that says it.
    pub value: String,
    pub text: String,
    pub about: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    Palette,
    Models(ModelTarget),
    Invitation(String),
    Report,
    /// A note or an artifact, known or new.
    Material,
    Agenda,
    /// A step's result, or a work item.
    Steps,
    Unfinished,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelTarget {
    /// Seats of this project for which nobody names one.
    Project,
    /// A seat of a session that has not begun.
    Seat(String),
    /// All seats of a session that has not begun.
    AllSeats,
    /// A seat of the open round, which is asked again.
    Retry(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListEvent {
    Moved,
    Closed,
    Chosen,
    /// Chosen for all that could be meant.
    ChosenForAll,
}

/// The row of what is typed itself, where that may be taken.
const TYPED: &str = "as typed";

impl ListRow {
    pub fn new(value: &str, text: &str, about: &str) -> Self {
        Self { value: value.to_owned(), text: text.to_owned(), about: about.to_owned() }
    }
}

impl List {
    pub fn of(kind: ListKind, title: impl Into<String>, rows: Vec<ListRow>) -> Self {
        let keys = "Enter chooses · Esc closes".to_owned();
        Self { kind, title: title.into(), rows, typed: String::new(), at: 0, keys }
    }

    /// Whether letters narrow it; the others are short, and letters move in them.
    pub fn is_typed_in(&self) -> bool {
        matches!(self.kind, ListKind::Palette | ListKind::Models(_) | ListKind::Steps | ListKind::Material)
    }

    /// The rows that are shown, each with its place among all.
    pub fn shown(&self) -> Vec<(usize, &ListRow)> {
        let typed = self.typed.to_lowercase();
        let holds = |row: &ListRow| {
            let text = format!("{} {}", row.text, row.about).to_lowercase();
            typed.split_whitespace().all(|word| text.contains(word))
        };
        self.rows.iter().enumerate().filter(|(_, row)| holds(row)).collect()
    }

    pub fn chosen(&self) -> Option<(usize, &ListRow)> {
        self.shown().get(self.at).copied()
    }

    pub fn press(&mut self, key: &KeyEvent, page: usize) -> ListEvent {
        let last = self.shown().len().saturating_sub(1);
        let is_typed = self.is_typed_in();
        match key.code {
            KeyCode::Esc if self.typed.is_empty() => return ListEvent::Closed,
            KeyCode::Char('q') if !is_typed => return ListEvent::Closed,
            KeyCode::Enter if key.modifiers.contains(KeyModifiers::ALT) => return ListEvent::ChosenForAll,
            KeyCode::Enter => return ListEvent::Chosen,
            KeyCode::Esc => self.type_in(String::clear),
            KeyCode::Up => self.at = self.at.saturating_sub(1),
            KeyCode::Down => self.at = (self.at + 1).min(last),
            KeyCode::PageUp => self.at = self.at.saturating_sub(page),
            KeyCode::PageDown => self.at = (self.at + page).min(last),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = last,
            KeyCode::Char('k') if !is_typed => self.at = self.at.saturating_sub(1),
            KeyCode::Char('j') if !is_typed => self.at = (self.at + 1).min(last),
            KeyCode::Char('g') if !is_typed => self.at = 0,
            KeyCode::Char('G') if !is_typed => self.at = last,
            _ if is_typed => self.type_in(|typed| {
                type_in(typed, key);
            }),
            _ => {}
        }
        ListEvent::Moved
    }

    pub fn paste(&mut self, text: &str) {
        if self.is_typed_in() {
            self.type_in(|typed| typed.push_str(text));
        }
    }

    /// Changes what is typed. Of models what is typed may be taken itself, in the last row.
    fn type_in(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.typed);
        self.at = 0;
        self.rows.retain(|row| row.about != TYPED);
        let typed = self.typed.trim();
        let is_new = !typed.is_empty() && self.rows.iter().all(|row| row.value != typed);
        if is_new && matches!(self.kind, ListKind::Models(_)) {
            self.rows.push(ListRow::new(typed, typed, TYPED));
        }
    }
}

/// Typing in a line: whether the key did that.
pub fn type_in(words: &mut String, key: &KeyEvent) -> bool {
    match key.code {
        KeyCode::Backspace => {
            words.pop();
            true
        }
        KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => {
            words.clear();
            true
        }
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
            words.push(c);
            true
        }
        _ => false,
    }
}
