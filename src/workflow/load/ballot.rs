//! Loading the form of an answer.

use indexmap::IndexMap;

use super::entries::{Entries, keys};
use super::map_reader::as_text;
use crate::ballot::{BallotForm, BallotKind, OptionOrder, OptionText, Scale};
use crate::tally;
use crate::workflow::keys::spec::KeyType::{Decimal, Either, Flag, List, Map, Number, Text, Whole, Words};
use crate::workflow::keys::spec::{MapSpec, REQUIRED, article, key, map, words};
use crate::workflow::lang::Transform;
use crate::yaml::{Node, Value};

pub const BALLOT: MapSpec = map(
    "ballot",
    "the ballot",
    &[
        key("kind", Words(BallotKind::names), "position", "The kind.", "choice"),
        key(
            "options",
            Either(&[List(&Either(&[Text, Map(&OPTION)])), Text, Map(&OPTIONS_FROM)]),
            "",
            "The options, at least two: names, maps, or a list that an earlier step left.",
            "[redis, {id: none, description: \"as today\"}]",
        ),
        key("order", words!(OptionOrder), "same", "In what order seats see the options.", "per-seat"),
        key("exclude_own", Flag, "false", "Of a ranking of answers: nobody ranks their own.", "true"),
        key("min", Decimal, "0 for `score`", "The lower end of the scale.", "1"),
        key("max", Decimal, "5 for `score`", "The upper end of the scale.", "10"),
        key(
            "cards",
            List(&Either(&[Number(f64::MIN, f64::MAX), Text])),
            "any number",
            "The cards of an estimate.",
            "[1, 2, 3, 5, 8]",
        ),
        key("abstain", List(&Text), "", "Cards of an estimate that abstain.", "[\"?\", \"☕\"]"),
    ],
);

/// The kind that is written, with or without a map around it; `None` if it is not known.
pub fn kind(entries: Entries<'_>) -> Option<BallotKind> {
    let word = entries.map("ballot").map_or_else(|| entries.text("ballot"), |inner| inner.text("kind"));
    word.map_or(Some(BallotKind::default()), |word| BallotKind::from_name(&word))
}

pub fn ballot(entries: Entries<'_>) -> BallotForm {
    let Some(node) = entries.node("ballot") else { return BallotForm::position() };
    let kind = kind(entries);
    let form = match entries.map("ballot") {
        Some(inner) => kind.and_then(|kind| of_map(inner, kind)),
        None => kind.map(|kind| BallotForm::over(kind, Vec::new())),
    };
    let Some(form) = form else { return BallotForm::position() };
    // Further mistakes may follow from those noted.
    if !entries.found.is_wrong(node) {
        check_form(&form, node, entries);
    }
    form
}

/// The form of a map; `None` if a value of it has a wrong type.
fn of_map(inner: Entries<'_>, kind: BallotKind) -> Option<BallotForm> {
    let (mut options, mut about) = (inner.texts("options"), IndexMap::new());
    let mut written = options.len();
    if let Some(Value::List(items)) = inner.node("options").map(|node| &node.value) {
        written = items.len();
        let read = items.iter().filter_map(|item| option(item, inner));
        options.clear();
        for (id, text) in read {
            if text != OptionText::default() {
                about.insert(id.clone(), text);
            }
            options.push(id);
        }
    }
    let mut form = BallotForm { about, ..BallotForm::over(kind, options) };
    form.order = inner.word("order", &OptionOrder::WORDS).unwrap_or_default();
    form.exclude_own = inner.flag("exclude_own").unwrap_or_default();
    form.min = number(inner, "min");
    form.max = number(inner, "max");
    form.abstain = inner.texts("abstain");
    form.cards = inner.list("cards").iter().filter_map(card).collect();
    form.cards.retain(|card| !form.abstain.contains(card));
    if let (Scale::Default(min, max), None, None) = (kind.info().scale, &form.min, &form.max) {
        (form.min, form.max) = (Some(min.into()), Some(max.into()));
    }
    (written == form.options.len()).then_some(form)
}

fn number(inner: Entries<'_>, key: &str) -> Option<serde_json::Number> {
    if let Value::Number(number) = &inner.node(key)?.value { Some(number.clone()) } else { None }
}

