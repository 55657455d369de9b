//! A text over the whole screen but its last line.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::sanitize::harmless_line;
use crate::tui::cell_text::{rendered, safe, wrapped};
use crate::tui::model::{Model, Overlay, TextKind, TextView};

pub fn place_of(model: &Model) -> Rect {
    let (width, height) = model.size;
    Rect { x: 0, y: 0, width, height: height.saturating_sub(1) }
}

pub fn lines_of_text(model: &Model, read: &TextView) -> Vec<Line<'static>> {
    let width = usize::from(place_of(model).width.saturating_sub(2));
    match read.kind {
        TextKind::Answer => rendered(&read.text, width, usize::MAX, model.theme),
        TextKind::Help => super::help::lines(model, width),
        TextKind::Plain | TextKind::Agree(_) => {
            wrapped(&read.text, width, usize::MAX).into_iter().map(Line::from).collect()
        }
    }
}

pub fn most_text(model: &Model) -> usize {
    let Some(Overlay::Text(read)) = &model.overlay else { return 0 };
    let room = usize::from(place_of(model).height.saturating_sub(2));
    lines_of_text(model, read).len().saturating_sub(room)
}

/// Draws it; below it the keys, or what is searched for.
pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, read: &TextView) {
    let place = Rect { height: area.height.saturating_sub(1), ..area };
    let room = usize::from(place.height.saturating_sub(2));
    let all = lines_of_text(model, read);
    let count = all.len();
    let start = read.scroll.min(count.saturating_sub(room));
    let shown =
        all.into_iter().skip(start).take(room).map(|line| highlighted(line, &read.words)).collect::<Vec<_>>();
    let title = format!(" {} ", harmless_line(&read.title));
    let block = model.theme.block(title, true).title_bottom(position(start, room, count));
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(shown).block(block), place);
    let foot = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    if let Some(notice) = &model.notice {
        let text = format!(" {}", safe(notice).replace('\n', " "));
        return frame.render_widget(Paragraph::new(Line::styled(text, model.theme.active())), foot);
    }
    if read.is_typing {
        let text = format!("/{}{}", safe(&read.words), model.theme.sign("▏", "_"));
        return frame.render_widget(Paragraph::new(Line::styled(text, model.theme.strong())), foot);
    }
    let left = count.saturating_sub(start + room);
    let mut spans = vec![Span::raw(" ")];
    for (key, word) in keys(read, left) {
        spans.push(Span::styled(key, model.theme.key()));
        spans.push(Span::raw(format!(" {word}   ")));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), foot);
}

/// The keys below a text, of which so many lines are left.
fn keys(read: &TextView, left: usize) -> Vec<(&'static str, String)> {
    let mut keys = match read.kind {
        TextKind::Agree(is_read) if is_read || left == 0 => {
            return vec![("y", "agree, and keep that".to_owned()), ("n", "no".to_owned())];
        }
        TextKind::Agree(_) => return vec![("j", format!("{left} more lines")), ("n", "no".to_owned())],
        TextKind::Answer => vec![("Esc", "back"), ("← →", "seat"), ("/", "find")],
        TextKind::Plain | TextKind::Help => vec![("Esc", "back"), ("/", "find")],
    };
    if !read.words.is_empty() {
        keys.push(("n N", "match"));
    }
    if read.kind != TextKind::Help {
        keys.push(("y", "copy"));
    }
    keys.into_iter().map(|(key, word)| (key, word.to_owned())).collect()
}

/// Where one is in a text that is longer than its place: " 18 % · ↓ 34 lines ".
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
    let text = line.to_string();
    let lower = text.to_lowercase();
    let words = words.to_lowercase();
    // Where lower case changes lengths, places would not fit.
    if words.is_empty() || lower.len() != text.len() || !lower.contains(&words) {
        return line;
    }
    let hits: Vec<(usize, usize)> =
        lower.match_indices(&words).map(|(at, hit)| (at, at + hit.len())).collect();
    let (mut spans, mut at) = (Vec::new(), 0);
    for span in line.spans {
        let end = at + span.content.len();
        let mut from = at;
        while from < end {
            let inside = hits.iter().find(|(start, stop)| *start <= from && from < *stop);
            let to = match inside {
                Some((_, stop)) => (*stop).min(end),
                None => {
                    hits.iter().map(|(start, _)| *start).find(|start| *start > from).unwrap_or(end).min(end)
                }
            };
            let style =
                if inside.is_some() { span.style.add_modifier(Modifier::REVERSED) } else { span.style };
            // Both ends are ends of characters in the lower case of the same length only if they are here.
            let Some(part) = text.get(from..to) else { return Line::styled(text, line.style) };
            spans.push(Span::styled(part.to_owned(), style));
            from = to;
        }
        at = end;
    }
    Line { spans, style: line.style, alignment: line.alignment }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_of_a_line_is_reversed_and_nothing_is_lost() {
        let line = Line::from(vec![Span::raw("Inline is "), Span::raw("inl"), Span::raw("ine, ïNLINE")]);
        let text = line.to_string();
        let lit = highlighted(line, "inline");
        assert_eq!(lit.to_string(), text);
        let reversed = |span: &&Span<'_>| span.style.add_modifier.contains(Modifier::REVERSED);
        let hits: Vec<&str> = lit.spans.iter().filter(reversed).map(|span| &*span.content).collect();
        assert_eq!(hits, ["Inline", "inl", "ine"]);
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
