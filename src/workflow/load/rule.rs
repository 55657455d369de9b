//! Loading how ballots are counted: the rule, its terms, what happens to ties.

use super::entries::{Entries, FromNode, as_text, from_node, keys, word};
use crate::tally::{Choose, Fraction, Rule, RuleOptions, Tier, Ties};
use crate::workflow::keys::spec::KeyType::{Either, Map, Share, Whole, Words};
use crate::workflow::keys::spec::{KeySpec, MapSpec, REQUIRED, key, map, words_of};
use crate::yaml::Value;

keys! {
    /// A rule with its terms, or its name.
    #[derive(Default)]
    pub struct RuleKeys as "rule" ("the rule") or "name" (Words(Rule::names)) {
        rule: Option<Rule> = key("name", REQUIRED, "The rule; TALLIES.md lists them.", "supermajority"),
        choose: Option<Choose> = key(
            "choose",
            "one",
            "How many options are chosen by approval or score; `half`: all that half of the seats approve.",
            "3",
        ),
        threshold: Option<Fraction> =
            key("threshold", "the rule's", "The share that an option must reach.", "2/3"),
    }
}

const SEED: KeySpec =
    key("seeded", REQUIRED, "The seed that decides between tied options.", "7").of(Whole(0, u64::MAX));
const TIES: MapSpec = map("ties", "`ties`", &[SEED]);

from_node! {
    Rule as Words(Rule::names) => |node, _key, _found| Rule::from_name(&as_text(node)?);
    Choose as Either(&[Words(|| vec!["half"]), Whole(1, 1000)])
        => |node, _key, _found| Choose::parse(&as_text(node)?);
    Tier as Words(|| words_of(&Tier::ASKED)) => |node, _key, _found| word(node, &Tier::ASKED);
    Fraction as Share => |node, _key, _found| match &node.value {
        Value::Number(number) => Fraction::parse(&number.to_string()),
        Value::Text(text) => Fraction::parse(text),
        _ => None,
    };
    Ties as Either(&[Words(|| vec!["none", "ask"]), Map(&TIES)])
        => |node, _key, found| match as_text(node).as_deref() {
            Some("ask") => Some(Ties::Ask),
            Some(_) => None,
            None => u64::from_node(node.given(SEED.name)?, &SEED, found).map(Ties::Seeded),
        };
}

impl RuleKeys {
    pub fn terms(self) -> RuleOptions {
        RuleOptions { threshold: self.threshold, choose: self.choose }
    }
}

/// The key `rule` of a round.
pub fn rule(entries: Entries<'_>) -> RuleKeys {
    entries.node("rule").and_then(|node| RuleKeys::from_node(node, &SEED, entries.found)).unwrap_or_default()
}

pub fn unfit(rule: Rule, share: &Fraction) -> Option<String> {
    if rule == Rule::Supermajority && share.compare(1, 2).is_gt() {
        return Some(format!("the threshold {share} is less than a half: two options could reach it"));
    }
    let is_whole = rule == Rule::WeightedMajority && share.compare(1, 1).is_eq();
    is_whole.then(|| "nothing can be above a threshold of 1".to_owned())
}
