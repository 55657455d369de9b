//! Full-screen text to read, copy or agree to.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::text::{highlighted, position, wrapped};
use super::theme::Theme;
use crate::sanitize::harmless;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextView {
    pub title: String,
    pub text: String,
    pub copies: Option<String>,
    pub kind: TextKind,
    pub scroll: usize,
    pub words: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TextKind {
    #[default]
    Plain,
    /// A seat's answer; the arrows switch to other seats.
    Answer,
    /// Needs that a person is asked to agree to; agreeing requires scrolling to the end.
    Agree { is_read: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextEvent {
    Stayed,
    Closed,
    OtherSeat(bool),
    Agreed,
    Declined,
    Copied(String),
}

impl TextView {
    pub fn plain(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), ..Self::default() }
    }

    fn lines(&self, width: u16) -> Vec<String> {
        wrapped(&self.text, usize::from(width.saturating_sub(2)), usize::MAX)
    }

    fn room(height: u16) -> usize {
        usize::from(height.saturating_sub(3))
    }

    pub fn press(&mut self, key: &KeyEvent, size: (u16, u16)) -> TextEvent {
        let lines = self.lines(size.0);
        let most = lines.len().saturating_sub(Self::room(size.1));
        let (at, page) = (self.scroll.min(most), Self::room(size.1).saturating_sub(1).max(1));
        if let TextKind::Agree { is_read } = &mut self.kind {
            *is_read |= at >= most;
            match key.code {
                KeyCode::Char('y') if *is_read => return TextEvent::Agreed,
                KeyCode::Esc | KeyCode::Char('n' | 'q') => return TextEvent::Declined,
                KeyCode::Char('y') | KeyCode::Enter => return TextEvent::Stayed,
                _ => {}
            }
        }
        let is_answer = self.kind == TextKind::Answer;
        let to = match key.code {
            KeyCode::Down | KeyCode::Char('j') => at + 1,
            KeyCode::Up | KeyCode::Char('k') => at.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => at + page,
            KeyCode::PageUp => at.saturating_sub(page),
            KeyCode::Home | KeyCode::Char('g') => 0,
            KeyCode::End | KeyCode::Char('G') => most,
            KeyCode::Right | KeyCode::Char('l') if is_answer => return TextEvent::OtherSeat(true),
            KeyCode::Left | KeyCode::Char('h') if is_answer => return TextEvent::OtherSeat(false),
            KeyCode::Char('y') => {
                return TextEvent::Copied(self.copies.as_ref().unwrap_or(&self.text).clone());
            }
            KeyCode::Esc | KeyCode::Char('q' | '?') | KeyCode::Enter => return TextEvent::Closed,
            _ => return TextEvent::Stayed,
        };
        self.scroll = to.min(most);
        TextEvent::Stayed
    }

    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, notice: Option<&str>, theme: Theme) {
        let [place, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(area);
        let (room, all) = (Self::room(area.height), self.lines(area.width));
        let count = all.len();
        let start = self.scroll.min(count.saturating_sub(room));
        let shown = all.into_iter().skip(start).take(room).map(|line| highlighted(line.into(), &self.words));
        let block = theme.block(&self.title, area.width).title_bottom(position(start, room, count));
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(shown.collect::<Vec<_>>()).block(block), place);
        let line = if let Some(notice) = notice {
            Line::styled(format!(" {}", harmless(notice).replace('\n', " ")), theme.active())
        } else {
            let more = format!("{} more lines", count.saturating_sub(start + room));
            let keys: &[(&'static str, &str)] = match self.kind {
                TextKind::Agree { is_read } if is_read || start + room >= count => {
                    &[("y", "agree"), ("n", "no")]
                }
                TextKind::Agree { .. } => &[("j", &more), ("n", "no")],
                TextKind::Answer => &[("Esc", "back"), ("← →", "seat"), ("y", "copy")],
                TextKind::Plain => &[("Esc", "back"), ("y", "copy")],
            };
            let word = |(key, word): &(_, _)| [Span::styled(*key, theme.key()), format!(" {word}   ").into()];
            std::iter::once(Span::raw(" ")).chain(keys.iter().flat_map(word)).collect()
        };
        frame.render_widget(Paragraph::new(line), foot);
    }
}
