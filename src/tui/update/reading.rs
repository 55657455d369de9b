//! Reading a text over the whole screen: scrolling, other seats, search.

use crossterm::event::{KeyCode, KeyEvent};

use super::actions::cycle_seat;
use super::message::Effect;
use crate::tui::list::type_in;
use crate::tui::model::{Model, Overlay, TextKind, TextView};
use crate::tui::view::{lines_of_text, most_text, place_of};

pub fn press(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let page = usize::from(model.size.1.saturating_sub(4)).max(1);
    let most = most_text(model);
    let Some(Overlay::Text(read)) = &mut model.overlay else { return Vec::new() };
    if read.is_typing {
        match key.code {
            KeyCode::Esc => (read.is_typing, read.words) = (false, String::new()),
            KeyCode::Enter => {
                read.is_typing = false;
                find(model, true, true);
            }
            _ => {
                type_in(&mut read.words, key);
            }
        }
        return Vec::new();
    }
    let by = |read: &mut TextView, to: usize| read.scroll = to.min(most);
    let at = read.scroll.min(most);
    if let TextKind::Agree(is_read) = &mut read.kind {
        *is_read |= at >= most;
        match key.code {
            KeyCode::Char('y') if *is_read => {
                model.overlay = None;
                return vec![Effect::Agree];
            }
            KeyCode::Esc | KeyCode::Char('n' | 'q') => {
                model.overlay = None;
                model.notice = Some("Not allowed: nothing was run or sent.".to_owned());
                return Vec::new();
            }
            KeyCode::Char('y' | '/') | KeyCode::Enter => return Vec::new(),
            _ => {}
        }
    }
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => by(read, at + 1),
        KeyCode::Up | KeyCode::Char('k') => by(read, at.saturating_sub(1)),
        KeyCode::PageDown | KeyCode::Char(' ') => by(read, at + page),
        KeyCode::PageUp => by(read, at.saturating_sub(page)),
        KeyCode::Home | KeyCode::Char('g') => by(read, 0),
        KeyCode::End | KeyCode::Char('G') => by(read, most),
        KeyCode::Right | KeyCode::Char('l') if read.kind == TextKind::Answer => other_seat(model, true),
        KeyCode::Left | KeyCode::Char('h') if read.kind == TextKind::Answer => other_seat(model, false),
        KeyCode::Char('/') => (read.is_typing, read.words) = (true, String::new()),
        KeyCode::Char('>' | 'n') => find(model, true, false),
        KeyCode::Char('<' | 'N') => find(model, false, false),
        KeyCode::Char('y') if read.kind != TextKind::Help => {
            let text = read.copies.clone().unwrap_or_else(|| read.text.clone());
            model.notice = Some(format!("Copied {} characters to the clipboard.", text.chars().count()));
            return vec![Effect::Copy(text)];
        }
        KeyCode::Esc if !read.words.is_empty() => read.words.clear(),
        KeyCode::Esc | KeyCode::Char('q') | KeyCode::Enter => model.overlay = None,
        KeyCode::Char('?') | KeyCode::F(1) if read.kind == TextKind::Help => model.overlay = None,
        _ => {}
    }
    Vec::new()
}

/// The answer of the next seat, from its beginning; what is searched for stays.
fn other_seat(model: &mut Model, forward: bool) {
    cycle_seat(model, forward);
    let (title, text) = super::actions::answer_to_read(model);
    if let Some(Overlay::Text(read)) = &mut model.overlay {
        (read.title, read.text, read.scroll) = (title, text, 0);
    }
}

/// To the next line that holds the words, or the one before; around the end of the text.
fn find(model: &mut Model, forward: bool, from_here: bool) {
    let most = most_text(model);
    let Some(Overlay::Text(read)) = &model.overlay else { return };
    if read.words.is_empty() {
        model.notice = Some("No search text. Press / to search.".to_owned());
        return;
    }
    let words = read.words.to_lowercase();
    let lines = lines_of_text(model, read);
    let hits: Vec<usize> =
        (0..lines.len()).filter(|index| lines[*index].to_string().to_lowercase().contains(&words)).collect();
    let at = read.at_hit.filter(|_| !from_here);
    let next = if forward {
        hits.iter().position(|hit| at.map_or(*hit >= read.scroll, |at| *hit > at)).unwrap_or(0)
    } else {
        let before = hits.iter().rposition(|hit| *hit < at.unwrap_or(read.scroll));
        before.unwrap_or(hits.len().saturating_sub(1))
    };
    let Some(hit) = hits.get(next).copied() else {
        model.notice = Some(format!("No match for “{}” here. Press / for other words.", read.words));
        return;
    };
    model.notice = Some(format!("{} of {} lines with “{}”", next + 1, hits.len(), read.words));
    let room = usize::from(place_of(model).height.saturating_sub(2));
    if let Some(Overlay::Text(read)) = &mut model.overlay {
        read.at_hit = Some(hit);
        // The line is seen, with some of what stands before it.
        if hit < read.scroll || hit >= read.scroll + room {
            read.scroll = hit.saturating_sub(room / 3).min(most);
        }
    }
}
