//! Home screen: saved sessions, definitions to start from, and available models.

use std::path::PathBuf;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::frame::{self, Heading, row_start};
use super::text::{clipped, cut_middle};
use super::theme::Theme;
use crate::history::NO_MODEL;
use crate::sanitize::harmless_line;

pub const REHEARSAL: &str = "rehearsal";
/// Least width of a name: that of "a question of your own".
const NAME: usize = 22;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenTarget {
    NewQuestion,
    /// The text of a definition, with a file name for messages.
    Text {
        name: String,
        text: String,
    },
    File(PathBuf),
    Replay(PathBuf),
    Resume(PathBuf),
    /// A new session with a saved one's events up to this `seq`.
    Fork(PathBuf, u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeRow {
    pub sign: &'static str,
    pub name: String,
    pub about: String,
    /// Time since the last change; empty if the session never began.
    pub age: String,
    pub opening: OpenTarget,
}

/// A provider, local server or program that can answer on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSource {
    /// The part before `/` in a model's text.
    pub provider: String,
    /// Whether it responds or has its key.
    pub is_ready: bool,
    /// Models as a seat names them: `provider/model`.
    pub models: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Home {
    pub project: String,
    /// The chosen model for seats that name none.
    pub model: Option<String>,
    pub rows: Vec<HomeRow>,
    /// Index of the chosen row among the visible ones.
    pub at: usize,
    /// Search words; rows without them are hidden.
    pub words: String,
    /// Every persona as a roster entry, with its description.
    pub personas: Vec<(String, String)>,
    pub strategies: Vec<String>,
    pub notices: Vec<String>,
    pub is_reading: bool,
    /// Models on this machine; `None` until the search has finished.
    pub sources: Option<Vec<ModelSource>>,
}

impl HomeRow {
    fn is_session(&self) -> bool {
        matches!(self.opening, OpenTarget::Replay(_))
    }

    fn is_open(&self) -> bool {
        self.is_session() && self.sign == "●"
    }
}

impl Home {
    pub fn visible_rows(&self) -> Vec<&HomeRow> {
        let words = self.words.to_lowercase();
        let holds = |row: &&HomeRow| format!("{} {}", row.name, row.about).to_lowercase().contains(&words);
        self.rows.iter().filter(holds).collect()
    }

    pub fn chosen(&self) -> Option<&HomeRow> {
        let shown = self.visible_rows();
        shown.get(self.at.min(shown.len().saturating_sub(1))).copied()
    }

    pub fn take(&mut self, mut read: Self) {
        read.rows.sort_by_key(|row| (!row.is_session(), !row.is_open()));
        (read.words, read.sources) = (std::mem::take(&mut self.words), self.sources.take());
        let is_chosen = |row: &&HomeRow| self.chosen().is_some_and(|chosen| chosen.opening == row.opening);
        read.at = read.visible_rows().iter().position(is_chosen).unwrap_or(self.at);
        *self = read;
    }
}

const WITH_SOURCES: u16 = 12;

struct Part<'a> {
    title: String,
    rows: &'a [&'a HomeRow],
    first: usize,
}

pub fn draw(frame: &mut Frame<'_>, title: Rect, body: Rect, home: &Home, theme: Theme) {
    heading(frame, title, home, theme);
    let of_sources = if body.height >= WITH_SOURCES { 2 } else { 0 };
    let [list, who] = Layout::vertical([Constraint::Min(1), Constraint::Length(of_sources)]).areas(body);
    let shown = home.visible_rows();
    let parts = parts(home, &shown);
    let places = Layout::vertical(heights(&parts, list.height)).split(list);
    for (part, place) in parts.iter().zip(places.iter()) {
        draw_part(frame, *place, home.at, part, theme);
    }
    if who.height > 0 {
        let (title, note) = ("can answer".to_owned(), "m takes one · D tests them".to_owned());
        let heading = Heading { title, note, is_focused: false };
        let line = sources(home, usize::from(frame::inner(who).width), theme);
        frame::draw(frame, who, theme, &heading, vec![line]);
    }
}

