//! Reading a template: text and tags, the white space that tags take, and the tree they make.

use super::super::GrammarError;
use crate::diagnostic::did_you_mean;
use crate::workflow::lang::lexer::Lexer;

const LONGEST: usize = 1_000_000;
/// Blocks within blocks at most.
const DEEPEST: usize = 50;

#[derive(Debug, Clone, PartialEq)]
pub enum TemplateNode {
    Text(String),
    Value(Path, Printing),
    Block(TemplateBlock),
}

/// A block and what is printed otherwise.
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

/// A value as it is printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Printing {
    Plain,
    /// `{{number @index}}` counts from 1.
    Number,
    /// `{{join list ", "}}`.
    Joined(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// As it is written, for messages.
    pub text: String,
    pub root: Root,
    /// The number of `../` at its beginning.
    pub up: usize,
    pub segments: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    Here,
    /// The scope as a whole, `@root`.
    Scope,
    /// The loop around it: `@key`, `@index`, `@first`, `@last`.
    Loop,
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
            TemplatePiece::Text(_, "") => {}
            TemplatePiece::Text(_, kept) => tree.push(TemplateNode::Text(kept.to_owned())),
            TemplatePiece::Tag(tag) => tree.tag(&tag)?,
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

enum TemplatePiece<'a> {
    /// Text, and what is left of it once tags on lines of their own took theirs.
    Text(&'a str, &'a str),
    Tag(Tag<'a>),
}

/// The text between two pairs of braces.
struct Tag<'a> {
    kind: TagKind,
    /// Its text without sigils and braces.
    inner: &'a str,
    /// The byte `inner` begins at.
    offset: usize,
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

fn cut(text: &str) -> Result<Vec<TemplatePiece<'_>>, GrammarError> {
    let (mut pieces, mut at, mut start) = (Vec::new(), 0, 0);
    while let Some(found) = text[at..].find("{{") {
        let open = at + found;
        let before = &text[start..open];
        // `\{{` is two braces; `\\{{` is a backslash and a tag.
        let shown = before.strip_suffix('\\').unwrap_or(before);
        push_text(&mut pieces, shown);
        if shown.len() < before.len() && !shown.ends_with('\\') {
            (start, at) = (open, open + 2);
            continue;
        }
        let (tag, end) = tag(text, open)?;
        pieces.push(TemplatePiece::Tag(tag));
        (start, at) = (end, end);
    }
    push_text(&mut pieces, &text[start..]);
    Ok(pieces)
}

fn push_text<'a>(pieces: &mut Vec<TemplatePiece<'a>>, text: &'a str) {
    if !text.is_empty() {
        pieces.push(TemplatePiece::Text(text, text));
    }
}

/// Reads the tag that opens at `open`; gives it and the byte after it.
fn tag(text: &str, open: usize) -> Result<(Tag<'_>, usize), GrammarError> {
    let at = open + 2;
    let rest = &text[at..];
    if rest.starts_with("{{") {
        let error = GrammarError::new(open, "raw blocks are not part of the language");
        return Err(error.hint("write `\\{{` for two braces"));
    }
    if rest.starts_with('!') {
        let end = if rest.starts_with("!--") { "--}}" } else { "}}" };
        let Some(length) = rest.find(end) else {
            let error = GrammarError::new(open, "a comment is never closed");
            return Err(error.hint(format!("close it with `{end}`")));
        };
        let tag = Tag { kind: TagKind::Comment, inner: "", offset: at };
        return Ok((tag, at + length + end.len()));
    }
    let (mut kind, sigil, close) = match rest.chars().next() {
        Some('{') => (TagKind::Value, 1, "}}}"),
        Some('#') => (TagKind::Open, 1, "}}"),
        Some('/') => (TagKind::Close, 1, "}}"),
        _ => (TagKind::Value, 0, "}}"),
    };
    let offset = at + sigil;
    let inner = &text[offset..];
    let blanks = inner.len() - inner.trim_start().len();
    refuse_others(&inner[blanks..], offset + blanks)?;
    let length = inner_length(inner).filter(|length| inner[*length..].starts_with(close));
    let Some(length) = length else {
        let message = format!("`{}` is never closed", &"{{{"[..close.len()]);
        return Err(GrammarError::new(open, message).hint(format!("close it with `{close}`")));
    };
    let inner = &inner[..length];
    if sigil == 0 && inner.split_whitespace().next() == Some("else") {
        kind = TagKind::Else;
    }
    Ok((Tag { kind, inner, offset }, offset + length + close.len()))
}

/// Length of the inside of a tag: up to `}`, outside quotes and brackets.
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
        _ => return Ok(()),
    };
    Err(GrammarError::new(at, message).hint(hint))
}

