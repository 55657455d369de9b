//! Executes the actions of keys.

use std::path::PathBuf;

use super::ask::leave;
use super::{ask, forms, lists, search};
use crate::core::Command;
use crate::engine::FacilitatorRequest;
use crate::tui::footer::{help, refusal};
use crate::tui::form;
use crate::tui::frame::Pane;
use crate::tui::home::OpenTarget;
use crate::tui::host::Effect;
use crate::tui::keys::{Action, BINDINGS, ScreenState};
use crate::tui::model::{LeaveTarget, Mode, Model, Overlay};
use crate::tui::panes::answer;
use crate::tui::reading::{TextKind, TextView};
use crate::tui::screen::{max_scroll, pane_text, title};

const MORE_TIME: Command = Command::ExtendDeadline { more_ms: 60_000 };

pub fn perform(model: &mut Model, action: Action) -> Vec<Effect> {
    // While other work runs, nothing else is ordered; it can only be cancelled.
    if model.busy.is_some() && (is_order(action) || action == Action::ChooseModel) {
        return Vec::new();
    }
    if is_order(action) {
        // Orders apply to the current round, so it is shown.
        model.rounds_back = 0;
    }
    let Some(why) = refusal(model, action) else { return carry_out(model, action) };
    model.notice = Some(why);
    Vec::new()
}

/// Returns whether an action is an order: none of its states is home, closed or a replay.
fn is_order(action: Action) -> bool {
    let is_led =
        |state: &ScreenState| !matches!(state, ScreenState::Home | ScreenState::Closed | ScreenState::Replay);
    BINDINGS.iter().any(|binding| binding.action == action && binding.states.iter().all(is_led))
}

fn carry_out(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Quit => return leave(model, LeaveTarget::Quit),
        Action::Home => return home(model),
        Action::Help => model.overlay = Some(Overlay::Text(TextView::plain("Keys", help(model)))),
        Action::Search => model.overlay = Some(Overlay::Search(String::new())),
        Action::NextMatch | Action::PreviousMatch => search::find(model, action == Action::NextMatch),
        Action::NextPane => cycle_pane(model, 1),
        Action::PreviousPane => cycle_pane(model, Pane::ALL.len() - 1),
        Action::NextSeat | Action::PreviousSeat => cycle_seat(model, action == Action::NextSeat),
        Action::Up => scroll(model, -1),
        Action::Down => scroll(model, 1),
        Action::PageUp => scroll(model, -i32::from(model.size.1 / 2)),
        Action::PageDown => scroll(model, i32::from(model.size.1 / 2)),
        Action::GoToStart | Action::GoToEnd if model.screen_state() != ScreenState::Replay => {
            to_end(model, action == Action::GoToEnd);
        }
        Action::NextRound | Action::PreviousRound if model.live().is_some() => {
            look_back(model, action == Action::PreviousRound);
        }
        Action::ShowSnapshot => show_snapshot(model),
        Action::ShowAgenda => lists::show_agenda(model),
        Action::ToggleSideBySide => {
            (model.is_side_by_side, model.focus) = (!model.is_side_by_side, Pane::Answer);
        }
        Action::OtherRules => lists::what_if(model),
        Action::ExportReport => return vec![Effect::Report],
        Action::CheckProviders => return lists::checking(model),
        Action::NewQuestion => return new_question(model),
        Action::OpenItem => return open_item(model),
        Action::AddNote => return lists::note(model),
        Action::AddArtifact => return forms::open(model, form::artifact(model.session())),
        Action::OpenRound => return open_round(model),
        Action::CloseRound => return ask::close(model),
        Action::AcceptResult => return ask::accept(model),
        Action::LeaveStrategy => return ask::leave_strategy(model),
        Action::RepeatRound => return vec![Effect::Order(FacilitatorRequest::Order(Command::AskRoundAgain))],
        Action::ForkSession => return ask::fork(model),
        Action::ResumeSession => return vec![Effect::Open(OpenTarget::Resume(PathBuf::from(&model.file)))],
        Action::ChooseModel => lists::choose_model(model),
        Action::InviteSeat => return lists::invite(model),
        Action::RetrySeat => lists::retry(model),
        Action::ExcuseSeat => return ask::excuse(model),
        Action::ExtendDeadline => return vec![Effect::Order(FacilitatorRequest::Order(MORE_TIME))],
        Action::EditRound | Action::ChooseParticipants => return edit(model, action),
        action => {
            model.replay.act(action);
            (model.scroll, model.rounds_back) = ([0; Pane::ALL.len()], 0);
        }
    }
    Vec::new()
}

