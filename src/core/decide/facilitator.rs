//! What a facilitator may do while a session runs, beside answering what is asked.
//!
//! Nothing here reaches into a round that is open but its deadline: a revision, an artifact or a
//! note shows up in the next snapshot at the earliest.

use serde_json::{Map, Value};

use super::agenda;
use crate::core::command::{AgendaChange, Command, DecideResult, Refusal, refuse};
use crate::diagnostic::Diagnostic;
use crate::history::{
    ApprovalGiven, ArtifactRecorded, DeadlineExtended, Event, IdeasMerged, Merge, PLACEHOLDER, PROJECT,
    PauseReason, RemoteSeat, RoundRevised, RoundRun, SCRIPTED, SeatInfo, SeatRetried, SeatStatus, Session,
    SessionForked, SynthesisRecorded, check_artifact,
};
use crate::workflow::{Definition, recheck};

/// A longer deadline than this is taken for a slip, in milliseconds: thirty days.
const LONGEST_DEADLINE: u64 = 30 * 24 * 3600 * 1000;

pub(crate) const FACILITATOR: &str = "facilitator";

pub fn decide_live(session: &Session, definition: &Definition, command: Command) -> DecideResult {
    match command {
        Command::ReviseRound(revised) => revise_round(session, definition, revised),
        Command::RecordArtifact { artifact, by } => record_artifact(definition, artifact, by),
        Command::ChangeAgenda { change, by } => change_agenda(session, change, by),
        Command::RecordSynthesis { round, text } => record_synthesis(session, &round, text),
        Command::ExtendDeadline { deadline_ms } => extend_deadline(session, deadline_ms),
        Command::AskRoundAgain => ask_round_again(session),
        Command::Retry { round, participant, model } => retry(session, &round, participant, model),
        _ => refuse("the session is open already"),
    }
}

fn revise_round(session: &Session, definition: &Definition, revised: RoundRevised) -> DecideResult {
    if session.open_round().is_some_and(|round| round.opened.step == revised.step) {
        return refuse("the snapshot cannot change while the round is open");
    }
    let after = definition.revised(&revised).map_err(|problem| Refusal::Said(said(&problem)))?;
    match recheck(&after, "").first() {
        Some(problem) => refuse(said(problem)),
        None => Ok(vec![Event::RoundRevised(revised)]),
    }
}

fn record_artifact(definition: &Definition, artifact: Map<String, Value>, by: String) -> DecideResult {
    if let Err(problem) = check_artifact(&artifact) {
        return refuse(said(&problem));
    }
    let id = artifact.get("id").and_then(Value::as_str).unwrap_or_default();
    let has_source = definition.artifacts.iter().any(|known| known.id == id && known.source.is_some());
    if by != FACILITATOR && !(by == PROJECT && has_source) {
        return refuse(
            "an artifact is recorded by the facilitator, read from the project, or made by a step",
        );
    }
    if definition.participants.iter().any(|seat| seat.name == id) {
        return refuse(format!("`{id}` is a participant's name: give the artifact another id"));
    }
    Ok(vec![Event::ArtifactRecorded(ArtifactRecorded { artifact, by, ..ArtifactRecorded::default() })])
}

fn change_agenda(session: &Session, change: AgendaChange, by: String) -> DecideResult {
    if !matches!(by.as_str(), FACILITATOR | SCRIPTED) {
        return refuse("the agenda is changed by the facilitator, a script, a count or a step");
    }
    agenda::change(&session.agenda, change, by, None).map(|event| vec![event]).map_err(Refusal::Said)
}

fn record_synthesis(session: &Session, round: &str, text: String) -> DecideResult {
    let Some(run) = session.round(round) else { return refuse(format!("no round `{round}`")) };
    if run.closed.is_none() {
        return refuse("the round is open: there is nothing to note on it yet");
    }
    if session
        .due_synthesis()
        .is_some_and(|(due, note)| (due.as_str(), note.as_str()) != (round, text.as_str()))
    {
        return refuse("the note that a step wrote comes first");
    }
    let (step, round) = (run.opened.step.clone(), round.to_owned());
    Ok(vec![Event::SynthesisRecorded(SynthesisRecorded { step, round, text })])
}

fn extend_deadline(session: &Session, deadline_ms: u64) -> DecideResult {
    let Some(run) = session.open_round() else { return refuse("no round is open") };
    match run.deadline_ms {
        None => return refuse("the round has no deadline"),
        Some(now) if deadline_ms <= now => return refuse("the deadline can only be moved further away"),
        Some(_) if deadline_ms > LONGEST_DEADLINE => return refuse("that is more than thirty days"),
        Some(_) => {}
    }
    let (step, round) = (run.opened.step.clone(), run.opened.round.clone());
    Ok(vec![Event::DeadlineExtended(DeadlineExtended { step, round, deadline_ms })])
}

/// The seats that failed are asked again where the round's quorum cannot be reached without them, unless
/// the facilitator left it so: then it is the facilitator's choice.
pub(crate) fn failed_again(session: &Session) -> impl Iterator<Item = Event> {
    let was_left = session.paused.as_ref().is_some_and(|(_, reason)| *reason == PauseReason::Left);
    let round = session.below_quorum().filter(|_| !was_left);
    round.into_iter().flat_map(RoundRun::failed_seats).map(|seat| {
        let (step, round) = match &seat.status {
            SeatStatus::Failed(failed) => (failed.step.clone(), failed.round.clone()),
            _ => Default::default(),
        };
        Event::SeatRetried(SeatRetried { step, round, participant: seat.name.clone(), model: None })
    })
}

