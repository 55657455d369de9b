//! Question to the seats with ballot and rule, or to the person.

use ratatui::style::Style;
use ratatui::text::Line;
use serde_json::{Value, json};

use crate::ballot::{Ballot, Stance};
use crate::core::{Question, is_within};
use crate::history::{RoundOpened, RoundRun, Session};
use crate::insight::headline::blocked;
use crate::insight::wording::{format_duration, group_digits};
use crate::insight::{headline, round_view};
use crate::sanitize::harmless_line;
use crate::tally::Ties;
use crate::tui::keys::ScreenState;
use crate::tui::model::Model;
use crate::tui::text::{clipped, paragraph};
use crate::workflow::Close;
use crate::yaml::Out;

/// Maximum lines of a text on the screen.
const MOST_LINES: usize = 5000;
/// An approval shows the start of at most this many answers to an open question.
const MOST_ANSWERS: usize = 30;
const MOST_COLUMNS: usize = 200;

pub fn title(model: &Model) -> String {
    let title = match (model.screen_state(), model.preview()) {
        (ScreenState::Question, _) => "Your decision",
        (_, Some(_)) => "Question · e edit",
        _ => "Question",
    };
    title.to_owned()
}

type Parts = Vec<(String, bool)>;

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let session = model.session();
    let mut parts = Parts::new();
    if let Some(item) = model.pending_item() {
        parts.push((session.agent_prompt(item).1, false));
    } else if let Some(question) = model.question() {
        asked(session, &question, &mut parts);
    } else if let Some(preview) = model.preview() {
        add_round(&preview.opened, &mut parts);
        parts.extend(preview.background.as_ref().map(|text| (format!("\n{text}"), false)));
        let artifacts = &session.definition().artifacts;
        if !artifacts.is_empty() {
            parts.push(("\nartifacts".to_owned(), true));
        }
        parts.extend(artifacts.iter().map(|known| (format!("{}  {}", known.id, known.summary), false)));
    } else if let Some(round) = model.shown_round() {
        add_round(&round.opened, &mut parts);
    } else {
        parts.push((session.definition().goal.clone().unwrap_or_default(), false));
    }
    let style = |is_strong: bool| if is_strong { model.theme.strong() } else { Style::new() };
    let lines = parts
        .iter()
        .flat_map(|(text, is_strong)| paragraph(text, usize::from(width), MOST_LINES, style(*is_strong)));
    lines.collect()
}

/// Adds a blocked proposal: the number of seats per stance, who blocks, and the change that would end the block.
fn add_block(session: &Session, round: &RoundRun, parts: &mut Parts) {
    parts.push((round.opened.question.clone(), true));
    let scores = crate::insight::tally(round).map(|tally| &tally.verdict.scores);
    let stands = scores.into_iter().flatten().map(|(stance, count)| format!("{stance} {count}"));
    parts.push((stands.collect::<Vec<_>>().join("   "), false));
    for seat in round_view::seats(session, round) {
        let Some(Ballot::Consent(Stance::Block, change)) = seat.ballot() else { continue };
        parts.push((format!("\n{} blocks", harmless_line(seat.name)), true));
        let position = seat.answer.and_then(|answer| answer.answer.get("position"));
        parts.extend(position.and_then(Value::as_str).map(|text| (text.trim_end().to_owned(), false)));
        parts.extend(change.as_ref().map(|change| (format!("would pass with: {change}"), false)));
    }
}

fn asked(session: &Session, question: &Question, parts: &mut Parts) {
    if let Some(round) = blocked(session) {
        return add_block(session, round, parts);
    }
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
    parts.extend(requested.choices.iter().map(|choice| (format!("  • {choice}"), false)));
    // The last round's result is listed first, unless the step's context contains it.
    let holds = |name: &String, last| is_result_of(last, name) || is_inside(session, last, name);
    let last = session.rounds.last().filter(|last| !requested.context.keys().any(|name| holds(name, last)));
    let words = last.and_then(|last| round_in_words(session, last));
    parts.extend(words.map(|words| (format!("\n{words}"), false)));
    let is_round = requested.input.get("tally").is_some_and(Value::is_object);
    if !requested.input.is_null() && !is_round && !requested.context.values().any(|it| *it == requested.input)
    {
        parts.push(("\ninput".to_owned(), true));
        parts.push((text_of(&requested.input), false));
    }
    for (name, result) in &requested.context {
        let round = session.rounds.iter().rev().find(|round| is_result_of(round, name));
        let text = round.and_then(|round| round_in_words(session, round));
        let text = text.unwrap_or_else(|| nested_results(session, name) + &text_of(result));
        parts.push((format!("\n{}", harmless_line(name)), true));
        parts.push((text, false));
    }
}

