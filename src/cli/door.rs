//! What a headless run needs of a door for remote seats; it has one under `serve`.

use crate::diagnostic::Diagnostic;
use crate::engine::RemoteSeats;
use crate::history::{Session, SessionOpened};
use crate::launch::environment::Environment;

use super::console::Console;
use crate::launch::error::RunError;

/// A session whose door is to be opened.
#[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "no door is built in"))]
pub struct DoorInputs<'a> {
    pub header: &'a SessionOpened,
    /// The state so far; that of no session for a new one.
    pub session: &'a Session,
    pub set_up: &'a Environment,
    pub runtime: &'a tokio::runtime::Runtime,
}

/// Lets remote seats in.
pub trait OpenDoor: Sync {
    /// Begins to listen, invites, and prints the links.
    ///
    /// # Errors
    /// When nobody can be invited.
    fn open(&self, of: &DoorInputs<'_>, output: &mut Console) -> Result<RemoteSeats, RunError>;

    /// Sees the state after each write to disk.
    fn see(&self, session: &Session);

    /// The options with which the same links work again, each with a space before it.
    fn options(&self) -> String;

    /// How long results are shown after the end, in seconds.
    fn linger(&self) -> u64;
}

/// Refuses a session without seats behind a link.
///
/// # Errors
/// That nobody could be invited.
pub fn check_links(header: &SessionOpened) -> Result<(), Diagnostic> {
    if header.participants.iter().any(|seat| seat.remote.is_some()) {
        return Ok(());
    }
    let problem = Diagnostic::new("no seat is behind a link");
    Err(problem.hint("write `{name: dana, model: remote/link}`, or run it with --batch"))
}

/// The result of a verb that this program was built without.
#[cfg(not(all(feature = "serve", feature = "mcp")))]
pub fn not_built(feature: &str) -> super::verb_result::VerbResult {
    let problem = Diagnostic::new(format!("this program was built without `{feature}`"));
    Err(problem.hint(format!("build it with `--features {feature}`")).into())
}
