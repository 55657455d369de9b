//! From pieces to a tree of text, values and blocks.

use super::super::GrammarError;
use super::expression::{Expression, ExpressionParser, Path};
use super::tags::{Tag, TagKind, TemplateToken, cut, shorten};
use crate::diagnostic::did_you_mean;

const LONGEST: usize = 1_000_000;
/// Blocks within blocks at most.
const DEEPEST: usize = 50;

#[derive(Debug, Clone, PartialEq)]
pub enum TemplateNode {
    Text(String),
    Value(Expression),
    Block(Block),
}

/// A block and what is printed otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub kind: BlockKind,
    pub of: Expression,
    pub params: Vec<String>,
    pub body: Vec<TemplateNode>,
    pub otherwise: Vec<TemplateNode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// `{{#if}}`.
    If,
    /// `{{#unless}}`.
    Unless,
    /// `{{#each}}`.
    Each,
    /// `{{#with}}`.
    With,
}

const BLOCKS: [(&str, BlockKind); 4] = [
    ("if", BlockKind::If),
    ("unless", BlockKind::Unless),
    ("each", BlockKind::Each),
    ("with", BlockKind::With),
];

impl BlockKind {
    /// Its body sees another value than the text around it.
    pub fn enters(self) -> bool {
        !matches!(self, Self::If | Self::Unless)
    }
}

impl TemplateNode {
    /// The paths of the node itself, not of what is in it.
    pub fn own_paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        match self {
            Self::Text(_) => {}
            Self::Value(value) => value.paths(&mut paths),
            Self::Block(block) => block.of.paths(&mut paths),
        }
        paths
    }
}

struct Open {
    name: String,
    at: usize,
    /// `{{else if}}` closes with the block it belongs to.
    is_chained: bool,
    has_else: bool,
    block: Block,
}

pub fn parse(text: &str) -> Result<Vec<TemplateNode>, GrammarError> {
    if text.len() > LONGEST {
        return Err(GrammarError::new(LONGEST, format!("a template is at most {LONGEST} bytes long")));
    }
    let mut pieces = cut(text)?;
    shorten(&mut pieces);
    let mut tree = Tree { nodes: Vec::new(), open: Vec::new() };
    for piece in pieces {
        match piece {
            TemplateToken::Text(_, "") => {}
            TemplateToken::Text(_, kept) => tree.push(TemplateNode::Text(kept.to_owned())),
            TemplateToken::Tag(tag) => tree.tag(&tag)?,
        }
    }
    match tree.open.pop() {
        None => Ok(tree.nodes),
        Some(open) => {
            let error = GrammarError::new(open.at, format!("block `{}` is never closed", open.name));
            Err(error.hint(format!("close it with `{{{{/{}}}}}`", open.name)))
        }
    }
}

struct Tree {
    nodes: Vec<TemplateNode>,
    open: Vec<Open>,
}

impl Tree {
    fn push(&mut self, node: TemplateNode) {
        match self.open.last_mut() {
            None => self.nodes.push(node),
            Some(open) if open.has_else => open.block.otherwise.push(node),
            Some(open) => open.block.body.push(node),
        }
    }

    fn tag(&mut self, tag: &Tag<'_>) -> Result<(), GrammarError> {
        match tag.kind {
            TagKind::Comment => Ok(()),
            TagKind::Value => {
                let value = ExpressionParser::new(tag.inner, tag.offset).whole()?;
                self.push(TemplateNode::Value(value));
                Ok(())
            }
            TagKind::Open => self.open(&mut ExpressionParser::new(tag.inner, tag.offset), tag.offset, false),
            TagKind::Else => self.otherwise(tag),
            TagKind::Close => self.close(tag),
        }
    }

    fn open(
        &mut self,
        reader: &mut ExpressionParser<'_>,
        at: usize,
        is_chained: bool,
    ) -> Result<(), GrammarError> {
        if self.open.len() >= DEEPEST {
            let error = GrammarError::new(at, format!("blocks are nested more than {DEEPEST} levels deep"));
            return Err(error.hint("split the prompt over several steps"));
        }
        let name = reader.peek_word().to_owned();
        if name.is_empty() {
            let error = reader.error("a block has no name");
            return Err(error.hint("write for example `{{#if context.plan}}`"));
        }
        let Some((_, kind)) = BLOCKS.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = BLOCKS.iter().map(|(name, _)| *name).collect();
            let error = GrammarError::new(at, format!("unknown block `{name}`"));
            return Err(error.hint(did_you_mean(&name, &names)));
        };
        let _ = reader.eat_word(&name);
        if reader.is_done() {
            let error = reader.error(format!("`{name}` is given nothing"));
            return Err(error.hint("write for example `{{#if context.plan}}`"));
        }
        let of = reader.one()?;
        let params = reader.params()?;
        if !reader.is_done() {
            return Err(reader.surplus());
        }
        let block = Block { kind: *kind, of, params, body: Vec::new(), otherwise: Vec::new() };
        self.open.push(Open { name, at, is_chained, has_else: false, block });
        Ok(())
    }

    fn otherwise(&mut self, tag: &Tag<'_>) -> Result<(), GrammarError> {
        let Some(open) = self.open.last_mut() else {
            return Err(GrammarError::new(tag.offset, "`else` stands in no block"));
        };
        if open.has_else {
            return Err(GrammarError::new(tag.offset, format!("block `{}` has a second `else`", open.name)));
        }
        open.has_else = true;
        let mut reader = ExpressionParser::new(tag.inner, tag.offset);
        let _ = reader.eat_word("else");
        if reader.is_done() { Ok(()) } else { self.open(&mut reader, tag.offset, true) }
    }

    fn close(&mut self, tag: &Tag<'_>) -> Result<(), GrammarError> {
        let name = tag.inner.trim();
        loop {
            let Some(open) = self.open.pop() else {
                return Err(GrammarError::new(tag.offset, format!("`{name}` closes nothing"))
                    .hint(format!("remove it, or open it with `{{{{#{name}}}}}`")));
            };
            let Open { name: opened, is_chained, block, .. } = open;
            if !is_chained && opened != name {
                let error = GrammarError::new(tag.offset, format!("`{name}` closes block `{opened}`"));
                return Err(error.hint(format!("write `{{{{/{opened}}}}}`")));
            }
            self.push(TemplateNode::Block(block));
            if !is_chained {
                return Ok(());
            }
        }
    }
}
