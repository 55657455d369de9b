//! Content of a tag: a path, a value, or a helper with its arguments.

use std::fmt;

use serde_json::Value;

use super::super::GrammarError;
use crate::diagnostic::did_you_mean;
use crate::workflow::lang::lexer::Lexer;

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A value; `undefined` is none.
    Literal(Option<Value>),
    Path(Path),
    Call(Helper, Vec<Expression>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    pub root: Root,
    /// The number of `../` at its beginning.
    pub up: usize,
    /// It begins with `this` or `./`, so its first name is no block parameter.
    pub is_explicit: bool,
    pub segments: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    Here,
    /// The scope as a whole, `@root`.
    Scope,
    /// The loop around it: `@key`, `@index`, `@first`, `@last`.
    Loop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Helper {
    /// `{{number @index}}` counts from 1.
    Number,
    /// `{{join list ", "}}`.
    Join,
    /// `{{lookup map key}}`.
    Lookup,
}

const HELPERS: [(&str, Helper, usize); 3] =
    [("number", Helper::Number, 1), ("join", Helper::Join, 2), ("lookup", Helper::Lookup, 2)];
const LOOP_WORDS: [&str; 4] = ["key", "index", "first", "last"];
const DEEPEST: usize = 20;

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = match self.root {
            Root::Scope => Some("@root"),
            Root::Loop => Some("@"),
            Root::Here => (self.segments.is_empty() || self.is_explicit).then_some("this"),
        };
        let names: Vec<&str> = start.into_iter().chain(self.segments.iter().map(String::as_str)).collect();
        write!(f, "{}{}", "../".repeat(self.up), names.join(".").replacen("@.", "@", 1))
    }
}

impl Path {
    pub fn may_be_param(&self) -> bool {
        self.root == Root::Here && self.up == 0 && !self.is_explicit
    }
}

impl Expression {
    pub fn paths<'a>(&'a self, found: &mut Vec<&'a Path>) {
        match self {
            Self::Literal(_) => {}
            Self::Path(path) => found.push(path),
            Self::Call(_, args) => args.iter().for_each(|arg| arg.paths(found)),
        }
    }
}

/// Reads the inside of a tag, word by word.
pub struct ExpressionParser<'a> {
    scan: Lexer<'a>,
    offset: usize,
    depth: usize,
}

impl<'a> ExpressionParser<'a> {
    /// Starts on a tag's inside, which begins at byte `offset` of the template.
    pub fn new(inner: &'a str, offset: usize) -> Self {
        Self { scan: Lexer::new(inner), offset, depth: 0 }
    }

    pub fn error(&self, message: impl Into<String>) -> GrammarError {
        GrammarError::new(self.offset + self.scan.at, message)
    }

    pub fn is_done(&mut self) -> bool {
        self.scan.space();
        self.scan.rest().is_empty()
    }

    /// Passes over a word, if it comes next and ends there.
    pub fn eat_word(&mut self, word: &str) -> bool {
        self.scan.space();
        let rest = self.scan.rest().strip_prefix(word);
        let comes =
            rest.is_some_and(|rest| rest.chars().next().is_none_or(|c| c.is_whitespace() || c == '|'));
        if comes {
            self.scan.at += word.len();
        }
        comes
    }

