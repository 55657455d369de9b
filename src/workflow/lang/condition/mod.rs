//! Condition language: strict expressions over step results.
//!
//! It has paths (`context.parallel-tests.success`, `context["parallel-tests"].data[0].result`), literals,
//! `=== !== < > <= >= && || !` and parentheses, with the precedence of JavaScript. Values are never
//! converted: a condition must yield true or false, and text is never a number.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::GrammarError;
use super::lexer::Lexer;
use super::value_path::{kind_of, walk};
use crate::diagnostic::nearest;

const DEEPEST: usize = 50;
const LONGEST: usize = 10_000;
const ROOTS: [&str; 8] = ["context", "input", "error", "runs", "rounds", "agenda", "conflicts", "questions"];

/// The default replaces a text that does not parse.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Condition {
    text: String,
    expr: Expr,
}

#[derive(Debug, Clone, Default, PartialEq)]
enum Expr {
    #[default]
    Undefined,
    Literal(Value),
    /// Path, root first.
    Path(Vec<String>),
    Not(Box<Expr>),
    /// Parts joined by `||` (`true`) or `&&` (`false`): the first part with that value decides.
    Joined(bool, Vec<Expr>),
    Compare(Box<Expr>, Compare, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compare {
    Same,
    Differs,
    Less,
    More,
    AtMost,
    AtLeast,
}

const EQUALITY: [(&str, Compare); 2] = [("===", Compare::Same), ("!==", Compare::Differs)];
const ORDER: [(&str, Compare); 4] =
    [("<=", Compare::AtMost), (">=", Compare::AtLeast), ("<", Compare::Less), (">", Compare::More)];

impl Condition {
    pub fn parse(text: &str) -> Result<Self, GrammarError> {
        if text.len() > LONGEST {
            return Err(GrammarError::new(LONGEST, format!("a condition is at most {LONGEST} bytes long")));
        }
        let mut parser = Parser { scan: Lexer { text, at: 0 }, depth: 0 };
        let expr = parser.any()?;
        parser.scan.space();
        if !parser.scan.rest().is_empty() {
            return Err(parser.unexpected());
        }
        Ok(Self { text: text.to_owned(), expr })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns every path that the condition reads, root first.
    pub fn paths(&self) -> Vec<&[String]> {
        self.expr.paths()
    }

    /// Evaluates the condition over `scope`. The scope is an object of `input`, `context`, `runs`, `rounds`,
    /// `agenda`, `conflicts`, `questions` and possibly `error`. A path without a value is undefined; if it
    /// is `context.<step>.success`, `success_of` supplies the value. `===` compares contents, and numbers by
    /// value. `<`, `>`, `<=` and `>=` compare two numbers or two texts; they are false if a side is
    /// undefined or null. Fails on other pairs, and if the result is neither true nor false.
    pub fn evaluate(&self, scope: &Value, success_of: &dyn Fn(&str) -> Option<bool>) -> Result<bool, String> {
        Scope { values: scope, success_of }.truth(&self.expr)
    }
}

impl Expr {
    /// Returns every path in the order of the text.
    fn paths(&self) -> Vec<&[String]> {
        match self {
            Self::Undefined | Self::Literal(_) => Vec::new(),
            Self::Path(path) => vec![path],
            Self::Not(inner) => inner.paths(),
            Self::Joined(_, parts) => parts.iter().flat_map(Self::paths).collect(),
            Self::Compare(left, _, right) => [left.paths(), right.paths()].concat(),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Path(path) => format!("`{}`", path.join(".")),
            Self::Literal(value) => format!("`{value}`"),
            Self::Undefined => "`undefined`".to_owned(),
            _ => "a part of the condition".to_owned(),
        }
    }
}

/// Recursive-descent parser, limited to [`DEEPEST`] levels.
struct Parser<'a> {
    scan: Lexer<'a>,
    depth: usize,
}

type Part<'a> = fn(&mut Parser<'a>) -> Result<Expr, GrammarError>;

impl<'a> Parser<'a> {
    fn any(&mut self) -> Result<Expr, GrammarError> {
        self.joined("||", true, |parser| parser.joined("&&", false, Self::equality))
    }

    fn joined(&mut self, token: &str, decides: bool, part: Part<'a>) -> Result<Expr, GrammarError> {
        let first = part(self)?;
        let mut parts = vec![first];
        while self.skip_token(token) {
            parts.push(part(self)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Joined(decides, parts) })
    }

    fn equality(&mut self) -> Result<Expr, GrammarError> {
        self.compared(&EQUALITY, |parser| parser.compared(&ORDER, Self::unary))
    }

