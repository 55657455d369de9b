//! Answers to a ballot that asks for a number or a card.
//!
//! A rehearsal has no experience of how long things take. Its estimate is how much of what it weighs
//! speaks against, put on the form's cards or scale; without either it counts what it would look into.

use serde_json::Value;

use super::draft::{Draft, doubt};
use super::scene::Scene;
use super::voice::{Voice, and_list, cite, quote, remedies};
use super::weigh::{Weighed, heaviest, themes};
use crate::persona::Persona;

/// The answer to a ballot that asks for an estimate.
pub(super) fn answer(scene: &Scene, weighed: &[Weighed], persona: &Persona) -> Draft {
    let against = heaviest(weighed.iter().filter(|one| one.value < 0.0));
    let for_it = heaviest(weighed.iter().filter(|one| one.value > 0.0));
    let burden: f64 = against.iter().map(|one| one.size()).sum();
    let ease: f64 = for_it.iter().map(|one| one.size()).sum();
    if burden + ease <= 0.0 {
        return Draft::abstain("The snapshot holds no sentence that an estimate could rest on.");
    }
    let share = burden / (burden + ease);
    let estimate = estimate(scene, share, against.len());
    let shown = estimate.as_str().map_or_else(|| estimate.to_string(), str::to_owned);
    let most = against.first().map_or_else(
        || "Nothing in the text speaks against it".to_owned(),
        |one| format!("What makes it large for me is {}", quote(one)),
    );
    let reasons: Vec<&Weighed> = against.iter().take(3).chain(for_it.iter().take(1)).copied().collect();
    let held = themes(&reasons, 3);
    let mut draft = Draft {
        ballot: vec![("estimate", estimate)],
        position: format!("I estimate {shown}. {most}."),
        rationale: reasons.iter().map(|one| format!("{} counts into it.", cite(one, scene))).collect(),
        optimizing_for: if held.is_empty() {
            "what the text itself stresses".to_owned()
        } else {
            and_list(&held)
        },
        accepting_as_cost: "an estimate from the text alone, without experience".to_owned(),
        risks: against.iter().take(3).map(|one| quote(one)).collect(),
        suggestions: remedies(&against, &Voice::of(persona), 2),
        ..Draft::default()
    };
    draft.refer(scene, reasons.iter().copied());
    draft.confidence = Some(doubt(0.3 + 0.2 * (share - 0.5).abs(), scene));
    draft.mind_open(scene);
    draft
}

/// The share of what speaks against, on the form's cards or scale.
fn estimate(scene: &Scene, share: f64, against: usize) -> Value {
    if let Some(last) = scene.cards.len().checked_sub(1) {
        let at = (share * last as f64).round() as usize;
        return scene.cards[at.min(last)].as_str().into();
    }
    let number = match scene.scale {
        Some((low, high)) => (low + (high - low) * share).round().clamp(low, high),
        None => 1.0 + against as f64,
    };
    number.to_string().parse::<i64>().map_or_else(|_| number.into(), Value::from)
}
