//! Estimate of the tokens of a text: the one that sizes, costs and waits are reckoned from.
//!
//! Each character has a price that was measured, so that no tokenizer with its megabytes is needed:
//! `tests/tokens` has the counts of two tokenizers and the program that makes them. English texts, code and
//! YAML are within a tenth of both; other languages are within a fifth of the newer one.

/// Returns about how many tokens a text is.
pub fn estimated_tokens(text: &str) -> usize {
    // In hundredths of a token: of an ASCII character, of a letter of another alphabet, and of a character that
    // stands for a syllable or a word.
    let price = |c: char| match c {
        '\0'..='\u{7f}' => 24,
        '\u{80}'..='\u{2fff}' => 32,
        _ => 66,
    };
    text.chars().map(price).sum::<usize>().div_ceil(100)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tokens");

    #[test]
    fn an_estimate_is_near_what_tokenizers_count() {
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
            let (counts, off) = if is_english { (vec![older, newer], 0.1) } else { (vec![newer], 0.2) };
            for count in counts {
                assert!((estimate / count - 1.0).abs() <= off, "{}: {estimate} for {count}", cells[0]);
            }
            read += 1;
        }
        assert!(read >= 18, "{read}");
    }
}
