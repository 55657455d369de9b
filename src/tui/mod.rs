//! Facilitator's screen: a model, messages, one `update` function, drawing views.
//!
//! Live sessions and replays share their panes, because both fold events into a state. Views read only the
//! model and do no I/O. Foreign text is sanitized by [`crate::sanitize`] first. [`Host`] provides everything
//! outside the screen. The terminal is restored however the screen ends.

mod footer;
mod form;
mod frame;
mod header;
mod home;
mod host;
mod keys;
mod list;
mod live;
mod model;
mod panes;
mod reading;
mod replay;
mod screen;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod update;

pub use form::{Form, FormKind, without_tools};
pub use frame::Pane;
pub use home::{Home, HomeRow, ModelSource, OpenTarget};
pub use host::{Effect, EngineHandle, Host, Message, StartRefusal};
pub use keys::{Action, BINDINGS, ScreenState, table as key_table};
pub use list::{List, ListKind, ListRow, ModelTarget};
pub use live::{Draft, EngineUpdate, LiveSession, Preview, SeatChoice, SeatLink, preview_events};
pub use model::{Ask, LeaveTarget, Mode, Model, OnYes, Overlay};
pub use reading::{TextKind, TextView};
pub use replay::Replay;
pub use screen::draw;
pub use terminal::{ScreenOptions, run};
pub use theme::{Palette, Theme};
pub use update::update;
