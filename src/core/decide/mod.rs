//! Decision of the events that a command produces, without changing state.

pub(crate) mod agenda;
pub(crate) mod facilitator;
pub(crate) mod remote;
pub(crate) mod round;
pub(crate) mod step;
pub(crate) mod work_item;

use super::command::{Command, DecideResult, refuse, refuse_if};
use super::ending::{close, close_session};
use super::next::{NextAction, is_due, next};
use crate::history::{Event, PauseReason, Session, SessionOpened, Status, TEXTS, TimedEvent, Timestamp};
use facilitator::{
    answer, ask_round_again, change_agenda, extend_deadline, fork, record_artifact, record_synthesis,
    retried, retry, revise_round,
};
use remote::{fail_remote, invite, join, refuse_envelope, seal_remote};
use round::{ask_again, close_round, excuse, fail_seat, open_round, record_key_loss, seal_answer, tally};
use step::{ask_person, finish_step, offer_items, start_step};
use work_item::{claim, record_return, renew};

pub fn decide(session: &Session, command: Command, now: Timestamp) -> DecideResult {
    match command {
        Command::Open(opened) => open(session, opened),
        _ if session.header.is_none() => refuse("the session is not open"),
        _ if session.closed.is_some() => refuse("the session is closed"),
        Command::Resume { program, torn_bytes } => Ok(resume(session, program, torn_bytes)),
        Command::Fork { session: id, at_seq } => fork(session, id, at_seq),
        _ if session.paused.is_some() => refuse("session is paused; resume it first"),
        Command::StartStep
        | Command::Offer { .. }
        | Command::OpenRound { .. }
        | Command::Tally
        | Command::AskPerson { .. }
        | Command::FinishStep { .. }
        | Command::Close
            if !is_due(session, &command) =>
        {
            refuse("it is not what comes next")
        }
        Command::StartStep => start_step(session, now),
        Command::Offer { step } => offer_items(session, &step, now),
        Command::Claim(who) => claim(session, who, now),
        Command::Renew(who) => renew(session, who, now),
        Command::Return(back) => record_return(session, *back, now),
        Command::OpenRound { project_summary, seal } => {
            open_round(session, project_summary.as_deref(), seal, now)
        }
        Command::Seal { round, participant, seal } => seal_answer(session, &round, participant, seal, now),
        Command::Invite(invited) => invite(session, invited),
        Command::Join(joined) => join(session, joined, now),
        Command::SealRemote(envelope) => seal_remote(session, &envelope, now),
        Command::FailRemote(failed) => fail_remote(session, *failed, now),
        Command::RefuseEnvelope(refused) => refuse_envelope(session, refused),
        Command::Fail(failed) => fail_seat(session, *failed, now),
        Command::Excuse { participant, reason } => excuse(session, participant, reason),
        Command::Retry { participant, model } => retry(session, participant, model),
        Command::CloseRound { reason, key } => close_round(session, reason, &key),
        Command::Tally => tally(session),
        Command::AskPerson { step } => ask_person(session, &step, now),
        Command::Answer(given) => answer(session, given),
        Command::ChangeAgenda(change) => change_agenda(session, change),
        Command::ReviseRound(revised) => revise_round(session, revised),
        Command::RecordArtifact { artifact, by } => record_artifact(session, artifact, by),
        Command::RecordSynthesis { round, text } => record_synthesis(session, &round, text),
        Command::ExtendDeadline { more_ms } => extend_deadline(session, more_ms),
        Command::AskRoundAgain => ask_round_again(session),
        Command::LoseKey => record_key_loss(session),
        Command::AskAgain { seal } => ask_again(session, seal),
        Command::FinishStep { step } => finish_step(session, &step, now),
        Command::Pause { reason, step } => pause(session, reason, step),
        Command::Stop { reason } => Ok(vec![close(session, Status::Stopped, Some(reason))]),
        Command::Close => Ok(vec![close_session(session, now)]),
    }
}

/// Decides and applies the due commands that `is_taken` accepts; returns their events.
pub fn run_ahead(
    session: &mut Session,
    at: Timestamp,
    is_taken: impl Fn(&Command) -> bool,
) -> Vec<TimedEvent> {
    let mut events = Vec::new();
    while let NextAction::Decide(command) = next(session)
        && is_taken(&command)
        && let Ok(decided) = decide(session, command, at)
    {
        for event in decided {
            events.push(TimedEvent { at, event });
            session.apply(&events[events.len() - 1]);
        }
    }
    events
}

