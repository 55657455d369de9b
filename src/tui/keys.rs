//! Key bindings: the table behind footer, help page and manual.
//!
//! A key has at most one meaning in each screen state.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Returns the name of a key on the screen: "n", "Ctrl-U", "space".
fn label(event: &KeyEvent) -> String {
    let code = match event.code {
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
    let is_ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    if is_ctrl { format!("Ctrl-{}", code.to_uppercase()) } else { code }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenState {
    Home,
    Draft,
    Open,
    Question,
    /// The round is closed; its answers are revealed and counted.
    Revealed,
    Closed,
    Replay,
}

use ScreenState::{Closed, Draft, Home, Open, Question, Replay, Revealed};

impl ScreenState {
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

const ANY: &[ScreenState] = &[Home, Draft, Open, Question, Revealed, Closed, Replay];
const DRAFT: &[ScreenState] = &[Draft];
/// States in which the models can still be chosen.
const CHOOSING: &[ScreenState] = &[Home, Draft];
const OPEN: &[ScreenState] = &[Open];
const REVEALED: &[ScreenState] = &[Revealed];
const REPLAY: &[ScreenState] = &[Replay];
const SESSION: &[ScreenState] = &[Draft, Open, Question, Revealed, Closed, Replay];
const INVITING: &[ScreenState] = &[Draft, Open, Question, Revealed];
/// States in which the engine waits for the facilitator.
const WAITING: &[ScreenState] = &[Draft, Question, Revealed];
/// States from which a new question can be asked.
const BEGINNING: &[ScreenState] = &[Home, Closed];
/// States of a session that can be resumed or forked.
const PAST: &[ScreenState] = &[Closed, Replay];
const READABLE: &[ScreenState] = &[Question, Revealed, Closed, Replay];

#[derive(Debug, Clone, Copy)]
pub struct KeyBinding {
    pub states: &'static [ScreenState],
    pub action: Action,
    /// The footer shows the first.
    pub keys: &'static [&'static str],
    pub name: &'static str,
    /// Text of the footer; empty if the footer does not show the action.
    pub footer: &'static str,
}

macro_rules! bindings {
    ($($states:ident $action:ident [$($key:expr),*] $name:literal $footer:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action { $($action),* }

        /// All key bindings, in the order of the footer.
        pub const BINDINGS: &[KeyBinding] = &[$(KeyBinding {
            states: $states,
            action: Action::$action,
            keys: &[$($key),*],
            name: $name,
            footer: $footer,
        }),*];
    };
}

bindings! {
    BEGINNING NewQuestion ["n"] "ask a new question" "new";
    DRAFT OpenRound ["o"] "open round (or start session)" "open";
    DRAFT EditRound ["e"] "edit round" "edit";
    DRAFT ChooseParticipants ["p"] "choose who is asked" "seats";
    CHOOSING ChooseModel ["m"] "choose who answers: model or person" "model";
    INVITING InviteSeat ["i"] "invite somebody elsewhere to the seat" "";
    OPEN RetrySeat ["r"] "ask seat again, with the same or another model" "again";
    OPEN ExcuseSeat ["x"] "excuse seat (continue without it)" "without";
    OPEN CloseRound ["c"] "close round (asks while seats answer)" "close";
    OPEN ExtendDeadline ["t"] "extend deadline by a minute" "+1 min";
    REVEALED AcceptResult ["A"] "accept result and continue (asks first)" "accept";
    REVEALED LeaveStrategy ["L"] "leave the strategy: skip its remaining steps (asks first)" "";
    REVEALED RepeatRound ["n"] "ask again in a new round" "ask again";
    ANY OpenItem ["Enter"] "open, read or answer what is selected" "open";
    WAITING AddNote ["N"] "add a note on the last round" "note";
    REPLAY PlayPause ["space"] "play or pause" "play";
    REPLAY NextReveal ["c"] "to where the round closes" "close";
    REPLAY NextEvent ["."] "next event" "event";
    REPLAY PreviousEvent [","] "previous event" "";
    SESSION NextRound ["]"] "next round" "";
    SESSION PreviousRound ["["] "previous round" "";
    SESSION NextSeat ["→", "l"] "next seat" "seat";
    SESSION PreviousSeat ["←", "h"] "previous seat" "";
    READABLE ToggleSideBySide ["v"] "answers side by side" "side by side";
    READABLE ExportReport ["R"] "export report" "report";
    READABLE OtherRules ["w"] "recount with other rules" "other rules";
    WAITING AddArtifact ["a"] "add an artifact for later rounds" "artifact";
    SESSION NextPane ["Tab"] "next pane" "pane";
    SESSION PreviousPane ["Shift-Tab"] "previous pane" "";
    SESSION ShowSnapshot ["s"] "show snapshot; again: what changed in it" "";
    SESSION ShowAgenda ["O"] "show agenda, conflicts and open questions" "";
    PAST ForkSession ["F"] "fork session here" "";
    PAST ResumeSession ["o"] "resume session" "";
    ANY Search ["/"] "search" "find";
    SESSION NextMatch [">"] "next match" "";
    SESSION PreviousMatch ["<"] "previous match" "";
    ANY GoToStart ["g", "Home"] "go to start" "";
    ANY GoToEnd ["End", "G"] "go to end" "";
    ANY Up ["↑", "k"] "up" "";
    ANY Down ["↓", "j"] "down" "";
    ANY PageUp ["PageUp", "Ctrl-U"] "page up" "";
    ANY PageDown ["PageDown", "Ctrl-D"] "page down" "";
    CHOOSING CheckProviders ["D"] "check providers" "";
    ANY Home ["Esc"] "back, in the end to home" "";
    ANY Help ["?", "F1"] "help" "help";
    ANY Quit ["q", "Ctrl-C"] "quit" "quit";
}

impl KeyBinding {
    pub fn places(&self) -> String {
        match self.states {
            ANY => "anywhere".to_owned(),
            SESSION => "in a session".to_owned(),
            states => {
                format!("in {}", states.iter().map(|state| state.name()).collect::<Vec<_>>().join(", "))
            }
        }
    }

    pub fn in_state(state: ScreenState) -> impl Iterator<Item = &'static Self> {
        BINDINGS.iter().filter(move |binding| binding.states.contains(&state))
    }
}

#[derive(Debug, Clone, Copy)]
pub struct FormKey {
    pub keys: &'static [&'static str],
    pub name: &'static str,
    /// Word under a form; `None` if the form does not show these keys.
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
        format!("| {} | {} | {} |\n", code(binding.keys.join(" ")), binding.name, binding.places())
    };
    let form_row = |key: &FormKey| format!("| {} | {} | in a form |\n", code(key.keys.join(" ")), key.name);
    let rows: String = BINDINGS.iter().map(row).chain(FORM_KEYS.iter().map(form_row)).collect();
    format!("| key | does | where |\n|---|---|---|\n{rows}")
}

