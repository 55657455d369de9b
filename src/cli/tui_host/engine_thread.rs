//! Engine on its own thread, so that the screen stays responsive.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::cli::doors::Doors;
use crate::cli::link_door::{Access, DoorInputs, LinkDoor, qr_code};
use crate::diagnostic::Diagnostic;
use crate::engine::{Facilitator, FacilitatorRequest, Observer, WaitPoint};
use crate::history::{LogEntry, PauseReason, Session};
use crate::launch::environment::Environment;
use crate::launch::error::RunError;
use crate::launch::run::{FrontEnd, run, runtime};
use crate::launch::seat::ReadySession;
use crate::participants::human::{HumanQuestion, HumanQueue};
use crate::participants::progress::ProgressBoard;
use crate::tui::{EngineHandle, EngineUpdate, SeatLink};

/// Forwards engine events to the screen; ignores a closed screen.
struct EventForwarder {
    news: UnboundedSender<EngineUpdate>,
    doors: Arc<Doors>,
}

impl Observer for EventForwarder {
    fn on_event(&mut self, line: &LogEntry, _: &Session) {
        let _ = self.news.send(EngineUpdate::Saw(Box::new(line.clone())));
    }

    fn on_written(&mut self, session: &Session) {
        self.doors.see(session);
    }
}

struct ScreenFacilitator {
    requests: UnboundedReceiver<FacilitatorRequest>,
    news: UnboundedSender<EngineUpdate>,
}

impl Facilitator for ScreenFacilitator {
    fn next_request<'a>(
        &'a mut self,
        _: Option<&'a WaitPoint>,
        _: &'a Session,
    ) -> BoxFuture<'a, Result<FacilitatorRequest, String>> {
        // The screen is closed, so the person has left.
        let left = || FacilitatorRequest::Leave { reason: PauseReason::Left };
        self.requests.recv().map(move |request| Ok(request.unwrap_or_else(left))).boxed()
    }

    fn on_refused(&mut self, why: &str) {
        let _ = self.news.send(EngineUpdate::Refused(why.to_owned()));
    }

    fn is_person(&self) -> bool {
        true
    }
}

pub fn seat_link(door: &LinkDoor, Access { text, is_agent }: Access) -> SeatLink {
    let code = if is_agent { None } else { qr_code(&text) };
    SeatLink { text, code, notes: door.notes.clone() }
}

/// Starts an engine for a session, with a door for invited seats.
pub fn spawn(
    ready: ReadySession,
    set_up: &Arc<Environment>,
    desk: HumanQueue,
    people: UnboundedReceiver<HumanQuestion>,
    door: Option<&Arc<LinkDoor>>,
) -> Result<EngineHandle, Diagnostic> {
    let (orders, requests) = unbounded_channel();
    let (tell, news) = unbounded_channel();
    let (path, watches) = (ready.path.clone(), ProgressBoard::default());
    let runtime = runtime()?;
    let of = DoorInputs { session: &ready.session, set_up, runtime: &runtime };
    let notes = tell.clone();
    let note = move |what: &str| drop(notes.send(EngineUpdate::Note(what.to_owned())));
    let (doors, remote, opened) = Doors::open(&of, door.cloned(), note).map_err(RunError::first)?;
    let doors = Arc::new(doors);
    let link = |(seat, access): (String, Access)| Some((seat, seat_link(door?, access)));
    let links = opened.access.into_iter().filter_map(link).collect();
    let (set_up, progress) = (Arc::clone(set_up), watches.clone());
    let work = move || {
        let mut observer = EventForwarder { news: tell.clone(), doors: Arc::clone(&doors) };
        let mut facilitator = ScreenFacilitator { requests, news: tell.clone() };
        let interrupt = CancellationToken::new();
        let front = FrontEnd {
            remote,
            observer: &mut observer,
            facilitator: &mut facilitator,
            interrupt,
            progress,
            desk: Some(desk),
        };
        let ended = runtime.block_on(run(ready, &set_up, front));
        let left = runtime.block_on(doors.close(&ended.session));
        let _ = tell.send(EngineUpdate::Ended(ended.done.map_err(|error| error.to_string())));
        if let Some(problem) = left {
            let _ = tell.send(EngineUpdate::Note(problem.to_string()));
        }
        // Links show the results until another session is served or the program ends.
        if let Some(ends) = opened.ends {
            runtime.block_on(ends.cancelled());
        }
        runtime.shutdown_background();
    };
    let thread = std::thread::Builder::new().name("engine".to_owned()).spawn(work);
    thread.map_err(|error| Diagnostic::new(format!("the engine cannot start: {error}")))?;
    Ok(EngineHandle { orders, news, people, watches, path, links })
}
