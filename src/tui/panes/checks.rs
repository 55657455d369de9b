//! Problems of a draft, each with the key that solves it.

use indexmap::{IndexMap, IndexSet};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::seats::{access_word, invitation};
use crate::history::NO_MODEL;
use crate::insight::wording::{group_digits, pluralize};
use crate::sanitize::harmless_line;
use crate::tally::NoDecision;
use crate::tui::model::Model;
use crate::tui::text::hanging;

struct Check {
    grade: Grade,
    text: String,
    key: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Grade {
    Bad,
    Doubt,
    Good,
}

/// Counts the problems that [`found`] grades as bad.
pub fn problems(model: &Model) -> usize {
    let (Some(live), Some(preview)) = (model.live(), model.preview()) else { return 0 };
    let refused = usize::from(preview.checked.refusal.is_some());
    refused + usize::from(is_too_big(model)) + live.problems().len()
}

fn most_bytes(model: &Model) -> usize {
    model.session().definition().max_snapshot_bytes
}

pub fn is_too_big(model: &Model) -> bool {
    model.preview().is_some_and(|preview| preview.opened.snapshot_bytes > most_bytes(model))
}

pub fn title(model: &Model) -> String {
    match problems(model) {
        0 => "Before you open".to_owned(),
        count => format!("Before you open: {}", pluralize(count, "problem")),
    }
}

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let (theme, width) = (model.theme, usize::from(width));
    let mut lines = Vec::new();
    for check in found(model) {
        let (sign, style, text_style) = match check.grade {
            Grade::Bad => ("✗", theme.bad(), theme.bad()),
            Grade::Doubt => ("!", theme.active(), Style::new()),
            Grade::Good => ("✓", theme.good(), Style::new()),
        };
        let key = if check.key.is_empty() { String::new() } else { format!("  ({})", check.key) };
        let mut text = hanging("   ", &(check.text + &key), width, 3, text_style);
        if let Some(first) = text.first_mut() {
            let said = first.to_string().trim_start().to_owned();
            *first =
                Line::from(vec![Span::styled(format!(" {sign} "), style), Span::styled(said, text_style)]);
        }
        lines.extend(text);
    }
    lines
}

fn found(model: &Model) -> Vec<Check> {
    let (Some(live), Some(preview)) = (model.live(), model.preview()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |grade, text: String, key| found.push(Check { grade, text: harmless_line(&text), key });
    if let Some(why) = &preview.checked.refusal {
        add(Grade::Bad, format!("it cannot be opened: {why}"), "e question  a artifact");
    }
    for (seat, why) in live.problems() {
        add(Grade::Bad, format!("{seat}: {why}"), "m another model");
    }
    for warning in &preview.checked.warnings {
        add(Grade::Doubt, warning.clone(), "e question");
    }
    let opened = &preview.opened;
    let info = |seat: &String| Some(model.session().seat_info(seat)?.label(&opened.step));
    let models: Vec<&str> = opened.seats.iter().filter_map(info).collect();
    // Doubtful models: their provider lists models, but not this one.
    for name in models.iter().collect::<IndexSet<_>>() {
        let mut sources = model.home.sources.iter().flatten();
        let source = sources.find(|source| name.split('/').next() == Some(&source.provider));
        if source.is_some_and(|source| !source.models.is_empty() && !source.models.iter().any(|m| m == name))
        {
            add(Grade::Doubt, format!("{name}: its provider does not list it"), "m another model");
        }
    }
    independence_doubts(model, &models, &mut add);
    for seat in &opened.seats {
        if let Some(state) = invitation(model.session(), seat).filter(|state| *state != "joined") {
            let grade = if state == "invited" { Grade::Good } else { Grade::Doubt };
            add(grade, format!("{} of {seat}: {state}", access_word(model.session(), seat)), "i invites");
        }
    }
    if let Some(draft) = live.draft.as_ref().filter(|draft| !draft.needs.is_empty()) {
        let (grade, key) =
            if draft.asks_first { (Grade::Doubt, "o asks you first") } else { (Grade::Good, "") };
        add(grade, draft.needs.join(" · "), key);
    }
    let mut bytes = group_digits(opened.snapshot_bytes);
    if preview.bytes_in_full > opened.snapshot_bytes {
        bytes = format!("{bytes} (of {}, limited by `context`)", group_digits(preview.bytes_in_full));
    }
    if is_too_big(model) {
        let most = group_digits(most_bytes(model));
        add(Grade::Bad, format!("{bytes} bytes are too many: `max_snapshot_bytes` is {most}"), "e question");
    } else {
        let short: String = opened.snapshot_sha256.chars().take(8).collect();
        add(Grade::Good, format!("all get the same {bytes} bytes, sha256 {short}"), "s reads them");
    }
    found
}

/// Adds doubts about independence: seats that share a model, or have none.
fn independence_doubts(model: &Model, models: &[&str], add: &mut impl FnMut(Grade, String, &'static str)) {
    let seats = model.seat_count();
    let key = if model.is_undecided() { "m seats a model" } else { "" };
    let count = |is_one: fn(&str) -> bool| models.iter().filter(|model| is_one(model)).count();
    let picks = count(|model| model.split('/').next() == Some("rehearsal"));
    if model.session().is_rehearsal() {
        add(Grade::Doubt, "REHEARSAL: placeholders pick at random, no model is asked".to_owned(), key);
    } else if picks > 0 {
        let why = NoDecision::Placeholders { placeholders: picks as u32, seats };
        add(Grade::Doubt, format!("no decision: {why}"), key);
    }
    let scripted = count(|model| model == "scripted");
    if scripted > 0 {
        let of = pluralize(seats, "seat");
        add(Grade::Doubt, format!("scripted: {scripted} of {of}, no model is asked for them"), key);
    }
    let without = count(|model| model == NO_MODEL);
    if without > 0 {
        add(Grade::Bad, format!("no model yet: {}", pluralize(without, "seat")), key);
    }
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for model in models {
        if !matches!(*model, "human" | "rehearsal" | NO_MODEL | "scripted" | "remote/link" | "remote/inbox") {
            *counts.entry(model).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    if let Some((model, count)) = most.filter(|(_, count)| *count > 1) {
        add(Grade::Doubt, format!("{} seats share {model}: they are one voice", group_digits(count)), key);
    }
}
