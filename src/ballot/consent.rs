//! Ballot kind `consent`: support, stand aside, or block until a minimum change.
//!
//! A malformed reply must not lose a veto: if it names a block where the consent belongs, it may be one.
//! Thinking, quoted lines and unfilled placeholders state nothing.

use serde_json::{Value as Json, json};

use super::answer_schema::word_enum;
use super::kind::{FormField, Input, KindInfo, KindSpec, RehearsalInput, one_of};
use super::model::{Ballot, BallotForm, Stance};
use super::parse::AnswerParser;
use super::parse::option_match::{is_alternation, is_invisible, unknown_stance};
use super::parse::prefilter::{final_channel, without_thinking};
use super::parse::scalar::{folded, strip_markup};
use crate::tally::{CountableKind, Rule};
use crate::yaml::{Node, Value};

pub(super) struct ConsentKind;

impl KindSpec for ConsentKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            keys: &["consent", "minimum_change"],
            is_word: true,
            countable: Some(CountableKind::Consent),
            default_rule: Some(Rule::Consent),
            example: "consent: <support or stand-aside or block>\nminimum_change: \"<only with a block, what would have to change>\"\n",
            detail: "Support agrees, stand-aside has doubts but does not object, block objects and must state its \
                     minimum_change.",
            instead_of: "consent",
            description: "support, stand-aside or block, a block with its minimum change",
            length: "one stance",
            ..KindInfo::default()
        }
    }

    fn schemas(&self, _form: &BallotForm) -> Vec<Json> {
        let change = json!({
            "type": ["string", "null"],
            "description": "only with a block: what would have to change",
        });
        vec![word_enum(Stance::WORDS.map(|(word, _)| word).into_iter().chain(["abstain"])), change]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let stance = stance(&answer.source_text(value))?;
        let change = answer.minimum_change(stance == Stance::Block);
        Ok((Ballot::Consent(stance, change), stance.name().into()))
    }

    fn is_bare(&self, _form: &BallotForm, word: &str) -> bool {
        stance(word).is_ok()
    }

    fn repeats_form(&self, _form: &BallotForm, value: &Node) -> bool {
        let Value::Text(text) = &value.value else { return false };
        is_alternation(&["support", "stand-aside", "stand aside", "block", "abstain"], text)
    }

    fn may_block(&self, reply: &str) -> bool {
        may_block(reply)
    }

    fn fields(&self, _form: &BallotForm) -> Vec<FormField> {
        let input = Input::Line(String::new());
        let hint = "Required with block: what must change";
        let change = FormField { key: "minimum_change", hint, input };
        vec![one_of("consent", Stance::WORDS.map(|(word, _)| word)), change]
    }

    /// Never blocks, so that a rehearsal reaches the later steps.
    fn rehearse(&self, input: &RehearsalInput<'_>) -> Vec<(&'static str, Json)> {
        vec![("consent", ["support", "stand-aside"][(input.lot)("consent", 2)].into())]
    }
}

impl Ballot {
    pub fn minimum_change(&self) -> Option<&str> {
        let Self::Consent(_, change) = self else { return None };
        change.as_deref()
    }
}

fn stance(word: &str) -> Result<Stance, String> {
    let name = folded(strip_markup(word)).replace([' ', '_'], "-");
    let known = Stance::WORDS.iter().find(|(known, _)| *known == name && !word.chars().any(is_invisible));
    known.map(|(_, stance)| *stance).ok_or_else(|| unknown_stance(word))
}

/// Keys under which replies state a stance, including common mistakes.
const KEYS: [&str; 3] = ["consent", "vote", "stance"];

/// Words that mean a block under a consent key.
const BLOCKS: [&str; 8] = ["block", "blocks", "blocked", "blocking", "veto", "object", "oppose", "reject"];

/// Checks if an invalid consent reply may be a block.
fn may_block(reply: &str) -> bool {
    let text: String = without_thinking(final_channel(reply)).chars().filter_map(plain).collect();
    if text.split_whitespace().next().is_some_and(is_block) {
        return true;
    }
    // True while a consent key's value continues: across commas, indented lines and list items.
    let mut under_consent = false;
    for line in text.lines().filter(|line| !line.trim_start().starts_with('>')) {
        under_consent &= line.starts_with([' ', '\t', '-', '[', ']', '"']);
        for piece in line.split([',', ';', '{', '}']) {
            let value = match piece.split_once([':', '=']) {
                Some((key, value)) if is_key(key) || names_consent(key) => {
                    under_consent = names_consent(key);
                    value
                }
                _ => piece,
            };
            if is_block(value) || (under_consent && names_block(value)) {
                return true;
            }
        }
    }
    false
}

