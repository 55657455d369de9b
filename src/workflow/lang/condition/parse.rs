//! Reading a condition by recursive descent, at most [`DEEPEST`] levels down.

use serde_json::Value;

use super::super::GrammarError;
use crate::diagnostic::nearest;
use crate::workflow::lang::lexer::Lexer;

const DEEPEST: usize = 50;
const LONGEST: usize = 10_000;
const ROOTS: [&str; 8] = ["context", "input", "error", "runs", "rounds", "agenda", "conflicts", "questions"];

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A literal; `undefined` is none.
    Literal(Option<Value>),
    /// A path, the root first.
    Path(Vec<String>),
    Not(Box<Expr>),
    All(Vec<Expr>),
    Any(Vec<Expr>),
    Compare(Box<Expr>, Compare, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    Same,
    Differs,
    Less,
    More,
    AtMost,
    AtLeast,
}

impl Expr {
    /// Every path in it, in the order of the text.
    pub fn paths(&self) -> Vec<&[String]> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Path(path) => vec![path],
            Self::Not(inner) => inner.paths(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::paths).collect(),
            Self::Compare(left, _, right) => [left.paths(), right.paths()].concat(),
        }
    }
}

pub fn parse(text: &str) -> Result<Expr, GrammarError> {
    if text.len() > LONGEST {
        return Err(GrammarError::new(LONGEST, format!("a condition is at most {LONGEST} bytes long")));
    }
    let mut parser = Parser { scan: Lexer::new(text), depth: 0 };
    let expr = parser.any()?;
    parser.scan.space();
    if parser.scan.rest().is_empty() { Ok(expr) } else { Err(parser.unexpected()) }
}

struct Parser<'a> {
    scan: Lexer<'a>,
    depth: usize,
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Expr, GrammarError> {
        let mut parts = vec![self.all()?];
        while self.operator("||") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expr::Any))
    }

    fn all(&mut self) -> Result<Expr, GrammarError> {
        let mut parts = vec![self.equality()?];
        while self.operator("&&") {
            parts.push(self.equality()?);
        }
        Ok(one_or(parts, Expr::All))
    }

    fn equality(&mut self) -> Result<Expr, GrammarError> {
        let operators = [("===", Compare::Same), ("!==", Compare::Differs)];
        let mut left = self.ordering()?;
        let depth = self.depth;
        while let Some(compare) = self.one_of(&operators) {
            self.deeper()?;
            left = Expr::Compare(Box::new(left), compare, Box::new(self.ordering()?));
        }
        self.depth = depth;
        Ok(left)
    }

    fn ordering(&mut self) -> Result<Expr, GrammarError> {
        let operators =
            [("<=", Compare::AtMost), (">=", Compare::AtLeast), ("<", Compare::Less), (">", Compare::More)];
        let mut left = self.unary()?;
        let depth = self.depth;
        while let Some(compare) = self.one_of(&operators) {
            self.deeper()?;
            left = Expr::Compare(Box::new(left), compare, Box::new(self.unary()?));
        }
        self.depth = depth;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, GrammarError> {
        self.scan.space();
        let start = self.scan.at;
        if self.scan.rest().starts_with("!=") {
            return Err(self.unexpected());
        }
        let negated = self.scan.eat("!");
        if !negated && !self.scan.eat("(") {
            return self.operand();
        }
        self.deeper()?;
        let inner = if negated {
            Expr::Not(Box::new(self.unary()?))
        } else {
            let inner = self.any()?;
            self.scan.space();
            if !self.scan.eat(")") {
                if !self.scan.rest().is_empty() {
                    return Err(self.unexpected());
                }
                return Err(GrammarError::new(start, "`(` is never closed").hint("close it with `)`"));
            }
            inner
        };
        self.depth -= 1;
        Ok(inner)
    }

    fn operand(&mut self) -> Result<Expr, GrammarError> {
        match self.scan.peek() {
            Some('"' | '\'') => Ok(Expr::Literal(Some(Value::String(self.scan.quoted()?)))),
            Some('0'..='9' | '-') => Ok(Expr::Literal(Some(self.scan.number()?))),
            _ => self.named(),
        }
    }

    fn named(&mut self) -> Result<Expr, GrammarError> {
        let start = self.scan.at;
        let word = self.scan.word();
        let literal = match word {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            "undefined" => None,
            "" => {
                let found = self.scan.next_words();
                let error = self.scan.error(format!("a path or a value must stand here, found {found}"));
                return Err(error.hint("write for example `context.<step>.success === true`"));
            }
            root if ROOTS.contains(&root) => {
                let mut path = vec![root.to_owned()];
                path.extend(self.scan.path_tail()?);
                return Ok(Expr::Path(path));
            }
            other => return Err(unknown_root(start, other)),
        };
        Ok(Expr::Literal(literal))
    }

    /// Passes over `&&` or `||`.
    fn operator(&mut self, token: &str) -> bool {
        self.scan.space();
        self.scan.eat(token)
    }

    fn one_of(&mut self, operators: &[(&str, Compare)]) -> Option<Compare> {
        self.scan.space();
        operators.iter().find(|(token, _)| self.scan.eat(token)).map(|(_, compare)| *compare)
    }

    fn deeper(&mut self) -> Result<(), GrammarError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let error = self.scan.error(format!("the condition is nested more than {DEEPEST} levels deep"));
            return Err(error.hint("split it into several condition steps"));
        }
        Ok(())
    }

    fn unexpected(&self) -> GrammarError {
        let rest = self.scan.rest();
        let hints = [
            ("==", "`==` is not part of the language", "write `===`; nothing is converted"),
            ("!=", "`!=` is not part of the language", "write `!==`; nothing is converted"),
            ("=", "`=` is not part of the language", "write `===` to compare"),
            ("&", "`&` is not part of the language", "write `&&`"),
            ("|", "`|` is not part of the language", "write `||`"),
            (")", "`)` closes nothing", "remove it, or open it with `(`"),
            ("and", "`and` is not part of the language", "write `&&`"),
            ("or", "`or` is not part of the language", "write `||`"),
        ];
        match hints.iter().find(|(token, ..)| rest.starts_with(token)) {
            Some((_, message, hint)) => self.scan.error(*message).hint(*hint),
            None => self
                .scan
                .error(format!("{} does not belong here", self.scan.next_words()))
                .hint("a condition knows paths, values, `=== !== < > <= >= && || !` and parentheses"),
        }
    }
}

fn unknown_root(at: usize, word: &str) -> GrammarError {
    let error = GrammarError::new(at, format!("`{word}` is nothing a condition sees"));
    let hint = match (word, nearest(word, ROOTS)) {
        ("not", _) => "write `!`".to_owned(),
        (_, Some(root)) => format!("did you mean `{root}`?"),
        _ => format!("a step's result is `context.{word}`, a text is `\"{word}\"`"),
    };
    error.hint(hint)
}

fn one_or(mut parts: Vec<Expr>, many: impl FnOnce(Vec<Expr>) -> Expr) -> Expr {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            many(parts)
        }
    }
}
