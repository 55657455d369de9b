//! A form: what is typed or picked before it becomes an order. One kind for every question.
//!
//! `Tab` goes from field to field, `Ctrl-S` is done, `Esc` puts it away and keeps what was typed.

mod agenda;
mod ballot;
mod build;
mod field;
mod rule_hints;
mod submit;

pub use agenda::{AgendaForm, agenda};
pub use ballot::{check_reply, seat_answer};
pub use build::{answer, artifact, excuse, new_question, note, panel, round, seats, without_tools};
pub use field::{CheckItem, Field, FieldValue};
pub use rule_hints::{rule_hint, strategy_hint};
use rule_hints::{rules_of, usual_rule};
pub use submit::{Submitted, read};

use crate::ballot::BallotKind;
use crate::history::CollectedIdea;
use field::{choose, pick, picked};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormKind {
    /// A topic of one's own.
    NewQuestion,
    Round(String),
    /// An artifact; what is known of it and not in the form stays.
    Artifact(Map<String, Value>),
    Agenda(AgendaForm),
    Note(String),
    Excuse(String),
    Seats,
    Approval,
    /// This text of a proposal that is blocked, amended or left as it is.
    Amendment(String),
    Proposal(Value),
    Merge(Vec<CollectedIdea>),
    Tie(Vec<String>),
    /// Whether to ask again whose answers were lost.
    KeyLost,
    SeatAnswer(String, BallotKind),
}

#[derive(Debug, Clone)]
pub struct Form {
    pub purpose: FormKind,
    pub title: String,
    pub fields: Vec<Field>,
    pub at: usize,
    pub error: Option<String>,
    /// What is read before it is filled in; empty where the panes behind it show that.
    pub intro: String,
    /// What was in it before anything was typed.
    pub filled: String,
    /// The name its unfinished text is kept under; empty where it must not be kept.
    pub kept_as: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormEvent {
    Typed,
    Away,
    Done,
    Path(String),
}

impl Form {
    /// Returns the value of a field; empty if there is no field with this id.
    pub fn value(&self, id: &str) -> String {
        self.fields.iter().find(|field| field.id == id).map(Field::value).unwrap_or_default()
    }

    /// The fields that are shown: what is folded is not.
    pub fn shown(&self) -> &[Field] {
        let more = self.fields.iter().position(|field| field.id == MORE && field.value() == "folded");
        &self.fields[..more.map_or(self.fields.len(), |more| more + 1)]
    }

    /// Another kind of ballot has other rules; its first one is taken.
    fn sync_rules(&mut self) {
        let kind = self.value("ballot");
        if let Some(field) = self.fields.iter_mut().find(|field| field.id == "rule") {
            *field = Field::choice("rule", "rule", "", &rules_of(&kind), usual_rule(&kind));
        }
    }

    /// Returns the draft to save: a JSON map from field id to value.
    pub fn kept(&self) -> String {
        let map: Map<String, Value> =
            self.fields.iter().map(|field| (field.id.to_owned(), field.value().into())).collect();
        Value::Object(map).to_string()
    }

    /// Fills the fields from a saved draft; returns whether that changed anything.
    pub fn restore(&mut self, kept: &str) -> bool {
        let before = self.kept();
        let map: Map<String, Value> = serde_json::from_str(kept).unwrap_or_default();
        for field in &mut self.fields {
            let saved = map.get(field.id);
            if let Some(value) = saved.and_then(Value::as_str) {
                field.restore(value);
            }
        }
        before != self.kept()
    }

    pub fn paste(&mut self, text: &str) {
        let text = typed(text);
        match self.fields.get_mut(self.at).map(|field| &mut field.entry) {
            Some(FieldValue::Text(area)) => {
                area.insert_str(text);
            }
            Some(FieldValue::Line(area)) => {
                area.insert_str(text.replace('\n', " "));
            }
            _ => {}
        }
    }

    pub fn replace(&mut self, text: &str) {
        let text = typed(text.strip_suffix('\n').unwrap_or(text));
        if let Some(field) = self.fields.get_mut(self.at) {
            field.restore(&text);
        }
    }

    /// Puts these where nobody could be picked yet.
    pub fn fill_picks(&mut self, picks: Vec<CheckItem>) {
        for field in &mut self.fields {
            if let FieldValue::Picks(old, _) = &mut field.entry
                && old.is_empty()
            {
                *old = picks;
                break;
            }
        }
    }

    /// Whether it answers a question that stays in view.
    pub fn is_answer(&self) -> bool {
        matches!(
            self.purpose,
            FormKind::Approval | FormKind::Amendment(_) | FormKind::Tie(_) | FormKind::KeyLost
        )
    }

    /// The text of the field, if it is one to write in.
    pub fn text(&self) -> Option<String> {
        let field = self.fields.get(self.at)?;
        matches!(field.entry, FieldValue::Line(_) | FieldValue::Text(_)).then(|| field.value())
    }

