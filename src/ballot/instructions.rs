//! Prompt instructions: the answer form in words.
//!
//! All seats get the same text. Every value of the example is a placeholder, so that a repeated example never
//! reads as a ballot.

use super::answer_schema::scale;
use super::kind::KindInfo;
use super::model::BallotForm;

/// Longer lists of options or cards, in bytes, are not repeated here; the snapshot has them.
const MOST_NAMED: usize = 240;

pub fn answer_rules(form: &BallotForm) -> String {
    let KindInfo { example, detail, instead_of, asks_more, .. } = form.kind.info();
    let own = if form.exclude_own { EXCLUDE_OWN } else { "" };
    let (changed_by, again) = if form.is_revision { (CHANGED_BY, AGAIN) } else { ("", "") };
    let (before, after) = if asks_more { ("", POSITION) } else { (REASONS, CONFIDENCE) };
    let values = list_values(form);
    format!(
        "Answer in the language of the question, with only one block of this form:\n\n\
         ```yaml\n{before}{example}{after}{changed_by}```\n\n\
         Replace the text in angle brackets, or omit its key. {detail}{values}\n{own}{again}\
         To abstain, write `vote: abstain` instead of {instead_of}. Quote texts that contain a colon or number sign.\n"
    )
}

/// Returns sentences that repeat short lists of options and cards, and the scale.
fn list_values(form: &BallotForm) -> String {
    let mut out = String::new();
    for (what, words) in [("options", &form.options), ("cards", &form.cards)] {
        let is_plain = words.iter().all(|word| !word.contains(['`', '<', '\n']) && !word.is_empty());
        let size: usize = words.iter().map(String::len).sum();
        if (1..=MOST_NAMED).contains(&size) && is_plain && !form.exclude_own {
            out.push_str(&format!(" The {what}: `{}`.", words.join("`, `")));
        }
    }
    if form.min.is_some() || form.max.is_some() {
        out.push_str(&format!(" The scale: {}.", scale(form)));
    }
    out
}

/// Extra field of a revision's answer.
const CHANGED_BY: &str = "changed_by: \"<which argument or fact changed your mind; only if one did>\"\n";
const AGAIN: &str = "This question was asked before. The context has what was said; your earlier ballot follows your \
                     role. Keep it unless an argument or a fact changes your mind; name that in `changed_by`.\n";

const EXCLUDE_OWN: &str = "One option is your own answer. Rank the others, listed in `your_option_order`.\n";

/// Precedes the ballot, because a model that votes first only justifies its vote.
const REASONS: &str = "rationale:\n  - \"<one reason>\"\n";
const CONFIDENCE: &str = "confidence: <a number from 0 to 1>\n";

const POSITION: &str = "\
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
