//! How long `--batch` takes for the first example, as a person waits for it: the whole process.
//!
//! Rehearsal, no network, log and key synced to a real disk. Run with `cargo bench --bench batch`; a
//! number behind `--` sets how often. The first run is not counted: it fills the file cache.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

fn main() {
    let (flags, args): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let times = args.first().map(|times| times.parse().expect("a number"));
    // Run as a test: only whether it works.
    let times = times.unwrap_or(if flags.iter().any(|flag| flag == "--bench") { 20 } else { 1 });
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on disk");
    run(home.path());
    let mut figures: Vec<f64> = (0..times).map(|_| run(home.path())).collect();
    figures.sort_by(f64::total_cmp);
    let (median, most) = (figures[figures.len() / 2], figures[figures.len() - 1]);
    println!("| runs | median ms | most ms |\n|-----:|----------:|--------:|");
    println!("| {times:>4} | {median:>9.1} | {most:>7.1} |");
}

/// One run, in milliseconds.
fn run(home: &Path) -> f64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundtable"));
    command.args(["--batch", "sessions/context-passing.yaml"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.env("ROUNDTABLE_HOME", home).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status().expect("the program");
    let took = started.elapsed().as_secs_f64() * 1e3;
    assert!(status.success(), "{status}");
    took
}
