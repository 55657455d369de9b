//! JSON with comments and trailing commas, made ready for the YAML reader.
//!
//! What is not JSON is blanked out with spaces, so that every line and column stays where it was.
//! Surrogate pairs in strings become the character they stand for. Nothing is checked here: the
//! reader does that.

/// Blanks `//` and `/* */` comments, trailing commas and tabs outside strings, and joins
/// surrogate pairs inside them.
pub fn relaxed_json(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    while i < chars.len() {
        i = match chars[i] {
            '"' => string(&chars, i, &mut out),
            '/' if chars.get(i + 1) == Some(&'/') => line_comment(&chars, i, &mut out),
            '/' if chars.get(i + 1) == Some(&'*') => block_comment(&chars, i, &mut out),
            ',' if closes_next(&chars, i + 1) => blank(' ', i, &mut out),
            '\t' => blank(' ', i, &mut out),
            other => blank(other, i, &mut out),
        };
    }
    out
}

fn blank(with: char, at: usize, out: &mut String) -> usize {
    out.push(with);
    at + 1
}

/// Copies a string literal from its opening quote; returns the index after its closing one.
fn string(chars: &[char], start: usize, out: &mut String) -> usize {
    out.push('"');
    let mut i = start + 1;
    while i < chars.len() {
        match chars[i] {
            '"' => return blank('"', i, out),
            '\\' => {
                if let Some(joined) = surrogate_pair(chars, i) {
                    out.push(joined);
                    i += 12;
                    continue;
                }
                out.push('\\');
                if let Some(next) = chars.get(i + 1) {
                    out.push(*next);
                }
                i += 2;
            }
            // JSON allows these as they are, YAML only by their number.
            other
            @ ('\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(other)));
                i += 1;
            }
            other => i = blank(other, i, out),
        }
    }
    i
}

fn surrogate_pair(chars: &[char], at: usize) -> Option<char> {
    let unit = |from: usize| -> Option<u16> {
        let text: String = chars.get(from..from + 6)?.iter().collect();
        u16::from_str_radix(text.strip_prefix("\\u")?, 16).ok()
    };
    let units = [unit(at)?, unit(at + 6)?];
    if !(0xD800..0xDC00).contains(&units[0]) {
        return None;
    }
    char::decode_utf16(units).next()?.ok()
}

fn line_comment(chars: &[char], start: usize, out: &mut String) -> usize {
    let mut i = start;
    while i < chars.len() && chars[i] != '\n' {
        i = blank(' ', i, out);
    }
    i
}

fn block_comment(chars: &[char], start: usize, out: &mut String) -> usize {
    let mut i = start;
    while i < chars.len() {
        if i > start + 1 && chars[i] == '*' && chars.get(i + 1) == Some(&'/') {
            out.push_str("  ");
            return i + 2;
        }
        i = blank(if chars[i] == '\n' { '\n' } else { ' ' }, i, out);
    }
    i
}

/// Only blanks and comments are between `from` and a closing bracket.
fn closes_next(chars: &[char], from: usize) -> bool {
    let mut i = from;
    let mut void = String::new();
    while i < chars.len() {
        i = match chars[i] {
            ']' | '}' => return true,
            c if c.is_whitespace() => i + 1,
            '/' if chars.get(i + 1) == Some(&'/') => line_comment(chars, i, &mut void),
            '/' if chars.get(i + 1) == Some(&'*') => block_comment(chars, i, &mut void),
            _ => return false,
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::relaxed_json;

    #[test]
    fn blanks_what_is_not_json_and_keeps_columns() {
        let text = "{\n\t\"a\": 1, // one, \"x\"\n  \"b\": [1, 2,], /* , ] */\n}";
        let plain = relaxed_json(text);
        assert_eq!(plain.lines().count(), text.lines().count());
        assert_eq!(plain.lines().nth(2).unwrap().find("\"b\""), Some(2));
        let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value, serde_json::json!({"a": 1, "b": [1, 2]}));
    }

    #[test]
    fn leaves_strings_alone() {
        let text = r#"{"u": "http://x,]", "e": "\"//\"", "s": "\ud83d\ude00"}"#;
        let value: serde_json::Value = serde_json::from_str(&relaxed_json(text)).unwrap();
        assert_eq!(value, serde_json::from_str::<serde_json::Value>(text).unwrap());
    }
}
