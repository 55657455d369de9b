//! In place of the door of workers in a program that is built without one.

use super::link_door::DoorInputs;
use crate::diagnostic::Diagnostic;
use crate::engine::RemoteSeats;
use crate::history::{Door, SeatInfo, Session};
use crate::launch::error::RunError;

#[derive(Default)]
pub struct WorkerDoor;

impl WorkerDoor {
    pub fn open(
        of: &DoorInputs<'_>,
        _: &mut Option<RemoteSeats>,
        _: impl Fn(&str),
    ) -> Result<Self, RunError> {
        let is_workers =
            |seat: &SeatInfo| seat.remote.as_ref().is_some_and(|remote| remote.door == Door::Nats);
        if of.header().participants.iter().any(is_workers) {
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
