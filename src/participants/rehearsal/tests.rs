//! What the rehearsal promises: same in, same out; every form is met; it is no judgement and says so.

use super::*;
use crate::ballot::{BallotForm, BallotKind, FormKeys, ParsedReply, Scale, read_reply};
use crate::participants::testing;
use crate::persona::Persona;
use crate::persona::builtin;
use crate::round::material::SnapshotContent;
use crate::round::snapshot::Snapshot;

const EXPLORATION: &str = "
### paper
- Good, because it is simple to build
- Bad, because it can lose data
### disk
- Good, because it is safe against loss
- Bad, because it is complex to build
";

fn persona(name: &str, priorities: &str) -> Arc<Persona> {
    let text = format!("---\nname: {name}\npriorities: {{{priorities}}}\n---\nYou test.\n");
    Arc::new(Persona::parse(&text, "t.md").unwrap())
}

fn snapshot(form: &BallotForm, exploration: &str) -> String {
    let material = SnapshotContent {
        question: "Which of them should we take from now on?",
        exploration: Some(exploration),
        ballot: Some(form),
        ..SnapshotContent::default()
    };
    Snapshot::freeze(&material).text.to_string()
}

fn over(kind: BallotKind) -> BallotForm {
    BallotForm::over(kind, vec!["paper".to_owned(), "disk".to_owned()])
}

/// The answer of a seat at a place of a round.
fn seated(snapshot: &str, persona: &Arc<Persona>, place: (usize, usize)) -> Value {
    let ask = SeatRequest {
        persona: Arc::clone(persona),
        place,
        seat: format!("seat-{}", place.0),
        ..testing::ask("", snapshot, "")
    };
    answer(&Scene::read(snapshot), &ask)
}

fn alone(snapshot: &str, persona: &Arc<Persona>) -> Value {
    seated(snapshot, persona, (0, 1))
}

#[test]
fn the_same_in_gives_the_same_out_and_a_change_shows() {
    let (one, other) = (persona("one", "cost: 1"), persona("other", "cost: 1"));
    let text = snapshot(&over(BallotKind::Choice), EXPLORATION);
    let first = alone(&text, &one);
    assert_eq!(first, alone(&text, &one));
    assert_ne!(first, alone(&text, &other));
    assert_ne!(first, alone(&text.replace("complex", "simple"), &one));
    let seats: std::collections::BTreeSet<String> =
        (0..40).map(|nth| seated(&text, &one, (nth, 40)).to_string()).collect();
    assert!(seats.len() > 4, "seats of one persona differ");
}

#[test]
fn every_answer_meets_its_form() {
    let scale =
        |kind, min: i32, max: i32| BallotForm { min: Some(min.into()), max: Some(max.into()), ..over(kind) };
    let cards = BallotForm {
        options: Vec::new(),
        cards: vec!["S".to_owned(), "M".to_owned()],
        ..over(BallotKind::Estimate)
    };
    let forms = BallotKind::ALL.map(|(_, kind)| match kind.spec().form_keys() {
        FormKeys { options: false, .. } => BallotForm::over(kind, Vec::new()),
        FormKeys { scale: Scale::None, .. } => over(kind),
        FormKeys { .. } => scale(kind, -3, 7),
    });
    let bounded = BallotForm { options: Vec::new(), ..scale(BallotKind::Estimate, 3, 5) };
    for form in forms.into_iter().chain([cards, bounded]) {
        let text = snapshot(&form, EXPLORATION);
        let mut ballots = std::collections::BTreeSet::new();
        for nth in 0..60 {
            let answer = seated(&text, &persona("p", "weather: 1"), (nth, 60));
            let ParsedReply::Answered(read) = read_reply(&form, &answer.to_string()) else {
                panic!("{form:?}: {answer:#}");
            };
            assert_eq!(read.flags, Vec::<String>::new(), "{answer:#}");
            let said = answer["position"].as_str().or(answer["rationale"][0].as_str()).unwrap();
            assert!(said.starts_with("(rehearsal) This is a placeholder, no judgement. "), "{said}");
            ballots.insert(format!("{:?}", read.ballot));
        }
        let least = if form.kind == BallotKind::Position { 2 } else { 3 };
        assert!(ballots.len() >= least, "spread over the options: {ballots:?}");
    }
}

#[test]
fn what_it_quotes_stands_in_the_snapshot() {
    let text = snapshot(
        &over(BallotKind::Choice),
        "The press is loud at night. It breaks in winter when it is cold.",
    );
    for nth in 0..9 {
        let answer = seated(&text, &persona("p", "noise: 1"), (nth, 9)).to_string();
        assert!(answer.contains('\u{201c}'));
        for quote in answer.split('\u{201c}').skip(1).filter_map(|rest| rest.split('\u{201d}').next()) {
            assert!(text.contains(quote), "{quote}");
        }
    }
}

