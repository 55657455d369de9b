//! The door that the screen opens for seats that are invited.

use indexmap::IndexMap;
use tokio_util::sync::CancellationToken;

use crate::cli::door::DoorInputs;
use crate::cli::link_door::{Access, LinkDoor, qr_code};
use crate::diagnostic::Diagnostic;
use crate::engine::RemoteSeats;
use crate::history::{SeatInvited, Session};
use crate::launch::environment::Environment;
use crate::launch::seat::ReadySession;
use crate::tui::SeatLink;

#[derive(Default)]
pub struct Served {
    pub remote: Option<RemoteSeats>,
    pub links: IndexMap<String, SeatLink>,
    /// Cancelled when the door is another session's.
    pub ends: Option<CancellationToken>,
}

pub struct ScreenDoor(LinkDoor);

impl ScreenDoor {
    pub fn bind(set_up: &Environment) -> Result<Self, Diagnostic> {
        LinkDoor::bind(set_up.config.door.clone()).map(Self)
    }

    pub fn open(
        &self,
        ready: &ReadySession,
        set_up: &Environment,
        runtime: &tokio::runtime::Runtime,
    ) -> Result<Served, Diagnostic> {
        let header = ready.header().ok_or_else(|| Diagnostic::new("the session has no header"))?;
        let opened = self.0.open(&DoorInputs { header, session: &ready.session, set_up, runtime })?;
        let links = opened.access.into_iter().map(|(seat, access)| (seat, self.seat_link(access))).collect();
        Ok(Served { remote: Some(opened.remote), links, ends: Some(opened.ends) })
    }

    pub fn see(&self, session: &Session) {
        self.0.see(session);
    }

    pub fn invite(
        &self,
        set_up: &Environment,
        session: &Session,
        seat: &str,
    ) -> Result<(SeatInvited, SeatLink), Diagnostic> {
        let (invited, access) = self.0.invite(set_up, session, seat)?;
        Ok((invited, self.seat_link(access)))
    }

    fn seat_link(&self, access: Access) -> SeatLink {
        let (text, code) = match access {
            Access::Link(link) => {
                let code = qr_code(&link);
                (link, code)
            }
            Access::Agent { url, token } => (format!("ROUNDTABLE_URL={url} ROUNDTABLE_TOKEN={token}"), None),
        };
        SeatLink { text, code, notes: self.0.notes() }
    }
}
