//! Who sits where: models chosen from those that are there, personas, seats that are asked again or let go.

use super::forms;
use super::message::Effect;
use crate::engine::FacilitatorRequest;
use crate::history::{NO_MODEL, SeatStatus};
use crate::tui::form;
use crate::tui::list::{List, ListKind, ListRow, ModelTarget};
use crate::tui::model::{Mode, Model, Overlay};
use crate::tui::sources::{HUMAN, LINK, REHEARSAL, SeatChoice, SourceState};

/// The models that can be chosen, those of this session first; a person, where a seat may be a person's.
fn model_rows(model: &Model, with_person: bool) -> Vec<ListRow> {
    let mut rows: Vec<ListRow> = Vec::new();
    let mut add = |text: &str, about: &str| {
        if !text.is_empty() && !rows.iter().any(|row| row.value == text) {
            rows.push(ListRow::new(text, text, about));
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
            add(name, "");
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
        let title = "Who answers, unless a seat says so";
        return open(model, ModelTarget::Project, title, "Enter takes it");
    }
    let (seat, all) = (model.seat_name().unwrap_or_default().to_owned(), model.seat_count());
    let title = format!("Model of {seat}");
    open(model, ModelTarget::Seat(seat), &title, &format!("Enter this seat · Alt-Enter all {all}"));
}

/// The list of models that can be asked in the place of a seat's.
pub fn retry(model: &mut Model) {
    let seat = model.seat_to_help().unwrap_or_default();
    let title = format!("Ask {seat} again");
    open(model, ModelTarget::Retry(seat), &title, "Enter asks it");
}

fn open(model: &mut Model, target: ModelTarget, title: &str, keys: &str) {
    let mut rows = model_rows(model, matches!(target, ModelTarget::Seat(_)));
    if let ModelTarget::Retry(seat) = &target {
        let now = model.session().seat_info(seat).map(|info| info.model.clone()).unwrap_or_default();
        rows.retain(|row| row.value != now);
        rows.insert(0, ListRow::new(&now, &now, "the same again"));
    }
    let asking = if model.is_finding_sources { " · still asking local servers …" } else { "" };
    let keys = format!("{keys} · Esc{asking}");
    let list = List { keys, ..List::of(ListKind::Models(target), title, rows) };
    model.overlay = Some(Overlay::List(list));
}

pub fn give(model: &mut Model, target: &ModelTarget, text: String) -> Vec<Effect> {
    match target {
        ModelTarget::Project => vec![Effect::UseModel(text)],
        ModelTarget::Retry(seat) => {
            let request = FacilitatorRequest::Retry { participant: seat.clone(), model: Some(text) };
            vec![Effect::Order(request)]
        }
        ModelTarget::Seat(_) | ModelTarget::AllSeats => {
            let Some(mut choice) = choice(model) else { return Vec::new() };
            let all = || model.preview().map(|preview| preview.opened.seats.clone()).unwrap_or_default();
            let seats = if let ModelTarget::Seat(seat) = target { vec![seat.clone()] } else { all() };
            choice.seats.retain(|(name, _)| !seats.contains(name));
            choice.rehearse = false;
            choice.seats.extend(seats.into_iter().map(|name| (name, text.clone())));
            let is_usual = *target == ModelTarget::AllSeats && ![HUMAN, LINK].contains(&&*text);
            let usual = is_usual.then(|| Effect::UseModel(text));
            usual.into_iter().chain([Effect::Redraft(choice)]).collect()
        }
    }
}

fn choice(model: &Model) -> Option<SeatChoice> {
    model.live()?.from.as_ref().map(|(_, choice)| choice.clone())
}

pub fn rehearse(model: &mut Model) -> Vec<Effect> {
    choice(model).map(|choice| Effect::Redraft(SeatChoice { rehearse: true, ..choice })).into_iter().collect()
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
    let Some(participant) = model.seat_to_help() else { return Vec::new() };
    let round = model.session().open_round();
    let status = round.and_then(|round| round.seat(&participant)).map(|seat| seat.status.clone());
    if let Some(SeatStatus::Failed(_)) = status {
        let reason = "failed, and excused by the facilitator".to_owned();
        return vec![Effect::Order(FacilitatorRequest::Excuse { participant, reason })];
    }
    let form = form::excuse(model.session(), &participant);
    forms::open(model, form)
}
