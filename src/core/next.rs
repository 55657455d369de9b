//! What must happen now. The engine does it; nobody else decides.

use serde_json::Value;

use super::command::Command;
use crate::handoff::is_no;
use crate::history::{
    ApprovalRequested, ApprovalRun, CloseReason, CollectedIdea, RoundRun, Session, StepFinished, StepRun,
};
use crate::tally::Ties;
use crate::workflow::{Close, Definition, Step, StepKind};

#[derive(Debug, Clone)]
pub enum NextAction {
    Nothing,
    /// Decide this command; it needs nothing from outside.
    Decide(Command),
    /// Open the round of the step that runs: needs `CONTEXT.md` as it is now.
    OpenRound,
    /// Ask every seat of the open round and every agent with a work item that is not asked yet; wait
    /// for answers, or the deadline.
    AwaitSeats,
    CloseRound(CloseReason),
    AskPerson(Question),
    Rest,
    Done,
}

/// What a person is asked, with all that the answer needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub step: String,
    pub kind: QuestionKind,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionKind {
    Approval,
    /// This proposal, as it is or changed, or a no.
    Proposal(Value),
    Merge(Vec<CollectedIdea>),
    Tie(Vec<String>),
    /// How a step goes on whose runs are used up: one of these.
    Exhausted(Vec<String>),
    /// Whether to ask these seats again, whose answers were lost with the key.
    KeyLost(Vec<String>),
}

pub fn next(session: &Session) -> NextAction {
    if session.header.is_none() || session.definition.is_none() {
        return NextAction::Nothing;
    }
    if session.closed.is_some() {
        return NextAction::Done;
    }
    if session.paused.is_some() {
        return NextAction::Rest;
    }
    let Some(run) = &session.step else {
        if let Some((round, text)) = session.due_synthesis() {
            return NextAction::Decide(Command::RecordSynthesis { round, text });
        }
        let at_limit = session.definition.as_ref().is_some_and(|d| session.iterations >= d.max_iterations);
        if !at_limit && let Some(step) = session.exhausted_step() {
            let ask = || NextAction::Decide(Command::AskPerson { step: step.id.clone() });
            return session.exhausted_question().map_or_else(ask, NextAction::AskPerson);
        }
        return NextAction::Decide(match session.next_step() {
            Some(_) if !at_limit => Command::StartStep,
            _ => Command::Close,
        });
    };
    let Some(definition) = &session.definition else { return NextAction::Nothing };
    let Some(step) = definition.step(&run.id) else { return NextAction::Rest };
    match step_state(session, definition, step, run) {
        StepState::Do(now) => now,
        StepState::Out => NextAction::AwaitSeats,
        StepState::Asks(question) => NextAction::AskPerson(question),
        StepState::Held | StepState::Over => NextAction::Rest,
    }
}

enum StepState {
    Do(NextAction),
    Out,
    Asks(Question),
    Held,
    Over,
}

fn step_state(session: &Session, definition: &Definition, step: &Step, run: &StepRun) -> StepState {
    if run.result.is_some() {
        return StepState::Over;
    }
    let finish = || decide(Command::FinishStep { step: run.id.clone() });
    match &step.kind {
        StepKind::Round(round) => match session.round_of(run) {
            Some(open) => next_in_round(run, open, round.close),
            // Rounds of one parallel come one after another.
            None if session.active_steps().any(|other| other.id != run.id && other.round.is_some()) => {
                StepState::Held
            }
            None => StepState::Do(NextAction::OpenRound),
        },
        StepKind::Approval(_) => next_in_approval(run),
        StepKind::Agent(_) | StepKind::Review(_) => next_in_hand_over(session, run),
        StepKind::Transform(_) | StepKind::Condition(_) => finish(),
        StepKind::Parallel(_) | StepKind::Sequence(_) | StepKind::Each(_)
            if unstarted(definition, step, run).is_some() =>
        {
            decide(Command::StartStep)
        }
        _ => next_inside(session, definition, step, run).unwrap_or_else(finish),
    }
}

/// What must happen in the steps that run inside one: what is to be done before what is waited for,
/// and a person is waited for last. `None` when all have their results.
fn next_inside(session: &Session, definition: &Definition, step: &Step, run: &StepRun) -> Option<StepState> {
    let rank = |stand: &StepState| match stand {
        StepState::Do(_) => 0,
        StepState::Out => 1,
        StepState::Asks(_) => 2,
        StepState::Held => 3,
        StepState::Over => 4,
    };
    let mut found = StepState::Over;
    for (step, run) in step.nested().iter().zip(&run.nested) {
        let stand = step_state(session, definition, step, run);
        if rank(&stand) == 0 {
            return Some(stand);
        }
        if rank(&stand) < rank(&found) {
            found = stand;
        }
    }
    (!matches!(found, StepState::Over)).then_some(found)
}