    /// The cursor is seen in the field at hand alone.
    pub fn show_cursor(&mut self) {
        for (index, field) in self.fields.iter_mut().enumerate() {
            if let FieldValue::Line(area) | FieldValue::Text(area) = &mut field.entry {
                let style = ratatui::style::Style::new();
                area.set_cursor_style(if index == self.at { style.reversed() } else { style });
            }
        }
    }

    /// Whether the field at hand holds a path of the project.
    fn is_at_path(&self) -> bool {
        self.fields.get(self.at).is_some_and(|field| field.id == PATH)
    }

    /// Completes the path in the field at hand as far as all that begin with it agree, which are returned.
    /// Where that adds nothing, and nothing can be chosen from, goes to the next field.
    pub fn complete_path<'a>(&mut self, found: &'a [String]) -> &'a [String] {
        let typed = self.text().filter(|_| self.is_at_path()).unwrap_or_default();
        let common = common_start(found);
        if common.len() > typed.len() {
            self.replace(common);
        } else if found.len() < 2 {
            self.move_focus(1);
        }
        if found.len() < 2 { &[] } else { found }
    }

    fn move_focus(&mut self, by: usize) {
        self.at = (self.at + by) % self.shown().len().max(1);
    }

    pub fn press(&mut self, key: &KeyEvent) -> FormEvent {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let (count, kind) = (self.shown().len().max(1), self.value("ballot"));
        let is_last = self.at + 1 == count;
        match (key.code, ctrl) {
            (KeyCode::Esc, _) => return FormEvent::Away,
            (KeyCode::Char('s'), true) | (KeyCode::F(2), _) => return FormEvent::Done,
            (KeyCode::Char('x'), true) => {
                let filled = self.filled.clone();
                self.restore(&filled);
                self.at = 0;
            }
            (KeyCode::Tab, _) => match self.text().filter(|text| !text.is_empty() && self.is_at_path()) {
                Some(text) => return FormEvent::Path(text),
                None => self.move_focus(1),
            },
            (KeyCode::BackTab, _) => self.move_focus(count - 1),
            (code, _) => match self.fields.get_mut(self.at).map(|field| &mut field.entry) {
                Some(FieldValue::Line(_)) if code == KeyCode::Enter && is_last => return FormEvent::Done,
                Some(FieldValue::Line(_)) if matches!(code, KeyCode::Enter | KeyCode::Down) => {
                    self.move_focus(1);
                }
                Some(FieldValue::Line(_)) if code == KeyCode::Up => self.move_focus(count - 1),
                Some(FieldValue::Line(area) | FieldValue::Text(area)) => {
                    area.input(*key);
                }
                Some(FieldValue::Choice(words, at)) => match code {
                    KeyCode::Left | KeyCode::Char('h') => *at = (*at + words.len() - 1) % words.len().max(1),
                    KeyCode::Right | KeyCode::Char('l' | ' ') => *at = (*at + 1) % words.len().max(1),
                    KeyCode::Enter if is_last => return FormEvent::Done,
                    KeyCode::Enter | KeyCode::Down => self.move_focus(1),
                    KeyCode::Up => self.move_focus(count - 1),
                    KeyCode::Char(c) => choose(words, at, c),
                    _ => {}
                },
                Some(FieldValue::Picks(picks, at)) => match code {
                    KeyCode::Enter if is_last => return FormEvent::Done,
                    KeyCode::Enter => self.move_focus(1),
                    code => pick(picks, at, code),
                },
                None => {}
            },
        }
        if self.value("ballot") != kind {
            self.sync_rules();
        }
        FormEvent::Typed
    }

    /// Says what is wrong, under the field it names; the cursor goes there.
    pub fn refuse(&mut self, why: String) {
        self.error = Some(why);
        if let Some(at) = self.error_field() {
            if at >= self.shown().len()
                && let Some(more) = self.fields.iter_mut().find(|field| field.id == MORE)
            {
                more.restore("shown");
            }
            self.at = at;
            self.show_cursor();
        }
    }

    /// The field that the error names by its id or label; none where it is about the whole form.
    pub fn error_field(&self) -> Option<usize> {
        let error = self.error.as_deref()?;
        let place = |name: &str| {
            let quoted = error.find(&format!("`{name}`"));
            let first = error.strip_prefix(name).filter(|rest| rest.starts_with([':', ' '])).map(|_| 0);
            let path = error.find(&format!(".{name}")).filter(|at| {
                !error[at + name.len() + 1..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
            });
            [quoted, first, path].into_iter().flatten().min()
        };
        let named = self.fields.iter().enumerate().filter_map(|(at, field)| {
            let found = [field.id, field.label].into_iter().filter(|name| !name.is_empty()).filter_map(place);
            Some((found.min()?, at))
        });
        named.min().map(|(_, at)| at)
    }
}

/// The id of the field that unfolds those below it.
const MORE: &str = "more";
/// The id of the field that holds a path of the project.
const PATH: &str = "file";