/// Replaces look-alikes of letters in `block`, and full-width characters, by ASCII; `None` for invisible ones.
fn plain(c: char) -> Option<char> {
    let letter = match c {
        'о' | 'ο' | 'О' => 'o',
        'с' | 'ϲ' | 'С' => 'c',
        'к' | 'κ' | 'К' => 'k',
        'ӏ' | 'Ӏ' | 'ⅼ' => 'l',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0)?,
        _ if is_invisible(c) => return None,
        other => other,
    };
    Some(letter)
}

fn bare(key: &str) -> &str {
    strip_markup(
        key.trim()
            .trim_start_matches(['-', '#', '*', ' ', '"', '\''])
            .trim_end_matches(['*', '"', '\'', ' ']),
    )
}

/// Checks if the text before a colon is a key and not part of a sentence.
fn is_key(key: &str) -> bool {
    let key = bare(key);
    !key.is_empty() && key.len() <= 32 && key.split_whitespace().count() <= 2
}

/// Checks if the text before a colon is a consent key or ends with one.
fn names_consent(before: &str) -> bool {
    let word = bare(before).rsplit(char::is_whitespace).next().map(bare).unwrap_or_default();
    KEYS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn is_block(text: &str) -> bool {
    strip_markup(text.trim().trim_start_matches(['-', '#', ' '])).eq_ignore_ascii_case("block")
}

/// Checks if a value names a block; a value that names all three stances is the unfilled form.
fn names_block(value: &str) -> bool {
    let value = outside_placeholders(value).to_lowercase();
    let words: Vec<&str> = value.split(|c: char| !c.is_alphanumeric()).collect();
    let is_form = ["support", "aside", "block"].iter().all(|stance| words.contains(stance));
    !is_form && words.iter().any(|word| BLOCKS.contains(word))
}

/// Returns the value without the text in angle brackets.
fn outside_placeholders(value: &str) -> String {
    let (mut depth, mut out) = (0_usize, String::new());
    for c in value.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::may_block;

    #[test]
    fn a_block_where_the_consent_belongs_is_seen() {
        let blocks = [
            "consent: [support, block]",
            "consent:\n  - support\n  - block\n",
            "consent: support / block",
            "consent: block because the plan has no rollback",
            "consent: \"block\nminimum_change: a",
            "{\"consent\": \"block\", \"minimum_change\": }",
            "```yaml\nconsent: block\nminimum_change: a\n```\n```yaml\nconsent: support\n```",
            "consent: block\nabstain: true",
            "**Consent:** I block this",
            "Having read it all, here is my **consent: block**, it has no rollback.",
            "vote: block\nminimum_change: a",
            "choice: block",
            "Block. There is no rollback.",
            "I have read it.\n\n**BLOCK**\n\nThere is no rollback.",
            "consent: bl\u{200b}ock",
            "consent: blосk",
            "consent: ｂｌｏｃｋ, it has no rollback",
            "consent: block\nconfidence: high",
            "consent: veto",
            "consent: I do not support this, I object",
        ];
        for reply in blocks {
            assert!(may_block(reply), "{reply}");
        }
    }

    #[test]
    fn other_unreadable_replies_stop_nothing() {
        let others = [
            "",
            "consent: yes",
            "consent: support\nconfidence: high",
            "consent: [support, stand-aside]",
            "consent: <support or stand-aside or block>",
            "consent: <support or block>",
            "consent: support | stand-aside | block",
            "<think>consent: block?</think>\nconsent: sure",
            "> consent: block\nI would go along with it.",
            "consent: support\nconcerns:\n  - \"this may block us: it is slow\"\nconfidence: 80%",
            "{\"consent\": \"support\", \"concerns\": [\"may block a release\"], \"confidence\": 9}",
            "I would not block it, it is a good plan.",
            "The plan: we block traffic, and unblock it later.",
        ];
        for reply in others {
            assert!(!may_block(reply), "{reply}");
        }
    }
}