fn retry(session: &Session, round: &str, participant: String, model: Option<String>) -> DecideResult {
    let Some(run) = session.open_round().filter(|run| run.opened.round == round) else {
        return refuse(format!("round `{round}` is not open"));
    };
    let Some(seat) = run.seat(&participant) else {
        return refuse(format!("`{participant}` has no seat in round `{round}`"));
    };
    match seat.status {
        SeatStatus::Waiting => return refuse(format!("`{participant}` is not asked yet")),
        SeatStatus::Asking | SeatStatus::Failed(_) | SeatStatus::Excused(_) => {}
        _ => return refuse(format!("seat `{participant}` is already sealed")),
    }
    let is_scripted = |seat: &SeatInfo| seat.is_scripted(&run.opened.step);
    if model.is_some() && session.is_remote(&participant)
        || model.as_deref().is_some_and(|model| RemoteSeat::of_model(model).is_some())
    {
        return refuse(format!(
            "`{participant}` is, or would be, a remote seat: no model can take its place"
        ));
    }
    if model.is_some() && session.seat_info(&participant).is_some_and(is_scripted) {
        return refuse(format!("`{participant}` answers by a script here, by no model"));
    }
    let step = run.opened.step.clone();
    Ok(vec![Event::SeatRetried(SeatRetried { step, round: round.to_owned(), participant, model })])
}

fn ask_round_again(session: &Session) -> DecideResult {
    let asked = session.active_steps().find_map(|run| Some((run, session.round_of(run)?)));
    let Some((run, round)) = asked else { return refuse("no round step has asked anything yet") };
    if round.tally.is_none() {
        return refuse("the round is not counted yet");
    }
    Ok(vec![Event::RoundAskedAgain { step: run.id.clone(), round: round.opened.round.clone() }])
}

pub fn fork(session: &Session, id: String, at_seq: u64) -> DecideResult {
    if session.open_round().is_some() {
        return refuse("a round is open here: a session of its own can begin before or after it");
    }
    if id.is_empty() || id == session.id {
        return refuse("the new session needs an id of its own");
    }
    Ok(vec![Event::SessionForked(SessionForked { session: id, from: session.id.clone(), at_seq })])
}

fn said(problem: &Diagnostic) -> String {
    match &problem.hint {
        Some(hint) => format!("{}: {hint}", problem.message),
        None => problem.message.clone(),
    }
}

/// Who may answer what a person is asked.
const BY: [&str; 3] = [FACILITATOR, SCRIPTED, PLACEHOLDER];

pub fn answer(session: &Session, given: ApprovalGiven) -> DecideResult {
    let asked = session.running(&given.step).and_then(|run| run.approval.as_ref());
    let exhausted = session.exhausted.as_ref().filter(|asked| asked.requested.step == given.step);
    let Some(asked) = asked.or(exhausted).filter(|asked| asked.given.is_none()) else {
        if accepts_result(session, &given) {
            return Ok(vec![Event::ApprovalGiven(given)]);
        }
        return refuse(format!("step `{}` asks nothing of a person now", given.step));
    };
    let choices = &asked.requested.choices;
    if !BY.contains(&given.by.as_str()) {
        return refuse(format!("`{}` answers nothing: a person does, or a script", given.by));
    }
    match &given.choice {
        _ if !choices.is_empty() && !given.approved => refuse("a choice is no refusal"),
        Some(_) if choices.is_empty() => refuse(format!("step `{}` asks for yes or no", given.step)),
        Some(choice) if !choices.contains(choice) => {
            refuse(format!("`{choice}` is not one of the tied options: {}", choices.join(", ")))
        }
        None if !choices.is_empty() => refuse(format!("choose one of {}", choices.join(", "))),
        _ => Ok(vec![Event::ApprovalGiven(given)]),
    }
}

/// Whether a person says yes to the decided result of the round of a step that only has to finish.
fn accepts_result(session: &Session, given: &ApprovalGiven) -> bool {
    let round = session.running(&given.step).and_then(|run| session.rounds.get(run.round?));
    let is_decided = round.and_then(|round| round.tally.as_ref()).is_some_and(|tally| tally.decided);
    let is_accepted = || round.is_some_and(|round| session.approval_of(Some(round)).is_some());
    let yes = ApprovalGiven {
        comment: given.comment.clone(),
        name: given.name.clone(),
        ..ApprovalGiven::yes(&given.step, FACILITATOR)
    };
    is_decided && *given == yes && !is_accepted()
}

/// The merge, and the yes that comes with it.
pub fn merge_ideas(session: &Session, merge: Merge, given: ApprovalGiven) -> DecideResult {
    let (step, by) = (given.step.clone(), given.by.clone());
    let Some(round) = session.round_to_merge(&step) else {
        return refuse(format!("step `{step}` merges no ideas"));
    };
    merge.check(&round.ideas()).map_err(Refusal::Said)?;
    let round = round.opened.round.clone();
    let merged = IdeasMerged { step, round, merge, by };
    let given = answer(session, given)?;
    Ok(std::iter::once(Event::IdeasMerged(Box::new(merged))).chain(given).collect())
}

/// Refuses a yes to a step that merges ideas and has no merge, or another's.
pub fn check_merged(session: &Session, given: &ApprovalGiven) -> Result<(), Refusal> {
    let is_due = given.approved && session.round_to_merge(&given.step).is_some();
    let has_merge = || session.running(&given.step).is_some_and(|run| run.merge.is_some());
    let is_theirs = || session.merges.last().is_some_and(|merged| merged.by == given.by);
    if is_due && !(has_merge() && is_theirs()) {
        return refuse(format!("step `{}` asks for the ideas to be merged, a yes is not enough", given.step));
    }
    Ok(())
}
