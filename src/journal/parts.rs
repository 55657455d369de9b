//! Parts: a text that stands in the file already is named by its hash and not written again.
//!
//! A part is all that stands indented under one line of a document, without the indent; or the rest of
//! one long line. In a document that begins with [`MARK`] a line may end with the name of a part, and
//! the part's lines are meant, at the indent of that line. A part is found where a document before holds
//! it in full: parts do not nest, and none unfolds into more than the file holds.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::round::snapshot::{hex, unhex};

/// The number of these rules, in the header of files that keep to them.
pub const PARTS: u32 = 1;
/// What a document that names parts begins with, in the place of `---`.
pub const MARK: &str = "--- # parts\n";
/// A shorter text is no part, in bytes.
const LEAST: usize = 512;
/// Lines that are indented further are no part.
const DEEPEST: usize = 24;
/// What the name of a part begins with; its hash follows.
const NAME: &str = "$part ";

/// The length of the line that ends a document: `hash: `, 64 hex digits, a line feed.
pub(super) const HASH_LINE: usize = 6 + 64 + 1;

type Hash = [u8; 32];

/// Where the parts of a file stand in full for the first time.
#[derive(Debug, Default)]
pub struct PartIndex(HashMap<Hash, Range<usize>>);

/// One line of a document.
struct Row {
    /// Its bytes, the line feed among them.
    at: Range<usize>,
    /// How many spaces it begins with; an empty line has more than any other.
    indent: usize,
    /// The first line after those that stand under it.
    next: usize,
    /// Whether it ends with the name of a part.
    names: bool,
}

/// A part as it stands in a document.
struct Part {
    /// Its bytes, the indent of all lines among them.
    at: Range<usize>,
    /// The hash of its text.
    hash: Hash,
}

impl PartIndex {
    /// Takes down what stands in full in a document at byte `offset` of the file.
    pub fn learn(&mut self, document: &str, offset: usize) {
        if document.len() < LEAST {
            return;
        }
        let rows = rows(document, document.starts_with(MARK));
        for line in 0..rows.len() {
            for part in [under(document, &rows, line), along(document, &rows[line])].into_iter().flatten() {
                let bytes = offset + part.at.start..offset + part.at.end;
                self.0.entry(part.hash).or_insert(bytes);
            }
        }
    }

    /// A document with all its parts in full. What they take is taken from `room`.
    ///
    /// # Errors
    /// When a part is named that does not stand before it, or there is no room.
    pub fn restore(&self, file: &[u8], document: &str, room: &mut usize) -> Result<String, String> {
        let mut out = String::with_capacity(document.len());
        for line in document.split_inclusive('\n') {
            let Some((before, hash)) = named(line) else {
                out.push_str(line);
                continue;
            };
            let part = self.0.get(&hash).and_then(|at| str::from_utf8(file.get(at.clone())?).ok());
            let part =
                part.ok_or_else(|| format!("no document before it holds the part `{}`", hex(&hash)))?;
            let (indent, own) = (indent_of(line), indent_of(part));
            out.push_str(before);
            for (count, line) in part.split_inclusive('\n').enumerate() {
                let text = unindented(line, own);
                let spaces = if count == 0 || text == "\n" { 0 } else { indent };
                let left = room.checked_sub(spaces + text.len());
                *room = left.ok_or("its parts would take more memory than a file of this size may")?;
                out.extend(std::iter::repeat_n(' ', spaces));
                out.push_str(text);
            }
        }
        Ok(out)
    }

    /// A document with names for the parts that stand before it, and how many bytes they stand for; none
    /// where there is no such part, or where a line ends like the name of one.
    fn shared(&self, document: &str) -> Option<(String, usize)> {
        if document.len() < LEAST || self.0.is_empty() {
            return None;
        }
        let rows = rows(document, true);
        if rows.iter().any(|row| row.names) {
            return None;
        }
        let known = |part: &Part| self.0.contains_key(&part.hash);
        let (mut out, mut left_out, mut line) = (String::new(), 0, 0);
        while let Some(row) = rows.get(line) {
            let along = along(document, row).filter(known);
            let end = along.as_ref().map_or(row.at.end, |part| part.at.start);
            out.push_str(&document[row.at.start..end]);
            let under = under(document, &rows, line).filter(known);
            line = if under.is_some() { row.next } else { line + 1 };
            if let Some(part) = along {
                left_out += part.at.len();
                let _ = writeln!(out, "{NAME}{}", hex(&part.hash));
            }
            if let Some(part) = under {
                left_out += part.at.len();
                let indent = indent_of(&document[part.at]);
                let _ = writeln!(out, "{:indent$}{NAME}{}", "", hex(&part.hash));
            }
        }
        (left_out > 0).then_some((out, left_out))
    }
}

/// What the writer of a file knows of it.
#[derive(Debug, Default)]
pub struct PartWriter {
    parts: PartIndex,
    size: usize,
    /// What its reader needs of the room that it has for a file of this size.
    taken: usize,
}

impl PartWriter {
    /// Goes on with a file of this size of which so much room was taken.
    pub fn with(parts: PartIndex, size: usize, taken: usize) -> Self {
        Self { parts, size, taken }
    }

    /// Goes past a document of this size, whose values weigh this much, without looking for parts.
    pub fn pass(&mut self, size: usize, weight: usize) {
        self.taken += weight;
        self.size += size + HASH_LINE;
    }

