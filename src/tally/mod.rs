//! Counting ballots by a rule fixed beforehand: one rule a file, and the steps it took.
//!
//! Pure and exact: decimals and ratios, the order of the form, never the order of a map or of
//! arrival. Quorum and seats are the session's matter; a rule sees valid ballots only.
//! `docs/TALLIES.md` says what each rule does with ties, with what a ballot leaves out and with weights.

mod approval;
mod borda;
mod consent;
mod decimal;
mod file;
mod first_places;
mod irv;
mod majority;
mod median;
mod pairwise;
mod plurality;
mod profile;
mod rule;
mod schulze;
mod score;
mod supermajority;
mod tier;
mod unanimous;
mod verdict;
mod weighted_majority;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use decimal::{Decimal, Fraction, Score};
pub use file::{BallotFile, read_ballots};
pub use profile::{CountableKind, IndexedBallot, Profile, UNLISTED, WeightedBallot};
pub use rule::{BallotSupport, Rule, RuleOptions};
pub use tier::Tier;
pub use verdict::{Elimination, Quartiles, Ties, Trace, Verdict, and_list, seeded_winner};

/// Counts the ballots by a rule; the steps begin with how ballots count, where not as one each.
pub fn count(profile: &Profile, rule: Rule, terms: &RuleOptions) -> Verdict {
    let mut verdict = match rule {
        Rule::Plurality => plurality::count(profile),
        Rule::Majority => majority::count(profile),
        Rule::Supermajority => supermajority::count(profile, rule.threshold(terms).as_ref()),
        Rule::Unanimous => unanimous::count(profile),
        Rule::WeightedMajority => weighted_majority::count(profile, rule.threshold(terms).as_ref()),
        Rule::Consent => return consent::count(profile),
        Rule::Approval => approval::count(profile),
        Rule::Score => score::count(profile),
        Rule::Borda => borda::count(profile),
        Rule::Irv => irv::count(profile),
        Rule::Schulze => schulze::count(profile),
        Rule::Median => median::count(profile),
    };
    let steps = profile.weights_step().into_iter().chain(profile.own_step());
    verdict.steps.splice(0..0, steps);
    verdict
}
