//! The way out: to the home screen or out of the program, asked first while a session works.

use crossterm::event::{KeyCode, KeyEvent};

use super::message::Effect;
use crate::tui::model::{LeaveTarget, Mode, Model, Overlay};
use crate::tui::replay::Replay;

/// Leaves, or asks first where a session is at work. What is typed is kept either way.
pub fn leave(model: &mut Model, to: LeaveTarget) -> Vec<Effect> {
    let is_at_work = matches!(&model.mode, Mode::Live(live) if live.draft.is_none() && live.ended.is_none());
    let is_out = model.session().open_round().is_some() || model.session().open_items().next().is_some();
    // Who presses it twice means it.
    if !is_at_work || !is_out || matches!(model.overlay, Some(Overlay::Leave(..))) {
        return left(model, to);
    }
    let form = match model.overlay.take() {
        Some(Overlay::Form(form)) => Some(form),
        _ => None,
    };
    model.overlay = Some(Overlay::Leave(to, form));
    Vec::new()
}

fn left(model: &mut Model, to: LeaveTarget) -> Vec<Effect> {
    let form = match model.overlay.take() {
        Some(Overlay::Form(form) | Overlay::Leave(_, Some(form))) => Some(form),
        _ => None,
    };
    let kept = form.filter(|form| form.kept() != form.filled);
    let mut effects: Vec<Effect> =
        kept.map(|form| Effect::Keep(form.kept_as.clone(), Some(form.kept()))).into_iter().collect();
    if to == LeaveTarget::Quit {
        effects.push(Effect::Quit);
        return effects;
    }
    if model.busy.take().is_some() {
        effects.push(Effect::CancelOpening);
    }
    model.show(Mode::Home, Replay::new(Vec::new()), String::new());
    effects.push(Effect::ReadHome);
    effects
}

pub fn leaving(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let Some(Overlay::Leave(to, _)) = &model.overlay else { return Vec::new() };
    let to = *to;
    match key.code {
        KeyCode::Char('y' | 'q') | KeyCode::Enter => left(model, to),
        KeyCode::Esc | KeyCode::Char('n') => {
            if let Some(Overlay::Leave(_, form)) = model.overlay.take() {
                model.overlay = form.map(Overlay::Form);
            }
            Vec::new()
        }
        _ => Vec::new(),
    }
}
