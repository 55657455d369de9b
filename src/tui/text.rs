//! Foreign text on its way into a cell: harmless, wrapped by width, no floods of combining marks.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::theme::Theme;
use crate::sanitize::{broken, harmless};

/// Longer texts are broken into lines once and kept for the next frames, in bytes.
const LONG: usize = 8 * 1024;
const KEPT: usize = 16;

/// The hash of a text with its width and the most lines, and the lines.
type Broken = (u64, Rc<Vec<String>>);

thread_local! {
    static BROKEN: RefCell<VecDeque<Broken>> = const { RefCell::new(VecDeque::new()) };
}

/// Lines of safe text no wider than `width`, at most `most`. The lines of a long text are kept until others are.
pub fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    if text.len() < LONG {
        return crate::sanitize::wrapped(text, width, most);
    }
    let mut hasher = DefaultHasher::new();
    (text, width, most).hash(&mut hasher);
    let key = hasher.finish();
    let known =
        BROKEN.with_borrow(|kept| kept.iter().find(|(of, _)| *of == key).map(|(_, lines)| Rc::clone(lines)));
    let lines = known.unwrap_or_else(|| {
        let lines = Rc::new(crate::sanitize::wrapped(text, width, most));
        BROKEN.with_borrow_mut(|kept| {
            kept.truncate(KEPT - 1);
            kept.push_front((key, Rc::clone(&lines)));
        });
        lines
    });
    lines.to_vec()
}

/// A text as styled lines no wider than `width`, at most `most`.
pub fn paragraph(text: &str, width: usize, most: usize, style: Style) -> Vec<Line<'static>> {
    wrapped(text, width, most).into_iter().map(|line| Line::styled(line, style)).collect()
}

/// A paragraph whose first line begins with `lead` and the others with as many blanks.
pub fn hanging(lead: &str, text: &str, width: usize, most: usize, style: Style) -> Vec<Line<'static>> {
    let indent = lead.width();
    let lines = wrapped(text, width.saturating_sub(indent), most).into_iter().enumerate();
    let lead = |at: usize| if at == 0 { lead.to_owned() } else { " ".repeat(indent) };
    lines.map(|(at, line)| Line::styled(lead(at) + &line, style)).collect()
}

/// A confidence in two digits: ".70".
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

/// Exactly `width` columns of a line: cut with a sign where it is longer, blanks where it is shorter.
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

/// A line no wider than `width`: what is too much is cut from its middle, with a sign.
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

/// A line no wider than `width`, cut with a sign; a number is left out whole, so that none is cut into another.
pub fn without_cut_number(line: &str, width: usize) -> String {
    const LONGEST_NUMBER: usize = 12;
    let cut = clipped(line, width);
    let whole = cut.trim_end_matches(['…', ' ']);
    match whole.rsplit_once(' ') {
        _ if line.width() <= width => line.to_owned(),
        Some((before, word))
            if word.len() < LONGEST_NUMBER && word.contains(|c: char| c.is_ascii_digit()) =>
        {
            format!("{} …", before.trim_end())
        }
        _ => cut,
    }
}

/// Exactly `width` columns: cut in its middle where it is longer, blanks where it is shorter.
pub fn clipped_middle(line: &str, width: usize) -> String {
    clipped(&cut_middle(line, width), width)
}

/// Longer text than this is shown as it is written, in bytes.
const MOST_MARKDOWN: usize = 64 * 1024;

/// Markdown as lines no wider than `width`; at most `most`. What is foreign in it is made safe first.
pub fn rendered(markdown: &str, width: usize, most: usize, theme: Theme) -> Vec<Line<'static>> {
    if markdown.len() > MOST_MARKDOWN {
        return wrapped(markdown, width, most).into_iter().map(Line::from).collect();
    }
    let safe = harmless(markdown);
    let text = tui_markdown::from_str(&safe);
    text.lines.iter().flat_map(|line| wrap_styled(line, width.max(1), theme)).take(most).collect()
}

fn wrap_styled(line: &Line<'_>, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let style = |span: &Span<'_>| {
        let style = line.style.patch(span.style);
        if theme.color { style } else { Style { fg: None, bg: None, underline_color: None, ..style } }
    };
    let letters = |span: &Span<'_>| {
        let style = style(span);
        span.content.chars().map(|letter| (letter, style)).collect::<Vec<_>>()
    };
    let mut letters = line.spans.iter().flat_map(letters);
    let (text, mut lines) = (line.to_string(), Vec::new());
    let mut rest = text.as_str();
    while let Some((cut, next)) = broken(rest, width) {
        lines.push(merged(letters.by_ref().take(rest[..cut].chars().count())).into());
        // The blanks between two lines are on neither.
        for _ in rest[cut..next].chars() {
            letters.next();
        }
        rest = &rest[next..];
    }
    lines.push(merged(letters).into());
    lines
}

