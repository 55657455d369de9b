//! A person's answer in a blind round: a field for each part of the ballot, read like any other reply.

use serde_json::{Map, Value, json};

use super::{CheckItem, Field, FieldValue, Form, FormKind, picked};
use crate::ballot::{BallotForm, BallotKind};
use crate::history::RoundOpened;

/// The form of a seat's answer. What is typed into it is never kept: it is nobody's to read.
pub fn seat_answer(seat: &str, again: Option<&str>, opened: &RoundOpened) -> Form {
    let mut fields = ballot(&opened.ballot);
    if opened.ballot.kind == BallotKind::Position {
        fields.push(Field::text("position", "position", "Your position, 2–3 sentences", ""));
    }
    fields.push(Field::text("rationale", "rationale", "One reason per line", ""));
    if opened.ballot.kind == BallotKind::Position {
        fields.push(Field::text("concerns", "concerns", "One per line (optional)", ""));
        fields.push(Field::text("suggestions", "suggestions", "One per line (optional)", ""));
    }
    fields.push(Field::line("confidence", "confidence", "0 to 1 (optional)", ""));
    Form {
        purpose: FormKind::SeatAnswer(seat.to_owned(), opened.ballot.kind),
        title: format!("Private answer for {seat}"),
        fields,
        at: 0,
        error: again.map(|reason| reason.lines().next().unwrap_or_default().to_owned()),
        filled: String::new(),
        kept_as: String::new(),
    }
}

fn ballot(form: &BallotForm) -> Vec<Field> {
    let options: Vec<&str> = form.options.iter().map(String::as_str).collect();
    let or_abstain = |words: &[&str]| -> Vec<String> {
        words.iter().chain(&["abstain"]).map(|word| (*word).to_owned()).collect()
    };
    let choice = |id, words: Vec<String>| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        vec![Field::choice(id, id, "← → to choose", &words, "")]
    };
    match form.kind {
        BallotKind::Position => Vec::new(),
        BallotKind::Choice => choice("vote", or_abstain(&options)),
        BallotKind::Consent => {
            let mut fields = choice("consent", or_abstain(&["support", "stand-aside", "block"]));
            fields.push(Field::line(
                "minimum_change",
                "minimum change",
                "Required with block: what must change",
                "",
            ));
            fields
        }
        BallotKind::Approval => {
            let pick =
                |name: &&str| CheckItem { name: (*name).to_owned(), about: String::new(), is_picked: false };
            vec![Field::picks(
                "approve",
                "approve",
                "Space selects; none = abstain",
                options.iter().map(pick).collect(),
            )]
        }
        BallotKind::Ranking => {
            let start = options.join(" > ");
            vec![Field::line("ranking", "ranking", "Best first, e.g. a > b = c; empty = abstain", &start)]
        }
        BallotKind::Score => {
            let lines: Vec<String> = options.iter().map(|option| format!("{option}: ")).collect();
            vec![Field::text(
                "scores",
                "scores",
                "One number after each; all empty = abstain",
                &lines.join("\n"),
            )]
        }
        BallotKind::Estimate => {
            vec![Field::line("estimate", "estimate", "A number or a card; empty = abstain", "")]
        }
    }
}

