//! Lexer for paths: words, quoted text, numbers and path tails.

use serde_json::{Number, Value};

use super::GrammarError;

pub struct Lexer<'a> {
    pub text: &'a str,
    pub at: usize,
}

/// Returns whether a path segment may contain the character outside brackets.
fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$')
}

impl<'a> Lexer<'a> {
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the text read since byte `start`.
    pub fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips `token` if it is next; returns whether it was.
    pub fn eat(&mut self, token: &str) -> bool {
        let comes = self.rest().starts_with(token);
        if comes {
            self.at += token.len();
        }
        comes
    }

    /// Reads the longest run of characters that a path segment may contain.
    pub fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !in_word(c)).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    pub fn next_words(&self) -> String {
        match self.peek() {
            None => "the end".to_owned(),
            Some(c) if in_word(c) => format!("`{}`", Lexer { text: self.text, at: self.at }.word()),
            Some(c) => format!("`{}`", c.escape_debug()),
        }
    }

    pub fn error(&self, message: impl Into<String>) -> GrammarError {
        GrammarError::new(self.at, message)
    }

    /// Reads any number of `.name`, `[0]` and `["any name"]`.
    pub fn path_tail(&mut self) -> Result<Vec<String>, GrammarError> {
        let mut keys = Vec::new();
        loop {
            if self.eat(".") {
                let word = self.word();
                if word.is_empty() {
                    let found = self.next_words();
                    let error = self.error(format!("a name must follow the `.`, found {found}"));
                    return Err(error.hint("other names go in brackets: `[\"any name\"]`"));
                }
                keys.push(word.to_owned());
            } else if self.eat("[") {
                keys.push(self.bracket()?);
            } else {
                return Ok(keys);
            }
        }
    }

    fn bracket(&mut self) -> Result<String, GrammarError> {
        let start = self.at - 1;
        self.space();
        let key = match self.peek() {
            Some('"' | '\'') => self.quoted()?,
            Some('0'..='9') => {
                let rest = self.rest();
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                self.at += digits;
                rest[..digits].to_owned()
            }
            _ => {
                let error = self.error("brackets hold a name in quotes or an index from 0");
                return Err(error.hint("write `[\"name\"]` or `[0]`"));
            }
        };
        self.space();
        if self.eat("]") {
            return Ok(key);
        }
        Err(GrammarError::new(start, "`[` is never closed").hint("close it with `]`"))
    }

    /// Reads text in single or double quotes; a backslash escapes a quote, a backslash or `n` for a new
    /// line.
    pub fn quoted(&mut self) -> Result<String, GrammarError> {
        let start = self.at;
        let mut chars = self.rest().char_indices();
        let quote = chars.next().map_or('"', |(_, c)| c);
        let mut text = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some(c) if !c.is_alphanumeric() => text.push(c),
                    _ => {
                        let error = GrammarError::new(start + at, "unknown escape in a quoted text");
                        return Err(error.hint("write `\\\\` for a backslash"));
                    }
                },
                c if c == quote => {
                    self.at += at + 1;
                    return Ok(text);
                }
                c => text.push(c),
            }
        }
        Err(GrammarError::new(start, "a quote is never closed").hint(format!("close it with `{quote}`")))
    }

    pub fn number(&mut self) -> Result<Value, GrammarError> {
        let rest = self.rest();
        let mut before = ' ';
        let ends = |c: char| {
            let signs = matches!(c, '+' | '-') && matches!(before, 'e' | 'E' | ' ');
            before = c;
            !(c.is_ascii_alphanumeric() || c == '.' || signs)
        };
        let text = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let number = serde_json::from_str::<Number>(text).map_err(|_| {
            let shown = if text.is_empty() { self.next_words() } else { format!("`{text}`") };
            self.error(format!("{shown} is no number")).hint("write it as `12`, `-1` or `0.5`")
        })?;
        self.at += text.len();
        Ok(Value::Number(number))
    }
}
