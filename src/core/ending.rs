//! End of a session: closing status, exit code and deciding round.

use super::questions::{AskedQuestion, decided_by_person, questions};
use super::tally_round::decides_nothing;
use crate::handoff::is_no;
use crate::history::{Event, NotHeld, PauseReason, RoundRun, Session, SessionClosed, Status, Timestamp};
use crate::workflow::{Step, StepKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    Finished = 0,
    Failure = 1,
    Usage = 2,
    Undecided = 3,
    Waiting = 4,
    /// Participants are unreachable, or a limit of cost or time stopped the session.
    Unreachable = 5,
    Damaged = 6,
    /// Ended by SIGHUP. The session can be resumed, as after every signal.
    HungUp = 129,
    Interrupted = 130,
    Terminated = 143,
}

/// Returns the exit code of a closed session, or of a paused one.
pub fn session_exit(session: &Session) -> ExitCode {
    match (&session.closed, &session.paused) {
        (Some(closed), _) => exit_code(session, closed.status),
        (None, Some((_, PauseReason::QuorumUnreachable))) => ExitCode::Unreachable,
        (None, _) => ExitCode::Waiting,
    }
}

pub fn exit_code(session: &Session, status: Status) -> ExitCode {
    match status {
        Status::Finished => match deciding_by(session, true) {
            Some(Deciding::NotHeld(..) | Deciding::NoneHeld) => ExitCode::Undecided,
            Some(Deciding::Round(round)) if round.opened.rule.is_none() => count_exit(session, round),
            _ => questions(session)
                .iter()
                .map(|one| question_exit(session, one))
                .max()
                .unwrap_or(ExitCode::Finished),
        },
        Status::Failed | Status::Rejected => ExitCode::Undecided,
        Status::Stopped => ExitCode::Unreachable,
    }
}

/// Returns the deciding rounds of those questions that keep a finished session from exit code 0.
pub fn failing_rounds(session: &Session) -> Vec<&RoundRun> {
    let failing = |one: &AskedQuestion<'_>| question_exit(session, one) != ExitCode::Finished;
    questions(session).into_iter().filter(failing).map(|one| one.decides).collect()
}

fn question_exit(session: &Session, asked: &AskedQuestion<'_>) -> ExitCode {
    if decided_by_person(session, asked.decides).is_some() || asked.is_answered_elsewhere(session) {
        return ExitCode::Finished;
    }
    count_exit(session, asked.decides)
}

fn count_exit(session: &Session, round: &RoundRun) -> ExitCode {
    let Some(tally) = &round.tally else { return ExitCode::Finished };
    let is_decided = if tally.rule.is_some() { tally.decided } else { tally.quorum_met };
    let is_decided = is_decided && decides_nothing(session, tally).is_none();
    match is_decided {
        true => ExitCode::Finished,
        false if tally.sealed == 0 && tally.failed > 0 => ExitCode::Unreachable,
        false => ExitCode::Undecided,
    }
}

/// Source of a session's decision, or of its missing decision.
#[derive(Debug, Clone, Copy)]
pub enum Deciding<'a> {
    /// Last round with a rule, or the last round if none has one. A person may have decided instead.
    Round(&'a RoundRun),
    /// Round that could not be opened: its step, and the reason.
    NotHeld(&'a str, &'a NotHeld),
    NoneHeld,
}

pub fn deciding(session: &Session) -> Option<Deciding<'_>> {
    deciding_by(session, session.closed.is_some())
}

fn deciding_by(session: &Session, is_over: bool) -> Option<Deciding<'_>> {
    let definition = session.definition();
    let has_rule = |step: &Step| step.round().is_some_and(|round| round.rule.is_some());
    let is_ruled = |round: &&RoundRun| round.opened.rule.is_some();
    let ruled = session.rounds.iter().rfind(is_ruled);
    let counts = |(id, not_held): &(&String, &NotHeld)| {
        let Some(step) = definition.step(id) else { return false };
        let around = definition.around(id).pop();
        let is_routed = step.on_error.is_some() || around.is_some_and(|around| around.on_error.is_some());
        let mut later = session.rounds.iter().skip(not_held.after);
        !is_routed || has_rule(step) && !later.any(|round| is_ruled(&round))
    };
    if let Some((id, not_held)) = session.not_held.iter().rev().find(counts) {
        return Some(Deciding::NotHeld(id, not_held));
    }
    if ruled.is_none() && is_over && definition.all_steps().any(has_rule) {
        return Some(Deciding::NoneHeld);
    }
    ruled.or(session.rounds.last()).map(Deciding::Round)
}

/// Returns why a session's time is up, if it is.
pub fn out_of_time(session: &Session, now: Timestamp) -> Option<String> {
    let limit = session.definition().max_duration_ms.filter(|limit| session.ran_ms(now) >= *limit)?;
    Some(format!("the session's time is up: `max_duration` is {limit} ms"))
}

pub(crate) fn time_is_up(session: &Session, now: Timestamp) -> Option<Event> {
    out_of_time(session, now).map(|reason| close(session, Status::Stopped, Some(reason)))
}

pub(crate) fn close_session(session: &Session, now: Timestamp) -> Event {
    let definition = session.definition();
    if let Some(step) = &session.stopped_at {
        let reason =
            format!("stopped by the facilitator: step `{step}` had run as often as `max_runs` allows");
        return close(session, Status::Failed, Some(reason));
    }
    if session.next_step().is_some() {
        let reason = format!("stopped after {} steps: `max_iterations`", definition.max_iterations);
        return close(session, Status::Failed, Some(reason));
    }
    if let Some(stop) = time_is_up(session, now) {
        return stop;
    }
    let unheard = unheard_no(session);
    let last = session.finished_step.as_ref();
    let (status, reason) = match last.and_then(|id| Some((definition.step(id)?, session.results.get(id)?))) {
        _ if unheard.is_some() => (Status::Rejected, unheard),
        _ if session.is_result_accepted => (Status::Finished, None),
        Some((step, result)) if is_no(step, result) => (Status::Rejected, None),
        Some((step, result)) if step.round().is_none() && !result.success => {
            (Status::Failed, result.error.clone())
        }
        _ => (Status::Finished, None),
    };
    close(session, status, reason)
}

/// Finds a facilitator's no inside a step that failed. A no that the definition handles, by `on_error` or a
/// condition on the outer step, does not count.
fn unheard_no(session: &Session) -> Option<String> {
    let steps = &session.definition().steps;
    let reads = |path: &[String], around: &Step| matches!(path, [root, key, ..] if root == "context" && key == around.key());
    let asks = |step: &Step, around: &Step| match &step.kind {
        StepKind::Condition(branch) => branch.condition.paths().into_iter().any(|path| reads(path, around)),
        _ => false,
    };
    let is_heard = |around: &Step| around.on_error.is_some() || steps.iter().any(|step| asks(step, around));
    let is_no = |inner: &&Step| {
        let last = session.approvals.iter().rev().find(|asked| asked.given.step == inner.id);
        matches!(inner.kind, StepKind::Approval(_)) && last.is_some_and(|asked| !asked.given.approved)
    };
    steps.iter().find_map(|step| {
        session.results.get(&step.id).filter(|result| !result.success)?;
        let no = step.all().into_iter().find(is_no).filter(|_| !is_heard(step))?;
        Some(format!("`{}` was rejected", no.id))
    })
}

pub(crate) fn close(session: &Session, status: Status, reason: Option<String>) -> Event {
    Event::SessionClosed(SessionClosed { status, reason, exit_code: exit_code(session, status) as u8 })
}
