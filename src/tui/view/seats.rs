//! The seats: who is waiting, asking, sealed, failed; not a word of what they said before the close.

use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::click_map::{ClickMap, Target};
use crate::ballot::Ballot;
use crate::insight::round_view::{SeatView, VisibleState, confidence, is_revealed, seats};
use crate::insight::wording::format_duration;
use crate::participants::progress::{Progress, RequestPhase as Request};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, clipped_middle, cut_middle, wrapped};
use crate::tui::model::Model;

/// The pane's title and the lines that are seen; each is noted for the mouse.
pub fn pane(model: &Model, area: Rect, hits: &mut ClickMap) -> (String, Vec<Line<'static>>) {
    let session = model.session();
    let height = usize::from(area.height);
    let count = model.seat_count();
    if count == 0 {
        let goal = session.definition.as_ref().and_then(|d| d.goal.clone()).unwrap_or_default();
        let text = if session.header.is_some() { format!("No round yet.\n\n{goal}") } else { String::new() };
        let lines = wrapped(&text, usize::from(area.width), height).into_iter().map(Line::from).collect();
        return (" Seats ".to_owned(), lines);
    }
    let chosen = model.seat.min(count.saturating_sub(1));
    // The chosen seat is always seen.
    let start = (chosen + 1).saturating_sub(height).min(count.saturating_sub(height));
    for (row, index) in (area.y..area.bottom()).zip(start..count) {
        hits.note(Rect { y: row, height: 1, ..area }, Target::Seat(index));
    }
    let title = format!(" Seats ({count}) ");
    if let Some(preview) = model.preview() {
        let names = &preview.opened.seats;
        let longest = longest(names.iter(), area.width);
        let shown = names.iter().enumerate().skip(start).take(height);
        let step = preview.opened.step.as_str();
        let line = |(index, name): (usize, &String)| to_ask(model, step, name, index == chosen, longest);
        return (title, shown.map(line).collect());
    }
    let Some(round) = session.rounds.last() else { return (title, Vec::new()) };
    let columns = Columns::fitting(area.width, longest(round.seats.keys(), area.width), is_revealed(round));
    let shown = seats(session, round).skip(start).take(height).enumerate();
    let lines = shown.map(|(row, seat)| line(model, &seat, start + row == chosen, columns)).collect();
    (title, lines)
}

/// How wide the names are; on a narrow screen they give way to what is said of the seats.
fn longest<'a>(names: impl Iterator<Item = &'a String>, width: u16) -> usize {
    let most = if width < 50 { usize::from(width / 3) } else { 24 };
    names.map(|name| name.width()).max().unwrap_or(0).min(most)
}

/// The widths of a row's columns.
#[derive(Clone, Copy)]
struct Columns {
    name: usize,
    word: usize,
    /// The time, to the right; without room there is none.
    time: usize,
}

impl Columns {
    /// The time gives way to a vote on a narrow screen.
    fn fitting(width: u16, name: usize, is_revealed: bool) -> Self {
        let time = if width < 44 || is_revealed && width < 60 { 0 } else { 9 };
        let room = usize::from(width).saturating_sub(3 + name + 2 + time);
        Self { name, word: room.min(if is_revealed { 40 } else { 21 }), time }
    }
}

/// A seat that is to be asked, with its model.
fn to_ask(model: &Model, step: &str, name: &str, is_chosen: bool, longest: usize) -> Line<'static> {
    let info = model.session().seat_info(name);
    let asked = info.map(|info| info.label(step).to_owned()).unwrap_or_default();
    let pointer = if is_chosen { model.theme.sign("▸", ">") } else { " " };
    let name_style = if is_chosen { model.theme.strong() } else { Style::new() };
    Line::from(vec![
        Span::raw(format!("{pointer}  ")),
        Span::styled(format!("{}  ", clipped_middle(&harmless_line(name), longest)), name_style),
        Span::styled(harmless_line(&asked), model.theme.faint()),
    ])
}

