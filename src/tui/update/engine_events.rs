//! Updates from the engine and the host: events, refusals, drafts, context.

use super::{ask, forms, lists};
use crate::core::ExitCode;
use crate::history::{Event, LogEntry, SeatStatus, StepStarted};
use crate::tui::frame::Pane;
use crate::tui::host::Effect;
use crate::tui::keys::ScreenState;
use crate::tui::live::{Draft, EngineUpdate, LiveSession, Preview, preview_events, text_diff};
use crate::tui::model::{Mode, Model, Overlay};
use crate::tui::replay::Replay;

pub fn on_engine_update(model: &mut Model, news: EngineUpdate) -> Vec<Effect> {
    match news {
        EngineUpdate::Saw(line) => return saw(model, *line),
        EngineUpdate::Refused(why) => {
            if !forms::refused(model, &why) {
                model.notice = Some(why);
            }
            if let Some(live) = model.live_mut() {
                live.is_refused = live.ordered.is_some();
            }
            return vec![Effect::ReadContext];
        }
        EngineUpdate::Note(what) => model.notice = Some(what),
        EngineUpdate::Ended(how) => {
            model.notice = Some(match &how {
                Ok(ExitCode::Waiting) => "Session paused. You can resume it at any time.".to_owned(),
                Ok(_) => "Session finished. Press R to export a report.".to_owned(),
                Err(problem) => problem.clone(),
            });
            if let Some(live) = model.live_mut() {
                live.ended = Some(how);
                live.preview = None;
            }
        }
    }
    Vec::new()
}

fn saw(model: &mut Model, happened: LogEntry) -> Vec<Effect> {
    let Some(live) = model.live_mut() else { return Vec::new() };
    let mut effects = Vec::new();
    if std::mem::take(&mut live.is_new_question) {
        effects.push(Effect::Keep("new-topic".to_owned(), None));
    }
    if matches!(happened.stamped.event, Event::RoundOpened(_)) {
        live.ordered = None;
    }
    if live.draft.take().is_some() {
        // The previewed events arrive again from disk, one by one.
        model.replay = Replay::new(Vec::new());
    }
    let event = happened.stamped.event.clone();
    let before = model.screen_state();
    model.replay.push(happened);
    // Withdraws a confirmation that no longer applies.
    if matches!(model.overlay, Some(Overlay::Ask(_))) && model.screen_state() != before {
        model.overlay = None;
    }
    focus_for(model, &event);
    seat_for(model, &event);
    if let Event::SeatInvited(invited) = &event {
        lists::recorded(model, invited);
    }
    if let Event::RoundClosed(_) = event
        && let Some(round) = model.session().rounds.last()
        && model.session().last_at.since(round.opened_at) >= LONG
    {
        effects.push(Effect::Notify(format!("Round {} is closed", round.opened.number)));
    }
    if let Event::SynthesisRecorded { .. } = event {
        model.notice = Some("Note kept: later rounds and the report have it.".to_owned());
    }
    // Seats may settle before the order is carried out.
    if !matches!(event, Event::BallotSealed(_) | Event::SeatFailed(_)) {
        effects.extend(forms::order_executed(model));
    }
    if model.is_drafting() {
        effects.push(Effect::ReadContext);
    } else if let Some(live) = model.live_mut() {
        live.preview = None;
    }
    effects
}

/// The end of a longer round notifies the person, in milliseconds.
const LONG: u64 = 30_000;

pub fn asked(model: &mut Model, seat: String) {
    let Some(live) = model.live_mut() else { return };
    live.asked.retain(|other| *other != seat);
    live.asked.push_back(seat);
    model.focus = Pane::Question;
    choose_seat(model, model.pending_human().cloned());
}

/// Shows a saved session; `damage` is the reason if it is not complete.
pub fn replay_shown(model: &mut Model, damage: Option<String>) {
    model.notice = damage.or(model.notice.take());
    if model.session().closed.is_none()
        && model.overlay.is_none()
        && model.replay.at == model.replay.lines.len()
    {
        ask::resume(model);
    }
}

