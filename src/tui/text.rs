//! Foreign text on its way into a cell: harmless, wrapped by width, no floods of combining marks.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;

use crate::text::harmless;

/// More combining marks than this in a row are left out, and their number is shown.
const MOST_MARKS: usize = 8;

/// The text made safe for a screen.
pub fn safe(text: &str) -> Cow<'_, str> {
    let text = harmless(text);
    if longest_run_of_marks(&text) <= MOST_MARKS {
        return text;
    }
    let (mut out, mut marks) = (String::with_capacity(text.len()), 0_usize);
    let end_run = |marks: usize, out: &mut String| {
        if marks > MOST_MARKS {
            out.push_str(&format!("\\u{{{} marks}}", marks - MOST_MARKS));
        }
    };
    for c in text.chars() {
        if is_mark(c) {
            marks += 1;
            if marks <= MOST_MARKS {
                out.push(c);
            }
        } else {
            end_run(marks, &mut out);
            marks = 0;
            out.push(c);
        }
    }
    end_run(marks, &mut out);
    Cow::Owned(out)
}

fn is_mark(c: char) -> bool {
    c.width() == Some(0) && c != '\n'
}

fn longest_run_of_marks(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if is_mark(c) { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Lines of safe text no wider than `width`, broken at blanks where there are any. At most `most`.
pub fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let text = safe(text);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        wrap_line(line, width.max(1), most, &mut lines);
        if lines.len() >= most {
            lines.truncate(most);
            break;
        }
    }
    lines
}

fn wrap_line(line: &str, width: usize, most: usize, lines: &mut Vec<String>) {
    let mut start = 0;
    while lines.len() < most {
        let rest = &line[start..];
        let (mut used, mut blank, mut end) = (0, None, None);
        for (at, c) in rest.char_indices() {
            used += c.width().unwrap_or(0);
            if used > width {
                end = Some(at);
                break;
            }
            if c == ' ' {
                blank = Some(at);
            }
        }
        let Some(end) = end else {
            lines.push(rest.to_owned());
            return;
        };
        if let Some(blank) = blank.filter(|blank| *blank > 0) {
            lines.push(rest[..blank].to_owned());
            start += blank + 1;
        } else {
            // A character wider than the pane stands alone rather than never.
            let end = if end == 0 { rest.chars().next().map_or(1, char::len_utf8) } else { end };
            lines.push(rest[..end].to_owned());
            start += end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_by_width_not_by_bytes() {
        assert_eq!(wrapped("one two three", 8, 9), ["one two", "three"]);
        assert_eq!(wrapped("日本語の文", 4, 9), ["日本", "語の", "文"]);
        assert_eq!(wrapped("日", 1, 9), ["日", ""]);
        assert_eq!(wrapped("a\n\nb", 5, 9), ["a", "", "b"]);
        assert_eq!(wrapped(&"x".repeat(100), 10, 3).len(), 3);
    }

    #[test]
    fn floods_of_marks_are_cut_and_counted() {
        let flood = format!("a{}b", "\u{301}".repeat(300));
        let safe = safe(&flood);
        assert!(safe.ends_with("\\u{292 marks}b"), "{safe}");
        assert_eq!(super::safe("e\u{301} 👩\u{200d}👩"), "e\u{301} 👩\u{200d}👩");
    }
}