/// Goes back: from side-by-side answers, a search or an earlier round first, then home.
fn home(model: &mut Model) -> Vec<Effect> {
    if std::mem::take(&mut model.is_side_by_side) {
        return Vec::new();
    }
    if !model.words.is_empty() || model.rounds_back > 0 {
        model.words.clear();
        (model.rounds_back, model.hit) = (0, None);
        return Vec::new();
    }
    if !matches!(model.mode, Mode::Home) {
        return leave(model, LeaveTarget::Home);
    }
    model.home.words.clear();
    Vec::new()
}

fn new_question(model: &mut Model) -> Vec<Effect> {
    let form = form::new_question(&model.home.personas, &model.home.strategies);
    forms::open(model, form)
}

fn open_item(model: &mut Model) -> Vec<Effect> {
    let form = match model.screen_state() {
        ScreenState::Home => match model.home.chosen().map(|row| row.opening.clone()) {
            Some(OpenTarget::NewQuestion) | None => return new_question(model),
            Some(opening) => return vec![Effect::Open(opening)],
        },
        ScreenState::Question if model.live().is_some() => {
            model.question().map(|question| form::answer(model.session(), &question))
        }
        ScreenState::Open if model.is_turn() => answer_seat(model),
        _ => {
            read(model);
            return Vec::new();
        }
    };
    model.rounds_back = 0;
    form.map_or_else(Vec::new, |form| forms::open(model, form))
}

fn answer_seat(model: &Model) -> Option<form::Form> {
    let session = model.session();
    if let Some(item) = model.pending_item() {
        return Some(form::work(session, item));
    }
    let (seat, round) = model.pending_human().zip(session.open_round())?;
    let step = session.definition().step(&round.opened.step);
    let background =
        step.and_then(|step| session.rendered_round(step, step.round()?).ok()?.round.exploration.clone());
    let ballot = session.form_of(&round.opened, seat);
    Some(form::seat_answer(seat, &round.opened.question, &ballot, background.as_deref()))
}

fn open_round(model: &mut Model) -> Vec<Effect> {
    let Some(live) = model.live_mut() else { return Vec::new() };
    if live.seats_without_model() > 0 {
        return ask::rehearse(model);
    }
    let Some(preview) = &live.preview else {
        if live.draft.is_some() {
            return vec![Effect::Begin];
        }
        model.notice = Some("The snapshot is not ready yet. Press o again in a moment.".to_owned());
        return Vec::new();
    };
    if let Some(why) = &preview.checked.refusal {
        model.notice = Some(format!("{why}; e edits the question, a adds an artifact"));
        model.focus = Pane::Question;
        return Vec::new();
    }
    live.ordered = Some(preview.opened.snapshot.to_string());
    let seen = Some(preview.opened.snapshot_sha256.clone());
    vec![Effect::Order(FacilitatorRequest::OpenRound { seen })]
}

/// Opens the form that edits the drafted round.
/// Before the session begins, it shows the question as typed, or the seats as a list.
fn edit(model: &mut Model, action: Action) -> Vec<Effect> {
    let is_seats = action == Action::ChooseParticipants;
    let is_new = model.live().is_some_and(|live| live.is_new_question);
    let form = match model.preview().filter(|_| model.is_undecided()) {
        Some(preview) if is_seats => Some(form::seats(&model.home.personas, &preview.opened.seats)),
        Some(_) if is_new => return new_question(model),
        _ => lists::round_form(model).map(|mut form| {
            let of_seats = form.fields.iter().position(|field| field.id == "participants");
            form.at = of_seats.filter(|_| is_seats).unwrap_or(0);
            form
        }),
    };
    form.map_or_else(Vec::new, |form| forms::open(model, form))
}

fn to_end(model: &mut Model, is_end: bool) {
    if matches!(model.mode, Mode::Home) {
        model.home.at = if is_end { model.home.visible_rows().len().saturating_sub(1) } else { 0 };
        return;
    }
    if model.focus == Pane::Seats {
        return move_seat(model, |_, count| if is_end { count - 1 } else { 0 });
    }
    model.scroll[model.focus as usize] = if is_end { usize::MAX } else { 0 };
}

/// Shows the snapshot; pressed again, its diff from the last one, and back.
fn show_snapshot(model: &mut Model) {
    let has_before = model.preview().is_some_and(|preview| !preview.diff.is_empty());
    let is_shown = model.focus == Pane::Snapshot;
    model.focus = Pane::Snapshot;
    if is_shown && let Some(live) = model.live_mut().filter(|_| has_before) {
        live.shows_diff = !live.shows_diff;
        model.scroll[Pane::Snapshot as usize] = 0;
    }
}

