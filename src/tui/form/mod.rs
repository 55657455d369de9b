//! A form: what is typed or picked before it becomes an order. One kind for every question.
//!
//! `Tab` goes from field to field, `Ctrl-S` is done, `Esc` puts it away and keeps what was typed. It
//! knows no session: `fill` makes forms of one, `read` makes orders of them.

mod fill;
mod read;
mod turn;

pub use fill::{answer, artifact, excuse, more_time, new_topic, note, panel, retry, round};
pub use read::{Submitted, read};
pub use turn::turn;

use crate::ballot::BallotKind;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use serde_json::{Map, Value};

/// What a form is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A topic of one's own.
    NewTopic,
    /// The round of this step.
    Round(String),
    /// An artifact; what is known of it and not in the form stays.
    Artifact(Map<String, Value>),
    /// A note on this round.
    Note(String),
    /// Letting this seat go.
    Excuse(String),
    /// A seat that is to be asked anew.
    Retry(String),
    /// Moving the deadline.
    MoreTime,
    /// A yes or no.
    Approval,
    /// One of these level options.
    Tie(Vec<String>),
    /// Whether to ask again whose answers were lost.
    KeyLost,
    /// The answer of the person in this seat.
    Turn(String, BallotKind),
}

/// A form as it stands.
#[derive(Debug, Clone)]
pub struct Form {
    /// What it is for.
    pub purpose: Purpose,
    /// What stands over it.
    pub title: String,
    /// Its fields, at least one.
    pub fields: Vec<Field>,
    /// The field that is being filled in.
    pub at: usize,
    /// What is wrong with it, once it was handed in.
    pub error: Option<String>,
    /// What was in it before anything was typed.
    pub filled: String,
    /// The name its unfinished text is kept under; empty where it must not be kept.
    pub kept_as: String,
}

/// One field.
#[derive(Debug, Clone)]
pub struct Field {
    /// What it asks for; also its name in what is kept.
    pub label: &'static str,
    /// What may be entered, in a few words.
    pub hint: &'static str,
    /// What is in it.
    pub entry: Entry,
}

/// What is in a field.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A line of text.
    Line(Box<TextArea<'static>>),
    /// Text of several lines.
    Text(Box<TextArea<'static>>),
    /// One of several words.
    Choice(Vec<String>, usize),
    /// Any of several words, and the one the cursor is on.
    Picks(Vec<Pick>, usize),
}

/// One of several that may be picked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    /// Its name.
    pub name: String,
    /// A line about it.
    pub about: String,
    /// Whether it is picked.
    pub is_picked: bool,
}

/// What a key did to a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pressed {
    /// It was typed, or moved the cursor.
    Typed,
    /// It puts the form away.
    Away,
    /// It hands the form in.
    Done,
    /// It wants the field's text in the person's own editor.
    Editor,
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
    /// A field of one line.
    pub fn line(label: &'static str, hint: &'static str, text: &str) -> Self {
        let mut area = area(&text.replace('\n', " "));
        // A line scrolls sideways.
        area.set_wrap_mode(WrapMode::None);
        Self { label, hint, entry: Entry::Line(area) }
    }

    /// A field of several lines.
    pub fn text(label: &'static str, hint: &'static str, text: &str) -> Self {
        Self { label, hint, entry: Entry::Text(area(text)) }
    }

    /// A field with one of several words.
    pub fn choice(label: &'static str, hint: &'static str, words: &[&str], chosen: &str) -> Self {
        let at = words.iter().position(|word| *word == chosen).unwrap_or(0);
        Self { label, hint, entry: Entry::Choice(words.iter().map(|word| (*word).to_owned()).collect(), at) }
    }

    /// A field with any of several words.
    pub fn picks(label: &'static str, hint: &'static str, picks: Vec<Pick>) -> Self {
        Self { label, hint, entry: Entry::Picks(picks, 0) }
    }

    /// What is in it, as one text: picks by name, a line each.
    pub fn value(&self) -> String {
        match &self.entry {
            Entry::Line(area) | Entry::Text(area) => area.lines().join("\n"),
            Entry::Choice(words, at) => words.get(*at).cloned().unwrap_or_default(),
            Entry::Picks(picks, _) => self::picked(picks).join("\n"),
        }
    }

    /// Puts what was kept back in; what no longer fits is left out.
    fn restore(&mut self, value: &str) {
        match &mut self.entry {
            Entry::Line(old) => {
                *old = area(&value.replace('\n', " "));
                old.set_wrap_mode(WrapMode::None);
            }
            Entry::Text(old) => *old = area(value),
            Entry::Choice(words, at) => *at = words.iter().position(|word| word == value).unwrap_or(*at),
            Entry::Picks(picks, _) => {
                for pick in picks {
                    pick.is_picked = value.lines().any(|name| name == pick.name);
                }
            }
        }
    }
}