    /// Puts names in the place of parts in the document that `out` ends with, from `start` on; its values
    /// weigh this much. Leaves it in full where a reader could come to need too much room: so every file
    /// that is written can be read.
    pub fn share(&mut self, out: &mut String, start: usize, weight: usize) {
        self.taken += weight;
        let shared = out[start..].strip_prefix("---\n").and_then(|document| self.parts.shared(document));
        if let Some((text, left_out)) = shared {
            let taken = self.taken + left_out;
            if taken <= room(self.size + text.len()) / 2 {
                self.taken = taken;
                out.truncate(start);
                out.push_str(MARK);
                out.push_str(&text);
            }
        }
        let document = &out[start..];
        self.parts.learn(document, self.size);
        self.size += document.len() + HASH_LINE;
    }
}

/// What the values of a file may weigh, so that reading it takes at most 64 MiB and 16 times its size:
/// they stand in the events and in the state, and for a moment once more.
pub(super) fn room(size: usize) -> usize {
    12 * 1024 * 1024 + 4 * size
}

/// The lines of a document; whether one stands for a part is looked at only where some may.
fn rows(document: &str, has_names: bool) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut above, mut start): (Vec<usize>, usize) = (Vec::new(), 0);
    for text in document.split_inclusive('\n') {
        let (line, at) = (rows.len(), start..start + text.len());
        start = at.end;
        // A line of nothing but spaces would not come back as it is: it is part of nothing.
        let indent = match indent_of(text) {
            0 if text == "\n" => usize::MAX,
            spaces if spaces + 1 == text.len() => 0,
            spaces => spaces,
        };
        if indent < usize::MAX {
            while let Some(ended) = above.pop_if(|line| rows[*line].indent >= indent) {
                rows[ended].next = line;
            }
            above.push(line);
        }
        let names = has_names && named(text).is_some();
        rows.push(Row { at, indent, next: line + 1, names });
    }
    for line in above {
        rows[line].next = rows.len();
    }
    rows
}

/// The part that stands under a line.
fn under(document: &str, rows: &[Row], line: usize) -> Option<Part> {
    let part = &rows[line + 1..rows[line].next];
    let (first, last) = (part.first()?, part.last()?);
    let (indent, at) = (first.indent, first.at.start..last.at.end);
    let is_part =
        at.len() >= LEAST && indent <= DEEPEST && part.iter().all(|row| row.indent >= indent && !row.names);
    if !is_part {
        return None;
    }
    let mut hash = Sha256::new();
    for row in part {
        hash.update(unindented(&document[row.at.clone()], indent));
    }
    Some(Part { at, hash: hash.finalize().into() })
}

/// The part that a line ends with: what follows its key.
fn along(document: &str, row: &Row) -> Option<Part> {
    if row.at.len() < LEAST || row.names || row.indent > DEEPEST {
        return None;
    }
    let line = &document[row.at.clone()];
    let from = line.find(": \"").map_or(row.indent, |at| at + 2);
    let at = row.at.start + from..row.at.end;
    (at.len() >= LEAST).then(|| Part { hash: Sha256::digest(&document[at.clone()]).into(), at })
}

fn indent_of(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}

/// A line of a part without the part's indent.
fn unindented(line: &str, indent: usize) -> &str {
    if line == "\n" { line } else { line.get(indent..).unwrap_or(line) }
}

/// What stands in a line before the name of a part that it ends with, and the part's hash.
fn named(line: &str) -> Option<(&str, Hash)> {
    let line = line.strip_suffix('\n')?;
    let (line, hash) = line.split_at_checked(line.len().checked_sub(2 * size_of::<Hash>())?)?;
    Some((line.strip_suffix(NAME)?, unhex(hash)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents in which the same lines stand at another indent, with empty and with blank lines.
    fn documents() -> Vec<String> {
        let texts =
            ["one line\n", "a\n\n  b\n\n", "a\n  \nb\n", "a\n   \nb\n", "- x: \"y\"\n  z\n", " a\n b\n"];
        let texts = texts.map(|text| text.repeat(80));
        let under = |text: &str, indent: usize| {
            let line = |line: &str| {
                if line == "\n" { line.to_owned() } else { format!("{:indent$}{line}", "") }
            };
            text.split_inclusive('\n').map(line).collect::<String>()
        };
        let whole = |indent: usize| {
            texts.iter().map(|text| format!("key:\n{}", under(text, indent))).collect::<Vec<_>>().concat()
        };
        // A blank line that is as long as the indent is no empty one.
        let blank = format!("key:\n{}", "  a\n  \n  b\n".repeat(80));
        let long = format!("a: \"{}\"\nb:\n  c: \"{0}\"\n  - \"{0}\"\n", "x".repeat(LEAST));
        vec![whole(2), whole(3), whole(1), whole(DEEPEST), whole(DEEPEST + 1), whole(0), long, blank]
    }

    #[test]
    fn what_is_left_out_comes_back_byte_for_byte() {
        let (mut index, mut file, mut left_out) = (PartIndex::default(), String::new(), Vec::new());
        for document in documents().iter().chain(&documents()) {
            let short = index.shared(document);
            if let Some((short, bytes)) = &short {
                let mut room = 10_000_000;
                let restored = index.restore(file.as_bytes(), short, &mut room).unwrap();
                assert!(restored == *document, "{short}");
                let taken = 10_000_000 - room;
                assert!(taken <= *bytes, "a reader takes no more than the writer reckons with");
                assert!(index.restore(file.as_bytes(), short, &mut { taken }).is_ok());
                assert!(index.restore(file.as_bytes(), short, &mut (taken - 1)).is_err());
            }
            left_out.push(short.is_some());
            index.learn(document, file.len());
            file.push_str(document);
        }
        // Neither what is not indented nor what is indented too far, and nothing the first time.
        let (first, again) = left_out.split_at(8);
        assert_eq!(first, [false, true, true, true, false, false, false, false]);
        assert_eq!(again, [true, true, true, true, false, false, true, false]);
    }
}
