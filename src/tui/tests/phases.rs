//! The phases of a discussion, and errors under the fields of a form.

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

#[test]
fn an_error_stands_under_its_field() {
    let mut model = draft(None);
    press(&mut model, KeyCode::Char('e'));
    let Some(Overlay::Form(form)) = &mut model.overlay else { panic!("no form") };
    form.refuse("`quorum`: expected at most 5, found `9`".to_owned());
    for size in [(40, 12), (80, 24), (120, 40)] {
        let screen = rendered(&model, size);
        let lines: Vec<&str> = screen.lines().collect();
        let error = lines.iter().position(|line| line.contains("`quorum`: expected")).unwrap();
        assert!(lines[error - 1].contains("▸ quorum"), "{size:?}\n{screen}");
    }
    shows("form-error", &model);
}
