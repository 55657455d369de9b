//! What must happen now. The engine does it; nobody else decides.

use super::command::Command;
use super::event::CloseReason;
use super::state::{ApprovalRun, RoundRun, Session, StepRun};
use crate::tally::Ties;
use crate::workflow::{Close, StepKind};

/// The next thing to do.
#[derive(Debug, Clone)]
pub enum Next {
    /// Nothing: the session is not open.
    Nothing,
    /// Decide this command; it needs nothing from outside.
    Decide(Command),
    /// Open the round of the step that runs: needs `CONTEXT.md` as it is now.
    OpenRound,
    /// Ask every seat of the open round that is still asking; wait for answers or the deadline.
    AwaitSeats,
    /// Close the open round: needs its key.
    CloseRound(CloseReason),
    /// Ask the person.
    AskPerson(Question),
    /// The session rests.
    Rest,
    /// The session is over.
    Done,
}

/// What a person is asked, with all that the answer needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The step.
    pub step: String,
    /// What kind of answer is wanted.
    pub kind: QuestionKind,
    /// The question.
    pub message: String,
}

/// What kind of answer a question wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionKind {
    /// Yes or no.
    Approval,
    /// One of these level options.
    Tie(Vec<String>),
    /// Whether to ask these seats again, whose answers were lost with the key.
    KeyLost(Vec<String>),
}

/// Says what must happen now.
pub fn next(session: &Session) -> Next {
    if session.header.is_none() || session.definition.is_none() {
        return Next::Nothing;
    }
    if session.closed.is_some() {
        return Next::Done;
    }
    if session.paused.is_some() {
        return Next::Rest;
    }
    let Some(run) = &session.step else {
        let at_limit = session.definition.as_ref().is_some_and(|d| session.iterations >= d.max_iterations);
        return Next::Decide(match session.next_step() {
            Some(_) if !at_limit => Command::StartStep,
            _ => Command::Close,
        });
    };
    let kind = session.definition.as_ref().and_then(|d| d.step(&run.id)).map(|step| &step.kind);
    match kind {
        Some(StepKind::Round(round)) => match run.round.and_then(|index| session.rounds.get(index)) {
            None => Next::OpenRound,
            Some(open) => next_in_round(run, open, round.close),
        },
        Some(StepKind::Approval(_)) => next_in_approval(run),
        Some(StepKind::Later(_)) | None => Next::Decide(Command::FinishStep),
    }
}

fn next_in_approval(run: &StepRun) -> Next {
    match &run.approval {
        None => Next::Decide(Command::AskPerson),
        Some(ApprovalRun { requested, given: None, .. }) => Next::AskPerson(Question {
            step: run.id.clone(),
            kind: QuestionKind::Approval,
            message: requested.message.clone(),
        }),
        Some(_) => Next::Decide(Command::FinishStep),
    }
}

fn next_in_round(run: &StepRun, round: &RoundRun, close: Close) -> Next {
    if round.closed.is_none() {
        return next_while_open(run, round, close);
    }
    if round.sealed_seats().next().is_some() {
        return Next::Decide(Command::Reveal);
    }
    match &round.tally {
        None => Next::Decide(Command::Tally),
        Some(tally) if tally.verdict.tie && round.opened.ties == Ties::Ask && round.tie_choice.is_none() => {
            if run.approval.is_none() {
                return Next::Decide(Command::AskPerson);
            }
            Next::AskPerson(Question {
                step: run.id.clone(),
                kind: QuestionKind::Tie(tally.verdict.winners.clone()),
                message: tie_message(&tally.verdict.winners),
            })
        }
        // The facilitator chose after the count: it is counted again with the choice.
        Some(tally) if tally.verdict.tie && round.tie_choice.is_some() => Next::Decide(Command::Tally),
        Some(_) => Next::Decide(Command::FinishStep),
    }
}

fn next_while_open(run: &StepRun, round: &RoundRun, close: Close) -> Next {
    let lost = round.lost_seats();
    if !lost.is_empty() {
        let message =
            format!("the key of round `{}` is gone: ask {} again?", round.opened.round, lost.join(", "));
        return Next::AskPerson(Question {
            step: run.id.clone(),
            kind: QuestionKind::KeyLost(lost),
            message,
        });
    }
    if round.open_seats().any(|seat| seat.item.is_none()) {
        return Next::Decide(Command::OfferRest);
    }
    if round.open_seats().next().is_none() {
        return Next::CloseRound(CloseReason::All);
    }
    if close == Close::Quorum && round.sealed() >= round.opened.quorum {
        return Next::CloseRound(CloseReason::Quorum);
    }
    Next::AwaitSeats
}

/// The question a tie asks.
pub fn tie_message(winners: &[String]) -> String {
    format!("tie between {}: which one?", winners.join(" and "))
}
