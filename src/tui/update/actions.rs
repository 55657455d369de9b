//! What each action does.

use super::leave::leave;
use super::message::Effect;
use super::refusal::refusal;
use super::scroll::scroll;
use super::{confirm, forms, lists, search};
use crate::config::doctor::ProbeLevel;
use crate::engine::FacilitatorRequest;
use crate::tui::form;
use crate::tui::home::OpenTarget;
use crate::tui::keymap::{Action, ScreenState};
use crate::tui::live::open_order;
use crate::tui::model::{AnswerLayout, LeaveTarget, Menu, MenuKind, Mode, Model, Overlay, Pane, TextView};

/// Does what an action says, or says why it cannot be done.
pub fn perform(model: &mut Model, action: Action) -> Vec<Effect> {
    let Some(why) = refusal(model, action) else { return carry_out(model, action) };
    model.notice = Some(why);
    Vec::new()
}

fn carry_out(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Quit => return leave(model, LeaveTarget::Quit),
        Action::Home => return home(model),
        Action::Suspend => return vec![Effect::Suspend],
        Action::Help => model.overlay = Some(Overlay::Help(0)),
        Action::Search => model.overlay = Some(Overlay::Search(String::new())),
        Action::CommandPalette => model.overlay = Some(Overlay::Palette(String::new(), 0)),
        Action::NextMatch => search::find(model, true),
        Action::PreviousMatch => search::find(model, false),
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
        Action::FilterEvents => filter(model),
        Action::ShowSnapshot => model.focus = Pane::Snapshot,
        Action::ShowWorkflow => model.focus = Pane::Steps,
        Action::ShowResults => model.focus = Pane::Results,
        Action::ShowWorkItems => lists::items(model),
        Action::ToggleSideBySide => {
            model.answer_layout = if model.answer_layout == AnswerLayout::One {
                AnswerLayout::SideBySide
            } else {
                AnswerLayout::One
            };
            model.focus = Pane::Answer;
        }
        Action::CopyPane => return copy(model),
        Action::ReadItem => read(model),
        Action::AnswerSeat if model.pending_human().is_none() => read(model),
        Action::ShowDiff => show_diff(model),
        Action::OtherRules => lists::what_if(model),
        Action::ExportReport => model.overlay = Some(lists::report()),
        Action::CheckProviders => return lists::checking(model, ProbeLevel::Listing),
        Action::CheckLatency => return lists::checking(model, ProbeLevel::OneWord),
        Action::OpenRow | Action::NewQuestion => return open_row(model, action),
        Action::OpenRound
        | Action::CloseRound
        | Action::AcceptResult
        | Action::RepeatRound
        | Action::ForkSession
        | Action::ResumeSession => return order(model, action),
        Action::EditRound
        | Action::ChooseParticipants
        | Action::EditArtifact
        | Action::AddNote
        | Action::ExcuseSeat
        | Action::RetrySeat
        | Action::ExtendDeadline
        | Action::AnswerSeat
        | Action::AnswerQuestion => return open_form(model, action),
        action => replay_action(model, action),
    }
    Vec::new()
}

/// Back to the home screen; from there, nowhere.
fn home(model: &mut Model) -> Vec<Effect> {
    if model.answer_layout == AnswerLayout::SideBySide {
        model.answer_layout = AnswerLayout::One;
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

fn open_row(model: &mut Model, action: Action) -> Vec<Effect> {
    let row = model.home.chosen().map(|row| row.opening);
    match row.filter(|_| action == Action::OpenRow) {
        Some(OpenTarget::NewQuestion) | None => {
            let form = form::new_question(&model.home.personas);
            forms::open(model, form)
        }
        Some(opening) => vec![Effect::Open(opening)],
    }
}

/// What goes to the engine without a form.
fn order(model: &mut Model, action: Action) -> Vec<Effect> {
    let path = || std::path::PathBuf::from(&model.file);
    let order = match action {
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
                model.notice = Some("The snapshot is not ready yet.".to_owned());
                return Vec::new();
            };
            order
        }
        Action::CloseRound => return confirm::close(model),
        Action::AcceptResult => return confirm::accept(model),
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
        _ => {
            let at = model.replay.at().saturating_sub(1);
            let seq = model.replay.lines().get(at).map_or(0, |line| line.seq);
            return vec![Effect::Open(OpenTarget::Fork(path(), seq))];
        }
    };
    vec![Effect::Order(order)]
}

