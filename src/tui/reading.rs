//! A text over the whole screen but its last line: scrolled, searched, copied, agreed to.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::list::type_in;
use super::text::{clipped, highlighted, paragraph, position, rendered, wrapped};
use super::theme::Theme;
use crate::sanitize::{harmless, harmless_line};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextView {
    pub title: String,
    pub text: String,
    pub copies: Option<String>,
    pub kind: TextKind,
    pub scroll: usize,
    pub words: String,
    pub is_typing: bool,
    pub at_hit: Option<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TextKind {
    #[default]
    Plain,
    /// A seat's answer, which is Markdown; the arrows lead to other seats.
    Answer,
    Help(Vec<KeyGroup>),
    /// Needs that a person is asked to agree to; true once the end of the text has been on the screen: nobody
    /// agrees before.
    Agree(bool),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyGroup {
    pub heading: &'static str,
    pub rows: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextEvent {
    Stayed,
    Closed,
    OtherSeat(bool),
    Agreed,
    Declined,
    Copied(String),
    Said(String),
}

impl TextView {
    pub fn plain(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), ..Self::default() }
    }

    fn lines(&self, width: u16, theme: Theme) -> Vec<Line<'static>> {
        let width = usize::from(width.saturating_sub(2));
        match &self.kind {
            TextKind::Answer => rendered(&self.text, width, usize::MAX, theme),
            TextKind::Help(groups) => help(groups, width, theme),
            TextKind::Plain | TextKind::Agree(_) => paragraph(&self.text, width, usize::MAX, Style::new()),
        }
    }

    fn room(height: u16) -> usize {
        usize::from(height.saturating_sub(3))
    }

    pub fn scroll_by(&mut self, lines: i32, size: (u16, u16), theme: Theme) {
        let most = self.lines(size.0, theme).len().saturating_sub(Self::room(size.1));
        self.scroll = self.scroll.min(most).saturating_add_signed(lines as isize).min(most);
    }

    pub fn press(&mut self, key: &KeyEvent, size: (u16, u16), theme: Theme) -> TextEvent {
        let lines = self.lines(size.0, theme);
        if self.is_typing {
            match key.code {
                KeyCode::Esc => (self.is_typing, self.words) = (false, String::new()),
                KeyCode::Enter => {
                    (self.is_typing, self.at_hit) = (false, None);
                    return self.find(true, &lines, Self::room(size.1));
                }
                _ => {
                    type_in(&mut self.words, key);
                }
            }
            return TextEvent::Stayed;
        }
        let most = lines.len().saturating_sub(Self::room(size.1));
        let (at, page) = (self.scroll.min(most), Self::room(size.1).saturating_sub(1).max(1));
        if let TextKind::Agree(is_read) = &mut self.kind {
            *is_read |= at >= most;
            match key.code {
                KeyCode::Char('y') if *is_read => return TextEvent::Agreed,
                KeyCode::Esc | KeyCode::Char('n' | 'q') => return TextEvent::Declined,
                KeyCode::Char('y' | '/') | KeyCode::Enter => return TextEvent::Stayed,
                _ => {}
            }
        }
        let (is_answer, is_help) = (self.kind == TextKind::Answer, matches!(self.kind, TextKind::Help(_)));
        let to = match key.code {
            KeyCode::Down | KeyCode::Char('j') => at + 1,
            KeyCode::Up | KeyCode::Char('k') => at.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => at + page,
            KeyCode::PageUp => at.saturating_sub(page),
            KeyCode::Home | KeyCode::Char('g') => 0,
            KeyCode::End | KeyCode::Char('G') => most,
            KeyCode::Right | KeyCode::Char('l') if is_answer => return TextEvent::OtherSeat(true),
            KeyCode::Left | KeyCode::Char('h') if is_answer => return TextEvent::OtherSeat(false),
            KeyCode::Char('>' | 'n') => return self.find(true, &lines, Self::room(size.1)),
            KeyCode::Char('<' | 'N') => return self.find(false, &lines, Self::room(size.1)),
            KeyCode::Char('y') if !is_help => {
                return TextEvent::Copied(self.copies.as_ref().unwrap_or(&self.text).clone());
            }
            KeyCode::Esc if !self.words.is_empty() => {
                self.words.clear();
                return TextEvent::Stayed;
            }
            KeyCode::Esc | KeyCode::Char('q') | KeyCode::Enter => return TextEvent::Closed,
            KeyCode::Char('?') | KeyCode::F(1) if is_help => return TextEvent::Closed,
            KeyCode::Char('/') => {
                (self.is_typing, self.words) = (true, String::new());
                return TextEvent::Stayed;
            }
            _ => return TextEvent::Stayed,
        };
        self.scroll = to.min(most);
        TextEvent::Stayed
    }

    /// To the next line that holds the words, or the one before; around the end of the text.
    fn find(&mut self, forward: bool, lines: &[Line<'_>], room: usize) -> TextEvent {
        if self.words.is_empty() {
            return TextEvent::Said("No search text. Press / to search.".to_owned());
        }
        let words = self.words.to_lowercase();
        let holds = |index: &usize| lines[*index].to_string().to_lowercase().contains(&words);
        let hits: Vec<usize> = (0..lines.len()).filter(holds).collect();
        let (at, scroll) = (self.at_hit, self.scroll);
        let next = if forward {
            hits.iter().position(|hit| at.map_or(*hit >= scroll, |at| *hit > at)).unwrap_or(0)
        } else {
            let before = hits.iter().rposition(|hit| *hit < at.unwrap_or(scroll));
            before.unwrap_or(hits.len().saturating_sub(1))
        };
        let Some(hit) = hits.get(next).copied() else {
            return TextEvent::Said(format!("No match for “{}” here. Press / for other words.", self.words));
        };
        self.at_hit = Some(hit);
        // The line is seen, with some of what stands before it.
        if hit < scroll || hit >= scroll + room {
            self.scroll = hit.saturating_sub(room / 3).min(lines.len().saturating_sub(room));
        }
        TextEvent::Said(format!("{} of {} lines with “{}”", next + 1, hits.len(), self.words))
    }

    /// Draws it; below it the keys, what is searched for, or a word to the person.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, notice: Option<&str>, theme: Theme) {
        let [place, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(area);
        let (room, all) = (Self::room(area.height), self.lines(area.width, theme));
        let count = all.len();
        let start = self.scroll.min(count.saturating_sub(room));
        let shown = all.into_iter().skip(start).take(room).map(|line| highlighted(line, &self.words));
        let title = format!(" {} ", harmless_line(&self.title));
        let block = theme.block(title, true).title_bottom(position(start, room, count));
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(shown.collect::<Vec<_>>()).block(block), place);
        let line = if let Some(notice) = notice {
            Line::styled(format!(" {}", harmless(notice).replace('\n', " ")), theme.active())
        } else if self.is_typing {
            Line::styled(format!("/{}▏", harmless(&self.words)), theme.strong())
        } else {
            let keys = self.keys(count.saturating_sub(start + room)).into_iter();
            let word =
                |(key, word): (_, String)| [Span::styled(key, theme.key()), format!(" {word}   ").into()];
            std::iter::once(Span::raw(" ")).chain(keys.flat_map(word)).collect()
        };
        frame.render_widget(Paragraph::new(line), foot);
    }

    /// The keys below a text, of which so many lines are left.
    fn keys(&self, left: usize) -> Vec<(&'static str, String)> {
        let mut keys = vec![("Esc", "back")];
        match self.kind {
            TextKind::Agree(is_read) if is_read || left == 0 => {
                keys = vec![("y", "agree, and keep that"), ("n", "no")];
            }
            TextKind::Agree(_) => return vec![("j", format!("{left} more lines")), ("n", "no".to_owned())],
            TextKind::Answer | TextKind::Plain | TextKind::Help(_) => {
                keys.extend((self.kind == TextKind::Answer).then_some(("← →", "seat")));
                keys.push(("/", "find"));
                keys.extend((!self.words.is_empty()).then_some(("n N", "match")));
                keys.extend((!matches!(self.kind, TextKind::Help(_))).then_some(("y", "copy")));
            }
        }
        keys.into_iter().map(|(key, word)| (key, word.to_owned())).collect()
    }
}

/// Headings with their keys; names that are too long go on below.
fn help(groups: &[KeyGroup], width: usize, theme: Theme) -> Vec<Line<'static>> {
    let keys = if width < 58 { 11 } else { 17 };
    let mut lines = Vec::new();
    for group in groups.iter().filter(|group| !group.rows.is_empty()) {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::styled(format!(" {}", group.heading), theme.strong()));
        for (label, name) in &group.rows {
            let mut label = label.as_str();
            for line in wrapped(name, width.saturating_sub(keys + 2), 4) {
                let key = format!(" {} ", clipped(std::mem::take(&mut label), keys));
                lines.push(Line::from(vec![Span::styled(key, theme.key()), Span::raw(line)]));
            }
        }
    }
    lines
}
