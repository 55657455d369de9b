//! What lies over the panes: help, search, palette, lists; and what a click means.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Effect, Target, forms, perform};
use crate::config::doctor::ProbeLevel;
use crate::history::{Event, WorkItemOffered};
use crate::insight::{round_view, what_if};
use crate::report::trace;
use crate::tally::RuleOptions;
use crate::tui::form;
use crate::tui::home::OpenTarget;
use crate::tui::keymap::{Action, KeyBinding, ScreenState, bindings_in};
use crate::tui::model::{Menu, MenuKind, Mode, Model, Overlay, Pane, TextView};

/// The formats of a report, as they are asked for, and what each is.
pub const FORMATS: [(&str, &str); 5] = [
    ("md", "Markdown, for people"),
    ("json", "JSON, for programs"),
    ("html", "a web page"),
    ("madr", "an architecture decision record"),
    ("csv", "CSV, one row per seat"),
];

pub fn help(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let most = crate::tui::view::most_help(model);
    let Some(Overlay::Help(at)) = &mut model.overlay else { return Vec::new() };
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => *at = (*at + 1).min(most),
        KeyCode::Up | KeyCode::Char('k') => *at = at.saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char(' ') => *at = (*at + 10).min(most),
        KeyCode::PageUp => *at = at.saturating_sub(10),
        KeyCode::Esc | KeyCode::Char('?' | 'q') | KeyCode::F(1) | KeyCode::Enter => model.overlay = None,
        _ => {}
    }
    Vec::new()
}

/// Typing in a line: whether the key did that.
fn type_in(words: &mut String, key: &KeyEvent) -> bool {
    match key.code {
        KeyCode::Backspace => {
            words.pop();
            true
        }
        KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => {
            words.clear();
            true
        }
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
            words.push(c);
            true
        }
        _ => false,
    }
}

pub fn search(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let is_home = matches!(model.mode, Mode::Home);
    let Some(Overlay::Search(words)) = &mut model.overlay else { return Vec::new() };
    match key.code {
        KeyCode::Esc => {
            model.overlay = None;
            if is_home {
                model.home.words.clear();
            }
        }
        KeyCode::Enter if is_home => model.overlay = None,
        KeyCode::Enter => {
            model.words = std::mem::take(words);
            model.overlay = None;
            find(model, true);
        }
        _ => {
            type_in(words, key);
            if is_home {
                model.home.words.clone_from(words);
                model.home.at = 0;
            }
        }
    }
    Vec::new()
}

/// To the next place that holds the words: in the pane that is looked at, else among the events.
pub fn find(model: &mut Model, forward: bool) {
    let words = model.words.clone();
    if words.is_empty() {
        model.notice = Some("No search text. Press / to search.".to_owned());
        return;
    }
    let is_text = !matches!(model.focus, Pane::Seats | Pane::Events);
    let is_found = if is_text {
        let pane = model.focus;
        let found = crate::tui::view::find(model, pane, &words, forward);
        if let Some(line) = found {
            model.scroll[pane.index()] = line;
        }
        found.is_some()
    } else if model.screen_state() == ScreenState::Replay {
        model.replay.find(&words, forward)
    } else {
        find_back(model, &words, forward)
    };
    if !is_found {
        let where_to = if forward { "after" } else { "before" };
        model.notice = Some(format!("No match for “{words}” {where_to} here."));
    }
}

/// In a session at work the events are read from the newest back, and are not walked.
fn find_back(model: &mut Model, words: &str, forward: bool) -> bool {
    let words = words.to_lowercase();
    let newest = model.replay.at();
    let here = model.scroll[Pane::Events.index()];
    let holds = |back: &usize| {
        model.replay.text(newest - 1 - back).is_some_and(|t| t.to_lowercase().contains(&words))
    };
    let found =
        if forward { (0..here.min(newest)).rev().find(holds) } else { (here + 1..newest).find(holds) };
    // From the newest event on, forward begins again at the oldest.
    let found = found.or_else(|| (0..newest).find(holds).filter(|_| here == 0));
    let Some(back) = found else { return false };
    model.focus = Pane::Events;
    model.scroll[Pane::Events.index()] = back;
    true
}

/// The actions of a place whose name holds what is typed.
pub fn matching(place: ScreenState, typed: &str) -> Vec<&'static KeyBinding> {
    let typed = typed.to_lowercase();
    bindings_in(place).filter(|binding| binding.name.contains(&typed)).collect()
}

