//! The tree of a condition.

use serde_json::Value;

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
    /// This part and every one inside it, in the order of the text.
    pub fn all(&self) -> Vec<&Self> {
        let inside: Vec<&Self> = match self {
            Self::Literal(_) | Self::Path(_) => Vec::new(),
            Self::Not(inner) => inner.all(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::all).collect(),
            Self::Compare(left, _, right) => [left.all(), right.all()].concat(),
        };
        std::iter::once(self).chain(inside).collect()
    }

    /// The path that is compared with a text, and the text.
    pub fn compared_word(&self) -> Option<(&[String], &str)> {
        let Self::Compare(left, _, right) = self else { return None };
        match (&**left, &**right) {
            (Self::Path(path), Self::Literal(Some(Value::String(word))))
            | (Self::Literal(Some(Value::String(word))), Self::Path(path)) => Some((path, word)),
            _ => None,
        }
    }
}
