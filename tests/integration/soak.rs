//! Many rounds in one process: memory, descriptors and the speed of the log at the end as at the
//! beginning. `benches/soak.rs` runs the same for longer.

use std::path::Path;
use std::time::Instant;

use roundtable::core::ExitCode;
use roundtable::history::Event;
use roundtable::journal::Disk;

use crate::seats::Place;

#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub rounds: usize,
    pub seconds: f64,
    /// Memory in use, in KiB; 0 where the system does not tell.
    pub kib: u64,
    /// Open descriptors; 0 where the system does not tell.
    pub descriptors: usize,
    pub bytes: u64,
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
pub fn one_session(dir: &Path, rounds: usize, every: usize) -> Vec<Sample> {
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
pub fn many_sessions(dir: &Path, sessions: usize, every: usize) -> Vec<Sample> {
    let start = Instant::now();
    let mut samples = Vec::new();
    for number in 1..=sessions {
        let place = Place::new(Disk::default(), &dir.join("one"));
        let ran = place.start_watched(crate::seats::ONE_ROUND, &mut |_| {});
        assert!(matches!(ran, Ok(ExitCode::Finished)), "{ran:?}");
        if number % every == 0 {
            samples.push(sample(number, start, &place.file()));
        }
        std::fs::remove_file(place.file()).expect("removed");
    }
    samples
}

pub fn pace(from: &Sample, to: &Sample) -> f64 {
    (to.seconds - from.seconds) * 1000.0 / (to.rounds - from.rounds) as f64
}

/// Runs a test of this file in a process of its own, where nothing else opens or keeps anything.
/// Says whether this is that process.
fn is_alone(test: &str) -> bool {
    if std::env::var_os("SOAK_ALONE").is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("a test");
    let mut alone = std::process::Command::new(program);
    alone.args([&format!("soak::{test}"), "--exact", "--nocapture", "--test-threads=1"]);
    crate::patience::watch();
    let output = alone.env("SOAK_ALONE", "1").output().expect("runs");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[test]
fn the_log_is_as_fast_at_the_end_as_at_the_beginning() {
    if !is_alone("the_log_is_as_fast_at_the_end_as_at_the_beginning") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let samples = one_session(dir.path(), 200, 25);
    for taken in &samples {
        println!("{taken:?}");
    }
    let [first, second, .., before, last] = samples.as_slice() else { panic!("{samples:?}") };
    // Each round writes as much as any other, and takes about as long: others use this machine too.
    let (early, late) = (pace(first, second), pace(before, last));
    assert!(late < 3.0 * early + 5.0, "{early} ms a round at first, {late} at last");
    let per_round = |from: &Sample, to: &Sample| (to.bytes - from.bytes) / (to.rounds - from.rounds) as u64;
    // Rounds whose numbers have three digits, at first and at last.
    let bytes = (per_round(&samples[3], &samples[4]), per_round(before, last));
    assert!(bytes.1 <= bytes.0 + 16, "a round's part of the log grows: {bytes:?}");
    assert_eq!(last.descriptors, first.descriptors);
}

#[test]
fn rounds_one_after_another_leave_neither_memory_nor_descriptors_behind() {
    if !is_alone("rounds_one_after_another_leave_neither_memory_nor_descriptors_behind") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let samples = many_sessions(dir.path(), 100, 25);
    for taken in &samples {
        println!("{taken:?}");
    }
    let (first, last) = (&samples[0], &samples[3]);
    assert_eq!(last.descriptors, first.descriptors);
    assert!(last.kib < first.kib + 8 * 1024, "{} KiB at first, {} at last", first.kib, last.kib);
}
