//! What comes in from outside, and what is to be done there.

use std::collections::HashMap;

use crossterm::event::KeyEvent;

use crate::engine::FacilitatorRequest;
use crate::history::Timestamp;
use crate::participants::progress::Progress;
use crate::tui::home::{Home, OpenTarget};
use crate::tui::host::{Draft, LoadProgress};
use crate::tui::live::EngineUpdate;
use crate::tui::model::Pane;
use crate::tui::sources::{ModelSource, SeatChoice};
use crate::tui::view::Target;

#[derive(Debug, Clone)]
pub enum Message {
    Key(KeyEvent),
    Paste(String),
    Resize(u16, u16),
    Pass(u64),
    Tick(Timestamp),
    Doctor(String),
    /// How the requests of the open round stand.
    Progress(HashMap<String, Progress>),
    Click(Target),
    /// The wheel was turned over a pane, this many lines down.
    Wheel(Option<Pane>, i32),
    EngineUpdate(EngineUpdate),
    /// A person who takes a seat is asked; again, where an earlier answer did not count.
    Asked(String, Option<String>),
    LoadProgress(LoadProgress),
    Sources(Vec<ModelSource>),
    Home(Box<Home>),
    /// A session is ready to be looked at before it begins.
    Drafted(Box<Draft>),
    Context(Result<Option<String>, String>),
    /// Paths of the project that begin with what was typed into the field at hand.
    Paths(Vec<String>),
    /// What was typed into this form before comes back.
    Kept(String, String),
    /// What is done on another thread now.
    Busy(String),
    Say(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Quit,
    /// Stop the process until the shell lets it go on.
    Suspend,
    /// Have the engine, started for it if none works, carry this out.
    Order(FacilitatorRequest),
    Begin,
    Invite(String),
    /// Agree to what was asked, and go on with what it was asked for.
    Agree,
    Open(OpenTarget),
    Reply(String, String),
    ReadHome,
    FindSources,
    /// Use this model for seats for which nobody names one, in this project.
    UseModel(String),
    /// Draft the session that is looked at again, with its seats like this.
    Redraft(SeatChoice),
    /// What is done on another thread to show it is no longer wanted.
    CancelOpening,
    Doctor,
    ReadContext,
    Notify(String),
    Copy(String),
    Report(&'static str),
    FindPaths(String),
    /// Keep what is typed into the form of this name; `None` forgets it.
    Keep(String, Option<String>),
    /// Keep what is typed into the form once the person pauses.
    KeepSoon,
    /// Bring back what was typed into the form of this name.
    Recall(String),
}
