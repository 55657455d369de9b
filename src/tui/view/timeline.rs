//! The time line: where the replay stands, where rounds open and close.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::history::Event;
use crate::tui::model::Model;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    if area.height == 0 {
        return;
    }
    let replay = &model.replay;
    let theme = model.theme;
    let (now, whole) = replay.times();
    let sign = if replay.is_playing() { theme.sign("▶", ">") } else { theme.sign("⏸", "=") };
    let head = format!(" {sign} {}{} ", replay.speed(), theme.sign("×", "x"));
    let tail = format!(" event {} of {} · {} of {}", replay.at(), replay.len(), clock(now), clock(whole));
    let used = head.chars().count() + tail.chars().count() + 3;
    let room = usize::from(area.width).saturating_sub(used);
    let mut spans = vec![Span::styled(head, theme.key())];
    if room >= 10 {
        spans.push(Span::raw(bar(model, room)));
    }
    spans.push(Span::raw(tail));
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn bar(model: &Model, room: usize) -> String {
    let replay = &model.replay;
    let count = replay.len().max(1);
    let place = |index: usize| (index * (room - 1) / count).min(room - 1);
    let [line, opens, closes, here] =
        if model.theme.ascii { ["-", "o", "*", "|"] } else { ["─", "●", "◆", "┃"] };
    let mut cells = vec![line; room];
    for (index, event) in replay.lines().iter().enumerate() {
        if let Event::RoundOpened(_) = event.stamped.event {
            cells[place(index)] = opens;
        }
        if let Event::RoundClosed(_) = event.stamped.event {
            cells[place(index)] = closes;
        }
    }
    cells[place(replay.at())] = here;
    cells.concat()
}

fn clock(millis: u64) -> String {
    let seconds = millis / 1000;
    if seconds >= 3600 {
        return format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
