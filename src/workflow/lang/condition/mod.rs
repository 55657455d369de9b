//! A condition: a small, strict language over what steps left behind.
//!
//! It holds paths (`context.parallel-tests.success`, `context["parallel-tests"].data[0].result`),
//! literals, `=== !== < > <= >= && || !` and parentheses, binding as in JavaScript. Nothing is
//! converted: what is not true or false is no condition, and text is never a number.

mod eval;
mod parse;

use serde_json::Value;

use super::GrammarError;
use parse::Expr;

#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    expr: Expr,
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// What does not belong, with its place; `==` and `!=` with what to write instead.
    pub fn parse(text: &str) -> Result<Self, GrammarError> {
        Ok(Self { text: text.to_owned(), expr: parse::parse(text)? })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The steps it names as `context.<step>`, in the order of the text.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        self.paths().into_iter().filter_map(|path| match path {
            [root, step, ..] if root == "context" => Some(step.as_str()),
            _ => None,
        })
    }

    /// Every path it reads, the root first.
    pub fn paths(&self) -> Vec<&[String]> {
        self.expr.paths()
    }

    /// Whether it holds over `scope`, an object of `input`, `context`, `runs`, `rounds`, `agenda`,
    /// `conflicts`, `questions` and perhaps `error`.
    ///
    /// What a path does not find is undefined; `context.<step>.success` is then what `success_of`
    /// says. `===` compares contents, numbers by value; lists and maps are the same when everything
    /// in them is. `<` and its kin compare two numbers or two texts, and are false where a side is
    /// undefined or null.
    ///
    /// # Errors
    /// Where true or false is needed and something else found, and where `<` meets two things that
    /// have no order.
    pub fn holds(&self, scope: &Value, success_of: &dyn Fn(&str) -> Option<bool>) -> Result<bool, String> {
        eval::Eval { scope, success_of }.truth(&self.expr)
    }
}

#[cfg(test)]
mod tests;
