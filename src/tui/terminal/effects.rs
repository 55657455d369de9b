//! Effects of a message in the world outside.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crossterm::clipboard::CopyToClipboard;
use crossterm::terminal::SetTitle;

use super::{KEEP_AFTER, Screen, Then};
use crate::config::need::question;
use crate::config::settings::NotifyConfig;
use crate::core::{Command, ExitCode, decide};
use crate::diagnostic::Diagnostic;
use crate::engine::FacilitatorRequest;
use crate::tui::host::{Effect, Host, Message, StartRefusal};
use crate::tui::model::{Mode, Overlay};
use crate::tui::reading::{TextKind, TextView};
use crate::tui::update::update;

impl Screen {
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
                self.aside(|host| Message::Home(Box::new(host.home())));
            }
            Effect::FindSources => self.aside(|host| Message::Sources(host.sources())),
            Effect::UseModel(model) => return Ok(Some(self.use_model(&model))),
            Effect::Redraft(choice) => return Ok(self.redraft(choice).await),
            Effect::CancelOpening => drop(self.opening.fetch_add(1, Ordering::Relaxed)),
            Effect::Doctor => self.aside(|host| Message::Doctor(host.doctor())),
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
                self.aside(move |host| {
                    Message::Say(match host.report(&session) {
                        Ok(path) => {
                            format!("Report written to {}. Other formats: roundtable report", path.display())
                        }
                        Err(problem) => problem.to_string(),
                    })
                });
                return Ok(Some(Message::Say("Writing the report …".to_owned())));
            }
            Effect::FindPaths(typed) => return Ok(Some(Message::Paths(self.host.paths(&typed)))),
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
                self.aside(|host| Message::Home(Box::new(host.home())));
                Message::Say(format!("Answers come from {model}."))
            }
            Err(problem) => Message::Say(said(&problem)),
        }
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

    async fn order(&mut self, order: FacilitatorRequest) -> Option<Message> {
        let Some(running) = &self.running else { return self.begin(Some(order)).await };
        // One that has just ended says so itself.
        let _ = running.orders.send(order);
        None
    }

    /// Makes a new link for a seat and has it recorded; it is shown once it is.
    fn invite(&mut self, seat: &str) -> Option<Message> {
        let running = self.running.as_ref()?;
        let session = self.model.session();
        let made = self.host.invite(session, seat).map_err(|problem| said(&problem)).and_then(|made| {
            let accepted = decide(session, Command::Invite(made.0.clone()), self.model.now);
            accepted.map(|_| made).map_err(|refusal| refusal.to_string())
        });
        match made {
            Ok(made) => {
                // One that has just ended says so itself.
                let _ = running.orders.send(FacilitatorRequest::Order(Command::Invite(made.0.clone())));
                if let Some(live) = self.model.live_mut() {
                    live.new_link = Some(made);
                }
                None
            }
            Err(why) => Some(Message::Say(why)),
        }
    }

    /// Hands a person's answer to the seat that waits for it; one that was let go needs none.
    fn reply(&mut self, seat: &str, text: String) {
        if let Some(at) = self.asked.iter().position(|asked| asked.seat == seat) {
            let _ = self.asked.remove(at).answer.send(text);
        }
    }

    /// Tells why something is not done, or asks whether it may be.
    pub(super) fn refused(&mut self, refusal: StartRefusal, then: Then) {
        match refusal {
            StartRefusal::Wrong(problems) => self.tell(&problems),
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
        let kept = self.host.agree(&needs).err().map(|problem| Message::Say(said(&problem)));
        let done = match then {
            Then::Begin(first) => self.begin(first).await,
            Then::Open(opening) => self.open(opening).await,
        };
        done.or(kept)
    }

    pub(super) fn tell(&mut self, problems: &[Diagnostic]) {
        let text: Vec<String> = problems.iter().map(said).collect();
        self.model.overlay = Some(Overlay::Text(TextView::plain("Cannot open", text.join("\n\n"))));
    }
}

pub(super) fn said(problem: &Diagnostic) -> String {
    match &problem.hint {
        Some(hint) => format!("{problem}: {hint}"),
        None => problem.to_string(),
    }
}
