//! Key bindings: the table behind the footer, the help page, the palette and the manual.
//!
//! In one screen state a key has one meaning. `screen.keys` of the configuration replaces the keys
//! of an action; it names the action by its id, which never changes.

use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::diagnostic::did_you_mean;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyChord {
    code: KeyCode,
    ctrl: bool,
}

const fn key(code: KeyCode) -> KeyChord {
    KeyChord { code, ctrl: false }
}

const fn ch(c: char) -> KeyChord {
    key(KeyCode::Char(c))
}

const fn ctrl(c: char) -> KeyChord {
    KeyChord { code: KeyCode::Char(c), ctrl: true }
}

/// Key that leads back: from the panes to the home screen. It has no row of its own.
const BACK: KeyChord = key(KeyCode::Esc);

impl KeyChord {
    fn pressed(event: &KeyEvent) -> Self {
        Self { code: event.code, ctrl: event.modifiers.contains(KeyModifiers::CONTROL) }
    }
}

pub fn label(key: KeyChord) -> String {
    let code = match key.code {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Right => "→".to_owned(),
        KeyCode::Left => "←".to_owned(),
        KeyCode::Up => "↑".to_owned(),
        KeyCode::Down => "↓".to_owned(),
        KeyCode::F(n) => format!("F{n}"),
        KeyCode::BackTab => "Shift-Tab".to_owned(),
        other => format!("{other:?}"),
    };
    if key.ctrl { format!("Ctrl-{}", code.to_uppercase()) } else { code }
}

pub fn labels(keys: &[KeyChord]) -> String {
    keys.iter().map(|key| label(*key)).collect::<Vec<_>>().join(" ")
}

/// A key from the way it is written: `x`, `space`, `Ctrl-X`, `F5`, `Enter`, `Left`.
fn parse(text: &str) -> Option<KeyChord> {
    use KeyCode::{Backspace, Delete, Down, End, Enter, Home, Left, PageDown, PageUp, Right, Tab, Up};
    let single = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    if let Some(rest) = text.strip_prefix("Ctrl-") {
        return single(rest).map(|c| ctrl(c.to_ascii_lowercase()));
    }
    if let Some(c) = single(text) {
        return Some(ch(c));
    }
    if let Some(number) = text.strip_prefix('F').and_then(|n| n.parse().ok()) {
        return Some(key(KeyCode::F(number)));
    }
    if text.eq_ignore_ascii_case("space") {
        return Some(ch(' '));
    }
    let named = [Enter, Tab, Left, Right, Up, Down, Home, End, PageUp, PageDown, Backspace, Delete];
    named.into_iter().find(|code| format!("{code:?}").eq_ignore_ascii_case(text)).map(key)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenState {
    Home,
    Draft,
    Open,
    Question,
    /// The round is closed, its answers are revealed and counted.
    Revealed,
    Closed,
    Replay,
}

use ScreenState::{Closed, Draft, Home, Open, Question, Replay, Revealed};

impl ScreenState {
    pub fn word(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

const ANY: &[ScreenState] = &[Home, Draft, Open, Question, Revealed, Closed, Replay];
const DRAFT: &[ScreenState] = &[Draft];
/// States in which it may still be chosen who answers.
const CHOOSING: &[ScreenState] = &[Home, Draft];
const OPEN: &[ScreenState] = &[Open];
const REVEALED: &[ScreenState] = &[Revealed];
const REPLAY: &[ScreenState] = &[Replay];
const SESSION: &[ScreenState] = &[Draft, Open, Question, Revealed, Closed, Replay];
const INVITING: &[ScreenState] = &[Draft, Open, Question, Revealed];
/// States in which the engine waits for the facilitator.
const WAITING: &[ScreenState] = &[Draft, Question, Revealed];
/// States that another question can follow.
const BEGINNING: &[ScreenState] = &[Home, Closed];
/// States of a session that can go on, or of which another can.
const PAST: &[ScreenState] = &[Closed, Replay];
const READABLE: &[ScreenState] = &[Question, Revealed, Closed, Replay];

/// The purpose of a key: the groups of the help page, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Open, close, accept, answer: what leads on.
    Lead,
    Seats,
    Replay,
    Read,
    /// Reports, notes, copies, forks.
    Keep,
    Move,
    Program,
}

impl Aim {
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Lead, "Lead the session"),
        (Self::Seats, "Choose who answers"),
        (Self::Replay, "Play and jump"),
        (Self::Read, "Read and find"),
        (Self::Keep, "Keep and share"),
        (Self::Move, "Move"),
        (Self::Program, "Program"),
    ];
}

