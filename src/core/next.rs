//! Next action of a session. Pure; the engine executes it.

use serde_json::Value;

use super::command::Command;
use crate::handoff::is_no;
use crate::history::{
    ApprovalRequested, ApprovalRun, CONTINUE, CloseReason, CollectedIdea, DECIDE, RoundRun, STOP, Session,
    StepFinished, StepRun, TAKE,
};
use crate::sanitize::pluralize;
use crate::tally::Ties;
use crate::workflow::{Close, Step, StepKind};

#[derive(Debug, Clone)]
pub enum NextAction {
    Nothing,
    /// Decide this command; it needs no outside input.
    Decide(Command),
    /// Open the round of the running step; requires the current `CONTEXT.md`.
    OpenRound,
    /// Ask all open seats and agents not asked yet, then wait for an answer or the deadline.
    AwaitSeats,
    CloseRound(CloseReason),
    AskPerson(Question),
    Rest,
    Done,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub step: String,
    pub kind: QuestionKind,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionKind {
    Approval,
    /// Accept the proposal, edit it, or refuse it.
    Proposal(Value),
    Merge(Vec<CollectedIdea>),
    Tie(Vec<String>),
    /// Choose how to continue after a step's last allowed run.
    Exhausted(Vec<String>),
    /// Retry these seats, whose answers were lost with the key.
    KeyLost(Vec<String>),
}

pub fn next(session: &Session) -> NextAction {
    if session.header.is_none() {
        return NextAction::Nothing;
    }
    if session.closed.is_some() {
        return NextAction::Done;
    }
    if session.paused.is_some() {
        return NextAction::Rest;
    }
    let definition = session.definition();
    if let Some(run) = &session.step {
        let inside = definition.step(&run.id).and_then(|step| next_in(session, step, run));
        return inside.unwrap_or(NextAction::Rest);
    }
    if let Some((round, text)) = session.due_synthesis() {
        return NextAction::Decide(Command::RecordSynthesis { round, text });
    }
    if session.next_step().is_none() || session.iterations >= definition.max_iterations {
        return NextAction::Decide(Command::Close);
    }
    match (session.exhausted_step(), &session.exhausted) {
        (None, _) => NextAction::Decide(Command::StartStep),
        (Some(step), None) => NextAction::Decide(Command::AskPerson { step: step.id.clone() }),
        (Some(_), Some(ApprovalRun { requested, .. })) => NextAction::AskPerson(Question {
            step: requested.step.clone(),
            kind: QuestionKind::Exhausted(requested.choices.clone()),
            message: requested.message.clone(),
        }),
    }
}

/// Returns whether the session or a running step waits for this command.
pub fn is_due(session: &Session, command: &Command) -> bool {
    let definition = session.definition();
    let inside = session.active_steps().filter_map(|run| next_in(session, definition.step(&run.id)?, run));
    let at_top = session.step.is_none().then(|| next(session));
    at_top.into_iter().chain(inside).any(|now| match (now, command) {
        (NextAction::Decide(due), _) => due == *command,
        (NextAction::OpenRound, Command::OpenRound { .. }) => true,
        _ => false,
    })
}

/// Returns the next action in a running step; `None` if it does not run or has its result.
pub fn next_of(session: &Session, step: &str) -> Option<NextAction> {
    next_in(session, session.definition().step(step)?, session.running(step)?)
}

/// Returns the next action in a step; `None` once it has its result.
fn next_in(session: &Session, step: &Step, run: &StepRun) -> Option<NextAction> {
    if run.result.is_some() {
        return None;
    }
    let finish = || NextAction::Decide(Command::FinishStep { step: run.id.clone() });
    Some(match &step.kind {
        StepKind::Round(round) => match session.round_of(run) {
            Some(open) => next_in_round(run, open, round.close),
            // Rounds of one parallel run one after the other.
            None if session.active_steps().any(|other| other.id != run.id && other.round.is_some()) => {
                NextAction::Rest
            }
            None => NextAction::OpenRound,
        },
        StepKind::Approval(_) => next_in_approval(run),
        StepKind::Agent(_) | StepKind::Review(_) => next_in_hand_over(session, run),
        StepKind::Transform(_) | StepKind::Condition(_) => finish(),
        StepKind::Parallel { .. } | StepKind::Sequence { .. } | StepKind::Each(_) => {
            if unstarted(session, step, run).is_some() {
                return Some(NextAction::Decide(Command::StartStep));
            }
            let inside = step.nested().iter().zip(&run.nested);
            let inside = inside.filter_map(|(step, run)| next_in(session, step, run));
            inside.min_by_key(urgency).unwrap_or_else(finish)
        }
    })
}

/// Ranks actions of concurrent steps: first executable ones, then waiting for seats, then for a person.
fn urgency(action: &NextAction) -> u8 {
    match action {
        NextAction::AwaitSeats => 1,
        NextAction::AskPerson(_) => 2,
        NextAction::Rest => 3,
        _ => 0,
    }
}

fn next_in_hand_over(session: &Session, run: &StepRun) -> NextAction {
    let step = run.id.clone();
    if run.items.is_empty() {
        return NextAction::Decide(Command::Offer { step });
    }
    if run.items.iter().filter_map(|id| session.items.get(id)).any(|item| item.outcome().is_none()) {
        return NextAction::AwaitSeats;
    }
    NextAction::Decide(Command::FinishStep { step })
}

fn next_in_approval(run: &StepRun) -> NextAction {
    match &run.approval {
        None => NextAction::Decide(Command::AskPerson { step: run.id.clone() }),
        Some(ApprovalRun { requested, given: None, .. }) => {
            NextAction::AskPerson(Question::from_request(requested))
        }
        Some(_) => NextAction::Decide(Command::FinishStep { step: run.id.clone() }),
    }
}

impl Question {
    /// Creates the question from a running step's request.
    pub fn from_request(requested: &ApprovalRequested) -> Self {
        let kind = match (requested.ideas.as_slice(), requested.choices.as_slice(), &requested.proposal) {
            ([], [], None) => QuestionKind::Approval,
            ([], [], Some(proposal)) => QuestionKind::Proposal(proposal.clone()),
            ([], choices, _) => QuestionKind::Tie(choices.to_vec()),
            (ideas, ..) => QuestionKind::Merge(ideas.to_vec()),
        };
        Self { step: requested.step.clone(), kind, message: requested.message.clone() }
    }
}

fn next_in_round(run: &StepRun, round: &RoundRun, close: Close) -> NextAction {
    if round.closed.is_none() {
        return next_while_open(run, round, close);
    }
    match &round.tally {
        None => NextAction::Decide(Command::Tally),
        // The facilitator chose after the count, so the count is repeated with the choice.
        Some(tally) if tally.verdict.tie && round.tie_choice.is_some() => NextAction::Decide(Command::Tally),
        Some(tally) if tally.verdict.tie && round.opened.ties == Ties::Ask => next_in_approval(run),
        Some(_) => NextAction::Decide(Command::FinishStep { step: run.id.clone() }),
    }
}

fn next_while_open(run: &StepRun, round: &RoundRun, close: Close) -> NextAction {
    let lost = round.lost_seats();
    if !lost.is_empty() {
        let message =
            format!("the key of round `{}` is gone: ask {} again?", round.opened.round, lost.join(", "));
        let (step, kind) = (run.id.clone(), QuestionKind::KeyLost(lost));
        return NextAction::AskPerson(Question { step, kind, message });
    }
    if round.open_seats().next().is_none() {
        return NextAction::CloseRound(CloseReason::All);
    }
    if close == Close::Quorum && round.sealed() >= round.opened.quorum {
        return NextAction::CloseRound(CloseReason::Quorum);
    }
    NextAction::AwaitSeats
}

/// Returns the next step inside `around` that may start now.
pub fn unstarted<'a>(session: &Session, around: &'a Step, run: &StepRun) -> Option<&'a Step> {
    let holds_up = |last: &StepRun| last.result.as_ref().is_none_or(|result| has_failed(session, result));
    let at_work = || run.nested.iter().filter(|inside| inside.result.is_none()).count();
    match &around.kind {
        StepKind::Sequence { .. } if run.nested.last().is_some_and(holds_up) => None,
        StepKind::Each(each) if at_work() >= each.concurrency => None,
        StepKind::Each(_) => around.copies.get(run.nested.len()),
        StepKind::Sequence { .. } | StepKind::Parallel { .. } => around.steps.get(run.nested.len()),
        _ => None,
    }
}

