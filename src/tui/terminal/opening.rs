//! Opening, resuming and forking on another thread: the screen answers meanwhile and says what it waits for.

use std::path::Path;
use std::time::Duration;

use super::opened::{Opened, Resumed, open};
use super::{Screen, Then};
use crate::diagnostic::Diagnostic;
use crate::tui::home::OpenTarget;
use crate::tui::model::Mode;

/// What is done this soon is shown at once, without a word of waiting.
const AT_ONCE: Duration = Duration::from_millis(40);

/// What is said while it is opened.
fn waiting_for(opening: &OpenTarget) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match opening {
        OpenTarget::Resume(path) => format!("Resuming {}", name(path)),
        OpenTarget::Fork(path, seq) => format!("Forking {} at event {seq}", name(path)),
        OpenTarget::Replay(path) | OpenTarget::File(path) => format!("Opening {}", name(path)),
        OpenTarget::NewQuestion | OpenTarget::Text { .. } => "Opening".to_owned(),
    }
}

impl Screen {
    /// Opens on another thread; what was asked for before and is not there yet is no longer waited for.
    pub(super) async fn open_aside(&mut self, opening: OpenTarget) {
        if matches!(opening, OpenTarget::Resume(_) | OpenTarget::Fork(..)) {
            // A file is continued by one engine at a time.
            self.stop_engine().await;
        }
        self.opening += 1;
        self.model.busy = Some((waiting_for(&opening), crate::clock::now()));
        self.model.now = crate::clock::now();
        let (host, tell, number) = (std::sync::Arc::clone(&self.host), self.opened.0.clone(), self.opening);
        tokio::task::spawn_blocking(move || {
            let done =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| open(&*host, opening.clone())));
            let fault = |_| {
                let problem = Diagnostic::new("internal error: it cannot be opened");
                Opened::Refused(problem.into(), opening)
            };
            let _ = tell.send((number, Box::new(done.unwrap_or_else(fault))));
        });
        if let Ok(Some((number, opened))) = tokio::time::timeout(AT_ONCE, self.opened.1.recv()).await {
            self.take_opened(number, *opened).await;
        }
    }

    /// Shows what was opened, unless something else was asked for since.
    pub(super) async fn take_opened(&mut self, number: u64, opened: Opened) {
        if number != self.opening {
            return;
        }
        self.model.busy = None;
        match opened {
            Opened::Refused(refusal, opening) => self.refused(refusal, Then::Open(opening)),
            Opened::Replay(_, Err(problems)) => self.tell(&problems),
            Opened::Replay(path, Ok(loaded)) => {
                let (load, replay) = *loaded;
                self.stop_engine().await;
                self.model.show(Mode::Replay, replay, path.display().to_string());
                self.model.reading = Some(0);
                self.loading = Some(load.rest);
            }
            Opened::Live(resumed) => {
                let Resumed { path, live, replay, running, forked_at } = *resumed;
                self.stop_engine().await;
                let file = path.display().to_string();
                self.model.show(Mode::Live(Box::new(live)), replay, file.clone());
                self.running = Some(running);
                if let Some(seq) = forked_at {
                    let text = format!("New session from event {seq}: {file}. The old one stays as it is.");
                    self.model.notice = Some(text);
                }
            }
        }
    }
}
