//! The tally as bars and steps; while the round is open, how it will be counted.

use ratatui::text::Line;

use crate::history::RoundRun;
use crate::insight::agreement::chart;
use crate::insight::independence::{Independence, without_texts};
use crate::insight::movement::movement;
use crate::insight::tally_text::long_order;
use crate::insight::wording::{headline, money, quorum_ballots, turnout};
use crate::insight::{bars, pictures, round_view};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::wrapped;
use crate::tui::model::Model;

/// All lines of the pane.
pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    if model.preview().is_some() {
        return last(model, width);
    }
    let Some(round) = model.session().rounds.last() else { return Vec::new() };
    let Some(tally) = round_view::tally(round) else {
        let rule = round.opened.rule.map_or("none (no decision)", |rule| rule.name());
        let (quorum, ballots) = (round.opened.quorum, quorum_ballots(&round.opened));
        let mut text = format!("rule: {rule}\nquorum: {quorum} of {}{ballots}", round.seats.len());
        if round.closed.is_none() {
            text.push_str("\n\nSealed until the round closes: text, length, tokens and cost are hidden.");
        }
        return wrapped(&text, width, 20).into_iter().map(Line::from).collect();
    };
    let headline = headline(tally);
    let mut lines: Vec<Line<'static>> =
        wrapped(&format!("{} ({})", headline.label, headline.detail), width, 4)
            .into_iter()
            .map(|line| Line::styled(line, model.theme.strong()))
            .collect();
    let longest = tally.verdict.scores.keys().map(|option| option.chars().count()).max().unwrap_or(0).min(20);
    let room = width.saturating_sub(longest + 8);
    for bar in bars(tally).0 {
        let name: String = harmless_line(bar.name).chars().take(longest).collect();
        let drawn = model.theme.sign("█", "#").repeat(bar.cells(room));
        lines.push(Line::from(format!("{name:longest$}  {:>4} {drawn}", bar.score.to_string())));
    }
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
    let pictures = pictures(model.session(), round, width);
    lines.extend(pictures.iter().map(|line| Line::from(model.theme.drawn(harmless_line(line)))));
    lines
}

/// What stands around the result: whose answers it has, who moved since the last round of the
/// same form, how agreement went over the rounds.
fn around(model: &Model, round: &RoundRun, width: usize, lines: &mut Vec<Line<'static>>) {
    let session = model.session();
    for line in without_texts(session, round).iter().flat_map(Independence::lines) {
        let line = wrapped(&line, width, 4);
        lines.extend(line.into_iter().map(|line| Line::styled(line, model.theme.active())));
    }
    if let Some(moved) = movement(session, round) {
        let heading = format!("Changes since round {}", moved.from_round);
        lines.push(Line::styled(harmless_line(&heading), model.theme.strong()));
        for line in moved.lines() {
            lines.extend(wrapped(&line, width, 4).into_iter().map(Line::from));
        }
        lines.extend(
            chart(session, round).iter().map(|line| Line::from(model.theme.drawn(harmless_line(line)))),
        );
    }
}

/// While the next round is drafted: what the last one came to.
fn last(model: &Model, width: usize) -> Vec<Line<'static>> {
    let text = match model.session().rounds.last().and_then(round_view::tally) {
        Some(tally) => {
            let made = headline(tally);
            format!("Previous round\n{} ({})", made.label, made.detail)
        }
        None => "No round counted yet.".to_owned(),
    };
    wrapped(&text, width, 20).into_iter().map(Line::from).collect()
}
