//! The phases of a discussion.

use super::scenes::{draft, shows};
use super::*;

/// What a discussion by the strategy `delphi` expands to.
const DISCUSSION: &str = "\
goal: \"Choose a cache\"
participants: [software-architect, qa-lead]
steps:
  - {id: cache-vote, type: round, label: \"First vote\", question: \"Which cache?\", output: cache,
     ballot: {kind: choice, options: [redis, in-process]}, rule: majority, next: cache-revise-if}
  - {id: cache-revise-if, type: condition, condition: \"context['cache'].tally.tier === 'unanimous'\",
     then: cache-done, else: cache-revise}
  - {id: cache-revise, type: round, label: \"Second vote\", revises: cache-vote, question: \"Which cache?\", output: cache,
     ballot: {kind: choice, options: [redis, in-process]}, rule: majority, next: cache-done}
  - {id: cache-done, type: condition, condition: \"context['cache'].outcome === 'decided'\"}
";

#[test]
fn the_state_line_names_the_phase_and_what_follows() {
    let model = draft(Some(DISCUSSION));
    let state = |width| rendered(&model, (width, 24)).lines().next().unwrap().to_owned();
    assert!(state(120).contains("phase 1/2 First vote, then Second vote if needed"), "{}", state(120));
    assert!(state(80).contains("phase 1/2 First vote → Second vote"), "{}", state(80));
    assert!(state(40).contains(" p1/2 ") && state(40).contains("[1 DRAFT]"), "{}", state(40));
    shows("phase", &model);
    let without_its_end = DISCUSSION.replace("cache-done", "cache-end");
    let other = rendered(&draft(Some(&without_its_end)), (120, 24));
    assert!(!other.contains("phase 1/2"), "no discussion was expanded to this\n{other}");
}

/// A replay names the phase from the first frame that knows the definition to the reveal.
#[test]
fn a_replay_names_the_phase_before_the_reveal_too() {
    let mut lines = saved("context-passing.s2s");
    for line in &mut lines {
        match &mut line.stamped.event {
            Event::SessionOpened(opened) => opened.definition = DISCUSSION.to_owned(),
            Event::StepStarted(started) => "cache-vote".clone_into(&mut started.step),
            Event::RoundOpened(opened) => "cache-vote".clone_into(&mut std::sync::Arc::make_mut(opened).step),
            _ => {}
        }
    }
    let end = lines.iter().position(|line| matches!(line.stamped.event, Event::TallyMade(_))).unwrap();
    let mut model = model(lines);
    for at in 1..=end {
        model.replay.seek(at);
        for (width, phase) in
            [(40, " p1/2 "), (80, "1/2"), (120, "phase 1/2 First vote, then Second vote"), (160, "phase 1/2")]
        {
            update(&mut model, Message::Resize(width, 24));
            let screen = rendered(&model, (width, 24));
            let state = screen.lines().next().unwrap();
            assert!(state.contains(phase), "at {at}, {width}: {state}");
            let is_dated = width == 160 && model.session().rounds.iter().all(|round| round.closed.is_none());
            assert!(!is_dated || state.contains("1 round"), "at {at}, {width}: {state}");
        }
    }
}
