//! An independent count of the same ballots: the Python package `pref_voting`, on seeded random profiles.
//!
//! What it counts differently and why stands in `docs/TALLIES.md`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use roundtable::tally::{
    Decimal, IndexedBallot, Profile, Rule, RuleOptions, Strength, UNLISTED, WeightedBallot, count,
};
use serde_json::{Value, json};

use crate::patience::Patient as _;

/// Profiles of rankings, of scores and of approvals.
const PROFILES: [usize; 3] = [1_800, 400, 100];

const RANKED: [Rule; 8] = [
    Rule::Plurality,
    Rule::Borda,
    Rule::Irv,
    Rule::Condorcet,
    Rule::Copeland,
    Rule::Minimax,
    Rule::RankedPairs,
    Rule::Schulze,
];

/// Numbers from a seed: `SplitMix64`.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// A ranking with ties and truncation, as ranks without gaps.
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

fn cast(dice: &mut Dice, mark: IndexedBallot) -> WeightedBallot {
    WeightedBallot { count: 1 + dice.below(4) as u64, ..WeightedBallot::one("v", mark) }
}

fn profile(dice: &mut Dice, mut mark: impl FnMut(&mut Dice, usize) -> IndexedBallot) -> Profile {
    let options = 2 + dice.below(4);
    let ballots = 1 + dice.below(9);
    Profile {
        options: (0..options).map(|option| option.to_string()).collect(),
        ballots: (0..ballots)
            .map(|_| {
                let mark = mark(dice, options);
                cast(dice, mark)
            })
            .collect(),
        lowest: Some(Decimal::ZERO),
        ..Profile::default()
    }
}

/// The winners, and the order of all options.
fn found(profile: &Profile, rule: Rule, strength: Strength) -> (Vec<usize>, Vec<Vec<usize>>) {
    let verdict = count(profile, rule, &RuleOptions { strength, ..RuleOptions::default() });
    let numbers = |names: &Vec<String>| {
        names.iter().map(|option| option.parse().expect("a number")).collect::<Vec<_>>()
    };
    (numbers(&verdict.winners), verdict.order.iter().map(numbers).collect())
}

fn line(profile: &Profile, kind: &str, rules: &[Rule]) -> Value {
    let (mut winners, mut orders) = (serde_json::Map::new(), serde_json::Map::new());
    for rule in rules {
        let mut insert = |name: String, strength: Strength| {
            let (won, order) = found(profile, *rule, strength);
            winners.insert(name.clone(), won.into());
            orders.insert(name, order.into());
        };
        insert(rule.name().to_owned(), Strength::WinningVotes);
        if rule.takes_strength() {
            insert(format!("{}/margins", rule.name()), Strength::Margins);
        }
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
fn pref_voting_finds_the_same_winners_and_orders() {
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
        let rules = [Rule::ScoreMean, Rule::ScoreMedian, Rule::MajorityJudgment];
        writeln!(lines, "{}", line(&profile, "score", &rules)).expect("a string takes it");
    }
    for _ in 0..PROFILES[2] {
        let profile = profile(&mut dice, |dice, options| {
            // At least one approval: where nobody is approved of, nobody wins here and all do there.
            let first = dice.below(options);
            IndexedBallot::Approval(
                (0..options).filter(|option| *option == first || dice.below(3) == 0).collect(),
            )
        });
        writeln!(lines, "{}", line(&profile, "approval", &[Rule::Approval])).expect("a string takes it");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("profiles.jsonl");
    std::fs::write(&input, lines).expect("writable");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pref_voting_check.py");
    let done = Command::new(python()).arg(script).arg(&input).output_soon().expect("python runs");
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "pref_voting finds other winners or orders:\n{said}");
    let total: usize = PROFILES.iter().sum();
    assert!(said.contains(&format!("profiles={total} ")) && said.contains("wrong=0"), "{said}");
}

/// The Python of `target/pref-voting-venv`, made on first use, from wheels only.
fn python() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("inside target").to_owned();
    let venv = target.join("pref-voting-venv");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !has_pref_voting(&python) {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv));
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(Command::new(&python).args(install).args(["--only-binary", ":all:", "pref-voting==1.18.2"]));
        assert!(has_pref_voting(&python), "pref_voting 1.18.2 was installed and cannot be found");
    }
    python
}

fn has_pref_voting(python: &Path) -> bool {
    let code =
        "import sys; from importlib.metadata import version; sys.exit(version('pref-voting') != '1.18.2')";
    Command::new(python).args(["-c", code]).output_soon().is_ok_and(|done| done.status.success())
}

fn run(command: &mut Command) {
    let what = format!("{command:?}");
    let done =
        command.output_soon().unwrap_or_else(|error| panic!("this test needs python3; {what}: {error}"));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        done.status.success(),
        "this test needs python3 with venv, and pref-voting from PyPI; {what}:\n{said}"
    );
}
