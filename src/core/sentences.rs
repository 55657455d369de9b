//! Sentences of recorded events: why a tally is as it is, why a step failed, what a person is asked.
//!
//! They follow from the data beside them. `verify` compares the data, and who reads a file is shown the
//! sentences as this version words them, so that no file depends on a wording. What later steps and
//! agents were given stays as it was recorded.

use std::sync::Arc;

use super::decide::close::close_session;
use super::decide::round::unseal_answer;
use super::decide::step;
use super::tally_round::tally_round;
use crate::handoff::in_older_words;
use crate::history::{AnswerRevealed, Event, ItemStatus, SeatStatus, Session, Status, TimedEvent, WorkItem};
use crate::round::seal::RoundKey;
use crate::workflow::StepKind;

/// Whether an event says the same as the one that the core decides, whatever its sentences.
pub fn is_same_data(session: &Session, decided: &Event, recorded: &Event) -> bool {
    decided == recorded
        || without_sentences(session, in_older_words(session, decided, recorded))
            == without_sentences(session, recorded.clone())
}

/// Words the sentences of an event as this version does, unless its data does not follow from the state.
pub fn put_in_present_words(session: &Session, stamped: &mut TimedEvent) {
    let Some(decided) = decided_again(session, stamped) else { return };
    // The rest of a result and of a question was handed on as it is recorded.
    if let (Event::StepFinished(decided), Event::StepFinished(recorded)) = (&decided, &mut stamped.event) {
        if decided.success == recorded.success {
            Arc::make_mut(recorded).error.clone_from(&decided.error);
        }
    } else if let (Event::ApprovalRequested(decided), Event::ApprovalRequested(recorded)) =
        (&decided, &mut stamped.event)
    {
        if decided.choices == recorded.choices {
            recorded.message.clone_from(&decided.message);
        }
    } else if is_same_data(session, &decided, &stamped.event) {
        stamped.event = decided;
    }
}

/// What the core decides in place of an event with sentences.
fn decided_again(session: &Session, stamped: &TimedEvent) -> Option<Event> {
    let definition = session.definition.as_deref()?;
    let last = |events: Vec<Event>| events.into_iter().next_back();
    if let Event::TallyMade(tally) = &stamped.event {
        let round = session.round(&tally.round)?;
        return Some(Event::TallyMade(Box::new(tally_round(session, round))));
    }
    if let Event::StepFinished(result) = &stamped.event {
        result.error.as_ref().filter(|_| is_own_error(session, &result.step))?;
        return step::finish_step(session, definition, &result.step, stamped.at).ok().and_then(last);
    }
    if let Event::ApprovalRequested(asked) = &stamped.event {
        return step::ask_person(session, definition, &asked.step).ok().and_then(last);
    }
    if let Event::SessionClosed(closed) = &stamped.event {
        closed.reason.as_ref().filter(|_| closed.status != Status::Stopped)?;
        return close_session(session, definition, stamped.at).ok().and_then(last);
    }
    if let Event::AnswerRevealed(answer) = &stamped.event {
        let is_rejected =
            answer.reason.is_some() || answer.replies.iter().any(|reply| reply.reason.is_some());
        return is_rejected.then(|| parsed_again(session, answer)).flatten();
    }
    None
}

fn parsed_again(session: &Session, answer: &AnswerRevealed) -> Option<Event> {
    let run = session.round(&answer.round)?;
    let key = run.closed.as_ref().and_then(|closed| RoundKey::from_hex(&closed.key))?;
    let SeatStatus::Sealed(seal) = &run.seat(&answer.participant)?.status else { return None };
    let parsed = unseal_answer(session, run, &key, &answer.participant, seal).ok()?;
    Some(Event::AnswerRevealed(Arc::new(parsed)))
}

/// The event with its sentences emptied.
fn without_sentences(session: &Session, mut event: Event) -> Event {
    let empty = |sentence: &mut Option<String>| {
        if let Some(sentence) = sentence {
            sentence.clear();
        }
    };
    if let Event::TallyMade(tally) = &mut event {
        tally.verdict.steps.clear();
        empty(&mut tally.verdict.reason);
        empty(&mut tally.verdict.order_by);
        empty(&mut tally.tier_because);
    } else if let Event::StepFinished(result) = &mut event {
        if result.error.is_some() && is_own_error(session, &result.step) {
            empty(&mut Arc::make_mut(result).error);
        }
    } else if let Event::ApprovalRequested(asked) = &mut event {
        // An approval asks what the definition says.
        let definition = session.definition.as_ref();
        let step = definition.and_then(|definition| definition.step(&asked.step));
        if !asked.choices.is_empty() || !step.is_some_and(|step| matches!(step.kind, StepKind::Approval(_))) {
            asked.message.clear();
        }
    } else if let Event::SessionClosed(closed) = &mut event {
        empty(&mut closed.reason);
    } else if let Event::AnswerRevealed(answer) = &mut event
        && !session.seal_format().holds_verdicts()
    {
        let answer = Arc::make_mut(answer);
        empty(&mut answer.reason);
        answer.replies.iter_mut().for_each(|reply| empty(&mut reply.reason));
    }
    event
}

/// Whether this program says why a step failed: an agent's failure is what came back for its work item.
fn is_own_error(session: &Session, step: &str) -> bool {
    let kind =
        session.definition.as_ref().and_then(|definition| definition.step(step)).map(|step| &step.kind);
    let is_agent = matches!(kind, Some(StepKind::Agent(_)));
    let is_completed = |id: &String| {
        let back = session.items.get(id).and_then(WorkItem::outcome);
        back.is_some_and(|back| back.status == ItemStatus::Completed)
    };
    !is_agent || session.running(step).is_none_or(|run| run.items.iter().all(is_completed))
}
