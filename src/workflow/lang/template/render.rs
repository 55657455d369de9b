//! Template renderer, limited in size and work.
//!
//! Text prints unchanged, lists are joined with `,`, maps print as compact JSON, numbers as in JavaScript.

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::parse::{BlockKind, Path, Printing, Root, TemplateBlock, TemplateNode};
use crate::workflow::lang::value_path::{kind_of, walk};

const LARGEST: usize = 8 * 1024 * 1024;
/// Most nodes rendered, counting each loop iteration.
const MOST_WORK: usize = 2_000_000;

type Seen<'a> = Option<Cow<'a, Value>>;

/// Treatment of a path without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    PrintsNothing,
    Fails,
}

pub fn render(nodes: &[TemplateNode], scope: &Value, absent: Absent) -> Result<String, String> {
    let first = Frame { here: scope, turn: None };
    let mut render = Render { scope, frames: vec![first], out: String::new(), work: 0, absent };
    render.nodes(nodes)?;
    Ok(render.out)
}

struct Frame<'a> {
    here: &'a Value,
    turn: Option<LoopIteration>,
}

struct LoopIteration {
    key: Value,
    index: usize,
    is_last: bool,
}

struct Render<'a> {
    scope: &'a Value,
    frames: Vec<Frame<'a>>,
    out: String,
    work: usize,
    absent: Absent,
}

impl<'a> Render<'a> {
    fn nodes(&mut self, nodes: &'a [TemplateNode]) -> Result<(), String> {
        self.work += 1 + nodes.len();
        if self.work > MOST_WORK {
            return Err("the template takes too long: its loops multiply".to_owned());
        }
        for node in nodes {
            match node {
                TemplateNode::Text(text) => self.out.push_str(text),
                TemplateNode::Value(path, form) => {
                    if let Some(value) = self.expected(path)? {
                        form.print(&value, &mut self.out)?;
                    }
                }
                TemplateNode::Block(block) => self.block(block)?,
            }
            if self.out.len() > LARGEST {
                return Err(format!("the text is larger than {} MiB", LARGEST >> 20));
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &'a TemplateBlock) -> Result<(), String> {
        if block.kind == BlockKind::Each {
            return self.each(block);
        }
        let value = self.path(&block.of);
        let truth = value.as_deref().is_some_and(is_true);
        match (block.kind, value) {
            (BlockKind::With, Some(Cow::Borrowed(here))) if is_there(here) => self.enter(block, here, None),
            (BlockKind::If, _) if truth => self.nodes(&block.body),
            (BlockKind::Unless, _) if !truth => self.nodes(&block.body),
            _ => self.nodes(&block.otherwise),
        }
    }

    fn each(&mut self, block: &'a TemplateBlock) -> Result<(), String> {
        // Lists and maps are always borrowed from the scope.
        let items: Vec<(Value, &'a Value)> = match self.expected(&block.of)? {
            Some(Cow::Borrowed(Value::Array(items))) => {
                items.iter().enumerate().map(|(nth, item)| (nth.into(), item)).collect()
            }
            Some(Cow::Borrowed(Value::Object(map))) => {
                map.iter().map(|(key, item)| (key.as_str().into(), item)).collect()
            }
            _ => Vec::new(),
        };
        if items.is_empty() {
            return self.nodes(&block.otherwise);
        }
        let count = items.len();
        for (index, (key, item)) in items.into_iter().enumerate() {
            let turn = LoopIteration { key, index, is_last: index + 1 == count };
            self.enter(block, item, Some(turn))?;
        }
        Ok(())
    }

    fn enter(
        &mut self,
        block: &'a TemplateBlock,
        here: &'a Value,
        turn: Option<LoopIteration>,
    ) -> Result<(), String> {
        self.frames.push(Frame { here, turn });
        let printed = self.nodes(&block.body);
        self.frames.pop();
        printed
    }

    /// Returns the value of a path. Fails without a value if `absent` requires one.
    fn expected(&self, path: &'a Path) -> Result<Seen<'a>, String> {
        let value = self.path(path);
        let is_absent = value.as_deref().is_none_or(Value::is_null);
        if is_absent && self.absent == Absent::Fails {
            return Err(format!("`{}` has no value", path.text));
        }
        Ok(value)
    }

    fn path(&self, path: &'a Path) -> Seen<'a> {
        match path.root {
            Root::Scope => walk(self.scope, &path.segments),
            Root::Literal => serde_json::from_str(path.segments.first()?).ok().map(Cow::Owned),
            Root::Loop => {
                let turn = self.frames.iter().rev().filter_map(|frame| frame.turn.as_ref()).nth(path.up)?;
                Some(Cow::Owned(match path.segments.first()?.as_str() {
                    "key" => turn.key.clone(),
                    "index" => turn.index.into(),
                    "first" => (turn.index == 0).into(),
                    _ => turn.is_last.into(),
                }))
            }
            Root::Here => {
                let at = self.frames.len().checked_sub(1 + path.up)?;
                walk(self.frames[at].here, &path.segments)
            }
        }
    }
}

impl Printing {
    fn print(&self, value: &Value, out: &mut String) -> Result<(), String> {
        match (self, value) {
            (Self::Joined(between), Value::Array(items)) => join(items, between, out),
            (Self::Number, Value::Number(number)) => {
                let next = match number.as_i64() {
                    Some(whole) => Value::from(whole.saturating_add(1)),
                    None => Value::from(number.as_f64().unwrap_or_default() + 1.0),
                };
                print(&next, out);
            }
            (Self::Number, other) if !other.is_null() => {
                return Err(format!("`number` counts from a number, and was given {}", kind_of(other)));
            }
            _ => print(value, out),
        }
        Ok(())
    }
}

fn print(value: &Value, out: &mut String) {
    match value {
        Value::Null => {}
        Value::Number(number) => out.push_str(&plain(number)),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => join(items, ",", out),
        Value::Bool(_) | Value::Object(_) => out.push_str(&value.to_string()),
    }
}

fn join(items: &[Value], between: &str, out: &mut String) {
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            out.push_str(between);
        }
        print(item, out);
    }
}

fn plain(number: &Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    if float == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&float.abs()) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

fn is_true(value: &Value) -> bool {
    is_there(value) && value.as_f64() != Some(0.0)
}

/// Like [`is_true`], except that 0 counts as present.
fn is_there(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}
