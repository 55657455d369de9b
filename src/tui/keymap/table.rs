//! The table itself, and the places its rows hold in.

use crossterm::event::KeyCode;

use super::Action;
use super::key::{KeyChord, ch, ctrl, key, label};

/// Where the facilitator is; one of these at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum ScreenState {
    /// The list of sessions.
    Home = 1,
    /// A round is drafted.
    Draft = 2,
    /// A round is open, or a step is at work.
    Open = 4,
    /// A person is asked.
    Question = 8,
    /// A round is counted.
    Revealed = 16,
    /// The session is over or rests.
    Closed = 32,
    /// A film of a session.
    Replay = 64,
}

/// The places in which a row of the table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places(u16);

impl Places {
    const ANY: Self = Self(0xffff);
    const HOME: Self = Self(ScreenState::Home as u16);
    const FILM: Self = Self(ScreenState::Replay as u16);
    const DRAFT: Self = Self(ScreenState::Draft as u16);
    const OPEN: Self = Self(ScreenState::Open as u16);
    const ASKED: Self = Self(ScreenState::Question as u16);
    const COUNTED: Self = Self(ScreenState::Revealed as u16);
    const SESSION: Self = Self(!(ScreenState::Home as u16));
    const LIVE: Self = Self(2 | 4 | 8 | 16 | 32);
    const TABLE: Self = Self(2 | 8 | 16);
    const NOTED: Self = Self(8 | 16);
    const RESTS: Self = Self(32 | 64);
    const READ: Self = Self(8 | 16 | 32 | 64);

