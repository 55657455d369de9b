//! Footer: how to leave, and no key without effect.

use super::scenes::{draft, home};
use super::*;
use crate::tui::footer::bindings;

#[test]
fn the_footer_always_says_how_to_leave() {
    let model = model(saved("context-passing.s2s"));
    for size in SIZES {
        assert!(rendered(&model, size).contains("q quit"), "{size:?}");
    }
}

fn code(key: &str) -> KeyCode {
    match key {
        "Enter" => KeyCode::Enter,
        "Tab" => KeyCode::Tab,
        "→" => KeyCode::Right,
        "space" => KeyCode::Char(' '),
        letter => KeyCode::Char(letter.parse().unwrap()),
    }
}

/// An effect is more than the message that the key cannot work.
#[test]
fn every_key_in_the_footer_does_something() {
    let failed = |event: &Event| matches!(event, Event::SeatFailed(_));
    let mut states = vec![
        ("home", home()),
        ("draft", draft(None)),
        ("refused", draft(Some("participants: [qa-lead]\nquestion: \"Do we accept REQ-002?\"\n"))),
        (
            "approval",
            draft(Some("participants: [qa-lead]\nsteps:\n  - {id: ok, type: approval, message: \"Yes?\"}\n")),
        ),
        ("failed", live_on(super::many::panel(10), failed)),
        ("many", live_on(super::many::panel(200), failed)),
    ];
    for (name, until) in [
        ("opened", (|event| matches!(event, Event::RoundOpened(_))) as fn(&Event) -> bool),
        ("sealed", |event| matches!(event, Event::BallotSealed(_))),
        ("counted", |event| matches!(event, Event::TallyMade(_))),
        ("closed", |event| matches!(event, Event::SessionClosed(_))),
    ] {
        states.push((name, live_until(until)));
    }
    for file in ["context-passing.s2s", "release-consent.s2s"] {
        let whole = model(saved(file));
        for at in (0..=whole.replay.lines.len()).rev().step_by(crate::cases::cases(15, 5)) {
            let mut model = whole.clone();
            model.replay.seek(at);
            states.push(("replay", model));
        }
    }
    let mut wrong = Vec::new();
    for (state, model) in &states {
        for size in [(40, 12), (80, 24), (120, 40), (200, 60)] {
            let mut model = model.clone();
            update(&mut model, Message::Resize(size.0, size.1));
            for binding in bindings(&model, size.0.into()) {
                let action = binding.action;
                let mut pressed = model.clone();
                let effects = press(&mut pressed, code(binding.keys[0]));
                let notice = pressed.notice.take();
                let is_moved =
                    pressed.replay.at != model.replay.at || pressed.replay.due_in() != model.replay.due_in();
                let is_same = pressed.overlay.is_none()
                    && pressed.focus == model.focus
                    && pressed.seat == model.seat
                    && !is_moved
                    && rendered(&pressed, size) == rendered(&model, size);
                if effects.is_empty() && is_same {
                    let at = model.replay.at;
                    wrong.push(format!("{state} at {at}, {size:?}: {action:?} only says {notice:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
