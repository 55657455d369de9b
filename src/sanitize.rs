//! Text of foreign origin: which characters may not reach a terminal, and how they are shown.
//!
//! [`harmless`] is the one place through which every answer, name, path and error passes on its way
//! to a screen, to stderr or to a text report. It shows what it replaces (`\u{202e}`) and never
//! deletes silently. [`wrapped`] breaks it into lines of a width.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Whether a character can act on a terminal or a reader instead of being seen: C0 and C1
/// controls, DEL, line and paragraph separators, bidi and zero-width controls, BOM, tags,
/// non-characters. The joiners are not, since emoji and scripts need them: [`floods`].
pub fn is_unsafe(c: char) -> bool {
    // Texts are long, and nearly all of them is this.
    if matches!(c, ' '..='~') {
        return false;
    }
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Stands in an answer for the key that its request carried.
pub const MASKED_KEY: &str = "(masked API key)";
/// A shorter key is not masked in answers, in characters.
pub const LEAST_KEY: usize = 16;

/// How many marks without width of their own may stand on one another: scripts need up to four.
const MOST_MARKS: usize = 8;

/// Whether a character adds to the one before it instead of standing beside it.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && c.width() == Some(0)
}

/// For every character whether it is one mark too many on the character it adds to, as a joiner is on a Latin
/// letter.
pub fn floods(text: &str) -> impl Iterator<Item = (usize, char, bool)> {
    text.char_indices().scan((0, false), |(marks, is_latin), (at, c)| {
        let is_joiner = matches!(c, '\u{200c}' | '\u{200d}');
        (*marks, *is_latin) =
            if is_mark(c) { (*marks + 1, *is_latin) } else { (0, c.is_alphabetic() && c < '\u{250}') };
        Some((at, c, *marks > MOST_MARKS || is_joiner && *is_latin))
    })
}

/// Whether [`harmless`] would change nothing.
pub fn is_harmless(text: &str) -> bool {
    if text.is_ascii() {
        return !text.bytes().any(|byte| byte != b'\n' && byte.is_ascii_control());
    }
    !floods(text).any(|(_, c, is_flood)| is_flood || (c != '\n' && is_unsafe(c)))
}

/// The text with every unsafe character made visible and floods of marks counted instead of stacked;
/// line feeds stay, tabs become spaces.
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

/// As [`harmless`], on one line: line feeds are shown as `⏎`.
pub fn harmless_line(text: &str) -> String {
    harmless(text).replace('\n', "⏎")
}

/// A number with its thousands apart: `2,418`.
pub fn group_digits(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

/// A count with its noun: `1 seat`, `2 seats`.
pub fn pluralize(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", group_digits(count))
}

/// Lines of safe text no wider than `width`, broken at blanks where there are any. At most `most`.
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

/// Where a line that is wider than `width` is cut, and where the next one begins: at its last blank
/// if it has one, else between two characters as they are seen. One wider than the pane stands alone
/// rather than never.
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
    fn shows_what_would_act() {
        assert_eq!(harmless("a\u{1b}[31mb\u{202e}c\td\r\ne"), "a\\u{1b}[31mb\\u{202e}c    d\ne");
        assert_eq!(harmless("x\ry"), "x\\u{d}y");
        let flood = format!("e{}x", "\u{301}".repeat(1_000));
        assert_eq!(harmless(&flood), format!("e{}\\u{{992 marks}}x", "\u{301}".repeat(8)));
        assert!(matches!(harmless("นี้ שָׁלוֹם क्षि"), Cow::Borrowed(_)));
        assert!(matches!(harmless("日本 👩\u{200d}👩 é ن\u{200c}م\n"), Cow::Borrowed(_)));
        assert_eq!(harmless("t\u{200c}\u{200d}ip"), "t\\u{2 marks}ip");
    }
}
