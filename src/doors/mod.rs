//! Doors: how remote seats get their offers and bring their ballots. A door decides nothing: what arrives
//! goes to the engine, and is answered once it is on disk. It sees offers, receipts and numbers, and no
//! answer before the close.

mod board;
mod entrance;
mod http;
mod limits;
mod tls;

pub use board::Board;
pub use entrance::{Entrance, MOST_OPEN, Peer};
pub use http::{Door, router};
pub use tls::{Identity, accept_tls, fingerprint, make_identity};
