//! Lists and texts over the panes: other rules, work items, reports, the doctor.

use super::forms;
use super::message::Effect;
use crate::config::doctor::ProbeLevel;
use crate::history::{Event, WorkItemOffered};
use crate::insight::what_if;
use crate::report::trace;
use crate::tally::RuleOptions;
use crate::tui::agenda_list::{AgendaRow, agenda_rows};
use crate::tui::form;
use crate::tui::model::{Menu, MenuKind, Model, Overlay, TextView};

/// The formats of a report, as they are asked for, and what each is.
pub const FORMATS: [(&str, &str); 5] = [
    ("md", "Markdown, for people"),
    ("json", "JSON, for programs"),
    ("html", "a web page"),
    ("madr", "an architecture decision record"),
    ("csv", "CSV, one row per seat"),
];

/// What every rule finds that can count the ballots of the last round; the decision stays.
pub fn what_if(model: &mut Model) {
    let session = model.session();
    let Some(round) = model.shown_round() else { return };
    let found = what_if::what_if_all(session, round, &RuleOptions::default());
    let title = "Other rules (recorded decision unchanged)".to_owned();
    let rows = if found.is_empty() {
        vec!["No rule counts this ballot kind.".to_owned()]
    } else {
        what_if::lines(model.session(), round, &found)
    };
    model.overlay = Some(Overlay::Menu(Menu::of(MenuKind::ReadOnly, title, rows)));
}

/// The work items so far, the newest first.
pub fn items(model: &mut Model) {
    let rows: Vec<String> = offered(model)
        .map(|(_, item)| format!("{}  {}  {}", item.item, item.participant, item.model))
        .take(5000)
        .collect();
    if rows.is_empty() {
        model.notice = Some("No work items yet: nothing was sent.".to_owned());
        return;
    }
    let title = "Work items, newest first".to_owned();
    model.overlay = Some(Overlay::Menu(Menu::of(MenuKind::Item, title, rows)));
}

/// Work items offered up to here, the newest first, each with the place of its event.
fn offered(model: &Model) -> impl Iterator<Item = (usize, &WorkItemOffered)> {
    let shown = model.replay.lines().iter().enumerate().take(model.replay.at()).rev();
    shown.filter_map(|(index, line)| {
        if let Event::WorkItemOffered(item) = &line.stamped.event { Some((index, &**item)) } else { None }
    })
}

/// Shows one work item whole: what was sent, byte for byte, and what came back.
pub fn show_item(model: &mut Model, at: usize) {
    let Some((index, item)) = offered(model).nth(at) else { return };
    let title = format!("{} to {}", item.item, item.participant);
    let line = model.replay.lines()[index..=index].to_vec();
    let found = trace::trace(&line, model.session());
    let text = found.first().map(trace::text).unwrap_or_default();
    model.overlay = Some(Overlay::Text(TextView { title, text, ..TextView::default() }));
}

/// What the doctor's text stands under.
const DOCTOR: &str = "Providers";

/// Has the providers checked; what is found takes the place of this text.
pub fn checking(model: &mut Model, depth: ProbeLevel) -> Vec<Effect> {
    let text = "Checking keys and model lists …".to_owned();
    model.overlay = Some(Overlay::Text(TextView { title: DOCTOR.to_owned(), text, ..TextView::default() }));
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

pub fn report() -> Overlay {
    let rows = FORMATS.iter().map(|(name, about)| format!("{name:5} {about}")).collect();
    Overlay::Menu(Menu::of(MenuKind::Report, "Export report as".to_owned(), rows))
}

/// What may be done with a session that is not over.
pub fn unfinished() -> Overlay {
    let rows = vec!["Resume".to_owned(), "View replay".to_owned()];
    let title = "Unfinished session".to_owned();
    Overlay::Menu(Menu::of(MenuKind::Unfinished, title, rows))
}

/// The agenda as a list: new entries, items with their status, conflicts and questions.
pub fn show_agenda(model: &mut Model) {
    let rows = agenda_rows(&model.session().agenda).iter().map(AgendaRow::text).collect();
    let title = "Agenda, conflicts, questions".to_owned();
    let hint = "Enter changes, resolves, answers or adds".to_owned();
    let menu = Menu { hint, ..Menu::of(MenuKind::Agenda, title, rows) };
    model.overlay = Some(Overlay::Menu(menu));
}

/// Opens the form of the chosen row, which changes, resolves or answers it.
pub fn agenda_entry(model: &mut Model, at: usize) -> Vec<Effect> {
    let session = model.session();
    let row = agenda_rows(&session.agenda).into_iter().nth(at);
    let form = row.and_then(|row| form::agenda(session, row.form?));
    match form {
        Some(form) if model.live().is_some() && session.header.is_some() => forms::open(model, form),
        Some(_) => {
            model.notice = Some("The agenda changes while a session runs.".to_owned());
            Vec::new()
        }
        None => {
            model.notice = Some("It is resolved or answered already.".to_owned());
            Vec::new()
        }
    }
}
