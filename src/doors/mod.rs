//! Doors: how remote seats and agents get their offers and bring their ballots and results. A door decides nothing: what arrives
//! goes to the engine, and is answered once it is on disk. It sees offers, receipts and numbers, and no
//! answer before the close.

mod board;
mod entrance;
mod http;
mod inbox;
mod limits;
mod links;
#[cfg(feature = "nats")]
mod nats;
mod offer;
mod routes;
mod tls;
mod work;

pub use board::Board;
pub use entrance::{Entrance, MOST_OPEN};
pub use http::Door;
#[cfg(feature = "nats")]
pub use nats::{QueueDoor, workers_of};
pub use routes::router;
pub use tls::{Identity, accept_tls, fingerprint, make_identity};
