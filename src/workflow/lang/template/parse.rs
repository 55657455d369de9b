//! Template parser: text, tags, and the tree that they form.

use serde_json::Value;

use super::super::GrammarError;
use crate::diagnostic::did_you_mean;
use crate::workflow::lang::lexer::Lexer;

const LONGEST: usize = 1_000_000;
/// Deepest nesting of blocks.
const DEEPEST: usize = 50;

#[derive(Debug, Clone, PartialEq)]
pub enum TemplateNode {
    Text(String),
    Value(Path, Printing),
    Block(TemplateBlock),
}

#[derive(Debug, Clone, PartialEq)]
pub struct TemplateBlock {
    pub kind: BlockKind,
    pub of: Path,
    pub body: Vec<TemplateNode>,
    pub otherwise: Vec<TemplateNode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    If,
    Unless,
    Each,
    With,
}

const BLOCKS: [(&str, BlockKind); 4] = [
    ("if", BlockKind::If),
    ("unless", BlockKind::Unless),
    ("each", BlockKind::Each),
    ("with", BlockKind::With),
];

#[derive(Debug, Clone, PartialEq)]
pub enum Printing {
    Plain,
    /// `{{number @index}}` counts from 1.
    Number,
    Joined(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Text as written, for messages.
    pub text: String,
    pub root: Root,
    /// Number of leading `../`.
    pub up: usize,
    pub segments: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    Here,
    /// Entire scope, `@root`.
    Scope,
    /// Variables of the enclosing loop: `@key`, `@index`, `@first`, `@last`.
    Loop,
    /// Literal: the only segment is a JSON value.
    Literal,
}

pub fn parse(text: &str) -> Result<Vec<TemplateNode>, GrammarError> {
    if text.len() > LONGEST {
        return Err(GrammarError::new(LONGEST, format!("a template is at most {LONGEST} bytes long")));
    }
    let (nodes, end) = Parser { text, at: 0, depth: 0 }.nodes()?;
    let Some(tag) = end else { return Ok(nodes) };
    if tag.kind == TagKind::Else {
        return Err(tag.scan.error("`else` outside a block"));
    }
    let name = tag.scan.rest().trim();
    let error = tag.scan.error(format!("`{name}` closes nothing"));
    Err(error.hint(format!("remove it, or open it with `{{{{#{name}}}}}`")))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TagKind {
    Value,
    Open,
    /// `{{else}}` or `{{else if …}}`.
    Else,
    Close,
    Comment,
}

struct Parser<'a> {
    text: &'a str,
    /// Byte offset of the unread rest.
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Parses nodes until `{{else}}`, a closing tag or the end of the text; returns that tag.
    fn nodes(&mut self) -> Result<(Vec<TemplateNode>, Option<Tag<'a>>), GrammarError> {
        let mut nodes = Vec::new();
        let push_text = |nodes: &mut Vec<TemplateNode>, text: &str| {
            if !text.is_empty() {
                nodes.push(TemplateNode::Text(text.to_owned()));
            }
        };
        while let Some(found) = self.text[self.at..].find("{{") {
            let open = self.at + found;
            let before = &self.text[self.at..open];
            // `\{{` is two braces; `\\{{` is a backslash and a tag.
            let shown = before.strip_suffix('\\').unwrap_or(before);
            if shown.len() < before.len() && !shown.ends_with('\\') {
                push_text(&mut nodes, &format!("{shown}{{{{"));
                self.at = open + 2;
                continue;
            }
            let (tag, end) = self.tag(open)?;
            // A tag that prints nothing and is alone on its line also removes the line.
            let is_blank = |c: char| c != '\n' && c.is_whitespace();
            let (line, rest) = (self.text[..open].trim_end_matches(is_blank), &self.text[end..]);
            let after = rest.trim_start_matches(is_blank);
            let begins = line.is_empty() || line.ends_with('\n');
            let ends = after.is_empty() || after.starts_with('\n');
            if begins && ends && tag.kind != TagKind::Value {
                push_text(&mut nodes, shown.trim_end_matches(is_blank));
                self.at = self.text.len() - after.strip_prefix('\n').unwrap_or(after).len();
            } else {
                push_text(&mut nodes, shown);
                self.at = end;
            }
            match tag.kind {
                TagKind::Comment => {}
                TagKind::Value => nodes.push(tag.value()?),
                TagKind::Open => nodes.push(TemplateNode::Block(self.block(tag, false)?.0)),
                TagKind::Else | TagKind::Close => return Ok((nodes, Some(tag))),
            }
        }
        push_text(&mut nodes, &self.text[self.at..]);
        Ok((nodes, None))
    }

    /// Reads the tag that starts at `open`; returns it and the offset behind it.
    fn tag(&self, open: usize) -> Result<(Tag<'a>, usize), GrammarError> {
        let rest = &self.text[open + 2..];
        let (mut kind, sigil, close) = match rest.chars().next() {
            Some('!') => (TagKind::Comment, 1, if rest.starts_with("!--") { "--}}" } else { "}}" }),
            Some('{') => (TagKind::Value, 1, "}}}"),
            Some('#') => (TagKind::Open, 1, "}}"),
            Some('/') => (TagKind::Close, 1, "}}"),
            _ => (TagKind::Value, 0, "}}"),
        };
        let start = open + 2 + sigil;
        let inner = &self.text[start..];
        let length = if kind == TagKind::Comment {
            inner.find(close)
        } else {
            let blanks = inner.len() - inner.trim_start().len();
            refuse_others(&inner[blanks..], start + blanks)?;
            inner_length(inner).filter(|length| inner[*length..].starts_with(close))
        };
        let Some(length) = length else {
            let what =
                if kind == TagKind::Comment { "a comment" } else { &format!("`{}`", &"{{{"[..close.len()]) };
            let error = GrammarError::new(open, format!("{what} is never closed"));
            return Err(error.hint(format!("close it with `{close}`")));
        };
        let end = start + length;
        if sigil == 0 && inner[..length].split_whitespace().next() == Some("else") {
            kind = TagKind::Else;
        }
        Ok((Tag { kind, scan: Lexer { text: &self.text[..end], at: start } }, end + close.len()))
    }

    /// Parses a block and returns it with its closing tag. An `{{else if}}` shares the tag of the outer
    /// block.
    fn block(
        &mut self,
        mut tag: Tag<'a>,
        is_chained: bool,
    ) -> Result<(TemplateBlock, Tag<'a>), GrammarError> {
        let at = tag.scan.at;
        self.depth += 1;
        if self.depth > DEEPEST {
            let error = GrammarError::new(at, format!("blocks are nested more than {DEEPEST} levels deep"));
            return Err(error.hint("split the prompt over several steps"));
        }
        let name = tag.word();
        let Some((_, kind)) = BLOCKS.iter().find(|(known, _)| *known == name) else {
            let error = GrammarError::new(at, format!("unknown block `{name}`"));
            return Err(error.hint(did_you_mean(name, &BLOCKS.map(|(name, _)| name))));
        };
        if tag.is_done() {
            let error = tag.scan.error(format!("`{name}` is given nothing"));
            return Err(error.hint("write for example `{{#if context.plan}}`"));
        }
        let of = tag.argument()?;
        tag.end()?;
        let (body, mut end) = self.nodes()?;
        let mut otherwise = Vec::new();
        if let Some(mut other) = end.take_if(|end| end.kind == TagKind::Else) {
            other.word();
            if other.is_done() {
                (otherwise, end) = self.nodes()?;
            } else {
                let (block, close) = self.block(other, true)?;
                (otherwise, end) = (vec![TemplateNode::Block(block)], Some(close));
            }
        }
        self.depth -= 1;
        let Some(end) = end else {
            let error = GrammarError::new(at, format!("block `{name}` is never closed"));
            return Err(error.hint(format!("close it with `{{{{/{name}}}}}`")));
        };
        let closed = end.scan.rest().trim();
        if end.kind == TagKind::Else {
            return Err(end.scan.error(format!("block `{name}` has a second `else`")));
        }
        if !is_chained && closed != name {
            let error = end.scan.error(format!("`{closed}` closes block `{name}`"));
            return Err(error.hint(format!("write `{{{{/{name}}}}}`")));
        }
        Ok((TemplateBlock { kind: *kind, of, body, otherwise }, end))
    }
}

/// Returns the length of a tag's inside: up to `}` outside quotes and brackets.
fn inner_length(text: &str) -> Option<usize> {
    let mut inside: Option<char> = None;
    for (at, c) in text.char_indices() {
        match (inside, c) {
            (None, '"' | '\'') => inside = Some(c),
            (None, '[') => inside = Some(']'),
            (None, '}') => return Some(at),
            (Some(end), c) if c == end => inside = None,
            _ => {}
        }
    }
    None
}

fn refuse_others(inner: &str, at: usize) -> Result<(), GrammarError> {
    let (message, hint) = match inner.chars().next() {
        Some('>') => ("partials are not part of the language", "write the text where it is wanted"),
        Some('^') => ("`^` is not part of the language", "write `{{else}}`, or a block `{{#unless …}}`"),
        Some('*') => ("decorators are not part of the language", "write the text where it is wanted"),
        Some('~') => ("`~` is not part of the language", "a block tag alone on its line takes the line"),
        Some('{') => ("raw blocks are not part of the language", "write `\\{{` for two braces"),
        _ => return Ok(()),
    };
    Err(GrammarError::new(at, message).hint(hint))
}

struct Tag<'a> {
    kind: TagKind,
    /// Lexer over the template up to the end of the tag's inside.
    scan: Lexer<'a>,
}

