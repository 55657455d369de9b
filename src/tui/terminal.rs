//! Terminal: entered, drawn on, and restored however the screen ends.
//!
//! One loop: wait for an event, handle all pending ones, draw once. It sleeps while nothing happens. Engine and
//! storage work on other threads.

mod effects;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event as Input, EventStream, KeyCode, KeyEvent,
    KeyEventKind, KeyModifiers,
};
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use futures::StreamExt as _;
use ratatui::DefaultTerminal;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Interval, MissedTickBehavior};

use super::home::OpenTarget;
use super::host::{Effect, EngineHandle, Host, Message, StartRefusal};
use super::live::{Draft, EngineUpdate};
use super::model::{Mode, Model, Overlay};
use super::replay::Replay;
use super::screen::draw;
use super::theme::Theme;
use super::update::update;
use crate::config::need::Need;
use crate::config::settings::NotifyConfig;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::engine::FacilitatorRequest;
use crate::history::PauseReason;
use crate::participants::human::HumanQuestion;
use crate::signals::Signals;

/// Maximum wait for an engine that still writes when the screen ends.
const PATIENCE: Duration = Duration::from_millis(900);
/// Interval of a replay's clock.
const TICK: Duration = Duration::from_millis(200);
/// Error code of reads and writes on a closed terminal.
const EIO: i32 = 5;
/// Pause in typing after which the draft is stored.
const KEEP_AFTER: Duration = Duration::from_millis(300);

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

#[derive(Debug, Clone, Copy)]
pub struct ScreenOptions {
    pub theme: Theme,
    pub notify: NotifyConfig,
}

/// Shows `opening` or the home screen until the person leaves or a signal ends it.
/// Returns the exit code, and the file of a session that ran here.
pub fn run(
    host: Arc<dyn Host>,
    opening: Option<OpenTarget>,
    looks: ScreenOptions,
) -> io::Result<(ExitCode, Option<String>)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let terminal = enter()?;
        let size = terminal.size().map_or((80, 24), |size| (size.width, size.height));
        let model = Model::home(size, looks.theme);
        let (background, messages) = unbounded_channel();
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut screen = Screen {
            terminal,
            model,
            host,
            running: None,
            asked: Vec::new(),
            unagreed: None,
            opening: Arc::new(AtomicU64::new(0)),
            opened: unbounded_channel(),
            keep_at: None,
            reply_until: None,
            ticks,
            background,
            messages,
            inputs: EventStream::new(),
            notify: looks.notify,
            signals: Signals::new()?,
            wants_out: None,
        };
        let done = Box::pin(screen.show(opening)).await;
        screen.stop_engine().await;
        let live = screen.model.live().filter(|live| live.draft.is_none());
        let left = live.map(|_| screen.model.file.clone());
        let Screen { mut terminal, .. } = screen;
        if terminal.show_cursor().is_err() {
            // Dropping it would retry, fail, and panic because the error cannot be printed.
            std::mem::forget(terminal);
        }
        done.map(|exit| (exit, left))
    });
    restore();
    // Threads that still read something are abandoned.
    runtime.shutdown_background();
    match done {
        // A closed terminal may be noticed before its signal arrives.
        Err(error) if cfg!(unix) && error.raw_os_error() == Some(EIO) => Ok((ExitCode::HungUp, None)),
        done => done,
    }
}

/// Enters the screen mode. Pasted text arrives as one event, so it cannot act as keys.
fn enter() -> io::Result<DefaultTerminal> {
    static HOOK: Once = Once::new();
    // A panic restores the terminal before its message is printed.
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Panics on other threads are reported on the screen, by the task that waits for the thread.
            if std::thread::current().name() == Some("main") {
                restore();
            } else if IS_TAKEN.load(Ordering::Relaxed) {
                return;
            }
            before(info);
        }));
    });
    let terminal = ratatui::try_init()?;
    IS_TAKEN.store(true, Ordering::Relaxed);
    crossterm::execute!(io::stdout(), EnableBracketedPaste)?;
    Ok(terminal)
}

fn restore() {
    IS_TAKEN.store(false, Ordering::Relaxed);
    let _ = crossterm::execute!(io::stdout(), DisableBracketedPaste);
    // Fails only if the terminal is gone, which needs no restoring.
    let _ = ratatui::try_restore();
}