/// What was filled in, as a reply to the form: JSON, which is YAML too.
pub fn reply(form: &Form, kind: BallotKind) -> String {
    let value = |id: &str| form.value(id).trim().to_owned();
    let lines = |id: &str| -> Vec<String> {
        value(id).lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let mut answer = Map::new();
    let mut put = |key: &str, value: Value| {
        answer.insert(key.to_owned(), value);
    };
    match kind {
        BallotKind::Position => put("position", value("position").into()),
        BallotKind::Choice => put("vote", value("vote").into()),
        BallotKind::Consent if value("consent") == "abstain" => put("vote", "abstain".into()),
        BallotKind::Consent => {
            put("consent", value("consent").into());
            if !value("minimum_change").is_empty() {
                put("minimum_change", value("minimum_change").into());
            }
        }
        BallotKind::Approval => {
            let names = form.fields.iter().find_map(|field| match &field.entry {
                FieldValue::Picks(picks, _) => Some(picked(picks)),
                _ => None,
            });
            match names.filter(|names| !names.is_empty()) {
                Some(names) => put("approve", names.into()),
                None => put("vote", "abstain".into()),
            }
        }
        BallotKind::Ranking if value("ranking").is_empty() => put("vote", "abstain".into()),
        BallotKind::Ranking => put("ranking", ranking(&value("ranking"))),
        BallotKind::Score => match scores(&value("scores")) {
            Some(scores) => put("scores", Value::Object(scores)),
            None => put("vote", "abstain".into()),
        },
        BallotKind::Estimate if value("estimate").is_empty() => put("vote", "abstain".into()),
        BallotKind::Estimate => put("estimate", number(&value("estimate"))),
    }
    for key in ["rationale", "concerns", "suggestions"] {
        if !lines(key).is_empty() {
            put(key, json!(lines(key)));
        }
    }
    if !value("confidence").is_empty() {
        put("confidence", number(&value("confidence")));
    }
    Value::Object(answer).to_string()
}

/// A number where it is one, else the text, which the reader will refuse with its reason.
fn number(text: &str) -> Value {
    text.parse::<serde_json::Number>().map_or_else(|_| text.into(), Value::Number)
}

fn ranking(text: &str) -> Value {
    let place = |part: &str| {
        let level: Vec<&str> = part.split('=').map(str::trim).filter(|name| !name.is_empty()).collect();
        if let [one] = level.as_slice() { json!(one) } else { json!(level) }
    };
    text.split('>').filter(|part| !part.trim().is_empty()).map(place).collect()
}

/// `option: number` a line; options without a number are left out, `None` where all are.
fn scores(text: &str) -> Option<Map<String, Value>> {
    let line = |line: &str| {
        let (option, score) = line.rsplit_once(':')?;
        let score = score.trim();
        (!score.is_empty()).then(|| (option.trim().to_owned(), number(score)))
    };
    let scores: Map<String, Value> = text.lines().filter_map(line).collect();
    (!scores.is_empty()).then_some(scores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::{Ballot, ParsedReply, read_reply};

    fn answered(kind: BallotKind, fill: &[(&str, &str)]) -> ParsedReply {
        let options = ["red", "dark green"].map(str::to_owned).to_vec();
        let form = BallotForm::over(kind, options);
        let mut fields = ballot(&form);
        fields.extend([
            Field::text("position", "position", "", ""),
            Field::text("rationale", "rationale", "", ""),
            Field::line("confidence", "confidence", "", ""),
        ]);
        let purpose = FormKind::SeatAnswer("ann".to_owned(), kind);
        let (title, filled, kept_as) = (String::new(), String::new(), String::new());
        let mut typed = Form { purpose, title, fields, at: 0, error: None, filled, kept_as };
        for (id, value) in fill {
            let field = typed.fields.iter_mut().find(|field| field.id == *id).expect("a field");
            field.restore(value);
        }
        read_reply(&form, &reply(&typed, kind))
    }

    #[test]
    fn what_a_person_fills_in_is_read_like_any_reply() {
        let is = |reading: ParsedReply, wanted: &Ballot| match reading {
            ParsedReply::Answered(answer) => assert_eq!(&answer.ballot, wanted),
            other => panic!("{other:?}"),
        };
        is(
            answered(
                BallotKind::Choice,
                &[("vote", "dark green"), ("rationale", "calm\nrare"), ("confidence", "0.5")],
            ),
            &Ballot::Choice("dark green".to_owned()),
        );
        is(answered(BallotKind::Choice, &[("vote", "abstain")]), &Ballot::Abstain);
        is(
            answered(BallotKind::Position, &[("position", "Yes: \"both\".\n# no comment")]),
            &Ballot::Position,
        );
        is(answered(BallotKind::Consent, &[("consent", "abstain")]), &Ballot::Abstain);
        let wrong = answered(BallotKind::Choice, &[("vote", "red"), ("confidence", "very")]);
        assert!(matches!(wrong, ParsedReply::Invalid(_)), "{wrong:?}");
        assert_eq!(ranking("a > b = c"), json!(["a", ["b", "c"]]));
        assert_eq!(scores("a: 4\nb: \nc: d: 2"), json!({"a": 4, "c: d": 2}).as_object().cloned());
    }
}