/// Letters as spans, one for as many as have the same style.
fn merged(letters: impl Iterator<Item = (char, Style)>) -> Vec<Span<'static>> {
    let mut spans = Vec::<Span<'static>>::new();
    for (letter, style) in letters {
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push(letter),
            _ => spans.push(Span::styled(letter.to_string(), style)),
        }
    }
    spans
}

/// Returns the position in a text that is longer than its place: " 18 % · ↓ 34 lines ".
pub fn position(start: usize, room: usize, count: usize) -> String {
    if count <= room {
        return String::new();
    }
    let below = count.saturating_sub(start + room);
    let percent = (start + room).min(count) * 100 / count;
    match below {
        0 => " end ".to_owned(),
        1 => format!(" {percent} % · ↓ 1 line "),
        _ => format!(" {percent} % · ↓ {below} lines "),
    }
}

/// A line with the words that are searched for reversed.
pub fn highlighted(line: Line<'static>, words: &str) -> Line<'static> {
    let (text, words) = (line.to_string(), words.to_lowercase());
    let lower = text.to_lowercase();
    // If lower case changes lengths, places would not fit.
    if words.is_empty() || lower.len() != text.len() || !lower.contains(&words) {
        return line;
    }
    let mut is_hit = vec![false; text.len()];
    for (at, hit) in lower.match_indices(&words) {
        is_hit[at..at + hit.len()].fill(true);
    }
    let letters = line.spans.iter().flat_map(|span| span.content.chars().map(move |c| (c, span.style)));
    let lit = text.char_indices().zip(letters).map(|((at, letter), (_, style))| {
        (letter, if is_hit[at] { style.add_modifier(Modifier::REVERSED) } else { style })
    });
    let spans = merged(lit);
    Line { spans, style: line.style, alignment: line.alignment }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_number_is_left_out_rather_than_cut() {
        assert_eq!(without_cut_number("sealed after 13.5 s", 19), "sealed after 13.5 s");
        assert_eq!(without_cut_number("sealed after 13.5 s", 18), "sealed after …");
        assert_eq!(without_cut_number("sealed after 13.5 s", 16), "sealed after …");
        assert_eq!(without_cut_number("session 20261122-001032-cache", 25), "session 20261122-001032-…");
        assert_eq!(without_cut_number("sealed after 13.5 s", 10), "sealed af…");
    }

    #[test]
    fn markdown_is_rendered_and_wrapped() {
        let theme = Theme { color: false, ..Theme::from_environment(|_| None) };
        let lines = rendered("**strong** words here\n\n- one\n- two \u{1b}[31m", 12, 99, theme);
        let text: Vec<String> = lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect();
        assert_eq!(text, ["strong words", "here", "", "- one", "- two", "\\u{1b}[31m"]);
        assert!(lines[0].spans[0].style.add_modifier.contains(ratatui::style::Modifier::BOLD));
    }

    #[test]
    fn floods_of_marks_are_cut_and_counted() {
        let flood = format!("a{}b", "\u{301}".repeat(300));
        let safe = harmless(&flood);
        assert!(safe.ends_with("\\u{292 marks}b"), "{safe}");
        assert_eq!(harmless("e\u{301} 👩\u{200d}👩"), "e\u{301} 👩\u{200d}👩");
    }

    #[test]
    fn every_match_of_a_line_is_reversed_and_nothing_is_lost() {
        let line = Line::from(vec![Span::raw("Inline is "), Span::raw("inl"), Span::raw("ine, ïNLINE")]);
        let text = line.to_string();
        let lit = highlighted(line, "inline");
        assert_eq!(lit.to_string(), text);
        let reversed = |span: &&Span<'_>| span.style.add_modifier.contains(Modifier::REVERSED);
        let hits: Vec<&str> = lit.spans.iter().filter(reversed).map(|span| &*span.content).collect();
        assert_eq!(hits, ["Inline", "inline"]);
        let odd = Line::from("İnline");
        assert_eq!(highlighted(odd, "inline").to_string(), "İnline");
    }

    #[test]
    fn a_position_says_what_is_below() {
        assert_eq!(position(0, 10, 10), "");
        assert_eq!(position(0, 10, 44), " 22 % · ↓ 34 lines ");
        assert_eq!(position(34, 10, 44), " end ");
    }
}
