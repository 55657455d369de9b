//! The tally as bars and steps; while the round is open, how it will be counted.

use ratatui::text::Line;
use unicode_width::UnicodeWidthStr as _;

use super::{seat_card, votes};
use crate::core::{AskedQuestion, questions};
use crate::history::RoundRun;
use crate::insight::independence::{Independence, independence};
use crate::insight::round_view;
use crate::insight::session_headline::question_headline;
use crate::insight::tally_text::{long_order, tables};
use crate::insight::what_if::{WhatIf, what_if_all};
use crate::insight::wording::{money, turnout};
use crate::insight::{estimates, headline};
use crate::sanitize::harmless_line;
use crate::tally::RuleOptions;
use crate::tui::cell_text::{clipped, clipped_middle, wrapped};
use crate::tui::model::Model;

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let Some(round) = model.shown_round() else { return Vec::new() };
    if round.closed.is_none() {
        return seat_card::lines(model, round, width);
    }
    let Some(tally) = round_view::tally(round) else { return Vec::new() };
    let found = independence(model.session(), round);
    let mut lines = head_with(model, round, width, found.as_ref());
    lines.push(Line::default());
    lines.extend(votes::moved(model, round, width));
    let made = headline(model.session(), round, tally);
    let made = wrapped(&format!("{}. {}", made.label, made.detail), width, 4);
    lines.extend(made.into_iter().map(|line| Line::styled(line, model.theme.strong())));
    if let Some(order) = long_order(&tally.verdict) {
        lines.extend(wrapped(&order, width, 6).into_iter().map(Line::from));
    }
    let quorum = if tally.quorum_met { "quorum met" } else { "quorum not met" };
    lines.extend(wrapped(&format!("{} · {quorum}", turnout(tally)), width, 4).into_iter().map(Line::from));
    let prices = |name: &str| model.session().price(name);
    if let Some(spent) = money(&round.spent(&prices)) {
        let whole = money(&model.session().spent(&prices)).filter(|_| model.session().rounds.len() > 1);
        let whole = whole.map(|whole| format!("; session total: {whole}")).unwrap_or_default();
        lines.extend(wrapped(&format!("{spent}{whole}"), width, 4).into_iter().map(Line::from));
    }
    let around = found.iter().flat_map(Independence::lines).skip(1).chain(estimates(model.session(), round));
    lines.extend(around.flat_map(|line| wrapped(&harmless_line(&line), width, 4)).map(Line::from));
    let faint = model.theme.faint();
    for step in &tally.verdict.steps {
        let step = wrapped(&format!("- {step}"), width, 6);
        lines.extend(step.into_iter().map(|line| Line::styled(line, faint)));
    }
    lines.extend(tables(&tally.verdict).into_iter().map(|line| Line::styled(line, faint)));
    lines
}

/// What is shown first: the questions, where there are several; the tracks, who disagreed, how far it can be
/// trusted, in one line each.
pub fn head(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    head_with(model, round, width, independence(model.session(), round).as_ref())
}

fn head_with(
    model: &Model,
    round: &RoundRun,
    width: usize,
    found: Option<&Independence>,
) -> Vec<Line<'static>> {
    if round_view::tally(round).is_none() {
        return Vec::new();
    }
    let mut lines = decisions(model, round, width);
    lines.extend(votes::bars(model, round, width));
    lines.extend(votes::apart(model, round, width));
    lines.extend(found.map(independent).map(|(text, is_doubt)| {
        let style = if is_doubt { model.theme.active() } else { model.theme.faint() };
        Line::styled(clipped(&harmless_line(&text), width), style)
    }));
    lines.extend(
        other_rules(model, round).map(|text| Line::styled(clipped(&text, width), model.theme.faint())),
    );
    lines
}

/// A line for each question of a session that asks several, the one of this round marked.
fn decisions(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    const MOST: usize = 6;
    let (session, theme) = (model.session(), model.theme);
    let asked = questions(session);
    if asked.len() < 2 {
        return Vec::new();
    }
    let line = |one: &AskedQuestion<'_>| {
        let is_here = one.rounds.iter().any(|other| other.opened.round == round.opened.round);
        let pointer = if is_here { theme.sign("▸", ">") } else { " " };
        let question = harmless_line(one.decides.opened.question.lines().next().unwrap_or_default());
        let made = harmless_line(&question_headline(session, one.decides, one.by_person(session)).name);
        let room = width.saturating_sub(made.width().min(width / 2) + 4);
        let text = format!("{pointer} {}  {made}", clipped_middle(&question, room));
        Line::styled(clipped(&text, width), if is_here { theme.strong() } else { theme.faint() })
    };
    asked.iter().take(MOST).map(line).collect()
}

/// Whose answers the result has, in one line, and whether that is a doubt: one voice may be counted several
/// times.
fn independent(found: &Independence) -> (String, bool) {
    let same: usize = found.same_answers.iter().map(Vec::len).sum();
    let shared = found.models.values().map(Vec::len).max().unwrap_or(0);
    let mut parts = vec![format!("independence: {}", found.counts())];
    parts.extend((shared > 1).then(|| format!("{shared} seats share one")));
    parts.extend((same > 0).then(|| format!("{same} say nearly the same")));
    (parts.join(" · "), same > 0 || shared > 1)
}

/// What other rules would have found, in one line.
fn other_rules(model: &Model, round: &RoundRun) -> Option<String> {
    const MOST_SEATS: usize = 200;
    if round.opened.rule.is_none() || round.seats.len() > MOST_SEATS {
        return None;
    }
    let found = what_if_all(model.session(), round, &RuleOptions::default());
    let own = |what: &&WhatIf| what.read_as.is_none() && !what.is_recorded;
    let others: Vec<&WhatIf> = found.iter().filter(own).collect();
    let differs: Vec<String> = others
        .iter()
        .filter(|what| what.differs)
        .map(|what| {
            format!("{} {}", what.rule.name(), what.verdict.winners.first().map_or("none", String::as_str))
        })
        .collect();
    let same = others.len() - differs.len();
    if others.is_empty() {
        return None;
    }
    let but = if differs.is_empty() { String::new() } else { format!("; {}", differs.join(", ")) };
    Some(harmless_line(&format!("other rules (w): {same} of {} say the same{but}", others.len())))
}
