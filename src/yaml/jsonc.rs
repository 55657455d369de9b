//! Conversion of JSON with comments and trailing commas for the YAML reader.
//!
//! Everything that is not JSON becomes spaces, so that lines and columns stay the same. Surrogate pairs in
//! strings become one character. Validity is left to the reader.

/// Blanks comments, trailing commas and tabs outside strings, and joins surrogate pairs inside them.
pub fn relaxed_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let comment = comment(rest);
        let (taken, after) = rest.split_at(match c {
            '"' => string(rest),
            _ if comment > 0 => comment,
            _ => c.len_utf8(),
        });
        match c {
            '"' => push_string(taken, &mut out),
            _ if comment > 0 => out.extend(taken.chars().map(|c| if c == '\n' { c } else { ' ' })),
            ',' if closes_next(after) => out.push(' '),
            '\t' => out.push(' '),
            _ => out.push(c),
        }
        rest = after;
    }
    out
}

/// Returns the length of the comment at the start of the text; 0 without one.
fn comment(text: &str) -> usize {
    if text.starts_with("//") {
        text.find('\n').unwrap_or(text.len())
    } else if let Some(inside) = text.strip_prefix("/*") {
        inside.find("*/").map_or(text.len(), |end| end + 4)
    } else {
        0
    }
}

/// Returns the length of the string literal at the start of the text.
fn string(text: &str) -> usize {
    let mut escaped = true;
    for (at, c) in text.char_indices() {
        if c == '"' && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

fn push_string(literal: &str, out: &mut String) {
    let mut rest = literal;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '\\' => {
                if let Some(joined) = surrogate_pair(rest) {
                    out.push(joined);
                    taken = 12;
                } else {
                    taken = rest.chars().take(2).map(char::len_utf8).sum();
                    out.push_str(&rest[..taken]);
                }
            }
            // JSON allows these characters in strings; YAML requires an escape.
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => out.push(c),
        }
        rest = &rest[taken..];
    }
}

fn surrogate_pair(text: &str) -> Option<char> {
    let unit = |at: usize| u16::from_str_radix(text.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok();
    let joined = char::decode_utf16([unit(0)?, unit(6)?]).next()?.ok()?;
    (u32::from(joined) > 0xffff).then_some(joined)
}

/// Returns whether a closing bracket follows, after blanks and comments only.
fn closes_next(text: &str) -> bool {
    let mut rest = text.trim_start();
    while comment(rest) > 0 {
        rest = rest[comment(rest)..].trim_start();
    }
    rest.starts_with([']', '}'])
}

#[cfg(test)]
mod tests {
    use super::relaxed_json;

    #[test]
    fn non_json_is_blanked_and_columns_stay() {
        let text = "{\n\t\"a\": 1, // one, \"x\"\n  \"b\": [1, 2,], /* , ] */\n}";
        let plain = relaxed_json(text);
        assert_eq!(plain.lines().count(), text.lines().count());
        assert_eq!(plain.lines().nth(2).unwrap().find("\"b\""), Some(2));
        let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value, serde_json::json!({"a": 1, "b": [1, 2]}));
    }

    #[test]
    fn strings_stay_unchanged() {
        let text = r#"{"u": "http://x,]", "e": "\"//\"", "s": "\ud83d\ude00"}"#;
        let value: serde_json::Value = serde_json::from_str(&relaxed_json(text)).unwrap();
        assert_eq!(value, serde_json::from_str::<serde_json::Value>(text).unwrap());
    }
}
