//! Estimates as a strip: a mark a ballot above the scale, the median and the quartiles on it.
//!
//! A picture only: places are rounded to columns, the legend has the numbers as they were counted.

use unicode_width::UnicodeWidthStr as _;

use super::heatmap::cut;
use crate::ballot::BallotForm;
use crate::sanitize::harmless_line;
use crate::tally::{Decimal, IndexedBallot, Profile, Quartiles, Verdict};

/// How wide the scale of a strip of numbers is.
const STRIP: usize = 49;

/// How high marks are stacked before one stands for several ballots.
const STACK: usize = 8;

/// The strip of a round's estimates, over its form's scale or cards; none without estimates.
pub fn estimates(ballots: &Profile, form: &BallotForm, verdict: &Verdict) -> Vec<String> {
    let Some(spread) = verdict.trace.as_ref().and_then(|trace| trace.spread.as_ref()) else {
        return Vec::new();
    };
    if form.cards.is_empty() { numbers(ballots, form, spread) } else { cards(ballots, &form.cards, spread) }
}

fn numbers(ballots: &Profile, form: &BallotForm, spread: &Quartiles) -> Vec<String> {
    let given = ballots
        .ballots
        .iter()
        .filter_map(|cast| if let IndexedBallot::Number(number) = cast.mark { Some(number) } else { None });
    let given: Vec<Decimal> = given.collect();
    let bound = |bound: &Option<serde_json::Number>| bound.as_ref().and_then(Decimal::from_json);
    let (Some(low), Some(high)) =
        (bound(&form.min).or(given.iter().min().copied()), bound(&form.max).or(given.iter().max().copied()))
    else {
        return Vec::new();
    };
    let at = |number: Decimal| {
        let (part, whole) = ((number - low).units() as f64, (high - low).units() as f64);
        let share = if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.5 };
        (share * (STRIP - 1) as f64).round() as usize
    };
    let place = |text: &str| Decimal::parse_cut(text).map(at);
    let marks: Vec<usize> = given.iter().map(|number| at(*number)).collect();
    let (low, high) = (low.to_string(), high.to_string());
    let gap = STRIP.saturating_sub(high.chars().count());
    let ends = if low == high { format!("{low:^STRIP$}") } else { format!("{low:<gap$}{high}") };
    strip(&marks, STRIP, place, spread, &ends)
}

fn cards(ballots: &Profile, cards: &[String], spread: &Quartiles) -> Vec<String> {
    let labels: Vec<String> = cards.iter().map(|card| cut(&harmless_line(card))).collect();
    let wide = labels.iter().map(|label| label.width()).max().unwrap_or(1) + 3;
    let at = |card: usize| card * wide + wide / 2;
    let given = ballots
        .ballots
        .iter()
        .filter_map(|cast| if let IndexedBallot::Card(card) = cast.mark { Some(at(card)) } else { None });
    let marks: Vec<usize> = given.collect();
    let place = |text: &str| {
        let one = cards.iter().position(|card| card == text).map(at);
        one.or_else(|| {
            let pairs = (0..cards.len()).flat_map(|low| (low + 1..cards.len()).map(move |high| (low, high)));
            let mut level = pairs.filter(|(low, high)| format!("{}–{}", cards[*low], cards[*high]) == text);
            level.next().map(|(low, high)| usize::midpoint(at(low), at(high)))
        })
    };
    let named = labels.iter().fold(String::new(), |line, label| {
        let before = (wide / 2).saturating_sub(label.width() / 2);
        let after = wide.saturating_sub(before + label.width());
        format!("{line}{}{label}{}", " ".repeat(before), " ".repeat(after))
    });
    strip(&marks, cards.len() * wide, place, spread, &named)
}

