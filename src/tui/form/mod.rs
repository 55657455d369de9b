//! Form: fields that a person fills in before they become an order.
//!
//! One type serves every question; its fields are data. `Tab` goes to the next field, `Ctrl-S` submits, `Esc`
//! closes the form and keeps the draft.

mod draw;
mod orders;
mod round;

pub use draw::draw;
pub use orders::{
    Submitted, agenda, answer, artifact, check_reply, note, read, seat_answer, seats, without_tools, work,
};
pub use round::{new_question, round, sync_rules};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use serde_json::{Map, Value};

use crate::ballot::BallotKind;
use crate::history::CollectedIdea;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormKind {
    NewQuestion,
    Round(String),
    Artifact,
    /// A change of the agenda: its list, and the id of the entry.
    Agenda(String, String),
    Note(String),
    Seats,
    Approval,
    /// The text of a blocked proposal, to be amended or left blocked.
    Amendment(String),
    Proposal(Value),
    Merge(Vec<CollectedIdea>),
    Tie,
    KeyLost,
    SeatAnswer(String, Option<BallotKind>),
}

#[derive(Debug, Clone)]
pub struct Form {
    pub purpose: FormKind,
    pub title: String,
    pub fields: Vec<Field>,
    pub at: usize,
    pub error: Option<String>,
    /// Introduction; empty if the panes behind the form show it.
    pub intro: String,
    /// The draft before anything was typed.
    pub initial_draft: String,
    /// Name under which the draft is stored; empty if it must not be stored.
    pub draft_name: String,
}

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
    Picks(Vec<CheckItem>, usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckItem {
    pub name: String,
    pub about: String,
    pub is_picked: bool,
}

impl CheckItem {
    fn new(name: &str, about: &str, is_picked: bool) -> Self {
        Self { name: name.to_owned(), about: about.to_owned(), is_picked }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormEvent {
    Typed,
    Away,
    Done,
    Path(String),
}

/// Id of the field that unfolds those below it.
const MORE: &str = "more";
const PATH: &str = "file";
/// Shown for a choice that the person has not made yet.
const OPEN: &str = "choose…";

fn area(text: &str, wrap: WrapMode) -> Box<TextArea<'static>> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_wrap_mode(wrap);
    area.set_cursor_line_style(ratatui::style::Style::new());
    area.set_max_histories(200);
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    Box::new(area)
}

fn line_area(text: &str) -> Box<TextArea<'static>> {
    area(&text.replace('\n', " "), WrapMode::None)
}

impl Field {
    fn new(id: &'static str, hint: &'static str, entry: FieldValue) -> Self {
        Self { id, label: id, hint, entry }
    }

    fn labeled(self, label: &'static str) -> Self {
        Self { label, ..self }
    }

    pub fn line(id: &'static str, hint: &'static str, text: &str) -> Self {
        Self::new(id, hint, FieldValue::Line(line_area(text)))
    }

    pub fn text(id: &'static str, hint: &'static str, text: &str) -> Self {
        Self::new(id, hint, FieldValue::Text(area(text, WrapMode::WordOrGlyph)))
    }

    pub fn choice(id: &'static str, hint: &'static str, words: &[impl AsRef<str>], chosen: &str) -> Self {
        let words: Vec<String> = words.iter().map(|word| word.as_ref().to_owned()).collect();
        let at = words.iter().position(|word| word == chosen).unwrap_or(0);
        Self::new(id, hint, FieldValue::Choice(words, at))
    }

    pub fn picks(id: &'static str, hint: &'static str, picks: Vec<CheckItem>) -> Self {
        Self::new(id, hint, FieldValue::Picks(picks, 0))
    }

    /// Returns the value as text; picked items one per line.
    pub fn value(&self) -> String {
        match &self.entry {
            FieldValue::Line(area) | FieldValue::Text(area) => area.lines().join("\n"),
            FieldValue::Choice(words, at) => words.get(*at).cloned().unwrap_or_default(),
            FieldValue::Picks(..) => self.picked().join("\n"),
        }
    }

    fn picked(&self) -> Vec<String> {
        let FieldValue::Picks(picks, _) = &self.entry else { return Vec::new() };
        picks.iter().filter(|pick| pick.is_picked).map(|pick| pick.name.clone()).collect()
    }

    /// Sets the value from a saved draft; ignores a value that is no longer offered.
    pub fn restore(&mut self, value: &str) {
        match &mut self.entry {
            FieldValue::Line(old) => *old = line_area(value),
            FieldValue::Text(old) => *old = area(value, WrapMode::WordOrGlyph),
            FieldValue::Choice(words, at) => *at = words.iter().position(|word| word == value).unwrap_or(*at),
            FieldValue::Picks(picks, _) => {
                for pick in picks {
                    pick.is_picked = value.lines().any(|name| name == pick.name);
                }
            }
        }
    }
}

impl Form {
    fn new(purpose: FormKind, title: impl Into<String>, fields: Vec<Field>, draft_name: &str) -> Self {
        let (title, draft_name) = (title.into(), draft_name.to_owned());
        let (intro, initial_draft) = (String::new(), String::new());
        let form = Self { purpose, title, fields, at: 0, error: None, intro, initial_draft, draft_name };
        Self { initial_draft: form.draft(), ..form }
    }

    pub fn value(&self, id: &str) -> String {
        self.fields.iter().find(|field| field.id == id).map(Field::value).unwrap_or_default()
    }

    fn trimmed(&self, id: &str) -> String {
        self.value(id).trim().to_owned()
    }

    fn needed(&self, id: &str) -> Result<String, String> {
        let value = self.trimmed(id);
        if value.is_empty() { Err(format!("`{id}` is empty")) } else { Ok(value) }
    }

    pub fn visible(&self) -> &[Field] {
        let more = self.fields.iter().position(|field| field.id == MORE && field.value() == "folded");
        &self.fields[..more.map_or(self.fields.len(), |more| more + 1)]
    }

    /// Returns the draft to save: a JSON map from field id to value.
    pub fn draft(&self) -> String {
        let map: Map<String, Value> =
            self.fields.iter().map(|field| (field.id.to_owned(), field.value().into())).collect();
        Value::Object(map).to_string()
    }

    pub fn unfinished(&self) -> Option<String> {
        Some(self.draft()).filter(|kept| *kept != self.initial_draft)
    }

    /// Fills the fields from a saved draft; returns whether that changed anything.
    pub fn restore(&mut self, kept: &str) -> bool {
        let before = self.draft();
        let map: Map<String, Value> = serde_json::from_str(kept).unwrap_or_default();
        for field in &mut self.fields {
            if let Some(value) = map.get(field.id).and_then(Value::as_str) {
                field.restore(value);
            }
        }
        before != self.draft()
    }

    pub fn paste(&mut self, text: &str) {
        let text = typed(text);
        match self.fields.get_mut(self.at).map(|field| &mut field.entry) {
            Some(FieldValue::Text(area)) => area.insert_str(text),
            Some(FieldValue::Line(area)) => area.insert_str(text.replace('\n', " ")),
            _ => false,
        };
    }

    pub fn is_answer(&self) -> bool {
        matches!(
            self.purpose,
            FormKind::Approval | FormKind::Amendment(_) | FormKind::Tie | FormKind::KeyLost
        )
    }

    /// Returns the value of the focused field if it is a path of the project.
    fn path(&self) -> Option<String> {
        self.fields.get(self.at).filter(|field| field.id == PATH).map(Field::value)
    }

    /// Completes the focused path with the common prefix of `found`, and returns the candidates to choose from.
    /// Goes to the next field if `found` adds nothing and has fewer than two paths.
    pub fn complete_path<'a>(&mut self, found: &'a [String]) -> &'a [String] {
        let common = common_start(found);
        let Some(path) = self.path() else { return &[] };
        if common.len() > path.len() {
            self.fields[self.at].restore(&typed(common));
        } else if found.len() < 2 {
            self.move_focus(1);
        }
        if found.len() < 2 { &[] } else { found }
    }

    fn move_focus(&mut self, by: usize) {
        self.at = (self.at + by) % self.visible().len().max(1);
    }

    pub fn press(&mut self, key: &KeyEvent) -> FormEvent {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let count = self.visible().len().max(1);
        let is_last = self.at + 1 == count;
        match (key.code, ctrl) {
            (KeyCode::Esc, _) => return FormEvent::Away,
            (KeyCode::Char('s'), true) | (KeyCode::F(2), _) => return FormEvent::Done,
            (KeyCode::Char('x'), true) => {
                let filled = self.initial_draft.clone();
                self.restore(&filled);
                self.at = 0;
            }
            (KeyCode::Tab, _) => match self.path().filter(|path| !path.is_empty()) {
                Some(path) => return FormEvent::Path(path),
                None => self.move_focus(1),
            },
            (KeyCode::BackTab, _) => self.move_focus(count - 1),
            (code, _) => match (self.fields.get_mut(self.at).map(|field| &mut field.entry), code) {
                (None, _) => {}
                (Some(FieldValue::Text(area)), _) => {
                    area.input(*key);
                }
                (_, KeyCode::Enter) if is_last => return FormEvent::Done,
                (_, KeyCode::Enter) => self.move_focus(1),
                (Some(FieldValue::Picks(picks, at)), code) => pick(picks, at, code),
                (_, KeyCode::Down) => self.move_focus(1),
                (_, KeyCode::Up) => self.move_focus(count - 1),
                (Some(FieldValue::Line(area)), _) => {
                    area.input(*key);
                }
                (Some(FieldValue::Choice(words, at)), code) => choose(words, at, code),
            },
        }
        FormEvent::Typed
    }

    /// Shows the error under the field it names, and moves the cursor there.
    pub fn refuse(&mut self, why: String) {
        self.error = Some(why);
        let Some(at) = self.error_field() else { return };
        if at >= self.visible().len()
            && let Some(more) = self.fields.iter_mut().find(|field| field.id == MORE)
        {
            more.restore("shown");
        }
        self.at = at;
    }

    /// Returns the field that the error names by id or label, else the ballot of an answer.
    /// Returns `None` if the error is about the whole form.
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
        let named = |field: &Field| place(field.id).into_iter().chain(place(field.label)).min();
        let named = self.fields.iter().enumerate().filter_map(|(at, field)| Some((named(field)?, at)));
        let is_ballot = matches!(self.purpose, FormKind::SeatAnswer(..));
        named.min().map(|(_, at)| at).or(is_ballot.then_some(0))
    }
}

