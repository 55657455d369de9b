//! Confirmations before accepting, closing, forking, excusing and leaving.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent};

use super::{forms, lists};
use crate::core::{Command, FACILITATOR, NextAction, next};
use crate::engine::FacilitatorRequest;
use crate::history::{ApprovalGiven, LEAVE, RoundOutcome, SeatStatus, round_outcome};
use crate::insight::headline::{blocked, headline};
use crate::insight::round_view::tally;
use crate::tui::form::Form;
use crate::tui::home::OpenTarget;
use crate::tui::host::Effect;
use crate::tui::live::LiveSession;
use crate::tui::model::{Ask, LeaveTarget, Mode, Model, OnYes, Overlay};
use crate::tui::replay::Replay;

/// Asks whether to accept the result; the question differs without a decision.
pub fn accept(model: &mut Model) -> Vec<Effect> {
    let session = model.session();
    let last = session.rounds.last();
    let counted = last.and_then(tally);
    let found = last.zip(counted).map(|(round, tally)| headline(session, round, tally).label);
    let is_blocked = counted.map(round_outcome) == Some(RoundOutcome::Blocked);
    let after = model.if_accepted();
    let title = if counted.is_some_and(|tally| tally.decided || tally.rule.is_none()) {
        "Accept the result?"
    } else if blocked(&after).is_some() {
        "Amend the blocked proposal?"
    } else if is_blocked {
        "Continue despite the block?"
    } else {
        "Accept without a decision? (Esc, then n, asks again)"
    };
    let then = match next(&after) {
        NextAction::Decide(Command::Close) | NextAction::Done => {
            "This ends the session; it cannot be reopened, only forked."
        }
        _ if blocked(&after).is_some() => "Next you amend the proposal and ask again, or leave it blocked.",
        _ => "The workflow continues with its next step.",
    };
    let text = format!("{}\n{then}", found.unwrap_or_default());
    ask(model, title, &text, OnYes::Order(vec![FacilitatorRequest::Accept]), None)
}

/// Asks whether to leave the strategy; that is recorded before the counted round is finished.
pub fn leave_strategy(model: &mut Model) -> Vec<Effect> {
    let step = model.session().step.as_ref().map_or("", |run| &run.id);
    let leave = ApprovalGiven { choice: Some(LEAVE.to_owned()), ..ApprovalGiven::yes(step, FACILITATOR) };
    let orders = vec![FacilitatorRequest::Order(Command::Answer(leave)), FacilitatorRequest::Accept];
    let text =
        "Its remaining steps are skipped: what has been decided so far stands, and the record says so.";
    ask(model, "Leave the strategy here?", text, OnYes::Order(orders), None)
}

/// Closes the open round; asks first while seats are still answering.
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
    ask(model, "Close the round now?", &text, OnYes::Order(vec![FacilitatorRequest::CloseRound]), None)
}

/// Asks whether to resume a session that has not ended; otherwise its replay is shown.
pub fn resume(model: &mut Model) {
    let text = "It has not ended. y resumes it; Esc shows the replay, from which o resumes it later.";
    let then = OnYes::Open(OpenTarget::Resume(PathBuf::from(&model.file)));
    ask(model, "Resume this session?", text, then, None);
}

/// Excuses a failed seat at once; asks first if the seat may still answer.
pub fn excuse(model: &mut Model) -> Vec<Effect> {
    let Some(participant) = model.seat_to_help() else { return Vec::new() };
    let round = model.session().open_round();
    let seat = round.and_then(|round| round.seat(&participant));
    if seat.is_some_and(|seat| matches!(seat.status, SeatStatus::Failed(_))) {
        let reason = "failed, and excused by the facilitator".to_owned();
        return vec![Effect::Order(FacilitatorRequest::Order(Command::Excuse { participant, reason }))];
    }
    let title = format!("Continue without {participant}?");
    let text = "It may still answer; what it says then is not taken.";
    let reason = "excused by the facilitator".to_owned();
    let excuse = FacilitatorRequest::Order(Command::Excuse { participant, reason });
    ask(model, &title, text, OnYes::Order(vec![excuse]), None)
}

