//! References of an answer, checked against the snapshot that was asked over.
//!
//! A reference resolves when it names an artifact (`REQ-001`), lines of one (`SRC-1:10-20`, or by the
//! file it comes from, `src/cache.rs:12`), or quotes what stands in the snapshot; line numbers, white
//! space and case aside. Nothing here changes what was counted.

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::ballot::line_range;
use crate::history::{AnswerRevealed, RoundRun};
use crate::yaml;

#[derive(Debug, Clone, Default)]
pub struct Citable {
    artifacts: Vec<CitableArtifact>,
    /// All texts of the snapshot, folded by [`folded`].
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Citation {
    Artifact(String),
    Lines(String),
    Quotation,
}

#[derive(Debug, Clone)]
struct CitableArtifact {
    id: String,
    summary: String,
    source: Option<String>,
    lines: Vec<CitableLine>,
    /// For a diff: the lines of each file after the change that it shows.
    hunks: Vec<(String, CitableLine)>,
}

#[derive(Debug, Clone)]
struct CitableLine {
    number: u32,
    text: String,
}

impl Citable {
    pub fn of_round(round: &RoundRun) -> Self {
        Self::of(&round.opened.snapshot)
    }

    /// Reads the snapshot of a round. A snapshot that is not readable holds nothing.
    pub fn of(snapshot: &str) -> Self {
        let value = yaml::read(snapshot, "snapshot").map(|node| node.to_json()).unwrap_or_default();
        let context = &value["participant_context"];
        let mut texts = Vec::new();
        gather(context, &mut texts);
        let artifacts: Vec<CitableArtifact> =
            context["artifacts_snapshot"].as_array().into_iter().flatten().map(CitableArtifact::of).collect();
        // A quotation leaves out the signs a diff puts before its lines.
        texts.extend(artifacts.iter().flat_map(|it| &it.hunks).map(|(_, line)| line.text.clone()));
        Self { artifacts, text: folded(&texts.join("\n")) }
    }

    /// Finds what a reference leads to; none when it leads nowhere in the snapshot.
    pub fn resolve(&self, reference: &str) -> Option<Citation> {
        let reference = reference.trim().trim_matches(['`', '"', '\'', '“', '”', '«', '»', '[', ']']).trim();
        if let Some(artifact) = self.artifacts.iter().find(|artifact| artifact.id == reference) {
            return Some(Citation::Artifact(artifact.summary.clone()));
        }
        if let Some((place, range)) = reference.rsplit_once(':')
            && let Some(range) = line_range(range)
            && let Some(lines) = self.artifacts.iter().find_map(|it| it.cited(place.trim(), &range))
        {
            return Some(Citation::Lines(lines));
        }
        let quoted = self.artifacts.iter().find_map(|artifact| reference.strip_prefix(artifact.id.as_str()));
        let quoted = quoted.and_then(|rest| rest.trim_start().strip_prefix([':', ',', '-', '–']));
        let is_quotation = self.holds(reference) || quoted.is_some_and(|quote| self.holds(quote));
        is_quotation.then_some(Citation::Quotation)
    }

    /// Looks for a file, and lines of it, in the evidence; every place is found where there is no evidence.
    pub fn has_place(&self, file: &str, lines: Option<(u32, u32)>) -> bool {
        let file = file.trim().trim_start_matches("./");
        let mut has_places = false;
        for artifact in self.artifacts.iter().filter(|it| it.source.is_some() || !it.hunks.is_empty()) {
            has_places = true;
            let is_here = if let Some((from, to)) = lines {
                artifact.cited(file, &(from..=to)).is_some()
            } else {
                artifact.source.as_deref() == Some(file)
                    || artifact.hunks.iter().any(|(path, _)| path == file)
            };
            if is_here {
                return true;
            }
        }
        !has_places
    }

    fn holds(&self, quote: &str) -> bool {
        let quote = folded(quote.trim().trim_matches(['"', '“', '”', '.', ',', '…']));
        let is_edge = |edge: Option<char>, beside: Option<char>| {
            !(edge.is_some_and(char::is_alphanumeric) && beside.is_some_and(char::is_alphanumeric))
        };
        !quote.is_empty()
            && self.text.match_indices(&quote).any(|(at, _)| {
                is_edge(quote.chars().next(), self.text[..at].chars().next_back())
                    && is_edge(quote.chars().next_back(), self.text[at + quote.len()..].chars().next())
            })
    }

    /// The references of an answer that lead nowhere in the snapshot, as they were written.
    pub fn unresolved<'a>(&self, answer: &'a AnswerRevealed) -> Vec<&'a str> {
        references(answer).filter(|reference| self.resolve(reference).is_none()).collect()
    }

    pub fn supports(&self, answer: &AnswerRevealed) -> bool {
        references(answer).any(|reference| self.resolve(reference).is_some())
    }
}

pub fn references(answer: &AnswerRevealed) -> impl Iterator<Item = &str> {
    let listed = answer.answer.get("references").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).filter(|reference| !reference.trim().is_empty())
}

