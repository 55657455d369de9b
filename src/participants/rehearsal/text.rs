//! Running text, taken apart into sentences that know what they are about.
//!
//! Headings (`### Inline`), labels (`Inline:`) and the leads of a list (`Good, because …`) are
//! followed; Markdown beyond that is read as plain text.

use super::lexicon::{lead, polarity, side};
use super::mention::Mentions;
use super::words::{Word, clauses, words};

/// A label is at most this many words.
const LABEL_WORDS: usize = 6;

/// One sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    pub text: String,
    pub about: Vec<(usize, f64)>,
    pub polarity: f64,
    pub words: Vec<Word>,
}

/// Under which heading or label the reader stands.
#[derive(Debug, Clone, Copy, Default)]
struct Section {
    option: Option<usize>,
    side: Option<f64>,
    /// Opened by a label, and so closed by the paragraph after a blank line.
    by_label: bool,
}

struct Reader<'a> {
    mentions: &'a Mentions,
    room: usize,
    section: Section,
    paragraph: String,
    units: Vec<Unit>,
}

/// The sentences of a text, `room` of them at most.
pub(super) fn units(text: &str, mentions: &Mentions, room: usize) -> Vec<Unit> {
    let mut reader =
        Reader { mentions, room, section: Section::default(), paragraph: String::new(), units: Vec::new() };
    let mut blank = false;
    for line in text.lines() {
        if reader.units.len() >= room {
            break;
        }
        let trimmed = line.trim();
        let bullet = bullet(trimmed);
        if blank && !trimmed.is_empty() && bullet.is_none() && reader.section.by_label {
            reader.section = Section::default();
        }
        blank = trimmed.is_empty();
        reader.line(trimmed, bullet);
    }
    reader.flush();
    reader.units
}

impl Reader<'_> {
    fn line(&mut self, line: &str, bullet: Option<&str>) {
        if line.is_empty() {
            self.flush();
        } else if line.starts_with('#') {
            self.flush();
            self.open(line.trim_matches(['#', ' ', ':']), false);
        } else if let Some(label) = bullet.unwrap_or(line).strip_suffix(':').filter(|l| is_label(l)) {
            self.flush();
            self.open(label, true);
        } else {
            if bullet.is_some() || self.names_option(line) {
                self.flush();
            }
            if !self.paragraph.is_empty() {
                self.paragraph.push(' ');
            }
            self.paragraph.push_str(bullet.unwrap_or(line));
        }
    }

    /// Whether a line begins with an option and a colon, as in `redis: one more thing that can fail`.
    fn names_option(&self, line: &str) -> bool {
        let label = line.split_once(": ").map(|(label, _)| label).filter(|label| is_label(label));
        label.is_some_and(|label| self.mentions.heading(&words(label)).is_some())
    }

    /// Enters a section. `Pros` under an option's heading keeps the option.
    fn open(&mut self, title: &str, by_label: bool) {
        let title = title.trim_matches(['*', '_', '`', ' ']);
        let (words, before) = (words(title), self.section);
        self.section = match (side(title), self.mentions.heading(&words)) {
            (Some(side), _) => Section { side: Some(side), ..before },
            (None, None) if words.iter().any(|word| word.raw == "against") => {
                Section { option: None, side: Some(-1.0), by_label }
            }
            (None, option) => Section { option, side: None, by_label },
        };
    }

    fn flush(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let (mut option, mut text) = (self.section.option, paragraph.as_str());
        if let Some((label, rest)) = text.split_once(": ")
            && is_label(label)
            && let Some(named) = self.mentions.heading(&words(label))
        {
            (option, text) = (Some(named), rest);
        }
        let (leads, text) = lead(text.trim_start());
        let side = leads.or(self.section.side);
        for sentence in sentences(text) {
            if self.units.len() < self.room {
                self.sentence(sentence, option, side);
            }
        }
    }

    fn sentence(&mut self, sentence: &str, option: Option<usize>, side: Option<f64>) {
        let clauses = clauses(sentence);
        let found = polarity(&clauses);
        let words: Vec<Word> = clauses.into_iter().flatten().collect();
        if words.is_empty() {
            return;
        }
        let about = option.map_or_else(|| self.mentions.sides(&words), |option| vec![(option, 1.0)]);
        let polarity = side.map_or(found, |side| side * (side * found).clamp(1.0, 2.0));
        let text = sentence.trim_end_matches(['.', '!', ' ']).replace("**", "");
        self.units.push(Unit { text, about, polarity, words });
    }
}

fn is_label(text: &str) -> bool {
    !text.contains(['.', '?', '"']) && text.split_whitespace().take(LABEL_WORDS + 1).count() <= LABEL_WORDS
}

/// What stands after a list marker.
fn bullet(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '+', '•']);
    let rest = rest.or_else(|| {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        (digits.len() < line.len()).then(|| digits.strip_prefix(['.', ')'])).flatten()
    });
    rest.filter(|rest| rest.starts_with(' ')).map(str::trim)
}

/// Sentences end with `.`, `!`, `?` or `;` before a space.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut word) = (0, 0);
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == ' ' {
            if matches!(before, '!' | '?' | ';') || (before == '.' && ends_sentence(&text[word..at])) {
                found.push(text[start..at].trim_end_matches(';').trim());
                start = at + 1;
            }
            word = at + 1;
        }
        before = c;
    }
    found.push(text[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// `e.g.` and `vs.` do not end a sentence.
fn ends_sentence(word: &str) -> bool {
    const SHORT: [&str; 9] = ["vs", "cf", "ca", "no", "nr", "dr", "mr", "ms", "approx"];
    let word = word.trim_end_matches('.').to_lowercase();
    !word.contains('.') && !SHORT.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_labels_and_leads_say_what_a_sentence_is_about() {
        let mentions = Mentions::new(&["inline".to_owned(), "file-based".to_owned()]);
        let text = "Both were tried.\n\n### Inline context\n\n- Good, because it is atomic\n  and small.\n\
                    - Larger prompts; more to pay.\n\nfile-based:\n- needs tools, e.g. a reader\n\nInline is fast.";
        let found: Vec<(String, Vec<usize>)> = units(text, &mentions, 9)
            .into_iter()
            .map(|unit| (unit.text, unit.about.into_iter().map(|(option, _)| option).collect()))
            .collect();
        let expected: [(&str, &[usize]); 6] = [
            ("Both were tried", &[]),
            ("it is atomic and small", &[0]),
            ("Larger prompts", &[0]),
            ("more to pay", &[0]),
            ("needs tools, e.g. a reader", &[1]),
            ("Inline is fast", &[0]),
        ];
        assert_eq!(found, expected.map(|(text, about)| (text.to_owned(), about.to_vec())));
    }
}
