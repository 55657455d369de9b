//! White space around tags: `~` takes all of it, a block tag or comment alone on its line takes the line.

use super::tags::{TagKind, TemplateToken};

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

/// Whether the piece is a tag that prints nothing and has its line to itself.
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
