//! What is asked once before it is done: accepting a result, closing a round that seats still answer, forking,
//! leaving a running session.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent};

use super::message::Effect;
use super::{forms, seating};
use crate::core::{Command, NextAction, decide, next};
use crate::engine::FacilitatorRequest;
use crate::history::{RoundOutcome, Session, TimedEvent, round_outcome};
use crate::insight::headline;
use crate::insight::round_view::tally;
use crate::tui::form::Form;
use crate::tui::home::OpenTarget;
use crate::tui::live::LiveSession;
use crate::tui::model::{Ask, Asked, LeaveTarget, Mode, Model, Overlay};
use crate::tui::replay::Replay;

/// Asks whether the result is accepted; accepting without a decision is plainly another question.
pub fn accept(model: &mut Model) -> Vec<Effect> {
    let session = model.session();
    let last = session.rounds.last();
    let counted = last.and_then(tally);
    let decided = counted.is_some_and(|tally| tally.decided || tally.rule.is_none());
    let is_blocked = counted.map(round_outcome) == Some(RoundOutcome::Blocked);
    let found =
        last.zip(counted).map(|(round, tally)| headline(session, round, tally).label).unwrap_or_default();
    let then = match next_if_accepted(session) {
        Some(NextAction::Decide(Command::Close) | NextAction::Done) => {
            "This ends the session; it cannot be reopened, only forked."
        }
        Some(NextAction::Decide(Command::AskPerson { .. })) if is_blocked => {
            "Next you amend the proposal and ask again, or leave it blocked."
        }
        _ => "The workflow continues with its next step.",
    };
    let title = match (decided, is_blocked) {
        (true, _) => "Accept the result?",
        (_, true) => "Go on from the block?",
        _ => "Accept without a decision?",
    };
    let hint = if decided { "" } else { " To ask again in a new round, press Esc, then n." };
    let text = format!("{found}\n{then}{hint}");
    ask(model, Ask { title: title.to_owned(), text, then: Asked::Order(FacilitatorRequest::Accept) })
}

pub fn next_if_accepted(session: &Session) -> Option<NextAction> {
    let NextAction::Decide(accept) = next(session) else { return None };
    let events = decide(session, accept, session.last_at).ok()?;
    let mut after = session.clone();
    for event in events {
        after.apply(&TimedEvent { at: session.last_at, event });
    }
    Some(next(&after))
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
    let then = Asked::Order(FacilitatorRequest::CloseRound);
    ask(model, Ask { title: "Close the round now?".to_owned(), text, then })
}

/// Seats have no model yet: asks for one, or whether to rehearse.
pub fn rehearse(model: &mut Model) -> Vec<Effect> {
    let text = "m chooses who answers.\ny rehearses: placeholders pick at random, and no model is asked.";
    let title = "No model yet".to_owned();
    ask(model, Ask { title, text: text.to_owned(), then: Asked::Rehearse })
}

/// Asks whether a new session begins at the moment that is shown.
pub fn fork(model: &mut Model) -> Vec<Effect> {
    let (at, all) = (model.replay.at(), model.replay.len());
    let seq = model.replay.lines().get(at.saturating_sub(1)).map_or(0, |line| line.seq);
    let text = format!(
        "A new session begins with the first {at} of {all} events and goes on from there.\nThis one stays as it is."
    );
    let then = Asked::Open(OpenTarget::Fork(PathBuf::from(&model.file), seq));
    ask(model, Ask { title: "Fork the session here?".to_owned(), text, then })
}

pub fn ask(model: &mut Model, asked: Ask) -> Vec<Effect> {
    model.overlay = Some(Overlay::Ask(asked));
    Vec::new()
}

/// Only `y` agrees: neither Enter nor the same key again.
pub fn press(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let rehearses = matches!(&model.overlay, Some(Overlay::Ask(Ask { then: Asked::Rehearse, .. })));
    if rehearses && key.code == KeyCode::Char('m') {
        seating::choose_model(model);
        return Vec::new();
    }
    if !matches!(key.code, KeyCode::Char('y' | 'n' | 'q') | KeyCode::Esc) {
        return Vec::new();
    }
    let Some(Overlay::Ask(asked)) = model.overlay.take() else { return Vec::new() };
    match asked.then {
        Asked::Leave(to, form) if key.code == KeyCode::Char('y') => leave_now(model, to, form),
        Asked::Leave(_, form) => {
            model.overlay = form.map(Overlay::Form);
            Vec::new()
        }
        Asked::Discard(form) if key.code != KeyCode::Char('y') => {
            model.overlay = Some(Overlay::Form(form));
            Vec::new()
        }
        Asked::Discard(form) => forms::put_away(model, &form),
        _ if key.code != KeyCode::Char('y') => Vec::new(),
        Asked::Order(request) => vec![Effect::Order(request)],
        Asked::Open(opening) => vec![Effect::Open(opening)],
        Asked::Rehearse => seating::rehearse(model),
    }
}

/// Leaves to the home screen or out of the program, or asks first if a session is running. What is typed
/// is kept either way.
pub fn leave(model: &mut Model, to: LeaveTarget) -> Vec<Effect> {
    let is_at_work = matches!(&model.mode, Mode::Live(live) if live.draft.is_none() && live.ended.is_none());
    let is_out = model.session().open_round().is_some() || model.session().open_items().next().is_some();
    let form = match model.overlay.take() {
        Some(Overlay::Form(form)) => Some(form),
        // Who presses it twice means it.
        Some(Overlay::Ask(Ask { then: Asked::Leave(_, form), .. })) => return leave_now(model, to, form),
        _ => None,
    };
    let chose = |live: &LiveSession| live.from.as_ref().is_some_and(|(_, choice)| !choice.seats.is_empty());
    if to == LeaveTarget::Home && form.is_none() && model.live().is_some_and(chose) {
        let text = "The models you gave to seats are not kept. A question of your own stays in its form (n).";
        let title = "Leave this draft?".to_owned();
        return ask(model, Ask { title, text: text.to_owned(), then: Asked::Leave(to, form) });
    }
    if !is_at_work || !is_out {
        return leave_now(model, to, form);
    }
    let title = if to == LeaveTarget::Quit { "Quit roundtable?" } else { "Go to the home screen?" };
    let text = "A round is open. Sealed answers are saved; unfinished seats are asked again when you resume.";
    ask(model, Ask { title: title.to_owned(), text: text.to_owned(), then: Asked::Leave(to, form) })
}

fn leave_now(model: &mut Model, to: LeaveTarget, form: Option<Box<Form>>) -> Vec<Effect> {
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