fn line(model: &Model, seat: &SeatView<'_>, is_chosen: bool, columns: Columns) -> Line<'static> {
    let (sign, word, style) = standing(model, seat);
    let name = clipped_middle(&harmless_line(seat.name), columns.name);
    let pointer = if is_chosen { model.theme.sign("▸", ">") } else { " " };
    let name_style = if is_chosen { model.theme.strong() } else { Style::new() };
    let progress = progress(model, seat);
    let taken = progress.map(|progress| progress.for_ms).or(seat.elapsed_ms).filter(|_| columns.time > 0);
    // What is said gives way to how sure it is.
    let sure = seat.answer().and_then(confidence).map(|sure| format!(" · {sure}")).unwrap_or_default();
    let said = cut_middle(&word, columns.word.saturating_sub(sure.width()));
    let mut spans = vec![
        Span::raw(pointer),
        Span::styled(format!("{sign} "), style),
        Span::styled(format!("{name}  "), name_style),
        Span::styled(clipped(&format!("{said}{sure}"), columns.word), style),
    ];
    let faint = model.theme.faint();
    if columns.time > 0 {
        let taken = taken.map(format_duration).unwrap_or_default();
        spans.push(Span::styled(format!("{taken:>width$}", width = columns.time), faint));
    }
    let attempt = progress.filter(|progress| progress.tries > 1);
    let mut more: Vec<String> =
        attempt.map(|progress| format!("attempt {}", progress.tries)).into_iter().collect();
    // Who answers matters while it may still be changed; while it waits, why.
    match (progress, &seat.standing) {
        (Some(Progress { left_ms: Some(_), trouble: Some(why), .. }), _) => more.push(harmless_line(why)),
        (_, VisibleState::Unread(_) | VisibleState::Failed(_)) => more.push(harmless_line(seat.model)),
        _ => {}
    }
    spans.push(Span::styled(format!("  {}", more.join(" · ")), faint));
    Line::from(spans)
}

/// How the request of a seat that is asked stands.
pub fn progress<'a>(model: &'a Model, seat: &SeatView<'_>) -> Option<&'a Progress> {
    model.progress.get(seat.name).filter(|_| matches!(seat.standing, VisibleState::Unread("asking")))
}

/// How long a seat still waits.
fn waits(progress: Option<&Progress>) -> String {
    match progress.and_then(|progress| progress.left_ms) {
        Some(left) => format!("waits {} more", format_duration(left)),
        None => Request::Waiting.word().to_owned(),
    }
}

/// Sign, word and style of where a seat stands: each state has its own sign and word.
fn standing(model: &Model, seat: &SeatView<'_>) -> (&'static str, String, Style) {
    let theme = model.theme;
    match &seat.standing {
        VisibleState::Unread("sealed") => (theme.sign("■", "#"), "sealed".to_owned(), theme.good()),
        VisibleState::Unread("asking") => match progress(model, seat).map(|progress| progress.standing) {
            Some(Request::Waiting) => ("!", waits(progress(model, seat)), theme.bad()),
            Some(Request::Queued) => (theme.sign("◌", "."), Request::Queued.word().to_owned(), theme.faint()),
            Some(at @ Request::Stalled) => ("!", at.word().to_owned(), theme.bad()),
            Some(at) => (theme.sign("◧", "o"), at.word().to_owned(), theme.active()),
            None => (theme.sign("◧", "o"), Request::Asked.word().to_owned(), theme.active()),
        },
        VisibleState::Unread(word) => (theme.sign("◌", "."), (*word).to_owned(), theme.faint()),
        VisibleState::Lost => ("!", "key lost".to_owned(), theme.bad()),
        VisibleState::Failed(failed) => {
            let word = if failed.timed_out { "timed out" } else { "failed" };
            (theme.sign("✗", "x"), word.to_owned(), theme.bad())
        }
        VisibleState::Excused(_) => (theme.sign("–", "-"), "excused".to_owned(), theme.faint()),
        VisibleState::Missing => ("?", "missing".to_owned(), theme.bad()),
        VisibleState::Revealed(answer) => {
            let said =
                seat.ballot().and_then(Ballot::phrase).unwrap_or_else(|| answer.outcome.name().to_owned());
            let style = if seat.ballot().is_some() { theme.good() } else { theme.bad() };
            (theme.sign("●", "*"), harmless_line(&said), style)
        }
    }
}