impl CitableArtifact {
    fn of(artifact: &Value) -> Self {
        let text = |key: &str| artifact[key].as_str().map(str::to_owned);
        let content = text("content").unwrap_or_default();
        let first = text("lines").and_then(|range| line_range(&range)).map_or(1, |range| *range.start());
        let lines = (first..).zip(content.lines()).map(|(number, line)| {
            let (number, text) = numbered(line).unwrap_or((number, line));
            CitableLine { number, text: text.to_owned() }
        });
        let lines: Vec<CitableLine> = lines.collect();
        Self {
            id: text("id").unwrap_or_default(),
            summary: text("summary").unwrap_or_default(),
            source: text("source"),
            hunks: hunks(&lines),
            lines,
        }
    }

    /// Its lines in a range, if the place is this artifact and has all of them.
    fn cited(&self, place: &str, range: &RangeInclusive<u32>) -> Option<String> {
        let path =
            place.strip_prefix(&self.id).and_then(|rest| rest.strip_prefix(':')).unwrap_or(place).trim();
        let is_in = |line: &&CitableLine| range.contains(&line.number);
        let found: Vec<&CitableLine> = if place == self.id || self.source.as_deref() == Some(place) {
            self.lines.iter().filter(is_in).collect()
        } else {
            let of_file = self.hunks.iter().filter(|(file, _)| file == path);
            of_file.map(|(_, line)| line).filter(is_in).collect()
        };
        let holds = |number: &u32| found.iter().any(|line| line.number == *number);
        let shown = |line: &&CitableLine| format!("{:>4}| {}\n", line.number, line.text);
        (holds(range.start()) && holds(range.end())).then(|| found.iter().map(shown).collect())
    }
}

/// The number and the text of a line such as `  12| let a = 1;`.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let (number, text) = line.split_once('|')?;
    Some((number.trim_start().parse().ok()?, text.strip_prefix(' ').unwrap_or(text)))
}

/// The lines of each file after the change that a unified diff shows; empty for any other text.
fn hunks(lines: &[CitableLine]) -> Vec<(String, CitableLine)> {
    let (mut file, mut number, mut found) = (None, 0, Vec::new());
    for line in lines.iter().map(|line| line.text.as_str()) {
        if let Some(path) = line.strip_prefix("+++ ") {
            let path = path.trim_end();
            file = Some(path.strip_prefix("b/").unwrap_or(path).to_owned());
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            let after = hunk.split_whitespace().find_map(|part| part.strip_prefix('+'));
            number = after.and_then(|after| after.split(',').next()?.parse().ok()).unwrap_or(0);
        } else if let (Some(file), true, Some(text)) = (&file, number > 0, line.strip_prefix(['+', ' '])) {
            found.push((file.clone(), CitableLine { number, text: text.to_owned() }));
            number += 1;
        }
    }
    found
}

fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let lines = text.lines().map(|line| numbered(line).map_or(line, |(_, line)| line));
            texts.push(lines.collect::<Vec<_>>().join("\n"));
        }
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(entries) => entries.values().for_each(|value| gather(value, texts)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// A text with its white space folded, in lower case, with plain quotation marks.
fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase().replace(['“', '”'], "\"").replace(['‘', '’'], "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNAPSHOT: &str = "participant_context:
  question: \"Which cache, given REQ-1000?\"
  artifacts_snapshot:
    - id: REQ-001
      summary: \"prices within a minute\"
    - id: SRC-1
      summary: \"src/cache.rs:10-12\"
      source: \"src/cache.rs\"
      lines: \"10-12\"
      content: |
          10| fn get() {
          11|     stale(
          12|         60)
    - id: CHANGE
      summary: \"main...HEAD\"
      content: |
           1| --- a/src/a.rs
           2| +++ b/src/a.rs
           3| @@ -7,2 +7,3 @@
           4|  let a = 1;
           5| +let b =
           6| +    2;
           7| -let c = 3;
";

    fn resolves(reference: &str) -> bool {
        Citable::of(SNAPSHOT).resolve(reference).is_some()
    }

    #[test]
    fn ids_lines_and_quotations_resolve() {
        for good in [
            "REQ-001",
            "`SRC-1`",
            "SRC-1:11",
            "SRC-1:10-12",
            "SRC-1: L10–L12",
            "src/cache.rs:12",
            "CHANGE:5",
            "src/a.rs:8-9",
            "CHANGE:src/a.rs:7",
            "\"Prices within\n  a minute.\"",
            "stale( 60)",
            "SRC-1: fn get()",
            "let b = 2;",
            "REQ-1000",
        ] {
            assert!(resolves(good), "{good}");
        }
    }

    #[test]
    fn what_is_not_there_does_not_resolve() {
        for bad in [
            "REQ-999",
            "REQ-00",
            "REQ-100",
            "SRC-1:13",
            "SRC-1:9-11",
            "SRC-1:12-10",
            "src/a.rs:10",
            "src/a.rs:6",
            "src/other.rs:1",
            "prices within an hour",
            "https://example.org",
            "\"\"",
        ] {
            assert!(!resolves(bad), "{bad}");
        }
    }

    #[test]
    fn a_reference_leads_to_its_lines() {
        let citable = Citable::of(SNAPSHOT);
        let lines = |text: &str| Some(Citation::Lines(text.to_owned()));
        assert_eq!(citable.resolve("SRC-1:11-12"), lines("  11|     stale(\n  12|         60)\n"));
        assert_eq!(citable.resolve("src/a.rs:8"), lines("   8| let b =\n"));
        let summary = Citation::Artifact("prices within a minute".to_owned());
        assert_eq!(citable.resolve("REQ-001"), Some(summary));
    }
}
