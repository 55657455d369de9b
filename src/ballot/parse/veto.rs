//! Whether a reply that could not be read may be a block: it names one where the consent belongs.
//!
//! Asked only of replies that hold no valid answer. In doubt it says yes: a veto is not lost to a slip
//! of form. Thinking, quoted lines and the form with its placeholders are no stance.

use super::option_match::is_invisible;
use super::prefilter::{final_channel, without_thinking};
use super::scalar::strip_markup;

/// Keys under which a stance stands, or is put by mistake.
const KEYS: [&str; 3] = ["consent", "vote", "stance"];

/// Words of a block, and those that stand for it where the consent belongs.
const BLOCKS: [&str; 8] = ["block", "blocks", "blocked", "blocking", "veto", "object", "oppose", "reject"];

/// Whether a consent reply that is no valid answer may be read as a block.
pub fn may_block(reply: &str) -> bool {
    let text: String = without_thinking(final_channel(reply)).chars().filter_map(plain).collect();
    if text.split_whitespace().next().is_some_and(is_block) {
        return true;
    }
    // The key whose value goes on: over commas, and over lines that are indented or items of a list.
    let mut under_consent = false;
    for line in text.lines().filter(|line| !line.trim_start().starts_with('>')) {
        under_consent &= line.starts_with([' ', '\t', '-', '[', ']', '"']);
        for piece in line.split([',', ';', '{', '}']) {
            let value = match piece.split_once([':', '=']) {
                Some((key, value)) if is_key(key) => {
                    let key = bare(key);
                    under_consent = KEYS.iter().any(|known| key.eq_ignore_ascii_case(known));
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

/// A letter without what only looks like another; nothing of what cannot be seen.
fn plain(c: char) -> Option<char> {
    let letter = match c {
        'о' | 'ο' | 'О' => 'o',
        'с' | 'ϲ' | 'С' => 'c',
        'к' | 'κ' | 'К' => 'k',
        'ӏ' | 'Ӏ' | 'ⅼ' => 'l',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0)?,
        _ if is_invisible(c) && !matches!(c, '\t' | '\n' | '\r') => return None,
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

/// Whether what stands before a colon is a key and no sentence.
fn is_key(key: &str) -> bool {
    let key = bare(key);
    !key.is_empty() && key.len() <= 32 && key.split_whitespace().count() <= 2
}

/// Whether a text is the stance and nothing else.
fn is_block(text: &str) -> bool {
    strip_markup(text.trim().trim_start_matches(['-', '#', ' '])).eq_ignore_ascii_case("block")
}

/// Whether a value names a block; one that names all three stances is the form.
fn names_block(value: &str) -> bool {
    let value = outside_placeholders(value).to_lowercase();
    let words: Vec<&str> = value.split(|c: char| !c.is_alphanumeric()).collect();
    let is_form = ["support", "aside", "block"].iter().all(|stance| words.contains(stance));
    !is_form && words.iter().any(|word| BLOCKS.contains(word))
}

/// A value without what stands in angle brackets.
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
            "vote: block\nminimum_change: a",
            "choice: block",
            "Block. There is no rollback.",
            "I have read it.\n\n**BLOCK**\n\nThere is no rollback.",
            "consent: bl\u{200b}ock",
            "consent: blосk",
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
