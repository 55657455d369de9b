//! The answer form in words: what every participant of a round is told about how to answer.
//!
//! The same text for all seats. Every value in its example is a placeholder, so that repeating it can
//! never be read as a ballot. It names no option: those stand in the snapshot.

use super::kind::Instructions;
use super::model::BallotKind;

/// How to answer a question of this kind.
pub fn answer_rules(kind: BallotKind) -> String {
    let Instructions { example, detail, instead_of, .. } = kind.spec().instructions();
    format!(
        "Answer with one fenced block of this form. No other text is needed.\n\n\
         ```yaml\n{example}{COMMON}```\n\n\
         Replace every value in angle brackets, or leave its key out. {detail}\n\
         Give confidence as a number from 0 to 1, and leave it out if you have none.\n\
         To abstain, write `vote: abstain` in place of {instead_of}; an abstention is counted as one.\n\
         Give exactly one answer: two that differ cannot be counted.\n\
         Put a text that holds a colon or a number sign in double quotes.\n\
         You have no tools and can fetch nothing: answer from the context alone.\n"
    )
}

/// Fields that every kind of answer may carry.
const COMMON: &str = "\
rationale:
  - \"<one reason>\"
trade_offs:
  optimizing_for: \"<what this serves>\"
  accepting_as_cost: \"<what it costs>\"
  risks:
    - \"<one risk>\"
concerns:
  - \"<one concern>\"
suggestions:
  - \"<one suggestion>\"
confidence: <a number from 0 to 1>
references:
  - \"<an id or a place in the context>\"
";
