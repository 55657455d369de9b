//! History: the events of a session and the state they fold into. Pure.

mod agenda;
mod apply;
mod event;
mod exhausted;
mod facilitator;
mod linked_session;
mod merge;
mod receipt;
mod remote;
mod round_seats;
mod route;
mod state;
mod step_run;
mod timestamp;
mod tracked_tasks;
mod work_item;

pub(crate) use agenda::next_id;
pub use agenda::{Agenda, DONE, DROPPED, Point};
pub(crate) use event::PROJECT;
pub use event::{
    AgendaUpdated, AgentWork, AnswerRevealed, ApprovalGiven, ApprovalRequested, ArtifactRecorded,
    BallotSealed, CloseReason, CollectedIdea, ConflictResolved, DeadlineExtended, Door, EnvelopeRefused,
    Event, IdeasMerged, ItemStatus, LeaksFound, Link, LinkRecorded, LogEntry, Merge, MergedOption, NO_MODEL,
    PLACEHOLDER, PauseReason, PersonaInfo, PointOpened, PreviousArtifact, Price, ProviderSettings,
    PseudonymMap, QuestionAnswered, RECORDED_BY_STEP, RefusalWord, RemoteSeat, ReviewContext, ReviewRecorded,
    RoundClosed, RoundOpened, RoundOutcome, RoundRevised, SCRIPTED, SealedBy, SeatFailed, SeatInfo,
    SeatInvited, SeatJoined, SeatRetried, SessionClosed, SessionForked, SessionOpened, SetAside,
    StageContext, Status, StepFinished, SynthesisRecorded, TEXTS, Tally, TaskWritten, TimedEvent,
    WorkItemClaimed, WorkItemOffered, WorkItemReturned, Wrapped, Written, key_file_left,
};
pub use exhausted::exhausted_key;
pub(crate) use exhausted::{CONTINUE, DECIDE, STOP, TAKE};
pub(crate) use facilitator::check_artifact;
pub use linked_session::LinkedSession;
pub use merge::option_id;
pub use receipt::Receipt;
pub use route::round_outcome;
pub use state::{AnsweredQuestion, Invitation, NotHeld, RoundRun, Seat, SeatStatus, Session};
pub use step_run::{ApprovalRun, StepArtifact, StepRun};
pub use timestamp::Timestamp;
pub use tracked_tasks::{UnwrittenTask, not_written};
pub use work_item::{LEASE_MS, WorkItem};
