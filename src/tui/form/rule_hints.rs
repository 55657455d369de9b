//! What each rule does, and what each strategy is for, in one line.

use std::borrow::Cow;

use crate::ballot::BallotKind;
use crate::tally::Rule;
use crate::workflow::strategies;

/// Returns a line about the rule of this name; `none` counts and decides nothing.
pub fn rule_hint(name: &str) -> &'static str {
    let Some(rule) = Rule::from_name(name) else { return "ballots are counted, nothing is decided" };
    match rule {
        Rule::Plurality => "the option with the most votes",
        Rule::Majority => "more than half of those who name an option",
        Rule::Supermajority => "at least two thirds, or another threshold",
        Rule::Unanimous => "everyone names the same option",
        Rule::WeightedMajority => "more than half, by weight or confidence",
        Rule::Consent => "passes unless somebody blocks",
        Rule::Approval => "the option most approve of",
        Rule::Score => "the highest mean score",
        Rule::Median => "the middle estimate",
        Rule::Borda => "points for each place in a ranking",
        Rule::Irv => "the weakest goes out until one has more than half",
        Rule::Schulze => "the strongest chain of pairs",
    }
}

/// The rules that count a kind of ballot, and `none`.
pub fn rules_of(kind: &str) -> Vec<&'static str> {
    let countable = BallotKind::from_name(kind).and_then(|kind| kind.info().countable);
    std::iter::once("none").chain(countable.into_iter().flat_map(Rule::for_kind)).collect()
}

/// The rule that a kind of ballot has unless another is chosen.
pub fn usual_rule(kind: &str) -> &'static str {
    match kind {
        "choice" => "majority",
        "ranking" => "schulze",
        "estimate" => "median",
        kind => rules_of(kind).into_iter().find(|rule| *rule == kind).unwrap_or("none"),
    }
}

pub fn strategy_hint(name: &str) -> Cow<'static, str> {
    let strategy = strategies().iter().find(|strategy| strategy.name == name);
    match strategy {
        Some(strategy) => format!("for {}", strategy.good_for).into(),
        None => "from .s2s/strategies".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_line_of_its_own() {
        let mut lines: Vec<&str> = Rule::names().into_iter().chain(["none"]).map(rule_hint).collect();
        let count = lines.len();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), count);
        assert!(lines.iter().all(|line| line.len() <= 52), "{lines:?}");
    }
}