fn focus_for(model: &mut Model, event: &Event) {
    let pane = if let Event::StepStarted(StepStarted { kind, .. }) = event {
        match kind.as_str() {
            "round" => Pane::Question,
            "approval" => return,
            _ => Pane::Steps,
        }
    } else if matches!(event, Event::RoundOpened(_) | Event::TallyMade(_)) {
        Pane::Seats
    } else if matches!(event, Event::SessionClosed(_)) && model.focus == Pane::Question {
        if model.session().rounds.is_empty() { Pane::Steps } else { Pane::Seats }
    } else if matches!(event, Event::RoundAskedAgain { .. } | Event::ApprovalRequested(_)) {
        Pane::Question
    } else {
        return;
    };
    (model.is_side_by_side, model.rounds_back) = (false, 0);
    if matches!(event, Event::RoundOpened(_) | Event::RoundAskedAgain { .. }) {
        model.scroll = [0; Pane::ALL.len()];
    }
    model.focus = pane;
}

/// Chooses the first seat of a new round, and a seat that waits for the person if the chosen one is settled.
fn seat_for(model: &mut Model, event: &Event) {
    if matches!(event, Event::RoundOpened(_)) {
        model.seat = 0;
    }
    let Some(round) = model.session().open_round() else { return };
    let chosen = round.seats.get_index(model.seat).map(|(_, seat)| &seat.status);
    if chosen.is_none_or(|status| matches!(status, SeatStatus::Sealed(_) | SeatStatus::Excused(_))) {
        let failed = round.failed_seats().next().map(|seat| &seat.name);
        choose_seat(model, model.pending_human().or(failed).cloned());
    }
}

fn choose_seat(model: &mut Model, name: Option<String>) {
    let round = model.session().open_round();
    let index = round.zip(name).and_then(|(round, name)| round.seats.get_index_of(&name));
    model.seat = index.unwrap_or(model.seat);
}

pub fn drafted(model: &mut Model, draft: Draft) -> Vec<Effect> {
    let is_same = |live: &&LiveSession| live.draft.as_ref().is_some_and(|old| old.from.0 == draft.from.0);
    let again = model.live().filter(is_same).map(|live| (live.is_new_question, model.focus, model.seat));
    let is_new_question = forms::close_new_question(model) || again.is_some_and(|(is_new, ..)| is_new);
    let (file, notices) = (draft.opened.definition_file.clone(), draft.notices.join(" · "));
    let events = preview_events(&draft.opened, model.now).into_iter().chain(draft.evidence.clone());
    let as_line = |(seq, stamped)| LogEntry { seq, prev: String::new(), hash: String::new(), stamped };
    let lines = (0..).zip(events).map(as_line).collect();
    let live = LiveSession { draft: Some(Box::new(draft)), is_new_question, ..LiveSession::default() };
    model.show(Mode::Live(Box::new(live)), Replay::new(lines), file);
    let asks = model.is_drafting() || model.screen_state() == ScreenState::Question;
    let first = if asks { Pane::Question } else { Pane::Steps };
    (model.focus, model.seat) = again.map_or((first, 0), |(_, focus, seat)| (focus, seat));
    model.notice = Some(notices).filter(|notices| !notices.is_empty());
    vec![Effect::ReadContext]
}

pub fn context(model: &mut Model, read: Result<Option<String>, String>) {
    if !model.is_drafting() {
        return;
    }
    let preview = read.and_then(|context| Preview::compute(model.session(), context.as_deref()));
    let Some(live) = model.live_mut() else { return };
    match preview {
        Ok(mut preview) => {
            let shown = live.ordered.take_if(|_| std::mem::take(&mut live.is_refused));
            // The person must see what changed since the preview was shown.
            if let Some(shown) = shown.filter(|shown| *shown != *preview.opened.snapshot) {
                preview.diff = text_diff(&shown, &preview.opened.snapshot);
                preview.is_changed = true;
                live.shows_diff = true;
            }
            let is_changed = preview.is_changed;
            live.preview = Some(Box::new(preview));
            if is_changed {
                model.focus = Pane::Snapshot;
            }
        }
        Err(problem) => {
            live.preview = None;
            model.notice = Some(problem);
        }
    }
}
