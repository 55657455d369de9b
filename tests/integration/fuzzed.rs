//! Regression corpus of the fuzzers, and random changes of it.
//!
//! The fuzzers in `fuzz/` use the same functions of `properties/`.

use std::fs;
use std::path::Path;

use crate::properties::TARGETS;

/// Returns the inputs of `tests/corpus/TARGET.txt`: one escaped input per line.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/{target}.txt"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let inputs: Vec<Vec<u8>> = text.lines().map(read).collect();
    assert!(inputs.len() > 5, "{target} has no corpus");
    inputs
}

fn read(line: &str) -> Vec<u8> {
    let mut data = Vec::with_capacity(line.len());
    let mut bytes = line.bytes();
    while let Some(byte) = bytes.next() {
        data.push(match (byte, if byte == b'\\' { bytes.next() } else { None }) {
            (_, None) => byte,
            (_, Some(b'n')) => b'\n',
            (_, Some(b'r')) => b'\r',
            (_, Some(b't')) => b'\t',
            (_, Some(b'x')) => {
                let digits: String = bytes.by_ref().take(2).map(char::from).collect();
                u8::from_str_radix(&digits, 16).expect("two digits")
            }
            (_, Some(other)) => other,
        });
    }
    data
}

fn holds(check: fn(&[u8]), data: &[u8]) -> bool {
    std::panic::catch_unwind(|| check(data)).is_ok()
}

#[test]
fn what_must_hold_of_any_bytes_holds_of_the_corpus() {
    let mut broken = Vec::new();
    for (target, check) in TARGETS {
        let inputs = corpus(target);
        let found = inputs.iter().enumerate().filter(|(_, data)| !holds(check, data));
        broken
            .extend(found.map(|(line, data)| format!("{target}.txt:{}: {}", line + 1, data.escape_ascii())));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Changes an input like a fuzzer: flips, inserts, deletes or doubles bytes, or adds parts of `other`.
fn changed(one: &[u8], other: &[u8], random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    const TOKENS: &str = "---\n§\n§\r\n§: §- §{§}§[§]§\"§'§```yaml\n§```\n§{{§}}§&a §*a §\u{0}§\u{2028}§\u{feff}§-1e309§null\
        §data: §\u{1f9d1}\u{200d}";
    let mut data = one.to_vec();
    for _ in 0..=random(4) {
        let at = random(data.len() + 1);
        let to = (at + random(40)).min(data.len());
        match random(7) {
            0 if at < data.len() => data[at] ^= 1 << random(8),
            1 => data.insert(at, random(256) as u8),
            2 => drop(data.drain(at..to)),
            3 => {
                let piece = data[at..to].to_vec();
                data.splice(at..at, piece);
            }
            4 => {
                let from = random(other.len() + 1);
                let piece = &other[from..(from + random(200)).min(other.len())];
                data.splice(at..to, piece.iter().copied());
            }
            5 => data.truncate(at.max(1)),
            _ => {
                let tokens: Vec<&str> = TOKENS.split('§').collect();
                data.splice(at..at, tokens[random(tokens.len())].bytes());
            }
        }
    }
    data
}

/// `FUZZ_RUNS` is the number of changed inputs per target, `FUZZ_SEED` their seed.
#[test]
fn what_must_hold_of_any_bytes_holds_of_random_changes() {
    let set =
        |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (runs, seed): (u64, u64) = (set("FUZZ_RUNS", 400), set("FUZZ_SEED", 1));
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    for (target, check) in TARGETS {
        let files = corpus(target);
        for run in 0..runs {
            let (one, other) = (&files[random(files.len())], &files[random(files.len())]);
            let data = changed(one, other, &mut random);
            let broken = data.escape_ascii();
            assert!(holds(check, &data), "{target}, FUZZ_SEED={seed}, run {run}: {broken}");
        }
    }
}
