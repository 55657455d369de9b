//! A person's answer in a blind round: a field for each part of the ballot, read like any other reply.

use serde_json::{Map, Value, json};

use super::{CheckItem, Field, Form, FormKind, OPEN};
use crate::ballot::{
    BallotForm, BallotKind, FormField, FormValues, Input, ParsedReply, read_reply, typed_number,
};
use crate::history::RoundOpened;

/// The form of a seat's answer. What is typed into it is never kept: it is nobody's to read.
pub fn seat_answer(
    seat: &str,
    again: Option<&str>,
    question: &str,
    ballot: &BallotForm,
    background: Option<&str>,
) -> Form {
    let spec = ballot.kind.spec();
    let mut fields: Vec<Field> = spec.fields(ballot).into_iter().map(field).collect();
    for remark in spec.remarks() {
        let hint = if *remark == "rationale" { "One reason per line" } else { "One per line (optional)" };
        fields.push(Field::text(remark, hint, ""));
    }
    if ballot.is_revision {
        let hint = "Which argument or fact changed your mind";
        fields.push(Field::line("changed_by", hint, "").labeled("changed by"));
    }
    fields.push(Field::line("confidence", "0 to 1 (optional)", ""));
    let options = ballot.options.join(" · ");
    let parts = [question, &options, background.unwrap_or_default()].into_iter();
    let intro = parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n");
    let purpose = FormKind::SeatAnswer(seat.to_owned(), ballot.kind);
    Form {
        error: again.map(|reason| reason.lines().next().unwrap_or_default().to_owned()),
        intro,
        ..Form::new(purpose, format!("Private answer for {seat}"), fields, "")
    }
}

pub fn check_reply(opened: &RoundOpened, text: &str) -> Result<(), String> {
    match read_reply(&opened.ballot, text) {
        ParsedReply::Invalid(reason) => Err(reason.lines().next().unwrap_or_default().to_owned()),
        ParsedReply::Answered(answer)
            if text.contains("\"confidence\"") && !answer.content.contains_key("confidence") =>
        {
            Err("`confidence` is not a number from 0 to 1".to_owned())
        }
        ParsedReply::Answered(_) | ParsedReply::BareBlock(..) | ParsedReply::Refused(_) => Ok(()),
    }
}

fn field(FormField { key, hint, input }: FormField) -> Field {
    let field = match input {
        Input::Line(start) => Field::line(key, hint, &start),
        Input::Text(start) => Field::text(key, hint, &start),
        Input::OneOf(words) => {
            let words: Vec<String> = std::iter::once(OPEN.to_owned()).chain(words).collect();
            Field::choice(key, hint, &words, "")
        }
        Input::AnyOf(words) => {
            let pick = |name: &String| CheckItem::new(name, "", false);
            Field::picks(key, hint, words.iter().map(pick).collect())
        }
    };
    if key == "minimum_change" { field.labeled("minimum change") } else { field }
}

/// The form as a reply: JSON, which is YAML too.
pub fn reply(form: &Form, kind: BallotKind) -> String {
    let spec = kind.spec();
    let ballot = spec.read_fields(form).unwrap_or_else(|| vec![("vote", "abstain".into())]);
    let mut answer: Map<String, Value> =
        ballot.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    for remark in spec.remarks() {
        let text = form.value(remark);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if !lines.is_empty() {
            answer.insert((*remark).to_owned(), json!(lines));
        }
    }
    let (changed_by, confidence) = (form.trimmed("changed_by"), form.trimmed("confidence"));
    if !changed_by.is_empty() {
        answer.insert("changed_by".to_owned(), changed_by.into());
    }
    if !confidence.is_empty() {
        answer.insert("confidence".to_owned(), typed_number(&confidence));
    }
    Value::Object(answer).to_string()
}

impl FormValues for Form {
    fn text(&self, key: &str) -> String {
        self.trimmed(key)
    }

    fn picked(&self, key: &str) -> Vec<String> {
        self.fields.iter().find(|field| field.id == key).map(Field::picked).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::{Ballot, BallotForm, Idea};

    fn answered(kind: BallotKind, fill: &[(&str, &str)]) -> ParsedReply {
        let options = ["red", "dark green"].map(str::to_owned).to_vec();
        let form = BallotForm::over(kind, options);
        let mut typed = seat_answer("ann", None, "", &form, None);
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
        assert!(matches!(&wrong, ParsedReply::Answered(answer) if answer.flags.len() == 1), "{wrong:?}");
        is(
            answered(BallotKind::Ranking, &[("ranking", "dark green > red")]),
            &Ballot::Ranking(vec![vec!["dark green".to_owned()], vec!["red".to_owned()]]),
        );
        is(answered(BallotKind::Approval, &[("approve", "red")]), &Ballot::Approval(vec!["red".to_owned()]));
        let scores = [("red".to_owned(), 4.into()), ("dark green".to_owned(), 0.into())];
        is(
            answered(BallotKind::Score, &[("scores", "dark green: 0\nred: 4")]),
            &Ballot::Scores(scores.into_iter().collect()),
        );
        is(answered(BallotKind::Estimate, &[("estimate", "5")]), &Ballot::Estimate(5.into()));
        for kind in [BallotKind::Ranking, BallotKind::Score, BallotKind::Estimate] {
            let key = kind.key();
            is(answered(kind, &[(key, "")]), &Ballot::Abstain);
        }
        is(answered(BallotKind::Approval, &[]), &Ballot::Abstain);
        let idea = Idea { title: "Queue".to_owned(), text: "Let writes wait: in order.".to_owned() };
        is(
            answered(BallotKind::Ideas, &[("ideas", "Queue: Let writes wait: in order.\n")]),
            &Ballot::Ideas(vec![idea]),
        );
        is(answered(BallotKind::Ideas, &[("ideas", "")]), &Ballot::Abstain);
    }
}
