//! Loading how ballots are counted: the rule, its terms, what happens to ties.

use super::map_reader::Fields;
use crate::ballot::BallotKind;
use crate::diagnostic::did_you_mean;
use crate::tally::{BallotSupport, Fraction, Rule, RuleOptions, Strength, Tier, Ties, WeightBasis};
use crate::yaml::{Node, Value};

/// The rule that counts, if the round has one, and its terms.
pub fn rule(fields: &mut Fields<'_>, kind: BallotKind) -> (Option<Rule>, RuleOptions) {
    let Some(node) = fields.node("rule") else { return (None, RuleOptions::default()) };
    match &node.value {
        Value::Map(_) => {
            let Ok(mut inner) = Fields::from_node(node, "the rule", fields.file()) else {
                return (None, RuleOptions::default());
            };
            if !inner.has("name") {
                inner.refuse(node, "the rule has no `name`", "write `rule: {name: majority}`");
            }
            let rule = inner.text("name").and_then(|name| named(&mut inner, node, &name, kind));
            let terms = terms(&mut inner, node, rule);
            fields.problems.extend(inner.finish(&[]));
            (rule, terms)
        }
        Value::Text(name) => (named(fields, node, name, kind), RuleOptions::default()),
        _ => {
            fields.wrong(node, "rule", "the name of a rule");
            (None, RuleOptions::default())
        }
    }
}

/// The rule of that name, if it counts ballots of this kind.
fn named(fields: &mut Fields<'_>, node: &Node, name: &str, kind: BallotKind) -> Option<Rule> {
    let Some(rule) = Rule::from_name(name) else {
        fields.refuse(node, format!("unknown rule `{name}`"), did_you_mean(name, &Rule::names()));
        return None;
    };
    let spec = kind.spec();
    if spec.countable().is_none_or(|countable| rule.fit(countable) != BallotSupport::Own) {
        let message = format!("rule `{name}` does not count `{}` ballots", kind.name());
        let fitting = spec.countable().map(Rule::for_kind).unwrap_or_default();
        let wanted = rule.kinds().join("` or `");
        let hint = if fitting.is_empty() || !spec.form_keys().options {
            format!("set `ballot: {{kind: {}}}`", rule.kinds().first().copied().unwrap_or_default())
        } else {
            format!("it counts `{wanted}`; `{}` ballots are counted by {}", kind.name(), fitting.join(", "))
        };
        fields.refuse(node, message, hint);
        return None;
    }
    Some(rule)
}

fn terms(fields: &mut Fields<'_>, node: &Node, rule: Option<Rule>) -> RuleOptions {
    let words = [("winning-votes", Strength::WinningVotes), ("margins", Strength::Margins)];
    let by = [("weight", WeightBasis::Weight), ("confidence", WeightBasis::Confidence)];
    let terms = RuleOptions {
        threshold: threshold(fields),
        strength: fields.word("strength", &words).unwrap_or_default(),
        by: fields.word("by", &by).unwrap_or_default(),
    };
    let Some(rule) = rule else { return terms };
    let mut needless = |key: &'static str, is_taken: bool| {
        if fields.has(key) && !is_taken {
            let message = format!("rule `{}` has no `{key}`", rule.name());
            fields.refuse(node, message, format!("remove `{key}`"));
        }
    };
    needless("threshold", rule.default_threshold().is_some());
    needless("strength", rule.takes_strength());
    needless("by", rule == Rule::WeightedMajority);
    if let Some(problem) = terms.threshold.as_ref().and_then(|share| unfit(rule, share)) {
        fields.refuse(node, problem, "a share such as 2/3 or 0.6667");
    }
    terms
}

/// What is wrong with a threshold for a rule, if anything.
pub fn unfit(rule: Rule, share: &Fraction) -> Option<String> {
    if rule == Rule::Supermajority && share.compare(1, 2).is_gt() {
        return Some(format!("the threshold {share} is less than a half: two options could reach it"));
    }
    let is_whole = rule == Rule::WeightedMajority && share.compare(1, 1).is_eq();
    is_whole.then(|| "nothing can be above a threshold of 1".to_owned())
}

fn threshold(fields: &mut Fields<'_>) -> Option<Fraction> {
    let node = fields.node("threshold")?;
    let share = match &node.value {
        Value::Number(number) => Fraction::parse(&number.to_string()),
        Value::Text(text) => Fraction::parse(text),
        _ => None,
    };
    if share.is_none() {
        fields.wrong(node, "threshold", "a share above 0 and up to 1, such as 2/3 or 0.6667");
    }
    share
}

/// What happens when options are level.
pub fn ties(fields: &mut Fields<'_>) -> Ties {
    let Some(node) = fields.node("ties") else { return Ties::None };
    match &node.value {
        Value::Text(word) if word == "none" => Ties::None,
        Value::Text(word) if word == "ask" => Ties::Ask,
        Value::Map(_) => {
            let Ok(mut inner) = Fields::from_node(node, "`ties`", fields.file()) else { return Ties::None };
            let seed = inner.whole_number("seeded", 0);
            if seed.is_none() && inner.problems.is_empty() {
                inner.refuse(node, "`ties` has no seed", "write `ties: {seeded: 7}`");
            }
            fields.problems.extend(inner.finish(&[]));
            seed.map_or(Ties::None, Ties::Seeded)
        }
        _ => {
            fields.wrong(node, "ties", "`none`, `ask` or `{seeded: NUMBER}`");
            Ties::None
        }
    }
}

/// How strong a result must be to be a decision.
pub fn act_at(fields: &mut Fields<'_>, node: &Node, rule: Option<Rule>) -> Option<Tier> {
    let tier = fields.word("act_at", &Tier::ASKED)?;
    if rule.is_none() {
        fields.refuse(
            node,
            "`act_at` without a rule: nothing is decided",
            "add `rule: majority`, or remove it",
        );
    }
    Some(tier)
}
