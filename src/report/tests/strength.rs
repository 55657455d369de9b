//! Tests of strength and of seats that are not independent.

use serde_json::json;

use super::{CHOICE, CONSENT, Table};
use crate::ballot::Stance;
use crate::history::Tally;
use crate::insight::{headline, independence};
use crate::round::answer::Origin;
use crate::tally::Tier;

/// Counts a round in which three seats with these models and texts vote alike.
fn counted(models: [&str; 3], words: [&str; 3]) -> (Table, Tally) {
    let mut table = Table::round(CHOICE);
    let seats = ["software-architect", "qa-lead", "devops-engineer"];
    for seat in seats {
        table.seal(seat);
    }
    let mut answers = Vec::new();
    for ((seat, model), said) in seats.iter().zip(models).zip(words) {
        let mut answer = table.vote(seat, "inline", json!({"vote": "inline", "position": said}));
        (answer.record.origin, answer.record.model) = (Origin::from_model(model), model.to_owned());
        answers.push(answer);
    }
    table.close(answers);
    let tally = table.session.rounds[0].tally.clone().unwrap();
    (table, tally)
}

const WORDS: [&str; 3] = ["it is simple", "nothing to run at night", "the list is small"];
const MODELS: [&str; 3] = ["openai/gpt-5", "anthropic/claude-sonnet-5", "mine/model-a"];

#[test]
fn one_model_or_one_text_is_never_more_than_weak() {
    let (table, tally) = counted(MODELS, WORDS);
    assert_eq!((tally.tier, tally.decided), (Some(Tier::Unanimous), true));
    assert_eq!(tally.tier_because.unwrap().to_string(), "3 of 3 seats asked chose it");
    let found = independence(&table.session, &table.session.rounds[0]).unwrap();
    assert_eq!(
        (&*found.counts(), found.notes().len()),
        ("3 models, 2 makers or more (OpenAI, Anthropic)", 0)
    );

    let (_, tally) = counted(["a/gpt-5", "b/gpt-5", "openai/gpt-5"], WORDS);
    assert_eq!(tally.tier, Some(Tier::Weak));
    assert!(tally.tier_because.unwrap().to_string().ends_with("but all 3 are one model (a/gpt-5)"));

    let (table, tally) = counted(MODELS, ["It is simple.", "it is SIMPLE", "it is simple"]);
    assert_eq!(tally.tier, Some(Tier::Weak));
    assert_eq!(tally.same_answers, [["software-architect", "qa-lead", "devops-engineer"]]);
    let found = independence(&table.session, &table.session.rounds[0]).unwrap();
    assert_eq!(found.notes(), ["the same answer: software-architect, qa-lead, devops-engineer"]);

    let (_, tally) = counted(["human", "human", "human"], ["yes", "yes", "yes"]);
    assert_eq!(tally.tier, Some(Tier::Unanimous), "people count each for themselves");
}

#[test]
fn unblocked_proposals_are_adopted_without_support() {
    let mut table = Table::round(CONSENT);
    let seats = ["software-architect", "qa-lead"];
    for seat in seats {
        table.seal(seat);
    }
    table.close(seats.map(|seat| table.stance(seat, Stance::StandAside, None)).to_vec());
    let tally = table.session.rounds[0].tally.clone().unwrap();
    let said = headline(&table.session, &table.session.rounds[0], &tally);
    assert_eq!((tally.decided, tally.tier), (true, Some(Tier::Weak)));
    assert_eq!(said.label, "Adopted: nobody blocks");
    let sentence = "0 of 3 seats support it, 2 stand aside, 1 missing. Adopted without a single supporter.";
    assert_eq!(said.sentence, sentence);
}
