//! What is asked once before it is ordered: accepting a result, closing a round that seats still
//! answer, forking.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent};

use super::message::Effect;
use super::{give_model, seating};
use crate::core::{Command, NextAction, decide, next};
use crate::engine::FacilitatorRequest;
use crate::history::Session;
use crate::insight::headline;
use crate::insight::round_view::tally;
use crate::tui::home::OpenTarget;
use crate::tui::model::{Confirm, Confirmed, Model, Overlay};

/// Asks whether the result is accepted; accepting without a decision is plainly another question.
pub fn accept(model: &mut Model) -> Vec<Effect> {
    let session = model.session();
    let last = session.rounds.last();
    let counted = last.and_then(tally);
    let decided = counted.is_some_and(|tally| tally.decided || tally.rule.is_none());
    let found =
        last.zip(counted).map(|(round, tally)| headline(session, round, tally).label).unwrap_or_default();
    let then = if ends_if_accepted(session) {
        "This ends the session; it cannot be reopened, only forked."
    } else {
        "The workflow continues with its next step."
    };
    let (title, hint) = if decided {
        ("Accept the result?", "")
    } else {
        ("Accept without a decision?", " To ask again in a new round, press Esc, then n.")
    };
    let title = title.to_owned();
    let text = format!("{found}\n{then}{hint}");
    ask(model, Confirm { title, text, then: Confirmed::Order(FacilitatorRequest::Accept) })
}

/// Whether nothing follows the step whose result is accepted.
fn ends_if_accepted(session: &Session) -> bool {
    let NextAction::Decide(accept) = next(session) else { return false };
    let Ok(events) = decide(session, accept, session.last_at) else { return false };
    let mut after = session.clone();
    for event in events {
        after.apply(&crate::history::TimedEvent { at: session.last_at, event });
    }
    matches!(next(&after), NextAction::Decide(Command::Close) | NextAction::Done)
}

/// Closes the open round; asks first while seats still answer.
pub fn close(model: &mut Model) -> Vec<Effect> {
    let Some(round) = model.session().open_round() else { return Vec::new() };
    let (unsettled, sealed) = (round.open_seats().count(), round.sealed());
    if unsettled == 0 {
        return vec![Effect::Order(FacilitatorRequest::CloseRound)];
    }
    let (seats, quorum) = (round.seats.len(), round.opened.quorum);
    let outlook = if sealed < quorum { "not met, so no decision" } else { "met" };
    let text = format!(
        "{sealed} of {seats} sealed, {unsettled} still answering: their answers would be missing.\nQuorum {quorum}: {outlook}."
    );
    let then = Confirmed::Order(FacilitatorRequest::CloseRound);
    ask(model, Confirm { title: "Close the round now?".to_owned(), text, then })
}

/// Seats have no model yet: asks for one, or whether to rehearse.
pub fn rehearse(model: &mut Model) -> Vec<Effect> {
    let text = "m chooses who answers.\ny rehearses: placeholders pick at random, and no model is asked.";
    let title = "No model yet".to_owned();
    ask(model, Confirm { title, text: text.to_owned(), then: Confirmed::Rehearse })
}

/// Asks whether a new session begins at the moment that is shown.
pub fn fork(model: &mut Model) -> Vec<Effect> {
    let at = model.replay.at().saturating_sub(1);
    let seq = model.replay.lines().get(at).map_or(0, |line| line.seq);
    let text = format!(
        "A new session begins with the events up to {seq} and goes on from there.\nThis one stays as it is."
    );
    let then = Confirmed::Open(OpenTarget::Fork(PathBuf::from(&model.file), seq));
    ask(model, Confirm { title: "Fork the session here?".to_owned(), text, then })
}

fn ask(model: &mut Model, confirm: Confirm) -> Vec<Effect> {
    model.overlay = Some(Overlay::Confirm(confirm));
    Vec::new()
}

/// Only `y` agrees: neither Enter nor the same key again.
pub fn press(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let rehearses =
        matches!(&model.overlay, Some(Overlay::Confirm(confirm)) if confirm.then == Confirmed::Rehearse);
    if rehearses && key.code == KeyCode::Char('m') {
        seating::choose_model(model);
        return Vec::new();
    }
    if !matches!(key.code, KeyCode::Char('y' | 'n' | 'q') | KeyCode::Esc) {
        return Vec::new();
    }
    match model.overlay.take() {
        Some(Overlay::Confirm(confirm)) if key.code == KeyCode::Char('y') => match confirm.then {
            Confirmed::Order(request) => vec![Effect::Order(request)],
            Confirmed::Open(opening) => vec![Effect::Open(opening)],
            Confirmed::Rehearse => give_model::rehearse(model),
        },
        _ => Vec::new(),
    }
}
