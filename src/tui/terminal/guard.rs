//! The terminal taken and given back, also by a panic; and the signals that end the screen as `q` does.

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::DefaultTerminal;

use crate::core::ExitCode;

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the terminal. What is pasted comes as one piece, so that it cannot act as keys.
pub fn enter(mouse: bool) -> io::Result<DefaultTerminal> {
    static HOOK: Once = Once::new();
    // Whatever ends the program, the terminal is given back before the message is written.
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // One elsewhere is shown on the screen, once whoever waits for that thread notices.
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
    if mouse {
        crossterm::execute!(io::stdout(), EnableMouseCapture)?;
    }
    Ok(terminal)
}

pub fn restore() {
    IS_TAKEN.store(false, Ordering::Relaxed);
    let _ = crossterm::execute!(io::stdout(), DisableMouseCapture, DisableBracketedPaste);
    // A terminal that is gone needs no restoring.
    let _ = ratatui::try_restore();
}

pub struct Signals {
    #[cfg(unix)]
    term: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    pub fn new() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                term: signal(SignalKind::terminate())?,
                hangup: signal(SignalKind::hangup())?,
                interrupt: signal(SignalKind::interrupt())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for one; gives the exit code that tells which it was.
    pub async fn any(&mut self) -> ExitCode {
        #[cfg(unix)]
        tokio::select! {
            _ = self.term.recv() => ExitCode::Terminated,
            _ = self.hangup.recv() => ExitCode::HungUp,
            _ = self.interrupt.recv() => ExitCode::Interrupted,
        }
        #[cfg(not(unix))]
        match tokio::signal::ctrl_c().await {
            Ok(()) => ExitCode::Interrupted,
            Err(_) => std::future::pending().await,
        }
    }
}
