//! Majority judgment: the option with the highest median grade wins; of those that are level the median
//! grade is taken away once from each, again and again, until they differ.
//!
//! Source: M. Balinski and R. Laraki, "Majority Judgment: Measuring, Ranking, and Electing" (MIT Press,
//! 2010). Between two middle grades the lower one is the median. Who does not grade an option gives it the
//! lowest grade.

use std::cmp::Ordering;

use indexmap::IndexMap;

use super::decimal::{Decimal, Score};
use super::first_places::gcd;
use super::profile::{IndexedBallot, Profile};
use super::verdict::{Trace, Verdict};

/// A grade; nothing is below every number.
type Grade = Option<Decimal>;

/// An option's median grades in the order in which they are taken away, equal ones together.
type Medians = Vec<((Grade, Grade), i128)>;

/// Compares the grades of all options.
pub fn count(profile: &Profile) -> Verdict {
    let names = &profile.options;
    let unit = profile.ballots.iter().map(|ballot| ballot.total_weight().units()).fold(0, gcd);
    let graded: Vec<Vec<(Grade, i128)>> = (0..names.len()).map(|at| grades(profile, at, unit)).collect();
    if unit == 0 || graded.is_empty() {
        return Verdict::from_winners(names, &[], "no ballot grades an option").with_steps(Vec::new());
    }
    let medians: Vec<Medians> = graded.iter().map(|grades| medians(grades)).collect();
    let best = (0..names.len()).max_by(|a, b| compare(&medians[*a], &medians[*b]));
    let won: Vec<usize> = (0..names.len())
        .filter(|at| best.is_some_and(|best| compare(&medians[*at], &medians[best]).is_eq()))
        .collect();
    let first = |at: usize| medians[at].first().and_then(|((grade, _), _)| *grade);
    let mut steps = Vec::new();
    let mut table: IndexMap<String, IndexMap<String, Score>> = IndexMap::new();
    for (at, name) in names.iter().enumerate() {
        let weight = |count: i128| Decimal::of_units(count * unit);
        let row = graded[at].iter().rev();
        let line: Vec<String> =
            row.clone().map(|(grade, count)| format!("{} × {}", shown(*grade), weight(*count))).collect();
        steps.push(format!("{name}: {}; median {}", line.join(", "), shown(first(at))));
        let row = row.map(|(grade, count)| (shown(*grade), Score::from(weight(*count))));
        table.insert(name.clone(), row.collect());
    }
    steps.extend(how_level(names, &medians));
    Verdict::from_winners(names, &won, "no ballot grades an option")
        .scored(names, (0..names.len()).map(|at| Score::from(first(at).unwrap_or_default())))
        .with_steps(steps)
        .with_trace(Trace { grades: table, ..Trace::default() })
        .ordered(names, |a, b| compare(&medians[b], &medians[a]))
}

/// An option's grades, lowest first, with how many units each has.
fn grades(profile: &Profile, option: usize, unit: i128) -> Vec<(Grade, i128)> {
    let mut given: Vec<(Grade, i128)> = profile
        .ballots
        .iter()
        .filter_map(|ballot| {
            let IndexedBallot::Scores(scores) = &ballot.mark else { return None };
            let grade = scores.get(option).copied().flatten().or(profile.lowest);
            Some((grade, ballot.total_weight().units() / unit.max(1)))
        })
        .collect();
    given.sort_unstable();
    given.dedup_by(|next, kept| {
        let is_alike = next.0 == kept.0;
        if is_alike {
            kept.1 += next.1;
        }
        is_alike
    });
    given
}

/// The median grades as they are taken away: from the middle outwards, the lower one first.
fn medians(grades: &[(Grade, i128)]) -> Medians {
    let total: i128 = grades.iter().map(|(_, count)| count).sum();
    let lower_part = (total + 1) / 2;
    let (mut below, mut above, mut seen) = (Vec::new(), Vec::new(), 0);
    for (grade, count) in grades {
        let low = (lower_part - seen).clamp(0, *count);
        seen += count;
        below.extend((low > 0).then_some((*grade, low)));
        above.extend((*count > low).then_some((*grade, count - low)));
    }
    below.reverse();
    let mut out: Medians = Vec::new();
    // With an odd number the lower part has one more, which is the first median of all.
    if total % 2 == 1
        && let Some((grade, count)) = below.first_mut()
    {
        out.push(((*grade, *grade), 1));
        *count -= 1;
    }
    let (mut lows, mut highs) = (below.into_iter().filter(|(_, count)| *count > 0), above.into_iter());
    let (mut low, mut high) = (lows.next(), highs.next());
    while let (Some((low_grade, low_count)), Some((high_grade, high_count))) = (low, high) {
        let times = low_count.min(high_count);
        out.push(((low_grade, high_grade), times));
        low = if low_count > times { Some((low_grade, low_count - times)) } else { lows.next() };
        high = if high_count > times { Some((high_grade, high_count - times)) } else { highs.next() };
    }
    out
}

/// Compares two options' medians in the order in which they are taken away.
fn compare(one: &Medians, other: &Medians) -> Ordering {
    let (mut left, mut right) = (one.iter().copied(), other.iter().copied());
    let (mut a, mut b) = (left.next(), right.next());
    while let (Some((grade_a, count_a)), Some((grade_b, count_b))) = (a, b) {
        match grade_a.cmp(&grade_b) {
            Ordering::Equal => {}
            different => return different,
        }
        let times = count_a.min(count_b);
        a = if count_a > times { Some((grade_a, count_a - times)) } else { left.next() };
        b = if count_b > times { Some((grade_b, count_b - times)) } else { right.next() };
    }
    Ordering::Equal
}

/// Says after how many medians taken away the options with the highest one differ.
fn how_level(names: &[String], medians: &[Medians]) -> Option<String> {
    let first = |at: usize| medians[at].first().map(|((low, _), _)| *low);
    let best = (0..names.len()).filter_map(first).max();
    let level: Vec<&String> = (0..names.len()).filter(|at| first(*at) == best).map(|at| &names[at]).collect();
    (level.len() > 1).then(|| {
        let names: Vec<String> = level.into_iter().cloned().collect();
        let names = super::verdict::and_list(&names);
        format!("{names} have the same median: remove one median grade from each until they differ")
    })
}

fn shown(grade: Grade) -> String {
    grade.map_or_else(|| "no grade".to_owned(), |grade| grade.to_string())
}