/// Takes the lines away that hold nothing but a block tag or a comment.
fn shorten(pieces: &mut [TemplatePiece<'_>]) {
    let alone: Vec<usize> = (0..pieces.len()).filter(|at| is_alone(pieces, *at)).collect();
    for at in alone {
        if let Some(TemplatePiece::Text(_, kept)) =
            at.checked_sub(1).and_then(|before| pieces.get_mut(before))
        {
            *kept = kept.trim_end_matches([' ', '\t']);
        }
        if let Some(TemplatePiece::Text(_, kept)) = pieces.get_mut(at + 1) {
            let rest = kept.trim_start_matches([' ', '\t']);
            *kept = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        }
    }
}

/// The piece is a tag that prints nothing and has its line to itself.
fn is_alone(pieces: &[TemplatePiece<'_>], at: usize) -> bool {
    if !matches!(&pieces[at], TemplatePiece::Tag(tag) if tag.kind != TagKind::Value) {
        return false;
    }
    let is_free = |piece: Option<&TemplatePiece<'_>>, is_last: bool, blank: fn(&str) -> &str| match piece {
        None => true,
        Some(TemplatePiece::Text(text, _)) => {
            let blank = blank(text);
            blank.contains('\n') || (is_last && blank.len() == text.len())
        }
        Some(TemplatePiece::Tag(_)) => false,
    };
    let before = at.checked_sub(1).map(|before| &pieces[before]);
    is_free(before, at == 1, |text| &text[text.trim_end().len()..])
        && is_free(pieces.get(at + 1), at + 2 == pieces.len(), |text| {
            &text[..text.len() - text.trim_start().len()]
        })
}

struct OpenBlock {
    name: String,
    at: usize,
    /// `{{else if}}` closes with the block it belongs to.
    is_chained: bool,
    has_else: bool,
    block: TemplateBlock,
}

struct Tree {
    nodes: Vec<TemplateNode>,
    open: Vec<OpenBlock>,
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
        let mut inside = Inside { scan: Lexer::new(tag.inner), offset: tag.offset };
        match tag.kind {
            TagKind::Comment => {}
            TagKind::Value => self.push(inside.value()?),
            TagKind::Open => self.open(&mut inside, false)?,
            TagKind::Else => self.otherwise(&mut inside)?,
            TagKind::Close => self.close(tag)?,
        }
        Ok(())
    }

    fn open(&mut self, inside: &mut Inside<'_>, is_chained: bool) -> Result<(), GrammarError> {
        let at = inside.offset;
        if self.open.len() >= DEEPEST {
            let error = GrammarError::new(at, format!("blocks are nested more than {DEEPEST} levels deep"));
            return Err(error.hint("split the prompt over several steps"));
        }
        let name = inside.word().to_owned();
        let Some((_, kind)) = BLOCKS.iter().find(|(known, _)| *known == name) else {
            let error = GrammarError::new(at, format!("unknown block `{name}`"));
            return Err(error.hint(did_you_mean(&name, &BLOCKS.map(|(name, _)| name))));
        };
        if inside.is_done() {
            let error = inside.error(format!("`{name}` is given nothing"));
            return Err(error.hint("write for example `{{#if context.plan}}`"));
        }
        let of = inside.path()?;
        inside.end()?;
        let block = TemplateBlock { kind: *kind, of, body: Vec::new(), otherwise: Vec::new() };
        self.open.push(OpenBlock { name, at, is_chained, has_else: false, block });
        Ok(())
    }

    fn otherwise(&mut self, inside: &mut Inside<'_>) -> Result<(), GrammarError> {
        let Some(open) = self.open.last_mut() else {
            return Err(inside.error("`else` stands in no block"));
        };
        if open.has_else {
            return Err(inside.error(format!("block `{}` has a second `else`", open.name)));
        }
        open.has_else = true;
        let _ = inside.word();
        if inside.is_done() { Ok(()) } else { self.open(inside, true) }
    }

    fn close(&mut self, tag: &Tag<'_>) -> Result<(), GrammarError> {
        let name = tag.inner.trim();
        loop {
            let Some(OpenBlock { name: opened, is_chained, block, .. }) = self.open.pop() else {
                return Err(GrammarError::new(tag.offset, format!("`{name}` closes nothing"))
                    .hint(format!("remove it, or open it with `{{{{#{name}}}}}`")));
            };
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

/// The inside of a tag, read from left to right; it begins at byte `offset` of the template.
struct Inside<'a> {
    scan: Lexer<'a>,
    offset: usize,
}

impl<'a> Inside<'a> {
    fn error(&self, message: impl Into<String>) -> GrammarError {
        GrammarError::new(self.offset + self.scan.at, message)
    }

    fn is_done(&mut self) -> bool {
        self.scan.space();
        self.scan.rest().is_empty()
    }

    fn end(&mut self) -> Result<(), GrammarError> {
        if self.is_done() {
            return Ok(());
        }
        let error = self.error(format!("{} does not belong here", self.scan.next_words()));
        Err(error.hint("a tag holds one path, or a helper and what it is given"))
    }

    /// Passes over the next word.
    fn word(&mut self) -> &'a str {
        self.scan.space();
        let word = self.scan.rest().split_whitespace().next().unwrap_or_default();
        self.scan.at += word.len();
        word
    }

    /// A path, a text in quotes, or a helper with what it is given.
    fn value(&mut self) -> Result<TemplateNode, GrammarError> {
        self.scan.space();
        let start = self.offset + self.scan.at;
        if self.scan.rest().starts_with(['"', '\'']) {
            let text = self.quoted()?;
            return self.end().map(|()| TemplateNode::Text(text));
        }
        let first = self.path()?;
        if self.is_done() {
            return Ok(TemplateNode::Value(first, Printing::Plain));
        }
        let node = match first.text.as_str() {
            "number" => TemplateNode::Value(self.path()?, Printing::Number),
            "join" => {
                let of = self.path()?;
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

    /// Text between quotes, without escapes.
    fn quoted(&mut self) -> Result<String, GrammarError> {
        let rest = self.scan.rest();
        let text = ['"', '\''].into_iter().find_map(|quote| rest.strip_prefix(quote)?.split_once(quote));
        let Some((text, _)) = text else {
            let error = self.error(format!("{} is no text", self.scan.next_words()));
            return Err(error.hint("write it in quotes: `{{join list \", \"}}`"));
        };
        self.scan.at += text.len() + 2;
        Ok(text.to_owned())
    }

    fn path(&mut self) -> Result<Path, GrammarError> {
        self.scan.space();
        let start = self.scan.at;
        let is_data = self.scan.eat("@");
        let mut up = 0;
        while self.scan.eat("../") {
            up += 1;
        }
        let (mut segments, mut root) = (Vec::new(), Root::Here);
        let is_parent = self.ends_after("..");
        let is_here = is_parent || !is_data && (self.scan.eat("./") || self.ends_after(".") || self.this());
        up += usize::from(is_parent);
        let goes_on = |scan: &Lexer<'_>| scan.peek().is_some_and(|c| in_name(c) || c == '[');
        let mut more = !is_here || !is_parent && goes_on(&self.scan);
        while more {
            segments.push(self.segment()?);
            more = self.scan.eat(".") || self.scan.eat("/");
        }
        if is_data {
            root = match segments.first().map_or("", String::as_str) {
                "root" if up == 0 => Root::Scope,
                "key" | "index" | "first" | "last" if segments.len() == 1 => Root::Loop,
                word => {
                    let message = format!("`@{word}` is nothing a template knows");
                    let error = GrammarError::new(self.offset + start, message);
                    return Err(error.hint("known here: @key, @index, @first, @last, @root"));
                }
            };
            if root == Root::Scope {
                segments.remove(0);
            }
        }
        let text = self.scan.since(start).to_owned();
        Ok(Path { text, root, up, segments })
    }

    /// Passes over `this`, and over the dot or slash after it.
    fn this(&mut self) -> bool {
        let rest = self.scan.rest().strip_prefix("this");
        let comes = rest.is_some_and(|after| !after.starts_with(in_name));
        if comes {
            self.scan.at += "this".len();
            let _ = self.scan.eat(".") || self.scan.eat("/");
        }
        comes
    }

    /// Passes over `token` if nothing of a name follows it.
    fn ends_after(&mut self, token: &str) -> bool {
        let rest = self.scan.rest().strip_prefix(token);
        let ends = rest.is_some_and(|rest| !rest.starts_with(|c| in_name(c) || c == '[' || c == '.'));
        self.scan.at += if ends { token.len() } else { 0 };
        ends
    }

    fn segment(&mut self) -> Result<String, GrammarError> {
        let rest = self.scan.rest();
        if let Some(bracket) = rest.strip_prefix('[') {
            let Some(length) = bracket.find(']') else {
                return Err(self.error("`[` is never closed").hint("close it with `]`"));
            };
            self.scan.at += length + 2;
            return Ok(bracket[..length].to_owned());
        }
        let name = &rest[..rest.find(|c| !in_name(c)).unwrap_or(rest.len())];
        if name.is_empty() {
            let error = self.error(format!("a name must stand here, found {}", self.scan.next_words()));
            return Err(error.hint("names that hold other characters go in brackets: `[any name]`"));
        }
        self.scan.at += name.len();
        Ok(name.to_owned())
    }
}

/// A name may hold this character outside brackets.
fn in_name(c: char) -> bool {
    !c.is_whitespace() && !"!\"#%&'()*+,./;<=>@[\\]^`{|}~".contains(c)
}
