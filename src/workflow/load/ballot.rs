//! Loader of ballot forms.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::entries::{Entries, FromNode, as_text, from_node, items, keys, word};
use crate::ballot::{BallotForm, BallotKind, OptionOrder, OptionText, Scale};
use crate::tally::{self, MOST_OPTIONS};
use crate::workflow::keys::spec::KeyType::{Decimal, Either, List, Map, Number, Text, Whole, Words};
use crate::workflow::keys::spec::{KeyType, REQUIRED, article, key, words_of};
use crate::workflow::lang::Transform;
use crate::yaml::{Node, Value};

keys! {
    /// Ballot as written, or only its kind.
    #[derive(Default)]
    pub struct BallotKeys as "ballot" ("the ballot") or "kind" (Words(BallotKind::names)) {
        kind: Option<BallotKind> = key("kind", "position", "The kind.", "choice"),
        options: Vec<WrittenOption> as (OPTIONS) = key(
            "options",
            "",
            "The options, at least two: names, maps, or a list from an earlier step.",
            "[redis, {id: none, description: \"as today\"}]",
        ) => options,
        order: OptionOrder = key("order", "same", "In what order seats see the options.", "per-seat"),
        exclude_own: bool =
            key("exclude_own", "false", "Of a ranking of answers: nobody ranks their own.", "true"),
        min: Option<serde_json::Number> as (Decimal) =
            key("min", "0 for a `score` without `max`", "The lower end of the scale.", "1"),
        max: Option<serde_json::Number> as (Decimal) =
            key("max", "5 for a `score` without `min`", "The upper end of the scale.", "10"),
        cards: Vec<Json> as (List(&Either(&[Number(f64::MIN, f64::MAX), Text]))) =
            key("cards", "any number", "The cards of an estimate.", "[1, 2, 3, 5, 8]"),
        abstain: Vec<String> as (List(&Text)) =
            key("abstain", "", "Cards of an estimate that abstain.", "[\"?\", \"☕\"]"),
    }
}

const OPTIONS: KeyType =
    Either(&[List(&Either(&[Text, Map(&WrittenOption::MAP)])), Text, Map(&OptionsFrom::MAP)]);

from_node! {
    BallotKind as Words(BallotKind::names) => |node, _key, _found| BallotKind::from_name(&as_text(node)?);
    OptionOrder as Words(|| words_of(&OptionOrder::WORDS)) => |node, _key, _found| word(node, &OptionOrder::WORDS);
}

pub fn ballot(entries: Entries<'_>) -> BallotForm {
    let Some(node) = entries.node("ballot") else { return BallotForm::position() };
    let Some(keys) = BallotKeys::from_node(node, &BallotKeys::KEYS[0], entries.found) else {
        return BallotForm::position();
    };
    let kind = keys.kind.unwrap_or_default();
    let mut form = BallotForm {
        order: keys.order,
        exclude_own: keys.exclude_own,
        min: keys.min,
        max: keys.max,
        abstain: keys.abstain,
        ..BallotForm::over(kind, keys.options.iter().map(|option| option.id.clone()).collect())
    };
    for WrittenOption { id, title, description } in keys.options {
        if title.is_some() || description.is_some() {
            form.about.insert(id, OptionText { title, description });
        }
    }
    let cards =
        keys.cards.into_iter().map(|card| card.as_str().map_or_else(|| card.to_string(), str::to_owned));
    form.cards = cards.filter(|card| !form.abstain.contains(card)).collect();
    if let (Scale::Default(min, max), None, None) = (kind.info().scale, &form.min, &form.max) {
        (form.min, form.max) = (Some(min.into()), Some(max.into()));
    }
    // Further errors could result from those already reported.
    if !entries.found.is_wrong(node) {
        check_form(&form, node, entries);
    }
    form
}

/// Returns the written options; empty if an earlier step provides them.
fn options(ballot: Entries<'_>) -> Vec<WrittenOption> {
    let written = ballot.node("options").filter(|node| !matches!(node.value, Value::Map(_)));
    let read =
        |node| WrittenOption::from_node(node, &WrittenOption::KEYS[0], ballot.found).unwrap_or_default();
    written.map(items).unwrap_or_default().iter().map(read).collect()
}

/// Returns the source of options that an earlier step provides.
pub fn options_from(entries: Entries<'_>) -> Option<Box<OptionsFrom>> {
    Some(Box::new(OptionsFrom::read(entries.map("ballot")?.map("options")?)))
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
    refuse_if(form.cards.len() == 1, "one card alone leaves nothing to estimate", "write two or more");
    let unsure = form.cards.iter().any(|card| matches!(card.as_str(), "?" | "☕"));
    refuse_if(unsure, "a card `?` or `☕` would count as the highest", "write `abstain: [\"?\", \"☕\"]`");
    if let Scale::Default(min, max) = takes.scale {
        let is_half = form.min.is_some() != form.max.is_some();
        of_kind(is_half, "needs both ends of its scale", &format!("write `min: {min}, max: {max}`"));
    }
    let amount = |bound: &Option<serde_json::Number>| bound.as_ref().and_then(tally::Decimal::from_json);
    if let (Some(min), Some(max)) = (amount(&form.min), amount(&form.max)) {
        let message = format!("the scale ends at {max} and begins at {min}");
        refuse_if(min >= max, &message, "`min` is the lower end");
    }
    let many = form.options.len().max(form.cards.len()) > MOST_OPTIONS;
    let message = format!("there are more than {MOST_OPTIONS} options or cards");
    refuse_if(many, &message, "ask about fewer at a time");
    check_names("option", &form.options, node, entries);
    check_names("card", &form.cards, node, entries);
    check_names("card that abstains", &form.abstain, node, entries);
}

fn check_names(what: &str, names: &[String], node: &Node, entries: Entries<'_>) {
    let mut seen = HashSet::new();
    for name in names {
        if name.trim().is_empty() || name.trim() != name {
            entries.refuse(node, format!("{what} `{name}` is blank or has blanks around it"), "trim it");
        }
        if !seen.insert(name.to_lowercase()) {
            entries.refuse(node, format!("{what} `{name}` is given twice"), format!("give each {what} once"));
        }
        if name.eq_ignore_ascii_case("abstain") {
            entries.refuse(node, format!("`abstain` is always possible and is no {what}"), "remove it");
        }
    }
}

keys! {
    /// Option as a map, or only its id.
    #[derive(Default)]
    pub struct WrittenOption as "option" ("an option") or "id" (Text) {
        id: String = key("id", REQUIRED, "What ballots name.", "outbox"),
        title: Option<String> = key("title", "", "The option in a few words.", "\"A table of events\""),
        description: Option<String> =
            key("description", "", "The option, described.", "\"Events go into a table first.\""),
    }
}

keys! {
    /// Source of options that an earlier step provides.
    #[derive(Debug, Clone, PartialEq)]
    pub struct OptionsFrom as "options_from" ("`options`") {
        transform: Transform =
            key("from", REQUIRED, "The path of a list in the context.", "context.merge.options"),
        max: usize as (Whole(2, 1000)) = key("max", "12", "The most options that are accepted.", "20"),
    }
}