#[derive(Debug, Clone, Copy)]
pub struct KeyBinding {
    pub aim: Aim,
    pub states: &'static [ScreenState],
    pub action: Action,
    /// Name of the action in `screen.keys`; never changes.
    pub id: &'static str,
    /// Default keys; the footer shows the first.
    pub keys: &'static [KeyChord],
    pub name: &'static str,
    /// Text of the footer; empty if the footer does not show the action.
    pub footer: &'static str,
}

macro_rules! bindings {
    ($($aim:ident $states:ident $action:ident $id:literal [$($key:expr),*] $name:literal $footer:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action { Home, $($action),* }

        /// All key bindings, in the order of the footer.
        pub const BINDINGS: &[KeyBinding] = &[$(KeyBinding {
            aim: Aim::$aim,
            states: $states,
            action: Action::$action,
            id: $id,
            keys: &[$($key),*],
            name: $name,
            footer: $footer,
        }),*];
    };
}

bindings! {
    Lead BEGINNING NewQuestion "new-question" [ch('n')] "ask a new question" "new";
    Lead DRAFT OpenRound "open-round" [ch('o')] "open round (or start session)" "open";
    Lead DRAFT EditRound "edit-round" [ch('e')] "edit round" "edit";
    Seats DRAFT ChooseParticipants "choose-participants" [ch('p')] "choose who is asked" "seats";
    Seats CHOOSING ChooseModel "choose-model" [ch('m')] "choose who answers: model or person" "model";
    Seats INVITING InviteSeat "invite-seat" [ch('i')] "invite somebody elsewhere to the seat" "";
    Seats OPEN RetrySeat "retry-seat" [ch('r')] "ask seat again, with the same or another model" "again";
    Seats OPEN ExcuseSeat "excuse-seat" [ch('x')] "excuse seat (go on without it)" "without";
    Lead OPEN CloseRound "close-round" [ch('c')] "close round (asks while seats answer)" "close";
    Lead OPEN ExtendDeadline "extend-deadline" [ch('t')] "extend deadline by a minute" "+1 min";
    Lead REVEALED AcceptResult "accept-result" [ch('A')] "accept result and continue (asks first)" "accept";
    Lead REVEALED RepeatRound "repeat-round" [ch('n')] "ask again in a new round" "ask again";
    Lead ANY OpenItem "open-item" [key(KeyCode::Enter)] "open, read or answer what is selected" "open";
    Keep WAITING AddMaterial "add-material" [ch('a')] "add a note or an artifact for later rounds" "add";
    Replay REPLAY PlayPause "play-pause" [ch(' ')] "play or pause" "play";
    Replay REPLAY NextReveal "next-reveal" [ch('c')] "to where the round closes" "close";
    Replay REPLAY NextEvent "next-event" [ch('.')] "next event" "event";
    Replay REPLAY PreviousEvent "previous-event" [ch(',')] "previous event" "";
    Read SESSION NextRound "next-round" [ch(']')] "next round" "";
    Read SESSION PreviousRound "previous-round" [ch('[')] "previous round" "";
    Read SESSION NextSeat "next-seat" [key(KeyCode::Right), ch('l')] "next seat" "seat";
    Read SESSION PreviousSeat "previous-seat" [key(KeyCode::Left), ch('h')] "previous seat" "";
    Read READABLE ToggleSideBySide "toggle-side-by-side" [ch('v')] "toggle side-by-side view" "side by side";
    Keep READABLE ExportReport "export-report" [ch('R')] "export report" "report";
    Read READABLE OtherRules "other-rules" [ch('w')] "recount with other rules" "other rules";
    Move SESSION NextPane "next-pane" [key(KeyCode::Tab)] "next pane" "pane";
    Move SESSION PreviousPane "previous-pane" [key(KeyCode::BackTab)] "previous pane" "";
    Read SESSION ShowSnapshot "show-snapshot" [ch('s')] "show snapshot; again: what changed in it" "";
    Lead SESSION ShowAgenda "show-agenda" [ch('O')] "show agenda, conflicts and open questions" "";
    Keep SESSION CopyPane "copy-pane" [ch('y')] "copy pane" "";
    Keep PAST ForkSession "fork-session" [ch('F')] "fork session here" "";
    Lead PAST ResumeSession "resume-session" [ch('o')] "resume session" "";
    Read ANY Search "search" [ch('/')] "search" "find";
    Read SESSION NextMatch "next-match" [ch('>')] "next match" "";
    Read SESSION PreviousMatch "previous-match" [ch('<')] "previous match" "";
    Replay REPLAY PlayFaster "play-faster" [ch('+')] "play faster" "";
    Replay REPLAY PlaySlower "play-slower" [ch('-')] "play slower" "";
    Replay REPLAY JumpToTenth "jump-to-tenth" [ch('0'), ch('1'), ch('2'), ch('3'), ch('4'), ch('5'), ch('6'), ch('7'), ch('8'), ch('9')] "jump to a tenth of the time line" "";
    Move ANY GoToStart "go-to-start" [ch('g'), key(KeyCode::Home)] "go to start" "";
    Move ANY GoToEnd "go-to-end" [key(KeyCode::End), ch('G')] "go to end" "";
    Move ANY Up "up" [key(KeyCode::Up), ch('k')] "up" "";
    Move ANY Down "down" [key(KeyCode::Down), ch('j')] "down" "";
    Move ANY PageUp "page-up" [key(KeyCode::PageUp), ctrl('u')] "page up" "";
    Move ANY PageDown "page-down" [key(KeyCode::PageDown), ctrl('d')] "page down" "";
    Seats CHOOSING CheckProviders "check-providers" [ch('D')] "check providers" "";
    Program ANY CommandPalette "command-palette" [ch(':'), ctrl('p')] "command palette" "";
    Program ANY Help "help" [ch('?'), key(KeyCode::F(1))] "help" "help";
    Program ANY Suspend "suspend" [ctrl('z')] "suspend (fg returns)" "";
    Program ANY Quit "quit" [ch('q'), ctrl('c')] "quit" "quit";
}

impl KeyBinding {
    pub fn places(&self) -> String {
        match self.states {
            ANY => "anywhere".to_owned(),
            SESSION => "in a session".to_owned(),
            states => states.iter().map(|state| state.word()).collect::<Vec<_>>().join(", "),
        }
    }

    pub fn of(action: Action) -> Option<&'static Self> {
        BINDINGS.iter().find(|binding| binding.action == action)
    }

    pub fn in_state(state: ScreenState) -> impl Iterator<Item = &'static Self> {
        BINDINGS.iter().filter(move |binding| binding.states.contains(&state))
    }
}

