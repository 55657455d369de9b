//! The keys, grouped by what one wants to do: first those that work now, then why others do not.

use ratatui::text::{Line, Span};

use crate::tui::cell_text::{clipped, wrapped};
use crate::tui::keymap::{Action, Aim, FORM_KEYS, KeyBinding, ScreenState, bindings_in, labels};
use crate::tui::model::Model;
use crate::tui::update::refusal;

pub fn lines(model: &Model, width: usize) -> Vec<Line<'static>> {
    let place = model.screen_state();
    let mut page = Page { model, width, lines: Vec::new() };
    let works = |binding: &&KeyBinding| refusal(model, binding.action).is_none();
    let here =
        |aim: Aim| bindings_in(place).filter(move |binding| binding.aim == aim && !moves(binding.action));
    for aim in Aim::ALL {
        let mut rows: Vec<(String, String)> = Vec::new();
        for binding in here(aim).filter(works) {
            // "next seat" and "previous seat" are one line.
            let (keys, name) = page.row(binding);
            let pair = name.strip_prefix("previous ").map(|what| format!("next {what}"));
            match rows.last_mut() {
                Some((before, what)) if pair.as_ref() == Some(what) => {
                    before.push_str(&format!(" {keys}"));
                    *what = what.replacen("next", "next, previous", 1);
                }
                _ => rows.push((keys, name)),
            }
        }
        if aim == Aim::Move {
            rows.push(("↑ ↓ PageUp g G".to_owned(), "move; also k j, Ctrl-U Ctrl-D, Home End".to_owned()));
        }
        if aim == Aim::Program {
            let back = if place == ScreenState::Home { "clear search" } else { "back, in the end to home" };
            rows.insert(0, ("Esc".to_owned(), back.to_owned()));
        }
        page.group(aim.heading(), rows);
    }
    let form = FORM_KEYS.iter().map(|key| (key.keys.join(" "), key.name.to_owned()));
    page.group("In a form", form.collect());
    let refused = bindings_in(place).filter_map(|binding| {
        let why = refusal(model, binding.action)?;
        Some((page.row(binding).0, format!("{}: {why}", binding.name)))
    });
    let refused = refused.collect();
    page.group("Not now", refused);
    page.lines
}

/// Whether an action only moves: these share one line.
fn moves(action: Action) -> bool {
    use Action::{Down, GoToEnd, GoToStart, PageDown, PageUp, Up};
    matches!(action, Up | Down | PageUp | PageDown | GoToStart | GoToEnd)
}

struct Page<'a> {
    model: &'a Model,
    width: usize,
    lines: Vec<Line<'static>>,
}

impl Page<'_> {
    fn row(&self, binding: &KeyBinding) -> (String, String) {
        (labels(self.model.keys.keys_for(binding)), binding.name.to_owned())
    }

    /// A heading with its keys; names that are too long go on below.
    fn group(&mut self, heading: &str, rows: Vec<(String, String)>) {
        if rows.is_empty() {
            return;
        }
        if !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        self.lines.push(Line::styled(format!(" {heading}"), self.model.theme.strong()));
        let keys = if self.width < 58 { 11 } else { 17 };
        for (label, name) in rows {
            let names = wrapped(&name, self.width.saturating_sub(keys + 2), 4);
            for (at, name) in names.into_iter().enumerate() {
                let label = clipped(if at == 0 { &label } else { "" }, keys);
                let label = Span::styled(format!(" {label} "), self.model.theme.key());
                self.lines.push(Line::from(vec![label, Span::raw(name)]));
            }
        }
    }
}
