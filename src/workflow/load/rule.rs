//! Loading how ballots are counted: the rule, its terms, what happens to ties.

use super::ballot::kind;
use super::entries::Entries;
use super::map_reader::as_text;
use crate::ballot::BallotKind;
use crate::tally::{BallotSupport, Choose, Fraction, Rule, RuleOptions, Tier, Ties};
use crate::workflow::keys::spec::KeyType::{Either, Share, Whole, Words};
use crate::workflow::keys::spec::{MapSpec, REQUIRED, key, map};
use crate::yaml::{Node, Value};

pub const RULE: MapSpec = map(
    "rule",
    "the rule",
    &[
        key("name", Words(Rule::names), REQUIRED, "The rule; TALLIES.md lists them.", "supermajority"),
        key(
            "choose",
            Either(&[Words(|| vec!["half"]), Whole(1, 1000)]),
            "one",
            "How many options are chosen by approval or score; `half`: all that half of the seats approve.",
            "3",
        ),
        key("threshold", Share, "the rule's", "The share that an option must reach.", "2/3"),
    ],
);

pub const TIES: MapSpec = map(
    "ties",
    "`ties`",
    &[key("seeded", Whole(0, u64::MAX), REQUIRED, "The seed that decides between tied options.", "7")],
);

pub fn rule(entries: Entries<'_>) -> Option<Rule> {
    let node = entries.node("rule")?;
    let name = entries.map("rule").map_or_else(|| as_text(node), |inner| inner.text("name"))?;
    // Of a ballot with an error, or under another name, it is not known whether the rule counts it.
    let is_sound = !entries.found.is_wrong(entries.node("ballot").unwrap_or(entries.node));
    named(entries, node, &name, if is_sound { kind(entries) } else { None })
}

/// The rule of that name, if it counts ballots of this kind.
fn named(entries: Entries<'_>, node: &Node, name: &str, kind: Option<BallotKind>) -> Option<Rule> {
    let rule = Rule::from_name(name)?;
    let Some(kind) = kind else { return Some(rule) };
    let info = kind.info();
    if info.countable.is_none_or(|countable| rule.fit(countable) != BallotSupport::Own) {
        let message = format!("rule `{name}` does not count `{}` ballots", kind.name());
        let fitting = info.countable.map(Rule::for_kind).unwrap_or_default();
        let wanted = rule.kinds().join("` or `");
        let hint = if fitting.is_empty() || !info.has_options {
            format!("set `ballot: {{kind: {}}}`", rule.kinds().first().copied().unwrap_or_default())
        } else {
            format!("it counts `{wanted}`; `{}` ballots are counted by {}", kind.name(), fitting.join(", "))
        };
        entries.refuse(node, message, hint);
        return None;
    }
    Some(rule)
}

pub fn terms(entries: Entries<'_>, rule: Option<Rule>) -> RuleOptions {
    let Some((node, entries)) = entries.node("rule").zip(entries.map("rule")) else {
        return RuleOptions::default();
    };
    let choose = entries.node("choose").and_then(as_text).and_then(|text| Choose::parse(&text));
    let terms = RuleOptions { threshold: threshold(entries), choose };
    let Some(rule) = rule else { return terms };
    if choose.is_some_and(|choose| !rule.chooses(choose)) {
        let message = format!("rule `{}` does not choose so", rule.name());
        entries.refuse(node, message, "`choose: N` is for approval and score, `choose: half` for approval");
    }
    if entries.has("threshold") && rule.default_threshold().is_none() {
        let message = format!("rule `{}` has no `threshold`", rule.name());
        entries.refuse(node, message, "remove `threshold`");
    }
    if let Some(problem) = terms.threshold.as_ref().and_then(|share| unfit(rule, share)) {
        entries.refuse(node, problem, "a share such as 2/3 or 0.6667");
    }
    terms
}

pub fn unfit(rule: Rule, share: &Fraction) -> Option<String> {
    if rule == Rule::Supermajority && share.compare(1, 2).is_gt() {
        return Some(format!("the threshold {share} is less than a half: two options could reach it"));
    }
    let is_whole = rule == Rule::WeightedMajority && share.compare(1, 1).is_eq();
    is_whole.then(|| "nothing can be above a threshold of 1".to_owned())
}

fn threshold(entries: Entries<'_>) -> Option<Fraction> {
    match &entries.node("threshold")?.value {
        Value::Number(number) => Fraction::parse(&number.to_string()),
        Value::Text(text) => Fraction::parse(text),
        _ => None,
    }
}

pub fn ties(entries: Entries<'_>) -> Ties {
    match entries.map("ties") {
        Some(inner) => inner.whole_number("seeded").map_or(Ties::None, Ties::Seeded),
        None if entries.text("ties").is_some_and(|word| word == "ask") => Ties::Ask,
        None => Ties::None,
    }
}

pub fn act_at(entries: Entries<'_>) -> Option<Tier> {
    let tier = entries.word("act_at", &Tier::ASKED)?;
    if !entries.has("rule") {
        entries.refuse(
            entries.node,
            "`act_at` without a rule: nothing is decided",
            "add `rule: majority`, or remove it",
        );
    }
    Some(tier)
}
