//! Rules over first places: plurality, majority, supermajority, weighted majority, unanimous.
//!
//! Sources: Robert's Rules of Order Newly Revised (12th ed.), §44:11 "plurality vote"; §44:1 "majority vote",
//! more than half of the votes cast, abstentions excluded; §44:3 "two-thirds vote"; §44:6 n. "unanimous
//! vote", of those who vote; a single ballot is not unanimous. Weighted majority is a weighted voting game
//! (Taylor and Zwicker, "Simple Games", 1999) with a strict quota. Shares compare exactly: 2 of 3 is less
//! than 0.6667.

use std::cmp::Ordering;

use super::decimal::{Decimal, Score};
use super::first_places::{FirstPlaces, first_places};
use super::no_decision::NoDecision;
use super::profile::Profile;
use super::rule::{Rule, RuleOptions};
use super::verdict::Verdict;

pub fn count(profile: &Profile, rule: Rule, terms: &RuleOptions) -> Verdict {
    let places = first_places(profile);
    let (counted, what) = match rule {
        Rule::WeightedMajority => ("weight", "weight"),
        _ => ("ballots", "first places"),
    };
    let mut verdict = places.most_win(&profile.options, what);
    let mut steps = vec![format!("{counted}: {}", verdict.listed())];
    steps.extend(places.split_step());
    let short = match rule {
        _ if places.total() == 0 => None,
        Rule::Majority => majority(&places, verdict.tie, &mut steps),
        Rule::Supermajority | Rule::WeightedMajority => by_share(&places, rule, terms, &mut steps),
        Rule::Unanimous => unanimous(&places, profile.ballot_count()),
        _ => None,
    };
    if short.is_some() {
        (verdict.winners, verdict.tie, verdict.reason) = (Vec::new(), false, short);
    }
    Verdict { steps, ..verdict }
}

/// Requires more than half. Two options with exactly half each tie; a single one has no majority.
fn majority(places: &FirstPlaces, is_tie: bool, steps: &mut Vec<String>) -> Option<NoDecision> {
    let (total, most) = (places.total(), places.most());
    let all = places.to_score(total);
    let (needed, than) = if let Some(whole) = places.whole() {
        ((whole / 2 + 1).to_string(), "")
    } else {
        let half = Score::ratio(total, 2 * places.size.saturating_mul(Decimal::ONE.0));
        (half.to_string(), "more than ")
    };
    steps.push(format!("ballots that name an option: {all}; majority: {than}{needed}"));
    let has_won = 2 * most > total || 2 * most == total && is_tie;
    let (rule, most, more) = (Rule::Majority, places.to_score(most), places.whole().is_none());
    (!has_won).then_some(NoDecision::BelowShare { rule, most, of: all, needed, more })
}

/// Requires a share: a supermajority must reach it, a weighted majority must exceed it.
fn by_share(
    places: &FirstPlaces,
    rule: Rule,
    terms: &RuleOptions,
    steps: &mut Vec<String>,
) -> Option<NoDecision> {
    let threshold = rule.threshold(terms);
    let needed = threshold.as_ref().map_or_else(String::new, ToString::to_string);
    let (total, most) = (places.total(), places.most());
    let stands = threshold.map_or(Ordering::Less, |share| share.compare(most, total));
    let (all, shown) = (places.to_score(total), places.to_score(most));
    let more = rule != Rule::Supermajority;
    let has_won = if more { stands.is_gt() } else { stands.is_ge() };
    steps.push(format!("needed: {} {needed} of {all}", if more { "more than" } else { "at least" }));
    (!has_won).then_some(NoDecision::BelowShare { rule, most: shown, of: all, needed, more })
}

fn unanimous(places: &FirstPlaces, ballots: u64) -> Option<NoDecision> {
    let options = places.parts.iter().filter(|parts| **parts > 0).count();
    if options > 1 {
        let (most, of) = (places.to_score(places.most()), places.to_score(places.total()));
        return Some(NoDecision::NotUnanimous { options, most, of });
    }
    if ballots < 2 {
        return Some(NoDecision::SingleBallot);
    }
    (places.exhausted > Decimal::ZERO).then_some(NoDecision::BallotWithoutOption)
}