fn next_in_hand_over(session: &Session, run: &StepRun) -> StepState {
    let step = run.id.clone();
    if run.items.is_empty() {
        return decide(Command::Offer { step });
    }
    let items = || run.items.iter().filter_map(|id| session.items.get(id));
    if items().any(|item| item.outcome().is_none()) {
        return StepState::Out;
    }
    if let Some(item) = session.unreviewed(run) {
        return decide(Command::RecordReview { item: item.offered.item.clone() });
    }
    decide(if session.unrecorded(run).is_some() {
        Command::RecordResult { step }
    } else {
        Command::FinishStep { step }
    })
}

fn next_in_approval(run: &StepRun) -> StepState {
    match &run.approval {
        None => decide(Command::AskPerson { step: run.id.clone() }),
        Some(ApprovalRun { requested, given: None, .. }) => StepState::Asks(Question {
            step: run.id.clone(),
            kind: approval_kind(requested),
            message: requested.message.clone(),
        }),
        Some(_) => decide(Command::FinishStep { step: run.id.clone() }),
    }
}

pub fn approval_kind(requested: &ApprovalRequested) -> QuestionKind {
    match (requested.ideas.as_slice(), requested.choices.as_slice(), &requested.proposal) {
        ([], [], None) => QuestionKind::Approval,
        ([], [], Some(proposal)) => QuestionKind::Proposal(proposal.clone()),
        ([], choices, _) => QuestionKind::Tie(choices.to_vec()),
        (ideas, ..) => QuestionKind::Merge(ideas.to_vec()),
    }
}

fn decide(command: Command) -> StepState {
    StepState::Do(NextAction::Decide(command))
}

fn next_in_round(run: &StepRun, round: &RoundRun, close: Close) -> StepState {
    if round.closed.is_none() {
        return next_while_open(run, round, close);
    }
    if round.unrevealed().next().is_some() {
        return decide(Command::Reveal);
    }
    match &round.tally {
        None => decide(Command::Tally),
        Some(tally) if tally.verdict.tie && round.opened.ties == Ties::Ask && round.tie_choice.is_none() => {
            if run.approval.is_none() {
                return decide(Command::AskPerson { step: run.id.clone() });
            }
            StepState::Asks(Question {
                step: run.id.clone(),
                kind: QuestionKind::Tie(tally.verdict.winners.clone()),
                message: tie_message(&tally.verdict.winners),
            })
        }
        // The facilitator chose after the count: it is counted again with the choice.
        Some(tally) if tally.verdict.tie && round.tie_choice.is_some() => decide(Command::Tally),
        Some(_) => decide(Command::FinishStep { step: run.id.clone() }),
    }
}

fn next_while_open(run: &StepRun, round: &RoundRun, close: Close) -> StepState {
    let lost = round.lost_seats();
    if !lost.is_empty() {
        let message =
            format!("the key of round `{}` is gone: ask {} again?", round.opened.round, lost.join(", "));
        return StepState::Asks(Question {
            step: run.id.clone(),
            kind: QuestionKind::KeyLost(lost),
            message,
        });
    }
    if round.open_seats().any(|seat| seat.item.is_none()) {
        return decide(Command::OfferRest);
    }
    if round.open_seats().next().is_none() {
        return StepState::Do(NextAction::CloseRound(CloseReason::All));
    }
    if close == Close::Quorum && round.sealed() >= round.opened.quorum {
        return StepState::Do(NextAction::CloseRound(CloseReason::Quorum));
    }
    StepState::Out
}

pub fn tie_message(winners: &[String]) -> String {
    format!("tie between {}: which one?", winners.join(" and "))
}

/// The next step inside `around` that may begin and has not.
pub fn unstarted<'a>(definition: &Definition, around: &'a Step, run: &StepRun) -> Option<&'a Step> {
    let holds_up = |last: &StepRun| last.result.as_ref().is_none_or(|result| has_failed(definition, result));
    let at_work = || run.nested.iter().filter(|inside| inside.result.is_none()).count();
    match &around.kind {
        StepKind::Sequence(_) if run.nested.last().is_some_and(holds_up) => None,
        StepKind::Each(each) if at_work() >= each.concurrency => None,
        StepKind::Each(each) => each.steps.get(run.nested.len()),
        StepKind::Sequence(_) | StepKind::Parallel(_) => around.nested().get(run.nested.len()),
        _ => None,
    }
}

/// Whether a result ends a sequence and counts against a parallel: a failure, and the facilitator's no.
pub fn has_failed(definition: &Definition, result: &StepFinished) -> bool {
    let step = definition.step(&result.step);
    !result.success || step.is_some_and(|step| is_no(step, result))
}