    /// The word that comes next, up to white space.
    pub fn peek_word(&mut self) -> &'a str {
        self.scan.rest().split_whitespace().next().unwrap_or_default()
    }

    /// `as |a b|`, if it comes next.
    pub fn params(&mut self) -> Result<Vec<String>, GrammarError> {
        if !self.eat_word("as") {
            return Ok(Vec::new());
        }
        self.scan.space();
        let closing = self.scan.rest().strip_prefix('|').and_then(|rest| rest.find('|'));
        let Some(length) = closing else {
            return Err(self.error("names of items stand between bars").hint("write `as |item index|`"));
        };
        let names = &self.scan.rest()[1..=length];
        self.scan.at += length + 2;
        Ok(names.split_whitespace().map(str::to_owned).collect())
    }

    /// A whole value: a path, a literal, or a helper without parentheses.
    pub fn whole(&mut self) -> Result<Expression, GrammarError> {
        let value = self.call_or_one()?;
        if self.is_done() { Ok(value) } else { Err(self.surplus()) }
    }

    pub fn surplus(&self) -> GrammarError {
        let rest = self.scan.rest();
        if rest.split_whitespace().next().is_some_and(|word| word.contains('=')) {
            return self.error("named arguments are not part of the language").hint("leave them out");
        }
        self.error(format!("{} does not belong here", self.scan.next_words()))
            .hint("a tag holds one path, or one helper and what it is given")
    }

    fn call_or_one(&mut self) -> Result<Expression, GrammarError> {
        self.scan.space();
        let start = self.scan.at;
        let first = self.one()?;
        let given = !self.is_done() && !self.scan.rest().starts_with([')', '=']);
        let Expression::Path(path) = &first else { return Ok(first) };
        let is_name = path.may_be_param() && path.segments.len() == 1;
        if !given || !is_name {
            return Ok(first);
        }
        let name = path.segments[0].as_str();
        let Some((_, helper, count)) = HELPERS.iter().find(|(known, ..)| *known == name) else {
            self.scan.at = start;
            let known: Vec<&str> = HELPERS.iter().map(|(name, ..)| *name).collect();
            let error = self.error(format!("unknown helper `{name}`"));
            return Err(error.hint(did_you_mean(name, &known)));
        };
        let mut args = Vec::new();
        while !self.is_done() && !self.scan.rest().starts_with(')') && args.len() < *count {
            args.push(self.one()?);
        }
        let at = self.offset + start;
        let least = if *helper == Helper::Join { 1 } else { *count };
        if args.len() < least {
            let error = GrammarError::new(at, format!("`{name}` is given {} of {count} values", args.len()));
            let hint = match helper {
                Helper::Number => "write `{{number @index}}`",
                Helper::Join => "write `{{join list \", \"}}`",
                Helper::Lookup => "write `{{lookup map key}}`",
            };
            return Err(error.hint(hint));
        }
        Ok(Expression::Call(*helper, args))
    }

    /// One value: a path, a literal, or a helper in parentheses.
    pub fn one(&mut self) -> Result<Expression, GrammarError> {
        self.scan.space();
        let at = self.scan.at;
        let lift = |error: GrammarError| GrammarError { offset: error.offset + self.offset, ..error };
        match self.scan.peek() {
            Some('"' | '\'') => Ok(Expression::Literal(Some(Value::String(self.quoted()?)))),
            Some('(') => self.nested(),
            Some(c) if c.is_ascii_digit() || (c == '-' && self.scan.rest().len() > 1) => {
                self.scan.number().map(|number| Expression::Literal(Some(number))).map_err(lift)
            }
            _ => {
                let path = self.path()?;
                let alone = path.may_be_param() && path.segments.len() == 1;
                let literal = match path.segments.first().map(String::as_str).filter(|_| alone) {
                    Some("true") => Some(Value::Bool(true)),
                    Some("false") => Some(Value::Bool(false)),
                    Some("null") => Some(Value::Null),
                    Some("undefined") => None,
                    _ => return Ok(Expression::Path(path)),
                };
                debug_assert!(self.scan.at > at);
                Ok(Expression::Literal(literal))
            }
        }
    }

    fn nested(&mut self) -> Result<Expression, GrammarError> {
        let start = self.scan.at;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(format!("helpers are nested more than {DEEPEST} levels deep")));
        }
        self.scan.eat("(");
        let inner = self.call_or_one()?;
        self.scan.space();
        self.depth -= 1;
        if self.scan.eat(")") {
            return Ok(inner);
        }
        if !self.scan.rest().is_empty() {
            return Err(self.surplus());
        }
        Err(GrammarError::new(self.offset + start, "`(` is never closed").hint("close it with `)`"))
    }

    /// Handlebars knows no escapes in quoted text but that of the quote.
    fn quoted(&mut self) -> Result<String, GrammarError> {
        let rest = self.scan.rest();
        let quote = if rest.starts_with('\'') { '\'' } else { '"' };
        let mut end = 1;
        while let Some(found) = rest[end..].find(quote) {
            end += found + 1;
            if !rest[..end - 1].ends_with('\\') {
                self.scan.at += end;
                return Ok(rest[1..end - 1].replace(&format!("\\{quote}"), &quote.to_string()));
            }
        }
        Err(self.error("a quote is never closed").hint(format!("close it with `{quote}`")))
    }

    fn path(&mut self) -> Result<Path, GrammarError> {
        let offset = self.offset + self.scan.at;
        let is_data = self.scan.eat("@");
        let mut path = Path { root: Root::Here, up: 0, is_explicit: false, segments: Vec::new() };
        while self.scan.eat("../") {
            path.up += 1;
        }
        if self.scan.rest() == ".."
            || self.scan.rest().starts_with(".. ")
            || self.scan.rest().starts_with("..)")
        {
            self.scan.at += 2;
            path.up += 1;
            return Ok(path);
        }
        if !is_data && (self.scan.eat("./") || self.ends_after(".") || self.this()) {
            path.is_explicit = true;
        }
        let mut more =
            !path.is_explicit || self.scan.peek().is_some_and(in_name) || self.scan.rest().starts_with('[');
        while more {
            let name = self.segment()?;
            path.segments.push(name);
            more = self.scan.eat(".") || self.scan.eat("/");
        }
        if is_data {
            path = data(path, offset)?;
        }
        Ok(path)
    }

    /// Passes over `this`, and over the dot or slash after it.
    fn this(&mut self) -> bool {
        let rest = self.scan.rest();
        let comes = rest.strip_prefix("this").is_some_and(|after| !after.starts_with(in_name));
        if comes {
            self.scan.at += 4;
            let _ = self.scan.eat(".") || self.scan.eat("/");
        }
        comes
    }

    /// Passes over `token` if nothing of a name follows it.
    fn ends_after(&mut self, token: &str) -> bool {
        let rest = self.scan.rest().strip_prefix(token);
        let ends = rest.is_some_and(|rest| !rest.starts_with(|c| in_name(c) || c == '[' || c == '.'));
        self.scan.at += if ends { token.len() } else { 0 };
        ends
    }

    fn segment(&mut self) -> Result<String, GrammarError> {
        let rest = self.scan.rest();
        if let Some(bracket) = rest.strip_prefix('[') {
            let Some(length) = bracket.find(']') else {
                return Err(self.error("`[` is never closed").hint("close it with `]`"));
            };
            self.scan.at += length + 2;
            return Ok(bracket[..length].to_owned());
        }
        let name = &rest[..rest.find(|c| !in_name(c)).unwrap_or(rest.len())];
        if name.is_empty() {
            let found = self.scan.next_words();
            let error = self.error(format!("a name must stand here, found {found}"));
            return Err(error.hint("names that hold other characters go in brackets: `[any name]`"));
        }
        self.scan.at += name.len();
        Ok(name.to_owned())
    }
}

/// A path that began with `@`.
fn data(mut path: Path, offset: usize) -> Result<Path, GrammarError> {
    let word = path.segments.first().cloned().unwrap_or_default();
    if word == "root" && path.up == 0 {
        path.segments.remove(0);
        path.root = Root::Scope;
        return Ok(path);
    }
    if LOOP_WORDS.contains(&word.as_str()) && path.segments.len() == 1 {
        path.root = Root::Loop;
        return Ok(path);
    }
    let error = GrammarError::new(offset, format!("`@{word}` is nothing a template knows"));
    Err(error.hint("known here: @key, @index, @first, @last, @root"))
}

/// A name may hold this character outside brackets.
fn in_name(c: char) -> bool {
    !c.is_whitespace() && !"!\"#%&'()*+,./;<=>@[\\]^`{|}~".contains(c)
}
