//! The answer form in words: what every participant of a round is told about how to answer.
//!
//! The same text for all seats. Every value in its example is a placeholder, so that repeating it can
//! never be read as a ballot. It names no option: those stand in the snapshot.

use crate::ballot::BallotKind;

/// How to answer a question of this kind.
pub fn answer_rules(kind: BallotKind) -> String {
    let example = example(kind);
    let detail = detail(kind);
    format!(
        "Answer with one fenced block of this form. No other text is needed.\n\n\
         ```yaml\n{example}{COMMON}```\n\n\
         Replace every value in angle brackets, or leave its key out. {detail}\n\
         Give confidence as a number from 0 to 1, and leave it out if you have none.\n\
         To abstain, write `{abstention}`{instead}; an abstention is counted as one.\n\
         Give exactly one answer: two that differ cannot be counted.\n\
         Put a text that holds a colon or a number sign in double quotes.\n\
         You have no tools and can fetch nothing: answer from the context alone.\n",
        abstention = "vote: abstain",
        instead = instead(kind),
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

fn example(kind: BallotKind) -> &'static str {
    match kind {
        BallotKind::Position => "position: \"<your position in two or three sentences>\"\n",
        BallotKind::Choice => "vote: <one option, spelt as on the form>\n",
        BallotKind::Approval => "approve: [<option>, <option>]\n",
        BallotKind::Ranking => "ranking: [<best option>, [<two options>, <that are equal>]]\n",
        BallotKind::Score => "scores: {<option>: <score>, <other option>: <score>}\n",
        BallotKind::Consent => {
            "consent: <support or stand-aside or block>\nminimum_change: \"<only with a block, what would have to change>\"\n"
        }
        BallotKind::Estimate => "estimate: <a number or a card of the form>\n",
    }
}

fn detail(kind: BallotKind) -> &'static str {
    match kind {
        BallotKind::Position => "The position is required.",
        BallotKind::Choice => "The vote is required: exactly one option of the form.",
        BallotKind::Approval => {
            "List every option you approve of, and no other; an empty list approves of none."
        }
        BallotKind::Ranking => {
            "The ranking is required: best first; a nested list is a tie; options you leave out stand below the others."
        }
        BallotKind::Score => "The scores are required: one number for each option, within the form's scale.",
        BallotKind::Consent => {
            "The consent is required: support goes along, stand-aside has doubts and does not stand in the way, \
             block stands in the way and must state its minimum_change."
        }
        BallotKind::Estimate => "The estimate is required: one number, or one card of the form.",
    }
}

fn instead(kind: BallotKind) -> &'static str {
    match kind {
        BallotKind::Position => " in place of the position",
        BallotKind::Choice => " in place of your option",
        BallotKind::Consent => " in place of consent",
        BallotKind::Approval | BallotKind::Ranking | BallotKind::Score | BallotKind::Estimate => {
            " in place of the ballot"
        }
    }
}
