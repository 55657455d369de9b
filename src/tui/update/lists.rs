//! Lists and texts over the panes: contents and choices.

use indexmap::IndexMap;

use super::forms;
use crate::core::Command;
use crate::engine::FacilitatorRequest;
use crate::history::{Event, NO_MODEL, Point, RoundRevised, SeatInvited, WorkItemOffered};
use crate::insight::counts::what_if_all;
use crate::insight::wording;
use crate::report::trace;
use crate::tally::RuleOptions;
use crate::tui::form::{self, Form, Submitted};
use crate::tui::home::REHEARSAL;
use crate::tui::host::Effect;
use crate::tui::list::{List, ListKind, ListRow, ModelTarget};
use crate::tui::live::{SeatChoice, SeatLink};
use crate::tui::model::{Mode, Model, Overlay};
use crate::tui::panes::question::value_text;
use crate::tui::panes::seats::{access_word, invitation, is_agent, seat_to_invite};
use crate::tui::reading::TextView;
use crate::workflow::LINK;

/// Model of a seat that a person at this terminal answers.
const HUMAN: &str = "human";
const DOCTOR: &str = "Providers";
const CHOOSES: &str = "Enter chooses · Esc closes";

fn show_list(model: &mut Model, kind: ListKind, title: &str, rows: Vec<ListRow>, keys: &str) {
    model.overlay = Some(Overlay::List(List::new(kind, title, rows, keys)));
}

fn show_text(model: &mut Model, title: impl Into<String>, text: impl Into<String>) {
    model.overlay = Some(Overlay::Text(TextView::plain(title, text)));
}

/// Performs the action of the chosen row; `for_all` applies it to all seats.
pub fn choose(model: &mut Model, for_all: bool) -> Vec<Effect> {
    let Some(Overlay::List(list)) = &model.overlay else { return Vec::new() };
    let Some((at, row)) = list.chosen() else { return Vec::new() };
    let (kind, value) = (list.kind.clone(), row.value.clone());
    model.overlay = None;
    match kind {
        ListKind::Models(target) => return assign_model(model, target, value, for_all),
        ListKind::Invitation(seat) => return invitation_chosen(model, &seat, at),
        ListKind::Agenda => return agenda_entry(model, &value),
        ListKind::Steps => show_step(model, &value),
    }
    Vec::new()
}

pub fn what_if(model: &mut Model) {
    let session = model.session();
    let Some(round) = model.shown_round() else { return };
    let found = what_if_all(session, round, &RuleOptions::default());
    if found.is_empty() {
        model.notice = Some("No rule counts this ballot kind.".to_owned());
        return;
    }
    let text = crate::insight::what_if_lines(session, round, &found).join("\n");
    show_text(model, "Other rules (recorded decision unchanged)", text);
}

/// Lists the steps with a result, then the work items, the newest first.
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
    show_list(model, ListKind::Steps, "Results of steps, then work items, newest first", rows, CHOOSES);
}

/// Returns the work items offered up to the shown event, the newest first, with the index of the event.
fn offered(model: &Model) -> impl Iterator<Item = (usize, &WorkItemOffered)> {
    let shown = model.replay.lines.iter().enumerate().take(model.replay.at).rev();
    shown.filter_map(|(index, line)| {
        if let Event::WorkItemOffered(item) = &line.stamped.event { Some((index, &**item)) } else { None }
    })
}

/// Shows a step's result, or a work item in full: the exact input and output.
fn show_step(model: &mut Model, id: &str) {
    let (title, text) = if let Some((index, item)) = offered(model).find(|(_, item)| item.item == *id) {
        let found = trace::trace(&model.replay.lines[index..=index], model.session());
        let text = found.first().map(trace::text).unwrap_or_default();
        (format!("{} to {}", item.item, item.participant), text)
    } else {
        let context = model.session().context();
        (format!("Result of {id}"), context.get(id).map(value_text).unwrap_or_default())
    };
    show_text(model, title, text);
}

