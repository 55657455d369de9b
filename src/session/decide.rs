//! What a command would write. It changes nothing: the events are folded once they are on disk.

use std::sync::Arc;

use serde_json::{Value, json};

use super::command::{Command, Refusal};
use super::context::{kind_of, round_data};
use super::decide_live::{decide_live, fork};
use super::decide_round::{
    ask_again, close_round, lose_key, offer_rest, open_round, open_seat, reveal, seal_answer, tally,
};
use super::event::{
    ApprovalGiven, ApprovalRequested, Event, SeatFailed, SessionClosed, Status, StepFinished, Tally,
};
use super::moment::Moment;
use super::next::tie_message;
use super::outcome::exit_of;
use super::state::{RoundRun, Session, StepRun};
use crate::tally::Ties;
use crate::workflow::{Definition, Step, StepKind};

pub(super) type Decision = Result<Vec<Event>, Refusal>;

/// The events a command yields now.
///
/// # Errors
/// A [`Refusal`] that says why the command is not possible in this state.
pub fn decide(session: &Session, command: Command, now: Moment) -> Decision {
    if let Command::Open(opened) = command {
        return match (&session.header, Session::definition_of(&opened)) {
            (Some(_), _) => refuse("the session is open already"),
            (None, Err(problem)) => refuse(format!("the definition does not load: {problem}")),
            (None, Ok(_)) => Ok(vec![Event::SessionOpened(opened)]),
        };
    }
    let Some(definition) = session.definition.clone() else { return refuse("the session is not open") };
    if session.closed.is_some() {
        return refuse("the session is closed");
    }
    match command {
        Command::Resume { program, torn_bytes } => {
            return Ok(vec![Event::SessionResumed { program, torn_bytes }]);
        }
        Command::Warn { message } => {
            return Ok(vec![Event::Warning { message, step: None, round: None, participant: None }]);
        }
        Command::Fork { session: id, at_seq } => return fork(session, id, at_seq),
        _ if session.paused.is_some() => return refuse("the session rests; resume it first"),
        _ => {}
    }
    match command {
        Command::StartStep => start_step(session, &definition, now),
        Command::OpenRound { project_summary } => {
            open_round(session, &definition, project_summary.as_deref())
        }
        Command::OfferRest => offer_rest(session, &definition),
        Command::Seal { round, participant, seal } => seal_answer(session, &round, participant, seal, now),
        Command::Fail { round, participant, reason, timed_out, tries } => {
            let run = open_seat(session, &round, &participant)?;
            let elapsed_ms = now.since(run.opened_at);
            let step = run.opened.step.clone();
            let failed = SeatFailed { step, round, participant, reason, timed_out, tries, elapsed_ms };
            Ok(vec![Event::SeatFailed(failed)])
        }
        Command::Excuse { round, participant, reason } => {
            let step = open_seat(session, &round, &participant)?.opened.step.clone();
            Ok(vec![Event::SeatExcused { step, round, participant, reason }])
        }
        Command::CloseRound { reason, key } => close_round(session, reason, &key),
        Command::Reveal => reveal(session),
        Command::Tally => tally(session),
        Command::AskPerson => ask_person(session, &definition),
        Command::Answer { step, approved, choice, comment, by } => {
            answer(session, ApprovalGiven { step, approved, choice, comment, by })
        }
        Command::LoseKey => lose_key(session),
        Command::AskAgain => ask_again(session),
        Command::FinishStep => finish_step(session, &definition, now),
        Command::Pause { reason, step } => Ok(vec![Event::SessionPaused { reason, step }]),
        Command::Stop { reason } => Ok(vec![close(session, Status::Stopped, Some(reason))]),
        Command::Close => close_session(session, &definition, now),
        live => decide_live(session, &definition, live),
    }
}

pub(super) fn refuse<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(why.into()))
}

fn start_step(session: &Session, definition: &Definition, now: Moment) -> Decision {
    if let Some(run) = &session.step {
        return refuse(format!("step `{}` still runs", run.id));
    }
    let Some(step) = session.next_step().and_then(|id| definition.step(id)) else {
        return refuse("no step is left");
    };
    if session.iterations >= definition.max_iterations {
        return refuse(format!("the limit of {} steps is reached", definition.max_iterations));
    }
    if let Some(stop) = time_is_up(session, definition, now) {
        return Ok(vec![stop]);
    }
    let iteration = session.iterations + 1;
    Ok(vec![Event::StepStarted { step: step.id.clone(), kind: kind_of(step).to_owned(), iteration }])
}

pub(super) fn running<'a>(
    session: &'a Session,
    definition: &'a Definition,
) -> Result<(&'a StepRun, &'a Step), Refusal> {
    let Some(run) = &session.step else { return refuse("no step runs") };
    match definition.step(&run.id) {
        Some(step) => Ok((run, step)),
        None => refuse(format!("no step `{}`", run.id)),
    }
}

