//! A count as plain lines: the result first, then every step, then the tables behind it.
//!
//! Lines hold raw names; each format and screen makes them harmless in its own way.

use std::cmp::Ordering;

use unicode_width::UnicodeWidthStr as _;

use super::round_view;
use super::wording::pluralize;
use crate::core::earlier_rounds;
use crate::history::{RoundRun, Session};
use crate::tally::{NoDecision, Quartiles, Rule, RuleOptions, Score, Verdict};

/// "winner: a", "tie: a, b", "no winner: …".
pub fn result(verdict: &Verdict) -> String {
    let names = verdict.winners.join(", ");
    match (&verdict.reason, verdict.tie) {
        (Some(open @ NoDecision::OpenTie { .. }), true) => open.to_string(),
        (_, true) => format!("tie: {names}"),
        (Some(reason), false) => format!("no winner: {reason}"),
        (None, false) if verdict.winners.is_empty() => "no winner".to_owned(),
        (None, false) => format!("winner: {names}"),
    }
}

/// An order as places: "1 a, 2= b, 2= c, 4 d"; empty without one.
pub fn places(order: &[Vec<String>]) -> String {
    let (mut said, mut before) = (Vec::new(), 0);
    for level in order {
        let sign = if level.len() > 1 { "=" } else { "" };
        said.extend(level.iter().map(|option| format!("{}{sign} {option}", before + 1)));
        before += level.len();
    }
    said.join(", ")
}

/// The order of all options, with what it is by where the rule itself says only who wins; none of fewer than
/// three options.
pub fn order(verdict: &Verdict) -> Option<String> {
    let by = verdict.order_by.as_ref().map(|what| format!(" (by {what})")).unwrap_or_default();
    let count = verdict.order.iter().map(Vec::len).sum::<usize>();
    (count > 2).then(|| format!("order{by}: {}", places(&verdict.order)))
}

/// A rule with its terms: "supermajority (at least 2/3)".
pub fn rule_description(rule: Rule, terms: &RuleOptions) -> String {
    let Some(share) = rule.threshold(terms) else { return rule.name().to_owned() };
    let word = if rule == Rule::Supermajority { "at least" } else { "more than" };
    format!("{} ({word} {share})", rule.name())
}

/// The tables behind a count, if it has any: who is preferred to whom, strongest paths.
pub fn tables(verdict: &Verdict) -> Vec<String> {
    let Some(trace) = &verdict.trace else { return Vec::new() };
    let mut lines = table("ballots that prefer the row to the column:", verdict, &trace.pairwise);
    lines.extend(table("strongest paths from the row to the column:", verdict, &trace.paths));
    lines
}

/// A matrix with the names of its rows; columns bear the rows' numbers.
fn table(title: &str, verdict: &Verdict, matrix: &[Vec<Score>]) -> Vec<String> {
    let labels: Vec<String> =
        verdict.scores.keys().enumerate().map(|(at, name)| format!("{} {name}", at + 1)).collect();
    if matrix.is_empty() || matrix.len() != labels.len() {
        return Vec::new();
    }
    let cell = |a: usize, b: usize| if a == b { "·".to_owned() } else { matrix[a][b].to_string() };
    let places = 0..labels.len();
    let cells = places.clone().flat_map(|a| places.clone().map(move |b| (a, b)));
    let widest = cells.map(|(a, b)| cell(a, b).chars().count()).max().unwrap_or(1);
    let wide = widest.max(labels.len().to_string().len());
    let left = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let head = places.clone().fold(" ".repeat(left), |line, at| format!("{line}  {:>wide$}", at + 1));
    let mut lines = vec![title.to_owned(), head];
    for (a, label) in labels.iter().enumerate() {
        let start = format!("{label}{}", " ".repeat(left - label.width()));
        lines.push(places.clone().fold(start, |line, b| format!("{line}  {:>wide$}", cell(a, b))));
    }
    lines
}

pub fn spread(round: &RoundRun) -> Option<&Quartiles> {
    round_view::tally(round)?.verdict.trace.as_ref()?.spread.as_ref()
}

/// The estimate of each round of a question under its name, and whether the last two came closer; empty for one
/// round alone.
pub fn estimates(session: &Session, round: &RoundRun) -> Vec<(String, String)> {
    let alike = |before: &&RoundRun| before.opened.ballot.is_like(&round.opened.ballot);
    let rounds = [round].into_iter().chain(earlier_rounds(session, round).filter(alike));
    let mut found: Vec<(&RoundRun, &Quartiles)> =
        rounds.filter_map(|round| Some((round, spread(round)?))).collect();
    found.reverse();
    let [.., (_, before), (_, now)] = found.as_slice() else { return Vec::new() };
    let line = |(round, spread): &(&RoundRun, &Quartiles)| {
        let answered = round_view::tally(round).map_or(0, |tally| tally.answered);
        let said = format!(
            "median {}, middle half {} to {}, extremes {} and {}, {}",
            spread.median,
            spread.first_quartile,
            spread.third_quartile,
            spread.lowest,
            spread.highest,
            pluralize(answered, "seat")
        );
        (format!("Round {}", round.opened.number), said)
    };
    let has_cards = !round.opened.ballot.cards.is_empty();
    let change = match (now.iqr.as_f64().total_cmp(&before.iqr.as_f64()), has_cards) {
        (Ordering::Less, true) => "spans fewer cards",
        (Ordering::Less, false) => "became narrower",
        (Ordering::Equal, true) => "spans as many cards as before",
        (Ordering::Equal, false) => "is as wide as before",
        (Ordering::Greater, true) => "spans more cards",
        (Ordering::Greater, false) => "became wider",
    };
    found.iter().map(line).chain([("Change".to_owned(), format!("the middle half {change}"))]).collect()
}
