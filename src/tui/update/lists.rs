//! Lists and texts over the panes: other rules, steps, reports, the doctor.

use super::forms;
use super::message::Effect;
use crate::history::{Event, WorkItemOffered};
use crate::insight::what_if;
use crate::report::trace;
use crate::tally::RuleOptions;
use crate::tui::agenda_list::{AgendaRow, agenda_rows};
use crate::tui::form;
use crate::tui::keymap::{KeyBinding, bindings_in, labels};
use crate::tui::list::{List, ListKind, ListRow};
use crate::tui::model::{Model, Overlay, TextView};
use crate::tui::view::shown_value;

/// The formats of a report, as they are asked for, and what each is.
pub const FORMATS: [(&str, &str); 5] = [
    ("md", "Markdown, for people"),
    ("json", "JSON, for programs"),
    ("html", "a web page"),
    ("madr", "an architecture decision record"),
    ("csv", "CSV, one row per seat"),
];

pub fn palette(model: &mut Model) {
    let row = |binding: &'static KeyBinding| {
        let keys = labels(model.keys.keys_for(binding));
        ListRow::new(binding.id, &format!("{keys:16}"), binding.name)
    };
    let rows = bindings_in(model.screen_state()).map(row).collect();
    model.overlay = Some(Overlay::List(List::of(ListKind::Palette, "Command palette", rows)));
}

/// What every rule finds that can count the ballots of the last round; the decision stays.
pub fn what_if(model: &mut Model) {
    let session = model.session();
    let Some(round) = model.shown_round() else { return };
    let found = what_if::what_if_all(session, round, &RuleOptions::default());
    let title = "Other rules (recorded decision unchanged)".to_owned();
    let text = if found.is_empty() {
        "No rule counts this ballot kind.".to_owned()
    } else {
        what_if::lines(session, round, &found).join("\n")
    };
    model.overlay = Some(Overlay::Text(TextView { title, text, ..TextView::default() }));
}

/// The steps with a result, then the work items, the newest first.
pub fn steps(model: &mut Model) {
    const MOST: usize = 5000;
    let session = model.session();
    let result = |id: &String| ListRow::new(id, id, "result");
    let items = offered(model).take(MOST).map(|(_, item)| {
        ListRow::new(&item.item, &item.item, &format!("{}  {}", item.participant, item.model))
    });
    let rows: Vec<ListRow> = session.results.keys().map(result).chain(items).collect();
    if rows.is_empty() {
        model.notice = Some("No step has a result yet, and nothing was sent.".to_owned());
        return;
    }
    let title = "Results of steps, then work items, newest first";
    model.overlay = Some(Overlay::List(List::of(ListKind::Steps, title, rows)));
}

/// Work items offered up to here, the newest first, each with the place of its event.
fn offered(model: &Model) -> impl Iterator<Item = (usize, &WorkItemOffered)> {
    let shown = model.replay.lines().iter().enumerate().take(model.replay.at()).rev();
    shown.filter_map(|(index, line)| {
        if let Event::WorkItemOffered(item) = &line.stamped.event { Some((index, &**item)) } else { None }
    })
}

/// Shows a step's result, or a work item whole: what was sent, byte for byte, and what came back.
pub fn show_step(model: &mut Model, id: &str) {
    let (title, text) = if let Some((index, item)) = offered(model).find(|(_, item)| item.item == *id) {
        let found = trace::trace(&model.replay.lines()[index..=index], model.session());
        let text = found.first().map(trace::text).unwrap_or_default();
        (format!("{} to {}", item.item, item.participant), text)
    } else {
        let context = model.session().context();
        (format!("Result of {id}"), context.get(id).map(shown_value).unwrap_or_default())
    };
    model.overlay = Some(Overlay::Text(TextView { title, text, ..TextView::default() }));
}

const DOCTOR: &str = "Providers";

/// Has the providers checked; what is found takes the place of this text.
pub fn checking(model: &mut Model) -> Vec<Effect> {
    let text = "Checking keys and model lists …".to_owned();
    model.overlay = Some(Overlay::Text(TextView { title: DOCTOR.to_owned(), text, ..TextView::default() }));
    vec![Effect::Doctor]
}

/// Shows what the doctor found, to a person who still waits for it.
pub fn doctor(model: &mut Model, found: String) {
    if let Some(Overlay::Text(reading)) = &mut model.overlay
        && reading.title == DOCTOR
    {
        reading.text = found;
    }
}

pub fn report(model: &mut Model) {
    let rows = FORMATS.iter().map(|(name, about)| ListRow::new(name, &format!("{name:5}"), about)).collect();
    model.overlay = Some(Overlay::List(List::of(ListKind::Report, "Export report as", rows)));
}

/// What may be done with a session that is not over.
pub fn unfinished() -> Overlay {
    let rows = ["Resume", "View replay"].map(|text| ListRow::new(text, text, "")).to_vec();
    Overlay::List(List::of(ListKind::Unfinished, "Unfinished session", rows))
}

/// What later rounds are given beside the question: a note on the last round, artifacts.
pub fn material(model: &mut Model) -> Vec<Effect> {
    let session = model.session();
    let artifacts = session.definition.as_ref().map_or(&[][..], |definition| &definition.artifacts);
    let mut rows = Vec::new();
    if let Some(round) = session.rounds.iter().rev().find(|round| round.closed.is_some()) {
        rows.push(ListRow::new(NOTE, &format!("note on round {}", round.opened.number), "your conclusion"));
    }
    rows.push(ListRow::new(NEW, "new artifact", "a fact, a requirement, a file"));
    rows.extend(artifacts.iter().map(|known| ListRow::new(&known.id, &known.id, &known.summary)));
    if rows.len() == 1 {
        return material_chosen(model, NEW);
    }
    let title = "What later rounds are given";
    model.overlay = Some(Overlay::List(List::of(ListKind::Material, title, rows)));
    Vec::new()
}

/// An item value that cannot be the id of an artifact.
const NOTE: &str = "\0note";
const NEW: &str = "\0new";

pub fn material_chosen(model: &mut Model, id: &str) -> Vec<Effect> {
    let session = model.session();
    let last = session.rounds.iter().rev().find(|round| round.closed.is_some()).filter(|_| id == NOTE);
    let form = if let Some(round) = last {
        form::note(session, &round.opened.round, round.synthesis.as_deref().unwrap_or_default())
    } else {
        let mut known = session.definition.iter().flat_map(|definition| &definition.artifacts);
        form::artifact(session, known.find(|known| known.id == *id))
    };
    forms::open(model, form)
}

/// The agenda as a list: new entries, items with their status, conflicts and questions.
pub fn show_agenda(model: &mut Model) {
    let rows = agenda_rows(&model.session().agenda);
    let rows = rows.iter().map(AgendaRow::text).map(|text| ListRow::new(&text, &text, "")).collect();
    let keys = "Enter changes, resolves, answers or adds · Esc closes".to_owned();
    let list = List { keys, ..List::of(ListKind::Agenda, "Agenda, conflicts, questions", rows) };
    model.overlay = Some(Overlay::List(list));
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
