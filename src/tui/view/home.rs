//! The home screen: what can go on, ways to begin, who can answer.
//!
//! ```text
//!  roundtable                      ~/shop · answers come from: no model yet
//!  Ask several AIs one question at once; no answer is read before all are in.
//! ╭ Go on ───────────────────────────────────────────────────────────────────────╮
//! │ ▸● Which cache first?              round 2 open, 3 of 5   12 min ago  resume │
//! ├ Begin ───────────────────────────────────────────────────────────────────────┤
//! │  + a question of your own          two fields are enough               start │
//! ├ Who can answer ──────────────────────────────────────────────────────────────┤
//! │  ● ollama     3 models                                                       │
//! ╰──────────────────────────────────────────────────────────────────────────────╯
//! ```

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::click_map::{ClickMap, Target};
use crate::history::NO_MODEL;
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, cut_middle, wrapped};
use crate::tui::home::{HomeRow, HomeSection};
use crate::tui::model::Model;
use crate::tui::sources::{REHEARSAL, SourceState};

/// The narrowest screen with a second column.
const TWO_COLUMNS: u16 = 100;
/// The lowest body that shows who can answer.
const WITH_SOURCES: u16 = 14;

pub fn draw(frame: &mut Frame<'_>, title: Rect, body: Rect, model: &Model, hits: &mut ClickMap) {
    heading(frame, title, model);
    let sources = source_lines(model);
    let (body, beside) = if body.width >= TWO_COLUMNS {
        let [left, right] = Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)]).areas(body);
        (left, Some(right))
    } else {
        (body, None)
    };
    let high = |lines: usize| u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(2);
    let shown = model.home.shown();
    let sessions = shown.iter().take_while(|row| row.part == HomeSection::Sessions).count();
    let of_sources = if beside.is_none() && body.height >= WITH_SOURCES {
        let wanted = high(sessions) + high(shown.len() - sessions);
        high(sources.len()).min((body.height / 3).max(body.height.saturating_sub(wanted)))
    } else {
        0
    };
    let of_begin = high(shown.len() - sessions).clamp(3, (body.height - of_sources) / 2);
    let has_sessions = sessions > 0 || !model.home.words.is_empty() || model.home.is_reading;
    let over_height = if has_sessions { high(sessions.max(1)) } else { 0 };
    let room = body.height.saturating_sub(of_sources + of_begin);
    let [over, under, who, _] = Layout::vertical([
        Constraint::Length(over_height.min(room)),
        Constraint::Length(if has_sessions {
            of_begin
        } else {
            high(shown.len()).min(body.height - of_sources)
        }),
        Constraint::Length(of_sources),
        Constraint::Fill(1),
    ])
    .areas(body);
    let is_above = model.home.at < sessions;
    if over.height > 2 {
        frame.render_widget(model.theme.block(over_title(model, sessions), is_above), over);
        list(frame, inner(over), model, &shown[..sessions], 0, hits);
        if sessions == 0 && !model.home.is_reading {
            let words = " No matching sessions. Esc clears the search.";
            frame.render_widget(Paragraph::new(Line::styled(words, model.theme.faint())), inner(over));
        }
    }
    frame.render_widget(model.theme.block(" Begin ".to_owned(), !is_above), under);
    list(frame, inner(under), model, &shown[sessions..], sessions, hits);
    if let Some(beside) = beside {
        let about = about(model, usize::from(beside.width.saturating_sub(4)));
        let [upper, lower] = Layout::vertical([
            Constraint::Length(high(about.len())),
            Constraint::Length(high(sources.len())),
        ])
        .areas(beside);
        detail(frame, upper, model, about);
        who_can_answer(frame, lower, model, sources);
    } else if who.height > 2 {
        who_can_answer(frame, who, model, sources);
    }
}

/// What the program is, where it is, and who answers unless a seat says so.
fn heading(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    if area.height == 0 {
        return;
    }
    let usual = model.home.model.as_deref().unwrap_or(NO_MODEL);
    let width = usize::from(area.width);
    let first = Rect { height: 1, ..area };
    let answers = harmless_line(&format!("answers come from: {usual} "));
    let project = harmless_line(&model.home.project);
    let right = if project.width() + answers.width() + 16 < width {
        format!("{project} · {answers}")
    } else {
        answers
    };
    frame.render_widget(Paragraph::new(Line::styled(" roundtable", model.theme.strong())), first);
    let room = width.saturating_sub(13);
    let right = cut_middle(&right, room);
    frame.render_widget(Paragraph::new(right).alignment(Alignment::Right), first);
    if area.height > 1 {
        let text = if width >= 78 {
            " Ask several AIs one question at once; no answer is read before all are in."
        } else {
            " One question to several AIs, blind."
        };
        frame.render_widget(Paragraph::new(text), Rect { y: area.y + 1, height: 1, ..area });
    }
}

fn over_title(model: &Model, sessions: usize) -> String {
    match model.home.words.as_str() {
        _ if model.home.is_reading => " Go on · loading… ".to_owned(),
        "" => format!(" Go on ({sessions}) "),
        words => {
            let all = model.home.rows.iter().filter(|row| row.part == HomeSection::Sessions).count();
            format!(" Go on · “{}”: {sessions} of {all} ", harmless_line(words))
        }
    }
}

