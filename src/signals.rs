//! Signals that end the program.

use std::io;

use crate::core::ExitCode;

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

    /// Waits for a signal and returns its exit code.
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
