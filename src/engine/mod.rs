//! Engine: runs a session by performing the actions that [`next`](crate::core::next) returns.
//!
//! One loop owns the session and the journal. Seats work in parallel and return sealed answers; events
//! that arrive during a sync share the next one. The engine sends, publishes and asks only after the causing
//! event is on disk. People and scripts lead the session by the same requests ([`Facilitator`]). It knows no
//! provider and no front end.

mod arrival;
mod budget;
mod commit;
mod evidence;
mod execute;
mod facilitator;
mod fan_out;
mod inbox;
mod mail;
mod request_pool;
mod round_key;
mod run;
mod seat;
mod state;
#[cfg(test)]
pub(crate) mod testing;
mod work_item_attempt;
mod work_items;

pub use arrival::{AbandonedOffer, Accepted, Arrival, Message, RemoteSeats, Work, WorkMessage, hand_in};
pub use budget::Budget;
pub use evidence::unrecorded_evidence;
pub use facilitator::{
    Facilitator, FacilitatorRequest, ReplacementSeat, SeatReplacer, WaitPoint, current_wait_point,
    pending_question,
};
pub use seat::{RoundShared, SeatResult, ask_and_seal};
pub use state::{
    ContextFile, Engine, EngineConfig, EngineError, Observer, ReadEvidence, SeatedParticipants, TasksFile,
};
