//! 2,000 rounds in one process: as one session that goes round, and as sessions one after another.
//!
//! Prints a table of pace, memory, descriptors and log. `cargo bench --bench soak`; `-- 200` for fewer.

#[path = "../tests/integration/patience.rs"]
#[expect(dead_code, reason = "the benchmark starts its own processes")]
mod patience;
#[allow(dead_code)]
#[path = "../tests/integration/seats.rs"]
mod seats;
#[allow(dead_code)]
#[path = "../tests/integration/sitting.rs"]
mod sitting;
#[allow(dead_code)]
#[path = "../tests/integration/soak.rs"]
mod soak;

fn table(name: &str, samples: &[soak::Sample]) {
    println!("\n{name}\n\n| rounds | ms a round | memory | descriptors | log |\n|---:|---:|---:|---:|---:|");
    for two in samples.windows(2) {
        let [before, now] = two else { continue };
        println!(
            "| {} | {:.2} | {:.1} MiB | {} | {:.2} MB |",
            now.rounds,
            soak::pace(before, now),
            now.kib as f64 / 1024.0,
            now.descriptors,
            now.bytes as f64 / 1e6,
        );
    }
}

fn main() {
    let rounds = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(2_000_usize);
    let dir = tempfile::tempdir().expect("a folder");
    table("One session that goes round", &soak::one_session(&dir.path().join("one"), rounds, rounds / 10));
    table("Sessions one after another", &soak::many_sessions(&dir.path().join("many"), rounds, rounds / 10));
}