    /// Whether it holds there.
    pub fn holds(self, place: ScreenState) -> bool {
        self.0 & place as u16 != 0
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct KeyBinding {
    /// The action.
    pub action: Action,
    /// Where it holds.
    pub places: Places,
    /// Its keys, the first one shown in the footer.
    pub keys: &'static [KeyChord],
    /// What it does, as the palette and the help page say it; the configuration names it with
    /// hyphens for blanks.
    pub name: &'static str,
    /// Its word in the footer, if it has a place there.
    pub footer: Option<&'static str>,
}

const fn row(
    places: Places,
    action: Action,
    keys: &'static [KeyChord],
    name: &'static str,
    footer: Option<&'static str>,
) -> KeyBinding {
    KeyBinding { action, places, keys, name, footer }
}

/// The table.
pub const BINDINGS: [KeyBinding; 56] = [
    row(Places::HOME, Action::OpenRow, &[key(KeyCode::Enter)], "open what is chosen", Some("open")),
    row(Places::HOME, Action::NewQuestion, &[ch('n')], "a topic of your own", Some("new topic")),
    row(Places::DRAFT, Action::OpenRound, &[ch('o')], "open the round, or begin", Some("open")),
    row(Places::DRAFT, Action::EditRound, &[ch('e')], "edit the round", Some("edit")),
    row(Places::DRAFT, Action::ChooseParticipants, &[ch('p')], "choose who is asked", Some("seats")),
    row(Places::DRAFT, Action::ShowDiff, &[ch('d')], "what differs from the last snapshot", Some("diff")),
    row(Places::OPEN, Action::CloseRound, &[ch('c')], "close the round now", Some("close now")),
    row(Places::OPEN, Action::ExcuseSeat, &[ch('x')], "excuse the chosen seat", Some("excuse")),
    row(
        Places::OPEN,
        Action::RetrySeat,
        &[ch('r')],
        "ask the chosen seat anew, or by another model",
        Some("retry"),
    ),
    row(Places::OPEN, Action::ExtendDeadline, &[ch('t')], "give the round more time", Some("more time")),
    row(Places::OPEN, Action::AnswerSeat, &[key(KeyCode::Enter)], "answer where it is a person's turn", None),
    row(Places::COUNTED, Action::AcceptResult, &[key(KeyCode::Enter)], "accept and go on", Some("accept")),
    row(Places::COUNTED, Action::RepeatRound, &[ch('n')], "ask again as a new round", Some("ask again")),
    row(Places::ASKED, Action::AnswerQuestion, &[key(KeyCode::Enter)], "answer the question", Some("answer")),
    row(Places::NOTED, Action::AddNote, &[ch('m')], "note what came of the round", None),
    row(Places::TABLE, Action::EditArtifact, &[ch('a')], "add or edit an artifact", Some("artifact")),
    row(Places::FILM, Action::PlayPause, &[ch(' ')], "play or pause", Some("play")),
    row(Places::FILM, Action::NextEvent, &[key(KeyCode::Right), ch('l')], "next event", Some("event")),
    row(Places::FILM, Action::PreviousEvent, &[key(KeyCode::Left), ch('h')], "event before", None),
    row(Places::FILM, Action::NextRound, &[ch(']')], "next round", Some("round")),
    row(Places::FILM, Action::PreviousRound, &[ch('[')], "round before", None),
    row(Places::FILM, Action::NextSeat, &[ch('n')], "next seat", Some("seat")),
    row(Places::FILM, Action::PreviousSeat, &[ch('p')], "seat before", None),
    row(Places::LIVE, Action::NextSeat, &[key(KeyCode::Right), ch('l')], "next seat", Some("seat")),
    row(Places::LIVE, Action::PreviousSeat, &[key(KeyCode::Left), ch('h')], "seat before", None),
    row(Places::SESSION, Action::NextPane, &[key(KeyCode::Tab)], "next pane", Some("pane")),
    row(Places::SESSION, Action::PreviousPane, &[key(KeyCode::BackTab)], "pane before", None),
    row(Places::SESSION, Action::ShowSnapshot, &[ch('s')], "look at the snapshot", None),
    row(Places::SESSION, Action::ShowWorkflow, &[ch('M')], "look at the workflow's map", None),
    row(Places::SESSION, Action::ShowResults, &[ch('C')], "look at the results so far", None),
    row(Places::SESSION, Action::ShowWorkItems, &[ch('i')], "show a work item whole", None),
    row(
        Places::READ,
        Action::ToggleSideBySide,
        &[ch('v')],
        "answers side by side, or one",
        Some("side by side"),
    ),
    row(Places::READ, Action::OtherRules, &[ch('w')], "what if by another rule", Some("what if")),
    row(Places::READ, Action::ExportReport, &[ch('R')], "write a report", Some("report")),
    row(Places::SESSION, Action::CopyPane, &[ch('y')], "copy what is looked at", None),
    row(Places::FILM, Action::ForkSession, &[ch('F')], "a new session from here", None),
    row(Places::RESTS, Action::ResumeSession, &[ch('r')], "go on with this session", None),
    row(Places::ANY, Action::Search, &[ch('/')], "search", Some("find")),
    row(Places::FILM, Action::NextMatch, &[ch('>'), key(KeyCode::Enter)], "next hit", None),
    row(Places::LIVE, Action::NextMatch, &[ch('>')], "next hit", None),
    row(Places::SESSION, Action::PreviousMatch, &[ch('<')], "hit before", None),
    row(Places::SESSION, Action::FilterEvents, &[ch('f')], "only this seat's events, or all", None),
    row(Places::FILM, Action::PlayFaster, &[ch('.'), ch('+')], "play faster", None),
    row(Places::FILM, Action::PlaySlower, &[ch(','), ch('-')], "play slower", None),
    row(Places::ANY, Action::GoToStart, &[ch('g'), key(KeyCode::Home)], "to the start", None),
    row(Places::ANY, Action::GoToEnd, &[ch('G'), key(KeyCode::End)], "to the end", None),
    row(Places::ANY, Action::Up, &[key(KeyCode::Up), ch('k')], "up", None),
    row(Places::ANY, Action::Down, &[key(KeyCode::Down), ch('j')], "down", None),
    row(Places::ANY, Action::PageUp, &[key(KeyCode::PageUp), ctrl('u')], "up a page", None),
    row(Places::ANY, Action::PageDown, &[key(KeyCode::PageDown), ctrl('d')], "down a page", None),
    row(Places::ANY, Action::CheckProviders, &[ch('D')], "doctor: see how the providers fare", None),
    row(Places::ANY, Action::CheckLatency, &[ch('P')], "doctor: have each say a word, and time it", None),
    row(Places::ANY, Action::CommandPalette, &[ch(':'), ctrl('p')], "find an action by its name", None),
    row(Places::ANY, Action::Help, &[ch('?'), key(KeyCode::F(1))], "show the keys", Some("help")),
    row(Places::ANY, Action::Suspend, &[ctrl('z')], "to the shell; fg comes back", None),
    row(Places::ANY, Action::Quit, &[ch('q'), ctrl('c')], "quit", Some("quit")),
];

/// A key of forms: there every other key is typed, so these are the same everywhere.
#[derive(Debug, Clone, Copy)]
pub struct FormKey {
    /// The keys, as they are written.
    pub keys: &'static [&'static str],
    /// What they do.
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

/// The keys of forms.
pub const FORM_KEYS: [FormKey; 7] = [
    form_key(&["Ctrl-S", "F2"], "hand the form in", Some("done")),
    form_key(&["Tab"], "next field", Some("next")),
    form_key(&["Esc"], "put the form away; what is typed is kept", Some("put away")),
    form_key(&["Ctrl-E"], "the field in your own editor", Some("editor")),
    form_key(&["Shift-Tab"], "field before", None),
    form_key(&["←", "→"], "another choice", None),
    form_key(&["space"], "pick, or not", None),
];

/// The table as Markdown, for the README.
pub fn table() -> String {
    let row = |binding: &KeyBinding| {
        let keys = binding.keys.iter().map(|key| format!("`{}`", label(*key))).collect::<Vec<_>>().join(" ");
        format!("| {keys} | {} | {} |\n", binding.name, places(binding.places))
    };
    let form_row = |key: &FormKey| {
        let keys = key.keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" ");
        format!("| {keys} | {} | in a form |\n", key.name)
    };
    let rows: String = BINDINGS.iter().map(row).chain(FORM_KEYS.iter().map(form_row)).collect();
    format!("| key | does | where |\n|---|---|---|\n{rows}")
}

/// The places of a row, in words.
pub fn places(places: Places) -> String {
    match places {
        Places::ANY => return "anywhere".to_owned(),
        Places::SESSION => return "in a session".to_owned(),
        Places::LIVE => return "live".to_owned(),
        _ => {}
    }
    let words = ["home", "draft", "open", "asked", "counted", "over", "film"];
    let held = PLACES.iter().zip(words).filter(|(place, _)| places.holds(**place)).map(|(_, word)| word);
    held.collect::<Vec<_>>().join(", ")
}

pub(super) const PLACES: [ScreenState; 7] = [
    ScreenState::Home,
    ScreenState::Draft,
    ScreenState::Open,
    ScreenState::Question,
    ScreenState::Revealed,
    ScreenState::Closed,
    ScreenState::Replay,
];
