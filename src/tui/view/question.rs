//! What is asked: of the seats, and how it is answered and counted; or of the person.

use ratatui::text::Line;
use serde_json::{Value, json};

use super::results::shown;
use crate::core::Question;
use crate::history::{RoundOpened, RoundRun, Session};
use crate::insight::headline;
use crate::insight::round_view;
use crate::insight::wording::{format_duration, group_digits, quorum_ballots};
use crate::sanitize::harmless_line;
use crate::tally::Ties;
use crate::tui::cell_text::{clipped, wrapped};
use crate::tui::keymap::ScreenState;
use crate::tui::live::Preview;
use crate::tui::model::Model;
use crate::workflow::Close;

/// No text is shown longer than this, in lines of the screen.
const MOST_LINES: usize = 5000;
/// An approval shows how this many answers to an open question begin, each in this many columns.
const MOST_ANSWERS: usize = 30;
const MOST_COLUMNS: usize = 200;

pub fn title(model: &Model) -> String {
    match (model.screen_state(), model.preview()) {
        (ScreenState::Question, _) => " Your decision ".to_owned(),
        (_, Some(_)) => " Question · e edit ".to_owned(),
        _ => " Question ".to_owned(),
    }
}

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let session = model.session();
    let mut parts: Vec<(String, bool)> = Vec::new();
    if let Some(question) = model.question() {
        asked(session, &question, &mut parts);
    } else if let Some(preview) = model.preview() {
        of_draft(preview, &mut parts);
        exploration(session, preview, &mut parts);
        parts.push((String::new(), false));
        parts.push((preview.size(), false));
    } else if let Some(round) = model.shown_round() {
        of_round(&round.opened, &mut parts);
        after(round, &mut parts);
    } else if let Some(coming) = model.replay.coming().filter(|_| model.live().is_none()) {
        parts.push((format!("Round {}, not opened yet", coming.number), false));
        of_round(coming, &mut parts);
    } else {
        let goal = session.definition.as_ref().and_then(|definition| definition.goal.clone());
        parts.push((goal.unwrap_or_default(), false));
    }
    needs(model, &mut parts);
    let mut lines = Vec::new();
    for (text, is_strong) in parts {
        for line in wrapped(&text, usize::from(width), MOST_LINES) {
            lines.push(if is_strong { Line::styled(line, model.theme.strong()) } else { Line::from(line) });
        }
    }
    lines
}

/// A text with the phrases marked that its work item does not bear out.
fn marked(text: &str, phrases: &[String]) -> String {
    phrases.iter().fold(text.to_owned(), |text, phrase| text.replacen(phrase, &format!("»{phrase}«"), 1))
}

/// A round that waits to be opened: what its check found first, then the round.
fn of_draft(preview: &Preview, parts: &mut Vec<(String, bool)>) {
    let Preview { opened, checked, .. } = preview;
    parts.push((marked(&opened.question, &checked.phrases), true));
    parts.push((String::new(), false));
    if let Some(why) = &checked.refusal {
        parts.push((format!("it cannot be opened as it is: {why}"), true));
    }
    parts.extend(checked.warnings.iter().map(|warning| (format!("warning: {warning}"), true)));
    if !checked.phrases.is_empty() || checked.refusal.is_some() {
        parts.push(("e edits the question, a adds an artifact".to_owned(), false));
        parts.push((String::new(), false));
    }
    ballot_and_rule(opened, parts);
}

fn asked(session: &Session, question: &Question, parts: &mut Vec<(String, bool)>) {
    parts.push((question.message.clone(), true));
    let asked = session.running(&question.step).and_then(|run| run.approval.as_ref());
    let requested = asked.or(session.exhausted.as_ref()).map(|asked| &asked.requested);
    let Some(requested) = requested else { return };
    if let Some(proposal) = &requested.proposal {
        let is_merge = !requested.ideas.is_empty();
        let shown = if is_merge { &proposal["synthesis"] } else { proposal };
        parts.push((format!("\n{}", text_of(shown)), false));
        return;
    }
    for choice in &requested.choices {
        parts.push((format!("  • {choice}"), false));
    }
    // The result of a round that the step was not given stands above those it was given.
    if let Some(last) =
        session.rounds.last().filter(|last| !requested.context.contains_key(&last.opened.step))
        && let Some(words) = round_in_words(session, last)
    {
        parts.push((format!("\n{words}"), false));
    }
    let is_round = requested.input.get("tally").is_some_and(Value::is_object);
    if !requested.input.is_null() && !is_round && !requested.context.values().any(|it| *it == requested.input)
    {
        parts.push(("\ninput".to_owned(), true));
        parts.push((text_of(&requested.input), false));
    }
    for (name, result) in &requested.context {
        let round = session.rounds.iter().rev().find(|round| round.opened.step == *name);
        let text = round.and_then(|round| round_in_words(session, round)).unwrap_or_else(|| text_of(result));
        parts.push((format!("\n{}", harmless_line(name)), true));
        parts.push((text, false));
    }
}