#[test]
fn a_seat_leans_to_the_option_that_shares_words_with_its_priorities() {
    let text = snapshot(&over(BallotKind::Choice), EXPLORATION);
    let answer = alone(&text, &persona("builder", "simplicity: 9, simple: 1"));
    assert_eq!(answer["vote"], "paper");
    assert!(answer["position"].as_str().unwrap().contains("share words: simple."), "{answer:#}");
    assert_eq!(alone(&text, &persona("keeper", "losses: 1, loss: 5"))["vote"], "disk");
    let text = snapshot(&over(BallotKind::Ranking), EXPLORATION);
    assert_eq!(alone(&text, &persona("keeper", "loss: 5"))["ranking"], json!(["disk", "paper"]));
}

#[test]
fn few_abstain_and_by_lot_alone() {
    let form = over(BallotKind::Choice);
    let abstaining = |text: &str, seats: usize| {
        let votes = (0..seats).map(|nth| seated(text, &persona("p", "a: 1"), (nth, seats))["vote"].clone());
        votes.filter(|vote| vote == "abstain").count()
    };
    let texts: Vec<String> = (0..30).map(|nth| snapshot(&form, &format!("Number {nth}."))).collect();
    for seats in [1, 2, 4, 5, 9, 10, 11, 19, 40] {
        let most = texts.iter().map(|text| abstaining(text, seats)).max().unwrap();
        assert!(most <= seats / 5 && most <= seats.div_ceil(10), "{most} of {seats}");
        assert_eq!(most > 0, seats >= 5, "{most} of {seats}");
    }
}

#[test]
fn the_seed_changes_the_lot() {
    let text = snapshot(&over(BallotKind::Choice), "");
    let by = |seed| {
        let ask = SeatRequest { seed: Some(seed), place: (0, 1), ..testing::ask("", &text, "") };
        answer(&Scene::read(&text), &ask)["vote"].as_str().unwrap().to_owned()
    };
    assert_eq!(by(1), by(1));
    assert_eq!((0..16).map(by).collect::<std::collections::BTreeSet<_>>().len(), 2);
}

#[test]
fn a_work_item_is_answered_by_its_schema_or_by_a_note() {
    let ask = testing::ask("", "Write the profile page. Test it on three screens.", "");
    let task = WorkItemView {
        input: json!({"context": {"plan": 1}}).as_object().unwrap().clone(),
        ..WorkItemView::default()
    };
    let answer = work(&task, &ask).unwrap();
    assert!(answer["result"].as_str().unwrap().starts_with("(rehearsal) This is a placeholder"), "{answer}");
    assert!(answer["result"].as_str().unwrap().contains("Nothing was done"), "{answer}");
    assert_eq!(answer["based_on"], json!(["plan"]));
}

#[test]
fn hostile_text_does_no_harm() {
    let skeptic = Arc::new(builtin("skeptic").unwrap());
    let long = format!("participant_context:\n  question: \"{}\"\n", "no risk. ".repeat(40_000));
    let wide = format!("participant_context:\n  exploration: \"{}\"\n", "é“”".repeat(200_000));
    for text in [
        "",
        "\0",
        "x",
        "- a\n- b",
        "participant_context: 3",
        "participant_context: [",
        "{}",
        long.as_str(),
        wide.as_str(),
        "participant_context:\n  question: [1, {a: b}]\n  ballot: {kind: 7, options: {a: 1}}\n",
        "participant_context:\n  ballot: {kind: choice, options: [\"\", \"(\", \":\", \"…\", no]}\n  exploration: \"( : … no\"\n",
        "participant_context:\n  ballot: {kind: score, options: [a1], scale: {min: 9, max: 1}}\n  exploration: \"a1: good.\"\n",
        "participant_context:\n  ballot: {kind: score, options: [a], scale: {min: 9}}\n",
        "participant_context:\n  ballot: {kind: estimate, scale: {min: -1.0e308, max: 1.0e308}}\n",
        "participant_context:\n  artifacts_snapshot: [1, {id: {}, summary: 3, acceptance: good}]\n",
    ] {
        assert!(alone(text, &skeptic).is_object());
    }
}

#[test]
fn a_snapshot_is_read_once_for_all_who_share_it() {
    let participant = Rehearsal::default();
    let text = |exploration| -> Arc<str> { snapshot(&over(BallotKind::Choice), exploration).into() };
    let (one, other) = (text(EXPLORATION), text(""));
    let first = participant.scene(&one);
    assert!(Arc::ptr_eq(&first, &participant.scene(&one)));
    assert_ne!(participant.scene(&other).sha256, first.sha256);
}
