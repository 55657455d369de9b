//! Cutting a template into text and tags, and nothing more.

use super::super::GrammarError;

#[derive(Debug)]
pub enum TemplateToken<'a> {
    /// Text to print, and what is left of it once tags on lines of their own took theirs.
    Text(&'a str, &'a str),
    Tag(Tag<'a>),
}

/// The text between two pairs of braces.
#[derive(Debug)]
pub struct Tag<'a> {
    pub kind: TagKind,
    /// Its text without sigils and braces.
    pub inner: &'a str,
    /// The byte `inner` begins at.
    pub offset: usize,
    /// A `~` takes the white space before it.
    pub trims_left: bool,
    /// A `~` takes the white space after it.
    pub trims_right: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagKind {
    /// `{{value}}`.
    Value,
    /// `{{#block}}`.
    Open,
    /// `{{else}}` or `{{else if …}}`.
    Else,
    /// `{{/block}}`.
    Close,
    Comment,
}

pub fn cut(text: &str) -> Result<Vec<TemplateToken<'_>>, GrammarError> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut start = 0;
    while let Some(found) = text[at..].find("{{") {
        let open = at + found;
        let before = &text[start..open];
        let slashes = before.len() - before.trim_end_matches('\\').len();
        match slashes {
            0 => push_text(&mut pieces, before),
            // `\{{` is two braces; `\\{{` is a backslash and a tag.
            1 => {
                push_text(&mut pieces, &before[..before.len() - 1]);
                start = open;
                at = open + 2;
                continue;
            }
            _ => push_text(&mut pieces, &before[..before.len() - 1]),
        }
        let (tag, end) = tag(text, open)?;
        pieces.push(TemplateToken::Tag(tag));
        at = end;
        start = end;
    }
    push_text(&mut pieces, &text[start..]);
    Ok(pieces)
}

fn push_text<'a>(pieces: &mut Vec<TemplateToken<'a>>, text: &'a str) {
    if !text.is_empty() {
        pieces.push(TemplateToken::Text(text, text));
    }
}

/// Reads the tag that opens at `open`; gives it and the byte after it.
fn tag(text: &str, open: usize) -> Result<(Tag<'_>, usize), GrammarError> {
    let mut at = open + 2;
    if text[at..].starts_with("{{") {
        let error = GrammarError::new(open, "raw blocks are not part of the language");
        return Err(error.hint("write `\\{{` for two braces"));
    }
    let takes = |token: &str, at: &mut usize| {
        let comes = text[*at..].starts_with(token);
        *at += if comes { token.len() } else { 0 };
        comes
    };
    let trims_left = takes("~", &mut at);
    if takes("!", &mut at) {
        return comment(text, open, at, trims_left);
    }
    let triple = takes("{", &mut at);
    let mut kind = TagKind::Value;
    if !triple && !takes("&", &mut at) {
        let sigils = [("#", TagKind::Open), ("/", TagKind::Close)];
        kind = sigils.iter().find(|(sigil, _)| takes(sigil, &mut at)).map_or(kind, |(_, kind)| *kind);
    }
    let blanks = text[at..].len() - text[at..].trim_start().len();
    refuse_others(&text[at + blanks..], at + blanks)?;
    let length = inner_length(&text[at..]);
    let inner = length.map(|length| &text[at..at + length]);
    let close = if triple { "}}}" } else { "}}" };
    let mut end = at + length.unwrap_or_default();
    let closes = triple && takes("}", &mut end);
    let trims_right = takes("~", &mut end);
    let (Some(inner), true) = (inner, closes == triple && takes("}}", &mut end)) else {
        let message = format!("`{}` is never closed", &text[open..open + if triple { 3 } else { 2 }]);
        return Err(GrammarError::new(open, message).hint(format!("close it with `{close}`")));
    };
    let trimmed = inner.trim();
    let is_else = trimmed == "else"
        || trimmed.strip_prefix("else").is_some_and(|rest| rest.starts_with([' ', '\n', '\t']));
    if kind == TagKind::Value && is_else && !triple {
        kind = TagKind::Else;
    }
    Ok((Tag { kind, inner, offset: at, trims_left, trims_right }, end))
}

fn comment(text: &str, open: usize, at: usize, trims_left: bool) -> Result<(Tag<'_>, usize), GrammarError> {
    let long = text[at..].starts_with("--");
    let ends: &[&str] = if long { &["--}}", "--~}}"] } else { &["}}"] };
    let found = ends.iter().filter_map(|end| Some((text[at..].find(end)?, *end))).min();
    let Some((length, end)) = found else {
        return Err(
            GrammarError::new(open, "a comment is never closed").hint(format!("close it with `{}`", ends[0]))
        );
    };
    let trims_right = end.contains('~') || (!long && text[at..at + length].ends_with('~'));
    let tag = Tag { kind: TagKind::Comment, inner: "", offset: at, trims_left, trims_right };
    Ok((tag, at + length + end.len()))
}

/// Length of the inside of a tag: up to `~` or `}`, outside quotes and brackets.
fn inner_length(text: &str) -> Option<usize> {
    let mut inside: Option<char> = None;
    for (at, c) in text.char_indices() {
        match (inside, c) {
            (None, '"' | '\'') => inside = Some(c),
            (None, '[') => inside = Some(']'),
            (None, '~' | '}') => return Some(at),
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
        _ => return Ok(()),
    };
    Err(GrammarError::new(at, message).hint(hint))
}

/// Takes the white space around tags away: `~` takes all of it, a block tag or comment alone on its line takes
/// the line.
pub fn shorten(pieces: &mut [TemplateToken<'_>]) {
    let alone: Vec<bool> = (0..pieces.len()).map(|at| is_alone(pieces, at)).collect();
    for at in 0..pieces.len() {
        let TemplateToken::Tag(tag) = &pieces[at] else { continue };
        let (left, right, alone) = (tag.trims_left, tag.trims_right, alone[at]);
        if let Some(TemplateToken::Text(_, kept)) =
            at.checked_sub(1).and_then(|before| pieces.get_mut(before))
        {
            if left {
                *kept = kept.trim_end();
            } else if alone {
                *kept = kept.trim_end_matches([' ', '\t']);
            }
        }
        if let Some(TemplateToken::Text(_, kept)) = pieces.get_mut(at + 1) {
            if right {
                *kept = kept.trim_start();
            } else if alone {
                let rest = kept.trim_start_matches([' ', '\t']);
                *kept = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
            }
        }
    }
}

/// The piece is a tag that prints nothing and has its line to itself.
fn is_alone(pieces: &[TemplateToken<'_>], at: usize) -> bool {
    let TemplateToken::Tag(tag) = &pieces[at] else { return false };
    if tag.kind == TagKind::Value {
        return false;
    }
    let before = match at.checked_sub(1).map(|before| &pieces[before]) {
        None => true,
        Some(TemplateToken::Text(text, _)) => {
            let blank = &text[text.trim_end().len()..];
            blank.contains('\n') || (at == 1 && blank.len() == text.len())
        }
        Some(TemplateToken::Tag(_)) => false,
    };
    let after = match pieces.get(at + 1) {
        None => true,
        Some(TemplateToken::Text(text, _)) => {
            let blank = &text[..text.len() - text.trim_start().len()];
            blank.contains('\n') || (at + 2 == pieces.len() && blank.len() == text.len())
        }
        Some(TemplateToken::Tag(_)) => false,
    };
    before && after
}
