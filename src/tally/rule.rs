//! Voting rules by name, with the ballot kinds and options that each accepts.
//!
//! The definition fixes a rule and its options; the event log records them before the first ballot.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use super::decimal::Fraction;
use super::profile::CountableKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Rule {
    /// More first places than any other option.
    Plurality,
    /// More than half of the first places.
    Majority,
    /// At least a share of the first places.
    Supermajority,
    /// All first places.
    Unanimous,
    /// More than a share of the weight.
    WeightedMajority,
    Consent,
    /// Most approvals.
    Approval,
    /// Highest mean score.
    Score,
    /// Most points, one for each option ranked below.
    Borda,
    /// Repeated elimination of the option with the fewest first places.
    Irv,
    /// A strongest path to every other option that is at least as strong as the path back.
    Schulze,
    /// Median of the estimates.
    Median,
}

/// Options that a rule chooses: a number of them, or all that half of the seats approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Choose {
    Number(usize),
    Share(Share),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Share {
    Half,
}

impl Choose {
    pub const HALF: Self = Self::Share(Share::Half);

    /// Parses `3` or `half`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "half" => Some(Self::HALF),
            number => number.parse().ok().filter(|number| *number > 0).map(Self::Number),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleOptions {
    /// Share that a supermajority must reach or a weighted majority must exceed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Fraction>,
    /// Number of options to choose; one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choose: Option<Choose>,
}

impl RuleOptions {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BallotSupport {
    Own,
    /// The rule reads these ballots in the way described.
    Read(&'static str),
    None,
}

impl Rule {
    pub fn all() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied()
    }

    /// Checks if the scores are sums of ballots or of their weights.
    pub fn counts_ballots(self) -> bool {
        !matches!(self, Self::Score | Self::Borda | Self::Schulze | Self::Median)
    }

    /// Checks if the scores are first places.
    pub fn counts_first_places(self) -> bool {
        self.counts_ballots() && !matches!(self, Self::Consent | Self::Approval | Self::Irv)
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the name for use in a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Borda => "Borda",
            Self::Schulze => "Schulze",
            Self::Irv => "instant runoff",
            other => other.name(),
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|rule| rule.name() == name)
    }

    pub fn names() -> Vec<&'static str> {
        Self::all().map(Self::name).collect()
    }

    /// Returns how the rule counts ballots of a kind.
    pub fn support_for(self, kind: CountableKind) -> BallotSupport {
        use BallotSupport::{None, Own, Read};
        use CountableKind::{Approval, Choice, Consent, Estimate, Ranking, Score};
        let orders = matches!(self, Self::Borda | Self::Irv | Self::Schulze);
        let counts_first = self.counts_first_places();
        match kind {
            Choice if counts_first => Own,
            Choice if self == Self::Approval => Read("a choice approves of one option"),
            Choice if orders => Read("the chosen option ranks above all others"),
            Approval if self == Self::Approval => Own,
            Approval if orders => Read("the options approved of stand above the others"),
            Ranking if counts_first || orders => Own,
            Score if self == Self::Score || orders => Own,
            Score if counts_first => Read("the option with the highest score is first"),
            Consent if self == Self::Consent => Own,
            Estimate if self == Self::Median => Own,
            Choice | Approval | Ranking | Score | Consent | Estimate => None,
        }
    }

    pub fn chooses(self, choose: Choose) -> bool {
        self == Self::Approval || self == Self::Score && choose != Choose::HALF
    }

    pub fn kinds(self) -> Vec<&'static str> {
        let own =
            CountableKind::VARIANTS.iter().filter(|kind| self.support_for(**kind) == BallotSupport::Own);
        own.map(|kind| kind.name()).collect()
    }

    pub fn for_kind(kind: CountableKind) -> Vec<&'static str> {
        Self::all().filter(|rule| rule.support_for(kind) == BallotSupport::Own).map(Self::name).collect()
    }

    /// Returns the default share; `None` if the rule has no threshold.
    pub fn default_threshold(self) -> Option<&'static str> {
        match self {
            Self::Supermajority => Some("2/3"),
            Self::WeightedMajority => Some("1/2"),
            _ => None,
        }
    }

    pub fn threshold(self, terms: &RuleOptions) -> Option<Fraction> {
        let default = Fraction::parse(self.default_threshold()?);
        terms.threshold.clone().or(default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_name_and_a_ballot_kind() {
        assert_eq!(Rule::all().count(), 12);
        for rule in Rule::all() {
            assert_eq!(Rule::from_name(rule.name()), Some(rule));
            assert!(!rule.kinds().is_empty(), "{}", rule.name());
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
        }
        assert_eq!(Rule::for_kind(CountableKind::Consent), ["consent"]);
    }
}
