//! What each action does.

use super::ask::leave;
use super::message::Effect;
use super::refusal::refusal;
use super::scroll::scroll;
use super::{ask, forms, invite, lists, moments, search, seating};
use crate::engine::FacilitatorRequest;
use crate::tui::form;
use crate::tui::home::OpenTarget;
use crate::tui::keymap::{Action, ScreenState};
use crate::tui::live::{LiveSession, open_order};
use crate::tui::model::{AnswerLayout, LeaveTarget, Mode, Model, Overlay, Pane, TextKind, TextView};

/// How much longer a round may take by one key, in milliseconds.
const MORE_TIME: u64 = 60_000;

/// Does what an action says, or says why it cannot be done.
pub fn perform(model: &mut Model, action: Action) -> Vec<Effect> {
    // What is under way shows that it can be cancelled.
    if model.busy.is_some() && (is_order(action) || action == Action::ChooseModel) {
        return Vec::new();
    }
    if is_order(action) {
        // What is ordered concerns the present round, which is then looked at.
        model.rounds_back = 0;
    }
    let Some(why) = refusal(model, action) else { return carry_out(model, action) };
    model.notice = Some(why);
    Vec::new()
}

/// Whether an action changes the session, and not only what is looked at.
fn is_order(action: Action) -> bool {
    matches!(
        action,
        Action::OpenRound
            | Action::EditRound
            | Action::ChooseParticipants
            | Action::CloseRound
            | Action::AddMaterial
            | Action::ExcuseSeat
            | Action::InviteSeat
            | Action::RetrySeat
            | Action::ExtendDeadline
            | Action::AcceptResult
            | Action::RepeatRound
    )
}

fn carry_out(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Quit => return leave(model, LeaveTarget::Quit),
        Action::Home => return home(model),
        Action::Suspend => return vec![Effect::Suspend],
        Action::Help => {
            let (title, kind) = ("Keys".to_owned(), TextKind::Help);
            model.overlay = Some(Overlay::Text(TextView { title, kind, ..TextView::default() }));
        }
        Action::Search => model.overlay = Some(Overlay::Search(String::new())),
        Action::CommandPalette => lists::palette(model),
        Action::NextMatch | Action::PreviousMatch => search::find(model, action == Action::NextMatch),
        Action::NextPane => cycle_pane(model, 1),
        Action::PreviousPane => cycle_pane(model, Pane::ALL.len() - 1),
        Action::NextSeat => cycle_seat(model, true),
        Action::PreviousSeat => cycle_seat(model, false),
        Action::Up => scroll(model, -1),
        Action::Down => scroll(model, 1),
        Action::PageUp => scroll(model, -i32::from(model.size.1 / 2)),
        Action::PageDown => scroll(model, i32::from(model.size.1 / 2)),
        Action::GoToStart | Action::GoToEnd if model.screen_state() != ScreenState::Replay => {
            to_end(model, action == Action::GoToEnd);
        }
        Action::NextRound | Action::PreviousRound if model.live().is_some() => {
            moments::look_back(model, action == Action::PreviousRound);
        }
        Action::ShowSnapshot => show_snapshot(model),
        Action::ShowAgenda => lists::show_agenda(model),
        Action::ToggleSideBySide => toggle_layout(model),
        Action::CopyPane => return copy(model),
        Action::OtherRules => lists::what_if(model),
        Action::ExportReport => lists::report(model),
        Action::CheckProviders => return lists::checking(model),
        Action::NewQuestion => return new_question(model),
        Action::OpenItem => return open_item(model),
        Action::AddMaterial => return lists::material(model),
        Action::OpenRound
        | Action::CloseRound
        | Action::AcceptResult
        | Action::RepeatRound
        | Action::ForkSession
        | Action::ResumeSession => return order(model, action),
        Action::ChooseModel => seating::choose_model(model),
        Action::InviteSeat => return invite::ask(model),
        Action::RetrySeat => seating::retry(model),
        Action::ExcuseSeat => return seating::excuse(model),
        Action::ExtendDeadline => return vec![Effect::Order(FacilitatorRequest::MoreTime(MORE_TIME))],
        Action::EditRound | Action::ChooseParticipants => return edit(model, action),
        action => moments::replay_action(model, action),
    }
    Vec::new()
}

