//! How a session ended, as a number a script can branch on.

use super::event::{Status, Tally};
use super::state::Session;

/// Why a session rests whose open round failed seats keep below its quorum.
pub const QUORUM_UNREACHABLE: &str = "quorum_unreachable";

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Finished.
    Finished = 0,
    /// Unexpected failure.
    Failure = 1,
    /// Usage, configuration, definition or file.
    Usage = 2,
    /// Finished without a decision.
    Undecided = 3,
    /// Stopped, waiting for a person.
    Waiting = 4,
    /// Participants unreachable, or a budget or time cap stopped it.
    Unreachable = 5,
    /// Verification failed.
    Damaged = 6,
    /// Ended by SIGHUP; resumable, as after every signal.
    HungUp = 129,
    /// Ended by SIGINT.
    Interrupted = 130,
    /// Ended by SIGTERM.
    Terminated = 143,
}

/// The exit code of a session that ends with `status`.
pub fn exit_of(session: &Session, status: Status) -> Exit {
    match status {
        Status::Finished => match undecided(session) {
            None => Exit::Finished,
            Some(tally) if is_unreachable(tally) => Exit::Unreachable,
            Some(_) => Exit::Undecided,
        },
        Status::Failed | Status::Rejected => Exit::Undecided,
        Status::Paused => Exit::Waiting,
        Status::Stopped => Exit::Unreachable,
    }
}

/// The count that leaves the session without a decision: of the last round that has a rule, else
/// of the last round if it had no quorum.
fn undecided(session: &Session) -> Option<&Tally> {
    let tallies = || session.rounds.iter().rev().filter_map(|round| round.tally.as_ref());
    match tallies().find(|tally| tally.rule.is_some()) {
        Some(tally) => (!tally.decided).then_some(tally),
        None => tallies().next().filter(|tally| !tally.quorum_met),
    }
}

fn is_unreachable(tally: &Tally) -> bool {
    tally.sealed == 0 && tally.failed > 0
}
