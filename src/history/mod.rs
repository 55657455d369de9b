//! History: the events of a session and the state they fold into. Pure.

mod apply;
mod event;
mod exhausted;
mod facilitator;
mod linked_session;
mod price;
mod receipt;
mod route;
mod state;
mod step_run;
mod timestamp;
mod tracked_tasks;
mod work_item;

pub use event::{
    AgentWork, AnswerRevealed, ApprovalGiven, ApprovalRequested, ArtifactRecorded, BallotSealed, CloseReason,
    DeadlineExtended, Event, ItemStatus, LeakReport, LeaksFound, Link, LinkRecorded, LogEntry, PersonaInfo,
    PreviousArtifact, PseudonymMap, ReviewContext, ReviewRecorded, RoundClosed, RoundOpened, RoundOutcome,
    RoundRevised, SeatFailed, SeatInfo, SeatRetried, SessionClosed, SessionForked, SessionOpened,
    StageContext, Status, StepFinished, SynthesisRecorded, Tally, TaskWritten, TimedEvent, WorkItemClaimed,
    WorkItemOffered, WorkItemReturned, Wrapped,
};
pub use exhausted::exhausted_key;
pub(crate) use exhausted::{CONTINUE, DECIDE, STOP, TAKE};
pub(crate) use facilitator::{PROJECT, read_artifact};
pub use linked_session::LinkedSession;
pub use price::Price;
pub use receipt::Receipt;
pub use state::{AnsweredQuestion, NotHeld, RoundRun, Seat, SeatStatus, Session};
pub use step_run::{ApprovalRun, StepArtifact, StepRun};
pub use timestamp::Timestamp;
pub use tracked_tasks::{UnwrittenTask, not_written};
pub use work_item::WorkItem;
