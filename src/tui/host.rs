//! The world outside: what the screen needs of it, which the command line gives; the messages that come in, and
//! the effects that go out.

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
    /// It would run or ask this, to which the person has not agreed.
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

    /// Remembers the model that seats of this project get for which nobody names one.
    fn use_model(&self, model: &str) -> Result<(), Diagnostic>;

    /// Returns what a session opens with, with what is known of each program that takes a seat: one of
    /// which nothing is known is measured, which takes up to 20 s.
    fn measure(&self, opened: &SessionOpened, tell: Tell<'_>) -> Result<SessionOpened, StartRefusal>;

    /// Begins a session whose programs are measured: its file is made, and an engine works on it.
    fn begin(&self, opened: &SessionOpened) -> Result<EngineHandle, StartRefusal>;

    fn resume(&self, path: &Path, tell: Tell<'_>) -> Result<(Vec<LogEntry>, EngineHandle), StartRefusal>;

    /// A new session with a saved one's events up to `seq`, or to the last point before it from which
    /// a session can go on; the new file.
    fn fork(&self, path: &Path, seq: u64) -> Result<PathBuf, StartRefusal>;

    /// A new link for a remote seat of the session that is served, and the invitation to record for it.
    fn invite(&self, session: &Session, seat: &str) -> Result<(SeatInvited, SeatLink), Diagnostic>;

    /// Keeps the agreement.
    fn agree(&self, needs: &[Need]) -> Result<(), Diagnostic>;

    /// A saved session's events, and why the rest of its file is not shown.
    fn load_replay(&self, path: &Path) -> Result<(Vec<LogEntry>, Option<String>), Diagnostics>;

    /// Paths of the project that begin with what was typed, in order; folders end with `/`.
    fn paths(&self, typed: &str) -> Vec<String>;

    fn context(&self) -> Result<Option<String>, Diagnostic>;

    /// Checks each provider; takes as long as the slowest of them.
    fn doctor(&self) -> String;

    /// Writes a report in Markdown; returns where it went.
    fn report(&self, session: &Session) -> Result<PathBuf, Diagnostic>;

    /// Keeps a form's text under a name; `None` forgets it.
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
    /// A person who takes a seat is asked.
    Asked(String),
    Sources(Vec<ModelSource>),
    Home(Box<Home>),
    /// A session is ready to be looked at before it begins.
    Drafted(Box<Draft>),
    Context(Result<Option<String>, String>),
    /// Paths of the project that begin with what was typed into the field at hand.
    Paths(Vec<String>),
    /// The draft of this form.
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
    /// Keep what is typed into the form of this name; `None` forgets it.
    Keep(String, Option<String>),
    /// Keep what is typed into the form once the person pauses.
    KeepSoon,
    Recall(String),
}
