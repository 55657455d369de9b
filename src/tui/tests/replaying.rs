//! A replay shows a session as it was: its question, its clocks, a time line to be clicked.

use super::*;
use crate::tui::frame::Target;

/// A round whose first seat is sealed after 3 s and whose others are sealed after 5 minutes of quiet.
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
fn the_question_is_there_from_the_first_frame_on() {
    let mut model = model(saved("context-passing.s2s"));
    for at in [0, 1, 2] {
        model.replay.seek(at);
        for size in [(40, 12), (80, 24), (120, 40), (200, 60)] {
            update(&mut model, Message::Resize(size.0, size.1));
            let screen = rendered(&model, size);
            assert!(screen.contains("Round 1, not opened yet"), "at {at}, {size:?}\n{screen}");
            assert!(screen.contains("inline") && screen.contains("REPLAY"), "at {at}, {size:?}\n{screen}");
        }
    }
}

#[test]
fn clocks_run_as_they_ran_then() {
    let lines = slow();
    let opened = lines.iter().position(|line| matches!(line.stamped.event, Event::RoundOpened(_))).unwrap();
    let sealed = lines.iter().position(|line| matches!(line.stamped.event, Event::BallotSealed(_))).unwrap();
    let mut model = model(lines);
    update(&mut model, Message::Resize(80, 24));
    model.replay.seek(sealed);
    assert!(rendered(&model, (80, 24)).contains("0:00 · as it was at"));
    press(&mut model, KeyCode::Char(' '));
    update(&mut model, Message::Pass(1_500));
    let half = rendered(&model, (80, 24));
    assert!(half.contains("0:01 · as it was at") && half.contains("□ 0 of 5"), "{half}");
    assert!(half.lines().any(|line| line.contains("asked") && line.contains("1.5 s")), "{half}");
    update(&mut model, Message::Pass(1_500));
    assert_eq!(model.replay.at(), sealed + 1);
    // Five quiet minutes take two seconds, and the clock of then runs through them.
    update(&mut model, Message::Pass(1_000));
    let quiet = rendered(&model, (80, 24));
    assert!(quiet.contains("2:33 · as it was at"), "{quiet}");
    assert!(quiet.contains('┊'), "{quiet}");
    update(&mut model, Message::Pass(1_000));
    assert!(model.replay.at() > sealed + 1 && model.replay.at() > opened);
}

#[test]
fn a_click_on_the_time_line_leads_to_its_moment() {
    for size in [(40, 12), (80, 24), (120, 40)] {
        let mut model = model(slow());
        update(&mut model, Message::Resize(size.0, size.1));
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
        let mut hits = super::super::ClickMap::default();
        terminal.draw(|frame| hits = draw(frame, &model)).unwrap();
        let row = (0..size.1)
            .rev()
            .find(|row| (0..size.0).any(|column| matches!(hits.at(column, *row), Some(Target::Moment(_)))));
        let row = row.unwrap();
        let columns: Vec<u16> =
            (0..size.0).filter(|column| matches!(hits.at(*column, row), Some(Target::Moment(_)))).collect();
        let mut before = 0;
        for column in &columns {
            update(&mut model, Message::Click(hits.at(*column, row).unwrap()));
            assert!(model.replay.at() >= before.max(1), "{size:?}, column {column}");
            before = model.replay.at();
        }
        assert_eq!(before, model.replay.len(), "{size:?}: its end leads to the end");
        update(&mut model, Message::Click(hits.at(columns[0], row).unwrap()));
        assert!(
            model.replay.session().rounds.iter().all(|round| round.tally.is_none()),
            "{size:?}: its start leads to the start"
        );
    }
}

#[test]
fn digits_jump_to_tenths_and_c_to_the_next_reveal() {
    let mut model = model(slow());
    let mut before = 0;
    for tenth in '0'..='9' {
        press(&mut model, KeyCode::Char(tenth));
        assert!(model.replay.at() >= before.max(1), "{tenth}");
        before = model.replay.at();
    }
    assert!(before < model.replay.len(), "nine tenths are not the end");
    press(&mut model, KeyCode::Char('0'));
    assert!(model.replay.session().rounds.is_empty());
    press(&mut model, KeyCode::Char('c'));
    assert!(model.session().rounds[0].tally.is_some(), "the answers are there and counted");
    press(&mut model, KeyCode::Char('c'));
    assert!(model.notice.as_ref().is_some_and(|notice| notice.starts_with("No reveal after this moment")));
}

/// A new session is not begun by one key.
#[test]
fn forking_asks_first() {
    use crate::tui::home::OpenTarget;
    let mut model = model(saved("context-passing.s2s"));
    model.replay.seek(9);
    let seq = model.replay.lines()[8].seq;
    assert_eq!(press(&mut model, KeyCode::Char('F')), []);
    super::scenes::shows("confirm-fork", &model);
    assert_eq!(press(&mut model.clone(), KeyCode::Char('n')), []);
    let fork = Effect::Open(OpenTarget::Fork("x.s2s".into(), seq));
    assert_eq!(press(&mut model, KeyCode::Char('y')), [fork]);
}
