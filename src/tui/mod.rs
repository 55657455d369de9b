//! The facilitator's screen: a model, messages, one `update`, and views that only draw.
//!
//! It replays a saved session in the panes a live one will have, with a time line under them. Views
//! read the model alone: no IO, no clock. Every text of foreign origin passes [`crate::text`] first.
//! The terminal is restored by whatever way the screen is left.

mod keymap;
mod model;
mod replay;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod update;
mod view;

pub use keymap::{Action, BINDINGS, table as key_table};
pub use model::{Model, Overlay, Pane};
pub use replay::Replay;
pub use terminal::replay as run_replay;
pub use theme::Theme;
pub use update::{Effect, Message, update};
pub use view::draw;
