//! The facilitator's screen: a model, messages, one `update`, and views that only draw.
//!
//! Live and film share their panes: both are events folded into a state. Views read the model alone:
//! no IO, no clock. Every text of foreign origin passes [`crate::text`] first. What needs the world
//! outside goes through [`Host`]. The terminal is restored by whatever way the screen is left.

mod form;
mod home;
mod host;
mod keymap;
mod live;
mod model;
mod replay;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod update;
mod view;

pub use form::{Form, Purpose};
pub use home::{Home, Opening, Part, Row};
pub use host::{Draft, Film, Host, Reading, Refusal, Running};
pub use keymap::{Action, BINDINGS, Keys, ScreenState, label as key_label, table as key_table};
pub use live::{Live, News, Preview};
pub use model::{Leave, Menu, MenuKind, Model, Overlay, Pane, Spread, Stage};
pub use replay::Replay;
pub use terminal::{Looks, Signals, run};
pub use theme::Theme;
pub use update::{Effect, Message, Target, update};
pub use view::{Hits, draw};
