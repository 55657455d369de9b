//! Opening, editing, submitting and closing of forms.
//!
//! A draft is kept until its order has been carried out.

use crossterm::event::KeyEvent;

use crate::insight::wording::group_digits;
use crate::tui::form::{self, Form, FormEvent, FormKind, Submitted, check_reply, read};
use crate::tui::home::OpenTarget;
use crate::tui::host::Effect;
use crate::tui::live::SeatChoice;
use crate::tui::model::{Ask, Model, OnYes, Overlay};

pub fn open(model: &mut Model, form: Form) -> Vec<Effect> {
    let name = form.draft_name.clone();
    model.overlay = Some(Overlay::Form(Box::new(form)));
    vec![Effect::Recall(name)]
}

fn form(model: &mut Model) -> Option<&mut Form> {
    match &mut model.overlay {
        Some(Overlay::Form(form)) => Some(form),
        _ => None,
    }
}

pub fn press(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let Some(form) = form(model) else { return Vec::new() };
    let (ballot, wrong) = (form.value("ballot"), form.error.take().map(|error| (form.draft(), error)));
    let pressed = form.press(key);
    form.error = wrong.filter(|(draft, _)| *draft == form.draft()).map(|(_, error)| error);
    if form.value("ballot") != ballot {
        form::sync_rules(form);
    }
    match pressed {
        FormEvent::Typed => vec![Effect::KeepSoon],
        FormEvent::Away => close_form(model),
        FormEvent::Done => submit(model),
        FormEvent::Path(typed) => vec![Effect::FindPaths(typed)],
    }
}

pub fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    let Some(form) = form(model) else { return Vec::new() };
    form.paste(text);
    let count = text.chars().count();
    // Little of a long paste is visible.
    model.notice = (count > 1000).then(|| format!("Pasted {} characters.", group_digits(count)));
    vec![Effect::KeepSoon]
}

/// Completes the focused path, and lists the candidates.
pub fn complete_path(model: &mut Model, found: &[String]) -> Vec<Effect> {
    let Some(form) = form(model) else { return Vec::new() };
    let names = form.complete_path(found).iter().take(20).map(String::as_str).collect::<Vec<_>>().join("   ");
    model.notice = Some(names).filter(|names| !names.is_empty());
    vec![Effect::KeepSoon]
}

pub fn restore_draft(model: &mut Model, name: &str, text: &str) {
    if form(model).is_some_and(|form| form.draft_name == name && form.restore(text)) {
        model.notice = Some("Draft restored. Ctrl-X empties the form.".to_owned());
    }
}

/// Closes a form and keeps its draft; a draft that cannot be kept is discarded only after a confirmation.
fn close_form(model: &mut Model) -> Vec<Effect> {
    let Some(form) = form(model) else { return Vec::new() };
    let form = form.clone();
    let is_private = matches!(form.purpose, FormKind::SeatAnswer(..));
    if is_private && form.unfinished().is_some() {
        let title = "Throw away what you typed?".to_owned();
        let text = "It is not stored: a private answer is kept nowhere until it is sealed.".to_owned();
        let (then, below) = (OnYes::Discard, Some(Box::new(form)));
        model.overlay = Some(Overlay::Ask(Ask { title, text, then, below }));
        return Vec::new();
    }
    close_and_keep(model, &form)
}

pub fn close_and_keep(model: &mut Model, form: &Form) -> Vec<Effect> {
    model.overlay = None;
    let text = form.unfinished().filter(|_| !form.draft_name.is_empty());
    if text.is_some() {
        model.notice = Some("Form closed, draft kept: the same key opens it again.".to_owned());
    }
    vec![Effect::Keep(form.draft_name.clone(), text)]
}

fn submit(model: &mut Model) -> Vec<Effect> {
    let Some(form) = form(model) else { return Vec::new() };
    let kept = Effect::Keep(form.draft_name.clone(), Some(form.draft()));
    match read(form) {
        Err(problem) => {
            form.refuse(problem);
            vec![kept]
        }
        Ok(Submitted::Definition(text)) => {
            let opening = OpenTarget::Text { name: "topic.yaml".to_owned(), text };
            vec![kept, Effect::Open(opening)]
        }
        Ok(Submitted::Reply(seat, text)) => {
            if let Err(why) = check_reply(model.session(), &seat, &text) {
                if let Some(form) = self::form(model) {
                    form.refuse(format!("This would not count: {why}"));
                }
                return Vec::new();
            }
            model.overlay = None;
            if let Some(live) = model.live_mut() {
                live.asked.retain(|other| *other != seat);
            }
            vec![Effect::Reply(seat, text)]
        }
        Ok(Submitted::Seats(participants)) => {
            model.overlay = None;
            let Some(draft) = model.live().and_then(|live| live.draft.as_ref()) else { return Vec::new() };
            let choice = draft.from.1.clone();
            let seats = choice.seats.into_iter().filter(|(name, _)| participants.contains(name)).collect();
            vec![Effect::Redraft(SeatChoice { seats, participants, ..choice })]
        }
        Ok(Submitted::Order(order)) => {
            let form = form.clone();
            model.overlay = None;
            if let Some(live) = model.live_mut() {
                live.handed_in = Some(Box::new(form));
            }
            vec![kept, Effect::Order(*order)]
        }
    }
}

/// Reopens the submitted form with the error; returns whether there was one.
pub fn refused(model: &mut Model, why: &str) -> bool {
    let Some(mut form) = model.live_mut().and_then(|live| live.handed_in.take()) else { return false };
    form.refuse(why.to_owned());
    model.overlay = Some(Overlay::Form(form));
    true
}

/// Deletes the draft of the submitted form, because its order was carried out.
pub fn order_executed(model: &mut Model) -> Option<Effect> {
    let form = model.live_mut()?.handed_in.take()?;
    Some(Effect::Keep(form.draft_name.clone(), None))
}

/// Closes the form of a new question once its session is drafted. Its text stays stored until the session is
/// on disk.
pub fn close_new_question(model: &mut Model) -> bool {
    let is_new_question = form(model).is_some_and(|form| form.purpose == FormKind::NewQuestion);
    model.overlay.take_if(|_| is_new_question).is_some()
}

/// Shows in the form of a new question why it cannot begin; returns whether that form is open.
pub fn cannot_begin(model: &mut Model, why: &str) -> bool {
    let new = form(model).filter(|form| form.purpose == FormKind::NewQuestion);
    new.map(|form| form.refuse(why.to_owned())).is_some()
}