pub fn palette(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let place = model.screen_state();
    let Some(Overlay::Palette(typed, row)) = &mut model.overlay else { return Vec::new() };
    let found = matching(place, typed);
    match key.code {
        KeyCode::Esc => model.overlay = None,
        KeyCode::Up => *row = row.saturating_sub(1),
        KeyCode::Down => *row = (*row + 1).min(found.len().saturating_sub(1)),
        KeyCode::Enter => {
            let row = *row;
            return chosen_action(model, &found, row);
        }
        _ => {
            if type_in(typed, key) {
                *row = 0;
            }
        }
    }
    Vec::new()
}

fn chosen_action(model: &mut Model, found: &[&'static KeyBinding], row: usize) -> Vec<Effect> {
    let chosen = found.get(row).map(|binding| binding.action);
    model.overlay = None;
    chosen.map_or_else(Vec::new, |action| perform(model, action))
}

/// What every rule finds that can count the ballots of the last round; the decision stays.
pub fn what_if(model: &mut Model) {
    let session = model.session();
    let round = session.rounds.last().filter(|_| model.preview().is_none());
    let Some(round) = round.filter(|round| round_view::is_revealed(round)) else {
        model.notice = Some("No counted round yet.".to_owned());
        return;
    };
    let found = what_if::what_if_all(session, round, &RuleOptions::default());
    let title = "Other rules (recorded decision unchanged)".to_owned();
    let rows = if found.is_empty() {
        vec!["No rule counts this ballot kind.".to_owned()]
    } else {
        what_if::lines(round, &found)
    };
    model.overlay = Some(Overlay::Menu(Menu { kind: MenuKind::ReadOnly, title, rows, at: 0 }));
}

/// The work items so far, the newest first.
pub fn items(model: &mut Model) {
    let rows: Vec<String> = offered(model)
        .map(|(_, item)| format!("{}  {}  {}", item.item, item.participant, item.model))
        .take(5000)
        .collect();
    if rows.is_empty() {
        model.notice = Some("No work items yet.".to_owned());
        return;
    }
    let title = "Work items, newest first".to_owned();
    model.overlay = Some(Overlay::Menu(Menu { kind: MenuKind::Item, title, rows, at: 0 }));
}

/// What was handed out up to here, the newest first, each with the place of its event.
fn offered(model: &Model) -> impl Iterator<Item = (usize, &WorkItemOffered)> {
    let shown = model.replay.lines().iter().enumerate().take(model.replay.at()).rev();
    shown.filter_map(|(index, line)| {
        if let Event::WorkItemOffered(item) = &line.stamped.event { Some((index, &**item)) } else { None }
    })
}

/// Shows one work item whole: what was sent, byte for byte, and what came back.
fn show_item(model: &mut Model, at: usize) {
    let Some((index, item)) = offered(model).nth(at) else { return };
    let title = format!("{} to {}", item.item, item.participant);
    let line = model.replay.lines()[index..=index].to_vec();
    let found = trace::trace(&line, model.session());
    let text = found.first().map(trace::text).unwrap_or_default();
    model.overlay = Some(Overlay::Text(TextView { title, text, scroll: 0 }));
}

/// What the doctor's text stands under.
const DOCTOR: &str = "Providers";

/// Has the providers checked; what is found takes the place of this text.
pub fn checking(model: &mut Model, depth: ProbeLevel) -> Vec<Effect> {
    let text = "Checking keys and model lists …".to_owned();
    model.overlay = Some(Overlay::Text(TextView { title: DOCTOR.to_owned(), text, scroll: 0 }));
    vec![Effect::Doctor(depth)]
}

/// Shows what the doctor found, to a person who still waits for it.
pub fn doctor(model: &mut Model, found: String) {
    if let Some(Overlay::Text(reading)) = &mut model.overlay
        && reading.title == DOCTOR
    {
        reading.text = found;
    }
}

/// A text that is only read.
pub fn reading(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let page = usize::from(model.size.1.saturating_sub(4)).max(1);
    let Some(Overlay::Text(read)) = &mut model.overlay else { return Vec::new() };
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => read.scroll += 1,
        KeyCode::Up | KeyCode::Char('k') => read.scroll = read.scroll.saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char(' ') => read.scroll += page,
        KeyCode::PageUp => read.scroll = read.scroll.saturating_sub(page),
        KeyCode::Home | KeyCode::Char('g') => read.scroll = 0,
        KeyCode::Char('y') => {
            model.notice = Some(format!("copied {} characters", read.text.chars().count()));
            return vec![Effect::Copy(read.text.clone())];
        }
        KeyCode::Esc | KeyCode::Char('q') | KeyCode::Enter => model.overlay = None,
        _ => {}
    }
    Vec::new()
}

