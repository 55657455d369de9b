//! Consent: a proposal passes if nobody blocks it, even if every voter stands aside.
//!
//! Source: the consensus process of "On Conflict and Consensus" (Butler and Rothstein, 1987):
//! agreement, standing aside, blocking. A block counts with or without a minimum change. A reply that may be
//! a block also stops the proposal. Weights have no effect.

use super::decimal::Score;
use super::no_decision::NoDecision;
use super::profile::{IndexedBallot, Profile};
use super::verdict::Verdict;

/// Counts stances; a passed proposal has the winner `support`.
pub fn count(profile: &Profile) -> Verdict {
    let (mut support, mut aside, mut blocks) = (0, 0, 0);
    let (mut lines, mut blockers): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for ballot in &profile.ballots {
        match &ballot.mark {
            IndexedBallot::Support => support += ballot.count,
            IndexedBallot::StandAside => aside += ballot.count,
            IndexedBallot::Block(change) => {
                blocks += ballot.count;
                lines.push(match change {
                    Some(change) => format!("{} blocks; required change: {change}", ballot.voter),
                    None => format!("{}: block (no change stated)", ballot.voter),
                });
                blockers.push(ballot.voter.clone());
            }
            _ => {}
        }
    }
    let doubts = profile.may_block.len();
    if doubts > 0 {
        lines.push(format!("no valid answer, and it may be a block: {}", profile.may_block.join(", ")));
    }
    let mut steps = vec![format!("support {support}, stand-aside {aside}, block {blocks}")];
    steps.append(&mut lines);
    let reason = if blocks > 0 {
        Some(NoDecision::Blocked(blockers))
    } else if doubts > 0 {
        Some(NoDecision::MayBlock(doubts))
    } else if support == 0 && aside == 0 {
        Some(NoDecision::NoSupport)
    } else {
        None
    };
    let winners = if reason.is_none() { vec!["support".to_owned()] } else { Vec::new() };
    let names = ["support", "stand-aside", "block"].map(str::to_owned);
    let verdict = Verdict { winners, steps, reason, ..Verdict::default() };
    verdict.scored(&names, [support, aside, blocks].map(Score::from))
}
