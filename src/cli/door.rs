//! What every door of a session needs.

use crate::diagnostic::Diagnostic;
use crate::history::{Session, SessionOpened};
use crate::journal::KeyStore;
use crate::launch::environment::Environment;
use crate::round::seal::sign::SigningKey;

/// A session whose door is to be opened.
pub struct DoorInputs<'a> {
    pub header: &'a SessionOpened,
    /// The state so far; that of no session for a new one.
    pub session: &'a Session,
    pub set_up: &'a Environment,
    pub runtime: &'a tokio::runtime::Runtime,
}

/// Refuses a session without remote seats.
pub fn check_links(header: &SessionOpened) -> Result<(), Diagnostic> {
    if header.participants.iter().any(|seat| seat.remote.is_some()) {
        return Ok(());
    }
    let problem = Diagnostic::new("no remote seats to serve");
    Err(problem.hint("write `{name: dana, model: remote/link}`, or run it with --batch"))
}

/// The key that signs a session's offers.
pub fn table_key(keys: &KeyStore, header: &SessionOpened) -> Result<SigningKey, Diagnostic> {
    let found = keys.table_key(&header.session).map_err(|error| Diagnostic::new(error.to_string()))?;
    found.filter(|key| header.table_key.as_ref() == Some(&key.public())).ok_or_else(|| {
        Diagnostic::new("the key that signs this session's offers is not on this machine")
            .hint("serve it where it was begun, or begin a new session")
    })
}

/// In place of the door of workers in a program that is built without one.
#[cfg(not(feature = "nats"))]
pub mod without_workers {
    use super::DoorInputs;
    use crate::diagnostic::Diagnostic;
    use crate::engine::RemoteSeats;
    use crate::history::{Door, SeatInfo, Session};
    use crate::launch::error::RunError;

    #[derive(Default)]
    pub struct WorkerDoor;

    impl WorkerDoor {
        /// Refuses a session that has seats of workers.
        pub fn open(
            of: &DoorInputs<'_>,
            _: &mut Option<RemoteSeats>,
            _: impl Fn(&str),
        ) -> Result<Self, RunError> {
            let is_workers =
                |seat: &SeatInfo| seat.remote.as_ref().is_some_and(|remote| remote.door == Door::Nats);
            if of.header.participants.iter().any(is_workers) {
                let problem = Diagnostic::new("this program was built without `nats`");
                return Err(problem.hint("build it with `--features nats`").into());
            }
            Ok(Self)
        }

        #[expect(clippy::unused_self, reason = "as with workers")]
        pub fn see(&self, _: &Session) {}

        #[expect(clippy::unused_async, reason = "as with workers")]
        pub async fn close(&self, _: &Session) -> Option<Diagnostic> {
            None
        }
    }
}
