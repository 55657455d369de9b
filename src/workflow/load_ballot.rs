//! Loading how a round is answered and counted: ballot form, rule, ties, quorum.

use super::definition::Quorum;
use super::fields::Fields;
use crate::problem::did_you_mean;
use crate::round::ballot::{BallotForm, BallotKind};
use crate::tally::{Rule, Ties};
use crate::yaml::{Node, Value};

const COUNTED_RULES: [(&str, Rule); 3] =
    [("majority", Rule::Majority), ("plurality", Rule::Plurality), ("consent", Rule::Consent)];
const LATER_RULES: [&str; 15] = [
    "supermajority",
    "unanimous",
    "weighted-majority",
    "approval",
    "score-mean",
    "score-median",
    "borda",
    "irv",
    "condorcet",
    "copeland",
    "minimax",
    "ranked-pairs",
    "schulze",
    "majority-judgment",
    "median",
];

/// The form of an answer; an open question when absent.
pub fn ballot(fields: &mut Fields<'_>) -> BallotForm {
    let Some(node) = fields.node("ballot") else { return BallotForm::position() };
    if let Value::Text(word) = &node.value {
        let kind = BallotKind::NAMES.iter().find(|(name, _)| name == word).map(|(_, kind)| *kind);
        if kind.is_none() {
            let known: Vec<&str> = BallotKind::NAMES.iter().map(|(name, _)| *name).collect();
            fields.refuse(node, format!("unknown ballot kind `{word}`"), did_you_mean(word, &known));
            return BallotForm::position();
        }
        let form = BallotForm { kind: kind.unwrap_or(BallotKind::Position), options: Vec::new() };
        check_form(&form, node, fields);
        return form;
    }
    let mut inner = match Fields::of(node, "the ballot", fields.file()) {
        Ok(inner) => inner,
        Err(problem) => {
            fields.problems.push(problem);
            return BallotForm::position();
        }
    };
    let kind = inner.word("kind", &BallotKind::NAMES).unwrap_or(BallotKind::Position);
    let form = BallotForm { kind, options: inner.texts("options") };
    let is_read = inner.problems.is_empty();
    fields.problems.extend(inner.finish(&["min", "max", "cards"]));
    if is_read {
        check_form(&form, node, fields);
    }
    form
}

fn check_form(form: &BallotForm, node: &Node, fields: &mut Fields<'_>) {
    let name = form.kind.name();
    match form.kind {
        BallotKind::Position | BallotKind::Consent if !form.options.is_empty() => {
            fields.refuse(node, format!("a `{name}` ballot takes no options"), "remove `options`");
        }
        BallotKind::Choice if form.options.len() < 2 => {
            fields.refuse(node, "a `choice` ballot needs at least two options", "add `options: [a, b]`");
        }
        BallotKind::Position | BallotKind::Consent | BallotKind::Choice => {}
        _ => fields.refuse(
            node,
            format!("ballots of kind `{name}` are not counted by this version"),
            "use `position`, `choice` or `consent`",
        ),
    }
    for (i, option) in form.options.iter().enumerate() {
        if option.trim().is_empty() || option.trim() != option {
            fields.refuse(node, format!("option `{option}` is blank or has blanks around it"), "trim it");
        }
        if form.options[..i].iter().any(|other| other.to_lowercase() == option.to_lowercase()) {
            fields.refuse(node, format!("option `{option}` is given twice"), "give each option once");
        }
        if option.eq_ignore_ascii_case("abstain") {
            fields.refuse(node, "`abstain` is always possible and is no option", "remove it");
        }
    }
}

/// The rule that counts, if the round has one.
pub fn rule(fields: &mut Fields<'_>, kind: BallotKind) -> Option<Rule> {
    let node = fields.node("rule")?;
    let name = match &node.value {
        Value::Map(_) => {
            let mut inner = Fields::of(node, "the rule", fields.file()).ok()?;
            let name = inner.text("name");
            if !inner.has("name") {
                inner.refuse(node, "the rule has no `name`", "write `rule: {name: majority}`");
            }
            fields.problems.extend(inner.finish(&["threshold", "strength"]));
            name?
        }
        Value::Text(name) => name.clone(),
        _ => {
            fields.wrong(node, "rule", "the name of a rule");
            return None;
        }
    };
    if LATER_RULES.contains(&name.as_str()) {
        fields.refuse(
            node,
            format!("rule `{name}` is not counted by this version"),
            "use `majority`, `plurality` or `consent`",
        );
        return None;
    }
    let Some((_, rule)) = COUNTED_RULES.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = COUNTED_RULES.iter().map(|(n, _)| *n).chain(LATER_RULES).collect();
        fields.refuse(node, format!("unknown rule `{name}`"), did_you_mean(&name, &known));
        return None;
    };
    let wanted = if *rule == Rule::Consent { BallotKind::Consent } else { BallotKind::Choice };
    if kind != wanted {
        let message = format!("rule `{name}` does not count `{}` ballots", kind.name());
        fields.refuse(node, message, format!("set `ballot: {{kind: {}}}`", wanted.name()));
        return None;
    }
    Some(*rule)
}

/// What happens when options are level.
pub fn ties(fields: &mut Fields<'_>) -> Ties {
    let Some(node) = fields.node("ties") else { return Ties::None };
    match &node.value {
        Value::Text(word) if word == "none" => Ties::None,
        Value::Text(word) if word == "ask" => Ties::Ask,
        Value::Map(_) => {
            let Ok(mut inner) = Fields::of(node, "`ties`", fields.file()) else { return Ties::None };
            let seed = inner.count("seeded", 0);
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

/// How many seats must take part.
pub fn quorum(fields: &mut Fields<'_>) -> Quorum {
    let Some(node) = fields.node("quorum") else { return Quorum::MoreThanHalf };
    let read = match &node.value {
        Value::Number(n) => {
            n.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0).map(Quorum::Seats)
        }
        Value::Text(text) => text
            .strip_suffix('%')
            .and_then(|n| n.trim().parse().ok())
            .filter(|n| (1..=100).contains(n))
            .map(Quorum::Percent),
        _ => None,
    };
    if read.is_none() {
        fields.wrong(node, "quorum", "a number of seats from 1 on, or a share such as `60%`");
    }
    read.unwrap_or(Quorum::MoreThanHalf)
}