/// Results of work on another thread, each with its number.
type OpenedChannel = (UnboundedSender<(u64, Box<Opened>)>, UnboundedReceiver<(u64, Box<Opened>)>);

enum FollowUp {
    /// Begin the drafted session, then send its first order.
    Begin(Option<FacilitatorRequest>),
    Open(OpenTarget),
}

enum Opened {
    Drafted(Result<Box<Draft>, Vec<Diagnostic>>),
    /// A session that has begun, with its first order.
    Begun(EngineHandle, Option<FacilitatorRequest>),
    /// A saved session, and the reason if it is not complete.
    Replay(PathBuf, Box<Replay>, Option<String>),
    /// A resumed session, and whether it was forked for that.
    Live(PathBuf, Box<Replay>, EngineHandle, bool),
    Refused(StartRefusal, FollowUp),
    Wrong(Vec<Diagnostic>),
}

struct Screen {
    terminal: DefaultTerminal,
    model: Model,
    host: Arc<dyn Host>,
    running: Option<EngineHandle>,
    asked: Vec<HumanQuestion>,
    /// Needs that the person is asked to agree to, and the action that follows.
    unagreed: Option<(Vec<Need>, FollowUp)>,
    /// Number of the newest work on another thread; results of older work are discarded.
    opening: Arc<AtomicU64>,
    opened: OpenedChannel,
    keep_at: Option<Instant>,
    reply_until: Option<Instant>,
    /// One tick a second; keys and events do not delay it.
    ticks: Interval,
    background: UnboundedSender<Message>,
    messages: UnboundedReceiver<Message>,
    inputs: EventStream,
    notify: NotifyConfig,
    signals: Signals,
    wants_out: Option<ExitCode>,
}

impl Screen {
    async fn show(&mut self, opening: Option<OpenTarget>) -> io::Result<ExitCode> {
        self.say(Message::Tick(crate::clock::now())).await?;
        match opening {
            Some(opening) => self.carry_out(vec![Effect::Open(opening)]).await?,
            None => self.draw()?,
        }
        self.carry_out(vec![Effect::ReadHome, Effect::FindSources]).await?;
        self.draw()?;
        let exit = loop {
            if let Some(exit) = self.wants_out {
                break exit;
            }
            let started = Instant::now();
            // A playing replay is drawn at its next event or clock tick.
            let due = self.model.replay.due_in().map(|due| Duration::from_millis(due).min(TICK));
            self.wait(due).await?;
            if due.is_some() {
                let passed = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                self.say(Message::Pass(passed)).await?;
            }
            self.drain().await?;
            if self.keep_at.is_some_and(|at| Instant::now() >= at) {
                self.keep();
            }
            self.draw()?;
        };
        self.keep();
        Ok(exit)
    }

    /// Waits until something happens or is due, and handles it.
    async fn wait(&mut self, replay: Option<Duration>) -> io::Result<()> {
        let keep = self.keep_at.map(|at| at.saturating_duration_since(Instant::now()));
        let session = self.model.session();
        let is_live = matches!(self.model.mode, Mode::Live(_))
            && (session.open_round().is_some() || session.open_items().next().is_some());
        let is_counting = is_live || self.model.busy.is_some();
        let due = replay.into_iter().chain(keep).min();
        let (news, people) = match &mut self.running {
            Some(running) => (Some(&mut running.news), Some(&mut running.people)),
            None => (None, None),
        };
        tokio::select! {
            input = self.inputs.next() => match input {
                Some(input) => self.input(input?).await?,
                // The terminal is gone.
                None => self.wants_out = Some(ExitCode::HungUp),
            },
            news = next(news) => self.news(news).await?,
            Some(message) = self.messages.recv() => self.say(message).await?,
            Some((number, opened)) = self.opened.1.recv() => {
                if let Some(message) = self.take_opened(number, *opened).await {
                    self.say(message).await?;
                }
            }
            Some(asked) = next(people) => {
                let message = Message::Asked(asked.seat.clone());
                self.asked.push(asked);
                self.say(message).await?;
            }
            () = tokio::time::sleep(due.unwrap_or_default()), if due.is_some() => self.tick().await?,
            _ = self.ticks.tick(), if is_counting => self.tick().await?,
            exit = self.signals.any() => self.wants_out = Some(exit),
        }
        Ok(())
    }

