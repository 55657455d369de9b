//! Winners and orders of seeded random profiles, compared with an independent counter.
//!
//! The counter is the Python package `pref_voting`: `.ci/run` compares every profile with it. A plain test run
//! compares a digest of the results that it agreed to. `docs/TALLIES.md` lists the differences.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use roundtable::core::alike::groups;
use roundtable::round::snapshot::sha256_hex;
use roundtable::tally::{
    Decimal, IndexedBallot, Profile, Rule, RuleOptions, UNLISTED, WeightedBallot, count,
};
use serde_json::{Value, json};

use crate::cases;

/// Numbers of profiles of rankings, of scores and of approvals.
const PROFILES: [usize; 3] = [1_800, 400, 100];

/// SHA-256 of all results, which `pref_voting` 1.18.2 agreed to.
const AGREED: &str = "b10fdc8ff84148b59f4f6ab65fae5718de1c604b526d75cc67b17e1d6f850d19";

const RANKED: [Rule; 4] = [Rule::Plurality, Rule::Borda, Rule::Irv, Rule::Schulze];

/// Random numbers from a seed: `SplitMix64`.
pub struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

fn ranks(dice: &mut Dice, options: usize, strict: bool) -> Vec<u16> {
    let mut order: Vec<usize> = (0..options).collect();
    for at in (1..options).rev() {
        order.swap(at, dice.below(at + 1));
    }
    let listed = if dice.below(3) == 0 { 1 + dice.below(options) } else { options };
    let mut ranks = vec![UNLISTED; options];
    let mut rank = 0;
    for (at, option) in order[..listed].iter().enumerate() {
        rank += u16::from(at > 0 && (strict || dice.below(4) > 0));
        ranks[*option] = rank;
    }
    ranks
}

fn profile(dice: &mut Dice, mut mark: impl FnMut(&mut Dice, usize) -> IndexedBallot) -> Profile {
    let options = 2 + dice.below(4);
    let ballots = 1 + dice.below(9);
    Profile {
        options: (0..options).map(|option| option.to_string()).collect(),
        ballots: (0..ballots)
            .map(|_| {
                let mark = mark(dice, options);
                WeightedBallot { count: 1 + dice.below(4) as u64, ..WeightedBallot::one("v", mark) }
            })
            .collect(),
        ..Profile::default()
    }
}

fn found(profile: &Profile, rule: Rule) -> (Vec<usize>, Vec<Vec<usize>>) {
    let verdict = count(profile, rule, &RuleOptions::default());
    let numbers = |names: &Vec<String>| {
        names.iter().map(|option| option.parse().expect("a number")).collect::<Vec<_>>()
    };
    (numbers(&verdict.winners), verdict.order.iter().map(numbers).collect())
}

fn line(profile: &Profile, kind: &str, rules: &[Rule]) -> Value {
    let (mut winners, mut orders) = (serde_json::Map::new(), serde_json::Map::new());
    for rule in rules {
        let (won, order) = found(profile, *rule);
        winners.insert(rule.name().to_owned(), won.into());
        orders.insert(rule.name().to_owned(), order.into());
    }
    let marks = |ballot: &WeightedBallot| -> Value {
        match &ballot.mark {
            IndexedBallot::Ranking(ranks) => ranks
                .iter()
                .map(|rank| if *rank == UNLISTED { Value::Null } else { (*rank).into() })
                .collect(),
            IndexedBallot::Scores(scores) => {
                let whole =
                    |score: &Option<Decimal>| score.map(|s| s.to_string().parse::<u64>().expect("whole"));
                scores.iter().map(|score| json!(whole(score))).collect()
            }
            IndexedBallot::Approval(approved) => (0..profile.options.len())
                .map(|option| Value::from(u8::from(approved.contains(&option))))
                .collect(),
            other => panic!("{other:?}"),
        }
    };
    let ballots: Value = profile.ballots.iter().map(|ballot| json!([ballot.count, marks(ballot)])).collect();
    json!({
        "kind": kind, "options": profile.options.len(), "ballots": ballots, "winners": winners, "orders": orders,
    })
}

