//! What a command would write. It changes nothing: the events are folded once they are on disk.

use serde_json::{Value, json};

use super::command::{Command, Refusal};
use super::context::{kind_of, round_data};
use super::count::count;
use super::event::{
    AnswerRevealed, ApprovalGiven, ApprovalRequested, BallotSealed, CloseReason, Event, RoundClosed,
    RoundOpened, SeatFailed, SessionClosed, Status, StepFinished, Tally, WorkItemOffered,
};
use super::moment::Moment;
use super::next::tie_message;
use super::outcome::exit_of;
use super::state::{RoundRun, SeatStatus, Session, StepRun};
use crate::round::prompt::{self, Prompt};
use crate::round::record::Record;
use crate::round::seal::{Binding, RoundKey, Sealed, open};
use crate::round::snapshot::{address, sha256_hex};
use crate::text::estimated_tokens;
use crate::workflow::{Definition, Step, StepKind};

type Decision = Result<Vec<Event>, Refusal>;

/// The events a command yields now.
///
/// # Errors
/// A [`Refusal`] that says why the command is not possible in this state.
pub fn decide(session: &Session, command: Command, now: Moment) -> Decision {
    if let Command::Open(opened) = command {
        return match &session.header {
            Some(_) => refuse("the session is open already"),
            None => Ok(vec![Event::SessionOpened(opened)]),
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
        _ if session.paused.is_some() => return refuse("the session rests; resume it first"),
        _ => {}
    }
    match command {
        Command::StartStep => start_step(session, &definition, now),
        Command::OpenRound { project_summary } => {
            open_round(session, &definition, project_summary.as_deref())
        }
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
        Command::Close => close_session(session, &definition),
        Command::Open(_) | Command::Resume { .. } | Command::Warn { .. } => {
            refuse("the session is open already")
        }
    }
}

fn refuse<T>(why: impl Into<String>) -> Result<T, Refusal> {
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
    let spent = now.since(session.opened_at).saturating_sub(session.waited_ms);
    if let Some(limit) = definition.max_duration_ms.filter(|limit| spent >= *limit) {
        let reason = format!("the session's time is up: `max_duration_ms` is {limit}");
        return Ok(vec![close(session, Status::Stopped, Some(reason))]);
    }
    let iteration = session.iterations + 1;
    Ok(vec![Event::StepStarted { step: step.id.clone(), kind: kind_of(step).to_owned(), iteration }])
}

fn running<'a>(session: &'a Session, definition: &'a Definition) -> Result<(&'a StepRun, &'a Step), Refusal> {
    let Some(run) = &session.step else { return refuse("no step runs") };
    match definition.step(&run.id) {
        Some(step) => Ok((run, step)),
        None => refuse(format!("no step `{}`", run.id)),
    }
}

fn open_round(session: &Session, definition: &Definition, summary: Option<&str>) -> Decision {
    let (run, step) = running(session, definition)?;
    let StepKind::Round(round) = &step.kind else { return refuse(format!("step `{}` is no round", step.id)) };
    if run.round.is_some() {
        return refuse("the round is open already");
    }
    let seats: Vec<String> =
        session.roster.keys().filter(|name| round.participants.holds(name)).cloned().collect();
    let snapshot = session.freeze(step, round, summary);
    let rules = prompt::rules(round.ballot.kind);
    let before = session.rounds.iter().filter(|other| other.opened.step == step.id).count();
    let id = if before == 0 { step.id.clone() } else { format!("{}.{}", step.id, before + 1) };
    let opened = RoundOpened {
        step: step.id.clone(),
        round: id,
        number: session.rounds.len() as u32 + 1,
        question: round.question.clone(),
        ballot: round.ballot.clone(),
        rule: round.rule,
        ties: round.ties,
        quorum: round.quorum.of(seats.len()),
        close: round.close,
        deadline_ms: round.deadline_ms,
        snapshot_bytes: snapshot.text.len(),
        estimated_tokens: estimated_tokens(rules.len() + snapshot.text.len()),
        snapshot_sha256: snapshot.sha256.clone(),
        snapshot: snapshot.text.to_string(),
        rules,
        seats,
    };
    let directive = round.facilitator_directive.as_deref().or(definition.facilitator_directive.as_deref());
    let rules = opened.rules.as_str().into();
    let mut shared = Prompt { rules, snapshot: snapshot.text, tail: String::new() };
    let mut events = Vec::with_capacity(1 + opened.seats.len());
    for (index, name) in opened.seats.iter().enumerate() {
        events.push(offer(session, &opened, index, name, directive, &mut shared)?);
    }
    events.insert(0, Event::RoundOpened(Box::new(opened)));
    Ok(events)
}

