//! Loading the form of an answer, and how many answers make a decision.

use serde_json::Number;

use super::map_reader::Fields;
use crate::ballot::{BallotForm, BallotKind, Scale};
use crate::diagnostic::did_you_mean;
use crate::tally::Decimal;
use crate::workflow::definition::{Close, Quorum};
use crate::yaml::{Node, Value};

/// The form of an answer; an open question when absent.
pub fn ballot(fields: &mut Fields<'_>) -> BallotForm {
    let Some(node) = fields.node("ballot") else { return BallotForm::position() };
    if let Value::Text(word) = &node.value {
        let Some(kind) = BallotKind::from_name(word) else {
            let hint = did_you_mean(word, &BallotKind::names());
            fields.refuse(node, format!("unknown ballot kind `{word}`"), hint);
            return BallotForm::position();
        };
        let form = BallotForm::over(kind, Vec::new());
        check_form(&form, node, fields);
        return form;
    }
    let mut inner = match Fields::from_node(node, "the ballot", fields.file()) {
        Ok(inner) => inner,
        Err(problem) => {
            fields.problems.push(problem);
            return BallotForm::position();
        }
    };
    let kind = inner.word("kind", &BallotKind::ALL).unwrap_or_default();
    let mut form = BallotForm::over(kind, inner.texts("options"));
    form.min = bound(&mut inner, "min");
    form.max = bound(&mut inner, "max");
    form.cards = cards(&mut inner);
    if let (Scale::Default(min, max), None, None) = (kind.spec().form_keys().scale, &form.min, &form.max) {
        (form.min, form.max) = (Some(min.into()), Some(max.into()));
    }
    let is_read = inner.problems.is_empty();
    fields.problems.extend(inner.finish(&[]));
    if is_read {
        check_form(&form, node, fields);
    }
    form
}

/// One end of a scale.
fn bound(fields: &mut Fields<'_>, key: &'static str) -> Option<Number> {
    let node = fields.node(key)?;
    let number = match &node.value {
        Value::Number(number) if Decimal::from_json(number).is_some() => Some(number.clone()),
        _ => None,
    };
    if number.is_none() {
        fields.wrong(node, key, "a number of at most six decimal places");
    }
    number
}

/// The cards of an estimate, as they are written.
fn cards(fields: &mut Fields<'_>) -> Vec<String> {
    let mut cards = Vec::new();
    for node in fields.list("cards") {
        match &node.value {
            Value::Text(text) => cards.push(text.clone()),
            Value::Number(number) => cards.push(number.to_string()),
            _ => fields.wrong(node, "cards", "a list of numbers or words"),
        }
    }
    cards
}

fn check_form(form: &BallotForm, node: &Node, fields: &mut Fields<'_>) {
    let name = form.kind.name();
    let takes = form.kind.spec().form_keys();
    if takes.options && form.options.len() < 2 {
        let message = format!("{} ballot needs at least two options", with_article(name));
        fields.refuse(node, message, "add `options: [a, b]`");
    }
    if !takes.options && !form.options.is_empty() {
        let hint = if takes.cards { "write `cards`" } else { "remove `options`" };
        fields.refuse(node, format!("{} ballot takes no options", with_article(name)), hint);
    }
    check_scale(form, node, fields);
    check_names("option", &form.options, node, fields);
    check_names("card", &form.cards, node, fields);
}

/// "a `score`", "an `estimate`".
fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} `{name}`")
}

fn check_scale(form: &BallotForm, node: &Node, fields: &mut Fields<'_>) {
    let name = form.kind.name();
    let takes = form.kind.spec().form_keys();
    if takes.scale == Scale::None && (form.min.is_some() || form.max.is_some()) {
        fields.refuse(node, format!("{} ballot has no scale", with_article(name)), "remove `min` and `max`");
    }
    if !takes.cards && !form.cards.is_empty() {
        fields.refuse(
            node,
            format!("{} ballot has no cards", with_article(name)),
            "cards belong to `kind: estimate`",
        );
    }
    if !form.cards.is_empty() && (form.min.is_some() || form.max.is_some()) {
        fields.refuse(node, "an estimate has either cards or a scale", "remove `min` and `max`");
    }
    if form.cards.len() == 1 {
        fields.refuse(node, "one card alone leaves nothing to estimate", "write at least two cards");
    }
    if let (Scale::Default(min, max), true) = (takes.scale, form.min.is_some() != form.max.is_some()) {
        let message = format!("{} ballot needs both ends of its scale", with_article(name));
        fields.refuse(node, message, format!("write `min: {min}, max: {max}`"));
    }
    let amount = |bound: &Option<Number>| bound.as_ref().and_then(Decimal::from_json);
    if let (Some(min), Some(max)) = (amount(&form.min), amount(&form.max))
        && min >= max
    {
        fields.refuse(node, format!("the scale ends at {max} and begins at {min}"), "`min` is the lower end");
    }
}

fn check_names(what: &str, names: &[String], node: &Node, fields: &mut Fields<'_>) {
    for (i, name) in names.iter().enumerate() {
        if name.trim().is_empty() || name.trim() != name {
            fields.refuse(node, format!("{what} `{name}` is blank or has blanks around it"), "trim it");
        }
        if names[..i].iter().any(|other| other.to_lowercase() == name.to_lowercase()) {
            fields.refuse(node, format!("{what} `{name}` is given twice"), format!("give each {what} once"));
        }
        if name.eq_ignore_ascii_case("abstain") {
            fields.refuse(node, format!("`abstain` is always possible and is no {what}"), "remove it");
        }
    }
}

/// How many seats must take part.
pub fn quorum(fields: &mut Fields<'_>) -> Quorum {
    needed(fields, "quorum", "seats").unwrap_or(Quorum::MoreThanHalf)
}

/// How many ballots must say something; none: any number.
pub fn quorum_ballots(fields: &mut Fields<'_>) -> Option<Quorum> {
    needed(fields, "quorum_ballots", "ballots")
}

fn needed(fields: &mut Fields<'_>, key: &'static str, of: &str) -> Option<Quorum> {
    let node = fields.node(key)?;
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
        fields.wrong(
            node,
            key,
            &format!("a number of {of} from 1 on, or a share of the seats such as `60%`"),
        );
    }
    read
}

/// When a round closes.
pub fn close(fields: &mut Fields<'_>, node: &Node) -> Close {
    let words = [
        ("all", Close::All),
        ("quorum", Close::Quorum),
        ("deadline", Close::Deadline),
        ("manual", Close::Manual),
    ];
    let close = fields.word("close", &words).unwrap_or_default();
    if close == Close::Deadline && !fields.has("deadline") {
        fields.refuse(node, "the round closes at a deadline it does not have", "add `deadline: 90s`");
    }
    close
}
