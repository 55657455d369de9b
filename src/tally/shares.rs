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
use super::no_decision::NoDecision;
use super::profile::Profile;
use super::rule::{Rule, RuleOptions};
use super::verdict::Verdict;

/// The options that have won, and why there are none.
type Won = (Vec<usize>, NoDecision);

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
        _ => (places.leaders(), NoDecision::NoBallots),
    };
    let none = if places.total() == 0 { NoDecision::NoBallots } else { none };
    let verdict = Verdict { steps, ..Verdict::from_winners(&profile.options, &won, none) };
    places.scored(verdict, &profile.options, what)
}

/// Two options with exactly half each are a tie; one with exactly half has no majority.
fn majority(places: &FirstPlaces, steps: &mut Vec<String>) -> Won {
    let (total, most, first) = (places.total(), places.most(), places.leaders());
    let all = places.shown(total);
    let needed = if let Some(whole) = places.whole() {
        let needed = whole / 2 + 1;
        steps.push(format!("{whole} ballots name an option; majority: {needed}"));
        needed.to_string()
    } else {
        let half = Score::ratio(total, 2 * places.size.saturating_mul(Decimal::ONE.units()));
        steps.push(format!("ballots that name an option: {all}; majority: more than {half}"));
        half.to_string()
    };
    let has_won = 2 * most > total || 2 * most == total && first.len() > 1;
    let more = places.whole().is_none();
    let none =
        NoDecision::BelowShare { rule: Rule::Majority, most: places.shown(most), of: all, needed, more };
    (if has_won { first } else { Vec::new() }, none)
}

/// A supermajority reaches its share, a weighted majority is above it.
fn by_share(places: &FirstPlaces, rule: Rule, terms: &RuleOptions, steps: &mut Vec<String>) -> Won {
    let threshold = rule.threshold(terms);
    let needed = threshold.as_ref().map_or_else(String::new, ToString::to_string);
    let (total, most) = (places.total(), places.most());
    let stands = threshold.filter(|_| total > 0).map_or(Ordering::Less, |share| share.compare(most, total));
    let (all, shown) = (places.shown(total), places.shown(most));
    let more = rule != Rule::Supermajority;
    let has_won = if more { stands.is_gt() } else { stands.is_ge() };
    steps.push(format!("needed: {} {needed} of {all}", if more { "more than" } else { "at least" }));
    let none = NoDecision::BelowShare { rule, most: shown, of: all, needed, more };
    (if has_won { places.leaders() } else { Vec::new() }, none)
}

fn unanimous(places: &FirstPlaces, ballots: u64) -> Won {
    let named: Vec<usize> = (0..places.parts.len()).filter(|option| places.parts[*option] > 0).collect();
    let none = match named.as_slice() {
        [] => NoDecision::NoBallots,
        [_] if ballots < 2 => NoDecision::SingleBallot,
        [_] if places.exhausted > Decimal::ZERO => NoDecision::BallotWithoutOption,
        [one] => return (vec![*one], NoDecision::NoBallots),
        several => {
            let (most, of) = (places.shown(places.most()), places.shown(places.total()));
            NoDecision::NotUnanimous { options: several.len(), most, of }
        }
    };
    (Vec::new(), none)
}
