//! Key table: actions, their ids, keys and the screen states in which they apply.

use crossterm::event::KeyCode;

use super::action::Action;
use super::key::{KeyChord, ch, ctrl, key, label};

/// State of the screen; one of these at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenState {
    /// List of sessions.
    Home,
    Draft,
    /// A round is open, or a step is running.
    Open,
    /// The facilitator must decide something.
    Question,
    /// The round is closed, its answers are revealed and counted.
    Revealed,
    Closed,
    /// Read-only playback of a session.
    Replay,
}

use ScreenState::{Closed, Draft, Home, Open, Question, Replay, Revealed};

impl ScreenState {
    pub fn word(self) -> &'static str {
        match self {
            Home => "home",
            Draft => "draft",
            Open => "open",
            Question => "question",
            Revealed => "revealed",
            Closed => "closed",
            Replay => "replay",
        }
    }
}

pub(super) const ANY: &[ScreenState] = &[Home, Draft, Open, Question, Revealed, Closed, Replay];
const HOME: &[ScreenState] = &[Home];
const DRAFT: &[ScreenState] = &[Draft];
/// States in which it may still be chosen who answers.
const CHOOSING: &[ScreenState] = &[Home, Draft];
const OPEN: &[ScreenState] = &[Open];
const QUESTION: &[ScreenState] = &[Question];
const REVEALED: &[ScreenState] = &[Revealed];
const REPLAY: &[ScreenState] = &[Replay];
const SESSION: &[ScreenState] = &[Draft, Open, Question, Revealed, Closed, Replay];
const LIVE: &[ScreenState] = &[Draft, Open, Question, Revealed, Closed];
/// States in which somebody elsewhere may still vote.
const INVITING: &[ScreenState] = &[Draft, Open, Question, Revealed];
/// States in which the engine waits for the facilitator.
const WAITING: &[ScreenState] = &[Draft, Question, Revealed];
const NOTED: &[ScreenState] = &[Question, Revealed];
const CLOSED: &[ScreenState] = &[Closed];
/// States in which Enter reads the selected item.
const READ: &[ScreenState] = &[Draft, Revealed, Closed, Replay];
/// States in which answers can be read.
const READABLE: &[ScreenState] = &[Question, Revealed, Closed, Replay];

#[derive(Debug, Clone, Copy)]
pub struct KeyBinding {
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
    /// The states in which it applies, in words.
    pub fn places(&self) -> String {
        state_words(self.states)
    }
}

const fn row(
    states: &'static [ScreenState],
    action: Action,
    id: &'static str,
    keys: &'static [KeyChord],
    name: &'static str,
    footer: &'static str,
) -> KeyBinding {
    KeyBinding { states, action, id, keys, name, footer }
}

