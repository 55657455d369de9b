//! Searching a session at work: from the newest event back, and forward again.

use super::*;

#[test]
fn a_session_at_work_is_searched_backwards_and_forwards() {
    let mut model = live_until(|event| matches!(event, Event::TallyMade(_)));
    let newest = model.replay.at();
    let holds = |back: &usize| {
        model.replay.text(newest - 1 - back).is_some_and(|text| text.to_lowercase().contains("sealed"))
    };
    let hits: Vec<usize> = (0..newest).filter(holds).collect();
    assert!(hits.len() > 2, "{hits:?}");
    model.focus = Pane::Events;
    press(&mut model, KeyCode::Char('/'));
    type_in(&mut model, "SEALED");
    press(&mut model, KeyCode::Enter);
    let at = |model: &Model| model.scroll[Pane::Events.index()];
    assert_eq!(at(&model), hits[0]);
    for hit in &hits[1..] {
        press(&mut model, KeyCode::Char('<'));
        assert_eq!(at(&model), *hit);
    }
    press(&mut model, KeyCode::Char('<'));
    assert_eq!(at(&model), hits[hits.len() - 1]);
    assert!(model.notice.take().is_some_and(|notice| notice.contains("” before here")));
    for hit in hits.iter().rev().skip(1) {
        press(&mut model, KeyCode::Char('>'));
        assert_eq!(at(&model), *hit);
    }
}