pub fn checking(model: &mut Model) -> Vec<Effect> {
    show_text(model, DOCTOR, "Checking keys and model lists …");
    vec![Effect::Doctor]
}

/// Shows the doctor's report if the person still waits for it.
pub fn doctor(model: &mut Model, found: String) {
    if let Some(Overlay::Text(reading)) = &mut model.overlay
        && reading.title == DOCTOR
    {
        reading.text = found;
    }
}

pub fn note(model: &mut Model) -> Vec<Effect> {
    let form = model.last_closed().map(|round| form::note(model.session(), round));
    form.map_or_else(Vec::new, |form| forms::open(model, form))
}

/// Returns all agenda entries, and in a live session the rows that create one.
///
/// A row's value is the name of a list in [`crate::core::AgendaChange`] (empty for a settled entry), and an id.
fn agenda_rows(model: &Model) -> Vec<ListRow> {
    let agenda = &model.session().agenda;
    let new = |change: &str, noun| ListRow::new(&format!("{change} "), &format!("+ new {noun}"), "");
    let mut rows =
        vec![new("agenda", "agenda item"), new("conflicts", "conflict"), new("questions", "question")];
    rows.retain(|_| model.live().is_some());
    rows.extend(agenda.items.iter().map(|item| {
        let reason = item.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let more = Some(format!("{}{reason}", item.status)).filter(|more| more != "open");
        entry("agenda", "agenda", &item.id, &item.title, more)
    }));
    rows.extend(agenda.conflicts.iter().map(|it| point(it, "resolved", "conflict")));
    rows.extend(agenda.questions.iter().map(|it| point(it, "answered", "question")));
    rows
}

/// Returns the row of a conflict or question; the list `settles` contains the change that settles it.
fn point(point: &Point, settles: &str, noun: &str) -> ListRow {
    let would = point.minimum_change.as_ref().map(|change| format!("would pass with: {change}"));
    let more = point.settled.as_ref().map(|how| wording::settled(how).to_owned()).or(would);
    let (change, noun) = if point.is_open() { (settles, noun) } else { ("", settles) };
    entry(change, noun, &point.id, &point.title, more)
}

fn entry(change: &str, noun: &str, id: &str, title: &str, more: Option<String>) -> ListRow {
    let shown_id = if id == title { "" } else { id };
    let more = more.map(|more| format!(" · {more}")).unwrap_or_default();
    ListRow::new(&format!("{change} {id}"), &format!("{noun:9} {shown_id:9} {title}{more}"), "")
}

pub fn show_agenda(model: &mut Model) {
    let rows = agenda_rows(model);
    if rows.is_empty() {
        model.notice = Some("There is no agenda, conflict or question.".to_owned());
        return;
    }
    let keys = "Enter changes, resolves, answers or adds · Esc closes";
    show_list(model, ListKind::Agenda, "Agenda, conflicts, questions", rows, keys);
}

fn agenda_entry(model: &mut Model, row: &str) -> Vec<Effect> {
    let (change, id) = row.split_once(' ').unwrap_or_default();
    let is_led = model.live().is_some() && model.session().header.is_some();
    if !change.is_empty() && is_led {
        return forms::open(model, form::agenda(model.session(), change, id));
    }
    let why = if is_led { "It is resolved or answered already." } else { "It changes while a session runs." };
    model.notice = Some(why.to_owned());
    Vec::new()
}

