//! Errors and warnings for people: one message, one place, one next step.
//!
//! A message is a lower-case fragment with names in backticks; the hint is the next step. It never contains
//! a backtrace, a key or an answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Place in a file. Line and column count from 1; 0 means unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLocation {
    pub file: String,
    pub line: u64,
    pub column: u64,
}

/// Error or warning, as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub message: String,
    /// Next step for the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<SourceLocation>,
}

impl Diagnostic {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, place: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns message and hint in one line, without the place.
    pub fn with_hint(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default();
        format!("{}{hint}", self.message)
    }

    /// Sets the place, unless one is set already.
    #[must_use]
    pub fn at(mut self, file: &str, line: u64, column: u64) -> Self {
        self.place.get_or_insert(SourceLocation { file: file.to_owned(), line, column });
        self
    }

    /// Sets the file and keeps line and column.
    #[must_use]
    pub fn with_file(mut self, file: &str) -> Self {
        match &mut self.place {
            Some(place) => file.clone_into(&mut place.file),
            None => self.place = Some(SourceLocation { file: file.to_owned(), line: 0, column: 0 }),
        }
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            f.write_str(&place.file)?;
            if place.line > 0 {
                write!(f, ":{}", place.line)?;
            }
            if place.column > 0 {
                write!(f, ":{}", place.column)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// Returns the known word nearest to `word`, if it is close enough; else the only one with `word` as a part.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let is_as_long = |candidate: &&str| lower.len() <= 8 + 2 * candidate.len();
    let known: Vec<&str> = known.into_iter().filter(is_as_long).collect();
    let has_part =
        |candidate: &&&str| lower.len() > 2 && candidate.split(['-', '_']).any(|part| part == lower);
    let mut parts = known.iter().filter(has_part);
    let only = parts.next().filter(|_| parts.next().is_none());
    known
        .iter()
        .copied()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            *distance <= 1 + candidate.chars().count().min(lower.chars().count()) / 4
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
        .or(only.copied())
}

/// Most words that a hint lists.
const MOST_LISTED: usize = 8;

/// Returns the hint for an unknown word: the nearest known word, else the first ones, with `…` if some are
/// omitted.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    if word.contains('\u{a0}') {
        return "it contains a no-break space: write an ordinary one".to_owned();
    }
    if let Some(candidate) = nearest(word, known.iter().copied()) {
        return format!("did you mean `{candidate}`?");
    }
    if known.len() <= MOST_LISTED {
        return format!("known here: {}", known.join(", "));
    }
    format!("known here: {}, …", known[..MOST_LISTED].join(", "))
}

impl From<Diagnostic> for Vec<Diagnostic> {
    fn from(problem: Diagnostic) -> Self {
        vec![problem]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_precedes_the_message() {
        let problem = Diagnostic::new("unknown key `stpes`").at("a.yaml", 3, 1);
        assert_eq!(problem.to_string(), "a.yaml:3:1: unknown key `stpes`");
        assert_eq!(Diagnostic::new("x").with_file("f").to_string(), "f: x");
    }

    #[test]
    fn only_near_words_are_suggested() {
        assert_eq!(nearest("agnet", ["round", "agent"]), Some("agent"));
        assert_eq!(nearest("zebra", ["round", "agent"]), None);
        assert_eq!(nearest("architect", ["software-architect", "qa-lead"]), Some("software-architect"));
        assert_eq!(nearest("lead", ["technical-lead", "qa-lead"]), None);
        // Very long keys are compared with nothing.
        let started = std::time::Instant::now();
        assert_eq!(nearest(&"x".repeat(2_000_000), ["round", "agent"]), None);
        assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
    }
}
