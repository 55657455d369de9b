//! Prompt templates: the Handlebars language, printed for models instead of browsers.
//!
//! Values, `if`, `unless`, `each`, `with`, `@key @index @first @last @root`, `../`, comments and lines with
//! only a block tag work as in handlebars.js. Nothing is escaped, lists are joined with `,`, and maps print
//! as compact JSON. The helpers are `number` and `join`. Partials, decorators, raw blocks, `~` and block
//! parameters are errors; values are never parsed as templates.

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

    /// Renders the template over `scope`; a path without a value prints nothing. Fails if a helper gets a
    /// value of the wrong type, or if the text or the work is too large.
    pub fn render(&self, scope: &Value) -> Result<String, String> {
        render::render(&self.nodes, scope, Absent::PrintsNothing)
    }

    /// Renders like [`Template::render`], but fails at a path without a value. `if`, `unless` and `with` may
    /// still test absent paths.
    pub fn render_in_full(&self, scope: &Value) -> Result<String, String> {
        render::render(&self.nodes, scope, Absent::Fails)
    }

    pub fn is_one(text: &str) -> bool {
        text.contains("{{")
    }

    /// Returns a template that prints exactly this text, including its braces.
    pub fn literal(text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            // A backslash directly before the tag would escape it.
            out.push_str(if before.ends_with('\\') { "\\{{\"{{\"}}" } else { "\\{{" });
            rest = after;
        }
        out + rest
    }

    /// Returns every path that is resolved in the scope itself, not in an item of a loop.
    pub fn paths(&self) -> Vec<&[String]> {
        let mut paths = Vec::new();
        collect(&self.nodes, 0, &mut paths);
        paths
    }
}

/// Collects the paths that reach the scope from `depth` levels of nesting.
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
