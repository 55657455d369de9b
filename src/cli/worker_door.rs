//! The door of a session's workers, as every front end opens it.

use std::sync::Arc;
use std::time::Duration;

use super::link_door::{DoorInputs, table_key};
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::engine::RemoteSeats;
use crate::history::Session;
use crate::launch::error::RunError;
use crate::remote::nats::{Address, QueueDoor, QueueError, SESSION, Tell, workers_of};

/// The door of a session's workers, where it has any.
#[derive(Default)]
pub struct WorkerDoor(Option<QueueDoor>);

impl WorkerDoor {
    /// Opens it for a session that has seats of workers, and lets them in with the others. Trouble of the
    /// connection is told.
    pub fn open(
        of: &DoorInputs<'_>,
        remote: &mut Option<RemoteSeats>,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, RunError> {
        if workers_of(of.header()).is_empty() {
            return Ok(Self::default());
        }
        let key = table_key(&of.set_up.keys(), of.header())?;
        let nats = of.set_up.config.remote.nats.clone();
        let Some(url) = nats.url else {
            let problem = Diagnostic::new("seats are answered for by workers, and no NATS server is named");
            let hint = "write `remote: {nats: {url: \"tls://HOST:4222\"}}` into config.yaml";
            return Err(problem.hint(hint).into());
        };
        let name = SESSION.to_owned();
        let address = Address { url, creds_file: nats.creds_file, name };
        let tell: Tell = Arc::new(tell);
        let seats = remote.get_or_insert_default();
        let opened = QueueDoor::open(&address, of.header(), &of.session.id, key, &seats.arrive, &tell);
        of.runtime.block_on(opened).map(|door| Self(Some(door))).map_err(|error| in_words(&error))
    }

    pub fn see(&self, session: &Session) {
        if let Some(door) = &self.0 {
            door.see(session);
        }
    }

    /// Takes away what a session that is over has left in the queue; what cannot be is said.
    pub async fn close(&self, session: &Session) -> Option<Diagnostic> {
        let door = self.0.as_ref().filter(|_| session.closed.is_some())?;
        let closed = tokio::time::timeout(Duration::from_secs(5), door.close()).await;
        let error = match closed {
            Ok(Ok(())) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the NATS server does not answer".to_owned(),
        };
        Some(Diagnostic::new(error).hint("resume the session to tidy up; it has its result"))
    }
}

pub fn in_words(error: &QueueError) -> RunError {
    let (exit, hint) = match error {
        QueueError::Unreachable(..) => (ExitCode::Unreachable, "start the NATS server, or check its address"),
        QueueError::Refused(_) => (ExitCode::Usage, "see docs/ELSEWHERE.md for what the server must allow"),
    };
    RunError { problems: vec![Diagnostic::new(error.to_string()).hint(hint)], exit }
}
