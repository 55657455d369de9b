//! The facilitator's screen: a model, messages, one `update`, and views that only draw.
//!
//! Live sessions and replays share their panes: both are events folded into a state. Views read the model alone:
//! no IO, no clock. Every text of foreign origin passes [`crate::sanitize`] first. What needs the world
//! outside goes through [`Host`]. The terminal is restored by whatever way the screen is left.

mod agenda_list;
mod cell_text;
mod form;
mod home;
mod host;
mod keymap;
mod list;
mod live;
mod model;
mod replay;
mod sources;
mod terminal;
#[cfg(test)]
mod tests;
mod theme;
mod update;
mod view;

pub use form::{Form, FormKind, without_tools};
pub use home::{Home, HomeRow, HomeSection, OpenTarget};
pub use host::{Draft, EngineHandle, Host, LoadProgress, ReplayLoad, StartRefusal, Tell};
pub use keymap::{Action, BINDINGS, Keys, ScreenState, label as key_label, table as key_table};
pub use list::{List, ListKind, ListRow, ModelTarget};
pub use live::{EngineUpdate, LiveSession, Preview, preview_events};
pub use model::{AnswerLayout, Ask, Asked, LeaveTarget, Mode, Model, Overlay, Pane};
pub use replay::Replay;
pub use sources::{ModelSource, SeatChoice, SeatLink, SourceState};
pub use terminal::{Notify, ScreenOptions, Signals, run};
pub use theme::Theme;
pub use update::{Effect, Message, update};
pub use view::{ClickMap, Target, draw};
