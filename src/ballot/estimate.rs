//! Ballot kind `estimate`: a number, or one of the form's cards.

use serde_json::{Value as Json, json};

use super::answer_schema::{described, scale, word_enum};
use super::kind::{KindInfo, KindSpec, RehearsalInput, Scale, whole};
use super::model::{Ballot, BallotForm};
use super::parse::AnswerParser;
use super::parse::answer::only_item;
use super::parse::scalar::{folded, plain_number, quoted, source_text, strip_markup};
use crate::tally::{CountableKind, Decimal, Rule};
use crate::yaml::Node;

pub(super) struct EstimateKind;

/// Most steps of the range that a rehearsed estimate is drawn from.
const STEPS: f64 = 20.0;

impl KindSpec for EstimateKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            keys: &["estimate"],
            hint: "A number or a card; empty = abstain",
            scale: Scale::Optional,
            has_cards: true,
            countable: Some(CountableKind::Estimate),
            default_rule: Some(Rule::Median),
            example: "estimate: <a number or a card>\n",
            detail: "Give one number, or one card.",
            instead_of: "the ballot",
            description: "an estimate, with its rationale",
            length: "a number or a card",
            ..KindInfo::default()
        }
    }

    fn schemas(&self, form: &BallotForm) -> Vec<Json> {
        vec![if form.cards.is_empty() {
            json!({"anyOf": [described(json!({"type": "number"}), &scale(form)), word_enum(["abstain"])]})
        } else {
            word_enum(form.cards.iter().map(String::as_str).chain(["abstain"]))
        }]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let value = only_item(value);
        let kept: Json = if answer.form.cards.is_empty() {
            answer.number(value, "the estimate")?.into()
        } else {
            let word = source_text(value, answer.source);
            let word = word.ok_or_else(|| format!("`estimate` is {}, one card is expected", value.kind()))?;
            card(&answer.form.cards, &word)?.into()
        };
        Ok((Ballot::Estimate(kept.clone()), kept))
    }

    fn is_bare(&self, form: &BallotForm, word: &str) -> bool {
        if form.cards.is_empty() {
            plain_number(strip_markup(word)).is_some()
        } else {
            card(&form.cards, word).is_ok()
        }
    }

    fn rehearse(&self, input: &RehearsalInput<'_>) -> Vec<(&'static str, Json)> {
        let estimate = if input.cards.is_empty() {
            let (low, high) = input.ends(1.0, STEPS);
            let steps = (high - low).clamp(1.0, STEPS).floor();
            let share = (input.lot)("estimate", steps as usize + 1) as f64 / steps;
            whole((low * (1.0 - share) + high * share).round().clamp(low, high))
        } else {
            input.cards[(input.lot)("estimate", input.cards.len())].as_str().into()
        };
        vec![("estimate", estimate)]
    }
}

/// Returns the card that a word names: exactly, ignoring case and markup, or by its number.
fn card(cards: &[String], word: &str) -> Result<String, String> {
    if let Some(exact) = cards.iter().find(|card| *card == word) {
        return Ok(exact.clone());
    }
    let bare = strip_markup(word);
    let number = plain_number(bare).and_then(|number| Decimal::from_json(&number));
    let same = |card: &&String| {
        folded(card) == folded(bare)
            || folded(strip_markup(card)) == folded(bare)
            || number.is_some_and(|number| Decimal::parse(card) == Some(number))
    };
    let hits: Vec<&String> = cards.iter().filter(same).collect();
    match hits.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(format!(
            "card {} is not on the form: {}; give one card alone",
            quoted(word),
            cards.join(", ")
        )),
        several => {
            let names: Vec<String> = several.iter().map(|card| quoted(card)).collect();
            Err(format!("card {} could mean {}: spell it as on the form", quoted(word), names.join(" or ")))
        }
    }
}
