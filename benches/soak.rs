//! 2,000 rounds in one process: as one session that goes round, and as sessions one after another.
//!
//! Prints a table of pace, memory, descriptors and log, and fails if they grow. `cargo bench --bench soak`;
//! `-- 200` for fewer.

#[path = "../tests/integration/patience.rs"]
#[expect(dead_code, reason = "the benchmark starts its own processes")]
mod patience;
#[allow(dead_code)]
#[path = "../tests/integration/seats.rs"]
mod seats;
#[allow(dead_code)]
#[path = "../tests/integration/sitting.rs"]
mod sitting;

use std::path::Path;
use std::time::Instant;

use roundtable::core::ExitCode;
use roundtable::history::Event;
use roundtable::journal::Disk;

use seats::Place;

#[derive(Debug, Clone, Copy)]
struct Sample {
    rounds: usize,
    seconds: f64,
    /// Memory in use, in KiB; 0 where the system does not tell.
    kib: u64,
    /// Open descriptors; 0 where the system does not tell.
    descriptors: usize,
    bytes: u64,
}

fn sample(rounds: usize, start: Instant, file: &Path) -> Sample {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    Sample {
        rounds,
        seconds: start.elapsed().as_secs_f64(),
        kib: kib.and_then(|text| text.trim().parse().ok()).unwrap_or(0),
        descriptors: std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count),
        bytes: std::fs::metadata(file).map_or(0, |meta| meta.len()),
    }
}

fn looping(rounds: usize) -> String {
    format!(
        "goal: \"Pick one\"\nparticipants: [ann, bob, cyd]\nmax_iterations: {rounds}\nsteps:\n  - {{id: pick, type: round, \
         question: \"Which?\", ballot: {{kind: choice, options: [alpha, beta]}}, rule: majority, next: pick, on_error: pick}}\n"
    )
}

/// One session that goes round `rounds` times; a sample at every `every`-th.
fn one_session(dir: &Path, rounds: usize, every: usize) -> Vec<Sample> {
    let start = Instant::now();
    let place = Place::new(Disk::default(), dir);
    let (mut samples, file) = (Vec::new(), place.file());
    let mut closed = 0;
    let ran = place.start_watched(&looping(rounds), &mut |line| {
        if matches!(line.stamped.event, Event::TallyMade(_)) {
            closed += 1;
            if closed % every == 0 {
                samples.push(sample(closed, start, &file));
            }
        }
    });
    // The loop ends at its limit, which is no decision.
    assert!(matches!(ran, Ok(ExitCode::Undecided)), "{ran:?}");
    assert_eq!(closed, rounds);
    samples
}

/// Sessions of one round each, one after another; a sample after every `every`-th.
fn many_sessions(dir: &Path, sessions: usize, every: usize) -> Vec<Sample> {
    let start = Instant::now();
    let mut samples = Vec::new();
    for number in 1..=sessions {
        let place = Place::new(Disk::default(), &dir.join("one"));
        let ran = place.start_watched(seats::ONE_ROUND, &mut |_| {});
        assert!(matches!(ran, Ok(ExitCode::Finished)), "{ran:?}");
        if number % every == 0 {
            samples.push(sample(number, start, &place.file()));
        }
        std::fs::remove_file(place.file()).expect("removed");
    }
    samples
}

fn pace(from: &Sample, to: &Sample) -> f64 {
    (to.seconds - from.seconds) * 1000.0 / (to.rounds - from.rounds) as f64
}

fn table(name: &str, samples: &[Sample]) {
    println!("\n{name}\n\n| rounds | ms a round | memory | descriptors | log |\n|---:|---:|---:|---:|---:|");
    for two in samples.windows(2) {
        let [before, now] = two else { continue };
        println!(
            "| {} | {:.2} | {:.1} MiB | {} | {:.2} MB |",
            now.rounds,
            pace(before, now),
            now.kib as f64 / 1024.0,
            now.descriptors,
            now.bytes as f64 / 1e6,
        );
    }
}

/// Panics if a round's part of the log grows, or sessions leave memory or descriptors behind.
fn check(one: &[Sample], many: &[Sample]) {
    let [first, second, .., before, last] = one else { panic!("{one:?}") };
    let (early, late) = (second.bytes - first.bytes, last.bytes - before.bytes);
    assert!(late <= early + early / 50, "{early} bytes of log at first, {late} at last");
    let (first, last) = (&many[0], &many[many.len() - 1]);
    assert_eq!(last.descriptors, first.descriptors);
    assert!(last.kib < first.kib + 8 * 1024, "{} KiB at first, {} at last", first.kib, last.kib);
}

fn main() {
    let rounds = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(2_000_usize);
    let dir = tempfile::tempdir().expect("a folder");
    let one = one_session(&dir.path().join("one"), rounds, rounds / 10);
    table("One session that goes round", &one);
    let many = many_sessions(&dir.path().join("many"), rounds, rounds / 10);
    table("Sessions one after another", &many);
    check(&one, &many);
}
