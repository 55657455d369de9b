//! Phases of a discussion.

use super::scenes::{draft, shows};
use super::*;

/// Expansion of a discussion with the strategy `delphi`.
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
fn the_state_line_names_the_phase() {
    let model = draft(Some(DISCUSSION));
    let state = |width| rendered(&model, (width, 24)).lines().next().unwrap().to_owned();
    assert!(state(80).contains("round 1 · First vote"), "{}", state(80));
    assert!(state(40).contains(" r1 ") && state(40).contains("[1 DRAFT]"), "{}", state(40));
    shows("phase", &model);
}
