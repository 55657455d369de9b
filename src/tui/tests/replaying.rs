//! Replay of a session: its question, clocks and time line.

use super::*;

/// Returns a round whose first seat is sealed after 3 s, and the others after 5 minutes of quiet.
fn slow() -> Vec<LogEntry> {
    let mut lines = saved("context-passing.s2s");
    let sealed = |line: &LogEntry| matches!(line.stamped.event, Event::BallotSealed(_));
    let first = lines.iter().position(sealed).unwrap();
    let start = lines[0].stamped.at.0;
    for (index, line) in lines.iter_mut().enumerate() {
        line.stamped.at.0 = start
            + match index.cmp(&first) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => 3_000,
                std::cmp::Ordering::Greater => 303_000,
            };
    }
    lines
}

#[test]
fn quiet_stretches_are_folded() {
    let lines = slow();
    let opened = lines.iter().position(|line| matches!(line.stamped.event, Event::RoundOpened(_))).unwrap();
    let sealed = lines.iter().position(|line| matches!(line.stamped.event, Event::BallotSealed(_))).unwrap();
    let mut model = model(lines);
    update(&mut model, Message::Resize(80, 24));
    model.replay.seek(sealed);
    assert!(rendered(&model, (80, 24)).contains("0:00 · as it was at"));
    press(&mut model, KeyCode::Char(' '));
    update(&mut model, Message::Pass(1_500));
    update(&mut model, Message::Pass(1_500));
    assert_eq!(model.replay.at, sealed + 1);
    // Five quiet minutes take two seconds.
    assert!(rendered(&model, (80, 24)).contains('┊'));
    update(&mut model, Message::Pass(2_000));
    assert!(model.replay.at > sealed + 1 && model.replay.at > opened);
}

#[test]
fn c_leads_to_the_next_reveal() {
    let mut model = model(slow());
    press(&mut model, KeyCode::Char('g'));
    press(&mut model, KeyCode::Char('c'));
    assert!(model.session().rounds[0].tally.is_some(), "the answers are there and counted");
    press(&mut model, KeyCode::Char('c'));
    assert!(model.notice.as_ref().is_some_and(|notice| notice.starts_with("No reveal after this moment")));
}

#[test]
fn forking_asks_first() {
    use crate::tui::home::OpenTarget;
    let mut model = model(saved("context-passing.s2s"));
    model.replay.seek(9);
    let seq = model.replay.lines[8].seq;
    assert_eq!(press(&mut model, KeyCode::Char('F')), []);
    super::scenes::shows("confirm-fork", &model);
    let mut before = model.clone();
    before.replay.seek(0);
    assert!(rendered(&before, (80, 24)).contains("→ no event yet"));
    assert_eq!(press(&mut model.clone(), KeyCode::Char('n')), []);
    let fork = Effect::Open(OpenTarget::Fork("x.s2s".into(), seq));
    assert_eq!(press(&mut model, KeyCode::Char('y')), [fork]);
}