fn offer(
    session: &Session,
    opened: &RoundOpened,
    index: usize,
    name: &str,
    directive: Option<&str>,
    prompt: &mut Prompt,
) -> Result<Event, Refusal> {
    let Some(seat) = session.seat_info(name) else { return refuse(format!("`{name}` is not in the roster")) };
    let address = address(name, directive);
    let persona = session.persona(&seat.persona).map_or("", |persona| persona.text.as_str());
    prompt.tail = prompt::tail(&address, persona);
    Ok(Event::WorkItemOffered(WorkItemOffered {
        step: opened.step.clone(),
        round: opened.round.clone(),
        participant: name.to_owned(),
        item: format!("{}/{}", opened.round, index + 1),
        model: seat.label(&opened.step).to_owned(),
        available_skills: Vec::new(),
        address,
        persona: seat.persona.clone(),
        prompt_sha256: sha256_hex(prompt.text()),
        context_sha256: opened.snapshot_sha256.clone(),
    }))
}

fn the_open_round(session: &Session) -> Result<&RoundRun, Refusal> {
    session.open_round().map_or_else(|| refuse("no round is open"), Ok)
}

/// The open round, if the seat can still be settled in it.
fn open_seat<'a>(session: &'a Session, round: &str, name: &str) -> Result<&'a RoundRun, Refusal> {
    let run = match session.open_round() {
        Some(run) if run.opened.round == round => run,
        _ => return refuse(format!("round `{round}` is not open")),
    };
    match run.seat(name) {
        None => refuse(format!("`{name}` has no seat in round `{round}`")),
        Some(seat) if !seat.status.is_open() => refuse(format!("`{name}` is settled already")),
        Some(_) => Ok(run),
    }
}

fn seal_answer(session: &Session, round: &str, participant: String, seal: Sealed, now: Moment) -> Decision {
    // An answer after the close is refused, and the refusal is history too.
    if session.round(round).is_some_and(|run| run.closed.is_some()) {
        return Ok(vec![late(session, round, participant)]);
    }
    let run = open_seat(session, round, &participant)?;
    Ok(vec![Event::BallotSealed(BallotSealed {
        step: run.opened.step.clone(),
        round: round.to_owned(),
        elapsed_ms: now.since(run.opened_at),
        participant,
        seal,
    })])
}

fn late(session: &Session, round: &str, participant: String) -> Event {
    Event::Warning {
        message: "an answer came after the round was closed and is not counted".to_owned(),
        step: session.round(round).map(|run| run.opened.step.clone()),
        round: Some(round.to_owned()),
        participant: Some(participant),
    }
}

fn close_round(session: &Session, reason: CloseReason, key: &RoundKey) -> Decision {
    let run = the_open_round(session)?;
    let closed = RoundClosed {
        step: run.opened.step.clone(),
        round: run.opened.round.clone(),
        reason,
        missing: run.open_seats().map(|seat| seat.name.clone()).collect(),
        key: key.publish(),
    };
    let mut events = vec![Event::RoundClosed(closed)];
    events.extend(revealed(session, run, key));
    Ok(events)
}

fn reveal(session: &Session) -> Decision {
    let Some(run) = session.rounds.last() else { return refuse("there is no round") };
    let Some(key) = run.closed.as_ref().and_then(|closed| RoundKey::from_hex(&closed.key)) else {
        return refuse("the round is not closed");
    };
    let events = revealed(session, run, &key);
    if events.is_empty() { refuse("everything is revealed") } else { Ok(events) }
}

