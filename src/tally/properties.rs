//! Properties of the rules for every profile, such as neutrality to names and order.

use proptest::prelude::*;

use super::*;

const RANKED: [Rule; 7] = [
    Rule::Plurality,
    Rule::Majority,
    Rule::Supermajority,
    Rule::WeightedMajority,
    Rule::Borda,
    Rule::Irv,
    Rule::Schulze,
];

fn profile(options: usize, ballots: &[Vec<u16>]) -> Profile {
    let ballots = ballots
        .iter()
        .map(|ranks| WeightedBallot::one("v", IndexedBallot::Ranking(ranks[..options].to_vec())));
    Profile {
        options: (0..options).map(|option| format!("o{option}")).collect(),
        ballots: ballots.collect(),
        ..Profile::default()
    }
}

/// Generates up to nine ballots over two to five options, with ties and omissions.
fn any_profile() -> impl Strategy<Value = Profile> {
    let rank = prop_oneof![4 => 0_u16..5, 1 => Just(UNLISTED)];
    let ballots = prop::collection::vec(prop::collection::vec(rank, 5), 1..10);
    (2_usize..6, ballots).prop_map(|(options, ballots)| profile(options, &ballots))
}

fn sorted(profile: &Profile, rule: Rule) -> Vec<String> {
    let mut winners = count(profile, rule, &RuleOptions::default()).winners;
    winners.sort();
    winners
}

/// Returns the profile with its options in another order.
fn reordered(profile: &Profile, order: &[usize]) -> Profile {
    let mut other = profile.clone();
    other.options = order.iter().map(|option| profile.options[*option].clone()).collect();
    for ballot in &mut other.ballots {
        if let IndexedBallot::Ranking(ranks) = &mut ballot.mark {
            *ranks = order.iter().map(|option| ranks[*option]).collect();
        }
    }
    other
}

proptest! {
    #[test]
    fn the_order_of_options_and_ballots_changes_nothing(profile in any_profile(), turn in 0_usize..5) {
        let n = profile.options.len();
        let order: Vec<usize> = (0..n).map(|at| (at + turn) % n).rev().collect();
        let mut other = reordered(&profile, &order);
        other.ballots.reverse();
        for rule in RANKED {
            prop_assert_eq!(sorted(&profile, rule), sorted(&other, rule), "{}", rule.name());
        }
    }

    #[test]
    fn an_order_has_every_option_once_and_begins_with_the_winners(profile in any_profile()) {
        for rule in RANKED {
            let verdict = count(&profile, rule, &RuleOptions::default());
            let mut all: Vec<&String> = verdict.order.iter().flatten().collect();
            all.sort();
            if verdict.order.is_empty() {
                prop_assert!(verdict.winners.is_empty(), "{}", rule.name());
                continue;
            }
            prop_assert_eq!(all, profile.options.iter().collect::<Vec<_>>(), "{}", rule.name());
            if !verdict.winners.is_empty() {
                prop_assert_eq!(&verdict.order[0], &verdict.winners, "{}", rule.name());
            }
        }
    }

    #[test]
    fn ballots_cast_twice_weigh_twice(profile in any_profile()) {
        let mut by_count = profile.clone();
        let mut by_weight = profile.clone();
        by_count.ballots[0].count = 3;
        by_weight.ballots[0].weight = Decimal::whole(3);
        for rule in RANKED {
            prop_assert_eq!(sorted(&by_count, rule), sorted(&by_weight, rule), "{}", rule.name());
        }
    }

    #[test]
    fn schulze_chooses_the_option_that_beats_every_other(profile in any_profile()) {
        let pairs = super::pairwise::Pairwise::from_profile(&profile);
        let options = profile.options.len();
        let beats = |a: usize, b: usize| a == b || pairs.prefer[a][b] > pairs.prefer[b][a];
        if let Some(winner) = (0..options).find(|a| (0..options).all(|b| beats(*a, b))) {
            prop_assert_eq!(sorted(&profile, Rule::Schulze), [format!("o{winner}")]);
        }
    }

    #[test]
    fn an_option_that_all_rank_first_wins_under_every_rule(profile in any_profile(), first in 0_usize..2) {
        let mut profile = profile;
        for ballot in &mut profile.ballots {
            if let IndexedBallot::Ranking(ranks) = &mut ballot.mark {
                for rank in ranks.iter_mut().filter(|rank| **rank != UNLISTED) {
                    *rank += 1;
                }
                ranks[first] = 0;
            }
        }
        for rule in RANKED {
            prop_assert_eq!(sorted(&profile, rule), [format!("o{first}")], "{}", rule.name());
        }
    }

    #[test]
    fn a_clone_of_a_loser_changes_nothing(profile in any_profile(), which in any::<prop::sample::Index>()) {
        let winners = sorted(&profile, Rule::Schulze);
        let losers: Vec<usize> =
            (0..profile.options.len()).filter(|o| !winners.contains(&profile.options[*o])).collect();
        if !losers.is_empty() && winners.len() == 1 {
            let cloned = losers[which.index(losers.len())];
            let mut other = profile.clone();
            other.options.push("clone".to_owned());
            for ballot in &mut other.ballots {
                if let IndexedBallot::Ranking(ranks) = &mut ballot.mark {
                    // Tied with its original, and so with every option that ties with the original.
                    ranks.push(ranks[cloned]);
                }
            }
            prop_assert_eq!(sorted(&other, Rule::Schulze), winners);
        }
    }
}
