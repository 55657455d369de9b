//! What comes next, in one line with its keys: the third line of every live screen.

use ratatui::text::Line;

use crate::history::{RoundOutcome, SeatStatus, round_outcome};
use crate::insight::asked::blocked;
use crate::insight::round_view::tally;
use crate::insight::wording::{group_digits, pluralize};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::clipped;
use crate::tui::keymap::{Action, BINDINGS, ScreenState, label};
use crate::tui::model::Model;

pub fn line(model: &Model, width: u16) -> Line<'static> {
    let (text, is_pressing) = match model.screen_state() {
        ScreenState::Draft => draft(model),
        ScreenState::Open => open(model),
        ScreenState::Question => {
            let enter = key(model, Action::OpenItem);
            let text = match blocked(model.session()) {
                Some(_) => format!("{enter} amends the proposal and asks again, or leaves it blocked"),
                None => format!("you are asked: {enter} answers"),
            };
            (text, true)
        }
        ScreenState::Revealed => (revealed(model), false),
        ScreenState::Closed => (closed(model), false),
        ScreenState::Home | ScreenState::Replay => return Line::default(),
    };
    let text = harmless_line(&text);
    let room = usize::from(width.saturating_sub(2));
    let text =
        format!(" {} {}", model.theme.sign("→", ">"), clipped(&text, room.saturating_sub(2)).trim_end());
    Line::styled(text, if is_pressing { model.theme.active() } else { model.theme.faint() })
}

fn key(model: &Model, action: Action) -> String {
    let binding = BINDINGS.iter().find(|binding| binding.action == action);
    let key = binding.and_then(|binding| model.keys.keys_for(binding).first());
    key.map(|key| label(*key)).unwrap_or_default()
}

fn draft(model: &Model) -> (String, bool) {
    let (open, edit) = (key(model, Action::OpenRound), key(model, Action::EditRound));
    let choose = key(model, Action::ChooseModel);
    let (Some(live), Some(preview)) = (model.live(), model.preview()) else {
        return (format!("{open} starts the session"), false);
    };
    if preview.checked.refusal.is_some() {
        return (format!("it cannot be opened as it is: {edit} edits the question"), true);
    }
    let without = live.draft.as_ref().map_or(0, |draft| {
        draft.participants.iter().filter(|seat| seat.has_no_model() && seat.scripted.is_empty()).count()
    });
    if without > 0 {
        let seats = pluralize(without, "seat");
        return (format!("no model yet for {seats}: {choose} chooses who answers, {open} rehearses"), true);
    }
    if let Some((seat, _)) = live.problems.first() {
        return (
            format!("{seat} would fail: {choose} gives it another model, {open} opens all the same"),
            true,
        );
    }
    if super::checks::is_too_big(model) {
        return (format!("too many bytes to be sent: {edit} shortens the background"), true);
    }
    let seats = preview.opened.seats.len();
    let bytes = group_digits(preview.opened.snapshot_bytes);
    (format!("{open} opens the round: {} get the same {bytes} bytes", pluralize(seats, "seat")), false)
}

fn open(model: &Model) -> (String, bool) {
    let session = model.session();
    let Some(round) = session.open_round() else {
        let step = session.step.as_ref().map(|run| format!("step {} runs: ", run.id)).unwrap_or_default();
        return (format!("{step}{} shows the steps", key(model, Action::NextPane)), false);
    };
    if let Some((seat, _)) = model.pending_human() {
        let enter = key(model, Action::OpenItem);
        return (format!("{seat}: your turn. {enter} opens the question and your ballot"), true);
    }
    let (sealed, seats, close) = (round.sealed(), round.seats.len(), key(model, Action::CloseRound));
    let below = if sealed < round.opened.quorum { ", no decision" } else { "" };
    let closes = format!("{close} closes at {sealed} of {seats}{below}");
    let failed = round.failed_seats().count();
    if failed > 0 {
        let help = model.seat_to_help().unwrap_or_default();
        let is_failed = round.seat(&help).is_some_and(|seat| matches!(seat.status, SeatStatus::Failed(_)));
        let first = round.failed_seats().next().map(|seat| seat.name.clone()).unwrap_or_default();
        let seat = if is_failed { help } else { first };
        let (again, without) = (key(model, Action::RetrySeat), key(model, Action::ExcuseSeat));
        let text = format!("{failed} failed: {again} asks {seat} again, {without} drops it, {closes}");
        return (text, true);
    }
    if session.round_on_hold().is_some() {
        return (format!("all are settled: {closes} and reveals"), true);
    }
    let waits = pluralize(round.open_seats().count(), "seat");
    (format!("waiting for {waits}: it closes by itself; {closes} now"), false)
}

fn revealed(model: &Model) -> String {
    let (accept, again) = (key(model, Action::AcceptResult), key(model, Action::RepeatRound));
    let note = key(model, Action::AddMaterial);
    let last = model.session().rounds.last().and_then(tally);
    let word = match last.map(round_outcome) {
        Some(RoundOutcome::Blocked) => "goes on from the block",
        _ if last.is_some_and(|tally| tally.decided) => "adopts it",
        _ => "goes on without a decision",
    };
    format!("{accept} {word}, {again} asks again, {note} adds a note for the next round")
}

fn closed(model: &Model) -> String {
    let (report, new) = (key(model, Action::ExportReport), key(model, Action::NewQuestion));
    if model.session().closed.is_none() {
        return format!(
            "paused: {} resumes it, {report} exports a report",
            key(model, Action::ResumeSession)
        );
    }
    let file = model.file.rsplit('/').next().unwrap_or_default();
    format!("over, saved as {file}: {report} exports a report, {new} asks something new")
}
