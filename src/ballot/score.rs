//! Ballot kind `score`: a number on one scale for each option.

use indexmap::IndexMap;
use serde_json::{Map as JsonMap, Number, Value as Json, json};

use super::answer_schema::{described, object, scale, word_enum};
use super::kind::{FormField, Input, KindInfo, KindSpec, RehearsalInput, Scale, typed_number, whole};
use super::model::{Ballot, BallotForm};
use super::parse::AnswerParser;
use super::parse::scalar::quoted;
use crate::tally::{CountableKind, Rule};
use crate::yaml::{Node, Value};

pub(super) struct ScoreKind;

impl KindSpec for ScoreKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            keys: &["scores"],
            has_options: true,
            scale: Scale::Default(0, 5),
            countable: Some(CountableKind::Score),
            default_rule: Some(Rule::Score),
            example: "scores: {<option>: <score>, <other option>: <score>}\n",
            detail: "Give each option a number.",
            instead_of: "the ballot",
            description: "a score for each option, with the rationale",
            length: "a number for each option",
            ..KindInfo::default()
        }
    }

    fn schemas(&self, form: &BallotForm) -> Vec<Json> {
        let scores = form.options.iter().map(|option| (option.as_str(), json!({"type": "number"})));
        let scores = described(object(scores), &scale(form));
        vec![json!({"anyOf": [scores, word_enum(["abstain"])]})]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let mut given: IndexMap<String, Number> = IndexMap::new();
        let Value::Map(entries) = &value.value else {
            return Err(format!("`scores` is {}, a map of options to numbers is expected", value.kind()));
        };
        for (key, value) in entries {
            let option = answer.match_option(&key.text)?;
            if value.value == Value::Null {
                continue;
            }
            let score = answer.number(value, &format!("the score of {}", quoted(&option)))?;
            if given.insert(option.clone(), score).is_some() {
                return Err(format!("{} appears twice in `scores`: score each option once", quoted(&option)));
            }
        }
        let options = &answer.form.options;
        let missing = options.iter().filter(|option| !given.contains_key(*option));
        let missing: Vec<String> = missing.map(|option| quoted(option)).collect();
        if !missing.is_empty() {
            return Err(format!("`scores` has no number for {}: score each option", missing.join(", ")));
        }
        let scores: IndexMap<String, Number> =
            options.iter().filter_map(|option| given.shift_remove_entry(option)).collect();
        let kept = scores.iter().map(|(option, score)| (option.clone(), Json::from(score.clone()))).collect();
        Ok((Ballot::Scores(scores), Json::Object(kept)))
    }

    fn fields(&self, form: &BallotForm) -> Vec<FormField> {
        let lines: Vec<String> = form.options.iter().map(|option| format!("{option}: ")).collect();
        let hint = "One number after each; all empty = abstain";
        vec![FormField { key: "scores", hint, input: Input::Text(lines.join("\n")) }]
    }

    /// Parses lines of `option: number`; options without a number are omitted.
    fn typed(&self, text: &str) -> Json {
        let score = |line: &str| {
            let (option, score) = line.rsplit_once(':')?;
            let score = score.trim();
            (!score.is_empty()).then(|| (option.trim().to_owned(), typed_number(score)))
        };
        let scores: JsonMap<String, Json> = text.lines().filter_map(score).collect();
        if scores.is_empty() { "abstain".into() } else { Json::Object(scores) }
    }

    fn rehearse(&self, input: &RehearsalInput<'_>) -> Vec<(&'static str, Json)> {
        let (low, high) = input.ends(0.0, 5.0);
        let step = (high - low) / input.options.len().saturating_sub(1).max(1) as f64;
        let score = |nth: usize| whole((high - step * nth as f64).round().clamp(low, high));
        let scores = input.options.iter().enumerate().map(|(nth, name)| ((*name).to_owned(), score(nth)));
        vec![("scores", Json::Object(scores.collect()))]
    }
}