/// Each source in a line: those that can answer, then what is missing of the others.
fn source_lines(model: &Model) -> Vec<Line<'static>> {
    let theme = model.theme;
    let usual = model.home.model.as_deref().unwrap_or(NO_MODEL);
    let mut lines = Vec::new();
    let mut add = |sign: &str, style, name: &str, about: &str, is_used: bool| {
        let used = if is_used { "   in use" } else { "" };
        lines.push(Line::from(vec![
            Span::styled(format!(" {sign} "), style),
            Span::raw(clipped(&harmless_line(name), 16)),
            Span::styled(format!(" {}{used}", harmless_line(about)), theme.faint()),
        ]));
    };
    let ready = theme.sign("●", "*");
    add(ready, theme.good(), REHEARSAL, "placeholder: picks at random, asks no model", usual == REHEARSAL);
    for source in &model.sources {
        let is_used = usual.split('/').next() == Some(source.provider.as_str());
        let (sign, style) = match source.state {
            SourceState::Ready => (ready, theme.good()),
            SourceState::NeedsKey | SourceState::Unreachable => (theme.sign("○", "o"), theme.faint()),
        };
        add(sign, style, &source.provider, &source.about, is_used);
    }
    if model.is_finding_sources {
        lines.push(Line::styled("   asking local servers …", theme.faint()));
    }
    lines
}

fn who_can_answer(frame: &mut Frame<'_>, area: Rect, model: &Model, mut lines: Vec<Line<'static>>) {
    let room = usize::from(area.height.saturating_sub(2));
    let more = lines.len().saturating_sub(room);
    lines.truncate(room);
    let more = if more > 0 { format!("{more} more · ") } else { String::new() };
    let keys = Line::styled(format!(" {more}m takes one · D tests them all "), model.theme.faint());
    let block = model.theme.block(" Who can answer ".to_owned(), false).title_bottom(keys);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// What is said of the row under the cursor.
fn about(model: &Model, width: usize) -> Vec<Line<'static>> {
    let Some(row) = model.home.chosen() else { return Vec::new() };
    let texts = std::iter::once(&row.about).filter(|_| row.detail.is_empty()).chain(&row.detail);
    texts.flat_map(|text| wrapped(text, width, 6)).map(|line| Line::from(format!(" {line}"))).collect()
}

fn detail(frame: &mut Frame<'_>, area: Rect, model: &Model, lines: Vec<Line<'static>>) {
    let name = model.home.chosen().map(|row| harmless_line(&row.name)).unwrap_or_default();
    let title = format!(" {} ", cut_middle(&name, usize::from(area.width.saturating_sub(6))));
    frame.render_widget(Paragraph::new(lines).block(model.theme.block(title, false)), area);
}

fn inner(area: Rect) -> Rect {
    Rect {
        x: area.x + 1,
        y: area.y + 1,
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

fn list(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &Model,
    rows: &[&HomeRow],
    first: usize,
    hits: &mut ClickMap,
) {
    let height = usize::from(area.height);
    let chosen = model.home.at.checked_sub(first).filter(|at| *at < rows.len());
    let start = chosen.map_or(0, |at| (at + 1).saturating_sub(height));
    let most = usize::from(area.width) * 45 / 100;
    let longest = rows.iter().map(|row| harmless_line(&row.name).width()).max().unwrap_or(0).min(most);
    for (line, (index, row)) in (0..area.height).zip(rows.iter().enumerate().skip(start)) {
        let place = Rect { y: area.y + line, height: 1, ..area };
        hits.note(place, Target::Row(first + index));
        draw_row(frame, place, model, row, chosen == Some(index), longest);
    }
}

fn draw_row(
    frame: &mut Frame<'_>,
    place: Rect,
    model: &Model,
    row: &HomeRow,
    is_chosen: bool,
    longest: usize,
) {
    let theme = model.theme;
    let pointer = if is_chosen { theme.sign("▸", ">") } else { " " };
    let name = clipped(&cut_middle(&harmless_line(&row.name), longest), longest);
    let age = if place.width >= 60 && !row.age.is_empty() { format!("  {}", row.age) } else { String::new() };
    let verb = if place.width >= 60 { row.verb } else { "" };
    let room = usize::from(place.width).saturating_sub(longest + verb.len() + age.width() + 9);
    let about = clipped(&harmless_line(&row.about), room);
    let line = Line::from(vec![
        Span::raw(format!(" {pointer} ")),
        Span::raw(format!("{} ", theme.sign(row.sign.0, row.sign.1))),
        Span::styled(name, if is_chosen { theme.strong() } else { ratatui::style::Style::new() }),
        Span::raw("  "),
        Span::raw(about),
        Span::styled(format!("{age} {verb}"), theme.faint()),
    ]);
    let line = if is_chosen { line.style(theme.chosen()) } else { line };
    frame.render_widget(Paragraph::new(line), place);
}
