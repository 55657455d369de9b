//! The tally as bars and steps; while the round is open, how it will be counted.

use ratatui::text::Line;

use super::{seat_card, votes};
use crate::history::RoundRun;
use crate::insight::independence::{Independence, independence};
use crate::insight::round_view;
use crate::insight::tally_text::{long_order, tables};
use crate::insight::wording::{money, quorum_ballots, turnout};
use crate::insight::{estimates, headline};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::wrapped;
use crate::tui::model::Model;

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    if model.preview().is_some() {
        return last(model, width);
    }
    let Some(round) = model.shown_round() else { return Vec::new() };
    if round.closed.is_none() {
        return seat_card::lines(model, round, width);
    }
    let Some(tally) = round_view::tally(round) else {
        let rule = round.opened.rule.map_or("none (no decision)", |rule| rule.name());
        let (quorum, ballots) = (round.opened.quorum, quorum_ballots(&round.opened));
        let text = format!("rule: {rule}\nquorum: {quorum} of {}{ballots}", round.seats.len());
        return wrapped(&text, width, 20).into_iter().map(Line::from).collect();
    };
    let mut lines = head(model, round, width);
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
    around(model, round, width, &mut lines);
    let faint = model.theme.faint();
    for step in &tally.verdict.steps {
        let step = wrapped(&format!("- {step}"), width, 6);
        lines.extend(step.into_iter().map(|line| Line::styled(line, faint)));
    }
    lines.extend(tables(&tally.verdict).into_iter().map(|line| Line::styled(line, faint)));
    lines
}

/// What is shown first: the bars, who disagreed, who moved.
pub fn head(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    if round_view::tally(round).is_none() {
        return Vec::new();
    }
    let mut lines = votes::bars(model, round, width);
    lines.extend(votes::apart(model, round, width));
    lines.extend(votes::moved(model, round, width));
    lines
}

/// What stands around the result: whose answers it has, how agreement went over the rounds.
fn around(model: &Model, round: &RoundRun, width: usize, lines: &mut Vec<Line<'static>>) {
    let session = model.session();
    for line in independence(session, round).iter().flat_map(Independence::lines) {
        let line = wrapped(&line, width, 4);
        lines.extend(line.into_iter().map(|line| Line::styled(line, model.theme.active())));
    }
    for line in estimates(session, round) {
        lines.extend(wrapped(&harmless_line(&line), width, 2).into_iter().map(Line::from));
    }
}

/// While the next round is drafted: what the last one came to.
fn last(model: &Model, width: usize) -> Vec<Line<'static>> {
    let text = match model.session().rounds.last().and_then(|round| Some((round, round_view::tally(round)?)))
    {
        Some((round, tally)) => {
            let made = headline(model.session(), round, tally);
            format!("Previous round\n{}. {}", made.label, made.detail)
        }
        None => "No round counted yet.".to_owned(),
    };
    wrapped(&text, width, 20).into_iter().map(Line::from).collect()
}
