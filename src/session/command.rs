//! The commands: all that may be asked of a session, and the word for "no".

use serde_json::{Map, Value};

use super::event::{CloseReason, RoundRevised, SessionOpened};
use crate::round::seal::{RoundKey, Sealed};

/// What the facilitator, or the engine in the facilitator's place, wants done.
#[derive(Debug, Clone)]
pub enum Command {
    /// Open the session.
    Open(Box<SessionOpened>),
    /// Begin the next step.
    StartStep,
    /// Freeze the snapshot and hand it to every seat of the step that runs.
    OpenRound {
        /// `CONTEXT.md` as it is now; the definition's own summary goes before it.
        project_summary: Option<String>,
    },
    /// Hand the open round's snapshot to the seats that a torn write left without a work item.
    OfferRest,
    /// Take in a sealed answer.
    Seal {
        /// The round.
        round: String,
        /// The seat.
        participant: String,
        /// The answer, sealed.
        seal: Sealed,
    },
    /// Take in that nothing came back.
    Fail {
        /// The round.
        round: String,
        /// The seat.
        participant: String,
        /// Why.
        reason: String,
        /// Whether time ran out.
        timed_out: bool,
        /// Requests made.
        tries: u32,
    },
    /// Let a seat go.
    Excuse {
        /// The round.
        round: String,
        /// The seat.
        participant: String,
        /// Why.
        reason: String,
    },
    /// Close the open round and reveal what is sealed.
    CloseRound {
        /// Why.
        reason: CloseReason,
        /// The round's key.
        key: RoundKey,
    },
    /// Reveal what a torn write left unrevealed of a closed round.
    Reveal,
    /// Count the closed round.
    Tally,
    /// Ask the person what the step that runs asks.
    AskPerson,
    /// Take in the person's answer.
    Answer {
        /// The step.
        step: String,
        /// Yes or no.
        approved: bool,
        /// The option chosen, when a tie is to be resolved.
        choice: Option<String>,
        /// What the person added.
        comment: Option<String>,
        /// `facilitator`, or `scripted`.
        by: String,
    },
    /// Change the round step that is to open next.
    ReviseRound(RoundRevised),
    /// Add an artifact, or put it in the place of the one of its id.
    RecordArtifact {
        /// The artifact, as a definition writes one.
        artifact: Map<String, Value>,
        /// Who records it.
        by: String,
    },
    /// Note on a closed round what came of it.
    RecordSynthesis {
        /// The round.
        round: String,
        /// The note; empty takes an earlier one back.
        text: String,
    },
    /// Let the open round take longer.
    ExtendDeadline {
        /// How long it may stay open in all, in milliseconds from its opening.
        deadline_ms: u64,
    },
    /// Ask the counted round again, as a new round of its step.
    AskRoundAgain,
    /// Begin a session of its own with the history so far.
    Fork {
        /// The new session's id.
        session: String,
        /// The `seq` of the last event before it.
        at_seq: u64,
    },
    /// Note that the open round's key is gone.
    LoseKey,
    /// Ask the seats again whose answers are lost.
    AskAgain,
    /// Give the step that runs its result.
    FinishStep,
    /// Note something a person should know of.
    Warn {
        /// What.
        message: String,
    },
    /// Rest.
    Pause {
        /// Why.
        reason: String,
        /// The step that waits for a person, if one does.
        step: Option<String>,
    },
    /// Go on.
    Resume {
        /// The program that goes on with it.
        program: String,
        /// Bytes of a torn write that were cut off.
        torn_bytes: u64,
    },
    /// Stop for a cap on time or money.
    Stop {
        /// Which cap.
        reason: String,
    },
    /// End a session that has no step left.
    Close,
}

/// Why a command was refused; nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);
