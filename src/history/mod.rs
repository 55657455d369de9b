//! History: the events of a session and the state they fold into. Pure.

mod agenda;
mod apply;
mod event;
mod facilitator;
mod merge;
mod remote;
mod route;
mod state;
mod timestamp;
mod work_item;

pub(crate) use agenda::next_id;
pub use agenda::{Agenda, DONE, DROPPED};
pub use event::*;
pub use facilitator::exhausted_key;
pub(crate) use facilitator::{CONTINUE, DECIDE, LEAVE, STOP, TAKE, check_artifact};
pub use merge::option_id;
pub use remote::Receipt;
pub use route::round_outcome;
pub use state::{
    AnsweredQuestion, ApprovalRun, Invitation, NotHeld, RoundRun, Seat, SeatStatus, Session, StepArtifact,
    StepRun,
};
pub use timestamp::Timestamp;
pub use work_item::{LEASE_MS, WorkItem};