fn ask_person(session: &Session, definition: &Definition) -> Decision {
    let (run, step) = running(session, definition)?;
    if run.approval.is_some() {
        return refuse("the question is asked already");
    }
    let tied = run.round.and_then(|index| session.rounds.get(index)).and_then(|round| round.tally.as_ref());
    let (message, choices) = match (&step.kind, tied) {
        (StepKind::Approval(approval), _) => (approval.message.clone(), Vec::new()),
        (StepKind::Round(round), Some(tally)) if tally.verdict.tie && round.ties == Ties::Ask => {
            (tie_message(&tally.verdict.winners), tally.verdict.winners.clone())
        }
        _ => return refuse(format!("step `{}` asks nothing of a person", step.id)),
    };
    Ok(vec![Event::ApprovalRequested(ApprovalRequested {
        step: step.id.clone(),
        message,
        choices,
        input: session.header.as_ref().map_or(Value::Null, |header| header.input.clone()),
        context: session.context(),
    })])
}

fn answer(session: &Session, given: ApprovalGiven) -> Decision {
    let asked =
        session.step.as_ref().filter(|run| run.id == given.step).and_then(|run| run.approval.as_ref());
    let Some(asked) = asked.filter(|asked| asked.given.is_none()) else {
        return refuse(format!("step `{}` asks nothing of a person now", given.step));
    };
    let choices = &asked.requested.choices;
    match &given.choice {
        Some(_) if choices.is_empty() => refuse(format!("step `{}` asks for yes or no", given.step)),
        Some(choice) if !choices.contains(choice) => {
            refuse(format!("`{choice}` is not among the level options: {}", choices.join(", ")))
        }
        None if !choices.is_empty() => refuse(format!("choose one of {}", choices.join(", "))),
        _ => Ok(vec![Event::ApprovalGiven(given)]),
    }
}

fn finish_step(session: &Session, definition: &Definition, now: Moment) -> Decision {
    let (run, step) = running(session, definition)?;
    let (success, data, error) = match &step.kind {
        StepKind::Round(_) => match run.round.and_then(|index| session.rounds.get(index)) {
            Some(round @ RoundRun { tally: Some(tally), .. }) => {
                if tally.verdict.tie && round.opened.ties == Ties::Ask {
                    return refuse(format!("the tie of round `{}` waits for a person", step.id));
                }
                let (success, error) = round_success(tally);
                (success, round_data(round), error)
            }
            _ => return refuse(format!("round `{}` is not counted", step.id)),
        },
        StepKind::Approval(_) => match run.approval.as_ref().and_then(|approval| approval.given.as_ref()) {
            Some(given) => (true, approval_data(given), None),
            None => return refuse(format!("step `{}` waits for a person", step.id)),
        },
        StepKind::Later(name) => {
            let error = format!("steps of type `{name}` are not run by this version");
            (false, Value::Null, Some(error))
        }
    };
    Ok(vec![Event::StepFinished(Arc::new(StepFinished {
        step: step.id.clone(),
        step_id: step.id.clone(),
        success,
        data,
        error,
        start_time: run.started,
        end_time: now,
        duration: now.since(run.started),
    }))])
}

fn round_success(tally: &Tally) -> (bool, Option<String>) {
    if !tally.quorum_met {
        let took_part = tally.answered + tally.abstained;
        return (false, Some(format!("no quorum: {took_part} of {} took part", tally.asked)));
    }
    match tally.rule {
        Some(_) if !tally.decided => {
            (false, Some(tally.verdict.reason.clone().unwrap_or_else(|| "no decision".to_owned())))
        }
        _ => (true, None),
    }
}

fn approval_data(given: &ApprovalGiven) -> Value {
    let mut data = json!({ "approved": given.approved });
    if let Some(comment) = &given.comment {
        data["comment"] = comment.as_str().into();
    }
    data
}

/// The end of a session whose time is up, if it is.
fn time_is_up(session: &Session, definition: &Definition, now: Moment) -> Option<Event> {
    let limit = definition.max_duration_ms.filter(|limit| session.ran_ms(now) >= *limit)?;
    let reason = format!("the session's time is up: `max_duration_ms` is {limit}");
    Some(close(session, Status::Stopped, Some(reason)))
}

fn close_session(session: &Session, definition: &Definition, now: Moment) -> Decision {
    if let Some(run) = &session.step {
        return refuse(format!("step `{}` still runs", run.id));
    }
    if session.next_step().is_some() {
        if session.iterations < definition.max_iterations {
            return refuse("a step is left to run");
        }
        let reason = format!("stopped after {} steps: `max_iterations`", definition.max_iterations);
        return Ok(vec![close(session, Status::Failed, Some(reason))]);
    }
    if let Some(stop) = time_is_up(session, definition, now) {
        return Ok(vec![stop]);
    }
    let last =
        session.finished_step.as_ref().and_then(|id| Some((definition.step(id)?, session.results.get(id)?)));
    let (status, reason) = match last {
        Some((Step { kind: StepKind::Approval(_), .. }, result))
            if result.data["approved"] != json!(true) =>
        {
            (Status::Rejected, None)
        }
        Some((Step { kind: StepKind::Round(_), .. }, _)) => (Status::Finished, None),
        Some((_, result)) if !result.success => (Status::Failed, result.error.clone()),
        _ => (Status::Finished, None),
    };
    Ok(vec![close(session, status, reason)])
}

fn close(session: &Session, status: Status, reason: Option<String>) -> Event {
    Event::SessionClosed(SessionClosed { status, reason, exit_code: exit_of(session, status) as u8 })
}
