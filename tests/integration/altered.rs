//! Altered session files: every change is found, and none panics.
//!
//! The forgeries have a matching hash chain, as a forger who knows the format would write it.

use std::sync::Arc;

use roundtable::core::{Command, NextAction, next};
use roundtable::history::{AnswerRevealed, Event, PauseReason, SeatFailed, TimedEvent, Timestamp};
use roundtable::journal::{Verification, verify};
use roundtable::round::seal::{Nonces, RoundKey, Sealer};

use crate::cases;
use crate::forge::{Checked, chained, events, folded};
use crate::scenarios;
use crate::seats::{ONE_ROUND, Place, TWO_ROUNDS, WORKFLOW};
use crate::sitting::Sitting;

fn texts(found: &Verification) -> String {
    found.findings.iter().map(|finding| finding.what.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_changed_byte_is_found() {
    let bytes = Place::finished(ONE_ROUND).bytes();
    let last =
        bytes.len() - bytes.windows(4).rev().position(|four| four == b"---\n").expect("a document") - 4;
    assert!(bytes[last..].starts_with(b"---\n"));
    let step = bytes.len() / cases(100, 1500);
    let mut changed = bytes.clone();
    for (count, at) in (0..last).step_by(step).chain((last..bytes.len()).step_by(cases(5, 1))).enumerate() {
        let bit = 1 << (count % 8);
        changed[at] ^= bit;
        let found = verify(&changed, None);
        assert!(!found.findings.is_empty(), "byte {at} ^ {bit:#x} is not found");
        changed[at] ^= bit;
    }
    assert_eq!(verify(&changed, None).findings, []);
}

#[test]
fn random_bytes_verify_as_nothing_and_panic_nobody() {
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    for start in ["", "---\n", "---\nseq: 0\n", "---\nseq: 0\nprev: \"00\"\n"] {
        for length in 0..250 {
            let mut bytes = start.as_bytes().to_vec();
            bytes.extend((0..length).map(|_| random()));
            assert!(!verify(&bytes, None).findings.is_empty());
            let hash = roundtable::round::snapshot::sha256_hex(&bytes);
            bytes.extend(format!("hash: {hash}\n").bytes());
            assert!(!verify(&bytes, None).findings.is_empty());
        }
    }
}

#[test]
fn a_whole_unfinished_file_is_fine_and_said_to_be_so() {
    let all = events(&Place::finished(TWO_ROUNDS).bytes());
    for count in 1..all.len() {
        let bytes = chained(&all[..count]);
        let found = verify(&bytes, None);
        assert_eq!(found.findings, [], "the first {count} documents");
        assert!(found.notes.iter().any(|note| note.contains("not finished")), "{:?}", found.notes);
        assert!(!verify(&[&bytes[..], b"---\n"].concat(), None).findings.is_empty());
    }
}

#[test]
fn documents_taken_out_doubled_or_swapped_are_found_under_a_chain_that_fits() {
    let mut sessions = vec![("two rounds", events(&Place::finished(TWO_ROUNDS).bytes()))];
    for scenario in ["ideas-merged", "conflict-resolved", "agenda-recorded", "incomplete-hand-over"] {
        let recorded = scenarios::recorded().iter().find(|recorded| recorded.folder.ends_with(scenario));
        sessions.push((scenario, events(&recorded.expect("a scenario").session)));
    }
    for (name, all) in sessions {
        let checked = Checked::new(&all);
        let settles = |at: usize| {
            matches!(
                all[at].event,
                Event::BallotSealed(_) | Event::SeatFailed(_) | Event::WorkItemReturned(_)
            )
        };
        for at in 0..all.len() {
            let what = format!("{name}, {at}: {:?}", all[at].event).chars().take(90).collect::<String>();
            // A duplicate claim is a renewal.
            let is_claim = matches!(all[at].event, Event::WorkItemClaimed(_));
            assert!(is_claim || checked.is_found(at, &[&all[at], &all[at]], at + 1), "{what} doubled");
            if at + 1 < all.len() {
                assert!(checked.is_found(at, &[], at + 1), "{what} taken out");
                // The order in which seats and agents settled is not verifiable.
                let is_level = settles(at) && settles(at + 1);
                let swapped = is_level || checked.is_found(at, &[&all[at + 1], &all[at]], at + 2);
                assert!(swapped, "{what} swapped with the next");
            }
        }
    }
}

fn answer(events: &mut [TimedEvent], seat: &str) -> usize {
    let is =
        |stamped: &TimedEvent| matches!(&stamped.event, Event::AnswerRevealed(a) if a.participant == seat);
    events.iter().position(is).expect("revealed")
}

fn revealed<'a>(events: &'a mut [TimedEvent], seat: &str) -> &'a mut AnswerRevealed {
    let at = answer(events, seat);
    match &mut events[at].event {
        Event::AnswerRevealed(answer) => Arc::make_mut(answer),
        _ => unreachable!(),
    }
}

