//! Detection of equal and nearly equal texts.
//!
//! Two texts are alike if each shares at least nine tenths of its runs of five words with the other; case
//! and punctuation are ignored. A shorter text is a single run. Groups are transitive: a chain of alike
//! texts is one group. The time is about linear, because only texts that share one of their rarest runs are
//! compared.

use std::collections::HashMap;

const RUN: usize = 5;

/// Returns groups of at least two texts, as indices, in the order of their first text.
pub fn groups(texts: &[String]) -> Vec<Vec<usize>> {
    let mut known = HashMap::new();
    let runs: Vec<Vec<usize>> = texts.iter().map(|text| runs(text, &mut known)).collect();
    let mut common = vec![0_usize; known.len()];
    runs.iter().flatten().for_each(|run| common[*run] += 1);
    // By text: the first text of its group.
    let mut first: Vec<usize> = (0..texts.len()).collect();
    let mut with: Vec<Vec<usize>> = vec![Vec::new(); known.len()];
    for (at, own) in runs.iter().enumerate() {
        // Two alike texts always share one of the rarest runs of each.
        let mut rarest = own.clone();
        rarest.sort_by_key(|run| common[*run]);
        rarest.truncate(own.len() - needed(own.len()) + usize::from(!own.is_empty()));
        for run in rarest {
            for other in &with[run] {
                let (one, two) = (first[at], first[*other]);
                if one != two && share_enough(own, &runs[*other]) {
                    first.iter_mut().filter(|of| **of == one.max(two)).for_each(|of| *of = one.min(two));
                }
            }
            with[run].push(at);
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); texts.len()];
    for (at, first) in first.into_iter().enumerate() {
        groups[first].push(at);
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Returns the distinct runs of a text as sorted ids; `known` assigns the ids.
fn runs(text: &str, known: &mut HashMap<String, usize>) -> Vec<usize> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let length = words.len().clamp(1, RUN);
    let runs = words.windows(length).map(|run| {
        let next = known.len();
        *known.entry(run.join(" ")).or_insert(next)
    });
    let mut runs: Vec<usize> = runs.collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

fn needed(runs: usize) -> usize {
    (9 * runs).div_ceil(10)
}

fn share_enough(one: &[usize], other: &[usize]) -> bool {
    let shared = one.iter().filter(|run| other.binary_search(run).is_ok()).count();
    shared >= needed(one.len().max(other.len()))
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
