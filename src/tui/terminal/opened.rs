//! A session drafted, opened, resumed or forked, away from the screen's thread.

use std::path::{Path, PathBuf};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::diagnostic::Diagnostic;
use crate::engine::FacilitatorRequest;
use crate::tui::home::OpenTarget;
use crate::tui::host::{Draft, EngineHandle, Host, ReplayLoad, StartRefusal, Tell};
use crate::tui::replay::Replay;
use crate::tui::sources::SeatChoice;

/// What was opened, each with how often something was.
pub type OpenedChannel = (UnboundedSender<(u64, Box<Opened>)>, UnboundedReceiver<(u64, Box<Opened>)>);

pub enum Then {
    /// The session that is looked at begins, with its first order.
    Begin(Option<FacilitatorRequest>),
    Open(OpenTarget),
}

/// What was done away from the screen's thread.
pub enum Opened {
    /// A session that could begin.
    Drafted(Result<Box<Draft>, Vec<Diagnostic>>),
    /// A session that has begun, with the first order of its engine.
    Begun(EngineHandle, Option<FacilitatorRequest>),
    Replay(PathBuf, Box<(ReplayLoad, Replay)>),
    Live(Box<Resumed>),
    Refused(StartRefusal, Then),
    Wrong(Vec<Diagnostic>),
}

pub struct Resumed {
    pub path: PathBuf,
    pub replay: Replay,
    pub running: EngineHandle,
    pub forked_at: Option<u64>,
}

pub fn open(host: &dyn Host, opening: OpenTarget, tell: Tell<'_>) -> Opened {
    match &opening {
        OpenTarget::Resume(path) => resume(host, path, None, tell),
        OpenTarget::Fork(path, seq) => match host.fork(path, *seq) {
            Ok(new) => resume(host, &new, Some(*seq), tell),
            Err(refusal) => Opened::Refused(refusal, Then::Open(opening)),
        },
        OpenTarget::Replay(path) => match host.load_replay(path) {
            Ok(mut load) => {
                let replay = Replay::new(std::mem::take(&mut load.first));
                Opened::Replay(path.clone(), Box::new((load, replay)))
            }
            Err(problems) => Opened::Wrong(problems),
        },
        OpenTarget::NewQuestion | OpenTarget::Text { .. } | OpenTarget::File(_) => {
            Opened::Drafted(host.draft(&opening, &SeatChoice::default()).map(Box::new))
        }
    }
}

fn resume(host: &dyn Host, path: &Path, forked_at: Option<u64>, tell: Tell<'_>) -> Opened {
    let (lines, running) = match host.resume(path, tell) {
        Ok(resumed) => resumed,
        Err(refusal) => return Opened::Refused(refusal, Then::Open(OpenTarget::Resume(path.to_owned()))),
    };
    let replay = Replay::new(lines);
    Opened::Live(Box::new(Resumed { path: path.to_owned(), replay, running, forked_at }))
}
