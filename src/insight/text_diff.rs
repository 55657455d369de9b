//! What differs between two texts, line by line.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// Every line of both texts with a sign: ` ` in both, `-` only before, `+` only after.
pub fn text_diff(before: &str, after: &str) -> Vec<(char, String)> {
    let diff = TextDiff::configure().timeout(Duration::from_millis(200)).diff_lines(before, after);
    let line = |change: similar::Change<&str>| {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Insert => '+',
            ChangeTag::Delete => '-',
        };
        (sign, change.value().trim_end_matches('\n').to_owned())
    };
    diff.iter_all_changes().map(line).collect()
}