fn card(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn check_form(form: &BallotForm, node: &Node, entries: Entries<'_>) {
    let (takes, kind) = (form.kind.info(), form.kind.name());
    let is_taken = matches!(&node.value, Value::Map(_))
        && entries.map("ballot").is_some_and(|ballot| ballot.map("options").is_some());
    let has_options = !form.options.is_empty() || is_taken;
    let (has_cards, has_scale) = (!form.cards.is_empty(), form.min.is_some() || form.max.is_some());
    let refuse_if = |is_wrong: bool, message: &str, hint: &str| {
        if is_wrong {
            entries.refuse(node, message, hint);
        }
    };
    let of_kind = |is_wrong: bool, what: &str, hint: &str| {
        refuse_if(is_wrong, &format!("{} `{kind}` ballot {what}", article(kind)), hint);
    };
    of_kind(!takes.has_options && !form.order.is_same(), "has no options to order", "remove `order`");
    let few = takes.has_options && form.options.len() < 2 && !is_taken;
    of_kind(few, "needs at least two options", "write them as a list: `options: [a, b]`");
    let hint = if takes.has_cards { "write `cards`" } else { "remove `options`" };
    of_kind(!takes.has_options && has_options, "takes no options", hint);
    let excludes = form.exclude_own && (form.kind != BallotKind::Ranking || !is_taken);
    let hint = "write `kind: ranking` and `options: {from: context.draft.data}`, or remove it";
    refuse_if(excludes, "`exclude_own` is for a ranking of answers", hint);
    of_kind(takes.scale == Scale::None && has_scale, "has no scale", "remove `min` and `max`");
    of_kind(!takes.has_cards && has_cards, "has no cards", "cards belong to `kind: estimate`");
    refuse_if(has_cards && has_scale, "an estimate has either cards or a scale", "remove `min` and `max`");
    let alone = "cards that abstain need others to stand among";
    refuse_if(!has_cards && !form.abstain.is_empty(), alone, "write `cards: [1, 2, \"?\"]`");
    let one = "one card alone leaves nothing to estimate";
    refuse_if(form.cards.len() == 1, one, "write at least two cards");
    if let Scale::Default(min, max) = takes.scale {
        let is_half = form.min.is_some() != form.max.is_some();
        of_kind(is_half, "needs both ends of its scale", &format!("write `min: {min}, max: {max}`"));
    }
    let amount = |bound: &Option<serde_json::Number>| bound.as_ref().and_then(tally::Decimal::from_json);
    if let (Some(min), Some(max)) = (amount(&form.min), amount(&form.max)) {
        let message = format!("the scale ends at {max} and begins at {min}");
        refuse_if(min >= max, &message, "`min` is the lower end");
    }
    check_names("option", &form.options, node, entries);
    check_names("card", &form.cards, node, entries);
    check_names("card that abstains", &form.abstain, node, entries);
}

fn check_names(what: &str, names: &[String], node: &Node, entries: Entries<'_>) {
    for (i, name) in names.iter().enumerate() {
        if name.trim().is_empty() || name.trim() != name {
            entries.refuse(node, format!("{what} `{name}` is blank or has blanks around it"), "trim it");
        }
        if names[..i].iter().any(|other| other.to_lowercase() == name.to_lowercase()) {
            entries.refuse(node, format!("{what} `{name}` is given twice"), format!("give each {what} once"));
        }
        if name.eq_ignore_ascii_case("abstain") {
            entries.refuse(node, format!("`abstain` is always possible and is no {what}"), "remove it");
        }
    }
}

pub const OPTION: MapSpec = map(
    "option",
    "an option",
    &[
        key("id", Text, REQUIRED, "What ballots name.", "outbox"),
        key("title", Text, "", "The option in a few words.", "\"A table of events\""),
        key("description", Text, "", "The option, described.", "\"Events go into a table first.\""),
    ],
);

keys! {
    /// Options that an earlier step left.
    #[derive(Debug, Clone, PartialEq)]
    pub struct OptionsFrom {
        transform: Transform =
            key("from", Text, REQUIRED, "The path of a list in the context.", "context.merge.options"),
        max: usize = key("max", Whole(2, 1000), "12", "The most options that are accepted.", "20"),
    }
}

pub const OPTIONS_FROM: MapSpec = map("options_from", "`options`", OptionsFrom::KEYS);

pub fn option(node: &Node, inner: Entries<'_>) -> Option<(String, OptionText)> {
    let Some(map) = Entries::of(node, inner.found) else {
        return Some((as_text(node)?, OptionText::default()));
    };
    let text = OptionText { title: map.text("title"), description: map.text("description") };
    Some((map.text("id")?, text))
}
