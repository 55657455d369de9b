//! The session core: commands go in, events come out, state is a fold of events.
//!
//! Three functions and nothing else: [`decide()`] says what a command would write, [`Session::apply`]
//! folds what was written, [`next()`] says what must happen now. Pure: times, keys and texts are
//! arguments. What is live, what is replayed and what a report shows is this one state.

pub mod alike;
mod apply;
mod brief;
mod claim;
mod command;
mod complete;
mod context;
mod cost;
mod count;
mod decide;
mod decide_live;
mod decide_round;
mod decide_step;
mod envelope;
mod event;
mod exhausted;
mod hand_over;
mod handed;
mod item;
mod linked;
mod moment;
mod next;
mod outcome;
mod past;
mod price;
mod pseudonym;
mod recall;
mod receipt;
mod review;
mod run;
mod state;
mod strength;
mod tracked;

pub use claim::LEASE_MS;
pub use command::{Command, Refusal};
pub use complete::Checked;
pub use cost::{Cost, PriceLookup, is_free};
pub use count::profile;
pub use decide::decide;
pub use decide_round::{draft_round, unseal_answer};
pub use event::{
    AgentWork, AnswerRevealed, ApprovalGiven, ApprovalRequested, ArtifactRecorded, BallotSealed, CloseReason,
    DeadlineExtended, Event, ItemStatus, LeakReport, LeaksFound, Link, LinkRecorded, LogEntry, PersonaInfo,
    PreviousArtifact, PseudonymMap, ReviewContext, ReviewRecorded, RoundClosed, RoundOpened, RoundOutcome,
    RoundRevised, SeatFailed, SeatInfo, SeatRetried, SessionClosed, SessionForked, SessionOpened,
    StageContext, Status, StepFinished, SynthesisRecorded, Tally, TaskWritten, TimedEvent, WorkItemClaimed,
    WorkItemOffered, WorkItemReturned,
};
pub use exhausted::exhausted_key;
pub use hand_over::whole_prompt;
pub use item::WorkItem;
pub use linked::{LinkedTasks, linked_tasks};
pub use moment::Timestamp;
pub use next::{NextAction, Question, QuestionKind, next};
pub use outcome::{Deciding, ExitCode, QUORUM_UNREACHABLE, deciding, exit_code};
pub use past::LinkedSession;
pub use price::Price;
pub use receipt::Receipt;
pub use review::artifact_view;
pub use run::{ApprovalRun, StepArtifact, StepRun};
pub use state::{AnsweredQuestion, NotHeld, RoundRun, Seat, SeatStatus, Session};
pub use strength::{is_persons, same_answers};
pub use tracked::{TRACKER, UnwrittenTask, not_written};