/// Returns the results of the rounds inside a step, as text.
fn nested_results(session: &Session, name: &str) -> String {
    let rounds = session.rounds.iter().filter(|round| is_inside(session, round, name));
    let told = rounds.filter_map(|round| Some((&round.opened.question, round_in_words(session, round)?)));
    told.fold(String::new(), |all, (question, words)| all + question + "\n" + &words + "\n")
}

fn is_inside(session: &Session, round: &RoundRun, name: &str) -> bool {
    session.definition().around(&round.opened.step).iter().any(|outer| outer.key() == name)
}

/// Returns whether a result of this name belongs to the round or to its discussion.
fn is_result_of(round: &RoundRun, name: &str) -> bool {
    round.opened.step == name || is_within(&round.opened.step, name)
}

/// Returns the result of a round as on its reveal; for an open question also the start of each answer.
fn round_in_words(session: &Session, round: &RoundRun) -> Option<String> {
    let made = headline(session, round, crate::insight::tally(round)?);
    let mut text = made.whole();
    if round.opened.rule.is_none() {
        for seat in round_view::seats(session, round).take(MOST_ANSWERS) {
            let Some(answer) = seat.answer else { continue };
            let position = answer.answer.get("position").and_then(Value::as_str).map(str::to_owned);
            let said = position.or_else(|| answer.ballot.as_ref()?.phrase()).unwrap_or_default();
            let begin = clipped(&harmless_line(said.trim()), MOST_COLUMNS);
            text.push_str(&format!("\n  {}: {}", harmless_line(seat.name), begin.trim_end()));
        }
    }
    Some(text)
}

/// Returns a result as text; unwraps an agent's answer from an otherwise empty envelope.
fn text_of(result: &Value) -> String {
    let is_empty = |value: &Value| matches!(value, Value::Null) || *value == json!([]) || *value == json!({});
    match result.get("result").zip(result.as_object()) {
        Some((answer, envelope)) if envelope.iter().all(|(key, it)| key == "result" || is_empty(it)) => {
            text_of(answer)
        }
        _ => value_text(result),
    }
}

fn add_round(opened: &RoundOpened, parts: &mut Parts) {
    parts.extend([(opened.question.clone(), true), (String::new(), false)]);
    let mut ballot = format!("ballot: {}", opened.ballot.kind.name());
    for option in &opened.ballot.options {
        ballot.push_str(&format!(" · {}", harmless_line(option)));
    }
    if !opened.ballot.options.is_empty() {
        ballot.push_str(" · abstain");
    }
    parts.push((ballot, false));
    for (option, about) in &opened.ballot.about {
        let texts: Vec<String> = about.entries().map(|(_, text)| harmless_line(text)).collect();
        parts.push((format!("  {}: {}", harmless_line(option), texts.join(" – ")), false));
    }
    let ties = match opened.ties {
        Ties::None => "no decision".to_owned(),
        Ties::Ask => "facilitator decides".to_owned(),
        Ties::Seeded(seed) => format!("random, seed {seed}"),
    };
    let rule = opened.rule.map(|rule| format!("{} · ties: {ties}", rule.name()));
    parts.push((format!("rule: {}", rule.as_deref().unwrap_or("none (no decision)")), false));
    let close = match opened.close {
        Close::All => "when all seats are settled",
        Close::Quorum => "at quorum",
        Close::Deadline => "at the deadline",
        Close::Manual => "only when the facilitator closes it",
    };
    let deadline = opened.deadline_ms.map(|ms| format!(" · deadline {}", format_duration(ms)));
    let seats = group_digits(opened.seats.len());
    let quorum = format!("quorum: {} of {seats}", opened.quorum);
    parts.push((format!("{quorum} · closes {close}{}", deadline.unwrap_or_default()), false));
}

pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) => Out::json_document(value, true).trim_end().to_owned(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Event;
    use crate::journal::read_log;

    #[test]
    fn rounds_inside_a_step_are_described() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/sessions/release-consent.s2s");
        let mut lines = read_log(&std::fs::read(path).expect("readable")).expect("whole").lines;
        if let Event::SessionOpened(opened) = &mut lines[0].stamped.event {
            opened.definition =
                "participants: [qa-lead]\nsteps:\n  - {id: par, type: parallel, steps: [{id: consent, \
                                 question: q, ballot: consent, rule: consent}]}\n"
                    .to_owned();
        }
        let end = lines.iter().position(|line| matches!(line.stamped.event, Event::TallyMade(_)));
        let mut session = Session::default();
        lines.iter().take(end.expect("counted") + 1).for_each(|line| session.apply_entry(line));
        assert!(nested_results(&session, "par").contains("Blocked by security-champion"));
        assert_eq!(nested_results(&session, "consent"), "");
    }
}