/// Returns the action of a key in this state, or in any state, and the key's label.
pub fn pressed(event: &KeyEvent, state: Option<ScreenState>) -> Option<(&'static KeyBinding, String)> {
    let label = label(event);
    let is_here = |binding: &&KeyBinding| state.is_none_or(|state| binding.states.contains(&state));
    let found = BINDINGS.iter().filter(is_here).find(|binding| binding.keys.contains(&&*label));
    Some((found?, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for state in ANY {
            let keys: Vec<&str> = KeyBinding::in_state(*state).flat_map(|it| it.keys).copied().collect();
            let unique: std::collections::HashSet<&str> = keys.iter().copied().collect();
            assert_eq!(unique.len(), keys.len(), "{state:?}: {keys:?}");
        }
    }

    #[test]
    fn a_key_finds_its_action_where_it_is() {
        let press = |code, modifiers, place| {
            pressed(&KeyEvent::new(code, modifiers), Some(place)).map(|(binding, _)| binding.action)
        };
        let (letter, none, ctrl) = (KeyCode::Char, KeyModifiers::NONE, KeyModifiers::CONTROL);
        assert_eq!(press(letter('c'), ctrl, ScreenState::Open), Some(Action::Quit));
        assert_eq!(press(letter('c'), none, ScreenState::Open), Some(Action::CloseRound));
        assert_eq!(press(letter('x'), none, ScreenState::Replay), None);
        assert_eq!(press(letter('n'), none, ScreenState::Home), Some(Action::NewQuestion));
        assert_eq!(press(letter('n'), none, ScreenState::Revealed), Some(Action::RepeatRound));
        assert_eq!(press(letter('G'), KeyModifiers::SHIFT, ScreenState::Open), Some(Action::GoToEnd));
    }
}
