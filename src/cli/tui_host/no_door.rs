//! In place of the screen's door in a program that is built without one.

use super::served::Served;
use crate::cli::door::needs_feature;
use crate::diagnostic::Diagnostic;
use crate::history::{SeatInvited, Session};
use crate::launch::environment::Environment;
use crate::launch::seat::ReadySession;
use crate::tui::SeatLink;

/// There is none.
pub enum ScreenDoor {}

impl ScreenDoor {
    pub fn bind(_: &Environment) -> Result<Self, Diagnostic> {
        Err(needs_feature("serve"))
    }

    pub fn open(
        &self,
        _: &ReadySession,
        _: &Environment,
        _: &tokio::runtime::Runtime,
    ) -> Result<Served, Diagnostic> {
        match *self {}
    }

    pub fn see(&self, _: &Session) {
        match *self {}
    }

    pub fn invite(
        &self,
        _: &Environment,
        _: &Session,
        _: &str,
    ) -> Result<(SeatInvited, SeatLink), Diagnostic> {
        match *self {}
    }
}