/// Returns the sections with rows: sessions to resume, finished ones, ways to begin.
fn parts<'a>(home: &Home, shown: &'a [&'a HomeRow]) -> Vec<Part<'a>> {
    let sessions = shown.iter().take_while(|row| row.is_session()).count();
    let open = shown[..sessions].iter().take_while(|row| row.is_open()).count();
    let words = harmless_line(&home.words);
    let found = if words.is_empty() { String::new() } else { format!(" · “{words}”") };
    let title = |name: &str, count: usize| format!("{name} ({count}){found}");
    let mut parts = vec![
        Part { title: title("resume", open), rows: &shown[..open], first: 0 },
        Part { title: title("done", sessions - open), rows: &shown[open..sessions], first: open },
        Part { title: format!("begin{found}"), rows: &shown[sessions..], first: sessions },
    ];
    parts.retain(|part| !part.rows.is_empty());
    if parts.is_empty() {
        let title = if home.is_reading { "loading…" } else { "no match; Esc ends the search" };
        parts.push(Part { title: title.to_owned(), rows: &[], first: 0 });
    }
    parts
}

/// Returns the height of each list: all its rows, but the lists below keep a few lines each.
fn heights(parts: &[Part<'_>], room: u16) -> Vec<Constraint> {
    const LEAST: u16 = 3;
    let mut left = room;
    let below = (0..parts.len()).rev().map(|after| LEAST * frame::cells(after));
    let height = |(part, below): (&Part<'_>, u16)| {
        let height = frame::height(part.rows.len()).min(left.saturating_sub(below).max(LEAST)).min(left);
        left -= height;
        Constraint::Length(height)
    };
    parts.iter().zip(below).map(height).collect()
}

fn draw_part(frame: &mut Frame<'_>, area: Rect, at: usize, part: &Part<'_>, theme: Theme) {
    if area.height == 0 {
        return;
    }
    let inner = frame::inner(area);
    let (height, room) = (usize::from(inner.height), usize::from(inner.width));
    let chosen = at.checked_sub(part.first).filter(|at| *at < part.rows.len());
    let start = chosen.map_or(0, |at| (at + 1).saturating_sub(height));
    let shown = part.rows.iter().enumerate().skip(start).take(height);
    let note = match shown.len() {
        count if count < part.rows.len() => format!("{count} of {} · / finds", part.rows.len()),
        _ => String::new(),
    };
    let widest = |text: fn(&HomeRow) -> &str| {
        part.rows.iter().map(|row| harmless_line(text(row)).width()).max().unwrap_or(0)
    };
    let ages = if room < 56 { 0 } else { widest(|row| &row.age) };
    let rest = room.saturating_sub(4 + 2 + ages + if ages > 0 { 2 } else { 0 });
    // If not everything fits, names get more room than their descriptions.
    let most = rest.saturating_sub(widest(|row| &row.about)).max(rest * 2 / 3).max(NAME.min(rest));
    let names = widest(|row| &row.name).min(most);
    let mut lines = Vec::new();
    for (index, row) in shown {
        let style = match row.sign {
            "✓" => theme.good(),
            "✗" | "!" => theme.bad(),
            _ => Style::new(),
        };
        let is_chosen = chosen == Some(index);
        let mut line = row_start(theme, is_chosen, Span::styled(row.sign, style), &row.name, names);
        line.push_span(clipped(&harmless_line(&row.about), rest - names));
        if ages > 0 {
            line.push_span(Span::styled(format!("  {:>ages$}", harmless_line(&row.age)), theme.faint()));
        }
        lines.push(if is_chosen { line.style(theme.chosen()) } else { line });
    }
    let heading = Heading { title: part.title.clone(), note, is_focused: chosen.is_some() };
    frame::draw(frame, area, theme, &heading, lines);
}

fn heading(frame: &mut Frame<'_>, area: Rect, home: &Home, theme: Theme) {
    let width = usize::from(area.width);
    let [first, second] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
    let usual = home.model.as_deref().unwrap_or(NO_MODEL);
    let answers = harmless_line(&format!("answers come from: {usual} "));
    let project = harmless_line(&home.project);
    let fits = project.width() + answers.width() + 16 < width;
    let right = if fits { format!("{project} · {answers}") } else { answers };
    frame.render_widget(Paragraph::new(Line::styled(" roundtable", theme.strong())), first);
    let right = cut_middle(&right, width.saturating_sub(13));
    frame.render_widget(Paragraph::new(right).alignment(Alignment::Right), first);
    let text =
        clipped(" Ask several models the same question. Nobody sees an answer before all are in.", width);
    frame.render_widget(Paragraph::new(text), second);
}

/// Returns one line: the sources that are ready, and the number of those that miss something.
fn sources(home: &Home, width: usize, theme: Theme) -> Line<'static> {
    let all = home.sources.as_deref().unwrap_or_default();
    let ready = all.iter().filter(|source| source.is_ready);
    let missing = all.len() - ready.clone().count();
    let name = |source: &ModelSource| match source.models.len() {
        0 => harmless_line(&source.provider),
        count => format!("{} {count}", harmless_line(&source.provider)),
    };
    let mut ready: Vec<String> = ready.map(name).collect();
    ready.push(format!("{REHEARSAL} (no model)"));
    if home.sources.is_none() {
        ready.push("asking local servers …".to_owned());
    }
    let right = if missing > 0 { format!("{missing} not set up: D shows") } else { String::new() };
    let left = clipped(&ready.join(" · "), width.saturating_sub(right.width() + 2));
    Line::from(vec![Span::raw(left), Span::styled(format!("  {right}"), theme.faint())])
}
