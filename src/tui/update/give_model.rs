//! Gives models and seats that were chosen to whom they are for.

use super::message::Effect;
use crate::engine::FacilitatorRequest;
use crate::tui::form::ModelTarget;
use crate::tui::model::Model;
use crate::tui::sources::{HUMAN, LINK, SeatChoice};

/// Gives a model to whom it is for.
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

/// Who is asked, as it was typed and picked.
pub fn give_seats(model: &mut Model, participants: Vec<String>) -> Vec<Effect> {
    let Some(choice) = choice(model) else { return Vec::new() };
    let seats = choice.seats.into_iter().filter(|(name, _)| participants.contains(name)).collect();
    vec![Effect::Redraft(SeatChoice { seats, participants, ..choice })]
}
