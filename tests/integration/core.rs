//! Properties of the session core, over random definitions and commands.
//!
//! Generators and the driver are in `core/`.

mod draw;
mod drive;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use roundtable::core::{Command, NextAction, next};
use roundtable::history::{Event, Session, TimedEvent};
use roundtable::journal::{fold, read_log};
use roundtable::report;

use draw::{Ballot, Drawn, actions, definition, one_round};
use drive::{SEATS, states, surfaces};

use crate::forge::chained;
use crate::sitting::Sitting;

/// Returns a configuration with the same `all` cases in every full run, and a quarter of them in a sample.
/// `PROPTEST_CASES` requests that many new cases.
fn config(all: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if asked { default.cases } else { crate::cases(all / 4, all) };
    let rng_seed = if asked { default.rng_seed } else { RngSeed::Fixed(1) };
    ProptestConfig { cases, rng_seed, failure_persistence: None, max_shrink_iters: 2_000, ..default }
}

proptest! {
    #![proptest_config(config(120))]

    /// No sequence of commands panics, and a refused command changes nothing. The fold of every prefix equals
    /// the live state, also after a round trip through the file.
    #[test]
    fn the_fold_of_every_prefix_is_the_live_state(drawn in definition(), acts in actions(60)) {
        let sitting = Sitting::after(&drawn, &acts);
        let bytes = chained(&sitting.events);
        let log = read_log(&bytes).expect("what was written can be read");
        prop_assert_eq!(log.torn, 0);
        let read: Vec<&TimedEvent> = log.lines.iter().map(|line| &line.stamped).collect();
        prop_assert_eq!(read, sitting.events.iter().collect::<Vec<_>>());
        let mut folded = Session::default();
        for (line, live) in log.lines.iter().zip(states(&sitting.events)) {
            folded.apply_entry(line);
            prop_assert_eq!(&folded, &live, "after {:?}", line.stamped.event);
        }
        prop_assert_eq!(&fold(&log), &sitting.session);
        let verified = roundtable::journal::verify(&bytes, None);
        prop_assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    }

    /// The end is a finished session, or a question that nobody answers.
    #[test]
    fn following_next_always_terminates(drawn in definition(), acts in actions(20), answers: bool) {
        let mut sitting = Sitting::after(&drawn, &acts);
        let bound = 20 + drawn.max_iterations as usize * (SEATS.len() * 3 + 12);
        for _ in 0..bound {
            match next(&sitting.session) {
                NextAction::Done => break,
                NextAction::AskPerson(_) if !answers => break,
                now => sitting.follow(now),
            }
        }
        let last = next(&sitting.session);
        prop_assert!(
            matches!(last, NextAction::Done) || (!answers && matches!(last, NextAction::AskPerson(_))),
            "still at {:?} after {} turns", last, bound
        );
        prop_assert!(sitting.session.iterations <= drawn.max_iterations);
    }

}

