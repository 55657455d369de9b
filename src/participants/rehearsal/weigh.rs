//! How much each sentence of a scene weighs for one persona.
//!
//! value = polarity × (0.5 + what it touches of the priorities) × how far a requirement backs it.
//! Nothing here depends on the order of a map or on anything but scene and priorities.

use std::collections::BTreeMap;

use super::scene::{Scene, Statement};
use super::words::{Word, is_common, is_kin, stem};
use crate::persona::Persona;

/// What a sentence weighs that touches no priority.
const BASE: f64 = 0.5;
/// A word that stands in more requirements than this connects nothing.
const TOO_COMMON: usize = 24;

/// A sentence with its weight for a persona.
#[derive(Debug, Clone)]
pub(super) struct Weighed<'a> {
    pub statement: &'a Statement,
    /// Above 0 it speaks for its subject, below 0 against.
    pub value: f64,
    /// The priorities it touches, heaviest first.
    pub themes: Vec<&'a str>,
    /// The heaviest priority it touches.
    pub top: f64,
    /// The requirement it shares most words with.
    pub backing: Option<usize>,
}

impl Weighed<'_> {
    /// How much it counts, whichever way.
    pub fn size(&self) -> f64 {
        self.value.abs()
    }
}

/// Weighs every sentence of the scene that says something for or against.
pub(super) fn weigh<'a>(
    scene: &'a Scene,
    persona: &'a Persona,
    names: impl Fn(&str) -> bool,
) -> Vec<Weighed<'a>> {
    let priorities: Vec<(&str, String, f64)> =
        persona.priorities.iter().map(|(word, weight)| (word.as_str(), stem(word), *weight)).collect();
    let backers = Backers::new(scene, names);
    let weighed = scene.statements.iter().filter(|s| s.polarity != 0.0).map(|statement| {
        let touched = touched(&statement.words, &priorities);
        let backing = backers.of(statement);
        let mut sum = BASE;
        for (rank, (_, weight)) in touched.iter().enumerate() {
            sum += if rank == 0 { *weight } else { weight / 2.0 };
        }
        let backed = backing.map_or(1.0, |(_, shared)| f64::from(shared.min(4)).mul_add(0.15, 1.0));
        let echoed = f64::from(u32::try_from(statement.echoes.min(8)).unwrap_or(8)).mul_add(0.15, 1.0);
        Weighed {
            statement,
            value: statement.polarity * sum * backed * echoed,
            top: touched.first().map_or(0.0, |(_, weight)| *weight),
            themes: touched.into_iter().map(|(word, _)| word).collect(),
            backing: backing.map(|(requirement, _)| requirement),
        }
    });
    weighed.collect()
}

/// The priorities a sentence touches, heaviest first, equals in the persona's order.
fn touched<'a>(words: &[Word], priorities: &[(&'a str, String, f64)]) -> Vec<(&'a str, f64)> {
    let mut touched: Vec<(&str, f64)> = priorities
        .iter()
        .filter(|(_, stem, _)| words.iter().any(|word| is_kin(word, stem)))
        .map(|(word, _, weight)| (*word, *weight))
        .collect();
    touched.sort_by(|a, b| b.1.total_cmp(&a.1));
    touched
}

/// Which requirement a sentence shares words with.
struct Backers<'a> {
    scene: &'a Scene,
    holders: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Backers<'a> {
    fn new(scene: &'a Scene, names: impl Fn(&str) -> bool) -> Self {
        let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, requirement) in scene.requirements.iter().enumerate() {
            for word in requirement.words.iter().filter(|w| !is_common(w) && !names(&w.stem)) {
                let held = holders.entry(&word.stem).or_default();
                if held.last() != Some(&at) {
                    held.push(at);
                }
            }
        }
        holders.retain(|_, held| held.len() <= TOO_COMMON);
        Self { scene, holders }
    }

    /// The requirement that shares most words with a sentence, two at least, and their number;
    /// among equals an artifact, then the earliest.
    fn of(&self, statement: &Statement) -> Option<(usize, u32)> {
        let mut stems: Vec<&str> = statement.words.iter().map(|word| word.stem.as_str()).collect();
        stems.sort_unstable();
        stems.dedup();
        let mut shared: BTreeMap<usize, u32> = BTreeMap::new();
        for at in stems.iter().filter_map(|stem| self.holders.get(stem)).flatten() {
            *shared.entry(*at).or_default() += 1;
        }
        let other = |at: usize| self.scene.requirements[at].text != statement.text;
        let found = shared.into_iter().filter(|(at, count)| *count >= 2 && other(*at));
        let artifact = |at: usize| !self.scene.requirements[at].place.contains(' ');
        found.max_by_key(|(at, count)| (*count, artifact(*at), std::cmp::Reverse(*at)))
    }
}

/// Sorts the heaviest sentence first; equals stay in the order of the text.
pub(super) fn heaviest<'a, 'b>(weighed: impl Iterator<Item = &'b Weighed<'a>>) -> Vec<&'b Weighed<'a>>
where
    'a: 'b,
{
    let mut sorted: Vec<&Weighed> = weighed.collect();
    sorted.sort_by(|a, b| b.size().total_cmp(&a.size()));
    sorted
}

/// The priorities behind some sentences, heaviest first.
pub(super) fn themes<'a>(weighed: &[&Weighed<'a>], most: usize) -> Vec<&'a str> {
    let mut sums: Vec<(&str, f64)> = Vec::new();
    for one in weighed {
        for theme in &one.themes {
            match sums.iter_mut().find(|(known, _)| known == theme) {
                Some((_, sum)) => *sum += one.size(),
                None => sums.push((theme, one.size())),
            }
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums.into_iter().map(|(theme, _)| theme).take(most).collect()
}
