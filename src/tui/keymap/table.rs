//! Key table: actions, their ids, keys and the screen states in which they apply.

use crossterm::event::KeyCode;

use super::action::Action;
use super::key::{KeyChord, ch, ctrl, key, label};

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

pub(super) const ANY: &[ScreenState] = &[Home, Draft, Open, Question, Revealed, Closed, Replay];
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

/// What one wants to do with a key: the groups of the help page, in its order.
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
    pub const ALL: [Self; 7] =
        [Self::Lead, Self::Seats, Self::Replay, Self::Read, Self::Keep, Self::Move, Self::Program];

    pub fn heading(self) -> &'static str {
        match self {
            Self::Lead => "Lead the session",
            Self::Seats => "Choose who answers",
            Self::Replay => "Play and jump",
            Self::Read => "Read and find",
            Self::Keep => "Keep and share",
            Self::Move => "Move",
            Self::Program => "Program",
        }
    }
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
    /// Text of the palette, the help page and the README.
    pub name: &'static str,
    /// Text of the footer; empty if the footer does not show the action.
    pub footer: &'static str,
}

impl KeyBinding {
    pub fn places(&self) -> String {
        state_words(self.states)
    }
}

const fn row(
    aim: Aim,
    states: &'static [ScreenState],
    action: Action,
    id: &'static str,
    keys: &'static [KeyChord],
    name: &'static str,
    footer: &'static str,
) -> KeyBinding {
    KeyBinding { aim, states, action, id, keys, name, footer }
}