proptest! {
    #![proptest_config(config(60))]

    /// The state, the tally and the reports are the same.
    #[test]
    fn the_order_of_arrival_changes_nothing(
        drawn in one_round(),
        ballots in prop::collection::vec(any::<Ballot>(), SEATS.len()),
        order in Just((0..SEATS.len()).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let run = |order: &[usize]| {
            let mut sitting = Sitting::open(&drawn);
            sitting.until_seats();
            for seat in order {
                sitting.settle(*seat, ballots[*seat]);
            }
            sitting.close();
            let events = sitting.events.clone();
            sitting.finish();
            (sitting.session, events)
        };
        let roster: Vec<usize> = (0..SEATS.len()).collect();
        let (straight, _) = run(&roster);
        let (mixed, events) = run(&order);
        let name = |stamped: &TimedEvent| match &stamped.event {
            Event::AnswerRevealed(answer) => Some(answer.participant.clone()),
            _ => None,
        };
        let shown: Vec<String> = events.iter().filter_map(name).collect();
        let in_roster_order: Vec<String> =
            SEATS.iter().map(|seat| (*seat).to_owned()).filter(|seat| shown.contains(seat)).collect();
        prop_assert_eq!(shown, in_roster_order);
        prop_assert_eq!(&straight.rounds[0].tally, &mixed.rounds[0].tally);
        prop_assert!(straight.rounds[0].tally.is_some());
        let document = |session| report::Document::new(session, report::Source::default());
        prop_assert_eq!(report::markdown(&document(&straight)), report::markdown(&document(&mixed)));
        prop_assert_eq!(report::json(&document(&straight)), report::json(&document(&mixed)));
        prop_assert_eq!(straight, mixed);
    }

    /// Rounds that differ only in their answers look the same.
    #[test]
    fn an_open_round_shows_nothing_of_its_answers(
        drawn in one_round(),
        first in prop::collection::vec(any::<Ballot>(), SEATS.len()),
        second in prop::collection::vec(any::<Ballot>(), SEATS.len()),
    ) {
        let run = |ballots: &[Ballot], word: &str| {
            let mut sitting = Sitting::open(&drawn);
            word.clone_into(&mut sitting.word);
            sitting.until_seats();
            let mut shown = Vec::new();
            for (seat, ballot) in ballots.iter().enumerate() {
                // Whether a seat is sealed is public, so both runs seal all.
                sitting.settle(seat, if *ballot == Ballot::Fail { Ballot::Invalid } else { *ballot });
                let debug = format!("{:?}", sitting.session);
                assert!(!debug.contains(word), "the state holds the answer's text");
                shown.push(surfaces(&sitting));
            }
            (shown, sitting)
        };
        let (left, sitting) = run(&first, "QuokkaMarker");
        let (right, _) = run(&second, "NumbatMarker");
        for (left, right) in left.iter().zip(&right) {
            prop_assert!(!left.contains("QuokkaMarker") && !right.contains("NumbatMarker"));
            prop_assert_eq!(left, right);
        }
        // The answers contain the marker: it is shown once the round is closed.
        let mut sitting = sitting;
        sitting.close();
        sitting.finish();
        prop_assert!(surfaces(&sitting).contains("QuokkaMarker"));
    }
}

/// Returns a session whose only round ended in a tie, before the tally.
fn level(ties: &str) -> Sitting {
    let text = format!(
        r#"{{"participants": ["dora", "abe", "cleo", "bert"], "steps": [{{"id": "pick", "type": "round",
        "question": "q", "ballot": {{"kind": "choice", "options": ["red", "green"]}}, "rule": "majority",
        "ties": "{ties}"}}]}}"#
    );
    let mut sitting = Sitting::open(&Drawn { text, max_iterations: 100 });
    sitting.until_seats();
    for seat in 0..SEATS.len() {
        sitting.settle(seat, Ballot::Vote(seat % 2));
    }
    sitting.close();
    sitting
}

#[test]
fn a_tie_is_asked_about_only_where_ties_are_asked() {
    for asks in [false, true] {
        let [ask, finish] =
            [Command::AskPerson { step: "pick".to_owned() }, Command::FinishStep { step: "pick".to_owned() }];
        let mut sitting = level(if asks { "ask" } else { "none" });
        assert!(sitting.give(Command::Tally));
        assert!(!asks || !sitting.give(finish.clone()), "the tie waits for a person");
        assert_eq!(sitting.give(ask), asks);
        assert!(!asks || !sitting.give(finish), "the tie waits for an answer");
        sitting.finish();
        assert_eq!(sitting.session.rounds[0].tally.as_ref().map(|tally| tally.decided), Some(asks));
    }
}

#[test]
fn two_rounds_never_share_an_id() {
    let text = r#"{"participants": ["dora", "abe", "cleo", "bert"], "max_iterations": 4, "steps": [
        {"id": "pick", "type": "round", "question": "q", "next": "pick.2"},
        {"id": "pick.2", "type": "round", "question": "q", "next": "pick"}]}"#;
    let mut sitting = Sitting::open(&Drawn { text: text.to_owned(), max_iterations: 4 });
    sitting.finish();
    let ids: Vec<&str> = sitting.session.rounds.iter().map(|round| round.opened.round.as_str()).collect();
    assert_eq!(ids, ["pick", "pick.2", "pick.3", "pick.2.2"]);
}

#[test]
fn a_retried_seat_starts_over() {
    let mut sitting = level("none");
    let open = sitting.events.iter().position(|s| matches!(s.event, Event::RoundClosed(_))).expect("a close");
    sitting.session = states(&sitting.events).swap_remove(open - 1);
    let seal = Some(sitting.key().seal_to());
    assert!(sitting.give(Command::LoseKey) && sitting.give(Command::AskAgain { seal }));
    let round = &sitting.session.rounds[0];
    assert!(round.seats.values().all(|seat| seat.status.is_open() && seat.elapsed_ms.is_none()));
    sitting.settle(0, Ballot::Vote(0));
    assert!(sitting.give(Command::LoseKey));
    assert_eq!(sitting.session.rounds[0].key_lost.len(), SEATS.len(), "each lost seat is named once");
}