/// Back to the home screen; from there, nowhere.
fn home(model: &mut Model) -> Vec<Effect> {
    if model.answer_layout == AnswerLayout::SideBySide {
        model.answer_layout = AnswerLayout::One;
        return Vec::new();
    }
    // Going back leads from a search and an earlier round before it leads out.
    if !model.words.is_empty() || model.rounds_back > 0 {
        model.words.clear();
        (model.rounds_back, model.hit) = (0, None);
        return Vec::new();
    }
    match model.mode {
        Mode::Home => {
            model.home.words.clear();
            Vec::new()
        }
        _ => leave(model, LeaveTarget::Home),
    }
}

fn new_question(model: &mut Model) -> Vec<Effect> {
    let form = form::new_question(&model.home.personas, &model.home.strategies);
    forms::open(model, form)
}

fn open_item(model: &mut Model) -> Vec<Effect> {
    match model.screen_state() {
        ScreenState::Home => match model.home.chosen().map(|row| row.opening) {
            Some(OpenTarget::NewQuestion) | None => new_question(model),
            Some(opening) => vec![Effect::Open(opening)],
        },
        ScreenState::Question if model.live().is_some() => {
            model.rounds_back = 0;
            let form = model.question().map(|question| form::answer(model.session(), &question));
            form.map_or_else(Vec::new, |form| forms::open(model, form))
        }
        ScreenState::Open if model.pending_human().is_some() => {
            model.rounds_back = 0;
            answer_seat(model).map_or_else(Vec::new, |form| forms::open(model, form))
        }
        _ => {
            read(model);
            Vec::new()
        }
    }
}

fn answer_seat(model: &Model) -> Option<form::Form> {
    let session = model.session();
    let ((seat, again), round) = model.pending_human().zip(session.open_round())?;
    let step = session.definition.as_ref().and_then(|known| known.step(&round.opened.step));
    let background = step.and_then(|step| step.round()?.exploration.as_deref());
    let ballot = session.form_of(&round.opened, seat);
    Some(form::seat_answer(seat, again.as_deref(), &round.opened.question, &ballot, background))
}

fn order(model: &mut Model, action: Action) -> Vec<Effect> {
    let path = || std::path::PathBuf::from(&model.file);
    let has_no_model = |live: &LiveSession| {
        live.draft.as_ref().is_some_and(|draft| {
            draft.participants.iter().any(|seat| seat.has_no_model() && seat.scripted.is_empty())
        })
    };
    let order = match action {
        Action::OpenRound if model.live().is_some_and(has_no_model) => return ask::rehearse(model),
        Action::OpenRound
            if model.live().is_some_and(|live| live.draft.is_some() && live.preview.is_none()) =>
        {
            return vec![Effect::Begin];
        }
        Action::OpenRound => {
            if let Some(why) = model.preview().and_then(|preview| preview.checked.refusal.clone()) {
                model.notice = Some(format!("{why}; e edits the question, a adds an artifact"));
                model.focus = Pane::Question;
                return Vec::new();
            }
            let Some(order) = model.live().and_then(open_order) else {
                model.notice = Some("The snapshot is not ready yet. Press o again in a moment.".to_owned());
                return Vec::new();
            };
            if let Some(live) = model.live_mut() {
                live.ordered = live.preview.as_ref().map(|preview| preview.opened.snapshot.to_string());
            }
            order
        }
        Action::CloseRound => return ask::close(model),
        Action::AcceptResult => return ask::accept(model),
        Action::RepeatRound => FacilitatorRequest::AskAgain,
        Action::ResumeSession
            if model.session().closed.is_none() || model.replay.at() < model.replay.len() =>
        {
            return vec![Effect::Open(OpenTarget::Resume(path()))];
        }
        Action::ResumeSession => {
            model.notice = Some("Session finished. Press F to fork it here.".to_owned());
            return Vec::new();
        }
        _ => return ask::fork(model),
    };
    vec![Effect::Order(order)]
}

fn round_form(model: &Model, is_seats: bool) -> Option<form::Form> {
    let session = model.session();
    let step = model.preview().map(|preview| preview.opened.step.clone()).unwrap_or_default();
    let definition = session.definition.as_ref();
    // As it would open now: what a person writes is text.
    let asked = definition.and_then(|definition| {
        let step = definition.step(&step)?;
        session.rendered_round(definition, step, step.round()?).ok()
    })?;
    let mut form = form::round(session, &step, &asked.round);
    let of_seats = form.fields.iter().position(|field| field.id == "participants");
    form.at = of_seats.filter(|_| is_seats).unwrap_or(0);
    Some(form)
}