fn picked(picks: &[Pick]) -> Vec<String> {
    picks.iter().filter(|pick| pick.is_picked).map(|pick| pick.name.clone()).collect()
}

impl Form {
    /// The value of a field.
    pub fn value(&self, label: &str) -> String {
        self.fields.iter().find(|field| field.label == label).map(Field::value).unwrap_or_default()
    }

    /// What is in it, to be kept: JSON by label.
    pub fn kept(&self) -> String {
        let map: Map<String, Value> =
            self.fields.iter().map(|field| (field.label.to_owned(), field.value().into())).collect();
        Value::Object(map).to_string()
    }

    /// Puts back what was kept; whether anything changed by that.
    pub fn restore(&mut self, kept: &str) -> bool {
        let before = self.kept();
        let map: Map<String, Value> = serde_json::from_str(kept).unwrap_or_default();
        for field in &mut self.fields {
            if let Some(value) = map.get(field.label).and_then(Value::as_str) {
                field.restore(value);
            }
        }
        before != self.kept()
    }

    /// Puts text into the field that is being filled in.
    pub fn paste(&mut self, text: &str) {
        let text = typed(text);
        match self.fields.get_mut(self.at).map(|field| &mut field.entry) {
            Some(Entry::Text(area)) => {
                area.insert_str(text);
            }
            Some(Entry::Line(area)) => {
                area.insert_str(text.replace('\n', " "));
            }
            _ => {}
        }
    }

    /// Puts a text in the place of the field's own.
    pub fn replace(&mut self, text: &str) {
        let text = typed(text.strip_suffix('\n').unwrap_or(text));
        if let Some(field) = self.fields.get_mut(self.at) {
            field.restore(&text);
        }
    }

    /// Puts these where nobody could be picked yet.
    pub fn fill_picks(&mut self, picks: Vec<Pick>) {
        for field in &mut self.fields {
            if let Entry::Picks(old, _) = &mut field.entry
                && old.is_empty()
            {
                *old = picks;
                break;
            }
        }
    }

    /// Whether it answers a question that stays in view.
    pub fn is_answer(&self) -> bool {
        matches!(self.purpose, Purpose::Approval | Purpose::Tie(_) | Purpose::KeyLost)
    }

    /// The text of the field, if it is one to write in.
    pub fn text(&self) -> Option<String> {
        let field = self.fields.get(self.at)?;
        matches!(field.entry, Entry::Line(_) | Entry::Text(_)).then(|| field.value())
    }

    /// The cursor is seen in the field at hand alone.
    pub fn show_cursor(&mut self) {
        for (index, field) in self.fields.iter_mut().enumerate() {
            if let Entry::Line(area) | Entry::Text(area) = &mut field.entry {
                let style = ratatui::style::Style::new();
                area.set_cursor_style(if index == self.at { style.reversed() } else { style });
            }
        }
    }

    /// Goes to the next field, or the one before.
    fn turn(&mut self, by: usize) {
        self.at = (self.at + by) % self.fields.len().max(1);
    }