fn open(session: &Session, opened: Box<SessionOpened>) -> DecideResult {
    refuse_if!(session.header.is_some(), "the session is open already");
    Session::load_definition(&opened)
        .map_err(|problem| format!("the definition does not load: {problem}"))?;
    let unread: Vec<Event> = opened.unread.iter().map(|message| Event::warning(message)).collect();
    Ok(std::iter::once(Event::SessionOpened(opened)).chain(unread).collect())
}

fn pause(session: &Session, reason: PauseReason, step: Option<String>) -> DecideResult {
    let exhausted = session.exhausted.as_ref().map(|asked| asked.requested.step.as_str());
    let waits = |step: &str| session.running(step).is_some() || exhausted == Some(step);
    if let Some(step) = step.as_deref().filter(|step| !waits(step)) {
        return refuse(format!("step `{step}` does not run"));
    }
    Ok(vec![Event::SessionPaused { reason, step }])
}

/// Resumes the session. If the round cannot reach its quorum without them, failed seats are retried.
fn resume(session: &Session, program: String, torn_bytes: Option<u64>) -> Vec<Event> {
    let torn_bytes = torn_bytes.filter(|bytes| *bytes > 0);
    let mut events = vec![Event::SessionResumed { program, texts: TEXTS.to_owned(), torn_bytes }];
    if let Some(run) = session.below_quorum() {
        events.extend(run.failed_seats().map(|seat| retried(run, seat.name.clone(), None)));
    }
    events
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use rustix::time::{ClockId, clock_gettime};

    use super::*;
    use crate::core::testing::{does, session};
    use crate::history::{CloseReason, SeatFailed};
    use crate::round::seal::RoundKey;

    /// Returns the processor time of this thread in seconds, independent of the machine's other load.
    fn processor_seconds() -> f64 {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
    }

    /// Returns the seconds to run a session of so many steps, each a round that no seat answers.
    fn seconds(steps: usize) -> f64 {
        let round = |n| {
            format!(
                "  - {{id: v{n}, type: round, question: q, ballot: {{kind: choice, options: [a, b]}}, rule: plurality, next: v{}}}\n",
                n + 1
            )
        };
        let rounds: String = (1..steps).map(round).collect();
        let definition =
            format!("max_iterations: 10000\nsteps:\n{rounds}  - {{id: v{steps}, type: agent, agent: ann}}\n");
        let started = processor_seconds();
        let mut session = session(&definition, &[("ann", "test/a")]);
        let mut does = |command: Command| does(&mut session, command);
        let key = RoundKey::new([1; 32]);
        for step in (1..steps).map(|n| format!("v{n}")) {
            let failed =
                SeatFailed { round: step.clone(), participant: "ann".to_owned(), ..SeatFailed::default() };
            does(Command::StartStep);
            does(Command::OpenRound { project_summary: None, seal: Some(key.seal_to()) });
            does(Command::Fail(Box::new(failed)));
            does(Command::CloseRound { reason: CloseReason::All, key: key.clone() });
            does(Command::Tally);
            does(Command::FinishStep { step });
        }
        processor_seconds() - started
    }

    #[test]
    fn the_end_of_a_strategy_is_the_next_one_after_its_step() {
        let round =
            |id: &str, of: &str| format!("  - {{id: {id}, type: round, question: q, output: {of}}}\n");
        let end = |of: &str| {
            let condition = format!("context[\"{of}\"].outcome === \"decided\"");
            format!("  - {{id: {of}-done, type: condition, condition: '{condition}'}}\n")
        };
        let steps = [
            round("talk-vote", "talk"),
            end("talk"),
            round("talk-b-vote", "talk-b"),
            end("talk-b"),
            round("talk-c", "other"),
        ];
        let session = session(&format!("steps:\n{}", steps.concat()), &[("ann", "test/a")]);
        let end_of = |step: &str| session.strategy_end(step).map(|end| end.id.as_str());
        assert_eq!(end_of("talk-vote"), Some("talk-done"));
        assert_eq!(end_of("talk-b-vote"), Some("talk-b-done"));
        assert_eq!(end_of("talk-c"), None, "an ordinary round after them");
    }

    #[test]
    fn four_times_as_many_steps_cost_about_four_times_as_much() {
        // Uses the fastest run of each, because interference can only add time.
        let least = |steps: usize| (0..4).map(|_| seconds(steps)).fold(f64::MAX, f64::min);
        let times = least(400) / least(100);
        assert!(times < 6.0, "{times}");
    }
}
