//! Effects of messages outside the screen.
//!
//! Slow work, such as opening a file, runs on another thread; the screen stays responsive and names the work.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossterm::clipboard::CopyToClipboard;
use crossterm::terminal::SetTitle;

use super::{FollowUp, KEEP_AFTER, Opened, Screen};
use crate::config::need::question;
use crate::config::settings::NotifyConfig;
use crate::core::{Command, ExitCode, decide};
use crate::diagnostic::Diagnostic;
use crate::engine::FacilitatorRequest;
use crate::launch::prepare::Tell;
use crate::tui::home::OpenTarget;
use crate::tui::host::{Effect, Host, Message, StartRefusal};
use crate::tui::live::{EngineUpdate, SeatChoice};
use crate::tui::model::{Mode, Overlay};
use crate::tui::reading::{TextKind, TextView};
use crate::tui::replay::Replay;
use crate::tui::update::{begun, cannot_begin, replay_shown, update};

/// Work that takes no longer is shown without a waiting message.
const AT_ONCE: Duration = Duration::from_millis(40);

impl Screen {
    pub(super) async fn carry_out(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        let mut due = VecDeque::from(effects);
        while let Some(effect) = due.pop_front() {
            if let Some(message) = self.effect(effect).await? {
                for next in update(&mut self.model, message) {
                    // A read that is already queued is not queued twice.
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
            Effect::Begin => return Ok(self.begin(None).await),
            Effect::Invite(seat) => return Ok(self.invite(&seat)),
            Effect::Agree => return Ok(self.agree().await),
            Effect::Order(order) => return Ok(self.order(order).await),
            Effect::Open(opening) => return Ok(self.open(opening).await),
            Effect::ReadHome => {
                // Going home closes the session.
                if !matches!(self.model.mode, Mode::Live(_)) {
                    self.stop_engine().await;
                }
                self.spawn(|host| Message::Home(Box::new(host.home())));
            }
            Effect::FindSources => self.spawn(|host| Message::Sources(host.sources())),
            Effect::UseModel(model) => return Ok(Some(self.use_model(&model))),
            Effect::Redraft(choice) => return Ok(self.redraft(choice).await),
            Effect::CancelOpening => drop(self.opening.fetch_add(1, Ordering::Relaxed)),
            Effect::Doctor => self.spawn(|host| Message::Doctor(host.doctor())),
            Effect::ReadContext => {
                let read = self.host.context().map_err(|problem| problem.to_string());
                return Ok(Some(Message::Context(read)));
            }
            Effect::Notify(text) => self.notify(&text)?,
            Effect::Copy(text) => {
                crossterm::execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))?;
            }
            Effect::Report => {
                let session = self.model.session().clone();
                self.spawn(move |host| {
                    Message::Say(host.report(&session).unwrap_or_else(|problem| problem.to_string()))
                });
            }
            Effect::FindPaths(typed) => return Ok(Some(Message::Paths(self.host.paths(&typed)))),
            Effect::Reply(seat, text) => self.reply(&seat, text),
            Effect::Recall(name) if name.is_empty() => {}
            Effect::Keep(name, text) => self.keep_text(&name, text.as_deref()),
            Effect::KeepSoon => {
                self.keep_at.get_or_insert(Instant::now() + KEEP_AFTER);
            }
            Effect::Recall(name) => {
                return Ok(self.host.kept(&name).map(|text| Message::Kept(name, text)));
            }
        }
        Ok(None)
    }

    fn notify(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout();
        match self.notify {
            NotifyConfig::Off => return Ok(()),
            NotifyConfig::Bell => {}
            NotifyConfig::All => {
                crossterm::execute!(out, SetTitle(format!("roundtable: {text}")))?;
                write!(out, "\x1b]9;{text}\x07\x1b]777;notify;roundtable;{text}\x07")?;
            }
        }
        out.write_all(b"\x07")?;
        out.flush()
    }

    fn use_model(&self, model: &str) -> Message {
        match self.host.use_model(model) {
            Ok(()) => {
                self.spawn(|host| Message::Home(Box::new(host.home())));
                Message::Say(format!("Answers come from {model}."))
            }
            Err(problem) => Message::Say(problem_text(&problem)),
        }
    }

    /// Runs slow work on another thread and sends its message when done, or an error if it panicked.
    fn spawn(&self, work: impl FnOnce(&dyn Host) -> Message + Send + 'static) {
        let (host, background) = (Arc::clone(&self.host), self.background.clone());
        tokio::task::spawn_blocking(move || {
            let done = catch_unwind(AssertUnwindSafe(|| work(&*host)));
            let fault = "Internal error: cannot show this.";
            let _ = background.send(done.unwrap_or_else(|_| Message::Say(fault.to_owned())));
        });
    }

    async fn order(&mut self, order: FacilitatorRequest) -> Option<Message> {
        let Some(running) = &self.running else { return self.begin(Some(order)).await };
        // An engine that has just ended reports that itself.
        let _ = running.orders.send(order);
        None
    }

    /// Makes a link for a seat and orders its invitation; the link is shown once the invitation is on disk.
    fn invite(&mut self, seat: &str) -> Option<Message> {
        let running = self.running.as_ref()?;
        let session = self.model.session();
        let made =
            self.host.invite(session, seat).map_err(|problem| problem_text(&problem)).and_then(|made| {
                let accepted = decide(session, Command::Invite(made.0.clone()), self.model.now);
                accepted.map(|_| made).map_err(|refusal| refusal.to_string())
            });
        match made {
            Ok(made) => {
                // An engine that has just ended reports that itself.
                let _ = running.orders.send(FacilitatorRequest::Order(Command::Invite(made.0.clone())));
                if let Some(live) = self.model.live_mut() {
                    live.new_link = Some(made);
                }
                None
            }
            Err(why) => Some(Message::Say(why)),
        }
    }

