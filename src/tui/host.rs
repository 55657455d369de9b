//! Host interface: the services the screen needs, incoming messages and outgoing effects.
//!
//! The command line implements [`Host`]; this module does no I/O itself.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crossterm::event::KeyEvent;
use indexmap::IndexMap;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::home::{Home, ModelSource, OpenTarget};
use super::live::{Draft, EngineUpdate, SeatChoice, SeatLink};
use crate::config::need::Need;
use crate::diagnostic::Diagnostic;
use crate::engine::FacilitatorRequest;
use crate::history::{LogEntry, SeatInvited, Session, SessionOpened, Timestamp};
use crate::launch::prepare::Tell;
use crate::participants::human::HumanQuestion;
use crate::participants::progress::{Progress, ProgressBoard};

pub struct EngineHandle {
    pub orders: UnboundedSender<FacilitatorRequest>,
    pub news: UnboundedReceiver<EngineUpdate>,
    pub people: UnboundedReceiver<HumanQuestion>,
    pub watches: ProgressBoard,
    pub path: PathBuf,
    pub links: IndexMap<String, SeatLink>,
}

pub type Diagnostics = Vec<Diagnostic>;

#[derive(Debug, Clone, PartialEq)]
pub enum StartRefusal {
    Wrong(Diagnostics),
    /// The person has not agreed to these programs and requests yet.
    Unagreed(Vec<Need>),
}

impl<T: Into<Diagnostics>> From<T> for StartRefusal {
    fn from(problems: T) -> Self {
        Self::Wrong(problems.into())
    }
}

pub trait Host: Send + Sync {
    fn home(&self) -> Home;

    fn draft(&self, opening: &OpenTarget, choice: &SeatChoice) -> Result<Draft, Diagnostics>;

    /// Finds models; takes as long as the slowest local server.
    fn sources(&self) -> Vec<ModelSource>;

    /// Stores the model for seats of this project that name none.
    fn use_model(&self, model: &str) -> Result<(), Diagnostic>;

    /// Returns the opening event with the measurement of each program that takes a seat.
    /// An unknown program is measured first, which takes up to 20 s.
    fn measure(&self, opened: &SessionOpened, tell: Tell<'_>) -> Result<SessionOpened, StartRefusal>;

    /// Begins a measured session: creates its file and starts an engine.
    fn begin(&self, opened: &SessionOpened) -> Result<EngineHandle, StartRefusal>;

    fn resume(&self, path: &Path, tell: Tell<'_>) -> Result<(Vec<LogEntry>, EngineHandle), StartRefusal>;

    /// Creates a session with a saved one's events up to `seq`, and returns its file.
    /// If a session cannot continue from `seq`, the last earlier point is used.
    fn fork(&self, path: &Path, seq: u64) -> Result<PathBuf, StartRefusal>;

    /// Makes a new link for a remote seat, and the invitation to record for it.
    fn invite(&self, session: &Session, seat: &str) -> Result<(SeatInvited, SeatLink), Diagnostic>;

    fn agree(&self, needs: &[Need]) -> Result<(), Diagnostic>;

    /// Returns a saved session's events, and the reason if they are not complete.
    fn load_replay(&self, path: &Path) -> Result<(Vec<LogEntry>, Option<String>), Diagnostics>;

    /// Returns the project's paths that start with `typed`, sorted; folders end with `/`.
    fn paths(&self, typed: &str) -> Vec<String>;

    fn context(&self) -> Result<Option<String>, Diagnostic>;

    /// Checks each provider; takes as long as the slowest of them.
    fn doctor(&self) -> String;

    /// Writes a report in Markdown, and returns what to say of it.
    fn report(&self, session: &Session) -> Result<String, Diagnostic>;

    /// Stores a form's draft under a name; `None` deletes it.
    fn keep(&self, name: &str, text: Option<&str>) -> Result<(), Diagnostic>;

    fn kept(&self, name: &str) -> Option<String>;
}

#[derive(Debug, Clone)]
pub enum Message {
    Key(KeyEvent),
    Paste(String),
    Resize(u16, u16),
    Pass(u64),
    Tick(Timestamp),
    Doctor(String),
    Progress(HashMap<String, Progress>),
    EngineUpdate(EngineUpdate),
    /// A human seat or work item with this name waits for its answer.
    Asked(String),
    Sources(Vec<ModelSource>),
    Home(Box<Home>),
    /// A session is ready to be reviewed before it begins.
    Drafted(Box<Draft>),
    Context(Result<Option<String>, String>),
    /// The project's paths that start with the text of the focused field.
    Paths(Vec<String>),
    /// The name of a form, and its stored draft.
    Kept(String, String),
    Busy(String),
    Say(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Quit,
    Order(FacilitatorRequest),
    Begin,
    Invite(String),
    Agree,
    Open(OpenTarget),
    Reply(String, String),
    ReadHome,
    FindSources,
    UseModel(String),
    Redraft(SeatChoice),
    CancelOpening,
    Doctor,
    ReadContext,
    Notify(String),
    Copy(String),
    Report,
    FindPaths(String),
    /// Store the draft of the form with this name; `None` deletes it.
    Keep(String, Option<String>),
    /// Store the draft once the person pauses.
    KeepSoon,
    Recall(String),
}