    async fn tick(&mut self) -> io::Result<()> {
        self.say(Message::Tick(crate::clock::now())).await?;
        let watches = self.running.as_ref().map(|running| running.watches.progress());
        self.say(Message::Progress(watches.unwrap_or_default())).await
    }

    /// Handles all pending events of engine and storage first, so that one frame shows them all.
    /// Keys are handled one at a time, so that each has a visible effect.
    async fn drain(&mut self) -> io::Result<()> {
        const MOST: usize = 4096;
        for _ in 0..MOST {
            let news = self.running.as_mut().and_then(|running| running.news.try_recv().ok());
            if let Some(news) = news {
                self.news(Some(news)).await?;
                continue;
            }
            match self.messages.try_recv() {
                Ok(message) => self.say(message).await?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    async fn news(&mut self, news: Option<EngineUpdate>) -> io::Result<()> {
        let fault = || {
            EngineUpdate::Ended(Err("Internal error: engine stopped. Recorded events are safe.".to_owned()))
        };
        let news = news.unwrap_or_else(fault);
        if matches!(news, EngineUpdate::Ended(_)) {
            self.running = None;
        }
        if matches!(news, EngineUpdate::Saw(_)) && self.model.session().open_round().is_some() {
            self.model.now = crate::clock::now();
        }
        self.say(Message::EngineUpdate(news)).await
    }

    async fn input(&mut self, input: Input) -> io::Result<()> {
        let message = match input {
            Input::Key(key) if key.kind == KeyEventKind::Release || self.is_reply(&key) => return Ok(()),
            Input::Key(key) => Message::Key(key),
            Input::Paste(text) => Message::Paste(text),
            Input::Resize(width, height) => Message::Resize(width, height),
            Input::Mouse(_) | Input::FocusGained | Input::FocusLost => return Ok(()),
        };
        self.say(message).await
    }

    /// Returns whether a key is part of the terminal's late reply to another program.
    /// Such a reply begins like Alt with one of these letters, ends with BEL or ST, and is faster than typing.
    fn is_reply(&mut self, key: &KeyEvent) -> bool {
        const AT_ONCE: Duration = Duration::from_millis(200);
        let is = |letters: &str, with| {
            matches!(key.code, KeyCode::Char(letter) if letters.contains(letter))
                && key.modifiers.contains(with)
        };
        let begins = is("]P_^X", KeyModifiers::ALT);
        let is_inside = begins || self.reply_until.is_some_and(|until| Instant::now() < until);
        let ends = is("g", KeyModifiers::CONTROL) || is("\\", KeyModifiers::ALT);
        self.reply_until = (is_inside && !ends).then(|| Instant::now() + AT_ONCE);
        is_inside
    }

    async fn say(&mut self, message: Message) -> io::Result<()> {
        let effects = update(&mut self.model, message);
        if effects.is_empty() { Ok(()) } else { self.carry_out(effects).await }
    }

    fn draw(&mut self) -> io::Result<()> {
        // Terminals that support this show each frame whole.
        crossterm::queue!(io::stdout(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| draw(frame, &self.model))?;
        crossterm::execute!(io::stdout(), EndSynchronizedUpdate)
    }

    fn keep(&mut self) {
        self.keep_at = None;
        if let Some(Overlay::Form(form)) = &self.model.overlay {
            let (name, text) = (form.draft_name.clone(), form.unfinished());
            self.keep_text(&name, text.as_deref());
        }
    }

    fn keep_text(&mut self, name: &str, text: Option<&str>) {
        self.keep_at = None;
        if !name.is_empty()
            && let Err(problem) = self.host.keep(name, text)
        {
            self.model.notice = Some(format!("Cannot save draft: {problem}"));
        }
    }

    async fn stop_engine(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let _ = running.orders.send(FacilitatorRequest::Leave { reason: PauseReason::Left });
        let ended = async {
            while let Some(news) = running.news.recv().await {
                if matches!(news, EngineUpdate::Ended(_)) {
                    break;
                }
            }
        };
        // The recorded events of a slow engine are on disk in any case.
        let _ = tokio::time::timeout(PATIENCE, ended).await;
    }
}

/// Waits for the next message of a channel; forever without a channel.
async fn next<T>(channel: Option<&mut UnboundedReceiver<T>>) -> Option<T> {
    match channel {
        Some(channel) => channel.recv().await,
        None => std::future::pending().await,
    }
}