/// All key bindings, in the order of the footer.
#[rustfmt::skip]
pub const BINDINGS: [KeyBinding; 49] = [
    row(Aim::Lead, BEGINNING, Action::NewQuestion, "new-question", &[ch('n')], "ask a new question", "new"),
    row(Aim::Lead, DRAFT, Action::OpenRound, "open-round", &[ch('o')], "open round (or start session)", "open"),
    row(Aim::Lead, DRAFT, Action::EditRound, "edit-round", &[ch('e')], "edit round", "edit"),
    row(Aim::Seats, DRAFT, Action::ChooseParticipants, "choose-participants", &[ch('p')], "choose who is asked", "seats"),
    row(Aim::Seats, CHOOSING, Action::ChooseModel, "choose-model", &[ch('m')], "choose who answers: model or person", "model"),
    row(Aim::Seats, INVITING, Action::InviteSeat, "invite-seat", &[ch('i')], "invite somebody elsewhere to the seat", ""),
    row(Aim::Seats, OPEN, Action::RetrySeat, "retry-seat", &[ch('r')], "ask seat again, with the same or another model", "again"),
    row(Aim::Seats, OPEN, Action::ExcuseSeat, "excuse-seat", &[ch('x')], "excuse seat (go on without it)", "without"),
    row(Aim::Lead, OPEN, Action::CloseRound, "close-round", &[ch('c')], "close round (asks while seats answer)", "close"),
    row(Aim::Lead, OPEN, Action::ExtendDeadline, "extend-deadline", &[ch('t')], "extend deadline by a minute", "+1 min"),
    row(Aim::Lead, REVEALED, Action::AcceptResult, "accept-result", &[ch('A')], "accept result and continue (asks first)", "accept"),
    row(Aim::Lead, REVEALED, Action::RepeatRound, "repeat-round", &[ch('n')], "ask again in a new round", "ask again"),
    row(Aim::Lead, ANY, Action::OpenItem, "open-item", &[key(KeyCode::Enter)], "open, read or answer what is selected", "open"),
    row(Aim::Keep, WAITING, Action::AddMaterial, "add-material", &[ch('a')], "add a note or an artifact for later rounds", "add"),
    row(Aim::Replay, REPLAY, Action::PlayPause, "play-pause", &[ch(' ')], "play or pause", "play"),
    row(Aim::Replay, REPLAY, Action::NextReveal, "next-reveal", &[ch('c')], "to where the round closes", "close"),
    row(Aim::Replay, REPLAY, Action::NextEvent, "next-event", &[ch('.')], "next event", "event"),
    row(Aim::Replay, REPLAY, Action::PreviousEvent, "previous-event", &[ch(',')], "previous event", ""),
    row(Aim::Read, SESSION, Action::NextRound, "next-round", &[ch(']')], "next round", ""),
    row(Aim::Read, SESSION, Action::PreviousRound, "previous-round", &[ch('[')], "previous round", ""),
    row(Aim::Read, SESSION, Action::NextSeat, "next-seat", &[key(KeyCode::Right), ch('l')], "next seat", "seat"),
    row(Aim::Read, SESSION, Action::PreviousSeat, "previous-seat", &[key(KeyCode::Left), ch('h')], "previous seat", ""),
    row(Aim::Read, READABLE, Action::ToggleSideBySide, "toggle-side-by-side", &[ch('v')], "toggle side-by-side view", "side by side"),
    row(Aim::Keep, READABLE, Action::ExportReport, "export-report", &[ch('R')], "export report", "report"),
    row(Aim::Read, READABLE, Action::OtherRules, "other-rules", &[ch('w')], "recount with other rules", "other rules"),
    row(Aim::Move, SESSION, Action::NextPane, "next-pane", &[key(KeyCode::Tab)], "next pane", "pane"),
    row(Aim::Move, SESSION, Action::PreviousPane, "previous-pane", &[key(KeyCode::BackTab)], "previous pane", ""),
    row(Aim::Read, SESSION, Action::ShowSnapshot, "show-snapshot", &[ch('s')], "show snapshot; again: what changed in it", ""),
    row(Aim::Lead, SESSION, Action::ShowAgenda, "show-agenda", &[ch('O')], "show agenda, conflicts and open questions", ""),
    row(Aim::Keep, SESSION, Action::CopyPane, "copy-pane", &[ch('y')], "copy pane", ""),
    row(Aim::Keep, PAST, Action::ForkSession, "fork-session", &[ch('F')], "fork session here", ""),
    row(Aim::Lead, PAST, Action::ResumeSession, "resume-session", &[ch('o')], "resume session", ""),
    row(Aim::Read, ANY, Action::Search, "search", &[ch('/')], "search", "find"),
    row(Aim::Read, SESSION, Action::NextMatch, "next-match", &[ch('>')], "next match", ""),
    row(Aim::Read, SESSION, Action::PreviousMatch, "previous-match", &[ch('<')], "previous match", ""),
    row(Aim::Replay, REPLAY, Action::PlayFaster, "play-faster", &[ch('+')], "play faster", ""),
    row(Aim::Replay, REPLAY, Action::PlaySlower, "play-slower", &[ch('-')], "play slower", ""),
    row(Aim::Replay, REPLAY, Action::JumpToTenth, "jump-to-tenth", &[ch('0'), ch('1'), ch('2'), ch('3'), ch('4'), ch('5'), ch('6'), ch('7'), ch('8'), ch('9')], "jump to a tenth of the time line", ""),
    row(Aim::Move, ANY, Action::GoToStart, "go-to-start", &[ch('g'), key(KeyCode::Home)], "go to start", ""),
    row(Aim::Move, ANY, Action::GoToEnd, "go-to-end", &[key(KeyCode::End), ch('G')], "go to end", ""),
    row(Aim::Move, ANY, Action::Up, "up", &[key(KeyCode::Up), ch('k')], "up", ""),
    row(Aim::Move, ANY, Action::Down, "down", &[key(KeyCode::Down), ch('j')], "down", ""),
    row(Aim::Move, ANY, Action::PageUp, "page-up", &[key(KeyCode::PageUp), ctrl('u')], "page up", ""),
    row(Aim::Move, ANY, Action::PageDown, "page-down", &[key(KeyCode::PageDown), ctrl('d')], "page down", ""),
    row(Aim::Seats, CHOOSING, Action::CheckProviders, "check-providers", &[ch('D')], "check providers", ""),
    row(Aim::Program, ANY, Action::CommandPalette, "command-palette", &[ch(':'), ctrl('p')], "command palette", ""),
    row(Aim::Program, ANY, Action::Help, "help", &[ch('?'), key(KeyCode::F(1))], "help", "help"),
    row(Aim::Program, ANY, Action::Suspend, "suspend", &[ctrl('z')], "suspend (fg returns)", ""),
    row(Aim::Program, ANY, Action::Quit, "quit", &[ch('q'), ctrl('c')], "quit", "quit"),
];

/// A key of forms: there every other key is typed, so these are the same everywhere.
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

/// Returns the table as Markdown, for the README.
pub fn table() -> String {
    let code = |keys: Vec<String>| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" ");
    let row = |binding: &KeyBinding| {
        let keys = code(binding.keys.iter().map(|key| label(*key)).collect());
        format!("| {keys} | `{}` | {} | {} |\n", binding.id, binding.name, binding.places())
    };
    let form_row = |key: &FormKey| {
        let keys = code(key.keys.iter().map(|key| (*key).to_owned()).collect());
        format!("| {keys} | | {} | in a form |\n", key.name)
    };
    let rows: String = BINDINGS.iter().map(row).chain(FORM_KEYS.iter().map(form_row)).collect();
    format!("| key | id | does | where |\n|---|---|---|---|\n{rows}")
}

fn state_words(states: &[ScreenState]) -> String {
    if states == ANY {
        "anywhere".to_owned()
    } else if states == SESSION {
        "in a session".to_owned()
    } else {
        states.iter().map(|state| state.word()).collect::<Vec<_>>().join(", ")
    }
}