/// Opens the form that an action fills in.
fn open_form(model: &mut Model, action: Action) -> Vec<Effect> {
    let session = model.session();
    let form = match action {
        Action::EditRound | Action::ChooseParticipants => {
            let step = model.preview().map(|preview| preview.opened.step.clone()).unwrap_or_default();
            let definition = session.definition.as_ref();
            let round = definition.and_then(|definition| definition.step(&step)?.round());
            round.map(|round| {
                let mut form = form::round(session, &step, round);
                form.at = if action == Action::ChooseParticipants { form.fields.len() - 1 } else { 0 };
                form
            })
        }
        Action::EditArtifact => {
            let artifacts = session.definition.as_ref().map_or(&[][..], |d| &d.artifacts);
            if artifacts.is_empty() {
                Some(form::artifact(session, None))
            } else {
                let mut rows = vec!["+ New artifact".to_owned()];
                rows.extend(artifacts.iter().map(|known| format!("{}  {}", known.id, known.summary)));
                let title = "Artifacts (changes apply to the next round)".to_owned();
                model.overlay = Some(Overlay::Menu(Menu { kind: MenuKind::Artifact, title, rows, at: 0 }));
                return Vec::new();
            }
        }
        Action::AddNote => session.rounds.iter().rev().find(|round| round.closed.is_some()).map(|round| {
            form::note(session, &round.opened.round, round.synthesis.as_deref().unwrap_or_default())
        }),
        Action::ExcuseSeat => model.seat_name().map(|seat| form::excuse(session, seat)),
        Action::RetrySeat => model.seat_name().map(|seat| form::retry(session, seat)),
        Action::ExtendDeadline => Some(form::extend_deadline(session)),
        Action::AnswerSeat => {
            let round = session.open_round();
            let turn = model.pending_human().zip(round);
            turn.map(|((seat, again), round)| form::seat_answer(seat, again.as_deref(), &round.opened))
        }
        _ => model.question().map(|question| form::answer(session, &question)),
    };
    match form {
        Some(form) if model.live().is_some() => forms::open(model, form),
        Some(_) => {
            model.notice = Some("Replay is read-only. Press r to resume the session.".to_owned());
            Vec::new()
        }
        None => {
            model.notice = Some("Not available now.".to_owned());
            Vec::new()
        }
    }
}

fn replay_action(model: &mut Model, action: Action) {
    let seat = if model.only_seat { model.seat_name().map(str::to_owned) } else { None };
    let replay = &mut model.replay;
    match action {
        Action::NextEvent => replay.step(true, seat.as_deref()),
        Action::PreviousEvent => replay.step(false, seat.as_deref()),
        Action::NextRound => replay.round(true),
        Action::PreviousRound => replay.round(false),
        Action::GoToStart => replay.seek(0),
        Action::GoToEnd => replay.seek(replay.len()),
        Action::PlayPause => replay.toggle(),
        Action::PlayFaster => replay.change_speed(true),
        Action::PlaySlower => replay.change_speed(false),
        _ => {}
    }
    model.scroll = [0; 8];
}

fn to_end(model: &mut Model, is_end: bool) {
    if matches!(model.mode, Mode::Home) {
        model.home.at = if is_end { model.home.shown().len().saturating_sub(1) } else { 0 };
        return;
    }
    if model.focus == Pane::Seats {
        model.seat = if is_end { model.seat_count().saturating_sub(1) } else { 0 };
        return;
    }
    let is_up = is_end != (model.focus == Pane::Events);
    model.scroll[model.focus.index()] = if is_up { usize::MAX } else { 0 };
}

fn show_diff(model: &mut Model) {
    if let Some(live) = model.live_mut() {
        live.shows_diff = !live.shows_diff;
        model.focus = Pane::Snapshot;
        model.scroll[Pane::Snapshot.index()] = 0;
    }
}

fn filter(model: &mut Model) {
    model.only_seat = !model.only_seat && model.seat_name().is_some();
    let who = model.seat_name().unwrap_or_default().to_owned();
    let text = if model.only_seat {
        format!("Showing only events of {who}")
    } else {
        "Showing all events".to_owned()
    };
    model.focus = if model.only_seat { Pane::Events } else { model.focus };
    model.notice = Some(text);
}

fn cycle_pane(model: &mut Model, by: usize) {
    model.focus = Pane::ALL[(model.focus.index() + by) % Pane::ALL.len()];
}

pub fn cycle_seat(model: &mut Model, forward: bool) {
    let seats = model.seat_count();
    if seats > 0 {
        let by = if forward { 1 } else { seats - 1 };
        model.seat = (model.seat.min(seats - 1) + by) % seats;
        model.scroll[Pane::Answer.index()] = 0;
    }
}

/// Returns what is under the cursor as text.
fn selected_text(model: &Model) -> Option<String> {
    match model.focus {
        Pane::Snapshot => match model.preview() {
            Some(preview) => Some(preview.opened.snapshot.to_string()),
            None => model.session().rounds.last().map(|round| round.opened.snapshot.to_string()),
        },
        Pane::Tally => crate::tui::view::tally_text(model),
        Pane::Events => {
            let at = model.replay.at().saturating_sub(1 + model.scroll[Pane::Events.index()]);
            model.replay.text(at)
        }
        Pane::Question | Pane::Steps | Pane::Results => crate::tui::view::pane_text(model),
        Pane::Seats | Pane::Answer => crate::tui::view::answer_text(model),
    }
}

/// Opens what is under the cursor over the whole screen; a seat without an answer shows why.
fn read(model: &mut Model) {
    let (title, short) = crate::tui::view::seat_or_pane(model);
    let text = selected_text(model).unwrap_or(short);
    let title = title.trim().to_owned();
    let is_markdown = matches!(model.focus, Pane::Seats | Pane::Answer);
    model.overlay = Some(Overlay::Text(TextView { title, text, is_markdown, scroll: 0 }));
}

/// What is looked at, as text for the clipboard.
fn copy(model: &mut Model) -> Vec<Effect> {
    let Some(text) = selected_text(model) else {
        model.notice = Some("Nothing to copy.".to_owned());
        return Vec::new();
    };
    model.notice = Some(format!("copied {} characters", text.chars().count()));
    vec![Effect::Copy(text)]
}