/// All key bindings, in the order of the footer.
#[rustfmt::skip]
pub const BINDINGS: [KeyBinding; 63] = [
    row(HOME, Action::OpenRow, "open-row", &[key(KeyCode::Enter)], "open selected item", "open"),
    row(HOME, Action::NewQuestion, "new-question", &[ch('n')], "new question", "new"),
    row(DRAFT, Action::OpenRound, "open-round", &[ch('o')], "open round (or start session)", "open"),
    row(DRAFT, Action::EditRound, "edit-round", &[ch('e')], "edit round", "edit"),
    row(DRAFT, Action::ChooseParticipants, "choose-participants", &[ch('p')], "choose who is asked", "seats"),
    row(CHOOSING, Action::ChooseModel, "choose-model", &[ch('m')], "choose who answers: model or person", "model"),
    row(DRAFT, Action::ShowDiff, "show-diff", &[ch('d')], "show snapshot diff", "diff"),
    row(INVITING, Action::InviteSeat, "invite-seat", &[ch('i')], "invite somebody elsewhere to the seat", ""),
    row(OPEN, Action::RetrySeat, "retry-seat", &[ch('r')], "ask seat again, with the same or another model", "again"),
    row(OPEN, Action::ExcuseSeat, "excuse-seat", &[ch('x')], "excuse seat (go on without it)", "without"),
    row(OPEN, Action::ExtendDeadline, "extend-deadline", &[ch('t')], "extend deadline by a minute", "+1 min"),
    row(OPEN, Action::CloseRound, "close-round", &[ch('c')], "close round (asks while seats answer)", "close"),
    row(OPEN, Action::AnswerSeat, "answer-seat", &[key(KeyCode::Enter)], "answer for the human seat, or read selected item", ""),
    row(READ, Action::ReadItem, "read-item", &[key(KeyCode::Enter)], "read selected item in full", "read"),
    row(REVEALED, Action::AcceptResult, "accept-result", &[ch('A')], "accept result and continue (asks first)", "accept"),
    row(REVEALED, Action::RepeatRound, "repeat-round", &[ch('n')], "repeat as new round", "repeat"),
    row(QUESTION, Action::AnswerQuestion, "answer-question", &[key(KeyCode::Enter)], "answer the question", "answer"),
    row(NOTED, Action::AddNote, "add-note", &[ch('m')], "add note for later rounds", ""),
    row(REPLAY, Action::PlayPause, "play-pause", &[ch(' ')], "play or pause", "play"),
    row(REPLAY, Action::NextReveal, "next-reveal", &[ch('r')], "next reveal", "reveal"),
    row(REPLAY, Action::JumpToTenth, "jump-to-tenth", &[ch('0'), ch('1'), ch('2'), ch('3'), ch('4'), ch('5'), ch('6'), ch('7'), ch('8'), ch('9')], "jump to a tenth of the time line", ""),
    row(REPLAY, Action::NextEvent, "next-event", &[key(KeyCode::Right), ch('l')], "next event", "event"),
    row(REPLAY, Action::PreviousEvent, "previous-event", &[key(KeyCode::Left), ch('h')], "previous event", ""),
    row(REPLAY, Action::NextRound, "next-round", &[ch(']')], "next round", "round"),
    row(REPLAY, Action::PreviousRound, "previous-round", &[ch('[')], "previous round", ""),
    row(REPLAY, Action::NextSeat, "next-seat", &[ch('n')], "next seat", "seat"),
    row(REPLAY, Action::PreviousSeat, "previous-seat", &[ch('p')], "previous seat", ""),
    row(LIVE, Action::NextRound, "next-round", &[ch(']')], "next round", ""),
    row(LIVE, Action::PreviousRound, "previous-round", &[ch('[')], "earlier round", ""),
    row(LIVE, Action::NextSeat, "next-seat", &[key(KeyCode::Right), ch('l')], "next seat", "seat"),
    row(LIVE, Action::PreviousSeat, "previous-seat", &[key(KeyCode::Left), ch('h')], "previous seat", ""),
    row(SESSION, Action::NextPane, "next-pane", &[key(KeyCode::Tab)], "next pane", "pane"),
    row(WAITING, Action::EditArtifact, "edit-artifact", &[ch('a')], "add or edit artifact", "artifact"),
    row(SESSION, Action::PreviousPane, "previous-pane", &[key(KeyCode::BackTab)], "previous pane", ""),
    row(SESSION, Action::ShowSnapshot, "show-snapshot", &[ch('s')], "show snapshot", ""),
    row(SESSION, Action::ShowResults, "show-results", &[ch('C')], "show step results", ""),
    row(SESSION, Action::ShowWorkItems, "show-work-items", &[ch('I')], "show work items", ""),
    row(SESSION, Action::ShowAgenda, "show-agenda", &[ch('O')], "show agenda, conflicts and open questions", ""),
    row(READABLE, Action::ToggleSideBySide, "toggle-side-by-side", &[ch('v')], "toggle side-by-side view", "side by side"),
    row(READABLE, Action::OtherRules, "other-rules", &[ch('w')], "recount with other rules", "other rules"),
    row(READABLE, Action::ExportReport, "export-report", &[ch('R')], "export report", "report"),
    row(SESSION, Action::CopyPane, "copy-pane", &[ch('y')], "copy pane", ""),
    row(REPLAY, Action::ForkSession, "fork-session", &[ch('F')], "fork session here", ""),
    row(CLOSED, Action::ResumeSession, "resume-session", &[ch('r'), ch('o')], "resume session", ""),
    row(REPLAY, Action::ResumeSession, "resume-session", &[ch('o')], "resume session", ""),
    row(ANY, Action::Search, "search", &[ch('/')], "search", "find"),
    row(SESSION, Action::NextMatch, "next-match", &[ch('>')], "next match", ""),
    row(SESSION, Action::PreviousMatch, "previous-match", &[ch('<')], "previous match", ""),
    row(SESSION, Action::FilterEvents, "filter-events", &[ch('f')], "filter events by seat", ""),
    row(REPLAY, Action::PlayFaster, "play-faster", &[ch('.'), ch('+')], "play faster", ""),
    row(REPLAY, Action::PlaySlower, "play-slower", &[ch(','), ch('-')], "play slower", ""),
    row(ANY, Action::GoToStart, "go-to-start", &[ch('g'), key(KeyCode::Home)], "go to start", ""),
    row(ANY, Action::GoToEnd, "go-to-end", &[key(KeyCode::End), ch('G')], "go to end", ""),
    row(ANY, Action::Up, "up", &[key(KeyCode::Up), ch('k')], "up", ""),
    row(ANY, Action::Down, "down", &[key(KeyCode::Down), ch('j')], "down", ""),
    row(ANY, Action::PageUp, "page-up", &[key(KeyCode::PageUp), ctrl('u')], "page up", ""),
    row(ANY, Action::PageDown, "page-down", &[key(KeyCode::PageDown), ctrl('d')], "page down", ""),
    row(ANY, Action::CheckProviders, "check-providers", &[ch('D')], "check providers", ""),
    row(ANY, Action::CheckLatency, "check-latency", &[ch('P')], "check providers and latency", ""),
    row(ANY, Action::CommandPalette, "command-palette", &[ch(':'), ctrl('p')], "command palette", ""),
    row(ANY, Action::Help, "help", &[ch('?'), key(KeyCode::F(1))], "help", "help"),
    row(ANY, Action::Suspend, "suspend", &[ctrl('z')], "suspend (fg returns)", ""),
    row(ANY, Action::Quit, "quit", &[ch('q'), ctrl('c')], "quit", "quit"),
];

/// A key of forms: there every other key is typed, so these are the same everywhere.
#[derive(Debug, Clone, Copy)]
pub struct FormKey {
    /// The keys, as they are written.
    pub keys: &'static [&'static str],
    pub name: &'static str,
    /// Their word under a form, if they have a place there.
    pub footer: Option<&'static str>,
}

const fn form_key(
    keys: &'static [&'static str],
    name: &'static str,
    footer: Option<&'static str>,
) -> FormKey {
    FormKey { keys, name, footer }
}

pub const FORM_KEYS: [FormKey; 7] = [
    form_key(&["Ctrl-S", "F2"], "submit form", Some("submit")),
    form_key(&["Tab"], "next field; completes a path", Some("next")),
    form_key(&["Esc"], "close form, keep draft", Some("close")),
    form_key(&["Ctrl-X"], "empty form", None),
    form_key(&["Shift-Tab"], "previous field", None),
    form_key(&["←", "→"], "change value", None),
    form_key(&["space"], "toggle", None),
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
    } else if states == LIVE {
        "live".to_owned()
    } else {
        states.iter().map(|state| state.word()).collect::<Vec<_>>().join(", ")
    }
}
