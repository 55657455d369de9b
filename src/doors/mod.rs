//! Doors: how remote seats and agents get their offers and bring their ballots and results. A door decides nothing: what arrives
//! goes to the engine, and is answered once it is on disk. It sees offers, receipts and numbers, and no
//! answer before the close.

#[cfg(feature = "serve")]
mod board;
#[cfg(feature = "serve")]
mod entrance;
#[cfg(feature = "serve")]
mod http;
#[cfg(feature = "serve")]
mod inbox;
#[cfg(feature = "serve")]
mod limits;
#[cfg(feature = "serve")]
mod links;
#[cfg(feature = "nats")]
mod nats;
mod offer;
#[cfg(feature = "serve")]
mod routes;
#[cfg(feature = "serve")]
mod tls;
#[cfg(feature = "serve")]
mod work;

#[cfg(feature = "serve")]
pub use board::Board;
#[cfg(feature = "serve")]
pub use entrance::{Entrance, MOST_OPEN};
#[cfg(feature = "serve")]
pub use http::Door;
#[cfg(feature = "nats")]
pub use nats::{QueueDoor, workers_of};
#[cfg(feature = "serve")]
pub use routes::router;
#[cfg(feature = "serve")]
pub use tls::{Identity, accept_tls, fingerprint, make_identity};