/// One event a sealed seat, in roster order; a seal that does not open becomes a failed seat.
fn revealed(session: &Session, run: &RoundRun, key: &RoundKey) -> Vec<Event> {
    let mut events = Vec::new();
    for seat in run.seats.values() {
        let SeatStatus::Sealed(seal) = &seat.status else { continue };
        let binding = Binding {
            session: &session.id,
            round: &run.opened.round,
            participant: &seat.name,
            snapshot_sha256: &run.opened.snapshot_sha256,
        };
        let step = run.opened.step.clone();
        let opened = open(key, binding, seal).map_err(|error| error.to_string()).and_then(|opened| {
            let record: Record = serde_json::from_str(&opened.record).map_err(|error| error.to_string())?;
            Ok(AnswerRevealed::of(&step, record, opened.nonce))
        });
        events.push(match opened {
            Ok(answer) => Event::AnswerRevealed(Box::new(answer)),
            Err(reason) => Event::SeatFailed(SeatFailed {
                round: run.opened.round.clone(),
                participant: seat.name.clone(),
                timed_out: false,
                tries: 0,
                elapsed_ms: seat.elapsed_ms.unwrap_or(0),
                step,
                reason,
            }),
        });
    }
    events
}

fn tally(session: &Session) -> Decision {
    let Some(run) = session.rounds.last() else { return refuse("there is no round") };
    if run.closed.is_none() {
        return refuse("the round is open: nothing can be counted yet");
    }
    if run.tally.as_ref().is_some_and(|tally| !tally.verdict.tie || run.tie_choice.is_none()) {
        return refuse("the round is counted already");
    }
    Ok(vec![Event::TallyMade(Box::new(count(run)))])
}

fn ask_person(session: &Session, definition: &Definition) -> Decision {
    let (run, step) = running(session, definition)?;
    if run.approval.is_some() {
        return refuse("the question is asked already");
    }
    let tied = run.round.and_then(|index| session.rounds.get(index)).and_then(|round| round.tally.as_ref());
    let (message, choices) = match (&step.kind, tied) {
        (StepKind::Approval(approval), _) => (approval.message.clone(), Vec::new()),
        (StepKind::Round(_), Some(tally)) if tally.verdict.tie => {
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
        Some(choice) if !choices.contains(choice) => {
            refuse(format!("`{choice}` is not among the level options: {}", choices.join(", ")))
        }
        None if !choices.is_empty() => refuse(format!("choose one of {}", choices.join(", "))),
        _ => Ok(vec![Event::ApprovalGiven(given)]),
    }
}

fn lose_key(session: &Session) -> Decision {
    let run = the_open_round(session)?;
    let sealed = |seat: &&super::state::Seat| matches!(seat.status, SeatStatus::Sealed(_));
    let participants: Vec<String> = run.seats.values().filter(sealed).map(|seat| seat.name.clone()).collect();
    if participants.is_empty() {
        return refuse("nothing is sealed under the lost key");
    }
    Ok(vec![Event::KeyLost { step: run.opened.step.clone(), round: run.opened.round.clone(), participants }])
}

fn ask_again(session: &Session) -> Decision {
    let run = the_open_round(session)?;
    let participants = run.lost_seats();
    if participants.is_empty() {
        return refuse("no answer of the open round is lost");
    }
    let (step, round) = (run.opened.step.clone(), run.opened.round.clone());
    Ok(vec![Event::SeatsAskedAgain { step, round, participants }])
}

fn finish_step(session: &Session, definition: &Definition, now: Moment) -> Decision {
    let (run, step) = running(session, definition)?;
    let (success, data, error) = match &step.kind {
        StepKind::Round(_) => match run.round.and_then(|index| session.rounds.get(index)) {
            Some(RoundRun { tally: Some(tally), .. }) if !tally.verdict.tie || !is_asking(session) => {
                let round = &session.rounds[run.round.unwrap_or_default()];
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
    Ok(vec![Event::StepFinished(StepFinished {
        step: step.id.clone(),
        step_id: step.id.clone(),
        success,
        data,
        error,
        start_time: run.started,
        end_time: now,
        duration: now.since(run.started),
    })])
}

fn is_asking(session: &Session) -> bool {
    let approval = session.step.as_ref().and_then(|run| run.approval.as_ref());
    approval.is_some_and(|approval| approval.given.is_none())
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

fn close_session(session: &Session, definition: &Definition) -> Decision {
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