fn common_start(found: &[String]) -> &str {
    let Some((first, rest)) = found.split_first() else { return "" };
    let same = |other: &String| {
        let pairs = first.chars().zip(other.chars()).take_while(|(one, two)| one == two);
        pairs.map(|(letter, _)| letter.len_utf8()).sum::<usize>()
    };
    &first[..rest.iter().map(same).min().unwrap_or(first.len())]
}

/// Typed or pasted text without what a keyboard could not have meant: line ends are one kind, other
/// control characters and overrides of direction stand as visible escapes.
fn typed(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    crate::sanitize::harmless(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        let pick = |name: &str| CheckItem { name: name.to_owned(), about: String::new(), is_picked: false };
        Form {
            purpose: FormKind::Seats,
            title: "t".to_owned(),
            fields: vec![
                Field::line("id", "id", "", "a"),
                Field::text("body", "body", "", ""),
                Field::choice("kind", "kind", "", &["one", "two", "three"], "two"),
                Field::picks("who", "who", "", vec![pick("ann"), pick("bob")]),
            ],
            at: 0,
            error: None,
            intro: String::new(),
            filled: String::new(),
            kept_as: "x".to_owned(),
        }
    }

    fn press(form: &mut Form, code: KeyCode) -> FormEvent {
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
        assert_eq!(press(&mut form, KeyCode::Enter), FormEvent::Done);
        let values: Vec<String> = form.fields.iter().map(Field::value).collect();
        assert_eq!(values, ["ab", "first\nse\\u{202e}cond\\u{1b}[31m\n", "three", "bob"]);
        let mut again = self::form();
        assert!(again.restore(&form.kept()) && !again.restore("not json"));
        assert_eq!(again.kept(), form.kept());
        assert_eq!(form.press(&KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL)), FormEvent::Done);
        assert_eq!(press(&mut form, KeyCode::Esc), FormEvent::Away);
        let mut filled = self::form();
        filled.filled = filled.kept();
        filled.restore(&form.kept());
        filled.press(&KeyEvent::new(KeyCode::Char('x'), KeyModifiers::CONTROL));
        assert_eq!(filled.kept(), filled.filled);
    }

    #[test]
    fn a_draft_is_found_by_ids() {
        let fields = || vec![Field::line("quorum_ballots", "a label", "", "")];
        let mut form = Form { fields: fields(), ..form() };
        assert!(!form.restore(r#"{"a label": "50%"}"#));
        assert!(form.restore(r#"{"quorum_ballots": "50%"}"#));
        assert_eq!(form.kept(), r#"{"quorum_ballots":"50%"}"#);
    }

    #[test]
    fn tab_completes_a_path_and_else_goes_on() {
        let mut form = Form {
            fields: vec![Field::line(PATH, "file", "", ""), Field::line("status", "status", "", "")],
            ..form()
        };
        assert_eq!(press(&mut form, KeyCode::Tab), FormEvent::Typed);
        assert_eq!(form.at, 1, "nothing is typed: nothing is completed");
        form.at = 0;
        form.paste("sr");
        assert_eq!(press(&mut form, KeyCode::Tab), FormEvent::Path("sr".to_owned()));
        let found = ["src/caché.rs", "src/cachés/"].map(str::to_owned);
        assert_eq!(form.complete_path(&found), found);
        assert_eq!((form.value(PATH).as_str(), form.at), ("src/caché", 0));
        assert_eq!(form.complete_path(&found), found);
        assert_eq!(form.at, 0, "there is something to choose from");
        assert!(form.complete_path(&found[..1]).is_empty());
        assert_eq!(form.value(PATH), "src/caché.rs");
        assert!(form.complete_path(&found[..1]).is_empty());
        assert_eq!(form.at, 1, "it is complete");
    }

    #[test]
    fn a_megabyte_is_pasted_at_once() {
        let mut form = form();
        form.at = 1;
        form.paste(&"a long line of words ".repeat(50_000));
        assert_eq!(form.value("body").len(), 1_050_000);
    }

    #[test]
    fn an_error_leads_to_the_field_it_names() {
        let field = |id, label| Field::line(id, label, "", "");
        let mut form = Form {
            purpose: FormKind::Seats,
            title: String::new(),
            fields: vec![field("question", "question"), field("quorum", "quorum"), field("act_at", "act at")],
            at: 0,
            error: None,
            intro: String::new(),
            filled: String::new(),
            kept_as: String::new(),
        };
        for (error, field) in [
            ("`quorum` must be at most 3, not `9`", Some(1)),
            ("step `decide`: unknown value `x` of `act_at`", Some(2)),
            ("topic.yaml:3:1: steps[0].quorum: out of range", Some(1)),
            ("question: is empty", Some(0)),
            ("the disk is full", None),
            ("steps.quorum_ballots is odd", None),
        ] {
            form.refuse(error.to_owned());
            assert_eq!(form.error_field(), field, "{error}");
            assert!(field.is_none_or(|field| form.at == field), "{error}");
        }
    }
}
