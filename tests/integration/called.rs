//! What a file tells and nothing in it calls for, under a chain that fits: warnings, data that no reply
//! holds. And what may be: a rest, a clock that was set.

use std::sync::Arc;

use roundtable::core::{Command, decide};
use roundtable::history::{Event, PauseReason, SeatFailed, TimedEvent, Timestamp};
use roundtable::journal::verify;

use crate::forge::{Checked, chained, events, folded};
use crate::seats::{ONE_ROUND, Place, WORKFLOW};

fn finished(definition: &str) -> Vec<TimedEvent> {
    events(&Place::finished(definition).bytes())
}

fn found(all: &[TimedEvent], change: impl FnOnce(&mut Vec<TimedEvent>)) -> Vec<String> {
    let mut changed = all.to_vec();
    change(&mut changed);
    verify(&chained(&changed), None).findings.into_iter().map(|finding| finding.what).collect()
}

#[test]
fn a_warning_that_nothing_called_for_is_found_wherever_it_stands() {
    let all = finished(WORKFLOW);
    let checked = Checked::new(&all);
    for at in 1..all.len() {
        let mut of_seat = Event::warning("its work was bought");
        if let Event::Warning { step, participant, .. } = &mut of_seat {
            (*step, *participant) = (Some("note".to_owned()), Some("ann".to_owned()));
        }
        for event in [Event::warning("the vote was bought"), of_seat] {
            assert!(checked.is_found(at, &[&TimedEvent { at: all[at].at, event }], at), "{at}");
        }
    }
}

#[test]
fn seats_that_failed_below_the_quorum_are_asked_anew_when_it_is_resumed() {
    let mut all = finished(ONE_ROUND);
    all.truncate(all.iter().position(|s| matches!(s.event, Event::BallotSealed(_))).expect("sealed"));
    let mut session = folded(&all);
    let at = session.last_at;
    let fail = |who: &str| {
        let (round, participant, reason) = ("pick".to_owned(), who.to_owned(), "HTTP 500".to_owned());
        Command::Fail(Box::new(SeatFailed { round, participant, reason, tries: 4, ..SeatFailed::default() }))
    };
    let pause = Command::Pause { reason: PauseReason::QuorumUnreachable, step: None };
    let resume = Command::Resume { program: "roundtable".to_owned(), torn_bytes: None };
    for command in [fail("ann"), fail("bob"), fail("cyd"), pause, resume] {
        for event in decide(&session, command, at).expect("decided") {
            let stamped = TimedEvent { at, event };
            session.apply(&stamped);
            all.push(stamped);
        }
    }
    assert!(matches!(all.last(), Some(TimedEvent { event: Event::SeatRetried { .. }, .. })));
    assert_eq!(found(&all, |_| ()), Vec::<String>::new());
    let short = found(&all, |all| drop(all.remove(all.len() - 2)));
    assert_eq!(short, ["`seat_retried` of `bob` follows from what comes before it"]);
}

#[test]
fn times_that_run_backwards_are_noted_and_no_failure() {
    let mut all = finished(ONE_ROUND);
    assert!(!verify(&chained(&all), None).notes.iter().any(|note| note.contains("clock")));
    let at = all.iter().position(|s| matches!(s.event, Event::WorkItemOffered(_))).expect("offered");
    all[at].at = Timestamp(915_148_800_000);
    let verified = verify(&chained(&all), None);
    assert_eq!(verified.findings, []);
    let note = format!("1 documents, from {at} on, are dated before the one before: a clock was set back");
    assert!(verified.notes.iter().any(|found| found.starts_with(&note)), "{:?}", verified.notes);
}

#[test]
fn a_return_that_its_replies_do_not_give_is_found() {
    let all = finished(WORKFLOW);
    let at = all.iter().position(|s| matches!(s.event, Event::WorkItemReturned(_))).expect("returned");
    let Event::WorkItemReturned(back) = &all[at].event else { unreachable!() };
    let (mut silent, mut empty) = ((**back).clone(), (**back).clone());
    silent.record.replies.clear();
    empty.data = serde_json::Value::Null;
    for back in [silent, empty] {
        let what = found(&all, |all| all[at].event = Event::WorkItemReturned(Arc::new(back)));
        assert!(what[0].contains("is not what its reply says"), "{what:?}");
    }
}
