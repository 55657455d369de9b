//! How a session ended, as a number a script can branch on, and which round it stands or falls with.

use super::questions::{AskedQuestion, questions};
use super::tally_round::decides_nothing;
use crate::history::{AnsweredQuestion, NotHeld, PauseReason, RoundRun, Session, Status};
use crate::workflow::Step;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    Finished = 0,
    Failure = 1,
    /// Usage, configuration, definition or file.
    Usage = 2,
    Undecided = 3,
    Waiting = 4,
    /// Participants unreachable, or a budget or time cap stopped it.
    Unreachable = 5,
    Damaged = 6,
    /// Ended by SIGHUP; resumable, as after every signal.
    HungUp = 129,
    Interrupted = 130,
    Terminated = 143,
}

/// The exit code that a session's file stands for: of its end, else of what it waits for.
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
            Some(Deciding::Round(round)) if round.opened.rule.is_none() => of_count(session, round),
            _ => questions(session)
                .iter()
                .map(|one| of_question(session, one))
                .max()
                .unwrap_or(ExitCode::Finished),
        },
        Status::Failed | Status::Rejected => ExitCode::Undecided,
        Status::Paused => ExitCode::Waiting,
        Status::Stopped => ExitCode::Unreachable,
    }
}

/// The deciding rounds of the questions that keep a finished session from exit code 0.
pub fn failing_rounds(session: &Session) -> Vec<&RoundRun> {
    let failing = |one: &AskedQuestion<'_>| of_question(session, one) != ExitCode::Finished;
    questions(session).into_iter().filter(failing).map(|one| one.decides).collect()
}

fn of_question(session: &Session, asked: &AskedQuestion<'_>) -> ExitCode {
    if asked.by_person(session).is_some() || asked.is_answered_elsewhere(session) {
        return ExitCode::Finished;
    }
    of_count(session, asked.decides)
}

fn of_count(session: &Session, round: &RoundRun) -> ExitCode {
    let Some(tally) = &round.tally else { return ExitCode::Finished };
    let is_decided = if tally.rule.is_some() { tally.decided } else { tally.quorum_met };
    let is_decided = is_decided && decides_nothing(session, tally).is_none();
    match is_decided {
        true => ExitCode::Finished,
        false if tally.sealed == 0 && tally.failed > 0 => ExitCode::Unreachable,
        false => ExitCode::Undecided,
    }
}

/// What a session's decision, or the lack of one, hangs on.
#[derive(Debug, Clone, Copy)]
pub enum Deciding<'a> {
    /// The last round with a rule; the last round if none has one.
    Round(&'a RoundRun),
    /// The facilitator, who chose an option where the round had used up its runs.
    Person(&'a RoundRun, &'a AnsweredQuestion),
    /// A round that could not be opened: the step, and why.
    NotHeld(&'a str, &'a NotHeld),
    /// None of the rounds with a rule was held.
    NoneHeld,
}

/// What a session's decision hangs on, as things stand; `None` where nothing is to be decided.
pub fn deciding(session: &Session) -> Option<Deciding<'_>> {
    deciding_by(session, session.closed.is_some())
}

fn deciding_by(session: &Session, is_over: bool) -> Option<Deciding<'_>> {
    let is_ruled = |round: &&RoundRun| round.opened.rule.is_some();
    let ruled = session.rounds.iter().rev().find(is_ruled);
    let last = ruled.or(session.rounds.last()).map(Deciding::Round);
    let definition = session.definition.as_deref()?;
    let counts = |(id, not_held): &(&String, &NotHeld)| {
        let Some(step) = definition.step(id) else { return false };
        let is_ruled = step.round().is_some_and(|round| round.rule.is_some());
        let mut later = session.rounds.iter().skip(not_held.after);
        let around = definition.around(id).pop().is_some_and(|around| around.on_error.is_some());
        let is_routed = around || step.on_error.is_some();
        !is_routed || is_ruled && !later.any(|round| round.opened.rule.is_some())
    };
    if let Some((id, not_held)) = session.not_held.iter().rev().find(counts) {
        return Some(Deciding::NotHeld(id, not_held));
    }
    let asks_for_one = |step: &Step| step.round().is_some_and(|round| round.rule.is_some());
    if ruled.is_none() && is_over && definition.all_steps().any(asks_for_one) {
        return Some(Deciding::NoneHeld);
    }
    match ruled.and_then(|round| Some((round, session.chosen.get(&round.opened.step)?))) {
        Some((round, decided)) => Some(Deciding::Person(round, decided)),
        None => last,
    }
}
