//! Form fields: text, one word of several, or any of several.

use crossterm::event::KeyCode;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

#[derive(Debug, Clone)]
pub struct Field {
    /// Name of the field in the code and in saved drafts; never changes.
    pub id: &'static str,
    pub label: &'static str,
    pub hint: &'static str,
    pub entry: FieldValue,
}

#[derive(Debug, Clone)]
pub enum FieldValue {
    Line(Box<TextArea<'static>>),
    Text(Box<TextArea<'static>>),
    Choice(Vec<String>, usize),
    /// Any of several words, and the one the cursor is on.
    Picks(Vec<CheckItem>, usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckItem {
    pub name: String,
    pub about: String,
    pub is_picked: bool,
}

/// A text area with a text in it, its cursor at the end.
pub fn area(text: &str) -> Box<TextArea<'static>> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(ratatui::style::Style::new());
    area.set_max_histories(200);
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    Box::new(area)
}

impl Field {
    pub fn line(id: &'static str, label: &'static str, hint: &'static str, text: &str) -> Self {
        let mut area = area(&text.replace('\n', " "));
        // A line scrolls sideways.
        area.set_wrap_mode(WrapMode::None);
        Self { id, label, hint, entry: FieldValue::Line(area) }
    }

    pub fn text(id: &'static str, label: &'static str, hint: &'static str, text: &str) -> Self {
        Self { id, label, hint, entry: FieldValue::Text(area(text)) }
    }

    pub fn choice(
        id: &'static str,
        label: &'static str,
        hint: &'static str,
        words: &[&str],
        chosen: &str,
    ) -> Self {
        let at = words.iter().position(|word| *word == chosen).unwrap_or(0);
        Self {
            id,
            label,
            hint,
            entry: FieldValue::Choice(words.iter().map(|word| (*word).to_owned()).collect(), at),
        }
    }

    pub fn picks(id: &'static str, label: &'static str, hint: &'static str, picks: Vec<CheckItem>) -> Self {
        Self { id, label, hint, entry: FieldValue::Picks(picks, 0) }
    }

    /// What is in it, as one text: picks by name, a line each.
    pub fn value(&self) -> String {
        match &self.entry {
            FieldValue::Line(area) | FieldValue::Text(area) => area.lines().join("\n"),
            FieldValue::Choice(words, at) => words.get(*at).cloned().unwrap_or_default(),
            FieldValue::Picks(picks, _) => self::picked(picks).join("\n"),
        }
    }

    /// Puts what was kept back in; what no longer fits is left out.
    pub fn restore(&mut self, value: &str) {
        match &mut self.entry {
            FieldValue::Line(old) => {
                *old = area(&value.replace('\n', " "));
                old.set_wrap_mode(WrapMode::None);
            }
            FieldValue::Text(old) => *old = area(value),
            FieldValue::Choice(words, at) => *at = words.iter().position(|word| word == value).unwrap_or(*at),
            FieldValue::Picks(picks, _) => {
                for pick in picks {
                    pick.is_picked = value.lines().any(|name| name == pick.name);
                }
            }
        }
    }
}

pub(super) fn picked(picks: &[CheckItem]) -> Vec<String> {
    picks.iter().filter(|pick| pick.is_picked).map(|pick| pick.name.clone()).collect()
}

pub(super) fn choose(words: &[String], at: &mut usize, letter: char) {
    let begins = |word: &String| word.chars().next().is_some_and(|c| c.eq_ignore_ascii_case(&letter));
    let next = (1..=words.len()).map(|by| (*at + by) % words.len()).find(|index| begins(&words[*index]));
    *at = next.unwrap_or(*at);
}

/// Moves over items that may be picked; a space picks one or takes it back.
pub(super) fn pick(picks: &mut [CheckItem], at: &mut usize, code: KeyCode) {
    match code {
        KeyCode::Up | KeyCode::Char('k') => *at = at.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => *at = (*at + 1).min(picks.len().saturating_sub(1)),
        KeyCode::Char(' ') => {
            if let Some(pick) = picks.get_mut(*at) {
                pick.is_picked = !pick.is_picked;
            }
        }
        _ => {}
    }
}