/// Whether the person agrees: `y` counts once the end of the text has been on the screen.
pub fn agreeing(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let most = crate::tui::view::most_agree(model);
    let page = usize::from(model.size.1.saturating_sub(4)).max(1);
    let Some(Overlay::Agree(asking)) = &mut model.overlay else { return Vec::new() };
    asking.is_read |= asking.scroll >= most;
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => asking.scroll = (asking.scroll + 1).min(most),
        KeyCode::Up | KeyCode::Char('k') => asking.scroll = asking.scroll.min(most).saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char(' ') => asking.scroll = (asking.scroll + page).min(most),
        KeyCode::PageUp => asking.scroll = asking.scroll.min(most).saturating_sub(page),
        KeyCode::Char('y') if asking.is_read => {
            model.overlay = None;
            return vec![Effect::Agree];
        }
        KeyCode::Esc | KeyCode::Char('n' | 'q') => {
            model.overlay = None;
            model.notice = Some("not agreed to: nothing was run or sent".to_owned());
        }
        _ => {}
    }
    Vec::new()
}

/// The list of a report's formats.
pub fn report() -> Overlay {
    let rows = FORMATS.iter().map(|(name, about)| format!("{name:5} {about}")).collect();
    Overlay::Menu(Menu { kind: MenuKind::Report, title: "Export report as".to_owned(), rows, at: 0 })
}

/// What may be done with a session that is not over.
pub fn unfinished() -> Overlay {
    let rows = vec!["Resume".to_owned(), "View replay".to_owned()];
    let title = "Unfinished session".to_owned();
    Overlay::Menu(Menu { kind: MenuKind::Unfinished, title, rows, at: 0 })
}

pub fn menu(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let Some(Overlay::Menu(menu)) = &mut model.overlay else { return Vec::new() };
    let last = menu.rows.len().saturating_sub(1);
    match key.code {
        KeyCode::Esc | KeyCode::Char('q') => model.overlay = None,
        KeyCode::Up | KeyCode::Char('k') => menu.at = menu.at.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => menu.at = (menu.at + 1).min(last),
        KeyCode::Home | KeyCode::Char('g') => menu.at = 0,
        KeyCode::End | KeyCode::Char('G') => menu.at = last,
        KeyCode::Enter => {
            let (kind, at) = (menu.kind, menu.at);
            return choose(model, kind, at);
        }
        _ => {}
    }
    Vec::new()
}

fn choose(model: &mut Model, kind: MenuKind, at: usize) -> Vec<Effect> {
    model.overlay = None;
    match kind {
        MenuKind::Report => FORMATS.get(at).map_or_else(Vec::new, |(name, _)| vec![Effect::Report(name)]),
        MenuKind::Artifact => {
            let session = model.session();
            let artifacts = session.definition.as_ref().map_or(&[][..], |d| &d.artifacts);
            let known = at.checked_sub(1).and_then(|index| artifacts.get(index));
            let form = form::artifact(session, known);
            forms::open(model, form)
        }
        MenuKind::Unfinished if at == 0 => {
            vec![Effect::Open(OpenTarget::Resume(std::path::PathBuf::from(&model.file)))]
        }
        MenuKind::Item => {
            show_item(model, at);
            Vec::new()
        }
        MenuKind::Unfinished | MenuKind::ReadOnly => Vec::new(),
    }
}

/// What a click means.
pub fn click(model: &mut Model, target: Target) -> Vec<Effect> {
    match (&mut model.overlay, target) {
        (Some(Overlay::Form(form)), Target::Field(at)) => {
            form.at = at;
            form.show_cursor();
        }
        (Some(Overlay::Menu(menu)), Target::Choice(at)) => {
            let kind = menu.kind;
            return choose(model, kind, at);
        }
        (Some(Overlay::Palette(typed, _)), Target::Choice(at)) => {
            let typed = typed.clone();
            let found = matching(model.screen_state(), &typed);
            return chosen_action(model, &found, at);
        }
        (None, Target::Key(action)) => return perform(model, action),
        (None, Target::Row(at)) if model.home.at == at => return perform(model, Action::OpenRow),
        (None, Target::Row(at)) => model.home.at = at,
        (None, Target::Pane(pane)) => model.focus = pane,
        (None, Target::Seat(at)) => {
            (model.seat, model.focus) = (at, Pane::Seats);
            model.scroll[Pane::Answer.index()] = 0;
        }
        _ => {}
    }
    Vec::new()
}
