//! The one place where the model changes.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::keymap::{Action, BINDINGS, Binding, action};
use super::model::{Model, Overlay, Pane};

/// What happened outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A key.
    Key(KeyEvent),
    /// Pasted text.
    Paste(String),
    /// The terminal has this size now.
    Resize(u16, u16),
    /// This many milliseconds passed while the film plays.
    Pass(u64),
}

/// What the terminal is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but drawing.
    None,
    /// Leave.
    Quit,
    /// Stop the process until the shell lets it go on.
    Suspend,
}

/// Changes the model by one message.
pub fn update(model: &mut Model, message: Message) -> Effect {
    match message {
        Message::Resize(width, height) => model.size = (width, height),
        Message::Pass(millis) => model.replay.pass(millis),
        Message::Paste(text) => paste(model, &text),
        Message::Key(key) if key.kind != KeyEventKind::Release => return press(model, &key),
        Message::Key(_) => {}
    }
    Effect::None
}

fn press(model: &mut Model, key: &KeyEvent) -> Effect {
    model.notice = None;
    let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    match &mut model.overlay {
        _ if is_interrupt => Effect::Quit,
        Some(Overlay::Help) => {
            if matches!(key.code, KeyCode::Esc | KeyCode::Char('?' | 'q') | KeyCode::F(1) | KeyCode::Enter) {
                model.overlay = None;
            }
            Effect::None
        }
        Some(Overlay::Search(_)) => {
            search(model, key);
            Effect::None
        }
        Some(Overlay::Palette(..)) => palette(model, key),
        None => action(key).map_or(Effect::None, |action| act(model, action)),
    }
}

fn paste(model: &mut Model, text: &str) {
    // What is pasted into a one-line field is its first line, and not more than a line can hold.
    let line: String = text.lines().next().unwrap_or_default().chars().take(1000).collect();
    if let Some(Overlay::Search(words) | Overlay::Palette(words, _)) = &mut model.overlay {
        words.push_str(&line);
    }
}

fn search(model: &mut Model, key: &KeyEvent) {
    let Some(Overlay::Search(words)) = &mut model.overlay else { return };
    match key.code {
        KeyCode::Esc => model.overlay = None,
        KeyCode::Enter => {
            model.words = std::mem::take(words);
            model.overlay = None;
            find(model, true);
        }
        KeyCode::Backspace => {
            words.pop();
        }
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => words.push(c),
        _ => {}
    }
}

fn find(model: &mut Model, forward: bool) {
    let words = model.words.clone();
    if words.is_empty() {
        model.notice = Some("nothing to search for: press / first".to_owned());
    } else if !model.replay.find(&words, forward) {
        let where_to = if forward { "after" } else { "before" };
        model.notice = Some(format!("no event {where_to} this one holds “{words}”"));
    }
}

/// The actions whose name holds what is typed.
pub fn matching(typed: &str) -> Vec<&'static Binding> {
    let typed = typed.to_lowercase();
    BINDINGS.iter().filter(|binding| binding.name.contains(&typed)).collect()
}

fn palette(model: &mut Model, key: &KeyEvent) -> Effect {
    let Some(Overlay::Palette(typed, row)) = &mut model.overlay else { return Effect::None };
    let found = matching(typed);
    match key.code {
        KeyCode::Esc => model.overlay = None,
        KeyCode::Up => *row = row.saturating_sub(1),
        KeyCode::Down => *row = (*row + 1).min(found.len().saturating_sub(1)),
        KeyCode::Enter => {
            let chosen = found.get(*row).map(|binding| binding.action);
            model.overlay = None;
            return chosen.map_or(Effect::None, |action| act(model, action));
        }
        KeyCode::Backspace => {
            typed.pop();
            *row = 0;
        }
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
            typed.push(c);
            *row = 0;
        }
        _ => {}
    }
    Effect::None
}

fn act(model: &mut Model, action: Action) -> Effect {
    match action {
        Action::Quit => return Effect::Quit,
        Action::Suspend => return Effect::Suspend,
        Action::Help => model.overlay = Some(Overlay::Help),
        Action::Search => model.overlay = Some(Overlay::Search(String::new())),
        Action::Palette => model.overlay = Some(Overlay::Palette(String::new(), 0)),
        Action::NextHit => find(model, true),
        Action::PreviousHit => find(model, false),
        Action::NextPane => turn_pane(model, 1),
        Action::PreviousPane => turn_pane(model, Pane::ALL.len() - 1),
        Action::NextSeat => turn_seat(model, true),
        Action::PreviousSeat => turn_seat(model, false),
        Action::Up => scroll(model, -1),
        Action::Down => scroll(model, 1),
        Action::PageUp => scroll(model, -i32::from(model.size.1 / 2)),
        Action::PageDown => scroll(model, i32::from(model.size.1 / 2)),
        Action::Filter => filter(model),
        of_the_film => film(model, of_the_film),
    }
    Effect::None
}

fn film(model: &mut Model, action: Action) {
    let seat = if model.only_seat { model.seat_name().map(str::to_owned) } else { None };
    let replay = &mut model.replay;
    match action {
        Action::Forward => replay.step(true, seat.as_deref()),
        Action::Back => replay.step(false, seat.as_deref()),
        Action::NextRound => replay.round(true),
        Action::PreviousRound => replay.round(false),
        Action::Start => replay.seek(0),
        Action::End => replay.seek(replay.len()),
        Action::Play => replay.toggle(),
        Action::Faster => replay.change_speed(true),
        Action::Slower => replay.change_speed(false),
        _ => {}
    }
    model.scroll = [0; 5];
}

fn filter(model: &mut Model) {
    model.only_seat = !model.only_seat && model.seat_name().is_some();
    let who = model.seat_name().unwrap_or_default().to_owned();
    model.notice =
        Some(if model.only_seat { format!("only events of {who}") } else { "all events".to_owned() });
}

fn turn_pane(model: &mut Model, by: usize) {
    model.focus = Pane::ALL[(model.focus.index() + by) % Pane::ALL.len()];
}

fn turn_seat(model: &mut Model, forward: bool) {
    let seats = model.replay.session().rounds.last().map_or(0, |round| round.seats.len());
    if seats > 0 {
        let by = if forward { 1 } else { seats - 1 };
        model.seat = (model.seat.min(seats - 1) + by) % seats;
        model.scroll[Pane::Answer.index()] = 0;
    }
}

fn scroll(model: &mut Model, by: i32) {
    // Events are read from the newest back: up is further back.
    let by = if model.focus == Pane::Events { -by } else { by };
    let most =
        if model.focus == Pane::Events { model.replay.at().saturating_sub(1) } else { usize::from(u16::MAX) };
    let scroll = &mut model.scroll[model.focus.index()];
    let most = i32::try_from(most).unwrap_or(i32::MAX);
    *scroll = u16::try_from((i32::from(*scroll) + by).clamp(0, most)).unwrap_or(u16::MAX);
}