#[test]
fn winners_and_orders_are_those_pref_voting_agreed_to() {
    let mut dice = Dice(20_261_122);
    let mut lines = String::new();
    for number in 0..PROFILES[0] {
        let strict = number % 4 == 0;
        let profile =
            profile(&mut dice, |dice, options| IndexedBallot::Ranking(ranks(dice, options, strict)));
        writeln!(lines, "{}", line(&profile, "ranking", &RANKED)).expect("a string takes it");
    }
    for _ in 0..PROFILES[1] {
        let score = |dice: &mut Dice| Some(Decimal::whole(dice.below(6) as u64));
        let profile = profile(&mut dice, |dice, options| {
            IndexedBallot::Scores((0..options).map(|_| score(dice)).collect())
        });
        let rules = [Rule::Score];
        writeln!(lines, "{}", line(&profile, "score", &rules)).expect("a string takes it");
    }
    for _ in 0..PROFILES[2] {
        let profile = profile(&mut dice, |dice, options| {
            // At least one approval: without any, nobody wins here, but everybody does there.
            let first = dice.below(options);
            IndexedBallot::Approval(
                (0..options).filter(|option| *option == first || dice.below(3) == 0).collect(),
            )
        });
        writeln!(lines, "{}", line(&profile, "approval", &[Rule::Approval])).expect("a string takes it");
    }
    let file = oracle_file("pref_voting.jsonl");
    std::fs::write(&file, &lines).expect("writable");
    let digest = sha256_hex(lines.as_bytes());
    let cure = format!("run tests/pref_voting_check.py on {} and write down the digest", file.display());
    assert_eq!(digest, AGREED, "other winners or orders: if this is wanted, {cure}");
}

/// Returns the path of a file that an independent program reads afterwards, under `target/tmp/oracles`.
pub fn oracle_file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracles");
    std::fs::create_dir_all(&folder).expect("writable");
    folder.join(name)
}

/// Returns the highest number of equal answers, and whether they are correct.
fn counted(answers: &[&str]) -> (usize, bool) {
    let mut options: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
    options.retain(|option| option != "-");
    options.sort();
    options.dedup();
    let option = |answer: &str| options.iter().position(|option| option == answer);
    let ballots = answers.iter().filter_map(|answer| option(answer));
    let ballots = ballots.map(|option| WeightedBallot::one("m", IndexedBallot::Choice(option))).collect();
    let profile = Profile { options: options.clone(), ballots, ..Profile::default() };
    let verdict = count(&profile, Rule::Plurality, &RuleOptions::default());
    let leader = verdict.winners.first().cloned().unwrap_or_default();
    let votes = answers.iter().filter(|answer| **answer == leader).count();
    (votes, leader == "T" && !verdict.tie)
}

#[test]
fn accuracy_follows_agreement_in_recorded_answers() {
    let mut found = Vec::new();
    let mut best = 0;
    for row in include_str!("../fixtures/answers/gsm8k-votes.csv").lines().skip(1) {
        let (questions, answers) = row.split_once(',').expect("a pattern");
        let (questions, answers) =
            (questions.parse().expect("a number"), answers.split(',').collect::<Vec<_>>());
        found.extend(vec![counted(&answers); questions]);
        best += if answers[0] == "T" { questions } else { 0 };
    }
    let percent = |part: usize, whole: usize| format!("{:.1}", 100.0 * part as f64 / whole as f64);
    assert_eq!(found.len(), 1_319);
    for (least, share, right) in [(4, "12.4", "95.7"), (3, "30.9", "88.5")] {
        let enough: Vec<_> = found.iter().filter(|(votes, _)| *votes >= least).collect();
        let correct = enough.iter().filter(|(_, right)| *right).count();
        let told = (percent(enough.len(), found.len()), percent(correct, enough.len()));
        assert_eq!(told, (share.to_owned(), right.to_owned()), "at least {least} of 4");
    }
    assert_eq!(percent(best, found.len()), "56.3", "the best model alone");
}

const CASE: &str = "the cache lives in the process because a second server would have to be run and paid for \
                    and watched by somebody who is not there at night";

/// Returns six of forty sentences, so that most passages occur in several texts.
fn few_sentences(n: usize) -> String {
    let sentence = |which: usize| format!("number {which} says that {CASE} in case {which}. ");
    (0..6).map(|part| sentence((n * (part + 3) + part * part) % 40)).collect()
}

#[test]
fn two_thousand_answers_are_compared_within_a_second() {
    let answers = cases(500, 2_000);
    for text in [few_sentences as fn(usize) -> String, |n| format!("{} {n}", few_sentences(1))] {
        let texts: Vec<String> = (0..answers).map(text).collect();
        let started = Instant::now();
        assert!(groups(&texts).iter().all(|group| group.len() > 1));
        // Debug builds on a busy machine get more time.
        let limit = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
        assert!(started.elapsed() < limit, "{:?}", started.elapsed());
    }
}
