//! Agenda on the screen: listing, adding, settling.

use super::*;
use crate::core::{AgendaChange, Command};
use crate::engine::FacilitatorRequest;
use crate::history::Point;

/// Returns a counted round with an open conflict.
fn with_conflict() -> Model {
    let mut lines = saved("context-passing.s2s");
    let end = lines.iter().position(|line| matches!(line.stamped.event, Event::TallyMade(_))).unwrap();
    let mut line = lines[end].clone();
    line.stamped.event = Event::ConflictOpened(Point {
        id: "CONF-001".to_owned(),
        title: "Blocked: Ship it?".to_owned(),
        minimum_change: Some("wait a day".to_owned()),
        ..Point::default()
    });
    lines.insert(end, line);
    live_on(lines, |event| matches!(event, Event::TallyMade(_)))
}

/// Submits the focused form, and returns the change that it orders.
fn submitted(model: &mut Model) -> Option<AgendaChange> {
    let effects = update(model, Message::Key(KeyEvent::new(KeyCode::F(2), KeyModifiers::NONE)));
    effects.into_iter().find_map(|effect| match effect {
        Effect::Order(FacilitatorRequest::Order(Command::ChangeAgenda(change))) => Some(change),
        _ => None,
    })
}

#[test]
fn the_agenda_is_listed_added_to_and_settled() {
    let mut model = with_conflict();
    press(&mut model, KeyCode::Char('O'));
    let shown = rendered(&model, (80, 24));
    for words in ["+ new question", "conflict  CONF-001", "Blocked: Ship it?", "would pass with"] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    press(&mut model, KeyCode::End);
    press(&mut model, KeyCode::Enter);
    let shown = rendered(&model, (80, 24));
    assert!(shown.contains("resolved: CONF-001") && shown.contains("Would pass with: wait a day"), "{shown}");
    type_in(&mut model, "we wait");
    let (id, how) = ("CONF-001".to_owned(), "we wait".to_owned());
    assert_eq!(submitted(&mut model), Some(AgendaChange::ResolveConflict { id, how }));

    let mut model = with_conflict();
    press(&mut model, KeyCode::Char('O'));
    press(&mut model, KeyCode::Down);
    press(&mut model, KeyCode::Down);
    press(&mut model, KeyCode::Enter);
    type_in(&mut model, "Who pays?");
    let title = "Who pays?".to_owned();
    assert_eq!(submitted(&mut model), Some(AgendaChange::OpenQuestion { title, description: None }));
}

#[test]
fn a_replay_shows_the_agenda_and_changes_nothing() {
    let mut model = model(saved("context-passing.s2s"));
    press(&mut model, KeyCode::Char('O'));
    assert!(!rendered(&model, (80, 24)).contains("+ new conflict"));
    press(&mut model, KeyCode::Enter);
    assert!(model.overlay.is_none());
    assert!(rendered(&model, (80, 24)).contains("changes while a session runs"));
}