    fn compared(&mut self, operators: &[(&str, Compare)], part: Part<'a>) -> Result<Expr, GrammarError> {
        let mut left = part(self)?;
        let depth = self.depth;
        while let Some((_, compare)) = operators.iter().find(|(token, _)| self.skip_token(token)) {
            self.deeper()?;
            left = Expr::Compare(Box::new(left), *compare, Box::new(part(self)?));
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
        let inner = if negated { Expr::Not(Box::new(self.unary()?)) } else { self.any()? };
        if !negated && !self.skip_token(")") {
            if !self.scan.rest().is_empty() {
                return Err(self.unexpected());
            }
            return Err(GrammarError::new(start, "`(` is never closed").hint("close it with `)`"));
        }
        self.depth -= 1;
        Ok(inner)
    }

    fn operand(&mut self) -> Result<Expr, GrammarError> {
        match self.scan.peek() {
            Some('"' | '\'') => return Ok(Expr::Literal(self.scan.quoted()?.into())),
            Some('0'..='9' | '-') => return Ok(Expr::Literal(self.scan.number()?)),
            _ => {}
        }
        let start = self.scan.at;
        match self.scan.word() {
            "true" => Ok(Expr::Literal(true.into())),
            "false" => Ok(Expr::Literal(false.into())),
            "null" => Ok(Expr::Literal(Value::Null)),
            "undefined" => Ok(Expr::Undefined),
            "" => {
                let found = self.scan.next_words();
                let error = self.scan.error(format!("a path or a value must stand here, found {found}"));
                Err(error.hint("write for example `context.<step>.success === true`"))
            }
            root if ROOTS.contains(&root) => {
                let mut path = vec![root.to_owned()];
                path.extend(self.scan.path_tail()?);
                Ok(Expr::Path(path))
            }
            word => {
                let error = GrammarError::new(start, format!("`{word}` is nothing a condition sees"));
                Err(error.hint(match (word, nearest(word, ROOTS)) {
                    ("not", _) => "write `!`".to_owned(),
                    (_, Some(root)) => format!("did you mean `{root}`?"),
                    _ => format!("a step's result is `context.{word}`, a text is `\"{word}\"`"),
                }))
            }
        }
    }

    /// Skips `token` and any space before it; returns whether it was there.
    fn skip_token(&mut self, token: &str) -> bool {
        self.scan.space();
        self.scan.eat(token)
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
        let others = [
            ("==", "write `===`; nothing is converted"),
            ("!=", "write `!==`; nothing is converted"),
            ("=", "write `===` to compare"),
            ("&", "write `&&`"),
            ("|", "write `||`"),
            ("and", "write `&&`"),
            ("or", "write `||`"),
        ];
        if rest.starts_with(')') {
            return self.scan.error("`)` closes nothing").hint("remove it, or open it with `(`");
        }
        match others.iter().find(|(token, _)| rest.starts_with(token)) {
            Some((token, hint)) => {
                self.scan.error(format!("`{token}` is not part of the language")).hint(*hint)
            }
            None => self
                .scan
                .error(format!("{} does not belong here", self.scan.next_words()))
                .hint("a condition knows paths, values, `=== !== < > <= >= && || !` and parentheses"),
        }
    }
}

/// Value of an expression; `None` is undefined.
type MaybeValue<'a> = Option<Cow<'a, Value>>;

struct Scope<'a> {
    values: &'a Value,
    success_of: &'a dyn Fn(&str) -> Option<bool>,
}

impl<'a> Scope<'a> {
    fn truth(&self, expr: &'a Expr) -> Result<bool, String> {
        match self.value(expr)?.as_deref() {
            Some(Value::Bool(truth)) => Ok(*truth),
            other => Err(format!("{} is {}, where true or false is needed", expr.name(), kind(other))),
        }
    }

    fn value(&self, expr: &'a Expr) -> Result<MaybeValue<'a>, String> {
        let truth = match expr {
            Expr::Undefined => return Ok(None),
            Expr::Literal(literal) => return Ok(Some(Cow::Borrowed(literal))),
            Expr::Path(path) => return Ok(self.path(path)),
            Expr::Not(inner) => !self.truth(inner)?,
            Expr::Joined(decides, parts) => parts.iter().try_fold(!decides, |truth, part| {
                if truth == *decides { Ok(truth) } else { self.truth(part) }
            })?,
            Expr::Compare(left, compare, right) => self.compare(left, *compare, right)?,
        };
        Ok(Some(Cow::Owned(Value::Bool(truth))))
    }

    fn path(&self, path: &'a [String]) -> MaybeValue<'a> {
        walk(self.values, path).or_else(|| match path {
            [root, step, field] if root == "context" && field == "success" => {
                (self.success_of)(step).map(|success| Cow::Owned(Value::Bool(success)))
            }
            _ => None,
        })
    }

    fn compare(&self, left: &'a Expr, compare: Compare, right: &'a Expr) -> Result<bool, String> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        let equal = || match (a.as_deref(), b.as_deref()) {
            (Some(a), Some(b)) => same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let holds: fn(Ordering) -> bool = match compare {
            Compare::Same => return Ok(equal()),
            Compare::Differs => return Ok(!equal()),
            Compare::Less => Ordering::is_lt,
            Compare::More => Ordering::is_gt,
            Compare::AtMost => Ordering::is_le,
            Compare::AtLeast => Ordering::is_ge,
        };
        match (a.as_deref(), b.as_deref()) {
            (Some(Value::Number(a)), Some(Value::Number(b))) => Ok(holds(order(a, b))),
            (Some(Value::String(a)), Some(Value::String(b))) => {
                Ok(holds(a.encode_utf16().cmp(b.encode_utf16())))
            }
            (None | Some(Value::Null), _) | (_, None | Some(Value::Null)) => Ok(false),
            (a, b) => {
                let describe = |side: &Expr, value| format!("{} is {}", side.name(), kind(value));
                let (a, b) = (describe(left, a), describe(right, b));
                Err(format!("{a} and {b}: only two numbers or two texts have an order"))
            }
        }
    }
}

fn order(a: &Number, b: &Number) -> Ordering {
    let whole = |n: &Number| n.as_i64().map(i128::from).or(n.as_u64().map(i128::from));
    if let (Some(a), Some(b)) = (whole(a), whole(b)) {
        return a.cmp(&b);
    }
    let float = |n: &Number| n.as_f64().unwrap_or_default();
    float(a).partial_cmp(&float(b)).unwrap_or(Ordering::Equal)
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => order(a, b).is_eq(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

fn kind(value: Option<&Value>) -> &'static str {
    value.map_or("undefined", kind_of)
}

#[cfg(test)]
mod tests;
