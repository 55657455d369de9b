//! Doors: how remote seats get their offers and bring their ballots. A door decides nothing: what arrives
//! goes to the engine, and is answered once it is on disk. It sees offers, receipts and numbers, and no
//! answer before the close.

mod board;
mod http;
mod limits;

pub use board::Board;
pub use http::{Door, router};