/// Focuses the next pane with content.
fn cycle_pane(model: &mut Model, by: usize) {
    let at = model.focus as usize;
    let next = (1..=Pane::ALL.len()).map(|step| Pane::ALL[(at + step * by) % Pane::ALL.len()]);
    let (is_draft, has_round) = (model.preview().is_some(), model.shown_round().is_some());
    let has_content = |pane: &Pane| match pane {
        Pane::Checks => is_draft,
        Pane::Tally | Pane::Answer => has_round && !is_draft,
        Pane::Seats | Pane::Snapshot => has_round || is_draft,
        Pane::Question | Pane::Steps => true,
    };
    model.focus = next.into_iter().find(has_content).unwrap_or(model.focus);
}

/// Chooses the next or previous seat of the list; wraps around.
fn cycle_seat(model: &mut Model, forward: bool) {
    move_seat(model, |at, count| (at + if forward { 1 } else { count - 1 }) % count);
}

/// Chooses another seat by its index in the list; `to` gets the present index and the number of seats.
fn move_seat(model: &mut Model, to: impl Fn(usize, usize) -> usize) {
    let order = model.seat_order();
    let chosen = model.seat.min(model.seat_count().saturating_sub(1));
    if let Some(at) = order.iter().position(|seat| *seat == chosen) {
        model.seat = order[to(at, order.len())];
        model.scroll[Pane::Answer as usize] = 0;
    }
}

/// Opens the focused item over the whole screen; a seat without an answer shows its error.
fn read(model: &mut Model) {
    let (kind, pane) = match model.focus {
        Pane::Steps => return lists::steps(model),
        Pane::Seats | Pane::Answer => (TextKind::Answer, Pane::Answer),
        pane => (TextKind::Plain, pane),
    };
    let (title, words) =
        (title(model, pane, model.seat, model.size.0.saturating_sub(2)), model.words.clone());
    model.overlay =
        Some(Overlay::Text(TextView { kind, words, ..TextView::plain(title, text_of(model, pane)) }));
}

fn text_of(model: &Model, pane: Pane) -> String {
    let text = match (pane, model.preview()) {
        (Pane::Snapshot, Some(preview)) => Some(preview.opened.snapshot.to_string()),
        (Pane::Snapshot, None) => model.shown_round().map(|round| round.opened.snapshot.to_string()),
        (Pane::Answer, _) => answer::seat_text(model, model.seat),
        _ => None,
    };
    text.unwrap_or_else(|| pane_text(model, pane, model.size.0.saturating_sub(2).min(76)))
}

/// Replaces the displayed answer with the next seat's, scrolled to the top; the search words stay.
pub fn read_other_seat(model: &mut Model, forward: bool) {
    cycle_seat(model, forward);
    let text = text_of(model, Pane::Answer);
    let title = title(model, Pane::Answer, model.seat, model.size.0.saturating_sub(2));
    if let Some(Overlay::Text(read)) = &mut model.overlay {
        (read.title, read.text, read.scroll) = (title, text, 0);
    }
}

fn look_back(model: &mut Model, further: bool) {
    let newest = model.newest_round();
    let to = if further { model.rounds_back + 1 } else { model.rounds_back.saturating_sub(1) };
    if to >= newest || to == model.rounds_back {
        let text =
            if further { "This is the first round." } else { "This is the newest round. [ goes back." };
        model.notice = Some(text.to_owned());
        return;
    }
    (model.rounds_back, model.scroll) = (to, [0; Pane::ALL.len()]);
    if to > 0 {
        model.notice = Some(format!("Round {} of {newest}, as it was. Press ] to come back.", newest - to));
        model.focus = Pane::Seats;
    }
}

pub fn scroll(model: &mut Model, by: i32) {
    let moved = |at: usize, most: usize| at.saturating_add_signed(by as isize).min(most);
    if matches!(model.mode, Mode::Home) {
        model.home.at = moved(model.home.at, model.home.visible_rows().len().saturating_sub(1));
    } else if model.focus == Pane::Seats {
        move_seat(model, |at, count| moved(at, count - 1));
    } else {
        scroll_pane(model, model.focus, by);
    }
}

pub fn scroll_pane(model: &mut Model, pane: Pane, by: i32) {
    let most = max_scroll(model, pane);
    let scroll = &mut model.scroll[pane as usize];
    *scroll = (*scroll).min(most).saturating_add_signed(by as isize).min(most);
}
