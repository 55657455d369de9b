//! What a sentence says for or against what it is about: a small list of English words.
//!
//! Each list is documented by what its words count. The reading is shallow and the same everywhere:
//! it knows negation within a clause and the leads of a list of pros and cons, and no irony.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::words::{Word, stem};

/// Count 1 for what they describe, -1 when negated.
const GOOD: &str = "good better best simple simpler easy easier clear consistent atomic stable reliable robust safe \
    safer secure fast faster quick quicker cheap cheaper smaller complete correct prevent avoid protect enable \
    guarantee reproducible deterministic repeatable transparent predictable independent useful helpful proven \
    familiar flexible compatible visible traceable balance improve help benefit isolated identical reversible \
    equal idempotent";

/// Count -1, and 0.75 when negated or prevented.
const BAD: &str = "bad worse worst risk danger larger bigger complex complicated difficult hard break broken fail error \
    bug wrong lose loss lost leak expose vulnerable attack fraud abuse steal stale drift conflict race duplicate \
    twice slow slower delay late expensive costly overhead burden confuse ambiguous hidden silent partial \
    incomplete missing lack outage crash corrupt insecure inconsistent irreversible manual guess assume fragile \
    flaky brittle noisy exceed overload timeout orphan lag problem trouble plaintext weak forget forever exception alone \
    whoever";

/// Safeguards: 0.75 where the text says it was done (`tested`), -1 where it says it was not or that
/// there is none, and nothing where they are merely named.
const SAFEGUARD: &str = "test rollback backup encrypt sign review monitor alert log login password document audit approve limit retry \
    validate verify check restore expire rotate recover owner alarm measure fallback authenticate \
    authorise authorize permission isolation repeat reverse undo";

/// Demands on someone: -0.5, and 1 when the text says they are not made.
const DEMAND: &str = "need require depend";

/// Words of possibility: what they make of a word of [`SHIFT`].
const HEDGE: [&str; 3] = ["may", "might", "could"];

/// Count -0.75 after a word of possibility: `the context may change`.
const SHIFT: &str = "change differ vary see grow overwrite edit diverge";

/// Turn what follows in their clause round.
const NEGATION: [&str; 26] = [
    "no", "not", "never", "without", "nothing", "nobody", "none", "neither", "nor", "cannot", "can't",
    "don't", "doesn't", "won't", "isn't", "aren't", "wasn't", "didn't", "non", "less", "fewer", "lower",
    "lack", "lacks", "hardly", "isnt",
];

/// Keep what follows from happening, so a bad word after them is good.
const PREVENTION: &str = "monitor prevent avoid protect reduce remove eliminate limit catch stop exclude";

/// Words after a negation that it still reaches.
const REACH: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Sense {
    plain: f64,
    negated: f64,
}

static SENSES: LazyLock<BTreeMap<String, Sense>> = LazyLock::new(|| {
    let lists = [
        (DEMAND, -0.5, 1.0),
        (SAFEGUARD, 0.0, -1.0),
        (SHIFT, 0.0, 0.0),
        (BAD, -1.0, 0.75),
        (GOOD, 1.0, -1.0),
    ];
    let entries = lists.iter().flat_map(|&(list, plain, negated)| {
        list.split_whitespace().map(move |word| (stem(word), Sense { plain, negated }))
    });
    entries.collect()
});

static PREVENTING: LazyLock<Vec<String>> =
    LazyLock::new(|| PREVENTION.split_whitespace().map(stem).collect());

/// How far a sentence speaks for (above 0) or against (below 0) its subject, from -2 to 2.
pub(super) fn polarity(clauses: &[Vec<Word>]) -> f64 {
    let sum: f64 = clauses.iter().map(|clause| clause_polarity(clause)).sum();
    sum.clamp(-2.0, 2.0)
}

fn clause_polarity(clause: &[Word]) -> f64 {
    let polarity = |(at, word): (usize, &Word)| word_polarity(word, &clause[at.saturating_sub(REACH)..at]);
    clause.iter().enumerate().map(polarity).sum()
}

/// What a word says after the words before it in its clause.
fn word_polarity(word: &Word, before: &[Word]) -> f64 {
    let Some(sense) = SENSES.get(&word.stem) else {
        return if denies_good(word) { -1.0 } else { 0.0 };
    };
    let among = |list: &[&str]| before.iter().filter(|w| list.contains(&w.raw.as_str())).count();
    let prevented = before.iter().any(|w| PREVENTING.contains(&w.stem));
    let turned = (among(&NEGATION) % 2 == 1) != (prevented && sense.plain < 0.0);
    match sense {
        _ if turned => sense.negated,
        Sense { plain: 0.0, negated: 0.0 } if among(&HEDGE) > 0 => -0.75,
        Sense { plain: 0.0, negated } if *negated < 0.0 && word.raw.ends_with("ed") => 0.75,
        _ => sense.plain,
    }
}

/// `untested`, `unsigned`, `unclear`: the opposite of a good word.
fn denies_good(word: &Word) -> bool {
    let rest = word.raw.strip_prefix("un").map(stem);
    rest.and_then(|rest| SENSES.get(&rest)).is_some_and(|sense| sense.plain > 0.0 || sense.negated < 0.0)
}

/// What the lead of a list item says (`Good, because …`, `Con: …`) and what is left after it.
pub(super) fn lead(text: &str) -> (Option<f64>, &str) {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let Some(rest) = rest.strip_prefix([',', ':']) else { return (None, text) };
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("because ").unwrap_or(rest);
    match side(word) {
        Some(side) if !rest.is_empty() => (Some(side), rest.trim_start()),
        _ => (None, text),
    }
}

/// The side a heading or lead puts what follows on: 1 for, -1 against, 0 neither.
pub(super) fn side(word: &str) -> Option<f64> {
    match word.to_lowercase().as_str() {
        "good" | "pro" | "pros" | "advantage" | "advantages" | "benefit" | "benefits" | "for" => Some(1.0),
        "bad" | "con" | "cons" | "disadvantage" | "disadvantages" | "drawback" | "drawbacks" | "against"
        | "risk" | "risks" => Some(-1.0),
        "neutral" => Some(0.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::clauses;
    use super::*;

    fn of(text: &str) -> f64 {
        polarity(&clauses(text))
    }

    #[test]
    fn reads_words_negation_and_prevention() {
        for good in [
            "atomic, consistent context",
            "no tool access needed",
            "prevents inconsistent state",
            "smaller prompts",
            "participants don't need tool access",
            "it can never fail",
        ] {
            assert!(of(good) > 0.0, "{good}: {}", of(good));
        }
        for bad in [
            "requires tool access",
            "the context may change during the round",
            "larger prompts",
            "complex to implement",
            "there is no rollback",
            "the archive is unsigned",
            "less consistent",
        ] {
            assert!(of(bad) < 0.0, "{bad}: {}", of(bad));
        }
        assert!(of("the shop lists prices").abs() < 1e-9);
        assert!((of("no tests, and a good name") - of("a good name") - of("no tests")).abs() < 1e-9);
    }

    #[test]
    fn leads_take_a_side() {
        assert_eq!(lead("Good, because smaller prompts"), (Some(1.0), "smaller prompts"));
        assert_eq!(lead("Con: slow"), (Some(-1.0), "slow"));
        assert_eq!(lead("Goodness, what"), (None, "Goodness, what"));
    }
}
