//! Evaluates a condition over a scope. Nothing is converted on the way.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::parse::{Compare, Expr};
use crate::workflow::lang::value_path::{kind_of, walk};

/// A value, or undefined.
type MaybeValue<'a> = Option<Cow<'a, Value>>;

pub struct Eval<'a> {
    pub scope: &'a Value,
    pub success_of: &'a dyn Fn(&str) -> Option<bool>,
}

impl<'a> Eval<'a> {
    pub fn truth(&self, expr: &'a Expr) -> Result<bool, String> {
        match self.value(expr)?.as_deref() {
            Some(Value::Bool(truth)) => Ok(*truth),
            other => Err(format!("{} is {}, where true or false is needed", name(expr), kind(other))),
        }
    }

    fn value(&self, expr: &'a Expr) -> Result<MaybeValue<'a>, String> {
        let truth = match expr {
            Expr::Literal(literal) => return Ok(literal.as_ref().map(Cow::Borrowed)),
            Expr::Path(path) => return Ok(self.path(path)),
            Expr::Not(inner) => !self.truth(inner)?,
            Expr::All(parts) => self.until(parts, false)?,
            Expr::Any(parts) => self.until(parts, true)?,
            Expr::Compare(left, compare, right) => self.compare(left, *compare, right)?,
        };
        Ok(Some(Cow::Owned(Value::Bool(truth))))
    }

    /// Goes on until a part is `end`; what comes after it is not looked at.
    fn until(&self, parts: &'a [Expr], end: bool) -> Result<bool, String> {
        for part in parts {
            if self.truth(part)? == end {
                return Ok(end);
            }
        }
        Ok(!end)
    }

    fn path(&self, path: &'a [String]) -> MaybeValue<'a> {
        walk(self.scope, path).or_else(|| match path {
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
            (a, b) => Err(format!(
                "{} is {} and {} is {}: only two numbers or two texts have an order",
                name(left),
                kind(a),
                name(right),
                kind(b)
            )),
        }
    }
}

fn order(a: &Number, b: &Number) -> Ordering {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a.cmp(&b);
    }
    if let (Some(a), Some(b)) = (a.as_u64(), b.as_u64()) {
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

fn name(expr: &Expr) -> String {
    match expr {
        Expr::Path(path) => format!("`{}`", path.join(".")),
        Expr::Literal(Some(value)) => format!("`{value}`"),
        Expr::Literal(None) => "`undefined`".to_owned(),
        _ => "a part of the condition".to_owned(),
    }
}

fn kind(value: Option<&Value>) -> &'static str {
    value.map_or("undefined", kind_of)
}
