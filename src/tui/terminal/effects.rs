//! What follows from a message in the world outside.

use std::collections::VecDeque;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::EventStream;

use super::{KEEP_AFTER, Screen, Then, guard};
use crate::config::need::question;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::engine::FacilitatorRequest;
use crate::history::{LogEntry, Session};
use crate::journal::PresentWords;
use crate::tui::home::OpenTarget;
use crate::tui::host::{EngineHandle, Host, ReplayLoad, StartRefusal};
use crate::tui::live::{EngineUpdate, LiveSession};
use crate::tui::model::{Asking, Mode, Overlay, TextView};
use crate::tui::replay::Replay;
use crate::tui::update::{Effect, Message, cannot_begin, update};

impl Screen {
    /// Carries effects out, and what follows from them.
    pub(super) async fn carry_out(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        let mut due = VecDeque::from(effects);
        while let Some(effect) = due.pop_front() {
            if let Some(message) = self.effect(effect).await? {
                for next in update(&mut self.model, message) {
                    // Reading twice what is about to be read says nothing more.
                    if !due.contains(&next) {
                        due.push_back(next);
                    }
                }
            }
        }
        Ok(())
    }

    async fn effect(&mut self, effect: Effect) -> io::Result<Option<Message>> {
        match effect {
            Effect::Quit => self.wants_out = Some(ExitCode::Finished),
            Effect::Suspend => self.suspend()?,
            Effect::Begin => return Ok(self.begin(None)),
            Effect::Agree => return Ok(self.agree().await),
            Effect::Order(order) => return Ok(self.order(order)),
            Effect::Open(opening) => return Ok(self.open(opening).await),
            Effect::ReadHome => {
                // Whoever goes home leaves the table.
                if !matches!(self.model.mode, Mode::Live(_)) {
                    self.stop_engine().await;
                }
                self.aside(|host| Message::Home(Box::new(host.home())));
            }
            Effect::Doctor(depth) => self.aside(move |host| Message::Doctor(host.doctor(depth))),
            Effect::ReadContext => {
                let read = self.host.context().map_err(|problem| problem.to_string());
                return Ok(Some(Message::Context(read)));
            }
            Effect::Copy(text) => {
                crossterm::execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))?;
            }
            Effect::Report(format) => {
                return Ok(Some(Message::Say(match self.host.report(self.model.session(), format) {
                    Ok(path) => format!("Report written to {}", path.display()),
                    Err(problem) => problem.to_string(),
                })));
            }
            Effect::Edit(text) => return self.edit(&text),
            Effect::Reply(seat, text) => self.reply(&seat, text),
            Effect::Keep(name, _) | Effect::Recall(name) if name.is_empty() => {}
            Effect::Keep(name, text) => {
                self.keep_at = None;
                if let Err(problem) = self.host.keep(&name, text.as_deref()) {
                    return Ok(Some(Message::Say(format!("what was typed cannot be kept: {problem}"))));
                }
            }
            Effect::KeepSoon => {
                self.keep_at.get_or_insert(Instant::now() + KEEP_AFTER);
            }
            Effect::Recall(name) => {
                return Ok(self.host.kept(&name).map(|text| Message::Kept(name, text)));
            }
        }
        Ok(None)
    }

    /// Does what may take a while on a thread of its own; the message comes when it is done, also when
    /// it failed by a fault of the program.
    fn aside(&self, work: impl FnOnce(&dyn Host) -> Message + Send + 'static) {
        let (host, background) = (Arc::clone(&self.host), self.background.clone());
        tokio::task::spawn_blocking(move || {
            let done = std::panic::catch_unwind(AssertUnwindSafe(|| work(&*host)));
            let fault = "Internal error: cannot show this.";
            let _ = background.send(done.unwrap_or_else(|_| Message::Say(fault.to_owned())));
        });
    }

    fn order(&mut self, order: FacilitatorRequest) -> Option<Message> {
        let Some(running) = &self.running else { return self.begin(Some(order)) };
        // One that has just ended says so itself.
        let _ = running.orders.send(order);
        None
    }

    /// Hands a person's answer to the seat that waits for it; one that was let go needs none.
    fn reply(&mut self, seat: &str, text: String) {
        if let Some(at) = self.asked.iter().position(|asked| asked.seat == seat) {
            let _ = self.asked.remove(at).answer.send(text);
        }
    }

    /// Begins with the session that is looked at, and gives the engine its first order.
    fn begin(&mut self, first: Option<FacilitatorRequest>) -> Option<Message> {
        let Some(opened) = self.model.live().and_then(|live| live.draft.clone()) else {
            let why = "Not recorded: the session is finished or paused.".to_owned();
            return Some(Message::EngineUpdate(EngineUpdate::Refused(why)));
        };
        match self.host.begin(&opened) {
            Ok(running) => {
                if let Some(order) = first {
                    let _ = running.orders.send(order);
                }
                self.model.file = running.path.display().to_string();
                self.running = Some(running);
            }
            Err(refusal) => self.refused(refusal, Then::Begin(first)),
        }
        None
    }

    async fn open(&mut self, opening: OpenTarget) -> Option<Message> {
        match &opening {
            OpenTarget::NewQuestion => None,
            OpenTarget::Text { .. } | OpenTarget::File(_) => match self.host.draft(&opening) {
                Ok(draft) => Some(Message::Drafted(Box::new(draft))),
                Err(problems) => {
                    let first = problems.first().map(said).unwrap_or_default();
                    if !cannot_begin(&mut self.model, &first) {
                        self.tell(&problems);
                    }
                    None
                }
            },
            OpenTarget::Replay(path) => {
                match self.host.load_replay(path) {
                    Ok(load) => self.show_replay(path, load),
                    Err(problems) => self.tell(&problems),
                }
                None
            }
            OpenTarget::Resume(path) => self.resume(path).await,
            OpenTarget::Fork(path, seq) => {
                self.stop_engine().await;
                match self.host.fork(path, *seq) {
                    Ok(path) => self.resume(&path).await,
                    Err(refusal) => {
                        self.refused(refusal, Then::Open(opening));
                        None
                    }
                }
            }
        }
    }

    /// Tells why something is not done, or asks whether it may be.
    fn refused(&mut self, refusal: StartRefusal, then: Then) {
        match refusal {
            StartRefusal::Wrong(problems) => self.tell(&problems),
            StartRefusal::Unagreed(needs) => {
                let text = question(&needs);
                self.model.overlay = Some(Overlay::Agree(Asking { text, scroll: 0, is_read: false }));
                self.unagreed = Some((needs, then));
            }
        }
    }

    /// The person agrees: that is kept, and what was asked for is done.
    async fn agree(&mut self) -> Option<Message> {
        let (needs, then) = self.unagreed.take()?;
        let kept = self.host.agree(&needs).err().map(|problem| Message::Say(said(&problem)));
        let done = match then {
            Then::Begin(first) => self.begin(first),
            Then::Open(OpenTarget::Resume(path)) => self.resume(&path).await,
            Then::Open(opening) => Box::pin(self.open(opening)).await,
        };
        done.or(kept)
    }

    fn show_replay(&mut self, path: &Path, load: ReplayLoad) {
        self.model.show(Mode::Replay, Replay::new(load.first), path.display().to_string());
        self.model.reading = Some(0);
        self.loading = Some(load.rest);
    }

    async fn resume(&mut self, path: &Path) -> Option<Message> {
        self.stop_engine().await;
        let (lines, running): (Vec<LogEntry>, EngineHandle) = match self.host.resume(path) {
            Ok(resumed) => resumed,
            Err(refusal) => {
                self.refused(refusal, Then::Open(OpenTarget::Resume(path.to_owned())));
                return None;
            }
        };
        let mut recorded = Session::default();
        for line in &lines {
            recorded.apply(&line.stamped);
        }
        let live = LiveSession { recorded: Some(recorded), ..LiveSession::default() };
        let (lines, _) = PresentWords::of_log(lines);
        self.model.show(Mode::Live(Box::new(live)), Replay::new(lines), path.display().to_string());
        self.running = Some(running);
        None
    }

    /// Tells what is wrong, over the whole screen: there may be much.
    fn tell(&mut self, problems: &[Diagnostic]) {
        let text: Vec<String> = problems.iter().map(said).collect();
        let title = "Cannot open".to_owned();
        self.model.overlay =
            Some(Overlay::Text(TextView { title, text: text.join("\n\n"), is_markdown: false, scroll: 0 }));
    }

    /// Lends the terminal to the person's editor.
    fn edit(&mut self, text: &str) -> io::Result<Option<Message>> {
        self.inputs = None;
        guard::restore();
        let edited = self.host.edit(text);
        self.signals.forget_interrupts();
        self.terminal = guard::enter(self.mouse)?;
        self.inputs = Some(EventStream::new());
        Ok(Some(match edited {
            Ok(text) => Message::Edited(text),
            Err(problem) => Message::Say(said(&problem)),
        }))
    }

    /// Gives the terminal back, stops this process, and takes the terminal again when it goes on.
    fn suspend(&mut self) -> io::Result<()> {
        #[cfg(unix)]
        {
            use rustix::process::{Signal, getpid, kill_process};
            self.inputs = None;
            guard::restore();
            kill_process(getpid(), Signal::TSTP)?;
            self.terminal = guard::enter(self.mouse)?;
            self.inputs = Some(EventStream::new());
        }
        Ok(())
    }
}

fn said(problem: &Diagnostic) -> String {
    match &problem.hint {
        Some(hint) => format!("{problem}: {hint}"),
        None => problem.to_string(),
    }
}
