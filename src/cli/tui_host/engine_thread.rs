//! An engine on a thread of its own, so that the screen answers whatever the engine does.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::core::LEFT;
use crate::engine::{Facilitator, FacilitatorRequest, Observer, WaitPoint};
use crate::history::{LogEntry, Session};
use crate::launch::environment::Environment;
use crate::launch::run::{FrontEnd, run, runtime};
use crate::launch::seat::ReadySession;
use crate::participants::human::{HumanQuestion, HumanQueue};
use crate::participants::progress::ProgressBoard;
use crate::tui::{EngineHandle, EngineUpdate};

/// Tells the screen what happens; a screen that is gone needs to know nothing.
struct EventForwarder(UnboundedSender<EngineUpdate>);

impl Observer for EventForwarder {
    fn on_event(&mut self, line: &LogEntry, _: &Session) {
        let _ = self.0.send(EngineUpdate::Saw(Box::new(line.clone())));
    }
}

/// The person at the screen.
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
        // Whose screen is gone has left.
        let left = || FacilitatorRequest::Leave { reason: LEFT.to_owned() };
        self.requests.recv().map(move |request| Ok(request.unwrap_or_else(left))).boxed()
    }

    fn on_refused(&mut self, why: &str) {
        let _ = self.news.send(EngineUpdate::Refused(why.to_owned()));
    }

    fn is_person(&self) -> bool {
        true
    }
}

/// Starts an engine on a session.
pub fn spawn(
    ready: ReadySession,
    set_up: &Arc<Environment>,
    (desk, people): (HumanQueue, UnboundedReceiver<HumanQuestion>),
) -> EngineHandle {
    let (orders, requests) = unbounded_channel();
    let (tell, news) = unbounded_channel();
    let (path, watches) = (ready.path.clone(), ProgressBoard::default());
    let (set_up, progress, telling) = (Arc::clone(set_up), watches.clone(), tell.clone());
    let work = move || {
        let mut observer = EventForwarder(telling.clone());
        let mut facilitator = ScreenFacilitator { requests, news: telling.clone() };
        let interrupt = CancellationToken::new();
        let front = FrontEnd {
            remote: None,
            observer: &mut observer,
            facilitator: &mut facilitator,
            interrupt,
            progress,
            desk: Some(desk),
        };
        let done = match runtime() {
            Ok(runtime) => {
                let ended = runtime.block_on(run(ready, &set_up, front));
                runtime.shutdown_background();
                ended.done.map_err(|error| error.to_string())
            }
            Err(problem) => Err(problem.to_string()),
        };
        let _ = telling.send(EngineUpdate::Ended(done));
    };
    if let Err(error) = std::thread::Builder::new().name("engine".to_owned()).spawn(work) {
        let _ = tell.send(EngineUpdate::Ended(Err(format!("the engine cannot start: {error}"))));
    }
    EngineHandle { orders, news, people, watches, path }
}
