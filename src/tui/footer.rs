//! Footer and help page: the keys that work now.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::frame::cells;
use super::keys::{Action, BINDINGS, FORM_KEYS, KeyBinding, ScreenState};
use super::model::{Mode, Model};
use super::panes::{checks, seats::seat_to_invite};
use super::text::wrapped;
use crate::core::{Command, decide};
use crate::insight::round_view::is_revealed;
use crate::insight::wording::pluralize;
use crate::sanitize::harmless;

const MOST_LINES: usize = 3;
const NOT_LINKED: &str =
    "No seat is remote. Before the session begins, m gives a seat the model remote/link.";
const NO_ROUND: &str = "No round is open: a step is running. Tab leads to the steps.";

/// Returns why an action cannot work now, in one line, or `None` if it works.
/// Orders are checked with the core's own rules, so nobody fills in a form that would be refused.
pub fn refusal(model: &Model, action: Action) -> Option<String> {
    let session = model.session();
    let (works, why) = match action {
        Action::ExcuseSeat | Action::RetrySeat if session.open_round().is_some() => {
            let participant = model.seat_to_help()?;
            let command = match action {
                Action::ExcuseSeat => Command::Excuse { participant, reason: "-".to_owned() },
                _ => Command::Retry { participant, model: None },
            };
            return decide(session, command, model.now).err().map(|refusal| refusal.to_string());
        }
        Action::AddNote => (model.last_closed().is_some(), "No round is closed yet."),
        Action::NewQuestion => (!model.home.is_reading, "The personas are still being read."),
        Action::InviteSeat => (seat_to_invite(model).is_some(), NOT_LINKED),
        Action::ExtendDeadline if session.open_round().is_some_and(|round| round.deadline_ms.is_none()) => {
            (false, "This round has no deadline.")
        }
        Action::ExcuseSeat | Action::RetrySeat | Action::CloseRound | Action::ExtendDeadline => {
            (session.open_round().is_some(), NO_ROUND)
        }
        Action::LeaveStrategy => {
            let end = session.step.as_ref().and_then(|run| session.strategy_end(&run.id));
            (end.is_some(), "No strategy leads here: A continues.")
        }
        Action::ChooseModel if matches!(model.mode, Mode::Home) => return None,
        Action::ChooseModel | Action::EditRound | Action::ChooseParticipants => {
            (model.preview().is_some(), "No round is drafted yet. o starts the first step.")
        }
        Action::OtherRules => {
            let shown = model.shown_round().filter(|_| model.preview().is_none());
            (shown.is_some_and(is_revealed), "No round is counted yet. Other rules apply after the reveal.")
        }
        Action::NextEvent | Action::NextRound if matches!(model.mode, Mode::Replay) => {
            (model.replay.at < model.replay.lines.len(), "This is the last event. Press g for the start.")
        }
        Action::NextReveal => {
            (model.replay.next_reveal().is_some(), "No reveal after this moment. Press g for the start.")
        }
        Action::ResumeSession => {
            let is_whole = session.closed.is_some() && model.replay.at == model.replay.lines.len();
            (!is_whole, "Session finished. Press F to fork it here.")
        }
        Action::NextSeat | Action::PreviousSeat => {
            (model.seat_count() > 0, "No seats yet: no round is drafted or open.")
        }
        _ => return None,
    };
    (!works).then(|| why.to_owned())
}

pub fn height(model: &Model, width: u16) -> u16 {
    let is_shown = model.busy.is_none() && model.overlay.is_none();
    let lines = model.notice.as_ref().filter(|_| is_shown).map_or(0, |notice| noticed(notice, width).len());
    cells(lines + 1)
}

/// Breaks a notice into lines.
fn noticed(notice: &str, width: u16) -> Vec<String> {
    wrapped(&notice.replace('\n', " "), usize::from(width.saturating_sub(2)).max(1), MOST_LINES)
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let said = match (&model.busy, &model.notice) {
        (Some((what, since)), _) => {
            vec![format!("{} … {} s   Esc cancels", harmless(what), model.now.since(*since) / 1000)]
        }
        (None, notice) => notice.iter().flat_map(|notice| noticed(notice, area.width)).collect(),
    };
    let line = |line| Line::styled(format!(" {line}"), model.theme.active());
    let mut lines: Vec<Line<'_>> = said.into_iter().map(line).collect();
    // Overlays list their own keys.
    if model.overlay.is_none() && model.busy.is_none() {
        let mut keys = Line::raw(" ");
        for binding in bindings(model, usize::from(area.width)) {
            keys.push_span(Span::styled(binding.keys[0], model.theme.key()));
            keys.push_span(format!(" {}   ", binding_label(model, binding)));
        }
        lines.push(keys);
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// Returns the footer's word for a binding; the key that opens the round also counts the draft's problems.
fn binding_label(model: &Model, binding: &KeyBinding) -> String {
    match (binding.action, model.screen_state()) {
        (Action::OpenItem, ScreenState::Home) => "open".to_owned(),
        (Action::OpenItem, state) if state == ScreenState::Question || model.is_turn() => "answer".to_owned(),
        (Action::OpenItem, _) => "read".to_owned(),
        (Action::OpenRound, _) if checks::problems(model) > 0 => {
            format!("open ({})", pluralize(checks::problems(model), "problem"))
        }
        _ => binding.footer.to_owned(),
    }
}

/// Returns the bindings that fit, in table order; help, quit and the person's turn are kept first.
pub fn bindings(model: &Model, width: usize) -> Vec<&'static KeyBinding> {
    let state = model.screen_state();
    let is_turn = model.is_turn() || state == ScreenState::Question;
    let is_first = |binding: &KeyBinding| {
        matches!(binding.action, Action::Help | Action::Quit) || is_turn && binding.action == Action::OpenItem
    };
    let works =
        |binding: &&KeyBinding| !binding.footer.is_empty() && refusal(model, binding.action).is_none();
    let mut shown: Vec<&KeyBinding> = KeyBinding::in_state(state).filter(works).collect();
    shown.sort_by_key(|binding| !is_first(binding));
    let mut used = 1;
    shown.retain(|binding| {
        let wanted = binding.keys[0].chars().count() + binding_label(model, binding).chars().count() + 4;
        let fits = used + wanted <= width + 3; // The last one needs no gap after it.
        used += if fits { wanted } else { 0 };
        fits
    });
    shown.sort_by_key(|binding| BINDINGS.iter().position(|other| other.action == binding.action));
    shown
}

/// Returns the help page: the keys that work now in the footer's order, then those of forms.
pub fn help(model: &Model) -> String {
    let row = |keys: &str, name: &str| format!("{keys:16} {name}\n");
    let works = KeyBinding::in_state(model.screen_state())
        .filter(|binding| refusal(model, binding.action).is_none())
        .map(|binding| row(&binding.keys.join(" "), binding.name));
    let of_forms = FORM_KEYS.iter().map(|key| row(&key.keys.join(" "), key.name));
    works.chain(["\nIn a form\n".to_owned()]).chain(of_forms).collect()
}
