//! The door that the screen opens for seats that are invited by a link.

use super::served::Served;
use crate::cli::door::DoorInputs;
use crate::cli::link_door::{LinkDoor, qr_code};
use crate::diagnostic::Diagnostic;
use crate::history::{Door, SeatInvited, Session};
use crate::launch::environment::Environment;
use crate::launch::seat::ReadySession;
use crate::tui::SeatLink;

/// A door, bound as the settings say.
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
        let links = opened.links.into_iter().map(|(seat, url)| (seat, seat_link(url)));
        let agents = opened.agents.into_iter().map(|(agent, access)| (agent, environment(&access)));
        let links = links.chain(agents).collect();
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
        let (invited, url) = self.0.invite(set_up, &session.id, seat)?;
        let is_agent = session.remote(seat).is_some_and(|remote| remote.door == Door::Inbox);
        let access = url.split_once("/b#").filter(|_| is_agent);
        let link = access.map(|(url, token)| environment(&(url.to_owned(), token.to_owned())));
        Ok((invited, link.unwrap_or_else(|| seat_link(url))))
    }
}

fn seat_link(url: String) -> SeatLink {
    let code = qr_code(&url);
    SeatLink { url, code }
}

/// What an agent that polls needs in its environment.
fn environment((url, token): &(String, String)) -> SeatLink {
    SeatLink { url: format!("ROUNDTABLE_URL={url} ROUNDTABLE_TOKEN={token}"), code: None }
}
