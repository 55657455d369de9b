//! A session opened, resumed or forked, away from the screen's thread.

use std::path::{Path, PathBuf};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::diagnostic::Diagnostic;
use crate::history::Session;
use crate::journal::PresentWords;
use crate::tui::home::OpenTarget;
use crate::tui::host::{EngineHandle, Host, ReplayLoad, StartRefusal};
use crate::tui::live::LiveSession;
use crate::tui::replay::Replay;

/// What was opened, each with how often something was.
pub type OpenedChannel = (UnboundedSender<(u64, Box<Opened>)>, UnboundedReceiver<(u64, Box<Opened>)>);

/// A session that was opened.
pub enum Opened {
    Replay(PathBuf, Result<Box<(ReplayLoad, Replay)>, Vec<Diagnostic>>),
    Live(Box<Resumed>),
    Refused(StartRefusal, OpenTarget),
}

/// A session that goes on.
pub struct Resumed {
    pub path: PathBuf,
    pub live: LiveSession,
    pub replay: Replay,
    pub running: EngineHandle,
    /// The event a new session was forked at.
    pub forked_at: Option<u64>,
}

/// Opens what a row leads to.
pub fn open(host: &dyn Host, opening: OpenTarget) -> Opened {
    match &opening {
        OpenTarget::Resume(path) => resume(host, path, None, opening.clone()),
        OpenTarget::Fork(path, seq) => match host.fork(path, *seq) {
            Ok(new) => resume(host, &new, Some(*seq), OpenTarget::Resume(new.clone())),
            Err(refusal) => Opened::Refused(refusal, opening),
        },
        OpenTarget::Replay(path) | OpenTarget::File(path) => {
            let loaded = host.load_replay(path).map(|mut load| {
                let replay = Replay::new(std::mem::take(&mut load.first));
                Box::new((load, replay))
            });
            Opened::Replay(path.clone(), loaded)
        }
        OpenTarget::NewQuestion | OpenTarget::Text { .. } => {
            Opened::Refused(Diagnostic::new("nothing to open").into(), opening)
        }
    }
}

fn resume(host: &dyn Host, path: &Path, forked_at: Option<u64>, opening: OpenTarget) -> Opened {
    let (lines, running) = match host.resume(path) {
        Ok(resumed) => resumed,
        Err(refusal) => return Opened::Refused(refusal, opening),
    };
    let mut recorded = Session::default();
    for line in &lines {
        recorded.apply(&line.stamped);
    }
    let live = LiveSession { recorded: Some(recorded), ..LiveSession::default() };
    let replay = Replay::new(PresentWords::of_log(lines).0);
    Opened::Live(Box::new(Resumed { path: path.to_owned(), live, replay, running, forked_at }))
}
