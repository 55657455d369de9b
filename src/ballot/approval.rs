//! Ballot kind `approval`: all options that the seat approves of.

use serde_json::{Value as Json, json};

use super::answer_schema::{list, options, word_enum};
use super::kind::{FormField, Input, KindInfo, KindSpec, RehearsalInput};
use super::model::{Ballot, BallotForm};
use super::parse::AnswerParser;
use super::parse::scalar::quoted;
use crate::tally::{CountableKind, Rule};
use crate::yaml::{Node, Value};

pub(super) struct ApprovalKind;

impl KindSpec for ApprovalKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            keys: &["approve"],
            has_options: true,
            countable: Some(CountableKind::Approval),
            default_rule: Some(Rule::Approval),
            example: "approve: [<option>, <option>]\n",
            detail: "List the options you approve of; an empty list approves of none.",
            instead_of: "the ballot",
            description: "the options approved of, with the rationale",
            length: "a set of options",
            ..KindInfo::default()
        }
    }

    fn schemas(&self, form: &BallotForm) -> Vec<Json> {
        vec![json!({"anyOf": [list(&options(form)), word_enum(["abstain"])]})]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let given = match &value.value {
            Value::List(items) => {
                items.iter().map(|item| answer.option(item, "approve")).collect::<Result<Vec<_>, _>>()?
            }
            Value::Map(_) => return Err("`approve` is a map, a list of options is expected".to_owned()),
            _ => answer.options_in(&answer.source_text(value), &[',', ';', '\n'])?,
        };
        let mut approved: Vec<String> = Vec::new();
        for option in given {
            if approved.contains(&option) {
                answer.flags.push(format!("{} is approved twice: read as once", quoted(&option)));
            } else {
                approved.push(option);
            }
        }
        approved.sort_by_key(|option| answer.form.place(option));
        let kept = approved.iter().map(|option| Json::from(option.as_str())).collect();
        Ok((Ballot::Approval(approved), kept))
    }

    fn fields(&self, form: &BallotForm) -> Vec<FormField> {
        let input = Input::AnyOf(form.options.clone());
        vec![FormField { key: "approve", hint: "Space selects; none = abstain", input }]
    }

    fn rehearse(&self, input: &RehearsalInput<'_>) -> Vec<(&'static str, Json)> {
        let by_lot = 1 + (input.lot)("approve", input.options.len().div_ceil(2));
        vec![("approve", input.options.iter().take(by_lot).copied().collect())]
    }
}
