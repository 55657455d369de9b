//! Text as words for the leak scan: case, look-alikes and invisible characters folded away, every
//! word with its place in the text as it was written.

use crate::sanitize::is_unsafe;

/// A run of letters and digits, folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The folded word.
    pub text: String,
    /// Whether it began with a capital.
    pub capital: bool,
    /// What stands between it and the word before, folded.
    pub gap: String,
    /// Its first byte in the text as it was written.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

/// The words of a text, and what follows the last of them.
pub fn words(text: &str) -> (Vec<Word>, String) {
    let mut words: Vec<Word> = Vec::new();
    let mut gap = String::new();
    let mut is_inside = false;
    for (at, c) in text.char_indices() {
        let Some((folded, capital)) = fold(c) else {
            continue;
        };
        let end = at + c.len_utf8();
        if !folded.is_alphanumeric() {
            is_inside = false;
            gap.push(folded);
            continue;
        }
        match words.last_mut().filter(|_| is_inside) {
            Some(word) => {
                word.text.push(folded);
                word.end = end;
            }
            None => words.push(Word {
                text: folded.to_string(),
                capital,
                gap: std::mem::take(&mut gap),
                start: at,
                end,
            }),
        }
        is_inside = true;
    }
    (words, gap)
}

/// A character as it is compared, and whether it was a capital; none for what cannot be seen.
fn fold(c: char) -> Option<(char, bool)> {
    if c.is_ascii() {
        return Some((plain(c.to_ascii_lowercase()), c.is_ascii_uppercase()));
    }
    if c == '\u{85}' || c == '\u{2028}' || c == '\u{2029}' {
        return Some(('\n', false));
    }
    if is_unsafe(c) || is_unseen(c) {
        return None;
    }
    let latin = latin(c);
    let capital = latin.is_uppercase();
    Some((plain(latin.to_lowercase().next().unwrap_or(latin)), capital))
}

/// White space and marks that are written in more than one way.
fn plain(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{b4}' | '\u{ff07}' | '`' => '\'',
        '_' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\n' | '\r' => '\n',
        c if c.is_whitespace() || c.is_control() => ' ',
        c => c,
    }
}

/// Joiners, fillers, variation selectors and combining marks.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{200c}' | '\u{200d}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{2800}' | '\u{ffa0}'
        | '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// The letter or digit of the ASCII alphabet that a character looks like, else the character.
fn latin(c: char) -> char {
    let code = u32::from(c);
    let ascii = |code: u32| char::from_u32(code).unwrap_or(c);
    match code {
        0xff01..=0xff5e => return ascii(code - 0xfee0),
        0x24b6..=0x24cf => return ascii(code - 0x24b6 + 0x41),
        0x24d0..=0x24e9 => return ascii(code - 0x24d0 + 0x61),
        0x1d400..=0x1d6a3 => {
            let at = (code - 0x1d400) % 52;
            return ascii(if at < 26 { at + 0x41 } else { at - 26 + 0x61 });
        }
        0x1d7ce..=0x1d7ff => return ascii((code - 0x1d7ce) % 10 + 0x30),
        _ => {}
    }
    // Other scripts have nothing that looks alike, and most of what is not ASCII.
    if !matches!(code, 0xb5..=0x58f | 0x2100..=0x217f) {
        return c;
    }
    const ALIKE: [(char, &str); 40] = [
        ('A', "АΑÀÁÂÃÄÅĀĂĄ"),
        ('B', "ВΒ"),
        ('C', "СÇĆČϹℂ"),
        ('D', "ĎĐ"),
        ('E', "ЕΕÈÉÊËĒĖĘ"),
        ('G', "ԌĢĞ"),
        ('H', "НΗℍ"),
        ('I', "ІΙÌÍÎÏĪİ"),
        ('J', "Ј"),
        ('K', "КΚ"),
        ('L', "ŁĹ"),
        ('M', "МΜ"),
        ('N', "ΝÑŃŇℕ"),
        ('O', "ОΟÒÓÔÕÖØŌ"),
        ('P', "РΡℙ"),
        ('S', "ЅŠŚ"),
        ('T', "ТΤŤ"),
        ('U', "ÙÚÛÜŪ"),
        ('X', "ХΧ"),
        ('Y', "УΥÝ"),
        ('Z', "ΖŽŻℤ"),
        ('a', "аαɑàáâãäåāăą"),
        ('c', "сçćčϲ"),
        ('d', "ԁďđⅾ"),
        ('e', "еεèéêëēėęℯ"),
        ('g', "ɡģğ"),
        ('h', "һℎ"),
        ('i', "іıιìíîïī"),
        ('j', "ј"),
        ('k', "кκ"),
        ('l', "ӏłĺⅼ"),
        ('m', "мⅿ"),
        ('n', "ոñńň"),
        ('o', "оοօòóôõöøō"),
        ('p', "рρ"),
        ('s', "ѕšś"),
        ('t', "тτť"),
        ('u', "υսùúûüū"),
        ('x', "хχ"),
        ('y', "уýÿ"),
    ];
    ALIKE.iter().find(|(_, alike)| alike.contains(c)).map_or(c, |(letter, _)| *letter)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn what_looks_alike_is_alike_and_keeps_its_place() {
        for text in [
            "Claude",
            "CLAUDE",
            "Cl\u{200b}au\u{ad}de",
            "С\u{4cf}аud\u{435}",
            "Ｃｌａｕｄｅ",
            "𝐂𝐥𝐚𝐮𝐝𝐞",
            "𝒞𝓁𝒶𝓊𝒹𝑒",
            "Cla\u{301}ude",
            "Cláude",
            "Ⓒⓛⓐⓤⓓⓔ",
            "\u{202e}Claude\u{202c}",
        ] {
            let (found, _) = words(text);
            let folded: Vec<&str> = found.iter().map(|word| word.text.as_str()).collect();
            assert_eq!(folded, ["claude"], "{text:?}");
            assert!(text.get(found[0].start..found[0].end).is_some());
        }
        let text = "I’m — Ｇ\u{200b}PT‑4o";
        let (found, rest) = words(text);
        let folded: Vec<(&str, &str)> =
            found.iter().map(|word| (word.gap.as_str(), word.text.as_str())).collect();
        assert_eq!(folded, [("", "i"), ("'", "m"), (" - ", "gpt"), ("-", "4o")]);
        assert_eq!((&text[found[2].start..found[3].end], rest.as_str()), ("Ｇ\u{200b}PT‑4o", ""));
    }
}
