//! Phrases that ask the reader to look something up in a tracker, a file or a link.
//!
//! A guess about language: an order at the start of a clause (or after "you must", "remember to" and
//! the like) whose object is a place to look things up. Statements, questions about such things, and
//! orders to check *that* something holds are none.

use super::spelling::{looks_like_id, plain};
use super::words::{
    AFTER, AT_HAND, EXTENSIONS, FILLERS, GERUNDS, MODALS, PLACES, PRODUCTS, RECORDS, REMINDERS, STOPS,
    SUBJECTS, SUBORDINATE, TAKE, TRACKERS, VERBS,
};

/// How many words may stand between the order and what is looked up.
const REACH: usize = 6;

/// Every phrase of a text that asks to look something up, but in what `names` says is at hand.
pub fn lookups(said: &str, names: &str) -> Vec<String> {
    let names = names.to_lowercase();
    said.lines()
        .flat_map(sentences)
        .filter_map(|sentence| {
            let phrase = Sentence::of(sentence).lookup(&names)?;
            Some(phrase.trim_matches(|c: char| "*_`\"'().,:;!?".contains(c)).to_owned())
        })
        .collect()
}

/// Cuts at what ends a sentence; each keeps its question mark.
fn sentences(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, c) in line.char_indices() {
        let is_last = line[at + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace);
        if matches!(c, '!' | '?' | ';' | '—') || (matches!(c, '.' | ':') && is_last) {
            parts.push(&line[start..at + c.len_utf8()]);
            start = at + c.len_utf8();
        }
    }
    parts.push(&line[start..]);
    parts
}

/// How the clauses so far speak.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Order,
    Statement,
    Forbidden,
}

struct Sentence<'a> {
    raw: Vec<&'a str>,
    words: Vec<String>,
    is_question: bool,
}

impl<'a> Sentence<'a> {
    fn of(text: &'a str) -> Self {
        let raw: Vec<&str> = text.split_whitespace().collect();
        let words = raw.iter().map(|word| plain(&word.replace('’', "'"))).collect();
        Self { raw, words, is_question: text.trim_end().ends_with('?') }
    }

    /// The first phrase that asks to look something up.
    fn lookup(&self, names: &str) -> Option<String> {
        let mut mood = Mood::Order;
        let starts = (0..self.words.len()).filter(|at| self.starts_clause(*at));
        for start in starts {
            let first = self.after_fillers(start);
            let (mood_now, order) = self.clause(start, first, mood);
            mood = mood_now;
            let found = order.and_then(|at| Some(self.raw[at..=self.place(at, names)?].join(" ")));
            if found.is_some() {
                return found;
            }
        }
        self.passive()
    }

    fn starts_clause(&self, at: usize) -> bool {
        let is_cut = |word: &str| word.ends_with([',', ')']) || word == "-" || word == "–";
        at == 0
            || is_cut(self.raw[at - 1])
            || matches!(self.words[at].as_str(), "and" | "then" | "or" | "but")
    }

    fn after_fillers(&self, start: usize) -> usize {
        let is_filler = |word: &&String| {
            FILLERS.contains(&word.as_str())
                || word.is_empty()
                || word.chars().all(|c| c.is_ascii_digit() || c == '.')
        };
        start + self.words[start..].iter().take_while(is_filler).count()
    }

    /// The mood of a clause, and where its order stands if it gives one.
    fn clause(&self, start: usize, first: usize, before: Mood) -> (Mood, Option<usize>) {
        let Some(word) = self.words.get(first).map(String::as_str) else { return (before, None) };
        if let Some(at) = self.asked_of_you(first) {
            return (Mood::Order, Some(at));
        }
        let is_forbidden = matches!(word, "never" | "don't" | "dont" | "avoid" | "without" | "not")
            || word == "do" && self.words.get(first + 1).is_some_and(|next| next == "not");
        if is_forbidden {
            return (Mood::Forbidden, None);
        }
        if SUBORDINATE.contains(&word) {
            return (Mood::Order, None);
        }
        let follows = start > 0 && first < self.words.len();
        let inherits =
            follows && before != Mood::Order && self.words[start] != "then" && self.words[start] != "but";
        if self.verb(first).is_some() {
            let is_order = !inherits && !self.is_question;
            return (if inherits { before } else { Mood::Order }, is_order.then_some(first));
        }
        let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
        let is_statement = SUBJECTS.contains(&word) || is_plural;
        (
            if is_statement {
                Mood::Statement
            } else if follows {
                before
            } else {
                Mood::Order
            },
            None,
        )
    }

