//! The terminal: taken, drawn on, given back by whatever way the screen is left.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event as Input, EventStream};
use futures::StreamExt as _;
use ratatui::DefaultTerminal;

use super::model::Model;
use super::replay::Replay;
use super::theme::Theme;
use super::update::{Effect, Message, update};
use super::view::draw;
use crate::session::Line;

/// Replays a session's events until the person leaves.
///
/// # Errors
/// When the terminal cannot be read or written.
pub fn replay(lines: Vec<Line>, file: &str) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let theme = Theme::from_environment(|name| std::env::var(name).ok());
    let mut terminal = take()?;
    let size = terminal.size().map_or((80, 24), |size| (size.width, size.height));
    let mut model = Model::new(Replay::new(lines), file.to_owned(), size, theme);
    let done = runtime.block_on(run(&mut terminal, &mut model));
    give_back();
    done
}

/// Takes the terminal. What is pasted comes as one piece, so that it cannot act as keys.
fn take() -> io::Result<DefaultTerminal> {
    let terminal = ratatui::try_init()?;
    crossterm::execute!(io::stdout(), EnableBracketedPaste)?;
    Ok(terminal)
}

fn give_back() {
    let _ = crossterm::execute!(io::stdout(), DisableBracketedPaste);
    ratatui::restore();
}

async fn run(terminal: &mut DefaultTerminal, model: &mut Model) -> io::Result<()> {
    let mut inputs = EventStream::new();
    let mut signals = Signals::new()?;
    terminal.draw(|frame| draw(frame, model))?;
    loop {
        let started = Instant::now();
        let due = model.replay.due_in();
        let message = tokio::select! {
            input = inputs.next() => match input {
                Some(input) => message(input?),
                None => return Ok(()),
            },
            () = sleep(due) => None,
            () = signals.any() => return Ok(()),
        };
        if due.is_some() {
            let passed = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            update(model, Message::Pass(passed));
        }
        match message.map_or(Effect::None, |message| update(model, message)) {
            Effect::Quit => return Ok(()),
            Effect::Suspend => suspend(terminal)?,
            Effect::None => {}
        }
        terminal.draw(|frame| draw(frame, model))?;
    }
}

async fn sleep(due: Option<u64>) {
    match due {
        Some(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
        None => std::future::pending().await,
    }
}

fn message(input: Input) -> Option<Message> {
    match input {
        Input::Key(key) => Some(Message::Key(key)),
        Input::Paste(text) => Some(Message::Paste(text)),
        Input::Resize(width, height) => Some(Message::Resize(width, height)),
        _ => None,
    }
}

/// Gives the terminal back, stops this process, and takes the terminal again when it goes on.
fn suspend(terminal: &mut DefaultTerminal) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpid, kill_process};
        give_back();
        kill_process(getpid(), Signal::TSTP)?;
        *terminal = take()?;
        terminal.clear()?;
    }
    #[cfg(not(unix))]
    let _ = terminal;
    Ok(())
}

/// The signals that end the screen as `q` does.
struct Signals {
    #[cfg(unix)]
    term: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self { term: signal(SignalKind::terminate())?, hangup: signal(SignalKind::hangup())? })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    async fn any(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.hangup.recv() => {}
        }
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
}
