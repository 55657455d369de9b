//! Who sits where: models chosen from those that are there, personas, seats that are asked again or let go.

use super::forms;
use super::give_model::give;
use super::message::Effect;
use crate::engine::FacilitatorRequest;
use crate::history::{NO_MODEL, SeatStatus};
use crate::tui::form::{self, ModelTarget};
use crate::tui::model::{Menu, MenuKind, Mode, Model, Overlay};
use crate::tui::sources::{HUMAN, LINK, REHEARSAL, SourceState};

const ANOTHER: &str = "another: type its name…";

/// A row of the list of models: its text, and a few words about it.
type ModelRow = (String, String);

/// The models a seat can be given, those of this session first; a person, where a seat may be a person's.
fn model_rows(model: &Model, with_person: bool) -> Vec<ModelRow> {
    let mut rows: Vec<ModelRow> = Vec::new();
    let mut add = |text: &str, about: &str| {
        if !text.is_empty() && !rows.iter().any(|(known, _)| known == text) {
            rows.push((text.to_owned(), about.to_owned()));
        }
    };
    for seat in
        model.session().roster.values().filter(|seat| ![HUMAN, LINK, NO_MODEL].contains(&&*seat.model))
    {
        add(&seat.model, "in this session");
    }
    if let Some(usual) = &model.home.model {
        add(usual, "chosen last");
    }
    for source in model.sources.iter().filter(|source| source.state == SourceState::Ready) {
        for name in &source.models {
            add(name, &source.about);
        }
    }
    add(REHEARSAL, "placeholder: picks at random, asks no model");
    if with_person {
        add(HUMAN, "you, at this keyboard");
        add(LINK, "somebody elsewhere, by a link: i invites");
    }
    rows
}

/// The list of models for this project, or for the seats of a session that has not begun.
pub fn choose_model(model: &mut Model) {
    if matches!(model.mode, Mode::Home) {
        return open(model, MenuKind::UsualModel, "Who answers, unless a seat says so".to_owned(), "");
    }
    let all = model.seat_count();
    let hint = format!("Enter: all {all} seats · Space: {}", model.seat_name().unwrap_or_default());
    open(model, MenuKind::SeatModel, "Who answers".to_owned(), &hint);
}

/// The list of models that can be asked in the place of a seat's.
pub fn retry(model: &mut Model) {
    let title = format!("Ask {} again", model.seat_name().unwrap_or_default());
    open(model, MenuKind::RetryModel, title, "");
}

fn open(model: &mut Model, kind: MenuKind, title: String, hint: &str) {
    let mut found = model_rows(model, kind == MenuKind::SeatModel);
    if kind == MenuKind::RetryModel {
        let now = model.seat_name().and_then(|seat| model.session().seat_info(seat));
        let now = now.map(|info| info.model.clone()).unwrap_or_default();
        found.retain(|(text, _)| *text != now);
        found.insert(0, (now, "the same again".to_owned()));
    }
    let longest = found.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0).min(40);
    let mut rows: Vec<String> =
        found.iter().map(|(text, about)| format!("{text:longest$}  {about}")).collect();
    rows.push(ANOTHER.to_owned());
    if model.is_finding_sources {
        rows.push("(still asking local servers …)".to_owned());
    }
    let values = found.into_iter().map(|(text, _)| text).collect();
    let menu = Menu { values, hint: hint.to_owned(), ..Menu::of(kind, title, rows) };
    model.overlay = Some(Overlay::Menu(menu));
}

/// Takes what was chosen in a list of models; `one` is the chosen seat alone.
pub fn chosen(model: &mut Model, menu: &Menu, one: bool) -> Vec<Effect> {
    let seat = model.seat_name().unwrap_or_default().to_owned();
    let target = match menu.kind {
        MenuKind::RetryModel => ModelTarget::Retry(seat),
        MenuKind::SeatModel if one => ModelTarget::Seat(seat),
        MenuKind::SeatModel => ModelTarget::AllSeats,
        _ => ModelTarget::Project,
    };
    match menu.values.get(menu.at) {
        Some(text) => give(model, &target, text.clone()),
        None if menu.rows.get(menu.at).is_some_and(|row| row == ANOTHER) => {
            forms::open(model, form::model(target))
        }
        None => Vec::new(),
    }
}

/// The form that edits a session that has not begun: its question as it was typed in, its seats as a list.
/// None where the session has to begin for it.
pub fn edit(model: &Model, is_seats: bool) -> Option<form::Form> {
    let is_own = model.live().is_some_and(|live| live.is_new_question);
    if is_seats {
        let seats: Vec<(String, String)> = model.preview().map_or_else(Vec::new, |preview| {
            let info = |name: &String| model.session().seat_info(name).cloned();
            let seat = |info: crate::history::SeatInfo| (info.name, info.persona);
            preview.opened.seats.iter().filter_map(info).map(seat).collect()
        });
        return Some(form::seats(&model.home.personas, &seats));
    }
    if is_own { Some(form::new_question(&model.home.personas, &model.home.strategies)) } else { None }
}

/// Lets a seat go: one that failed at once, one that may still answer once a reason is given.
pub fn excuse(model: &mut Model) -> Vec<Effect> {
    let Some(participant) = model.seat_name().map(str::to_owned) else { return Vec::new() };
    let round = model.session().open_round();
    let status = round.and_then(|round| round.seat(&participant)).map(|seat| seat.status.clone());
    if let Some(SeatStatus::Failed(_)) = status {
        let reason = "failed, and excused by the facilitator".to_owned();
        return vec![Effect::Order(FacilitatorRequest::Excuse { participant, reason })];
    }
    let form = form::excuse(model.session(), &participant);
    forms::open(model, form)
}
