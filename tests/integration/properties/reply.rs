//! Replies: a valid answer fits its form, and reads back equal.

use std::collections::HashSet;

use roundtable::ballot::{Answer, Ballot, BallotForm, BallotKind, ParsedReply, Stance, read_reply};
use roundtable::workflow::{DEEPEST_ANSWER, depth, read_answer};
use serde_json::{Number, Value};

use super::{choose, text};

/// Reads any text as a reply; the first byte selects the form.
pub fn reply(data: &[u8]) {
    let (which, data) = choose(data);
    let text = text(data);
    if let Ok(value) = read_answer(text) {
        assert!(depth(&value) <= DEEPEST_ANSWER + 1, "an agent's answer is deeper than it may be");
    }
    let form = form(which);
    let reading = read_reply(&form, text);
    assert_eq!(reading, read_reply(&form, text), "read twice");
    match reading {
        ParsedReply::Answered(answer) => {
            fits(&form, &answer);
            again(&form, &answer);
        }
        ParsedReply::BareBlock(answer, reason) => {
            assert_eq!(answer.ballot, Ballot::Consent(Stance::Block, None));
            assert!(!reason.is_empty());
        }
        ParsedReply::Invalid(reason) => assert!(!reason.is_empty()),
        ParsedReply::Refused(words) => assert!(!words.trim().is_empty() || text.contains("refusal")),
    }
}

fn form(which: usize) -> BallotForm {
    let over =
        |kind, options: &[&str]| BallotForm::over(kind, options.iter().map(|o| (*o).to_owned()).collect());
    let number = |text: &str| text.parse::<Number>().ok();
    let plain = ["in-process", "redis", "no cache"];
    let tricky = ["Yes", "yes please", "A", "1", "Option A", "état", "стоп"];
    match which % 15 {
        0 => BallotForm::position(),
        1 => over(BallotKind::Choice, &plain),
        2 => over(BallotKind::Choice, &tricky),
        3 => over(BallotKind::Approval, &plain),
        4 => over(BallotKind::Approval, &tricky),
        5 => over(BallotKind::Ranking, &plain),
        6 => over(BallotKind::Ranking, &["a", "b", "c", "d", "e"]),
        7 => BallotForm { min: number("0"), max: number("5"), ..over(BallotKind::Score, &plain) },
        8 => BallotForm { min: number("-1.5"), max: number("1.5"), ..over(BallotKind::Score, &["a", "b"]) },
        9 => {
            let cards = ["1", "2", "3", "5", "8", "13", "?"].map(str::to_owned).to_vec();
            BallotForm { cards, ..BallotForm::over(BallotKind::Estimate, Vec::new()) }
        }
        10 => {
            let cards = ["XS", "S", "M", "L"].map(str::to_owned).to_vec();
            BallotForm { cards, ..BallotForm::over(BallotKind::Estimate, Vec::new()) }
        }
        11 => BallotForm { min: number("0"), max: number("40"), ..over(BallotKind::Estimate, &[]) },
        12 => over(BallotKind::Estimate, &[]),
        13 => over(BallotKind::Consent, &[]),
        _ => over(BallotKind::Ideas, &[]),
    }
}

fn fits(form: &BallotForm, answer: &Answer) {
    let known = |option: &String| assert!(form.options.contains(option), "`{option}` is no option");
    let place = |option: &String| form.options.iter().position(|o| o == option);
    match (&answer.ballot, form.kind) {
        (Ballot::Abstain, _) | (Ballot::Position, BallotKind::Position) => {}
        (Ballot::Choice(option), BallotKind::Choice) => known(option),
        (Ballot::Approval(options), BallotKind::Approval) => {
            options.iter().for_each(known);
            let places: Vec<_> = options.iter().map(place).collect();
            assert!(places.is_sorted() && places.windows(2).all(|two| two[0] != two[1]), "{options:?}");
        }
        (Ballot::Ranking(places), BallotKind::Ranking) => {
            let all: Vec<&String> = places.iter().flatten().collect();
            all.iter().copied().for_each(known);
            assert!(!all.is_empty() && places.iter().all(|place| !place.is_empty()), "{places:?}");
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{places:?}");
        }
        (Ballot::Scores(scores), BallotKind::Score) => {
            assert_eq!(scores.keys().collect::<Vec<_>>(), form.options.iter().collect::<Vec<_>>());
            scores.values().for_each(|score| within(form, score));
        }
        (Ballot::Estimate(value), BallotKind::Estimate) => match value {
            Value::Number(number) if form.cards.is_empty() => within(form, number),
            Value::String(card) => assert!(form.cards.contains(card), "`{card}` is no card"),
            other => assert!(form.cards.contains(&other.to_string()), "`{other}` is no card"),
        },
        (Ballot::Consent(stance, change), BallotKind::Consent) => {
            let says_change = change.as_ref().is_some_and(|change| !change.trim().is_empty());
            assert!(*stance != Stance::Block || says_change, "a block without its change");
        }
        (Ballot::Ideas(ideas), BallotKind::Ideas) => {
            let titles: HashSet<_> = ideas.iter().map(|idea| idea.title.to_lowercase()).collect();
            assert_eq!(titles.len(), ideas.len(), "{ideas:?}");
            assert!(!ideas.is_empty() && ideas.iter().all(|idea| !idea.text.trim().is_empty()), "{ideas:?}");
        }
        (ballot, kind) => panic!("{ballot:?} is no ballot of a {}", kind.name()),
    }
    if let Some(confidence) = answer.content.get("confidence") {
        let value = confidence.as_f64();
        assert!(confidence.is_null() || value.is_some_and(|c| (0.0..=1.0).contains(&c)), "{confidence}");
    }
}

fn within(form: &BallotForm, number: &Number) {
    let value = number.as_f64().expect("a number");
    assert!(value.is_finite());
    assert!(form.min.as_ref().and_then(Number::as_f64).is_none_or(|min| value >= min), "{value}");
    assert!(form.max.as_ref().and_then(Number::as_f64).is_none_or(|max| value <= max), "{value}");
}

/// Checks that the answer, written as plain JSON, is the same ballot.
fn again(form: &BallotForm, answer: &Answer) {
    let content = Value::Object(answer.content.clone()).to_string();
    // Tags and code fences inside a text would be found before the JSON.
    if content.contains(['<', '`']) || content.len() > 60_000 {
        return;
    }
    match read_reply(form, &content) {
        ParsedReply::Answered(second) => assert_eq!(second.ballot, answer.ballot, "{content}"),
        other => panic!("{content} was read and now is {other:?}"),
    }
}
