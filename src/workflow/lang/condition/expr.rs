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
    pub fn compared_words<'a>(&'a self, found: &mut Vec<(&'a [String], &'a str)>) {
        match self {
            Self::Literal(_) | Self::Path(_) => {}
            Self::Not(inner) => inner.compared_words(found),
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.compared_words(found);
                }
            }
            Self::Compare(left, _, right) => match (&**left, &**right) {
                (Self::Path(path), Self::Literal(Some(Value::String(word))))
                | (Self::Literal(Some(Value::String(word))), Self::Path(path)) => {
                    found.push((path, word));
                }
                (left, right) => {
                    left.compared_words(found);
                    right.compared_words(found);
                }
            },
        }
    }

    pub fn visit<'a>(&'a self, see: &mut impl FnMut(&'a [String])) {
        match self {
            Self::Literal(_) => {}
            Self::Path(path) => see(path),
            Self::Not(inner) => inner.visit(see),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.visit(see)),
            Self::Compare(left, _, right) => {
                left.visit(see);
                right.visit(see);
            }
        }
    }
}
