//! Doors for remote seats: for links and for workers.

use std::sync::Arc;
use std::time::Duration;

use super::link_door::{DoorInputs, LinkDoor, OpenedLinks};
#[cfg(feature = "nats")]
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::engine::RemoteSeats;
use crate::history::{Door, SeatInfo, Session};
use crate::launch::error::RunError;
#[cfg(feature = "nats")]
use crate::remote::nats::{Address, QueueDoor, QueueError, SESSION, Tell};

pub struct Doors {
    links: Option<Arc<LinkDoor>>,
    workers: Option<QueueDoor>,
}

impl Doors {
    /// Opens the doors that the session needs, and returns the seats that use them. Connection errors are
    /// passed to `tell`.
    pub fn open(
        of: &DoorInputs<'_>,
        links: Option<Arc<LinkDoor>>,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<(Self, Option<RemoteSeats>, OpenedLinks), RunError> {
        let opened = links.as_ref().map(|door| door.open(of)).transpose()?;
        let (mut remote, opened) = opened.unzip();
        let is_of_workers =
            |seat: &SeatInfo| seat.remote.as_ref().is_some_and(|remote| remote.door == Door::Nats);
        let workers = if of.header().participants.iter().any(is_of_workers) {
            Some(open_queue(of, remote.get_or_insert_default(), tell)?)
        } else {
            None
        };
        Ok((Self { links, workers }, remote, opened.unwrap_or_default()))
    }

    pub fn see(&self, session: &Session) {
        self.links.iter().for_each(|door| door.see(session));
        self.workers.iter().for_each(|door| door.see(session));
    }

    /// Deletes the queue of a finished session; returns a problem if that fails.
    pub async fn close(&self, session: &Session) -> Option<Diagnostic> {
        let door = self.workers.as_ref().filter(|_| session.closed.is_some())?;
        let closed = tokio::time::timeout(Duration::from_secs(5), door.close()).await;
        let error = match closed {
            Ok(Ok(())) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the NATS server does not answer".to_owned(),
        };
        Some(Diagnostic::new(error).hint("resume the session to tidy up; it has its result"))
    }
}

#[cfg(feature = "nats")]
fn open_queue(
    of: &DoorInputs<'_>,
    seats: &mut RemoteSeats,
    tell: impl Fn(&str) + Send + Sync + 'static,
) -> Result<QueueDoor, RunError> {
    let key = super::link_door::table_key(&of.set_up.keys(), of.header())?;
    let nats = of.set_up.config.remote.nats.clone();
    let Some(url) = nats.url else {
        let problem = Diagnostic::new("seats are answered for by workers, and no NATS server is named");
        let hint = "write `remote: {nats: {url: \"tls://HOST:4222\"}}` into config.yaml";
        return Err(problem.hint(hint).into());
    };
    let address = Address { url, creds_file: nats.creds_file, name: SESSION.to_owned() };
    let (id, tell): (_, Tell) = (&of.session.id, Arc::new(tell));
    let opened = QueueDoor::open(&address, of.header(), id, key, &seats.arrive, &tell);
    of.runtime.block_on(opened).map_err(|error| queue_error(&error))
}

#[cfg(feature = "nats")]
pub fn queue_error(error: &QueueError) -> RunError {
    let (exit, hint) = match error {
        QueueError::Unreachable(..) => (ExitCode::Unreachable, "start the NATS server, or check its address"),
        QueueError::Refused(_) => (ExitCode::Usage, "see docs/ELSEWHERE.md for what the server must allow"),
    };
    RunError { problems: vec![Diagnostic::new(error.to_string()).hint(hint)], exit }
}

/// Replaces the door for workers in a build without NATS.
#[cfg(not(feature = "nats"))]
enum QueueDoor {}

#[cfg(not(feature = "nats"))]
impl QueueDoor {
    fn see(&self, _: &Session) {
        match *self {}
    }

    fn close(&self) -> std::future::Ready<Result<(), std::convert::Infallible>> {
        match *self {}
    }
}

#[cfg(not(feature = "nats"))]
fn open_queue(
    _: &DoorInputs<'_>,
    _: &mut RemoteSeats,
    _: impl Fn(&str) + Send + Sync + 'static,
) -> Result<QueueDoor, RunError> {
    let problem = Diagnostic::new("this program was built without `nats`");
    Err(problem.hint("build it with `--features nats`").into())
}