    /// Where the order stands in "you must check …", "could you check …", "remember to check …".
    fn asked_of_you(&self, first: usize) -> Option<usize> {
        let reminder = REMINDERS.iter().find(|turn| self.has(first, turn));
        let is_by = first > 0 && self.words.get(first).is_some_and(|word| word == "by");
        let at = if let Some(turn) = reminder {
            first + turn.split(' ').count()
        } else if is_by {
            first + 1
        } else {
            let is_modal = |word: &&String| MODALS.contains(&word.as_str());
            let said: Vec<&String> = self.words[first..].iter().take_while(is_modal).collect();
            if !said.iter().any(|word| word.starts_with("you")) {
                return None;
            }
            first + said.len()
        };
        self.verb(at).map(|_| at)
    }

    fn has(&self, at: usize, phrase: &str) -> bool {
        let wanted = phrase.split(' ');
        let count = wanted.clone().count();
        self.words.get(at..at + count).is_some_and(|words| words.iter().map(String::as_str).eq(wanted))
    }

    /// How many words the order at `at` has.
    fn verb(&self, at: usize) -> Option<usize> {
        let word = self.words.get(at)?.as_str();
        if let Some(verb) = VERBS.iter().find(|verb| self.has(at, verb)) {
            return Some(verb.split(' ').count());
        }
        let is_look_up = word == "look" && self.words[at + 1..].iter().take(4).any(|word| word == "up");
        let is_gerund = GERUNDS.contains(&word) && at > 0 && self.words[at - 1] == "by";
        (is_look_up || is_gerund || TAKE.contains(&word)).then_some(1)
    }

    /// The last word of what the order at `at` looks something up in.
    fn place(&self, at: usize, names: &str) -> Option<usize> {
        let verb = self.words[at].as_str();
        let from = at + self.verb(at)?;
        let to = (from + REACH).min(self.words.len());
        let reach = (from..to).take_while(|i| !STOPS.contains(&self.words[*i].as_str()));
        let reach: Vec<usize> = reach.collect();
        let rest = &self.words[from..];
        if rest.iter().any(|word| AT_HAND.contains(&word.as_str())) {
            return None;
        }
        let takes = from == at + 1 && TAKE.contains(&verb);
        let looks_up = verb == "look" && rest.iter().chain([&self.words[at + 1]]).any(|word| word == "up");
        let found = reach.iter().copied().find(|i| {
            let word = self.words[*i].as_str();
            if takes {
                return is_tracker(word) && matches!(self.words[*i - 1].as_str(), "in" | "from" | "the");
            }
            let direct = *i < from + 3;
            match () {
                () if is_address(word) => verb != "check" || direct,
                () if is_path(word) => !names.contains(word),
                () if is_tracker(word) || PLACES.contains(&word) => self.stands_alone(*i),
                () => looks_up && RECORDS.contains(&word) && self.stands_alone(*i),
            }
        })?;
        // "look up the ticket in the tracker" is one phrase.
        let ends = |word: &str| is_tracker(word) || looks_up && word == "up";
        let further = reach.iter().copied().rfind(|i| *i > found && ends(&self.words[*i]));
        Some(further.unwrap_or(found))
    }

    /// Whether the word is no part of a compound such as "file size" or "linear growth".
    fn stands_alone(&self, at: usize) -> bool {
        let ends = self.raw[at].ends_with([',', '.', ':', ';', '!', '?', ')', '"', '`', '\'', '*', '—']);
        ends || self.words.get(at + 1).is_none_or(|next| {
            AFTER.contains(&next.as_str())
                || is_path(next)
                || is_address(next)
                || looks_like_id(&next.to_uppercase())
        })
    }

    /// "The ticket should be looked up in Jira."
    fn passive(&self) -> Option<String> {
        let at = (0..self.words.len()).find(|at| self.has(*at, "be looked up"))?;
        let end = (at..self.words.len()).find(|i| is_tracker(&self.words[*i]))?;
        let is_refused = self.words[..at].iter().any(|word| matches!(word.as_str(), "not" | "never"));
        (!is_refused && !self.is_question).then(|| self.raw[at..=end].join(" "))
    }
}

fn is_tracker(word: &str) -> bool {
    TRACKERS.contains(&word)
}

/// Whether a word is an address; one of this machine holds nothing to hand over.
fn is_address(word: &str) -> bool {
    let host = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://"));
    let local = ["localhost", "127.", "0.0.0.0", "[::1]"];
    host.is_some_and(|host| !local.iter().any(|start| host.starts_with(start)))
}

fn is_path(word: &str) -> bool {
    let is_file = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        stem.chars().any(char::is_alphabetic) && EXTENSIONS.contains(&extension)
    });
    let is_folder = ["./", "../", "~/"].iter().any(|start| word.starts_with(start))
        || (word.starts_with('/') && word.matches('/').count() >= 2)
        || (word.ends_with('/') && word.len() > 1);
    (is_file || is_folder) && !word.contains("://") && !PRODUCTS.contains(&word)
}
