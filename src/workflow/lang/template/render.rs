//! Printing a tree over a scope, within limits of size and work.

use std::borrow::Cow;

use serde_json::Value;

use super::expression::{Expression, Helper, Path, Root};
use super::print::{is_there, is_true, join, print};
use super::tree::{Block, BlockKind, TemplateNode};
use crate::workflow::lang::value_path::{kind_of, walk};

const LARGEST: usize = 8 * 1024 * 1024;
/// The most parts that are printed, those of loops each time.
const MOST_WORK: usize = 2_000_000;

/// A value, or nothing.
type Seen<'a> = Option<Cow<'a, Value>>;

/// Treatment of a path without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    PrintsNothing,
    Fails,
}

pub fn render(nodes: &[TemplateNode], scope: &Value, absent: Absent) -> Result<String, String> {
    let first = Frame { here: Some(Cow::Borrowed(scope)), turn: None, params: Vec::new() };
    let mut render = Render { scope, frames: vec![first], out: String::new(), work: 0, absent };
    render.nodes(nodes)?;
    Ok(render.out)
}

struct Frame<'a> {
    here: Seen<'a>,
    turn: Option<LoopIteration<'a>>,
    params: Vec<(&'a str, Seen<'a>)>,
}

#[derive(Clone)]
struct LoopIteration<'a> {
    key: Cow<'a, Value>,
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
            return Err("the template goes on for too long: its loops multiply".to_owned());
        }
        for node in nodes {
            match node {
                TemplateNode::Text(text) => self.out.push_str(text),
                TemplateNode::Value(value) => {
                    let found = self.value(value)?;
                    self.expect(value, found.as_deref())?;
                    if let Some(value) = found {
                        print(&value, &mut self.out);
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

    fn block(&mut self, block: &'a Block) -> Result<(), String> {
        let value = self.value(&block.of)?;
        if block.kind == BlockKind::Each {
            self.expect(&block.of, value.as_deref())?;
        }
        match block.kind {
            BlockKind::If if is_true(value.as_deref()) => self.nodes(&block.body),
            BlockKind::Unless if !is_true(value.as_deref()) => self.nodes(&block.body),
            BlockKind::Each => self.each(block, value.as_ref()),
            BlockKind::With if is_there(value.as_deref()) => self.enter(block, value, None),
            BlockKind::If | BlockKind::Unless | BlockKind::With => self.nodes(&block.otherwise),
        }
    }

    fn each(&mut self, block: &'a Block, value: Option<&Cow<'a, Value>>) -> Result<(), String> {
        // Helpers never return a list or a map, so those are always borrowed from the scope.
        let items: Vec<(Cow<'a, Value>, &'a Value)> = match value {
            Some(Cow::Borrowed(Value::Array(items))) => {
                items.iter().enumerate().map(|(nth, item)| (Cow::Owned(nth.into()), item)).collect()
            }
            Some(Cow::Borrowed(Value::Object(map))) => {
                map.iter().map(|(key, item)| (Cow::Owned(Value::String(key.clone())), item)).collect()
            }
            _ => Vec::new(),
        };
        if items.is_empty() {
            return self.nodes(&block.otherwise);
        }
        let count = items.len();
        for (index, (key, item)) in items.into_iter().enumerate() {
            let turn = LoopIteration { key, index, is_last: index + 1 == count };
            self.enter(block, Some(Cow::Borrowed(item)), Some(turn))?;
        }
        Ok(())
    }

    fn enter(
        &mut self,
        block: &'a Block,
        here: Seen<'a>,
        turn: Option<LoopIteration<'a>>,
    ) -> Result<(), String> {
        // As in handlebars.js, a block over what is in sight already is no step down for `../`.
        let same = match (&here, self.frames.last().map(|frame| &frame.here)) {
            (Some(Cow::Borrowed(new)), Some(Some(Cow::Borrowed(old)))) => std::ptr::eq(*new, *old),
            _ => false,
        };
        if same && turn.is_none() && block.params.is_empty() {
            return self.nodes(&block.body);
        }
        let key = turn.as_ref().map(|turn| turn.key.clone());
        let values = [here.clone(), key];
        let params = block.params.iter().map(String::as_str).zip(values).collect();
        self.frames.push(Frame { here, turn, params });
        let printed = self.nodes(&block.body);
        self.frames.pop();
        printed
    }

    /// An error where there is no value and there must be one.
    fn expect(&self, of: &Expression, value: Option<&Value>) -> Result<(), String> {
        if self.absent == Absent::PrintsNothing || value.is_some_and(|value| !value.is_null()) {
            return Ok(());
        }
        let mut paths = Vec::new();
        of.paths(&mut paths);
        let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
        Err(format!("`{}` has no value", names.join(" ")))
    }

    fn value(&self, expression: &'a Expression) -> Result<Seen<'a>, String> {
        match expression {
            Expression::Literal(value) => Ok(value.as_ref().map(Cow::Borrowed)),
            Expression::Path(path) => Ok(self.path(path)),
            Expression::Call(helper, args) => {
                let first = args.first().map_or(Ok(None), |arg| self.value(arg))?;
                let second = args.get(1).map_or(Ok(None), |arg| self.value(arg))?;
                call(*helper, first, second.as_deref())
            }
        }
    }

    fn path(&self, path: &'a Path) -> Seen<'a> {
        match path.root {
            Root::Scope => walk(self.scope, &path.segments),
            Root::Loop => self.turn(path),
            Root::Here => {
                let at = self.frames.len().checked_sub(1 + path.up)?;
                let (first, rest) = match path.segments.split_first() {
                    Some((first, rest)) if path.may_be_param() => (first, rest),
                    _ => return into(self.frames[at].here.clone()?, &path.segments),
                };
                let param =
                    self.frames.iter().rev().flat_map(|frame| &frame.params).find(|(name, _)| name == first);
                match param {
                    Some((_, value)) => into(value.clone()?, rest),
                    None => into(self.frames[at].here.clone()?, &path.segments),
                }
            }
        }
    }

    fn turn(&self, path: &Path) -> Seen<'a> {
        let turn = self.frames.iter().rev().filter_map(|frame| frame.turn.as_ref()).nth(path.up)?;
        let value = match path.segments.first()?.as_str() {
            "key" => return Some(turn.key.clone()),
            "index" => Value::from(turn.index),
            "first" => Value::Bool(turn.index == 0),
            _ => Value::Bool(turn.is_last),
        };
        Some(Cow::Owned(value))
    }
}

fn into<'a>(value: Cow<'a, Value>, keys: &[String]) -> Seen<'a> {
    match value {
        Cow::Borrowed(value) => walk(value, keys),
        Cow::Owned(value) if keys.is_empty() => Some(Cow::Owned(value)),
        Cow::Owned(value) => walk(&value, keys).map(|found| Cow::Owned(found.into_owned())),
    }
}

fn call<'a>(helper: Helper, first: Seen<'a>, second: Option<&Value>) -> Result<Seen<'a>, String> {
    let made = match helper {
        Helper::Number => match first.as_deref() {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Value::from(whole.saturating_add(1)),
                (None, float) => Value::from(float.unwrap_or_default() + 1.0),
            },
            Some(other) => {
                return Err(format!("`number` counts from a number, and was given {}", kind_of(other)));
            }
        },
        Helper::Join => {
            let Some(Value::Array(items)) = first.as_deref() else { return Ok(first) };
            let mut between = String::new();
            print(second.unwrap_or(&Value::String(",".to_owned())), &mut between);
            let mut text = String::new();
            join(items, &between, &mut text);
            Value::String(text)
        }
        Helper::Lookup => {
            let mut key = String::new();
            print(second.unwrap_or(&Value::Null), &mut key);
            return Ok(first.and_then(|value| into(value, &[key])));
        }
    };
    Ok(Some(Cow::Owned(made)))
}
