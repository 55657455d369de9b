//! Approval voting: the option with the most approvals wins.
//!
//! Source: Brams and Fishburn, "Approval Voting", American Political Science Review 72 (1978).

use super::decimal::{Decimal, Score};
use super::profile::{IndexedBallot, Profile};
use super::verdict::Verdict;

/// Counts approvals; a choice approves its one option.
pub fn count(profile: &Profile) -> Verdict {
    let mut approvals = vec![Decimal::ZERO; profile.options.len()];
    for ballot in &profile.ballots {
        let approved = match &ballot.mark {
            IndexedBallot::Approval(options) => options.as_slice(),
            IndexedBallot::Choice(option) => std::slice::from_ref(option),
            _ => &[],
        };
        for option in approved {
            if let Some(own) = approvals.get_mut(*option) {
                *own += ballot.total_weight();
            }
        }
    }
    let scores = approvals.iter().copied().map(Score::from);
    let is_approved = |at: usize| approvals[at] > Decimal::ZERO;
    let compare = |a: usize, b: usize| approvals[a].cmp(&approvals[b]);
    let verdict = Verdict::highest(&profile.options, scores, is_approved, compare);
    let steps = vec![format!("approvals: {}, of {}", verdict.listed(), profile.total_weight())];
    Verdict { steps, ..verdict }
}
