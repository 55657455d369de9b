//! Estimate of the tokens of a text: the one that sizes, costs and waits are reckoned from.
//!
//! Each piece of a text has a price that was measured, so that no tokenizer with its megabytes is needed:
//! `tests/tokens` has the counts of two tokenizers and the program that makes them. English texts, code and
//! YAML are within a tenth of both; other scripts of the newer one.

use std::ops::RangeInclusive;

/// Parts of a token that prices are given in.
const TOKEN: u64 = 20;
/// A word of Latin letters.
const WORD: u64 = 19;
/// Letters of a word that its price includes, and the price of each further one.
const LETTERS: u32 = 7;
const LETTER: u64 = 7;
/// A line's end, with empty lines and the indentation after it.
const LINE: u64 = 14;
/// Signs that stand together.
const SIGNS: u64 = 19;
/// What a letter costs more that is no ASCII one.
const ACCENT: u64 = 4;
/// Letters that break a word into several tokens, and what each costs more.
const RARE: [RangeInclusive<char>; 2] = ['\u{104}'..='\u{10f}', '\u{112}'..='\u{17f}'];
const BREAK: u64 = 32;
/// A character of these scripts.
const SCRIPTS: [(RangeInclusive<char>, u64); 9] = [
    ('\u{370}'..='\u{3ff}', 8),
    ('\u{400}'..='\u{52f}', 6),
    ('\u{590}'..='\u{5ff}', 8),
    ('\u{600}'..='\u{6ff}', 6),
    ('\u{900}'..='\u{dff}', 7),
    ('\u{e00}'..='\u{e7f}', 8),
    ('\u{3040}'..='\u{30ff}', 14),
    ('\u{3400}'..='\u{9fff}', 13),
    ('\u{ac00}'..='\u{d7af}', 13),
];

/// What a character belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Piece {
    #[default]
    None,
    Word,
    Number,
    Line,
    Space,
    Signs,
}

/// The pieces of a text so far.
#[derive(Debug, Default)]
struct Scan {
    price: u64,
    piece: Piece,
    length: u32,
}

impl Scan {
    fn add(&mut self, c: char) {
        let piece = match c {
            _ if is_latin(c) => Piece::Word,
            '0'..='9' => Piece::Number,
            '\n' => Piece::Line,
            // Indentation belongs to its line.
            ' ' | '\t' | '\r' if self.piece == Piece::Line => Piece::Line,
            ' ' | '\t' | '\r' => Piece::Space,
            _ if c.is_ascii() => Piece::Signs,
            _ => Piece::None,
        };
        let is_new = piece != self.piece;
        let before = std::mem::replace(&mut self.piece, piece);
        self.length = if is_new { 0 } else { self.length.saturating_add(1) };
        self.price += match piece {
            Piece::Word => {
                let further = if self.length >= LETTERS { LETTER } else { 0 };
                further + accent(c) + if is_new { WORD } else { 0 }
            }
            // A number's token has three digits, and none of it the space before.
            Piece::Number => {
                let space = if is_new && before == Piece::Space { TOKEN } else { 0 };
                space + if self.length.is_multiple_of(3) { TOKEN } else { 0 }
            }
            Piece::Line if is_new => LINE,
            // An underscore joins the words around it.
            Piece::Signs if is_new && c != '_' => SIGNS,
            Piece::Line | Piece::Space | Piece::Signs => 0,
            Piece::None => {
                SCRIPTS.iter().find(|(script, _)| script.contains(&c)).map_or(TOKEN, |(_, price)| *price)
            }
        };
    }
}

fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') && c.is_alphabetic()
}

fn accent(c: char) -> u64 {
    match c {
        _ if c.is_ascii() => 0,
        _ if RARE.iter().any(|range| range.contains(&c)) => BREAK,
        _ => ACCENT,
    }
}

/// Returns about how many tokens a text is.
pub fn estimated_tokens(text: &str) -> usize {
    let mut scan = Scan::default();
    text.chars().for_each(|c| scan.add(c));
    usize::try_from(scan.price.div_ceil(TOKEN)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tokens");

    #[test]
    fn an_estimate_is_within_a_tenth_of_what_tokenizers_count() {
        let counts = fs::read_to_string(format!("{FOLDER}/counts.tsv")).unwrap();
        let rows = counts.lines().filter(|line| !line.starts_with('#'));
        let mut read = 0;
        for row in rows {
            let cells: Vec<&str> = row.split('\t').collect();
            let text = fs::read_to_string(format!("{FOLDER}/{}", cells[0])).unwrap();
            let estimate = estimated_tokens(&text) as f64;
            let [older, newer] = [1, 2].map(|nth| cells[nth].parse::<f64>().unwrap());
            // The older tokenizer counts up to three times as many in other scripts.
            let is_english = cells[0].starts_with("english/");
            for count in [Some(newer), Some(older).filter(|_| is_english)].into_iter().flatten() {
                assert!((estimate / count - 1.0).abs() <= 0.1, "{}: {estimate} for {count}", cells[0]);
            }
            read += 1;
        }
        assert!(read >= 18, "{read}");
    }
}
