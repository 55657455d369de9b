//! Approval: the option that most ballots approve of wins.
//!
//! Source: Brams and Fishburn, "Approval Voting", American Political Science Review 72 (1978).

use super::decimal::{Decimal, Score};
use super::no_decision::NoDecision;
use super::profile::{IndexedBallot, Profile};
use super::verdict::{Verdict, leaders, listed};

/// Counts approvals; a choice approves of its one option.
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
    let won = leaders(&approvals);
    let mut verdict = Verdict::from_winners(&profile.options, &won, NoDecision::NoBallots)
        .scored(&profile.options, approvals.iter().copied().map(Score::from));
    let counts = listed(&profile.options, &approvals);
    verdict.steps.push(format!("approvals: {counts}, of {}", profile.total_weight()));
    if won.is_empty() {
        return verdict;
    }
    verdict.ordered(&profile.options, |a, b| approvals[b].cmp(&approvals[a]))
}