fn choose(words: &[String], at: &mut usize, code: KeyCode) {
    let count = words.len().max(1);
    match code {
        KeyCode::Left => *at = (*at + count - 1) % count,
        KeyCode::Right | KeyCode::Char(' ') => *at = (*at + 1) % count,
        KeyCode::Char(c @ ('y' | 'n')) => {
            let meant: &[&str] =
                if c == 'y' { &["approve", "accept", "merge"] } else { &["reject", "refuse"] };
            *at = words.iter().position(|word| meant.contains(&&**word)).unwrap_or(*at);
        }
        _ => {}
    }
}

fn pick(picks: &mut [CheckItem], at: &mut usize, code: KeyCode) {
    match code {
        KeyCode::Up => *at = at.saturating_sub(1),
        KeyCode::Down => *at = (*at + 1).min(picks.len().saturating_sub(1)),
        KeyCode::Char(' ') => picks.iter_mut().skip(*at).take(1).for_each(|pick| pick.is_picked ^= true),
        _ => {}
    }
}

fn common_start(found: &[String]) -> &str {
    let Some((first, rest)) = found.split_first() else { return "" };
    let same = |other: &String| {
        let pairs = first.chars().zip(other.chars()).take_while(|(one, two)| one == two);
        pairs.map(|(letter, _)| letter.len_utf8()).sum::<usize>()
    };
    &first[..rest.iter().map(same).min().unwrap_or(first.len())]
}

