//! Ballot files: every suitable rule counts a valid file, within limits.
//!
//! Names of options, and the order of options and ballots, do not matter.

use roundtable::insight::counts::{WhatIf, rules_for};
use roundtable::tally::{IndexedBallot, Profile, RuleOptions, Verdict, read_ballots, seeded_winner};

use super::{choose, text};

const FILES: [&str; 2] = ["b.yaml", "b.csv"];

/// Reads any text as a ballot file; the first byte selects the format.
pub fn ballots(data: &[u8]) {
    let (which, data) = choose(data);
    let text = text(data);
    let read = match read_ballots(text, FILES[which % FILES.len()]) {
        Ok(read) => read,
        Err(problems) => {
            assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()));
            return;
        }
    };
    // Rules with pairs take time by the square and cube of the options.
    if read.profile.options.len() > 12 || read.profile.ballots.len() > 60 {
        return;
    }
    for rule in rules_for(read.kind) {
        let terms = RuleOptions::default();
        let counted =
            |profile: &Profile| WhatIf::count(profile, read.kind, rule, &terms).map(|found| found.verdict);
        let Ok(verdict) = counted(&read.profile) else { continue };
        holds(&read.profile, &verdict, rule.name());
        let mut turned = read.profile.clone();
        turned.ballots.reverse();
        let again = counted(&turned).expect("counted before");
        assert_eq!(again.winners, verdict.winners, "{}: ballots in another order", rule.name());
        let Some(turned) = with_options_turned(&read.profile) else { continue };
        let again = counted(&turned).expect("counted before");
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        assert_eq!(again.tie, verdict.tie, "{}: options in another order", rule.name());
        assert_eq!(sorted(again.winners), sorted(verdict.winners), "{}: options turned", rule.name());
    }
}

/// Reverses the options of the ballots; `None` for estimates, whose options have a fixed order.
fn with_options_turned(profile: &Profile) -> Option<Profile> {
    let mut turned = profile.clone();
    turned.options.reverse();
    let last = turned.options.len().checked_sub(1)?;
    for cast in &mut turned.ballots {
        match &mut cast.mark {
            IndexedBallot::Choice(option) => *option = last - *option,
            IndexedBallot::Approval(options) => {
                for option in options {
                    *option = last - *option;
                }
            }
            IndexedBallot::Ranking(ranks) => ranks.reverse(),
            IndexedBallot::Scores(scores) => scores.reverse(),
            _ => return None,
        }
    }
    Some(turned)
}

fn holds(profile: &Profile, verdict: &Verdict, rule: &str) {
    let names_options = |mark: &IndexedBallot| {
        matches!(
            mark,
            IndexedBallot::Choice(_)
                | IndexedBallot::Approval(_)
                | IndexedBallot::Ranking(_)
                | IndexedBallot::Scores(_)
        )
    };
    if profile.ballots.iter().all(|cast| names_options(&cast.mark)) {
        assert!(verdict.winners.iter().all(|w| profile.options.contains(w)), "{rule}: {:?}", verdict.winners);
    }
    assert!(!verdict.tie || verdict.winners.len() != 1, "{rule}: a tie of one");
    assert!(!verdict.winners.is_empty() || verdict.reason.is_some(), "{rule}: nobody won and no reason");
    if let Some(winner) = seeded_winner(7, &verdict.winners) {
        assert!(verdict.winners.contains(&winner));
    }
}