fn each(events: &mut [TimedEvent], mut change: impl FnMut(&mut Event)) {
    for stamped in events {
        change(&mut stamped.event);
    }
}

/// Recomputes the events from the tally on, as a careful forger would.
fn recount(events: &mut Vec<TimedEvent>) {
    let at = events.iter().position(|s| matches!(s.event, Event::TallyMade(_))).expect("counted");
    let mut sitting = Sitting::of(&events[..at]);
    while let NextAction::Decide(command) = next(&sitting.session) {
        if sitting.tries(command).is_err() {
            break;
        }
    }
    *events = sitting.events;
}

type Forgery = (&'static str, fn(&mut Vec<TimedEvent>), &'static str);

const FORGERIES: [Forgery; 4] = [
    (
        "two seals swapped",
        |events| {
            let is_sealed = |stamped: &TimedEvent| matches!(stamped.event, Event::BallotSealed(_));
            let [first, second] = [0, 1].map(|nth| {
                let sealed = events.iter().enumerate().filter(|(_, stamped)| is_sealed(stamped));
                sealed.map(|(at, _)| at).nth(nth).expect("two seals")
            });
            let Event::BallotSealed(other) = events[second].event.clone() else { return };
            let Event::BallotSealed(one) = &mut events[first].event else { return };
            let seal = std::mem::replace(&mut one.seal, other.seal);
            let Event::BallotSealed(other) = &mut events[second].event else { return };
            other.seal = seal;
        },
        "is not to be revealed: the sealed record does not open under this key for this seat",
    ),
    (
        "two answers swapped",
        |events| {
            let (ann, bob) = (revealed(events, "ann").clone(), revealed(events, "bob").clone());
            *revealed(events, "ann") = AnswerRevealed { participant: "ann".to_owned(), ..bob };
            let at = events
                .iter()
                .rposition(|s| matches!(&s.event, Event::AnswerRevealed(a) if a.participant == "bob"));
            events[at.expect("revealed")].event =
                Event::AnswerRevealed(Arc::new(AnswerRevealed { participant: "bob".to_owned(), ..ann }));
        },
        "does not follow from what comes before it",
    ),
    (
        "an answer left out and recounted",
        |events| {
            let at = answer(events, "bob");
            events.remove(at);
            recount(events);
        },
        "`answer_revealed` of `bob` follows",
    ),
    (
        "an answer said to have failed",
        |events| {
            let at = answer(events, "bob");
            events[at].event = Event::SeatFailed(SeatFailed {
                step: "pick".to_owned(),
                round: "pick".to_owned(),
                participant: "bob".to_owned(),
                reason: "the sealed record is malformed".to_owned(),
                elapsed_ms: 20,
                ..SeatFailed::default()
            });
            recount(events);
        },
        "`answer_revealed` of `bob` follows",
    ),
];

#[test]
fn forgeries_under_a_chain_that_fits_are_found_for_what_they_are() {
    let all = events(&Place::finished(ONE_ROUND).bytes());
    let mut honest = all.clone();
    recount(&mut honest);
    assert_eq!(verify(&chained(&honest), None).findings, [], "counting anew is no forgery");
    for (name, forge, says) in FORGERIES {
        let mut forged = all.clone();
        forge(&mut forged);
        let found = verify(&chained(&forged), None);
        assert!(texts(&found).contains(says), "{name}: {:?}", found.findings);
    }
}

