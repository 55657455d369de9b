//! Weighted majority: an option wins whose share of the weight is above the threshold.
//!
//! Source: weighted voting games (Taylor and Zwicker, "Simple Games", 1999), with a strict quota. By
//! weight a ballot counts what its seat weighs; by confidence it counts that times the confidence it
//! states. A ballot that states none is left out of the shares: a missing confidence is no number.

use std::cmp::Ordering;

use super::decimal::Fraction;
use super::first_places::{FirstPlaces, first_places};
use super::profile::{IndexedBallot, Profile};
use super::rule::WeightBasis;
use super::verdict::{Verdict, and_list};

/// Adds up weight or confidence and compares shares with the threshold, strictly.
pub fn count(profile: &Profile, threshold: Option<&Fraction>, by: WeightBasis) -> Verdict {
    let mut steps = Vec::new();
    let weighed = match by {
        WeightBasis::Weight => profile.clone(),
        WeightBasis::Confidence => by_confidence(profile, &mut steps),
    };
    let places = first_places(&weighed);
    let total = places.total();
    let above = |parts: i128| {
        total > 0 && threshold.is_some_and(|share| share.compare(parts, total) == Ordering::Greater)
    };
    let first: Vec<usize> = places.leaders();
    let most = first.first().map_or(0, |option| places.parts[*option]);
    let what = if by == WeightBasis::Weight { "weight" } else { "confidence" };
    let needed = threshold.map_or_else(String::new, ToString::to_string);
    steps.push(format!("{what}: {}", places.listed(&profile.options)));
    steps.extend(places.split_step());
    steps.push(format!("needed: more than {needed} of {}", places.shown(total)));
    let won = if above(most) { first } else { Vec::new() };
    let none = match (total, by) {
        (0, WeightBasis::Confidence) if !profile.ballots.is_empty() => {
            "no ballot states a confidence above 0".to_owned()
        }
        (0, _) => FirstPlaces::no_ballots().to_owned(),
        _ => format!(
            "no weighted majority: {} of {} is the most, more than {needed} is needed",
            places.shown(most),
            places.shown(total)
        ),
    };
    places
        .scored(Verdict::from_winners(&profile.options, &won, &none), &profile.options, what)
        .with_steps(steps)
}

/// The ballots that state a confidence, weighing it; the others are named.
fn by_confidence(profile: &Profile, steps: &mut Vec<String>) -> Profile {
    let mut weighed = profile.clone();
    weighed.ballots.clear();
    let mut silent = Vec::new();
    for ballot in &profile.ballots {
        match ballot.confidence {
            Some(confidence) => {
                let mut counted = ballot.clone();
                counted.weight = ballot.weight.times(confidence);
                if let IndexedBallot::Choice(option) = ballot.mark {
                    let option = profile.options.get(option).map_or("", String::as_str);
                    steps.push(format!("{} puts {option} first with {}", ballot.voter, counted.weight));
                }
                weighed.ballots.push(counted);
            }
            None => silent.push(ballot.voter.clone()),
        }
    }
    if !silent.is_empty() {
        steps.push(format!("no confidence stated, left out of the shares: {}", and_list(&silent)));
    }
    weighed
}