/// Normalizes typed or pasted text: line feeds only, spaces for tabs, visible escapes for other control and
/// direction characters.
fn typed(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    crate::sanitize::harmless(&text).into_owned()
}

#[cfg(test)]
mod testing {
    pub fn fill_in(form: &mut super::Form, values: &[(&str, &str)]) {
        for (id, value) in values {
            form.fields.iter_mut().find(|field| field.id == *id).expect("a field").restore(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        let pick = |name: &str| CheckItem::new(name, "", false);
        let fields = vec![
            Field::line("id", "", "a"),
            Field::text("body", "", ""),
            Field::choice("kind", "", &["one", "two", "three"], "two"),
            Field::picks("who", "", vec![pick("ann"), pick("bob")]),
        ];
        Form::new(FormKind::Seats, "t", fields, "x")
    }

    fn press(form: &mut Form, code: KeyCode) -> FormEvent {
        form.press(&KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn y_and_n_answer_an_approval() {
        let (words, mut at) = ([OPEN, "approve", "reject"].map(str::to_owned), 0);
        choose(&words, &mut at, KeyCode::Char('y'));
        assert_eq!(at, 1);
        choose(&words, &mut at, KeyCode::Char('n'));
        assert_eq!(at, 2);
    }

    #[test]
    fn keys_fill_in_fields_and_drafts_are_restored() {
        let mut form = form();
        press(&mut form, KeyCode::Char('b'));
        press(&mut form, KeyCode::Enter);
        form.paste("first\r\nse\u{202e}cond\u{1b}[31m");
        press(&mut form, KeyCode::Enter);
        press(&mut form, KeyCode::Tab);
        press(&mut form, KeyCode::Right);
        press(&mut form, KeyCode::Tab);
        press(&mut form, KeyCode::Down);
        press(&mut form, KeyCode::Char(' '));
        assert_eq!(press(&mut form, KeyCode::Enter), FormEvent::Done);
        let values: Vec<String> = form.fields.iter().map(Field::value).collect();
        assert_eq!(values, ["ab", "first\nse\\u{202e}cond\\u{1b}[31m\n", "three", "bob"]);
        let mut again = self::form();
        assert!(again.restore(&form.draft()) && !again.restore("not json"));
        assert_eq!(again.draft(), form.draft());
        assert_eq!(form.press(&KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL)), FormEvent::Done);
        assert_eq!(press(&mut form, KeyCode::Esc), FormEvent::Away);
        let mut filled = self::form();
        filled.initial_draft = filled.draft();
        filled.restore(&form.draft());
        filled.press(&KeyEvent::new(KeyCode::Char('x'), KeyModifiers::CONTROL));
        assert_eq!(filled.draft(), filled.initial_draft);
    }

    #[test]
    fn a_draft_is_found_by_ids() {
        let fields = || vec![Field::line("quorum", "", "").labeled("a label")];
        let mut form = Form { fields: fields(), ..form() };
        assert!(!form.restore(r#"{"a label": "50%"}"#));
        assert!(form.restore(r#"{"quorum": "50%"}"#));
        assert_eq!(form.draft(), r#"{"quorum":"50%"}"#);
    }

    #[test]
    fn tab_completes_a_path_or_goes_to_the_next_field() {
        let mut form =
            Form { fields: vec![Field::line(PATH, "", ""), Field::line("status", "", "")], ..form() };
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
        let fields = ["question", "quorum"].map(|id| Field::line(id, "", "")).into_iter();
        let fields = fields.chain([Field::line("act_at", "", "").labeled("act at")]).collect();
        let mut form = Form { fields, ..form() };
        for (error, field) in [
            ("`quorum` must be at most 3, not `9`", Some(1)),
            ("step `decide`: unknown value `x` of `act_at`", Some(2)),
            ("topic.yaml:3:1: steps[0].quorum: out of range", Some(1)),
            ("question: is empty", Some(0)),
            ("the disk is full", None),
            ("steps.quorum_odd is odd", None),
        ] {
            form.refuse(error.to_owned());
            assert_eq!(form.error_field(), field, "{error}");
            assert!(field.is_none_or(|field| form.at == field), "{error}");
        }
        form.purpose = FormKind::SeatAnswer("ana".to_owned(), Some(BallotKind::Choice));
        form.refuse("option `x` is not on the form".to_owned());
        assert_eq!((form.error_field(), form.at), (Some(0), 0));
    }
}
