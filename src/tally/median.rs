//! Median of estimates, with quartiles and interquartile range.
//!
//! Source: quantiles by the inverse of the distribution with means at its steps, definition 2 of Hyndman
//! and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996). Cards
//! have an order but no distances, so two middle cards tie and have no mean.

use indexmap::IndexMap;

use super::decimal::{Decimal, Score};
use super::no_decision::NoDecision;
use super::profile::{IndexedBallot, Profile};
use super::verdict::{Quartiles, Trace, Verdict};

/// Neighboring values around a quantile; equal if the quantile is a value.
type Between = (Decimal, Decimal);

/// Returns the values around the point below which `quarters` quarters of the weight lie. They differ only if
/// that share ends exactly between two values. `values` must be sorted.
fn quantile(values: &[(Decimal, Decimal)], quarters: i128) -> Option<Between> {
    let total: Decimal = values.iter().map(|(_, worth)| *worth).sum();
    let wanted = total.0 * quarters;
    let mut below = 0;
    let mut heavy = values.iter().filter(|(_, worth)| worth.0 > 0);
    while let Some((value, worth)) = heavy.next() {
        below += worth.0 * 4;
        if below >= wanted {
            let next = heavy.next().filter(|_| below == wanted);
            return Some((*value, next.map_or(*value, |(next, _)| *next)));
        }
    }
    None
}

/// Finds the median; the winner is the value, or the two cards around it.
pub fn count(profile: &Profile) -> Verdict {
    median_verdict(profile).unwrap_or_else(|| Verdict::from_winners(&[], &[], NoDecision::NoEstimates))
}

fn median_verdict(profile: &Profile) -> Option<Verdict> {
    let cards = &profile.options;
    // The value of a card is its index.
    let name = |value: Decimal| match cards.get(value.to_string().parse().unwrap_or(usize::MAX)) {
        Some(card) => card.clone(),
        None => value.to_string(),
    };
    let between = |(low, high): Between| {
        if low == high {
            name(low)
        } else if cards.is_empty() {
            low.midpoint(high).to_string()
        } else {
            format!("{}–{}", name(low), name(high))
        }
    };
    let value = |mark: &IndexedBallot| match mark {
        IndexedBallot::Number(number) => Some(*number),
        IndexedBallot::Card(card) => Some(Decimal::whole(*card as u64)),
        _ => None,
    };
    let values =
        profile.ballots.iter().filter_map(|ballot| Some((value(&ballot.mark)?, ballot.total_weight())));
    let mut values: Vec<(Decimal, Decimal)> = values.collect();
    values.sort_unstable_by_key(|(value, _)| *value);
    let (first, median, third) = (quantile(&values, 1)?, quantile(&values, 2)?, quantile(&values, 3)?);
    let middle = |(low, high): Between| low.midpoint(high).0;
    let mut given: IndexMap<String, Decimal> = IndexMap::new();
    for (value, worth) in &values {
        *given.entry(name(*value)).or_default() += *worth;
    }
    let spread = Quartiles {
        lowest: name(values.first()?.0),
        first_quartile: between(first),
        median: between(median),
        third_quartile: between(third),
        highest: name(values.last()?.0),
        iqr: Score::from(Decimal(middle(third) - middle(first))),
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
    let is_between_cards = median.0 != median.1 && !cards.is_empty();
    let winners =
        if is_between_cards { vec![name(median.0), name(median.1)] } else { vec![spread.median.clone()] };
    let level: Vec<usize> = (0..winners.len()).collect();
    let (scores, trace) = (spread.values.clone(), Trace { spread: Some(spread), ..Trace::default() });
    let verdict = Verdict::from_winners(&winners, &level, NoDecision::NoEstimates);
    Some(Verdict { steps, scores, trace: Some(Box::new(trace)), ..verdict })
}
