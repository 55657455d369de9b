//! Drawing: the frame of the screen, and which panes are on it.
//!
//! Below 90 columns one pane is shown at a time, or those that belong together over each other; below
//! 10 lines the title makes room. What was drawn where is handed back, for the mouse.

mod agenda;
mod answer;
mod checks;
mod click_map;
mod content;
mod footer;
mod form;
mod frame;
mod header;
mod help;
mod home;
mod layout;
mod numbers;
mod overlay;
mod pane;
mod phase;
mod question;
mod reading;
mod reveal;
mod seat_card;
mod seats;
mod snapshot;
mod steps;
mod tally;
mod timeline;
mod votes;
mod what_next;

pub use answer::{seat_text, text as answer_text};
pub use click_map::{ClickMap, Target};
pub use pane::{find_lines, max_scroll, pane_text, seat_or_pane, tally_text, text_lines};
pub use question::shown as shown_value;
pub use reading::{lines_of_text, most_text, place_of};

use ratatui::Frame;
use ratatui::widgets::Paragraph;

use super::model::{Mode, Model};
use layout::rows;

pub fn draw(frame: &mut Frame<'_>, model: &Model) -> ClickMap {
    let mut hits = ClickMap::default();
    let area = frame.area();
    if area.width < 24 || area.height < 6 {
        frame.render_widget(Paragraph::new("Too small:\n24x6 at\nleast"), area);
        return hits;
    }
    let [title, body, time, foot] = rows(area, model);
    match &model.mode {
        Mode::Home => home::draw(frame, title, body, model, &mut hits),
        Mode::Replay | Mode::Live(_) => {
            header::draw(frame, title, model);
            if pane::is_side_by_side(model) {
                answer::side_by_side(frame, body, model);
            } else {
                pane::draw_all(frame, body, model, &mut hits);
            }
            timeline::draw(frame, time, model, &mut hits);
        }
    }
    footer::draw(frame, foot, model, &mut hits);
    overlay::draw(frame, area, model, &mut hits);
    if model.theme.ascii {
        plain_signs(frame);
    }
    hits
}

/// Puts ASCII in the place of the signs and quotation marks this program writes itself.
fn plain_signs(frame: &mut Frame<'_>) {
    for cell in &mut frame.buffer_mut().content {
        let plain = match cell.symbol() {
            "·" | "–" | "─" => "-",
            "→" => ">",
            "←" => "<",
            "↑" => "^",
            "↓" => "v",
            "…" => ".",
            "≈" | "ø" => "~",
            "•" => "*",
            "│" => "|",
            "└" | "┬" | "├" | "┤" | "┴" => "+",
            "“" | "”" => "\"",
            "’" => "'",
            _ => continue,
        };
        cell.set_symbol(plain);
    }
}