/// Returns whether a result counts as failed: an error or the facilitator's no.
pub fn has_failed(session: &Session, result: &StepFinished) -> bool {
    let step = session.definition().step(&result.step);
    !result.success || step.is_some_and(|step| is_no(step, result))
}

impl Session {
    /// Returns the next step if it has reached `max_runs`. The facilitator chooses: `take` its last result,
    /// `decide: OPTION`, `continue` with as many runs again, or `stop`.
    pub(crate) fn exhausted_step(&self) -> Option<&Step> {
        let step = self.definition().step(self.next_step()?)?;
        (self.step.is_none() && self.is_exhausted(step)).then_some(step)
    }

    pub(crate) fn exhausted_request(&self, step: &Step) -> ApprovalRequested {
        let asked = self.last_round_of(&step.id);
        let ballot = asked.map(|round| &round.opened.ballot).or(step.round().map(|round| &round.ballot));
        let options = ballot.map_or(&[][..], |ballot| &ballot.options);
        let mut choices = vec![TAKE.to_owned()];
        choices.extend(options.iter().map(|option| format!("{DECIDE}{option}")));
        choices.extend([CONTINUE.to_owned(), STOP.to_owned()]);
        let runs = self.runs.get(&step.id).copied().unwrap_or(0);
        ApprovalRequested {
            step: step.id.clone(),
            message: format!(
                "step `{}` has run {}, as often as `max_runs` allows: how should it continue?",
                step.id,
                pluralize(runs as usize, "time")
            ),
            choices,
            input: self.given_input(&step.id),
            context: self.context(),
            ..ApprovalRequested::default()
        }
    }
}