#[derive(Debug, Clone, Copy)]
pub struct FormKey {
    pub keys: &'static [&'static str],
    pub name: &'static str,
    /// Their word under a form, if they have a place there.
    pub footer: Option<&'static str>,
}

pub const FORM_KEYS: [FormKey; 7] = [
    FormKey { keys: &["Ctrl-S", "F2"], name: "submit form", footer: Some("submit") },
    FormKey { keys: &["Tab"], name: "next field; completes a path", footer: Some("next") },
    FormKey { keys: &["Esc"], name: "close form, keep draft", footer: Some("close") },
    FormKey { keys: &["Ctrl-X"], name: "empty form", footer: None },
    FormKey { keys: &["Shift-Tab"], name: "previous field", footer: None },
    FormKey { keys: &["←", "→"], name: "change value", footer: None },
    FormKey { keys: &["space"], name: "toggle", footer: None },
];

pub fn table() -> String {
    let code = |keys: String| keys.split(' ').map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" ");
    let row = |binding: &KeyBinding| {
        let (keys, places) = (code(labels(binding.keys)), binding.places());
        format!("| {keys} | `{}` | {} | {places} |\n", binding.id, binding.name)
    };
    let form_row = |key: &FormKey| format!("| {} | | {} | in a form |\n", code(key.keys.join(" ")), key.name);
    let rows: String = BINDINGS.iter().map(row).chain(FORM_KEYS.iter().map(form_row)).collect();
    format!("| key | id | does | where |\n|---|---|---|---|\n{rows}")
}

/// The keys in effect: those of the table, unless the configuration replaces them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    own: HashMap<Action, Vec<KeyChord>>,
}

