//! Counts as text lines and as JSON, by the round's rule and by others.
//!
//! Counts by other rules decide nothing. Lines contain raw names; each format and screen escapes them.

use std::cmp::Ordering;
use std::iter::successors;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::movement::earlier;
use super::round_view;
use super::wording::pluralize;
use crate::core::{decides_nothing, profile};
use crate::history::{RoundRun, Session, Tally};
use crate::tally::{
    self, BallotSupport, CountableKind, NoDecision, Profile, Quartiles, Rule, RuleOptions, Score, Verdict,
};

/// Formats "winner: a", "tie: a, b" or "no winner: …".
pub fn result(verdict: &Verdict) -> String {
    let names = verdict.winners.join(", ");
    match (&verdict.reason, verdict.tie) {
        (Some(open @ NoDecision::OpenTie { .. }), true) => open.to_string(),
        (Some(edge @ NoDecision::EdgeTie(_)), true) if names.is_empty() => edge.to_string(),
        (Some(edge @ NoDecision::EdgeTie(_)), true) => format!("{edge}; chosen: {names}"),
        (_, true) => format!("tie: {names}"),
        (Some(reason), false) => format!("no winner: {reason}"),
        (None, false) => format!("{}: {names}", if verdict.winners.len() > 1 { "winners" } else { "winner" }),
    }
}

/// Formats an order as places: "1 a, 2= b, 2= c, 4 d".
pub fn places(order: &[Vec<String>]) -> String {
    let (mut said, mut before) = (Vec::new(), 0);
    for level in order {
        let sign = if level.len() > 1 { "=" } else { "" };
        said.extend(level.iter().map(|option| format!("{}{sign} {option}", before + 1)));
        before += level.len();
    }
    said.join(", ")
}

/// Formats the order of all options, with its basis if the rule defines only winners. Returns `None` for
/// fewer than three options.
pub fn order(verdict: &Verdict) -> Option<String> {
    let by = verdict.order_by.as_ref().map(|what| format!(" (by {what})")).unwrap_or_default();
    let count = verdict.order.iter().map(Vec::len).sum::<usize>();
    (count > 2).then(|| format!("order{by}: {}", places(&verdict.order)))
}

/// Formats a rule with its threshold: "supermajority (at least 2/3)".
pub fn rule_description(rule: Rule, terms: &RuleOptions) -> String {
    let Some(share) = rule.threshold(terms) else { return rule.name().to_owned() };
    let word = if rule == Rule::Supermajority { "at least" } else { "more than" };
    format!("{} ({word} {share})", rule.name())
}

/// Returns the matrices of a count as text, if it has any: pairwise preferences and strongest paths.
pub fn tables(verdict: &Verdict) -> Vec<String> {
    let Some(trace) = &verdict.trace else { return Vec::new() };
    let mut lines = table("ballots that prefer the row to the column:", verdict, &trace.pairwise);
    lines.extend(table("strongest paths from the row to the column:", verdict, &trace.paths));
    lines
}

/// Formats a matrix with named rows; each column has its row's number.
fn table(title: &str, verdict: &Verdict, matrix: &[Vec<Score>]) -> Vec<String> {
    let labels: Vec<String> =
        (1..).zip(verdict.scores.keys()).map(|(at, name)| format!("{at} {name}")).collect();
    let cell = |a: usize, b: usize| if a == b { "·".to_owned() } else { matrix[a][b].to_string() };
    let cells = |a: usize| (0..matrix.len()).map(move |b| cell(a, b));
    let widest = (0..matrix.len()).flat_map(cells).map(|cell| cell.chars().count()).max();
    let wide = widest.unwrap_or(0).max(labels.len().to_string().len());
    let left = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let line = |start: &str, cells: &mut dyn Iterator<Item = String>| {
        let start = format!("{start}{}", " ".repeat(left - start.width()));
        cells.fold(start, |line, cell| format!("{line}  {cell:>wide$}"))
    };
    if matrix.is_empty() {
        return Vec::new();
    }
    let head = line("", &mut (1..=labels.len()).map(|at| at.to_string()));
    let rows = labels.iter().enumerate().map(|(a, label)| line(label, &mut cells(a)));
    [title.to_owned(), head].into_iter().chain(rows).collect()
}

pub fn spread(round: &RoundRun) -> Option<&Quartiles> {
    round_view::tally(round)?.verdict.trace.as_ref()?.spread.as_ref()
}

/// Formats "The only seat", "Both seats", "All 6 seats" or "4 of 6 seats".
pub(super) fn seats_of(count: usize, of: usize) -> String {
    match count {
        _ if count != of => format!("{count} of {}", pluralize(of, "seat")),
        1 => "The only seat".to_owned(),
        2 => "Both seats".to_owned(),
        more => format!("All {}", pluralize(more, "seat")),
    }
}

/// Formats "Median of 6 seats. The middle half says 5 to 8; the extremes are 3 and 13."
pub(super) fn spread_words(spread: &Quartiles, tally: &Tally) -> String {
    let Quartiles { lowest, first_quartile, third_quartile, highest, .. } = spread;
    if lowest == highest {
        return format!("{} said so.", seats_of(tally.answered, tally.answered));
    }
    let seats = pluralize(tally.answered, "seat");
    let to = if first_quartile == third_quartile { String::new() } else { format!(" to {third_quartile}") };
    format!(
        "Median of {seats}. The middle half says {first_quartile}{to}; the extremes are {lowest} and {highest}."
    )
}