impl<'a> Tag<'a> {
    fn is_done(&mut self) -> bool {
        self.scan.space();
        self.scan.rest().is_empty()
    }

    fn end(&mut self) -> Result<(), GrammarError> {
        if self.is_done() {
            return Ok(());
        }
        let error = self.scan.error(format!("{} does not belong here", self.scan.next_words()));
        Err(error.hint("a tag contains one path, or a helper and its arguments"))
    }

    fn word(&mut self) -> &'a str {
        self.scan.space();
        let word = self.scan.rest().split_whitespace().next().unwrap_or_default();
        self.scan.at += word.len();
        word
    }

    /// Reads a path, a quoted text, or a helper with its arguments.
    fn value(mut self) -> Result<TemplateNode, GrammarError> {
        self.scan.space();
        let start = self.scan.at;
        if self.scan.rest().starts_with(['"', '\'']) {
            let text = self.quoted()?;
            return self.end().map(|()| TemplateNode::Text(text));
        }
        let first = self.path()?;
        if self.is_done() {
            return Ok(TemplateNode::Value(first, Printing::Plain));
        }
        let node = match first.text.as_str() {
            "number" => TemplateNode::Value(self.argument()?, Printing::Number),
            "join" => {
                let of = self.argument()?;
                let between = if self.is_done() { ",".to_owned() } else { self.quoted()? };
                TemplateNode::Value(of, Printing::Joined(between))
            }
            other => {
                let error = GrammarError::new(start, format!("unknown helper `{other}`"));
                return Err(error.hint(did_you_mean(other, &["number", "join"])));
            }
        };
        self.end().map(|()| node)
    }

    /// Reads a path or a literal: a number, a quoted text, `true`, `false` or `null`.
    fn argument(&mut self) -> Result<Path, GrammarError> {
        self.scan.space();
        let start = self.scan.at;
        let literal = if self.scan.rest().starts_with(['"', '\'']) {
            Value::from(self.quoted()?)
        } else {
            let value = serde_json::from_str(self.word());
            let Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) = value else {
                self.scan.at = start;
                return self.path();
            };
            value
        };
        let (text, segments) = (self.scan.since(start).to_owned(), vec![literal.to_string()]);
        Ok(Path { text, root: Root::Literal, up: 0, segments })
    }

    /// Reads text between quotes, without escapes.
    fn quoted(&mut self) -> Result<String, GrammarError> {
        let rest = self.scan.rest();
        let text = ['"', '\''].into_iter().find_map(|quote| rest.strip_prefix(quote)?.split_once(quote));
        let Some((text, _)) = text else {
            let error = self.scan.error(format!("{} is no text", self.scan.next_words()));
            return Err(error.hint("write it in quotes: `{{join list \", \"}}`"));
        };
        self.scan.at += text.len() + 2;
        Ok(text.to_owned())
    }

    /// Reads `a.b` or `a/[any name]`. `.`, `..` and `this` are allowed only at the start; `@` starts loop
    /// variables.
    fn path(&mut self) -> Result<Path, GrammarError> {
        self.scan.space();
        let start = self.scan.at;
        let is_data = self.scan.eat("@");
        let (mut segments, mut up) = (Vec::new(), 0);
        loop {
            let this = self.scan.rest().strip_prefix("this").filter(|rest| !rest.starts_with(in_name));
            if !segments.is_empty() {
                segments.push(self.segment()?);
            } else if self.scan.eat("..") {
                up += 1;
            } else if this.is_some() {
                self.scan.at += "this".len();
            } else if !self.scan.eat(".") {
                segments.push(self.segment()?);
            }
            if !self.scan.eat(".") && !self.scan.eat("/") {
                break;
            }
        }
        let root = match segments.first().map_or("", String::as_str) {
            _ if !is_data => Root::Here,
            "root" if up == 0 => {
                segments.remove(0);
                Root::Scope
            }
            "key" | "index" | "first" | "last" if segments.len() == 1 => Root::Loop,
            word => {
                let error = GrammarError::new(start, format!("`@{word}` is nothing a template knows"));
                return Err(error.hint("known here: @key, @index, @first, @last, @root"));
            }
        };
        Ok(Path { text: self.scan.since(start).to_owned(), root, up, segments })
    }

    fn segment(&mut self) -> Result<String, GrammarError> {
        let rest = self.scan.rest();
        if let Some(bracket) = rest.strip_prefix('[') {
            let Some(length) = bracket.find(']') else {
                return Err(self.scan.error("`[` is never closed").hint("close it with `]`"));
            };
            self.scan.at += length + 2;
            return Ok(bracket[..length].to_owned());
        }
        let name = &rest[..rest.find(|c| !in_name(c)).unwrap_or(rest.len())];
        if name.is_empty() {
            let error = self.scan.error(format!("a name must stand here, found {}", self.scan.next_words()));
            return Err(error.hint("names that hold other characters go in brackets: `[any name]`"));
        }
        self.scan.at += name.len();
        Ok(name.to_owned())
    }
}

/// Returns whether a name may contain the character outside brackets.
fn in_name(c: char) -> bool {
    !c.is_whitespace() && !"!\"#%&'()*+,./;<=>@[\\]^`{|}~".contains(c)
}