    /// Takes a key.
    pub fn press(&mut self, key: &KeyEvent) -> Pressed {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let count = self.fields.len().max(1);
        let is_last = self.at + 1 == count;
        match (key.code, ctrl) {
            (KeyCode::Esc, _) => return Pressed::Away,
            (KeyCode::Char('s'), true) | (KeyCode::F(2), _) => return Pressed::Done,
            (KeyCode::Char('e'), true) => return Pressed::Editor,
            (KeyCode::Tab, _) => self.turn(1),
            (KeyCode::BackTab, _) => self.turn(count - 1),
            (code, _) => match self.fields.get_mut(self.at).map(|field| &mut field.entry) {
                Some(Entry::Line(_)) if code == KeyCode::Enter && is_last => return Pressed::Done,
                Some(Entry::Line(_)) if matches!(code, KeyCode::Enter | KeyCode::Down) => self.turn(1),
                Some(Entry::Line(_)) if code == KeyCode::Up => self.turn(count - 1),
                Some(Entry::Line(area) | Entry::Text(area)) => {
                    area.input(*key);
                }
                Some(Entry::Choice(words, at)) => match code {
                    KeyCode::Left | KeyCode::Char('h') => *at = (*at + words.len() - 1) % words.len().max(1),
                    KeyCode::Right | KeyCode::Char('l' | ' ') => *at = (*at + 1) % words.len().max(1),
                    KeyCode::Enter if is_last => return Pressed::Done,
                    KeyCode::Enter | KeyCode::Down => self.turn(1),
                    KeyCode::Up => self.turn(count - 1),
                    KeyCode::Char(c) => choose(words, at, c),
                    _ => {}
                },
                Some(Entry::Picks(picks, at)) => match code {
                    KeyCode::Up | KeyCode::Char('k') => *at = at.saturating_sub(1),
                    KeyCode::Down | KeyCode::Char('j') => *at = (*at + 1).min(picks.len().saturating_sub(1)),
                    KeyCode::Char(' ') => {
                        if let Some(pick) = picks.get_mut(*at) {
                            pick.is_picked = !pick.is_picked;
                        }
                    }
                    KeyCode::Enter if is_last => return Pressed::Done,
                    KeyCode::Enter => self.turn(1),
                    _ => {}
                },
                None => {}
            },
        }
        Pressed::Typed
    }
}

/// The next word that begins with a letter.
fn choose(words: &[String], at: &mut usize, letter: char) {
    let begins = |word: &String| word.chars().next().is_some_and(|c| c.eq_ignore_ascii_case(&letter));
    let next = (1..=words.len()).map(|by| (*at + by) % words.len()).find(|index| begins(&words[*index]));
    *at = next.unwrap_or(*at);
}

/// Typed or pasted text without what a keyboard could not have meant: line ends are one kind, other
/// control characters and overrides of direction stand as visible escapes.
fn typed(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    crate::text::harmless(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        let pick = |name: &str| Pick { name: name.to_owned(), about: String::new(), is_picked: false };
        Form {
            purpose: Purpose::MoreTime,
            title: "t".to_owned(),
            fields: vec![
                Field::line("id", "", "a"),
                Field::text("body", "", ""),
                Field::choice("kind", "", &["one", "two", "three"], "two"),
                Field::picks("who", "", vec![pick("ann"), pick("bob")]),
            ],
            at: 0,
            error: None,
            filled: String::new(),
            kept_as: "x".to_owned(),
        }
    }

    fn press(form: &mut Form, code: KeyCode) -> Pressed {
        form.press(&KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn keys_fill_in_fields_and_what_is_kept_comes_back() {
        let mut form = form();
        press(&mut form, KeyCode::Char('b'));
        press(&mut form, KeyCode::Enter);
        form.paste("first\r\nse\u{202e}cond\u{1b}[31m");
        press(&mut form, KeyCode::Enter);
        press(&mut form, KeyCode::Tab);
        press(&mut form, KeyCode::Char('t'));
        press(&mut form, KeyCode::Tab);
        press(&mut form, KeyCode::Down);
        press(&mut form, KeyCode::Char(' '));
        assert_eq!(press(&mut form, KeyCode::Enter), Pressed::Done);
        let values: Vec<String> = form.fields.iter().map(Field::value).collect();
        assert_eq!(values, ["ab", "first\nse\\u{202e}cond\\u{1b}[31m\n", "three", "bob"]);
        let mut again = self::form();
        assert!(again.restore(&form.kept()) && !again.restore("not json"));
        assert_eq!(again.kept(), form.kept());
        assert_eq!(form.press(&KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL)), Pressed::Done);
        assert_eq!(press(&mut form, KeyCode::Esc), Pressed::Away);
    }

    #[test]
    fn a_megabyte_is_pasted_at_once() {
        let mut form = form();
        form.at = 1;
        form.paste(&"a long line of words ".repeat(50_000));
        assert_eq!(form.value("body").len(), 1_050_000);
    }
}
