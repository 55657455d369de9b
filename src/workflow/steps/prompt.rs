//! Texts of the small languages in a step: read, or refused with the place in the text.

use crate::workflow::lang::{GrammarError, Template};
use crate::workflow::load::entries::Entries;

/// The template of a step's prompt. One with an error counts as empty, so that nobody else is looked for
/// to give it.
pub fn prompt(entries: Entries<'_>) -> Option<Template> {
    let text = entries.text("prompt")?;
    parsed(entries, "prompt", Template::parse(&text)).or_else(|| Template::parse("").ok())
}

/// What a text was parsed to; an error is noted at its key.
pub fn parsed<T>(entries: Entries<'_>, key: &str, result: Result<T, GrammarError>) -> Option<T> {
    let error = match result {
        Ok(parsed) => return Some(parsed),
        Err(error) => error,
    };
    let text = entries.text(key).unwrap_or_default();
    let rest: String = text.get(error.offset..).unwrap_or_default().chars().take(20).collect();
    let place = if rest.is_empty() || error.offset == 0 { String::new() } else { format!(", at `{rest}`") };
    let hint = error.hint.unwrap_or_else(|| format!("correct the `{key}`"));
    let message = format!("`{key}` cannot be read: {}{place}", error.message);
    entries.refuse(entries.node(key)?, message, hint);
    None
}