#[test]
fn a_file_rewritten_whole_is_found_by_a_hash_noted_earlier() {
    let first = Place::finished(ONE_ROUND).bytes();
    let head = verify(&first, None).head.expect("a head");
    let second = Place::finished(ONE_ROUND).bytes();
    assert_eq!(verify(&second, None).findings, [], "nothing in it is wrong");
    assert!(texts(&verify(&second, Some(&head))).contains("truncated or rewritten"));
    assert_eq!(verify(&first, Some(&head)).findings, []);
    // Cut at the end of a document: intact, and found only by the expected hash.
    let all = events(&first);
    let back = chained(&all[..all.len() - 3]);
    assert_eq!(verify(&back, None).findings, []);
    assert!(texts(&verify(&back, Some(&head))).contains("truncated or rewritten"));
}

#[test]
fn an_answer_sealed_anew_under_another_key_must_fit_its_seat() {
    let mut all = events(&Place::finished(ONE_ROUND).bytes());
    let session = folded(&all);
    let key = RoundKey::new([5; 32]);
    // All seals are recomputed, each bound to the previous seat of the roster.
    let round = &session.rounds[0];
    let nonces = Nonces { ephemeral: [1; 32], commitment: [2; 32] };
    each(&mut all, |event| match event {
        Event::RoundClosed(closed) => closed.key = key.publish(),
        Event::BallotSealed(sealed) => {
            let binding = round.binding("ann");
            sealed.seal = Sealer::new(&key).seal(&nonces, &binding, "{}").expect("sealed").into();
        }
        _ => {}
    });
    let found = texts(&verify(&chained(&all), None));
    assert!(found.contains("the key is not that of the round"), "{found}");
}

fn found(all: &[TimedEvent], change: impl FnOnce(&mut Vec<TimedEvent>)) -> Vec<String> {
    let mut changed = all.to_vec();
    change(&mut changed);
    verify(&chained(&changed), None).findings.into_iter().map(|finding| finding.what).collect()
}

#[test]
fn a_warning_that_nothing_called_for_is_found_wherever_it_stands() {
    let all = events(&Place::finished(WORKFLOW).bytes());
    let checked = Checked::new(&all);
    for (at, stamped) in all.iter().enumerate().skip(1) {
        let mut of_seat = Event::warning("its work was bought");
        if let Event::Warning { step, participant, .. } = &mut of_seat {
            (*step, *participant) = (Some("note".to_owned()), Some("ann".to_owned()));
        }
        for event in [Event::warning("the vote was bought"), of_seat] {
            assert!(checked.is_found(at, &[&TimedEvent { at: stamped.at, event }], at), "{at}");
        }
    }
}

#[test]
fn seats_that_failed_below_the_quorum_are_asked_anew_when_it_is_resumed() {
    let mut all = events(&Place::finished(ONE_ROUND).bytes());
    all.truncate(all.iter().position(|s| matches!(s.event, Event::BallotSealed(_))).expect("sealed"));
    let mut sitting = Sitting::of(&all);
    let fail = |who: &str| {
        let (round, participant, reason) = ("pick".to_owned(), who.to_owned(), "HTTP 500".to_owned());
        Command::Fail(Box::new(SeatFailed { round, participant, reason, tries: 4, ..SeatFailed::default() }))
    };
    let pause = Command::Pause { reason: PauseReason::QuorumUnreachable, step: None };
    let resume = Command::Resume { program: "roundtable".to_owned(), torn_bytes: None };
    for command in [fail("ann"), fail("bob"), fail("cyd"), pause, resume] {
        sitting.does(command);
    }
    let all = sitting.events;
    assert!(matches!(all.last(), Some(TimedEvent { event: Event::SeatRetried { .. }, .. })));
    assert_eq!(found(&all, |_| ()), Vec::<String>::new());
    let short = found(&all, |all| drop(all.remove(all.len() - 2)));
    assert_eq!(short, ["`seat_retried` of `bob` follows from what comes before it"]);
}

#[test]
fn times_that_run_backwards_are_noted_and_no_failure() {
    let mut all = events(&Place::finished(ONE_ROUND).bytes());
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
    let all = events(&Place::finished(WORKFLOW).bytes());
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
