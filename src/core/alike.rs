//! Which texts are the same or nearly so, whoever wrote them.
//!
//! The same are texts of equal words, whatever their case and signs. Nearly the same are two of which each
//! shares nine tenths of its runs of five words with the other. Of a chain of such pairs all are one group.
//! It takes about linear time: only texts that share one of their rarest runs are compared.

use std::collections::HashMap;

/// How many words make a run.
const RUN: usize = 5;

/// Groups of at least two texts, by index, in the order of their first.
pub fn groups(texts: &[String]) -> Vec<Vec<usize>> {
    let words: Vec<Vec<u64>> = texts.iter().map(|text| words(text)).collect();
    let mut same = Groups((0..texts.len()).collect());
    let mut firsts: HashMap<&[u64], usize> = HashMap::new();
    for (at, words) in words.iter().enumerate().filter(|(_, words)| !words.is_empty()) {
        match firsts.get(words.as_slice()) {
            Some(first) => same.join(*first, at),
            None => {
                firsts.insert(words, at);
            }
        }
    }
    let different = (0..texts.len()).filter(|at| firsts.get(words[*at].as_slice()) == Some(at));
    let runs: Vec<(usize, Vec<u64>)> =
        different.map(|at| (at, runs(&words[at]))).filter(|(_, runs)| !runs.is_empty()).collect();
    join_near(&runs, &mut same);
    same.of_several()
}

fn join_near(runs: &[(usize, Vec<u64>)], same: &mut Groups) {
    let mut common: HashMap<u64, usize> = HashMap::new();
    for run in runs.iter().flat_map(|(_, runs)| runs) {
        *common.entry(*run).or_default() += 1;
    }
    let mut with: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, (at, own)) in runs.iter().enumerate() {
        // Two texts that share enough share one of the rarest runs of both.
        let mut rarest = own.clone();
        rarest.sort_unstable_by_key(|run| (common.get(run).copied().unwrap_or(0), *run));
        rarest.truncate(own.len() - needed(own.len()) + 1);
        for run in &rarest {
            let others = with.entry(*run).or_default();
            for other in others.iter() {
                let (other, theirs) = &runs[*other];
                if same.0[*at] != same.0[*other] && share_enough(own, theirs) {
                    same.join(*other, *at);
                }
            }
            others.push(place);
        }
    }
}

/// How many of so many runs must be shared: nine tenths.
fn needed(runs: usize) -> usize {
    (9 * runs).div_ceil(10)
}

/// Whether two sorted lists share nine tenths of the longer one.
fn share_enough(one: &[u64], other: &[u64]) -> bool {
    let needed = needed(one.len().max(other.len()));
    if one.len().min(other.len()) < needed {
        return false;
    }
    let (mut a, mut b, mut shared) = (0, 0, 0);
    while let (Some(left), Some(right)) = (one.get(a), other.get(b)) {
        shared += usize::from(left == right);
        a += usize::from(left <= right);
        b += usize::from(right <= left);
    }
    shared >= needed
}

/// The words of a text in lower case, without signs, each as a number.
fn words(text: &str) -> Vec<u64> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| number(word.chars().flat_map(char::to_lowercase).map(u64::from))).collect()
}

/// The different runs of words of a text as numbers, sorted; none of a text that is shorter than one.
fn runs(words: &[u64]) -> Vec<u64> {
    let mut runs: Vec<u64> = words.windows(RUN).map(|run| number(run.iter().copied())).collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// One number for several in a row, the same on every machine: FNV-1a over 64 bits at a time, turned so
/// that its high bits count too.
fn number(parts: impl Iterator<Item = u64>) -> u64 {
    parts.fold(0xcbf2_9ce4_8422_2325, |sum: u64, part| {
        (sum ^ part).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
    })
}

/// For each text the first of its group.
struct Groups(Vec<usize>);

impl Groups {
    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.0[one], self.0[other]);
        for first in self.0.iter_mut().filter(|first| **first == one.max(other)) {
            *first = one.min(other);
        }
    }

    fn of_several(self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); self.0.len()];
        for (at, first) in self.0.into_iter().enumerate() {
            groups[first].push(at);
        }
        groups.retain(|group| group.len() > 1);
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::groups;

    fn found(texts: &[&str]) -> Vec<Vec<usize>> {
        groups(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    const LONG: &str = "the cache lives in the process because a second server would have to be run and \
                        paid for and watched by somebody who is not there at night";

    #[test]
    fn equal_words_are_the_same_answer() {
        assert_eq!(found(&["Redis, now!", "other", "redis   now"]), [[0, 2]]);
        assert_eq!(found(&["", "", " - "]), Vec::<Vec<usize>>::new(), "nothing said is nothing shared");
    }

    #[test]
    fn nine_tenths_of_the_runs_are_nearly_the_same_answer() {
        let twice = format!("{LONG} and by day nobody wants to be the one who has to explain what it costs");
        let other_end = twice.replace("costs", "takes");
        assert_eq!(found(&[&twice, "something else that has words of its own here", &other_end]), [[0, 2]]);
        let half = format!("{LONG} which is what the other one never said at all in any of its many words");
        assert_eq!(found(&[&twice, &half]), Vec::<Vec<usize>>::new());
        assert_eq!(found(&[LONG, &twice]), Vec::<Vec<usize>>::new(), "a part is not the whole");
    }

    #[test]
    fn a_chain_of_near_answers_is_one_group() {
        let step = |from: &str, word: &str| format!("{from} {word}");
        let long = format!("{LONG} {LONG} but other words here too");
        let (one, two) = (step(&long, "first"), step(&step(&long, "first"), "second"));
        assert_eq!(found(&[&long, "x y z", &two, &one]), [[0, 2, 3]]);
    }
}
