//! Strategies: recipes of rounds, as YAML files that hold phases and nothing else.

use std::sync::LazyLock;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

/// Name and file text of each built-in strategy, in the order they are listed.
pub const STRATEGIES: [(&str, &str); 8] = [
    ("blind", include_str!("strategies/blind.yaml")),
    ("delphi", include_str!("strategies/delphi.yaml")),
    ("estimate", include_str!("strategies/estimate.yaml")),
    ("consent", include_str!("strategies/consent.yaml")),
    ("findings", include_str!("strategies/findings.yaml")),
    ("premortem", include_str!("strategies/premortem.yaml")),
    ("six-hats", include_str!("strategies/six-hats.yaml")),
    ("disney", include_str!("strategies/disney.yaml")),
];

static PARSED: LazyLock<Vec<Strategy>> = LazyLock::new(|| {
    let parse = |(_, text): &(_, &str)| serde_yaml::from_str(text).expect("a test reads each built-in file");
    STRATEGIES.iter().map(parse).collect()
});

/// A recipe of rounds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strategy {
    pub name: String,
    /// What happens, in a sentence.
    pub summary: String,
    #[serde(rename = "for")]
    pub good_for: String,
    /// What it does not do.
    pub limits: String,
    /// Where its claims come from.
    pub evidence: Vec<String>,
    /// The ballot kinds that its `main` rounds can have; the first is the default.
    pub accepts: Vec<String>,
    /// The voting rule of each kind, unless the discussion names one.
    pub rules: IndexMap<String, String>,
    pub phases: Vec<Phase>,
}

/// A round of a strategy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub id: String,
    pub label: Option<String>,
    /// The question; `{{topic}}` stands for the discussion's topic.
    pub question: String,
    /// A line for everyone who is asked.
    pub directive: Option<String>,
    /// `main` for the discussion's ballot, else a kind without options.
    pub ballot: String,
    /// What the snapshot recalls, as on a round.
    pub context: Option<Value>,
    /// The phase that it revises.
    pub revises: Option<String>,
    pub feedback: Option<String>,
    /// A condition; `phase.ID` stands for the result of an earlier phase.
    pub skip_if: Option<String>,
    pub repeat_if: Option<String>,
    pub max_runs: Option<u32>,
    /// What the facilitator is asked before it is repeated.
    pub amend: Option<String>,
}

/// The names of all strategies.
pub fn strategy_names() -> Vec<&'static str> {
    STRATEGIES.iter().map(|(name, _)| *name).collect()
}

/// Every strategy, in the order they are listed.
pub fn strategies() -> &'static [Strategy] {
    &PARSED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_reads_under_its_own_name_and_ends_with_a_ballot() {
        for ((name, _), strategy) in STRATEGIES.iter().zip(strategies()) {
            assert_eq!(*name, strategy.name);
            assert_eq!(strategy.phases.last().map(|phase| phase.ballot.as_str()), Some("main"));
        }
    }
}
