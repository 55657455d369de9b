//! What serving a session gives the screen.

use indexmap::IndexMap;
use tokio_util::sync::CancellationToken;

use crate::engine::RemoteSeats;
use crate::tui::SeatLink;

/// A session whose remote seats are served.
#[derive(Default)]
pub struct Served {
    pub remote: Option<RemoteSeats>,
    pub links: IndexMap<String, SeatLink>,
    /// Cancelled when the door is another session's.
    pub ends: Option<CancellationToken>,
}
