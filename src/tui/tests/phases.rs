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
