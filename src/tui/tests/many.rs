//! Panels of hundreds and thousands of seats: failed seats first, drawn quickly.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::*;
use crate::history::SeatFailed;

/// Returns the log of a round with `count` seats instead of five; one of every ten fails.
pub fn panel(count: usize) -> Vec<LogEntry> {
    let mut all = Vec::new();
    let mut names: Vec<Vec<String>> = Vec::new();
    let mut originals = Vec::new();
    for line in saved("context-passing.s2s") {
        let mut line = line;
        let about = match &mut line.stamped.event {
            Event::RoundOpened(opened) => {
                let opened = Arc::make_mut(opened);
                originals.clone_from(&opened.seats);
                let name = |index: usize| format!("{}-{index:04}", originals[index % originals.len()]);
                opened.seats = (0..count).map(name).collect();
                let of = |at: usize| (at..count).step_by(originals.len()).map(name).collect();
                names = (0..originals.len()).map(of).collect();
                None
            }
            Event::WorkItemOffered(item) => Some(item.participant.clone()),
            Event::BallotSealed(sealed) => Some(sealed.participant.clone()),
            Event::AnswerRevealed(answer) => Some(answer.participant.clone()),
            _ => None,
        };
        let Some(at) = about.and_then(|name| originals.iter().position(|other| *other == name)) else {
            all.push(line);
            continue;
        };
        for name in &names[at] {
            let mut line = line.clone();
            let fails = name.ends_with('3');
            match &mut line.stamped.event {
                Event::WorkItemOffered(item) => Arc::make_mut(item).participant.clone_from(name),
                Event::BallotSealed(sealed) if fails => {
                    let reason = "HTTP 500".to_owned();
                    line.stamped.event = Event::SeatFailed(SeatFailed {
                        round: sealed.round.clone(),
                        participant: name.clone(),
                        reason,
                        tries: 3,
                        elapsed_ms: 900,
                        step: sealed.step.clone(),
                        ..SeatFailed::default()
                    });
                }
                Event::BallotSealed(sealed) => sealed.participant.clone_from(name),
                Event::AnswerRevealed(answer) => Arc::make_mut(answer).participant.clone_from(name),
                _ => {}
            }
            all.push(line);
        }
    }
    all
}

fn counted(count: usize) -> Model {
    live_on(panel(count), |event| matches!(event, Event::TallyMade(_)))
}

#[test]
fn failed_seats_are_first_among_many() {
    for count in [200, 2000] {
        let lines = panel(count);
        let last =
            lines.iter().rposition(|line| matches!(line.stamped.event, Event::BallotSealed(_))).unwrap();
        let mut open = live_on(lines.clone(), |event| matches!(event, Event::RoundOpened(_)));
        for line in lines[open.replay.lines.len()..=last].iter().cloned() {
            update(&mut open, Message::EngineUpdate(EngineUpdate::Saw(Box::new(line))));
        }
        for size in [(120, 40), (80, 24)] {
            update(&mut open, Message::Resize(size.0, size.1));
            let screen = rendered(&open, size);
            assert!(screen.contains("HTTP 500"), "{count} {size:?}\n{screen}");
        }
    }
}

#[test]
fn many_seats_are_listed_open_and_revealed() {
    let lines = panel(200);
    let mut model = live_on(lines.clone(), |event| matches!(event, Event::RoundOpened(_)));
    let more = |model: &mut Model, until: usize| {
        for line in lines[model.replay.lines.len()..until].iter().cloned() {
            update(model, Message::EngineUpdate(EngineUpdate::Saw(Box::new(line))));
        }
    };
    let closed = lines.iter().position(|line| matches!(line.stamped.event, Event::RoundClosed(_))).unwrap();
    more(&mut model, closed);
    super::scenes::shows("many-open", &model);
    more(&mut model, lines.len());
    super::scenes::shows("many-revealed", &model);
}

/// The limit is generous, for slow machines and unoptimized builds.
#[test]
fn a_key_among_two_thousand_seats_is_answered_quickly() {
    let mut model = counted(2000);
    let begun = Instant::now();
    press(&mut model, KeyCode::Down);
    rendered(&model, (120, 40));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn a_key_in_a_draft_of_two_thousand_seats_of_one_model_is_answered_quickly() {
    let mut model = super::scenes::draft_of_one_model(2000);
    let begun = Instant::now();
    for key in [KeyCode::Right, KeyCode::Tab, KeyCode::Down] {
        press(&mut model, key);
        rendered(&model, (120, 40));
    }
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    model.focus = Pane::Checks;
    let screen = rendered(&model, (120, 40));
    assert!(screen.contains("! 2,000 seats share"), "{screen}");
}
