//! The footer: a word to the person, or the keys that matter here.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::click_map::{ClickMap, Target};
use crate::tui::cell_text::{clipped, safe, wrapped};
use crate::tui::keymap::{Action, BINDINGS, KeyBinding, ScreenState, bindings_in, label};
use crate::tui::model::Model;
use crate::tui::update::refusal;

const MOST_LINES: usize = 3;

/// How many lines the footer takes: as many as a word to the person needs.
pub fn height(model: &Model, width: u16) -> u16 {
    let is_shown = model.busy.is_none() && model.overlay.is_none();
    let lines = model.notice.as_ref().filter(|_| is_shown).map_or(1, |notice| noticed(notice, width).len());
    u16::try_from(lines).unwrap_or(1).max(1)
}

/// A word to the person in lines; what is too long even so ends in a sign.
fn noticed(notice: &str, width: u16) -> Vec<String> {
    let room = usize::from(width.saturating_sub(2)).max(1);
    let text = notice.replace('\n', " ");
    let mut lines = wrapped(&text, room, MOST_LINES + 1);
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.iter_mut().skip(MOST_LINES - 1).for_each(|last| *last = clipped(&format!("{last}…"), room));
    }
    lines
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, hits: &mut ClickMap) {
    if let Some((what, since)) = &model.busy {
        let text = format!(" {} … {} s   Esc cancels", safe(what), model.now.since(*since) / 1000);
        return frame.render_widget(Paragraph::new(Line::styled(text, model.theme.active())), area);
    }
    if let Some(percent) = model.reading.filter(|percent| *percent < 100 && model.notice.is_none()) {
        let text = format!(" Reading the file: {percent} %. What is read can be looked at.");
        return frame.render_widget(Paragraph::new(Line::styled(text, model.theme.active())), area);
    }
    if let Some(notice) = &model.notice {
        let line = |line| Line::styled(format!(" {line}"), model.theme.active());
        let lines: Vec<Line<'static>> = noticed(notice, area.width).into_iter().map(line).collect();
        return frame.render_widget(Paragraph::new(lines), area);
    }
    // What lies over the panes names its own keys.
    if model.overlay.is_some() {
        return;
    }
    let mut spans = vec![Span::raw(" ")];
    let mut x = area.x + 1;
    for binding in bindings(model, usize::from(area.width)) {
        let width = u16::try_from(wide(model, binding)).unwrap_or(0);
        let place = Rect { x, y: area.y, width: width.saturating_sub(2), height: 1 };
        hits.note(place.intersection(area), Target::Key(binding.action));
        x = x.saturating_add(width);
        spans.push(Span::styled(key(model, binding), model.theme.key()));
        spans.push(Span::raw(format!(" {}   ", word(model, binding))));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn key(model: &Model, binding: &KeyBinding) -> String {
    model.keys.keys_for(binding).first().map(|key| label(*key)).unwrap_or_default()
}

fn wide(model: &Model, binding: &KeyBinding) -> usize {
    key(model, binding).chars().count() + word(model, binding).chars().count() + 4
}

/// The footer's word of a binding; what would go wrong is counted with the key that opens the round.
fn word(model: &Model, binding: &KeyBinding) -> String {
    if binding.action == Action::OpenItem {
        let word = match model.screen_state() {
            ScreenState::Home => "open",
            ScreenState::Question => "answer",
            ScreenState::Open if model.pending_human().is_some() => "answer",
            _ => "read",
        };
        return word.to_owned();
    }
    if binding.action != Action::OpenRound {
        return binding.footer.to_owned();
    }
    match super::checks::problems(model) {
        0 => binding.footer.to_owned(),
        1 => "open (1 problem)".to_owned(),
        count => format!("open ({count} problems)"),
    }
}

/// The footer's keys that fit; what leads out and to the rest fits first.
fn bindings(model: &Model, width: usize) -> Vec<&'static KeyBinding> {
    let place = model.screen_state();
    let (mut shown, mut used) = (Vec::new(), 1);
    let is_turn = model.pending_human().is_some() || place == ScreenState::Question;
    let is_first = |binding: &&KeyBinding| {
        matches!(binding.action, Action::Help | Action::Quit) || is_turn && binding.action == Action::OpenItem
    };
    let works = |binding: &&KeyBinding| refusal(model, binding.action).is_none();
    let here = || bindings_in(place).filter(|binding| !binding.footer.is_empty()).filter(works);
    for binding in here().filter(is_first).chain(here().filter(|binding| !is_first(binding))) {
        used += wide(model, binding);
        // The last one needs no room behind it.
        if used <= width + 3 {
            shown.push(binding);
        }
    }
    let at = |binding: &&'static KeyBinding| {
        BINDINGS.iter().position(|other| other.action == binding.action && other.name == binding.name)
    };
    shown.sort_by_key(at);
    shown
}