/// Returns the available models, those of this session first; with `with_person` also a human seat.
fn model_rows(model: &Model, with_person: bool) -> Vec<ListRow> {
    let mut rows: Vec<ListRow> = Vec::new();
    let mut add = |text: &str, about: &str| {
        if !text.is_empty() && !rows.iter().any(|row| row.value == text) {
            rows.push(ListRow::new(text, text, about));
        }
    };
    let seats = model.session().roster.values().map(|seat| seat.model.as_str());
    let known = seats.filter(|name| ![HUMAN, LINK, NO_MODEL].contains(name));
    known.for_each(|name| add(name, "in this session"));
    add(model.home.model.as_deref().unwrap_or_default(), "chosen last");
    let ready = model.home.sources.iter().flatten().filter(|source| source.is_ready);
    ready.flat_map(|source| &source.models).for_each(|name| add(name, ""));
    add(REHEARSAL, "placeholder: picks at random, asks no model");
    if with_person {
        add(HUMAN, "you, at this keyboard");
        add(LINK, "somebody elsewhere, by a link: i invites");
    }
    rows
}

pub fn choose_model(model: &mut Model) {
    if matches!(model.mode, Mode::Home) {
        let title = "Who answers, unless a seat says so";
        return show_models(model, ModelTarget::Project, title, "Enter takes it");
    }
    let (seat, all) = (model.seat_name().unwrap_or_default().to_owned(), model.seat_count());
    let (title, keys) = (format!("Model of {seat}"), format!("Enter this seat · Alt-Enter all {all}"));
    show_models(model, ModelTarget::Seat(seat), &title, &keys);
}

pub fn retry(model: &mut Model) {
    let seat = model.seat_to_help().unwrap_or_default();
    let title = format!("Ask {seat} again");
    show_models(model, ModelTarget::Retry(seat), &title, "Enter asks it");
}

fn show_models(model: &mut Model, target: ModelTarget, title: &str, keys: &str) {
    let may_be_person = matches!(target, ModelTarget::Seat(_)) && choice(model).is_some();
    let mut rows = model_rows(model, may_be_person);
    if let ModelTarget::Retry(seat) = &target {
        let now = model.session().seat_info(seat).map(|info| info.model.clone()).unwrap_or_default();
        rows.retain(|row| row.value != now);
        rows.insert(0, ListRow::new(&now, &now, "the same again"));
    }
    let asking = if model.home.sources.is_none() { " · still asking local servers …" } else { "" };
    show_list(model, ListKind::Models(target), title, rows, &format!("{keys} · Esc{asking}"));
}

fn assign_model(model: &mut Model, target: ModelTarget, text: String, for_all: bool) -> Vec<Effect> {
    match target {
        ModelTarget::Project => vec![Effect::UseModel(text)],
        ModelTarget::Retry(seat) => {
            let retry = Command::Retry { participant: seat, model: Some(text) };
            vec![Effect::Order(FacilitatorRequest::Order(retry))]
        }
        ModelTarget::Seat(seat) => {
            let all = || model.preview().map(|preview| preview.opened.seats.clone()).unwrap_or_default();
            let seats = if for_all { all() } else { vec![seat] };
            let Some(mut choice) = choice(model) else { return between_rounds(model, seats, &text) };
            choice.seats.retain(|(name, _)| !seats.contains(name));
            choice.rehearse = false;
            choice.seats.extend(seats.into_iter().map(|name| (name, text.clone())));
            let is_usual = for_all && ![HUMAN, LINK].contains(&&*text);
            let usual = is_usual.then(|| Effect::UseModel(text));
            usual.into_iter().chain([Effect::Redraft(choice)]).collect()
        }
    }
}

/// Orders another model for seats of a running session, from the next round on.
fn between_rounds(model: &Model, seats: Vec<String>, text: &str) -> Vec<Effect> {
    let as_it_is = round_form(model).map(|form| form::read(&form));
    let Some(Ok(Submitted::Order(order))) = as_it_is else { return Vec::new() };
    let FacilitatorRequest::Order(Command::ReviseRound(revised)) = *order else { return Vec::new() };
    let models = seats.into_iter().map(|seat| (seat, text.to_owned())).collect();
    let revised = Command::ReviseRound(RoundRevised { models, ..revised });
    vec![Effect::Order(FacilitatorRequest::Order(revised))]
}

