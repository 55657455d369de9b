//! Placeholders: reproducible, valid for every form, and without other text.

use std::sync::Arc;

use strum::VariantArray as _;

use super::*;
use crate::ballot::{BallotKind, KindInfo, ParsedReply, Scale, read_reply};
use crate::participants::testing;
use crate::round::material::SnapshotContent;
use crate::round::snapshot::Snapshot;

fn snapshot(form: &BallotForm, question: &str) -> String {
    let material = SnapshotContent { question, ballot: Some(form), ..SnapshotContent::default() };
    Snapshot::freeze(&material).text.to_string()
}

fn over(kind: BallotKind) -> BallotForm {
    BallotForm::over(kind, vec!["paper".to_owned(), "disk".to_owned()])
}

fn seated(form: &BallotForm, question: &str, seat: usize, seed: Option<u64>) -> Value {
    let ballot = Some(Arc::new(form.clone()));
    let ask = testing::ask("", &snapshot(form, question), "");
    answer(&SeatRequest { seat: format!("seat-{seat}"), seed, ballot, ..ask })
}

#[test]
fn answers_depend_on_snapshot_seat_and_seed() {
    let form = over(BallotKind::Choice);
    let seated = |question: &str, seat, seed| seated(&form, question, seat, seed);
    assert_eq!(seated("Which?", 1, None), seated("Which?", 1, None));
    let differ = |all: Vec<Value>| all.iter().any(|answer| *answer != all[0]);
    assert!(differ((0..40).map(|seat| seated("Which?", seat, None)).collect()));
    assert!(differ((0..40).map(|seed| seated("Which?", 1, Some(seed))).collect()));
    assert!(differ((0..40).map(|nth| seated(&format!("Which? {nth}"), 1, None)).collect()));
}

#[tokio::test(start_paused = true)]
async fn watched_rehearsals_take_time() {
    for (is_watched, took) in [(true, 1000..3000), (false, 0..1)] {
        let begun = tokio::time::Instant::now();
        Rehearsal { is_watched }.ask(&testing::ask("", "", "")).await.unwrap();
        assert!(took.contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    }
}

#[test]
fn every_answer_meets_its_form_and_says_nothing_else() {
    let scale =
        |kind, min: i32, max: i32| BallotForm { min: Some(min.into()), max: Some(max.into()), ..over(kind) };
    let cards = BallotForm {
        options: Vec::new(),
        cards: vec!["S".to_owned(), "M".to_owned()],
        ..over(BallotKind::Estimate)
    };
    let forms = BallotKind::VARIANTS.iter().map(|&kind| match kind.info() {
        KindInfo { has_options: false, .. } => BallotForm::over(kind, Vec::new()),
        KindInfo { scale: Scale::None, .. } => over(kind),
        KindInfo { .. } => scale(kind, -3, 7),
    });
    let bounded = BallotForm { options: Vec::new(), ..scale(BallotKind::Estimate, 3, 5) };
    for form in forms.into_iter().chain([cards, bounded]) {
        let mut ballots = std::collections::BTreeSet::new();
        for nth in 0..60 {
            let answer = seated(&form, "Which?", nth, None);
            let ParsedReply::Answered(read) = read_reply(&form, &answer.to_string()) else {
                panic!("{form:?}: {answer:#}");
            };
            assert_eq!(read.flags, Vec::<String>::new(), "{answer:#}");
            let said = answer["position"].as_str().or(answer["rationale"][0].as_str());
            assert_eq!(said, Some(LABEL), "{answer}");
            assert!(answer.as_object().unwrap().len() <= 3, "{answer}");
            ballots.insert(format!("{:?}", read.ballot));
        }
        let least = if form.kind == BallotKind::Position { 1 } else { 2 };
        assert!(ballots.len() >= least, "spread over the options: {ballots:?}");
    }
}

#[test]
fn work_items_without_a_schema_get_a_note() {
    assert_eq!(work(&WorkItemView::default()), Ok(json!({ "result": UNDONE })));
}