fn edit(model: &mut Model, action: Action) -> Vec<Effect> {
    let is_seats = action == Action::ChooseParticipants;
    let undecided = model.is_undecided().then(|| seating::edit(model, is_seats)).flatten();
    let form = undecided.or_else(|| round_form(model, is_seats));
    form.map_or_else(Vec::new, |form| forms::open(model, form))
}

fn toggle_layout(model: &mut Model) {
    model.answer_layout = match model.answer_layout {
        AnswerLayout::One => AnswerLayout::SideBySide,
        AnswerLayout::SideBySide => AnswerLayout::One,
    };
    model.focus = Pane::Answer;
}

fn to_end(model: &mut Model, is_end: bool) {
    if matches!(model.mode, Mode::Home) {
        model.home.at = if is_end { model.home.shown().len().saturating_sub(1) } else { 0 };
        return;
    }
    if model.focus == Pane::Seats {
        let order = model.seat_order();
        model.seat = if is_end { order.last() } else { order.first() }.copied().unwrap_or(0);
        return;
    }
    let is_up = is_end != (model.focus == Pane::Events);
    model.scroll[model.focus.index()] = if is_up { usize::MAX } else { 0 };
}

/// The snapshot; once it is shown, its difference from the last one and back.
fn show_snapshot(model: &mut Model) {
    let has_before = model.preview().is_some_and(|preview| !preview.diff.is_empty());
    let is_shown = model.focus == Pane::Snapshot;
    model.focus = Pane::Snapshot;
    if is_shown && let Some(live) = model.live_mut().filter(|_| has_before) {
        live.shows_diff = !live.shows_diff;
        model.scroll[Pane::Snapshot.index()] = 0;
    }
}

fn cycle_pane(model: &mut Model, by: usize) {
    model.focus = Pane::ALL[(model.focus.index() + by) % Pane::ALL.len()];
    // Only a draft has something to be checked.
    if model.focus == Pane::Checks && model.preview().is_none() {
        model.focus = Pane::ALL[(model.focus.index() + by) % Pane::ALL.len()];
    }
}

pub fn cycle_seat(model: &mut Model, forward: bool) {
    let order = model.seat_order();
    let chosen = model.seat.min(model.seat_count().saturating_sub(1));
    if let Some(at) = order.iter().position(|seat| *seat == chosen) {
        let by = if forward { 1 } else { order.len() - 1 };
        model.seat = order[(at + by) % order.len()];
        model.scroll[Pane::Answer.index()] = 0;
    }
}

fn selected_text(model: &Model) -> Option<String> {
    match model.focus {
        Pane::Snapshot => match model.preview() {
            Some(preview) => Some(preview.opened.snapshot.to_string()),
            None => model.shown_round().map(|round| round.opened.snapshot.to_string()),
        },
        Pane::Tally => crate::tui::view::tally_text(model),
        Pane::Events => {
            let at = model.replay.at().saturating_sub(1 + model.scroll[Pane::Events.index()]);
            model.replay.text(at)
        }
        Pane::Question | Pane::Steps | Pane::Checks => crate::tui::view::pane_text(model),
        Pane::Seats | Pane::Answer => crate::tui::view::answer_text(model),
    }
}

/// Opens what is under the cursor over the whole screen; a seat without an answer shows why.
fn read(model: &mut Model) {
    if model.focus == Pane::Steps {
        return lists::steps(model);
    }
    let words = model.words.clone();
    let read = if matches!(model.focus, Pane::Seats | Pane::Answer) {
        let (title, text) = answer_to_read(model);
        TextView { title, text, words, kind: TextKind::Answer, ..TextView::default() }
    } else {
        let (title, short) = crate::tui::view::seat_or_pane(model);
        let text = selected_text(model).unwrap_or(short);
        TextView { title: title.trim().to_owned(), text, words, ..TextView::default() }
    };
    model.overlay = Some(Overlay::Text(read));
}

/// Title and text of the chosen seat's answer; of a seat without one, why.
pub fn answer_to_read(model: &Model) -> (String, String) {
    let (title, short) = crate::tui::view::seat_or_pane(model);
    let text = crate::tui::view::seat_text(model, model.seat).unwrap_or(short);
    (title.trim().to_owned(), text)
}

/// What is looked at, as text for the clipboard.
fn copy(model: &mut Model) -> Vec<Effect> {
    let Some(text) = selected_text(model) else {
        model.notice = Some("Nothing to copy here. Press Tab for another pane.".to_owned());
        return Vec::new();
    };
    model.notice = Some(format!("Copied {} characters to the clipboard.", text.chars().count()));
    vec![Effect::Copy(text)]
}
