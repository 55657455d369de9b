//! Vote counting by a rule fixed beforehand, with the steps of the count.
//!
//! Pure and exact: decimals and ratios, in form order, never in map or arrival order. Rules see only valid
//! ballots; quorum and seats belong to the session. `docs/TALLIES.md` describes each rule's ties, omissions and
//! weights.

mod approval;
mod borda;
mod consent;
mod decimal;
mod file;
mod first_places;
mod irv;
mod median;
mod no_decision;
mod pairwise;
mod profile;
mod rule;
mod schulze;
mod score;
mod shares;
mod strength;
mod verdict;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use decimal::{Decimal, Fraction, Score};
pub use file::{BallotFile, MOST_OPTIONS, read_ballots};
pub use no_decision::{NoDecision, Shortfall, and_list};
pub use profile::{CountableKind, IndexedBallot, Profile, UNLISTED, WeightedBallot};
pub use rule::{BallotSupport, Choose, Rule, RuleOptions};
pub use strength::{Backing, Deed, Tier, WeakBecause};
pub use verdict::{Elimination, Quartiles, Settled, Ties, Trace, Verdict, leading, seeded_winner};

/// Counts the ballots by a rule. The first steps explain weights and own options, if any.
pub fn count(profile: &Profile, rule: Rule, terms: &RuleOptions) -> Verdict {
    let mut verdict = match rule {
        Rule::Plurality | Rule::Majority | Rule::Supermajority | Rule::Unanimous | Rule::WeightedMajority => {
            shares::count(profile, rule, terms)
        }
        Rule::Consent => return consent::count(profile),
        Rule::Approval => approval::count(profile),
        Rule::Score => score::count(profile),
        Rule::Borda => borda::count(profile),
        Rule::Irv => irv::count(profile),
        Rule::Schulze => schulze::count(profile),
        Rule::Median => median::count(profile),
    };
    if let Some(choose) = terms.choose {
        let asked = profile.asked.unwrap_or_else(|| profile.total_weight());
        verdict.choose(choose, asked, |option| profile.scores(option));
    }
    let steps = profile.weights_step().into_iter().chain(profile.own_step());
    verdict.steps.splice(0..0, steps);
    verdict
}
