//! The inputs of every door of a session.

use crate::diagnostic::Diagnostic;
use crate::history::{Session, SessionOpened};
use crate::journal::KeyStore;
use crate::launch::environment::Environment;
use crate::round::seal::sign::SigningKey;

pub struct DoorInputs<'a> {
    pub header: &'a SessionOpened,
    /// The state so far; that of no session for a new one.
    pub session: &'a Session,
    pub set_up: &'a Environment,
    pub runtime: &'a tokio::runtime::Runtime,
}

pub fn check_links(header: &SessionOpened) -> Result<(), Diagnostic> {
    if header.participants.iter().any(|seat| seat.remote.is_some()) {
        return Ok(());
    }
    let problem = Diagnostic::new("no remote seats to serve");
    Err(problem.hint("write `{name: dana, model: remote/link}`, or run it with --batch"))
}

pub fn table_key(keys: &KeyStore, header: &SessionOpened) -> Result<SigningKey, Diagnostic> {
    let found = keys.table_key(&header.session).map_err(|error| Diagnostic::new(error.to_string()))?;
    found.filter(|key| header.table_key.as_ref() == Some(&key.public())).ok_or_else(|| {
        Diagnostic::new("the key that signs this session's offers is not on this machine")
            .hint("serve it where it was begun, or begin a new session")
    })
}
