//! Which option a piece of text is about.
//!
//! An option is mentioned by its exact words, or by all the words that set it apart from the others.
//! After `than`, `over`, `instead of` … the option that follows is the other side of a comparison.

use super::words::{Word, is_common, words};

/// Words after which an option is what the first one is measured against.
const CONTRAST: [&str; 5] = ["than", "over", "unlike", "instead", "versus"];

#[derive(Debug)]
struct Known {
    phrase: Vec<String>,
    /// Stems that set it apart; empty if none does.
    marks: Vec<String>,
}

/// The options of a ballot, made ready to be found in text.
#[derive(Debug)]
pub(super) struct Mentions {
    known: Vec<Known>,
}

impl Mentions {
    /// Prepares the options; what stands in brackets after an option's name does not identify it.
    pub fn new(options: &[String]) -> Self {
        let heads: Vec<Vec<Word>> = options
            .iter()
            .map(|option| {
                words(
                    option.split(['(', ':']).next().filter(|head| !head.trim().is_empty()).unwrap_or(option),
                )
            })
            .collect();
        let holders = |stem: &str| heads.iter().filter(|head| head.iter().any(|w| w.stem == stem)).count();
        let known = heads
            .iter()
            .map(|head| {
                let telling: Vec<&Word> = head.iter().filter(|word| !is_common(word)).collect();
                let own: Vec<&Word> =
                    telling.iter().copied().filter(|word| holders(&word.stem) == 1).collect();
                let marks = if own.is_empty() { telling } else { own };
                Known {
                    phrase: head.iter().map(|word| word.stem.clone()).collect(),
                    marks: marks.into_iter().map(|word| word.stem.clone()).collect(),
                }
            })
            .collect();
        Self { known }
    }

    /// Whether `stem` belongs to an option's name.
    pub fn names(&self, stem: &str) -> bool {
        self.known.iter().any(|known| known.marks.iter().any(|mark| mark == stem))
    }

    /// The one option a heading or label is about.
    pub fn heading(&self, heading: &[Word]) -> Option<usize> {
        let whole =
            |known: &Known| known.phrase.len() == heading.len() && place(&known.phrase, heading).is_some();
        let exact = self.known.iter().position(whole);
        exact.or_else(|| match self.find(heading)[..] {
            [(only, _)] => Some(only),
            _ => None,
        })
    }

    /// The options a sentence is about, with the side of the comparison they are on.
    pub fn sides(&self, sentence: &[Word]) -> Vec<(usize, f64)> {
        let turn = sentence.iter().position(|word| CONTRAST.contains(&word.raw.as_str()));
        let found = self.find(sentence);
        let after = |at: usize| turn.is_some_and(|turn| at > turn);
        let compared = found.iter().any(|(_, at)| after(*at)) && found.iter().any(|(_, at)| !after(*at));
        found.iter().map(|&(option, at)| (option, if compared && after(at) { -0.5 } else { 1.0 })).collect()
    }

    /// Options found, each with the place of its first word, in the ballot's order.
    fn find(&self, text: &[Word]) -> Vec<(usize, usize)> {
        let hits: Vec<(usize, usize)> = self
            .known
            .iter()
            .enumerate()
            .filter(|(_, known)| !known.marks.is_empty())
            .filter_map(|(option, known)| {
                place(&known.phrase, text).or_else(|| scattered(&known.marks, text)).map(|at| (option, at))
            })
            .collect();
        hits.iter().filter(|hit| !self.is_part_of_another(**hit, &hits, text)).copied().collect()
    }

    /// `redis` inside `redis cluster` is not a mention of `redis`.
    fn is_part_of_another(&self, hit: (usize, usize), hits: &[(usize, usize)], text: &[Word]) -> bool {
        let mine = &self.known[hit.0].phrase;
        hits.iter().any(|other| {
            let theirs = &self.known[other.0].phrase;
            let covers =
                theirs.len() > mine.len() && theirs.windows(mine.len().max(1)).any(|part| part == mine);
            covers && place(theirs, text).is_some_and(|at| (at..at + theirs.len()).contains(&hit.1))
        })
    }
}

/// Where the words of `phrase` stand one after the other.
fn place(phrase: &[String], text: &[Word]) -> Option<usize> {
    if phrase.is_empty() {
        return None;
    }
    text.windows(phrase.len()).position(|part| part.iter().zip(phrase).all(|(word, stem)| word.stem == *stem))
}

/// Where the first of `marks` stands, if all of them do.
fn scattered(marks: &[String], text: &[Word]) -> Option<usize> {
    let places = marks.iter().map(|mark| text.iter().position(|word| word.stem == *mark));
    places.collect::<Option<Vec<_>>>()?.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(options: &[&str], text: &str) -> Vec<(usize, f64)> {
        let options: Vec<String> = options.iter().map(|o| (*o).to_owned()).collect();
        Mentions::new(&options).sides(&words(text))
    }

    #[test]
    fn finds_options_and_sides() {
        let three = ["file-based context", "inline context", "hybrid (some of both)"];
        assert_eq!(sides(&three, "Inline prompts are larger"), [(1, 1.0)]);
        assert_eq!(sides(&three, "Inline is simpler than file-based reads"), [(0, -0.5), (1, 1.0)]);
        assert_eq!(sides(&three, "The context is large"), []);
        assert_eq!(sides(&["redis", "redis cluster"], "A redis cluster is complex"), [(1, 1.0)]);
        assert_eq!(sides(&["no", "yes"], "There is no backup"), []);
        assert_eq!(sides(&[], "x"), []);
    }
}
