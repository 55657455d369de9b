//! Which seats gave the same or nearly the same answer: how long it takes to find out for many.

use std::time::{Duration, Instant};

use roundtable::core::alike::groups;

use crate::cases;

const CASE: &str = "the cache lives in the process because a second server would have to be run and paid for \
                    and watched by somebody who is not there at night";

/// Six of forty sentences each: nearly every run of words is somebody else's too.
fn few_sentences(n: usize) -> String {
    let sentence = |which: usize| format!("number {which} says that {CASE} in case {which}. ");
    (0..6).map(|part| sentence((n * (part + 3) + part * part) % 40)).collect()
}

fn one_text(n: usize) -> String {
    format!("{} {n}", few_sentences(1))
}

#[test]
fn two_thousand_answers_are_compared_within_a_second() {
    let answers = cases(500, 2_000);
    for text in [few_sentences as fn(usize) -> String, one_text] {
        let texts: Vec<String> = (0..answers).map(text).collect();
        let started = Instant::now();
        assert!(groups(&texts).iter().all(|group| group.len() > 1));
        // An unoptimised build on a busy machine gets more.
        let limit = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
        assert!(started.elapsed() < limit, "{:?}", started.elapsed());
    }
}