/// Asks for a model for the seats without one, or whether to rehearse.
pub fn rehearse(model: &mut Model) -> Vec<Effect> {
    let text = "m chooses who answers.\ny rehearses: placeholders pick at random, and no model is asked.";
    ask(model, "No model yet", text, OnYes::Rehearse, None)
}

pub fn fork(model: &mut Model) -> Vec<Effect> {
    let (at, all) = (model.replay.at, model.replay.lines.len());
    let seq = model.replay.lines.get(at.saturating_sub(1)).map_or(0, |line| line.seq);
    let text = format!(
        "A new session begins as this one was at event {at} of {all}, and continues from there.\nThis one stays as it is."
    );
    let then = OnYes::Open(OpenTarget::Fork(PathBuf::from(&model.file), seq));
    ask(model, "Fork the session here?", &text, then, None)
}

fn ask(model: &mut Model, title: &str, text: &str, then: OnYes, below: Option<Box<Form>>) -> Vec<Effect> {
    let (title, text) = (title.to_owned(), text.to_owned());
    model.overlay = Some(Overlay::Ask(Ask { title, text, then, below }));
    Vec::new()
}

/// Accepts only `y` as consent: not Enter, not a repeated key.
pub fn press(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let rehearses = matches!(&model.overlay, Some(Overlay::Ask(Ask { then: OnYes::Rehearse, .. })));
    if rehearses && key.code == KeyCode::Char('m') {
        lists::choose_model(model);
        return Vec::new();
    }
    if !matches!(key.code, KeyCode::Char('y' | 'n' | 'q') | KeyCode::Esc) {
        return Vec::new();
    }
    let Some(Overlay::Ask(Ask { then, below, .. })) = model.overlay.take() else {
        return Vec::new();
    };
    if key.code != KeyCode::Char('y') {
        model.overlay = below.map(Overlay::Form);
        return Vec::new();
    }
    match then {
        OnYes::Leave(to) => leave_now(model, to, below),
        OnYes::Discard => below.map_or_else(Vec::new, |form| forms::close_and_keep(model, &form)),
        OnYes::Order(requests) => requests.into_iter().map(Effect::Order).collect(),
        OnYes::Open(opening) => vec![Effect::Open(opening)],
        OnYes::Rehearse => lists::rehearse(model),
    }
}

/// Leaves the session or the program; asks first if a session is running. Drafts of forms are kept either way.
pub fn leave(model: &mut Model, to: LeaveTarget) -> Vec<Effect> {
    let is_at_work = matches!(&model.mode, Mode::Live(live) if live.draft.is_none() && live.ended.is_none());
    let is_out = model.session().open_round().is_some() || model.session().open_items().next().is_some();
    let form = match model.overlay.take() {
        Some(Overlay::Form(form)) => Some(form),
        // Pressing the key again confirms.
        Some(Overlay::Ask(Ask { then: OnYes::Leave(_), below, .. })) => {
            return leave_now(model, to, below);
        }
        _ => None,
    };
    let chose = |live: &LiveSession| live.draft.as_ref().is_some_and(|draft| !draft.from.1.seats.is_empty());
    if to == LeaveTarget::Home && form.is_none() && model.live().is_some_and(chose) {
        let text = "The models you gave to seats are not kept. A question of your own stays in its form (n).";
        return ask(model, "Leave this draft?", text, OnYes::Leave(to), None);
    }
    if !is_at_work || !is_out {
        return leave_now(model, to, form);
    }
    let title = if to == LeaveTarget::Quit { "Quit roundtable?" } else { "Go to the home screen?" };
    let text = "A round is open. Sealed answers are saved; unfinished seats are asked again when you resume.";
    ask(model, title, text, OnYes::Leave(to), form)
}

fn leave_now(model: &mut Model, to: LeaveTarget, form: Option<Box<Form>>) -> Vec<Effect> {
    let kept = form.and_then(|form| Some(Effect::Keep(form.draft_name.clone(), Some(form.unfinished()?))));
    let mut effects: Vec<Effect> = kept.into_iter().collect();
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
