//! Matching of a word to an option or stance.
//!
//! A number or letter before a name is ignored, and alone names no option. An ambiguous word is an error.
//! Look-alike and invisible characters are never normalized; the error names them.

use super::scalar::{folded, quoted, strip_markup, trimmed};
use crate::sanitize::is_unsafe;

/// Returns the option that a vote names.
pub(in crate::ballot) fn option(options: &[String], vote: &str) -> Result<String, String> {
    if let Some(exact) = options.iter().find(|option| *option == vote) {
        return Ok(exact.clone());
    }
    if vote.len() > 4096 {
        return Err(unknown(options, vote));
    }
    if let Some(c) = vote.chars().find(|c| is_invisible(*c)) {
        return Err(format!("option {} contains the invisible character {}", quoted(vote), code(c)));
    }
    let mut found = by_name(options, vote)?;
    if found.is_none()
        && let Some(name) = without_label(vote)
    {
        found = by_name(options, name)?;
    }
    found.map(|at| options[at].clone()).ok_or_else(|| unknown(options, vote))
}

pub(in crate::ballot) fn is_exact(options: &[String], text: &str) -> bool {
    options.iter().any(|option| option == text)
}

/// Checks if a text is a list of these names separated by bars, as a form shows it.
pub(in crate::ballot) fn is_alternation(names: &[&str], text: &str) -> bool {
    let parts: Vec<_> = text.split('|').map(|part| folded(strip_markup(part))).collect();
    parts.len() > 1 && parts.iter().all(|part| names.iter().any(|name| folded(strip_markup(name)) == *part))
}

pub(in crate::ballot) fn unknown_stance(word: &str) -> String {
    if let Some(c) = word.chars().find(|c| is_invisible(*c)) {
        return format!("consent {} contains the invisible character {}", quoted(word), code(c));
    }
    let odd = odd_characters(&[], word);
    format!("consent {} is none of support, stand-aside, block{odd}", quoted(word))
}

pub(in crate::ballot) fn is_invisible(c: char) -> bool {
    (is_unsafe(c) && !matches!(c, '\t' | '\n' | '\r'))
        || matches!(
            c,
            '\u{200c}' | '\u{200d}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{2800}'
        )
        || matches!(c, '\u{fe00}'..='\u{fe0f}')
}

fn code(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// Matches ignoring case, and if nothing matches, also ignoring markup.
fn by_name(options: &[String], vote: &str) -> Result<Option<usize>, String> {
    let case = |text: &str| folded(trimmed(text));
    let bare = |text: &str| folded(strip_markup(text));
    for step in [&case as &dyn Fn(&str) -> String, &bare] {
        let wanted = step(vote);
        let hits: Vec<_> =
            (0..options.len()).filter(|i| !wanted.is_empty() && step(&options[*i]) == wanted).collect();
        match hits.as_slice() {
            [] => {}
            [one] => return Ok(Some(*one)),
            several => return Err(ambiguous(options, vote, several)),
        }
    }
    Ok(None)
}

/// Returns the name after a number, a letter or the word `option`.
fn without_label(vote: &str) -> Option<&str> {
    const SIGNS: [char; 3] = [' ', '#', ':'];
    let word = strip_markup(vote);
    let (start, rest) = word.split_at_checked("option".len()).unwrap_or((word, ""));
    let is_option = start.eq_ignore_ascii_case("option") && rest.starts_with(SIGNS);
    let after = is_option.then(|| rest.trim_start_matches(SIGNS));
    label(after.unwrap_or(word), is_option).or(after)
}

/// Returns the name after a number or letter; unless `prefixed`, a separator must follow the label.
fn label(text: &str, prefixed: bool) -> Option<&str> {
    let inner = text.trim_start_matches(['(', '[']);
    let digits = inner.len() - inner.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length =
        if digits > 0 { digits } else { usize::from(inner.starts_with(|c: char| c.is_ascii_alphabetic())) };
    if length == 0 || length > 6 {
        return None;
    }
    let rest = &inner[length..];
    let name = rest.trim_start_matches([')', ']', '.', ':', ' ', '-', '–', '—']);
    let sign = rest.starts_with([')', ']', '.', ':']) || rest.starts_with(" -") || rest.starts_with(" –");
    // `1.5` is a number, not a label of the first option.
    let decimal = rest.starts_with('.') && name.starts_with(|c: char| c.is_ascii_digit());
    ((sign || prefixed && rest.starts_with(' ')) && !decimal && !name.is_empty()).then_some(name)
}

fn listed(options: &[String]) -> String {
    let mut names: Vec<_> =
        options.iter().take(30).map(|option| super::scalar::shorten(option, 60)).collect();
    if options.len() > names.len() {
        names.push("…".to_owned());
    }
    names.join(", ")
}

fn ambiguous(options: &[String], vote: &str, which: &[usize]) -> String {
    let names: Vec<_> = which.iter().map(|i| quoted(&options[*i])).collect();
    format!("vote {} could mean {}: spell the option as on the form", quoted(vote), names.join(" or "))
}

fn unknown(options: &[String], vote: &str) -> String {
    let lower = folded(vote.get(..400).unwrap_or(vote));
    let named = options.iter().take(200).filter(|option| lower.contains(&folded(option))).count();
    let hint = match named {
        0 => odd_characters(options, vote),
        1 => "; write the option alone".to_owned(),
        _ => "; name exactly one".to_owned(),
    };
    format!("option {} is not on the form: {}{hint}", quoted(vote), listed(options))
}

/// Returns a hint that names non-ASCII characters which no option has.
fn odd_characters(options: &[String], vote: &str) -> String {
    let known = |c: &char| options.iter().any(|option| option.contains(*c));
    let odd: Vec<_> = vote.chars().take(200).filter(|c| !c.is_ascii() && !known(c)).take(3).collect();
    if odd.is_empty() {
        return String::new();
    }
    let names: Vec<_> = odd.iter().map(|c| format!("{} ({})", quoted(&c.to_string()), code(*c))).collect();
    format!("; it contains {}, which no option has", names.join(", "))
}
