//! References of answers, checked against the round's snapshot.
//!
//! A reference resolves if it names an artifact (`REQ-001`), lines of an artifact or its file (`SRC-1:10-20`,
//! `src/cache.rs:12`), or quotes the snapshot. Quotations ignore line numbers, white space and case. Nothing
//! here changes what was counted.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use serde_json::Value;

use crate::ballot::line_range;
use crate::handoff::gather_texts;
use crate::history::AnswerRevealed;
use crate::yaml;

type Lines = BTreeMap<u32, String>;

#[derive(Debug, Clone, Default)]
pub struct Citable {
    summaries: HashMap<String, String>,
    /// By artifact id and by source file; for a diff, the lines after the change.
    lines: HashMap<String, Lines>,
    has_files: bool,
    /// All texts of the snapshot, folded by [`folded`].
    text: String,
}

impl Citable {
    /// Reads the snapshot of a round; an unreadable snapshot contains nothing.
    pub fn from_snapshot(snapshot: &str) -> Self {
        let value = yaml::read(snapshot, "snapshot").map(|node| node.to_json()).unwrap_or_default();
        let context = &value["participant_context"];
        let (mut found, mut texts) = (Self::default(), Vec::new());
        gather_texts(context, &mut texts);
        let unnumbered = |line| numbered(line).map_or(line, |(_, text)| text);
        let lines = texts.into_iter().flat_map(|text: &str| text.lines().map(unnumbered));
        let mut texts: Vec<String> = lines.map(str::to_owned).collect();
        for artifact in context["artifacts_snapshot"].as_array().into_iter().flatten() {
            found.add(artifact, &mut texts);
        }
        found.text = folded(&texts.join("\n"));
        found
    }

    fn add(&mut self, artifact: &Value, texts: &mut Vec<String>) {
        let text = |key: &str| artifact[key].as_str().unwrap_or_default();
        let first = line_range(text("lines")).map_or(1, |range| *range.start());
        let lines = (first..).zip(text("content").lines());
        let lines = lines.map(|(number, line)| numbered(line).unwrap_or((number, line)));
        let lines: Lines = lines.map(|(number, line)| (number, line.to_owned())).collect();
        let mut files = changed_files(&lines);
        // Without the signs that a diff puts before its lines, because quotations omit them.
        texts.extend(files.values().flat_map(Lines::values).cloned());
        files.extend(artifact["source"].as_str().map(|file| (file.to_owned(), lines.clone())));
        self.has_files |= !files.is_empty();
        for (file, lines) in files {
            self.lines.entry(file).or_default().extend(lines);
        }
        self.summaries.insert(text("id").to_owned(), text("summary").to_owned());
        self.lines.insert(text("id").to_owned(), lines);
    }

    /// Returns the summary or lines that a reference names, empty for a quotation; `None` if unresolved.
    pub fn resolve(&self, reference: &str) -> Option<String> {
        let reference = reference.trim().trim_matches(['`', '"', '\'', '“', '”', '«', '»', '[', ']']).trim();
        if let Some(summary) = self.summaries.get(reference) {
            return Some(format!(": {summary}"));
        }
        if let Some((place, range)) = reference.rsplit_once(':')
            && let Some(lines) = self.cited(place.trim(), &line_range(range).unwrap_or(0..=0))
        {
            return Some(lines);
        }
        let of_artifact = reference.split_once(':').filter(|(id, _)| self.summaries.contains_key(id.trim()));
        let is_quotation =
            self.contains(reference) || of_artifact.is_some_and(|(_, quote)| self.contains(quote));
        is_quotation.then(String::new)
    }

    /// Checks if the evidence contains a file or lines of it; always true if the evidence has no files.
    pub fn has_place(&self, file: &str, lines: Option<(u32, u32)>) -> bool {
        let file = file.trim().trim_start_matches("./");
        let is_here = match lines {
            Some((from, to)) => self.cited(file, &(from..=to)).is_some(),
            None => self.lines.contains_key(file),
        };
        is_here || !self.has_files
    }

    /// Returns the lines of an artifact or file, if it contains the first and the last of them.
    fn cited(&self, place: &str, range: &RangeInclusive<u32>) -> Option<String> {
        let lines = self.lines.get(place)?;
        let has_ends = lines.contains_key(range.start()) && lines.contains_key(range.end());
        let shown = |(number, line): (&u32, &String)| format!("\n{number:>4}| {line}");
        (has_ends && !range.is_empty()).then(|| lines.range(range.clone()).map(shown).collect())
    }

    fn contains(&self, quote: &str) -> bool {
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

    /// Returns the references of an answer that the snapshot does not contain, as written.
    pub fn unresolved<'a>(&self, answer: &'a AnswerRevealed) -> Vec<&'a str> {
        references(answer).filter(|reference| self.resolve(reference).is_none()).collect()
    }
}

pub fn references(answer: &AnswerRevealed) -> impl Iterator<Item = &str> {
    let listed = answer.answer.get("references").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).filter(|reference| !reference.trim().is_empty())
}

/// Splits a line such as `  12| let a = 1;` into number and text.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let (number, text) = line.split_once('|')?;
    Some((number.trim_start().parse().ok()?, text.strip_prefix(' ').unwrap_or(text)))
}

/// Returns the lines of each file after the change that a diff shows.
fn changed_files(diff: &Lines) -> BTreeMap<String, Lines> {
    let (mut file, mut found) = ("", BTreeMap::<String, Lines>::new());
    let (mut number, mut left) = (0_u32, 0_u32);
    for line in diff.values() {
        // The space before an empty line may have been trimmed.
        let after = if line.is_empty() { Some("") } else { line.strip_prefix(['+', ' ']) };
        if let (true, Some(text)) = (left > 0 && !file.is_empty(), after) {
            found.entry(file.to_owned()).or_default().insert(number, text.to_owned());
            (number, left) = (number + 1, left - 1);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            file = path.strip_prefix("b/").unwrap_or(path).trim_end();
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            let after = hunk.split_whitespace().find_map(|part| part.strip_prefix('+')).unwrap_or_default();
            let (first, count) = after.split_once(',').unwrap_or((after, "1"));
            (number, left) = (first.parse().unwrap_or(0), count.parse().unwrap_or(0));
        }
    }
    found
}

/// Folds white space, converts to lower case and replaces typographic quotation marks.
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
           3| @@ -7,3 +7,5 @@
           4|  let a = 1;
           5| +let b =
           6| +    2;
           7| -let c = 3;
           8| 
           9| +++ let d = 4;
";

    fn resolves(reference: &str) -> bool {
        Citable::from_snapshot(SNAPSHOT).resolve(reference).is_some()
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
            "src/a.rs:8-11",
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
    fn unknown_references_do_not_resolve() {
        for bad in [
            "REQ-999",
            "REQ-00",
            "REQ-100",
            "SRC-1:13",
            "SRC-1:9-11",
            "SRC-1:12-10",
            "src/a.rs:12",
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
    fn a_reference_resolves_to_its_lines() {
        let citable = Citable::from_snapshot(SNAPSHOT);
        let lines = |text: &str| Some(text.to_owned());
        assert_eq!(citable.resolve("SRC-1:11-12"), lines("\n  11|     stale(\n  12|         60)"));
        assert_eq!(citable.resolve("src/a.rs:8"), lines("\n   8| let b ="));
        assert_eq!(citable.resolve("src/a.rs:11"), lines("\n  11| ++ let d = 4;"));
        assert_eq!(citable.resolve("REQ-001"), lines(": prices within a minute"));
    }
}
