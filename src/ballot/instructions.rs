//! The answer form in words: the instructions of every participant on how to answer.
//!
//! The same text for all seats. Every value in its example is a placeholder, so that repeating it can
//! never be read as a ballot. It names no option: those stand in the snapshot.

use super::kind::Instructions;
use super::model::BallotForm;

pub fn answer_rules(form: &BallotForm) -> String {
    let Instructions { example, detail, instead_of, .. } = form.kind.spec().instructions();
    let own = if form.exclude_own { EXCLUDE_OWN } else { "" };
    let (changed_by, again) = if form.is_revision { (CHANGED_BY, AGAIN) } else { ("", "") };
    format!(
        "Answer with one fenced block of this form. No other text is needed.\n\n\
         ```yaml\n{example}{COMMON}{changed_by}```\n\n\
         Replace every value in angle brackets, or leave its key out. {detail}\n{own}{again}\
         Give confidence as a number from 0 to 1, and leave it out if you have none.\n\
         To abstain, write `vote: abstain` in place of {instead_of}; an abstention is counted as one.\n\
         Give exactly one answer: two that differ cannot be counted.\n\
         Put a text that holds a colon or a number sign in double quotes.\n\
         You have no tools and can fetch nothing: answer from the context alone.\n"
    )
}

/// The field of an answer that is given again.
const CHANGED_BY: &str = "changed_by: \"<which argument or fact changed your mind; only if one did>\"\n";
const AGAIN: &str = "This question was asked before. The context holds what was said then, and after your role \
                     stands your own earlier ballot. Keep it unless an argument or a fact changes your mind, \
                     and name that in `changed_by`.\n";

/// What is said of options that are answers of the seats.
const EXCLUDE_OWN: &str =
    "One option is your own answer. Rank the others, which stand in `your_option_order`.\n";

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