impl Keys {
    /// Returns the keys with the replacements of `screen.keys`: `{ID: KEY or [KEYS]}`.
    pub fn configured<'a>(given: impl IntoIterator<Item = (&'a str, &'a [String])>) -> Result<Self, String> {
        let mut keys = Self::default();
        for (name, labels) in given {
            let binding = BINDINGS.iter().find(|binding| binding.id == name).ok_or_else(|| {
                let mut ids: Vec<&str> = BINDINGS.iter().map(|binding| binding.id).collect();
                ids.sort_unstable();
                format!("unknown action `{name}`; {}", did_you_mean(name, &ids))
            })?;
            let read =
                labels.iter().map(|label| parse(label).ok_or_else(|| format!("unknown key `{label}`")));
            keys.own.insert(binding.action, read.collect::<Result<_, _>>()?);
        }
        keys.clash().map_or(Ok(keys), Err)
    }

    pub fn keys_for<'a>(&'a self, binding: &KeyBinding) -> &'a [KeyChord] {
        self.own.get(&binding.action).map_or(binding.keys, Vec::as_slice)
    }

    pub fn first(&self, action: Action) -> String {
        let key = KeyBinding::of(action).and_then(|binding| self.keys_for(binding).first());
        key.map(|key| label(*key)).unwrap_or_default()
    }

    pub fn action(&self, event: &KeyEvent, state: ScreenState) -> Option<Action> {
        let pressed = KeyChord::pressed(event);
        if pressed == BACK {
            return Some(Action::Home);
        }
        let mut here = KeyBinding::in_state(state);
        here.find(|binding| self.keys_for(binding).contains(&pressed)).map(|binding| binding.action)
    }

    /// Returns which of the keys of an action was pressed, counted from 0.
    pub fn place_of(&self, action: Action, event: &KeyEvent) -> Option<usize> {
        let keys = self.keys_for(KeyBinding::of(action)?);
        keys.iter().position(|key| *key == KeyChord::pressed(event))
    }

    /// Returns a row in which a key has a meaning, whatever the state, with the key's label.
    pub fn in_another_state(&self, event: &KeyEvent) -> Option<(&'static KeyBinding, String)> {
        let pressed = KeyChord::pressed(event);
        let found = BINDINGS.iter().find(|binding| self.keys_for(binding).contains(&pressed));
        found.map(|binding| (binding, label(pressed)))
    }

    /// Returns an error message for the first key with two meanings in one state.
    fn clash(&self) -> Option<String> {
        for state in ANY {
            let mut seen: HashMap<KeyChord, &KeyBinding> = HashMap::new();
            for binding in KeyBinding::in_state(*state) {
                for key in self.keys_for(binding) {
                    let other = seen.insert(*key, binding);
                    if let Some(other) = other.filter(|other| other.action != binding.action) {
                        let (key, one, two) = (label(*key), other.id, binding.id);
                        return Some(format!("`{key}` would mean both `{one}` and `{two}`"));
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        assert_eq!(Keys::default().clash(), None);
        let clash = Keys::configured([("next-seat", &["q".to_owned()][..])]).unwrap_err();
        assert!(clash.contains("`q`"), "{clash}");
    }

    #[test]
    fn a_key_finds_its_action_where_it_is() {
        let keys = Keys::default();
        let press = |code, modifiers, place| keys.action(&KeyEvent::new(code, modifiers), place);
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL, ScreenState::Open), Some(Action::Quit));
        assert_eq!(
            press(KeyCode::Char('c'), KeyModifiers::NONE, ScreenState::Open),
            Some(Action::CloseRound)
        );
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::NONE, ScreenState::Replay), None);
        assert_eq!(
            press(KeyCode::Char('n'), KeyModifiers::NONE, ScreenState::Home),
            Some(Action::NewQuestion)
        );
        assert_eq!(
            press(KeyCode::Char('n'), KeyModifiers::NONE, ScreenState::Revealed),
            Some(Action::RepeatRound)
        );
        assert_eq!(press(KeyCode::Char('G'), KeyModifiers::SHIFT, ScreenState::Open), Some(Action::GoToEnd));
    }

    #[test]
    fn the_configuration_gives_other_keys() {
        let given = ["Ctrl-X".to_owned(), "F5".to_owned()];
        let keys = Keys::configured([("close-round", &given[..])]).unwrap();
        let press = |code, modifiers| keys.action(&KeyEvent::new(code, modifiers), ScreenState::Open);
        assert_eq!(press(KeyCode::F(5), KeyModifiers::NONE), Some(Action::CloseRound));
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::CONTROL), Some(Action::CloseRound));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE), None);
        let wrong = Keys::configured([("retry-saet", &[][..])]).unwrap_err();
        assert_eq!(wrong, "unknown action `retry-saet`; did you mean `retry-seat`?");
        assert!(Keys::configured([("quit", &["Hyper-q".to_owned()][..])]).is_err());
    }

    /// An id is the name of its action, so that rewording a label changes nothing.
    #[test]
    fn ids_are_action_names() {
        for binding in BINDINGS {
            let name = format!("{:?}", binding.action);
            let words = name.chars().flat_map(|c| c.is_uppercase().then_some('-').into_iter().chain([c]));
            let kebab = words.collect::<String>().to_lowercase();
            assert_eq!(binding.id, kebab.trim_start_matches('-'));
        }
    }
}
