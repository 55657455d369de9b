//! Foreign text for screen cells: sanitized, wrapped by width, few combining marks.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::insight::wording::pluralize;

/// Minimum bytes of a text whose wrapped lines are cached for the next frames.
const LONG: usize = 8 * 1024;
const KEPT: usize = 16;

/// Cache entry: hash of text, width and line limit; the lines.
type WrappedText = (u64, Rc<Vec<String>>);

thread_local! {
    static WRAPPED: RefCell<VecDeque<WrappedText>> = const { RefCell::new(VecDeque::new()) };
}

/// Returns safe lines no wider than `width`, at most `most`; a sign ends what is cut off.
pub fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = broken(text, width, most.saturating_add(1));
    if lines.len() > most {
        lines.truncate(most);
        lines.iter_mut().skip(most - 1).for_each(|last| *last = clipped(&format!("{last}…"), width));
    }
    lines
}

/// Returns safe lines, at most `most`; caches those of a long text.
fn broken(text: &str, width: usize, most: usize) -> Vec<String> {
    if text.len() < LONG {
        return crate::sanitize::wrapped(text, width, most);
    }
    let mut hasher = DefaultHasher::new();
    (text, width, most).hash(&mut hasher);
    let key = hasher.finish();
    let known =
        WRAPPED.with_borrow(|kept| kept.iter().find(|(of, _)| *of == key).map(|(_, lines)| Rc::clone(lines)));
    let lines = known.unwrap_or_else(|| {
        let lines = Rc::new(crate::sanitize::wrapped(text, width, most));
        WRAPPED.with_borrow_mut(|kept| {
            kept.truncate(KEPT - 1);
            kept.push_front((key, Rc::clone(&lines)));
        });
        lines
    });
    lines.to_vec()
}

/// Returns a text as styled lines no wider than `width`, at most `most`.
pub fn paragraph(text: &str, width: usize, most: usize, style: Style) -> Vec<Line<'static>> {
    wrapped(text, width, most).into_iter().map(|line| Line::styled(line, style)).collect()
}

/// Returns a paragraph whose first line begins with `lead`; the others are indented by its width.
pub fn hanging(lead: &str, text: &str, width: usize, most: usize, style: Style) -> Vec<Line<'static>> {
    let indent = lead.width();
    let lines = wrapped(text, width.saturating_sub(indent), most).into_iter().enumerate();
    let lead = |at: usize| if at == 0 { lead.to_owned() } else { " ".repeat(indent) };
    lines.map(|(at, line)| Line::styled(lead(at) + &line, style)).collect()
}

/// Returns a confidence in two digits: ".70".
pub fn sure(text: &str) -> String {
    let Ok(sure) = text.parse::<f64>() else { return text.to_owned() };
    let text = format!("{sure:.2}");
    text.strip_prefix('0').unwrap_or(&text).to_owned()
}

pub fn clock(seconds: u64) -> String {
    if seconds >= 3600 {
        return format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// Returns a line in exactly `width` columns: cut with `…`, or padded.
pub fn clipped(line: &str, width: usize) -> String {
    let is_long = line.width() > width;
    let room = if is_long { width.saturating_sub(1) } else { width };
    let (mut out, mut used) = (String::new(), 0);
    for seen in line.graphemes(true) {
        if used + seen.width() > room {
            break;
        }
        used += seen.width();
        out.push_str(seen);
    }
    if is_long && width > 0 {
        out.push('…');
        used += 1;
    }
    out.push_str(&" ".repeat(width.saturating_sub(used)));
    out
}

/// Returns a line no wider than `width`, cut in its middle.
pub fn cut_middle(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let tail_room = width.saturating_sub(1) / 2;
    let (mut tail, mut used) = (Vec::new(), 0);
    for seen in line.graphemes(true).rev().take_while(|seen| {
        used += seen.width();
        used <= tail_room
    }) {
        tail.push(seen);
    }
    let tail: String = tail.into_iter().rev().collect();
    let head = clipped(line, width - tail.width().min(width));
    format!("{}{tail}", head.trim_end())
}

/// Returns a line in exactly `width` columns: cut in its middle, or padded.
pub fn clipped_middle(line: &str, width: usize) -> String {
    clipped(&cut_middle(line, width), width)
}

/// Returns the scroll position in a text that exceeds its area: " 18 % · ↓ 34 lines ".
pub fn position(start: usize, room: usize, count: usize) -> String {
    if count <= room {
        return String::new();
    }
    let below = count.saturating_sub(start + room);
    let percent = (start + room).min(count) * 100 / count;
    if below == 0 { " end ".to_owned() } else { format!(" {percent} % · ↓ {} ", pluralize(below, "line")) }
}

/// Returns a line, reversed if it contains the search words.
pub fn highlighted(line: Line<'static>, words: &str) -> Line<'static> {
    let is_hit = !words.is_empty() && line.to_string().to_lowercase().contains(&words.to_lowercase());
    if is_hit { line.patch_style(Modifier::REVERSED) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::harmless;

    #[test]
    fn wraps_by_width_not_by_bytes() {
        assert_eq!(wrapped("one two three", 8, 9), ["one two", "three"]);
        assert_eq!(wrapped("日本語の文", 4, 9), ["日本", "語の", "文"]);
        assert_eq!(wrapped("日", 1, 9), ["日", ""]);
        assert_eq!(wrapped("❤️❤️❤️END", 4, 9), ["❤️❤️", "❤️EN", "D"]);
        assert_eq!(wrapped("a\n\nb", 5, 9), ["a", "", "b"]);
        assert_eq!(wrapped(&"x".repeat(100), 10, 3).len(), 3);
    }

    #[test]
    fn a_line_is_cut_or_filled_to_its_width() {
        assert_eq!(clipped("short", 8), "short   ");
        assert_eq!(clipped("日本語の文", 5), "日本…");
        assert_eq!(clipped("日本語の文", 4), "日… ");
        assert_eq!(clipped("x", 0), "");
        assert_eq!(clipped_middle("software-architect", 10), "softw…tect");
        assert_eq!(clipped_middle("日本語の文", 6), "日…文 ");
        assert_eq!(clipped_middle("short", 8), "short   ");
    }

    #[test]
    fn floods_of_marks_are_cut_and_counted() {
        let flood = format!("a{}b", "\u{301}".repeat(300));
        let safe = harmless(&flood);
        assert!(safe.ends_with("\\u{292 marks}b"), "{safe}");
        assert_eq!(harmless("e\u{301} 👩\u{200d}👩"), "e\u{301} 👩\u{200d}👩");
    }

    #[test]
    fn a_position_says_what_is_below() {
        assert_eq!(position(0, 10, 10), "");
        assert_eq!(position(0, 10, 44), " 22 % · ↓ 34 lines ");
        assert_eq!(position(34, 10, 44), " end ");
    }
}
