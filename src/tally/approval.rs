//! Approval: the option that most ballots approve of wins.
//!
//! Source: Brams and Fishburn, "Approval Voting", American Political Science Review 72 (1978).

use super::ballots::{Mark, Profile};
use super::number::{Amount, Score};
use super::verdict::{Verdict, leaders, listed};

/// Counts approvals; a choice approves of its one option.
pub fn count(profile: &Profile) -> Verdict {
    let mut approvals = vec![Amount::ZERO; profile.options.len()];
    for ballot in &profile.ballots {
        let approved = match &ballot.mark {
            Mark::Approval(options) => options.as_slice(),
            Mark::Choice(option) => std::slice::from_ref(option),
            _ => &[],
        };
        for option in approved {
            if let Some(own) = approvals.get_mut(*option) {
                *own += ballot.worth();
            }
        }
    }
    let steps = vec![format!("approvals: {}, of {}", listed(&profile.options, &approvals), profile.worth())];
    Verdict::of(&profile.options, &leaders(&approvals), "no ballot approves of an option")
        .scored(&profile.options, approvals.into_iter().map(Score::from))
        .told(steps)
}