/// The result of a round in words, as its reveal has it; of an open question also how each answer begins.
fn round_in_words(session: &Session, round: &RoundRun) -> Option<String> {
    let made = headline(session, round, crate::insight::tally(round)?);
    let mut text = format!("{}. {}", made.label, made.detail);
    if round.opened.rule.is_none() {
        for seat in round_view::seats(session, round).take(MOST_ANSWERS) {
            let Some(answer) = seat.answer() else { continue };
            let position = answer.answer.get("position").and_then(Value::as_str).map(str::to_owned);
            let said = position.or_else(|| answer.ballot.as_ref()?.phrase()).unwrap_or_default();
            let begin = clipped(&harmless_line(said.trim()), MOST_COLUMNS);
            text.push_str(&format!("\n  {}: {}", harmless_line(seat.name), begin.trim_end()));
        }
    }
    Some(text)
}

/// A result as text: an agent's answer without the envelope around it, where that says nothing more.
fn text_of(result: &Value) -> String {
    let is_empty = |value: &Value| matches!(value, Value::Null) || *value == json!([]) || *value == json!({});
    match result.get("result").zip(result.as_object()) {
        Some((answer, envelope)) if envelope.iter().all(|(key, it)| key == "result" || is_empty(it)) => {
            text_of(answer)
        }
        _ => shown(result),
    }
}

fn of_round(opened: &RoundOpened, parts: &mut Vec<(String, bool)>) {
    parts.push((opened.question.clone(), true));
    parts.push((String::new(), false));
    ballot_and_rule(opened, parts);
}

fn ballot_and_rule(opened: &RoundOpened, parts: &mut Vec<(String, bool)>) {
    let options = opened.ballot.options.iter().map(|option| harmless_line(option)).collect::<Vec<_>>();
    let mut ballot = format!("ballot: {}", opened.ballot.kind.name());
    if !options.is_empty() {
        ballot.push_str(&format!(" · {} · abstain", options.join(" · ")));
    }
    parts.push((ballot, false));
    for (option, about) in &opened.ballot.about {
        let texts: Vec<String> = about.entries().map(|(_, text)| harmless_line(text)).collect();
        parts.push((format!("  {}: {}", harmless_line(option), texts.join(" – ")), false));
    }
    let ties = match opened.ties {
        Ties::None => "reported".to_owned(),
        Ties::Ask => "facilitator decides".to_owned(),
        Ties::Seeded(seed) => format!("random, seed {seed}"),
    };
    let rule =
        opened.rule.map_or("none (no decision)".to_owned(), |rule| format!("{} · ties: {ties}", rule.name()));
    parts.push((format!("rule: {rule}"), false));
    let close = match opened.close {
        Close::All => "when all seats are settled",
        Close::Quorum => "at quorum",
        Close::Deadline => "at the deadline",
        Close::Manual => "only when the facilitator closes it",
    };
    let deadline =
        opened.deadline_ms.map(|ms| format!(" · deadline {}", format_duration(ms))).unwrap_or_default();
    let quorum = format!(
        "quorum: {} of {}{}",
        opened.quorum,
        group_digits(opened.seats.len()),
        quorum_ballots(opened)
    );
    parts.push((format!("{quorum} · closes {close}{deadline}"), false));
}

/// What a session would run and ask that has not begun.
pub fn needs(model: &Model, parts: &mut Vec<(String, bool)>) {
    let Some(live) = model.live().filter(|live| live.draft.is_some() && !live.needs.is_empty()) else {
        return;
    };
    parts.push(("\nruns and asks".to_owned(), true));
    parts.extend(live.needs.iter().map(|need| (need.clone(), false)));
}

fn exploration(session: &Session, preview: &Preview, parts: &mut Vec<(String, bool)>) {
    let Some(definition) = &session.definition else { return };
    let step = definition.step(&preview.opened.step);
    let asked = step.and_then(|step| session.rendered_round(definition, step, step.round()?).ok());
    if let Some(background) = asked.and_then(|asked| asked.round.exploration.clone()) {
        parts.push((format!("\n{}", marked(&background, &preview.checked.phrases)), false));
    }
    if !definition.artifacts.is_empty() {
        parts.push(("\nartifacts".to_owned(), true));
        for artifact in &definition.artifacts {
            parts.push((format!("{}  {}", artifact.id, artifact.summary), false));
        }
    }
}

fn after(round: &RoundRun, parts: &mut Vec<(String, bool)>) {
    if let Some(note) = &round.synthesis {
        parts.push(("\nnote".to_owned(), true));
        parts.push((note.clone(), false));
    }
}
