//! A prompt's template: the Handlebars language, printed for models instead of browsers.
//!
//! Values, `if`, `unless`, `each`, `with`, `@key @index @first @last @root`, `../`, comments and lines
//! that hold a block tag alone work as in handlebars.js; nothing is escaped, lists join with `,`, maps
//! print as compact JSON. Helpers are `number` and `join`. Partials, decorators, raw blocks, `~` and
//! block parameters are refused; values are never templates.

mod parse;
mod render;

use serde_json::Value;

use super::GrammarError;
use parse::{BlockKind, Root, TemplateNode};
use render::Absent;

#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    text: String,
    nodes: Vec<TemplateNode>,
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, GrammarError> {
        Ok(Self { text: text.to_owned(), nodes: parse::parse(text)? })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Prints it over `scope`. What is not there prints nothing; a helper that is given what it cannot take is
    /// an error, and so is a text or a work past its limit.
    pub fn render(&self, scope: &Value) -> Result<String, String> {
        render::render(&self.nodes, scope, Absent::PrintsNothing)
    }

    /// Prints it over `scope`; a place without a value is an error. `if`, `unless` and `with` may ask for
    /// what is not there.
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
    pub fn paths(&self) -> Vec<&[String]> {
        let mut paths = Vec::new();
        collect(&self.nodes, 0, &mut paths);
        paths
    }
}

/// Adds the paths that reach the scope from `depth` levels down.
fn collect<'a>(nodes: &'a [TemplateNode], depth: usize, paths: &mut Vec<&'a [String]>) {
    for node in nodes {
        let path = match node {
            TemplateNode::Text(_) => continue,
            TemplateNode::Value(path, _) => path,
            TemplateNode::Block(block) => &block.of,
        };
        let reaches = match path.root {
            Root::Scope => true,
            Root::Here => path.up >= depth,
            Root::Loop | Root::Literal => false,
        };
        if reaches && !path.segments.is_empty() {
            paths.push(&path.segments);
        }
        if let TemplateNode::Block(block) = node {
            let enters = matches!(block.kind, BlockKind::Each | BlockKind::With);
            collect(&block.body, depth + usize::from(enters), paths);
            collect(&block.otherwise, depth, paths);
        }
    }
}

#[cfg(test)]
mod tests;
