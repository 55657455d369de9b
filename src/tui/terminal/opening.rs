//! Drafting, opening, resuming and forking on another thread: the screen answers meanwhile and says what it
//! waits for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::effects::said;
use super::{Opened, Screen, Then};
use crate::diagnostic::Diagnostic;
use crate::engine::FacilitatorRequest;
use crate::launch::prepare::Tell;
use crate::tui::home::OpenTarget;
use crate::tui::host::{Host, Message};
use crate::tui::live::{EngineUpdate, SeatChoice};
use crate::tui::model::Mode;
use crate::tui::replay::Replay;
use crate::tui::update::{begun, cannot_begin};

/// Work that ends this soon is shown at once, without a word of waiting.
const AT_ONCE: Duration = Duration::from_millis(40);

fn open(host: &dyn Host, opening: OpenTarget, tell: Tell<'_>) -> Opened {
    match &opening {
        OpenTarget::Resume(path) => resume(host, path, false, tell),
        OpenTarget::Fork(path, seq) => match host.fork(path, *seq) {
            Ok(new) => resume(host, &new, true, tell),
            Err(refusal) => Opened::Refused(refusal, Then::Open(opening)),
        },
        OpenTarget::Replay(path) => match host.load_replay(path) {
            Ok(load) => Opened::Replay(path.clone(), Box::new(Replay::new(load.lines)), load.damage),
            Err(problems) => Opened::Wrong(problems),
        },
        OpenTarget::NewQuestion | OpenTarget::Text { .. } | OpenTarget::File(_) => {
            Opened::Drafted(host.draft(&opening, &SeatChoice::default()).map(Box::new))
        }
    }
}

fn resume(host: &dyn Host, path: &Path, is_fork: bool, tell: Tell<'_>) -> Opened {
    match host.resume(path, tell) {
        Ok((lines, running)) => Opened::Live(path.to_owned(), Box::new(Replay::new(lines)), running, is_fork),
        Err(refusal) => Opened::Refused(refusal, Then::Open(OpenTarget::Resume(path.to_owned()))),
    }
}

fn waiting_for(opening: &OpenTarget) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match opening {
        OpenTarget::Resume(path) => format!("Resuming {}", name(path)),
        OpenTarget::Fork(path, _) => format!("Forking {}", name(path)),
        OpenTarget::Replay(path) | OpenTarget::File(path) => format!("Opening {}", name(path)),
        OpenTarget::NewQuestion | OpenTarget::Text { .. } => "Opening".to_owned(),
    }
}

impl Screen {
    pub(super) async fn open(&mut self, opening: OpenTarget) -> Option<Message> {
        match opening {
            OpenTarget::NewQuestion => return None,
            // A file is continued by one engine at a time.
            OpenTarget::Resume(_) | OpenTarget::Fork(..) => self.stop_engine().await,
            OpenTarget::Text { .. } | OpenTarget::File(_) | OpenTarget::Replay(_) => {}
        }
        let what = waiting_for(&opening);
        self.open_aside(what, move |host, tell| open(host, opening, tell)).await
    }

    pub(super) async fn redraft(&mut self, choice: SeatChoice) -> Option<Message> {
        let (opening, _) = self.model.live()?.draft.as_ref()?.from.clone();
        let what = "Looking for the participants".to_owned();
        self.open_aside(what, move |host, _| Opened::Drafted(host.draft(&opening, &choice).map(Box::new)))
            .await
    }

    /// Begins with the session that is looked at, and gives the engine its first order. Its programs are
    /// measured before its file is made.
    pub(super) async fn begin(&mut self, first: Option<FacilitatorRequest>) -> Option<Message> {
        let Some(draft) = self.model.live().and_then(|live| live.draft.as_ref()) else {
            let why = "Not recorded: the session is finished or paused.".to_owned();
            return Some(Message::EngineUpdate(EngineUpdate::Refused(why)));
        };
        let (opened, latest) = (draft.opened.clone(), Arc::clone(&self.opening));
        let number = latest.load(Ordering::Relaxed) + 1;
        let begin = move |host: &dyn Host, tell: Tell<'_>| {
            let measured = host.measure(&opened, tell);
            // Work that was cancelled meanwhile is not begun.
            if latest.load(Ordering::Relaxed) != number {
                return Opened::Wrong(Vec::new());
            }
            match measured.and_then(|header| host.begin(&header)) {
                Ok(running) => Opened::Begun(running, first),
                Err(refusal) => Opened::Refused(refusal, Then::Begin(first)),
            }
        };
        self.open_aside("Opening the session".to_owned(), begin).await
    }

    /// Does this on another thread; what was asked for before and is not there yet is no longer waited for.
    async fn open_aside(
        &mut self,
        what: String,
        work: impl FnOnce(&dyn Host, Tell<'_>) -> Opened + Send + 'static,
    ) -> Option<Message> {
        let number = self.opening.fetch_add(1, Ordering::Relaxed) + 1;
        self.model.now = crate::clock::now();
        self.model.busy = Some((what, self.model.now));
        let (host, send) = (Arc::clone(&self.host), self.opened.0.clone());
        let background = self.background.clone();
        let mut tell = move |what: &Diagnostic| {
            let _ = background.send(Message::Busy(what.message.clone()));
        };
        tokio::task::spawn_blocking(move || {
            let done = catch_unwind(AssertUnwindSafe(|| work(&*host, &mut tell)));
            let fault = |_| Opened::Wrong(vec![Diagnostic::new("internal error: it cannot be opened")]);
            let _ = send.send((number, Box::new(done.unwrap_or_else(fault))));
        });
        match tokio::time::timeout(AT_ONCE, self.opened.1.recv()).await {
            Ok(Some((number, opened))) => self.take_opened(number, *opened).await,
            Ok(None) | Err(_) => None,
        }
    }

    /// Shows what was opened, unless something else was asked for since.
    pub(super) async fn take_opened(&mut self, number: u64, opened: Opened) -> Option<Message> {
        if number != self.opening.load(Ordering::Relaxed) {
            // Without its order the engine leaves at once.
            if let Opened::Begun(running, _) = opened {
                let file = running.path.display();
                self.model.notice =
                    Some(format!("Cancelled. The session had begun and can be resumed: {file}"));
            }
            return None;
        }
        self.model.busy = None;
        match opened {
            Opened::Refused(refusal, then) => self.refused(refusal, then),
            Opened::Wrong(problems) => self.tell(&problems),
            Opened::Drafted(Ok(draft)) => return Some(Message::Drafted(draft)),
            Opened::Drafted(Err(problems)) => {
                let first = problems.first().map(said).unwrap_or_default();
                if cannot_begin(&mut self.model, &first) {
                    return None;
                }
                if self.model.live().is_some() {
                    return Some(Message::Say(first));
                }
                self.tell(&problems);
            }
            Opened::Begun(running, first) => {
                if let Some(order) = first {
                    let _ = running.orders.send(order);
                }
                self.model.file = running.path.display().to_string();
                begun(&mut self.model, &running.links);
                self.running = Some(running);
            }
            Opened::Replay(path, replay, damage) => {
                self.stop_engine().await;
                self.model.show(Mode::Replay, *replay, path.display().to_string());
                return Some(Message::ReplayShown(damage));
            }
            Opened::Live(path, replay, running, is_fork) => {
                self.stop_engine().await;
                let file = path.display().to_string();
                self.model.show(Mode::Live(Box::default()), *replay, file.clone());
                begun(&mut self.model, &running.links);
                self.running = Some(running);
                if is_fork {
                    self.model.notice = Some(format!("New session: {file}. The old one stays as it is."));
                }
            }
        }
        None
    }
}
