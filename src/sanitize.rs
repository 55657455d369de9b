//! Safe display of foreign text on terminals and in reports.
//!
//! Every answer, name, path and error passes [`harmless`] before it reaches a screen, stderr or a text
//! report. It shows what it replaces (`\u{202e}`) and deletes nothing silently. [`wrapped`] breaks safe text
//! into lines.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns whether a character can affect a terminal or reader instead of being displayed. These are C0 and
/// C1 controls, DEL, line and paragraph separators, bidi and zero-width controls, BOM, tags and
/// non-characters. Joiners are excluded, because emoji and scripts need them; see [`floods`].
pub fn is_unsafe(c: char) -> bool {
    // Fast path for most of a long text.
    if matches!(c, ' '..='~') {
        return false;
    }
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Replaces the API key where an answer repeats it.
pub const MASKED_KEY: &str = "(masked API key)";
/// Length in characters from which keys are masked in answers.
pub const LEAST_KEY: usize = 16;

/// Most zero-width marks on one character; scripts need up to four.
const MOST_MARKS: usize = 8;

/// Returns whether a character modifies the one before it instead of taking its own column.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && c.width() == Some(0)
}

/// Marks each character that is one mark too many on its base character, or a joiner on a Latin letter.
pub fn floods(text: &str) -> impl Iterator<Item = (usize, char, bool)> {
    text.char_indices().scan((0, false), |(marks, is_latin), (at, c)| {
        let is_joiner = matches!(c, '\u{200c}' | '\u{200d}');
        (*marks, *is_latin) =
            if is_mark(c) { (*marks + 1, *is_latin) } else { (0, c.is_alphabetic() && c < '\u{250}') };
        Some((at, c, *marks > MOST_MARKS || is_joiner && *is_latin))
    })
}

/// Returns whether [`harmless`] would change nothing.
pub fn is_harmless(text: &str) -> bool {
    if text.is_ascii() {
        return !text.bytes().any(|byte| byte != b'\n' && byte.is_ascii_control());
    }
    !floods(text).any(|(_, c, is_flood)| is_flood || (c != '\n' && is_unsafe(c)))
}

/// Makes every unsafe character visible and replaces a flood of marks by its count. Line feeds stay, tabs
/// become spaces.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if is_harmless(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut left_out = 0_usize;
    for (at, c, is_flood) in floods(text) {
        if is_flood {
            left_out += 1;
            continue;
        }
        say_left_out(&mut left_out, &mut out);
        match c {
            '\t' => out.push_str("    "),
            '\r' if text[at + 1..].starts_with('\n') => {}
            '\n' => out.push('\n'),
            c if is_unsafe(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    say_left_out(&mut left_out, &mut out);
    Cow::Owned(out)
}

fn say_left_out(count: &mut usize, out: &mut String) {
    if *count > 0 {
        let _ = write!(out, "\\u{{{count} marks}}");
        *count = 0;
    }
}

/// Like [`harmless`], on one line: line feeds appear as `⏎`.
pub fn harmless_line(text: &str) -> String {
    harmless(text).replace('\n', "⏎")
}

/// Formats a number with thousands separators: `2,418`.
pub fn group_digits(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

/// Formats a count with its noun: `1 seat`, `2 seats`.
pub fn pluralize(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", group_digits(count))
}

/// Breaks text into at most `most` safe lines no wider than `width` columns, at blanks if possible.
pub fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for mut rest in harmless(text).split('\n') {
        while lines.len() < most {
            let Some((cut, next)) = broken(rest, width.max(1)) else {
                lines.push(rest.to_owned());
                break;
            };
            lines.push(rest[..cut].to_owned());
            rest = &rest[next..];
        }
    }
    lines
}

/// Returns the end of the first line and the start of the next, if `line` is wider than `width`. The cut is
/// at the last blank, else between two graphemes. A grapheme wider than `width` gets its own line.
pub fn broken(line: &str, width: usize) -> Option<(usize, usize)> {
    let (mut used, mut blank) = (0, None);
    for (at, seen) in line.grapheme_indices(true) {
        used += seen.width();
        if seen == " " {
            blank = Some(at);
        }
        if used > width {
            let cut = if at == 0 { seen.len() } else { at };
            return Some(blank.filter(|blank| *blank > 0).map_or((cut, cut), |blank| (blank, blank + 1)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_become_visible() {
        assert_eq!(harmless("a\u{1b}[31mb\u{202e}c\td\r\ne"), "a\\u{1b}[31mb\\u{202e}c    d\ne");
        assert_eq!(harmless("x\ry"), "x\\u{d}y");
        let flood = format!("e{}x", "\u{301}".repeat(1_000));
        assert_eq!(harmless(&flood), format!("e{}\\u{{992 marks}}x", "\u{301}".repeat(8)));
        assert!(matches!(harmless("นี้ שָׁלוֹם क्षि"), Cow::Borrowed(_)));
        assert!(matches!(harmless("日本 👩\u{200d}👩 é ن\u{200c}م\n"), Cow::Borrowed(_)));
        assert_eq!(harmless("t\u{200c}\u{200d}ip"), "t\\u{2 marks}ip");
    }
}