    /// Sends a person's answer to the seat that waits for it; an excused seat needs none.
    fn reply(&mut self, seat: &str, text: String) {
        if let Some(at) = self.asked.iter().position(|asked| asked.seat == seat) {
            let _ = self.asked.remove(at).answer.send(text);
        }
    }

    /// Shows why something cannot be done, or asks for the missing agreement.
    fn refused(&mut self, refusal: StartRefusal, then: FollowUp) {
        match refusal {
            StartRefusal::Wrong(problems) => self.show_problems(&problems),
            StartRefusal::Unagreed(needs) => {
                let text = TextView::plain("Allow this?", question(&needs));
                self.model.overlay =
                    Some(Overlay::Text(TextView { kind: TextKind::Agree { is_read: false }, ..text }));
                self.unagreed = Some((needs, then));
            }
        }
    }

    async fn agree(&mut self) -> Option<Message> {
        let (needs, then) = self.unagreed.take()?;
        let kept = self.host.agree(&needs).err().map(|problem| Message::Say(problem_text(&problem)));
        let done = match then {
            FollowUp::Begin(first) => self.begin(first).await,
            FollowUp::Open(opening) => self.open(opening).await,
        };
        done.or(kept)
    }

    fn show_problems(&mut self, problems: &[Diagnostic]) {
        let text: Vec<String> = problems.iter().map(problem_text).collect();
        self.model.overlay = Some(Overlay::Text(TextView::plain("Cannot open", text.join("\n\n"))));
    }

    async fn open(&mut self, opening: OpenTarget) -> Option<Message> {
        match opening {
            OpenTarget::NewQuestion => return None,
            // Only one engine may write to a file.
            OpenTarget::Resume(_) | OpenTarget::Fork(..) => self.stop_engine().await,
            OpenTarget::Text { .. } | OpenTarget::File(_) | OpenTarget::Replay(_) => {}
        }
        self.spawn_open("Opening".to_owned(), move |host, tell| open(host, opening, tell)).await
    }

    async fn redraft(&mut self, choice: SeatChoice) -> Option<Message> {
        let (opening, _) = self.model.live()?.draft.as_ref()?.from.clone();
        let what = "Looking for the participants".to_owned();
        self.spawn_open(what, move |host, _| Opened::Drafted(host.draft(&opening, &choice).map(Box::new)))
            .await
    }

    /// Begins the drafted session and sends its first order. Programs are measured before the file exists.
    async fn begin(&mut self, first: Option<FacilitatorRequest>) -> Option<Message> {
        let Some(draft) = self.model.live().and_then(|live| live.draft.as_ref()) else {
            let why = "Not recorded: the session is finished or paused.".to_owned();
            return Some(Message::EngineUpdate(EngineUpdate::Refused(why)));
        };
        let (opened, latest) = (draft.opened.clone(), Arc::clone(&self.opening));
        let number = latest.load(Ordering::Relaxed) + 1;
        let begin = move |host: &dyn Host, tell: Tell<'_>| {
            let measured = host.measure(&opened, tell);
            // Do not begin work that was cancelled meanwhile.
            if latest.load(Ordering::Relaxed) != number {
                return Opened::Wrong(Vec::new());
            }
            match measured.and_then(|header| host.begin(&header)) {
                Ok(running) => Opened::Begun(running, first),
                Err(refusal) => Opened::Refused(refusal, FollowUp::Begin(first)),
            }
        };
        self.spawn_open("Opening the session".to_owned(), begin).await
    }

    /// Runs `work` on another thread; supersedes earlier work that has not finished.
    async fn spawn_open(
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

    /// Shows the result of opening, unless it was superseded.
    pub(super) async fn take_opened(&mut self, number: u64, opened: Opened) -> Option<Message> {
        if number != self.opening.load(Ordering::Relaxed) {
            // An engine whose handle is dropped pauses its session.
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
            Opened::Wrong(problems) => self.show_problems(&problems),
            Opened::Drafted(Ok(draft)) => return Some(Message::Drafted(draft)),
            Opened::Drafted(Err(problems)) => {
                let first = problems.first().map(problem_text).unwrap_or_default();
                if cannot_begin(&mut self.model, &first) {
                    return None;
                }
                if self.model.live().is_some() {
                    return Some(Message::Say(first));
                }
                self.show_problems(&problems);
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
                replay_shown(&mut self.model, damage);
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

fn problem_text(problem: &Diagnostic) -> String {
    match &problem.hint {
        Some(hint) => format!("{problem}: {hint}"),
        None => problem.to_string(),
    }
}

fn open(host: &dyn Host, opening: OpenTarget, tell: Tell<'_>) -> Opened {
    match &opening {
        OpenTarget::Resume(path) => resume(host, path, false, tell),
        OpenTarget::Fork(path, seq) => match host.fork(path, *seq) {
            Ok(new) => resume(host, &new, true, tell),
            Err(refusal) => Opened::Refused(refusal, FollowUp::Open(opening)),
        },
        OpenTarget::Replay(path) => match host.load_replay(path) {
            Ok((lines, damage)) => Opened::Replay(path.clone(), Box::new(Replay::new(lines)), damage),
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
        Err(refusal) => Opened::Refused(refusal, FollowUp::Open(OpenTarget::Resume(path.to_owned()))),
    }
}