/// Returns the estimate of each round of a question under the round's name, and whether the spread changed;
/// empty for a single round.
pub fn estimates(session: &Session, round: &RoundRun) -> Vec<(String, String)> {
    let rounds = successors(Some(round), |round| earlier(session, round));
    let mut found: Vec<(&RoundRun, &Quartiles)> =
        rounds.filter_map(|round| Some((round, spread(round)?))).collect();
    found.reverse();
    let [.., (_, before), (_, now)] = found.as_slice() else { return Vec::new() };
    let line = |(round, spread): &(&RoundRun, &Quartiles)| {
        let words = round_view::tally(round).map(|tally| spread_words(spread, tally));
        let said = format!("{}. {}", spread.median, words.unwrap_or_default());
        (format!("Round {}", round.opened.number), said)
    };
    let change = match now.iqr.as_f64().total_cmp(&before.iqr.as_f64()) {
        Ordering::Less => "became narrower",
        Ordering::Equal => "is as wide as before",
        Ordering::Greater => "became wider",
    };
    found.iter().map(line).chain([("Change".to_owned(), format!("the middle half {change}"))]).collect()
}

/// Count by a rule, of a file or of a round; it never changes a recorded decision.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    pub rule: Rule,
    pub terms: RuleOptions,
    pub verdict: Verdict,
    /// How the ballots are read, if the rule is made for another kind.
    pub read_as: Option<&'static str>,
    /// The rule is the one that was fixed for the round.
    pub is_recorded: bool,
    /// Whether the outcome differs from the round's; false without a rule or below quorum, `None` for a file.
    pub differs: Option<bool>,
}

impl WhatIf {
    /// Counts a profile by a rule; the error says that the rule does not count its ballots.
    pub fn count(
        profile: &Profile,
        kind: CountableKind,
        rule: Rule,
        terms: &RuleOptions,
    ) -> Result<Self, String> {
        let read_as = match rule.support_for(kind) {
            BallotSupport::Own => None,
            BallotSupport::Read(how) => Some(how),
            BallotSupport::None => return Err(not_counted(rule, kind.name())),
        };
        let mut verdict = tally::count(profile, rule, terms);
        if let Some(how) = read_as {
            verdict.steps.insert(0, format!("`{}` ballots are read so: {how}", kind.name()));
        }
        Ok(Self { rule, terms: terms.clone(), verdict, read_as, is_recorded: false, differs: None })
    }

    /// Formats "schulze: winner: a", with a mark if the outcome differs.
    pub fn line(&self) -> String {
        let mark = match (self.is_recorded, self.differs) {
            (true, _) => "  (this round's rule)",
            (_, Some(true)) => "  ← differs",
            _ => "",
        };
        format!("{:<18} {}{mark}", self.rule.name(), result(&self.verdict))
    }

    pub fn json(&self) -> Value {
        let Self { rule, terms, verdict, .. } = self;
        let mut value = json!({
            "rule": rule.name(),
            "winners": verdict.winners,
            "tie": verdict.tie,
            "scores": verdict.scores,
            "steps": verdict.steps,
            "reason": verdict.why(),
            "order": verdict.order,
            "order_by": verdict.order_by,
            "terms": (!terms.is_default()).then_some(terms),
            "trace": verdict.trace,
            "what_if": self.differs.map(|_| !self.is_recorded),
            "differs": self.differs,
            "read_as": self.read_as,
        });
        if let Value::Object(entries) = &mut value {
            entries.retain(|key, value| !value.is_null() || matches!(key.as_str(), "reason" | "order_by"));
        }
        value
    }
}

fn not_counted(rule: Rule, kind: &str) -> String {
    format!("rule `{}` does not count `{kind}` ballots", rule.name())
}

pub fn rules_for(kind: CountableKind) -> impl Iterator<Item = Rule> {
    Rule::all().filter(move |rule| rule.support_for(kind) != BallotSupport::None)
}

/// Counts the revealed ballots of a round by a rule, also below quorum.
///
/// # Errors
/// Returns a message if the rule cannot count these ballots or the round is not revealed yet.
pub fn what_if(
    session: &Session,
    round: &RoundRun,
    rule: Rule,
    terms: &RuleOptions,
) -> Result<WhatIf, String> {
    let opened = &round.opened;
    if !round_view::is_revealed(round) {
        return Err(format!("round `{}` is not revealed yet", opened.round));
    }
    let kind = opened.ballot.kind;
    let countable = kind.info().countable.ok_or_else(|| not_counted(rule, kind.name()))?;
    let mut found = WhatIf::count(&profile(session, round), countable, rule, terms)?;
    let verdict = &mut found.verdict;
    if verdict.tie && terms.choose.is_none() {
        verdict.break_tie(opened.ties, None);
    }
    found.is_recorded = opened.rule == Some(rule) && opened.terms == *terms;
    found.differs = Some(false);
    let Some(recorded) = round_view::tally(round) else { return Ok(found) };
    if let Some(why) = decides_nothing(session, recorded) {
        verdict.decide_nothing(why);
    } else if recorded.rule.is_some() && recorded.quorum_met && !found.is_recorded {
        // Below quorum no option won, so no outcome can differ.
        let Verdict { winners, tie, .. } = &recorded.verdict;
        found.differs = Some((winners, *tie) != (&verdict.winners, verdict.tie));
    }
    Ok(found)
}

/// Counts by every rule that can count a round's ballots; the round's own rule keeps its own options.
pub fn what_if_all(session: &Session, round: &RoundRun, terms: &RuleOptions) -> Vec<WhatIf> {
    let own = |rule| if round.opened.rule == Some(rule) { &round.opened.terms } else { terms };
    let rules = round.opened.ballot.kind.info().countable.into_iter().flat_map(rules_for);
    rules.filter_map(|rule| what_if(session, round, rule, own(rule)).ok()).collect()
}
