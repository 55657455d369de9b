//! A prompt's template: the Handlebars language, printed for models instead of browsers.
//!
//! Values, `if`, `unless`, `each`, `with`, `lookup`, block parameters, `@key @index @first @last
//! @root`, `../`, comments, `~` and lines that hold a block tag alone work as in handlebars.js;
//! nothing is escaped, lists join with `,`, maps print as compact JSON. Ours are `number` and
//! `join`. Partials, decorators and raw blocks are refused; values are never templates.

mod expression;
mod print;
mod render;
mod tags;
mod tree;

use serde_json::Value;

use super::GrammarError;
use expression::{Path, Root};
use render::Absent;
use tree::TemplateNode;

#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    text: String,
    nodes: Vec<TemplateNode>,
}

/// A path of a template that looks something up in the scope itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathUse<'a> {
    /// Its segments; never empty.
    pub segments: &'a [String],
    /// The byte of the template it stands at.
    pub offset: usize,
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, GrammarError> {
        Ok(Self { text: text.to_owned(), nodes: tree::parse(text)? })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Prints it over `scope`. What is not there prints nothing.
    ///
    /// # Errors
    /// A helper that is given what it cannot take, and a text or a work past its limit.
    pub fn render(&self, scope: &Value) -> Result<String, String> {
        render::render(&self.nodes, scope, Absent::PrintsNothing)
    }

    /// Prints it over `scope`; a place without a value is an error. `if`, `unless` and `with` may ask for
    /// what is not there.
    ///
    /// # Errors
    /// As [`Template::render`], and the first path that has no value.
    pub fn render_in_full(&self, scope: &Value) -> Result<String, String> {
        render::render(&self.nodes, scope, Absent::Fails)
    }

    pub fn is_one(text: &str) -> bool {
        text.contains("{{")
    }

    /// A text that prints as this one, whatever braces it holds.
    pub fn literal(text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            // A backslash before a tag would take it for text.
            out.push_str(if before.ends_with('\\') { "\\{{\"{{\"}}" } else { "\\{{" });
            rest = after;
        }
        out + rest
    }

    /// Every path that is looked up in the scope itself, not in an item of a list or a map.
    pub fn paths(&self) -> Vec<PathUse<'_>> {
        let mut uses = Vec::new();
        collect(&self.nodes, 0, &mut Vec::new(), &mut uses);
        uses
    }
}

/// Adds the paths that reach the scope from `depth` levels down; `params` are names of items.
fn collect<'a>(
    nodes: &'a [TemplateNode],
    depth: usize,
    params: &mut Vec<&'a str>,
    uses: &mut Vec<PathUse<'a>>,
) {
    for node in nodes {
        for path in node.own_paths() {
            if let Some(path) = from_scope(path, depth, params) {
                uses.push(path);
            }
        }
        if let TemplateNode::Block(block) = node {
            let known = params.len();
            params.extend(block.params.iter().map(String::as_str));
            collect(&block.body, depth + usize::from(block.kind.enters()), params, uses);
            params.truncate(known);
            collect(&block.otherwise, depth, params, uses);
        }
    }
}

fn from_scope<'a>(path: &'a Path, depth: usize, params: &[&str]) -> Option<PathUse<'a>> {
    let reaches = match path.root {
        Root::Scope => true,
        Root::Here => path.up >= depth,
        Root::Loop => false,
    };
    let first = path.segments.first()?;
    let is_param = path.may_be_param() && params.contains(&first.as_str());
    (reaches && !is_param).then_some(PathUse { segments: &path.segments, offset: path.offset })
}

#[cfg(test)]
mod tests;