/// Marks stacked over their places, then the scale with what lies on it, then its names and a legend.
fn strip(
    marks: &[usize],
    width: usize,
    place: impl Fn(&str) -> Option<usize>,
    spread: &Quartiles,
    names: &str,
) -> Vec<String> {
    let mut stacks = vec![0_usize; width];
    for mark in marks {
        if let Some(stack) = stacks.get_mut(*mark) {
            *stack += 1;
        }
    }
    let highest = stacks.iter().max().copied().unwrap_or(0);
    let each = highest.div_ceil(STACK).max(1);
    let row = |level: usize| {
        stacks.iter().map(|stack| if stack.div_ceil(each) > level { '●' } else { ' ' }).collect::<String>()
    };
    let mut lines: Vec<String> = (0..highest.div_ceil(each)).rev().map(row).collect();
    let mut scale = vec!['─'; width];
    let (first, third) = (place(&spread.first_quartile), place(&spread.third_quartile));
    if let (Some(first), Some(third)) = (first, third) {
        scale.iter_mut().take(third + 1).skip(first).for_each(|cell| *cell = '═');
    }
    for (at, sign) in [(first, '['), (third, ']'), (place(&spread.median), '┃')] {
        if let Some(cell) = at.and_then(|at| scale.get_mut(at)) {
            *cell = sign;
        }
    }
    lines.push(scale.into_iter().collect());
    lines.push(names.to_owned());
    let what = if each == 1 { "● a ballot".to_owned() } else { format!("● up to {each} ballots") };
    lines.push(format!(
        "{what}, ┃ the median {}, [ ] the quartiles {} and {}",
        harmless_line(&spread.median),
        harmless_line(&spread.first_quartile),
        harmless_line(&spread.third_quartile)
    ));
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::BallotKind;
    use crate::tally::{Rule, RuleOptions, WeightedBallot, count};

    fn estimated(cards: &[&str], bounds: Option<(u64, u64)>, values: &[&str]) -> Vec<String> {
        let mark = |value: &&str| match cards.iter().position(|card| card == value) {
            Some(card) => IndexedBallot::Card(card),
            None => IndexedBallot::Number(Decimal::parse(value).unwrap()),
        };
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let ballots = values.iter().map(|value| WeightedBallot::one("p", mark(value))).collect();
        let ballots = Profile { options: owned(cards), ballots, ..Profile::default() };
        let (min, max) = bounds.map(|(min, max)| (min.into(), max.into())).unzip();
        let form = BallotForm {
            min,
            max,
            cards: owned(cards),
            ..BallotForm::over(BallotKind::Estimate, Vec::new())
        };
        estimates(&ballots, &form, &count(&ballots, Rule::Median, &RuleOptions::default()))
    }

    #[test]
    fn numbers_are_a_strip_with_median_and_quartiles() {
        for (bounds, values, expected) in [
            (
                None,
                &["1", "2", "2", "3", "9"][..],
                &[
                    "      ●",
                    "●     ●     ●                                   ●",
                    "──────┃═════]────────────────────────────────────",
                    "1                                               9",
                    "● a ballot, ┃ the median 2, [ ] the quartiles 2 and 3",
                ][..],
            ),
            (
                Some((0, 100)),
                &["20", "40", "40.5", "60"],
                &[
                    "                   ●",
                    "          ●        ●         ●",
                    "──────────────[════┃════]────────────────────────",
                    "0                                             100",
                    "● a ballot, ┃ the median 40.25, [ ] the quartiles 30 and 50.25",
                ],
            ),
            (
                None,
                &["7", "7"],
                &[
                    "                        ●",
                    "                        ●",
                    "────────────────────────┃────────────────────────",
                    "                        7",
                    "● a ballot, ┃ the median 7, [ ] the quartiles 7 and 7",
                ],
            ),
        ] {
            assert_eq!(estimated(&[], bounds, values), expected, "{values:?}");
        }
    }

    #[test]
    fn cards_are_a_strip_with_level_medians_between_two() {
        for (cards, values, expected) in [
            (
                &["1", "2", "3", "5", "8", "13"][..],
                &["3", "5", "8", "13"][..],
                &[
                    "            ●    ●    ●    ●",
                    "──────────────[════┃════]─────",
                    "  1    2    3    5    8   13",
                    "● a ballot, ┃ the median 5–8, [ ] the quartiles 3–5 and 8–13",
                ][..],
            ),
            (
                &["S", "M", "L"],
                &["M"],
                &[
                    "      ●",
                    "──────┃─────",
                    "  S   M   L",
                    "● a ballot, ┃ the median M, [ ] the quartiles M and M",
                ],
            ),
        ] {
            assert_eq!(estimated(cards, None, values), expected, "{values:?}");
        }
    }

    #[test]
    fn a_high_stack_has_marks_for_several_ballots_and_none_has_no_strip() {
        let many = ["5"; 20];
        let drawn = estimated(&[], None, &many);
        assert!(drawn.last().unwrap().starts_with("● up to 3 ballots, ┃ the median 5,"), "{drawn:?}");
        assert_eq!(drawn.concat().matches('●').count(), 7 + 1);
        assert_eq!(estimated(&[], None, &[]), [""; 0]);
    }
}
