//! Text of foreign origin: which characters may not reach a terminal, and how they are shown.
//!
//! [`harmless`] is the one place through which every answer, name, path and error passes on its way
//! to a screen, to stderr or to a text report. It shows what it replaces (`\u{202e}`) and never
//! deletes silently. It does not measure widths.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character can act on a terminal or a reader instead of being seen: C0 and C1
/// controls, DEL, line and paragraph separators, bidi and zero-width controls, BOM, tags,
/// non-characters. The joiner U+200D is not, since emoji need it.
pub fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// The text with every unsafe character made visible; line feeds stay, tabs become spaces.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && is_unsafe(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(|c| c != '\n' && is_unsafe(c)) {
        out.push_str(&rest[..at]);
        let c = rest[at..].chars().next().unwrap_or_default();
        match c {
            '\t' => out.push_str("    "),
            '\r' if rest[at + 1..].starts_with('\n') => {}
            other => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(other));
            }
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// As [`harmless`], on one line: line feeds are shown as `⏎`.
pub fn harmless_line(text: &str) -> String {
    harmless(text).replace('\n', "⏎")
}

/// A rough count of tokens: a quarter of the bytes, rounded up. Shown as an estimate only.
pub fn estimated_tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_would_act() {
        assert_eq!(harmless("a\u{1b}[31mb\u{202e}c\td\r\ne"), "a\\u{1b}[31mb\\u{202e}c    d\ne");
        assert_eq!(harmless("x\ry"), "x\\u{d}y");
        assert!(matches!(harmless("日本 👩\u{200d}👩 é\n"), Cow::Borrowed(_)));
    }
}
