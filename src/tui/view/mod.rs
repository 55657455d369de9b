//! Drawing: the frame of the screen, and which panes are on it.
//!
//! ```text
//!  session ▸ round 3 · OPEN                                         3 of 5 sealed
//! ╭ seats ─────────────────────────────╮╭ answer ────────────────────────────────╮
//! ├ tally ─────────────────────────────┤│                                        │
//! ╰────────────────────────────────────╯╰────────────────────────────────────────╯
//!  ▶ 1×  ├────●─────────◆═══════●──────┤  event 41 of 118 · 0:14 of 3:52
//!  space play  → event  ] round  Tab pane  ? help  q quit
//! ```
//!
//! Below 90 columns one pane is shown at a time, or two that belong together over each other; below
//! 16 lines title and time line make room. What was drawn where is handed back, for the mouse.

mod answer;
mod events;
mod footer;
mod form;
mod header;
mod home;
mod layout;
mod overlay;
mod pane;
mod question;
mod results;
mod seats;
mod snapshot;
mod tally;
mod timeline;
mod workflow_map;

pub use answer::text as answer_text;
pub use overlay::{most_agree, most_help};
pub use pane::{find, max_scroll, pane_text, tally_text};

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::widgets::Paragraph;

use super::model::{AnswerLayout, Mode, Model, Pane};
use super::update::Target;

/// The lowest screen with a title line.
const WITH_TITLE: u16 = 16;

/// What was drawn where; what was drawn later lies over what was drawn before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClickMap(Vec<(Rect, Target)>);

impl ClickMap {
    /// Notes where something was drawn.
    fn note(&mut self, place: Rect, target: Target) {
        self.0.push((place, target));
    }

    /// What was drawn last at a place.
    pub fn at(&self, column: u16, row: u16) -> Option<Target> {
        let position = Position { x: column, y: row };
        self.0.iter().rev().find(|(place, _)| place.contains(position)).map(|(_, target)| *target)
    }

    /// The pane at a place.
    pub fn pane_at(&self, column: u16, row: u16) -> Option<super::model::Pane> {
        let position = Position { x: column, y: row };
        self.0.iter().rev().filter(|(place, _)| place.contains(position)).find_map(|(_, target)| match target
        {
            Target::Pane(pane) => Some(*pane),
            _ => None,
        })
    }
}

/// The lines of the screen: title, body, time line, footer; those without room are empty.
fn rows(area: Rect, model: &Model) -> [Rect; 4] {
    let is_low = area.height < WITH_TITLE;
    let has_line = matches!(model.mode, Mode::Replay);
    Layout::vertical([
        Constraint::Length(u16::from(!is_low)),
        Constraint::Min(3),
        Constraint::Length(u16::from(has_line)),
        Constraint::Length(1),
    ])
    .areas(area)
}

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, model: &Model) -> ClickMap {
    let mut hits = ClickMap::default();
    let area = frame.area();
    if area.width < 24 || area.height < 6 {
        frame.render_widget(Paragraph::new("Terminal too small (minimum 24x6)"), area);
        return hits;
    }
    let [title, body, time, foot] = rows(area, model);
    match &model.mode {
        Mode::Home => home::draw(frame, title, body, model, &mut hits),
        Mode::Replay | Mode::Live(_) => {
            header::draw(frame, title, model);
            let is_spread = model.answer_layout == AnswerLayout::SideBySide && model.focus == Pane::Answer;
            if is_spread && model.preview().is_none() {
                answer::side_by_side(frame, body, model);
            } else {
                pane::draw_all(frame, body, model, &mut hits);
            }
            timeline::draw(frame, time, model);
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
            "·" | "–" => "-",
            "→" => ">",
            "←" => "<",
            "↑" => "^",
            "↓" => "v",
            "…" => ".",
            "≈" => "~",
            "•" => "*",
            "“" | "”" => "\"",
            "’" => "'",
            _ => continue,
        };
        cell.set_symbol(plain);
    }
}
