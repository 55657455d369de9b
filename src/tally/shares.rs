//! The rules over first places: plurality, majority, supermajority, weighted majority, unanimous.
//!
//! Sources: Robert's Rules of Order Newly Revised (12th ed.), §44:11 "plurality vote"; §44:1 "majority vote",
//! more than half of the votes cast, abstentions excluded; §44:3 "two-thirds vote"; §44:6 n. "unanimous
//! vote", of those who vote: one ballot alone agrees with nobody. Weighted majority is a weighted voting game
//! (Taylor and Zwicker, "Simple Games", 1999) with a strict quota. Shares compare exactly: 2 of 3 is less
//! than 0.6667.

use std::cmp::Ordering;

use super::decimal::{Decimal, Score};
use super::first_places::{FirstPlaces, first_places};
use super::profile::Profile;
use super::rule::{Rule, RuleOptions};
use super::verdict::Verdict;

/// The options that have won, and why there are none.
type Won = (Vec<usize>, String);

pub fn count(profile: &Profile, rule: Rule, terms: &RuleOptions) -> Verdict {
    let places = first_places(profile);
    let (counted, what) = match rule {
        Rule::WeightedMajority => ("weight", "weight"),
        _ => ("ballots", "first places"),
    };
    let mut steps = vec![format!("{counted}: {}", places.listed(&profile.options))];
    steps.extend(places.split_step());
    let (won, none) = match rule {
        Rule::Majority => majority(&places, &mut steps),
        Rule::Supermajority | Rule::WeightedMajority => by_share(&places, rule, terms, &mut steps),
        Rule::Unanimous => unanimous(&places, profile.ballot_count()),
        _ => (places.leaders(), String::new()),
    };
    let none = if places.total() == 0 { "no ballot names an option" } else { &none };
    let verdict = Verdict::from_winners(&profile.options, &won, none);
    places.scored(verdict, &profile.options, what).with_steps(steps)
}

/// Two options with exactly half each are a tie; one with exactly half has no majority.
fn majority(places: &FirstPlaces, steps: &mut Vec<String>) -> Won {
    let (total, most, first) = (places.total(), places.most(), places.leaders());
    let all = places.shown(total);
    let needed = if let Some(whole) = places.whole() {
        let needed = whole / 2 + 1;
        steps.push(format!("{whole} ballots name an option; majority: {needed}"));
        format!("{needed} are needed")
    } else {
        let half = Score::ratio(total, 2 * places.size.saturating_mul(Decimal::ONE.units()));
        steps.push(format!("ballots that name an option: {all}; majority: more than {half}"));
        format!("more than {half} is needed")
    };
    let has_won = 2 * most > total || 2 * most == total && first.len() > 1;
    let none = format!("no majority: {} of {all} is the most, {needed}", places.shown(most));
    (if has_won { first } else { Vec::new() }, none)
}

/// A supermajority reaches its share, a weighted majority is above it.
fn by_share(places: &FirstPlaces, rule: Rule, terms: &RuleOptions, steps: &mut Vec<String>) -> Won {
    let threshold = rule.threshold(terms);
    let needed = threshold.as_ref().map_or_else(String::new, ToString::to_string);
    let (total, most) = (places.total(), places.most());
    let stands = threshold.filter(|_| total > 0).map_or(Ordering::Less, |share| share.compare(most, total));
    let (all, shown) = (places.shown(total), places.shown(most));
    let (has_won, least, none) = if rule == Rule::Supermajority {
        let none = format!("no supermajority: {shown} of {all} is the most, {needed} is needed");
        (stands.is_ge(), "at least", none)
    } else {
        let none =
            format!("no weighted majority: {shown} of {all} is the most, more than {needed} is needed");
        (stands.is_gt(), "more than", none)
    };
    steps.push(format!("needed: {least} {needed} of {all}"));
    (if has_won { places.leaders() } else { Vec::new() }, none)
}

fn unanimous(places: &FirstPlaces, ballots: u64) -> Won {
    let named: Vec<usize> = (0..places.parts.len()).filter(|option| places.parts[*option] > 0).collect();
    let none = match named.as_slice() {
        [] => String::new(),
        [_] if ballots < 2 => "a single ballot is not unanimity".to_owned(),
        [_] if places.exhausted > Decimal::ZERO => "not unanimous: a ballot names no option".to_owned(),
        [one] => return (vec![*one], String::new()),
        several => {
            let (most, total) = (places.shown(places.most()), places.shown(places.total()));
            format!("not unanimous: {} options are named, the first has {most} of {total}", several.len())
        }
    };
    (Vec::new(), none)
}