pub fn round_form(model: &Model) -> Option<Form> {
    let session = model.session();
    let id = &model.preview()?.opened.step;
    let step = session.definition().step(id)?;
    // The form shows rendered text, not templates.
    let asked = session.rendered_round(step, step.round()?).ok()?;
    Some(form::round(session, id, &asked.round))
}

fn choice(model: &Model) -> Option<SeatChoice> {
    Some(model.live()?.draft.as_ref()?.from.1.clone())
}

pub fn rehearse(model: &mut Model) -> Vec<Effect> {
    choice(model).map(|choice| Effect::Redraft(SeatChoice { rehearse: true, ..choice })).into_iter().collect()
}

/// Shows the link of a seat; begins the session first, because links work only in a session that has begun.
pub fn invite(model: &mut Model) -> Vec<Effect> {
    let Some(seat) = seat_to_invite(model) else { return Vec::new() };
    let state = invitation(model.session(), &seat).unwrap_or_default();
    let Some(live) = model.live_mut() else { return Vec::new() };
    if live.draft.is_some() {
        live.shows_link = true;
        return vec![Effect::Begin];
    }
    let word = access_word(model.session(), &seat);
    let code = if is_agent(model.session(), &seat) { "" } else { " and its QR code" };
    let texts =
        [format!("Show the {word}{code} (y copies)"), format!("New {word}: the old one stops working")];
    let rows = texts.iter().map(|text| ListRow::new(text, text, "")).collect();
    let title = format!("{seat}: {state}");
    show_list(model, ListKind::Invitation(seat), &title, rows, CHOOSES);
    Vec::new()
}

fn invitation_chosen(model: &mut Model, seat: &str, at: usize) -> Vec<Effect> {
    if at == 1 {
        return vec![Effect::Invite(seat.to_owned())];
    }
    let word = access_word(model.session(), seat);
    let Some(link) = model.live().and_then(|live| live.links.get(seat)).cloned() else {
        model.notice = Some(format!("Its {word} is not on this machine. Make a new one."));
        return Vec::new();
    };
    show_link(model, seat, &link);
    Vec::new()
}

fn show_link(model: &mut Model, seat: &str, link: &SeatLink) {
    let room = usize::from(model.size.0.saturating_sub(2));
    let fits = |code: &&String| code.lines().all(|line| line.chars().count() <= room);
    let code = link.code.as_ref().filter(fits).map(|code| format!("{code}\n")).unwrap_or_default();
    let about = if is_agent(model.session(), seat) {
        "Whoever has it works as this agent: give it to one agent alone. `roundtable inbox run -- COMMAND` needs these \
         in its environment."
    } else {
        "Whoever opens it first votes as this seat: send it to one person alone."
    };
    // The text of the link is first, because the code may not fit on the screen.
    let (access, notes) = (&link.text, link.notes.join("\n\n"));
    let text = format!("{access}\n\n{code}{about} It works while this program runs.\n\n{notes}");
    let title = format!("{seat}: {}", access_word(model.session(), seat));
    let copies = Some(access.clone());
    model.overlay = Some(Overlay::Text(TextView { copies, ..TextView::plain(title, text) }));
}

pub fn begun(model: &mut Model, links: &IndexMap<String, SeatLink>) {
    let Some(live) = model.live_mut() else { return };
    live.links.clone_from(links);
    if std::mem::take(&mut live.shows_link)
        && let Some((seat, link)) = seat_to_invite(model).and_then(|seat| links.get_key_value(&seat))
    {
        show_link(model, seat, link);
    }
}

/// Shows a new link once its invitation is on disk.
pub fn recorded(model: &mut Model, invited: &SeatInvited) {
    let Some(live) = model.live_mut() else { return };
    let Some((_, link)) = live.new_link.take_if(|(made, _)| made == invited) else { return };
    live.links.insert(invited.participant.clone(), link.clone());
    show_link(model, &invited.participant, &link);
}
