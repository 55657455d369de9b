//! How long counting and reading take: 100,000 rankings over 20 options, 10,000 replies.
//!
//! Run with `cargo bench --bench tally`. Rankings are random without ties, so that every pair differs and
//! every elimination is a real one; replies are YAML in a fence with prose around it, as models write them.

use std::hint::black_box;
use std::time::Instant;

use roundtable::ballot::{BallotForm, BallotKind, ParsedReply, read_reply};
use roundtable::tally::{IndexedBallot, Profile, Rule, RuleOptions, WeightedBallot, count};

const OPTIONS: usize = 20;

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
}

fn profile(ballots: usize) -> Profile {
    let mut dice = Dice(7);
    let options = (0..OPTIONS).map(|option| format!("option {option}")).collect();
    let ballot = |_| {
        let mut ranks: Vec<u16> = (0..OPTIONS as u16).collect();
        for at in (1..OPTIONS).rev() {
            ranks.swap(at, (dice.next() % (at as u64 + 1)) as usize);
        }
        WeightedBallot::one("voter", IndexedBallot::Ranking(ranks))
    };
    Profile { options, ballots: (0..ballots).map(ballot).collect(), ..Profile::default() }
}

fn main() {
    // Run as a test: only whether it works.
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let (ballots, replies, times) = if is_bench { (100_000, 10_000, 5) } else { (500, 50, 1) };
    let profile = profile(ballots);
    println!("| what | median ms |\n|------|----------:|");
    for rule in [Rule::Schulze, Rule::Irv, Rule::Borda, Rule::Plurality] {
        let what = format!("{} over {ballots} rankings of {OPTIONS} options", rule.name());
        row(&what, times, || {
            let verdict = count(black_box(&profile), rule, &RuleOptions::default());
            assert!(!verdict.winners.is_empty());
        });
    }
    let options: Vec<String> = ["in-process", "redis", "memcached"].map(str::to_owned).to_vec();
    let prose = "Here is my ballot, having read the exploration and REQ-001:\n\n```yaml\n";
    let rest = "rationale:\n  - \"One truth for all hosts\"\nconfidence: 0.8\n```\n\nHappy to elaborate.\n";
    for (kind, own) in [
        (BallotKind::Choice, "vote: redis\n"),
        (BallotKind::Ranking, "ranking: [redis, [in-process, memcached]]\n"),
        (BallotKind::Score, "scores: {in-process: 4, redis: 5, memcached: 1}\n"),
    ] {
        let mut form = BallotForm::over(kind, options.clone());
        (form.min, form.max) = (Some(0.into()), Some(5.into()));
        let reply = format!("{prose}{own}{rest}");
        row(&format!("reading {replies} replies of kind {}", kind.name()), times, || {
            for _ in 0..replies {
                assert!(matches!(read_reply(&form, black_box(&reply)), ParsedReply::Answered(_)));
            }
        });
    }
}

fn row(what: &str, times: usize, mut work: impl FnMut()) {
    let mut figures: Vec<f64> = (0..times)
        .map(|_| {
            let started = Instant::now();
            work();
            started.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    println!("| {what} | {:.1} |", figures[figures.len() / 2]);
}
