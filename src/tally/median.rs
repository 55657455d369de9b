//! The median of estimates, with quartiles and the range between them.
//!
//! Source: quantiles by the inverse of the distribution with means at its steps, definition 2 of Hyndman
//! and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996). Cards
//! have an order and no distances: two middle cards are level instead of having a mean.

use indexmap::IndexMap;

use super::decimal::{Decimal, Score};
use super::no_decision::NoDecision;
use super::profile::{IndexedBallot, Profile};
use super::verdict::{Quartiles, Trace, Verdict};

/// The two values around the place where the share `top / bottom` of the weight lies below: the same
/// one twice, unless the share ends exactly between two. Sorts what it is given.
pub fn middle<T: Ord + Copy>(values: &mut [(T, Decimal)], top: i128, bottom: i128) -> Option<(T, T)> {
    values.sort_unstable_by_key(|(value, _)| *value);
    let total: Decimal = values.iter().map(|(_, worth)| *worth).sum();
    let mut below = 0;
    for (at, (value, worth)) in values.iter().enumerate() {
        below += worth.units() * bottom;
        if worth.units() > 0 && below >= total.units() * top {
            let ends_here = below == total.units() * top;
            let next = values[at + 1..].iter().find(|(_, worth)| ends_here && worth.units() > 0);
            return Some((*value, next.map_or(*value, |(next, _)| *next)));
        }
    }
    None
}

/// Finds the median; the winner is the value, or the two cards it lies between.
pub fn count(profile: &Profile) -> Verdict {
    let none = || Verdict::from_winners(&[], &[], NoDecision::NoEstimates);
    if profile.options.is_empty() {
        let number = |mark: &IndexedBallot| {
            if let IndexedBallot::Number(number) = mark { Some(*number) } else { None }
        };
        let scale = ValueScale {
            name: &|value: Decimal| value.to_string(),
            between: &|low: Decimal, high: Decimal| low.midpoint(high).to_string(),
            apart: &|low: (Decimal, Decimal), high: (Decimal, Decimal)| {
                Score::from(high.0.midpoint(high.1) - low.0.midpoint(low.1))
            },
        };
        return found(values(profile, number), &scale, |low, high| vec![low.midpoint(high).to_string()])
            .unwrap_or_else(none);
    }
    let cards = &profile.options;
    let name = |card: usize| cards.get(card).cloned().unwrap_or_default();
    let card = |mark: &IndexedBallot| if let IndexedBallot::Card(card) = mark { Some(*card) } else { None };
    let scale = ValueScale {
        name: &name,
        between: &|low, high| if low == high { name(low) } else { format!("{}–{}", name(low), name(high)) },
        apart: &|low: (usize, usize), high: (usize, usize)| {
            Score::ratio((high.0 + high.1) as i128 - (low.0 + low.1) as i128, 2)
        },
    };
    let both = |low, high| if low == high { vec![name(low)] } else { vec![name(low), name(high)] };
    found(values(profile, card), &scale, both).unwrap_or_else(none)
}

struct ValueScale<'a, T> {
    name: &'a dyn Fn(T) -> String,
    between: &'a dyn Fn(T, T) -> String,
    apart: &'a dyn Fn((T, T), (T, T)) -> Score,
}

fn values<T>(profile: &Profile, value: impl Fn(&IndexedBallot) -> Option<T>) -> Vec<(T, Decimal)> {
    profile.ballots.iter().filter_map(|ballot| Some((value(&ballot.mark)?, ballot.total_weight()))).collect()
}

fn found<T: Ord + Copy>(
    mut values: Vec<(T, Decimal)>,
    scale: &ValueScale<'_, T>,
    won: impl Fn(T, T) -> Vec<String>,
) -> Option<Verdict> {
    let first = middle(&mut values, 1, 4)?;
    let median = middle(&mut values, 1, 2)?;
    let third = middle(&mut values, 3, 4)?;
    let mut given: IndexMap<String, Decimal> = IndexMap::new();
    for (value, worth) in &values {
        *given.entry((scale.name)(*value)).or_default() += *worth;
    }
    let between = |(low, high)| (scale.between)(low, high);
    let spread = Quartiles {
        lowest: (scale.name)(values.first()?.0),
        first_quartile: between(first),
        median: between(median),
        third_quartile: between(third),
        highest: (scale.name)(values.last()?.0),
        iqr: (scale.apart)(first, third),
        values: given.iter().map(|(value, worth)| (value.clone(), Score::from(*worth))).collect(),
    };
    let in_order: Vec<String> = given.iter().map(|(value, worth)| format!("{value} × {worth}")).collect();
    let steps = vec![
        format!("in order: {}", in_order.join(", ")),
        format!(
            "median {}, quartiles {} and {}, interquartile range {}",
            spread.median, spread.first_quartile, spread.third_quartile, spread.iqr
        ),
    ];
    let winners = won(median.0, median.1);
    let level: Vec<usize> = (0..winners.len()).collect();
    let mut verdict = Verdict::from_winners(&winners, &level, NoDecision::NoEstimates).with_steps(steps);
    verdict.scores.clone_from(&spread.values);
    Some(verdict.with_trace(Trace { spread: Some(spread), ..Trace::default() }))
}
