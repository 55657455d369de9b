//! The completeness check of sessions of format 1, kept so that they verify and go on as they began.
//!
//! Two things made a work item incomplete: it named a task or an artifact whose content was not in
//! it, or it told the agent to look something up. Nothing here changes any more.

use super::{ReferencedContent, is_held, looks_like_id};

/// Words that an agent gets, each followed by what is looked up.
const LOOK: [&str; 9] =
    ["check", "look up", "look into", "open", "read", "consult", "fetch", "visit", "browse"];
/// What may be looked up.
const PLACES: [&str; 22] = [
    "tracker",
    "linear",
    "jira",
    "trello",
    "asana",
    "github",
    "gitlab",
    "notion",
    "confluence",
    "wiki",
    "backlog",
    "file",
    "files",
    "folder",
    "directory",
    "repository",
    "repo",
    "link",
    "links",
    "url",
    "website",
    "codebase",
];
/// What follows a file's last point.
const EXTENSIONS: [&str; 25] = [
    "md", "txt", "rs", "ts", "tsx", "js", "jsx", "py", "json", "yaml", "yml", "toml", "html", "css", "go",
    "java", "pdf", "csv", "log", "doc", "docx", "xml", "sh", "c", "sql",
];
/// What may stand before an order to look something up.
const LEADS: [&str; 14] = [
    "please", "then", "and", "to", "must", "should", "first", "also", "now", "can", "or", "next", "just",
    "always",
];
/// What takes such an order back.
const NOT: [&str; 6] = ["not", "never", "don't", "without", "cannot", "no"];
/// What names a task or an artifact when an id follows.
const KINDS: [&str; 4] = ["issue", "task", "ticket", "artifact"];
/// How many words may stand between the order and what is looked up.
const REACH: usize = 6;

/// Why `said` is incomplete, its phrase quoted; `sent` is all that is handed over, `known` what has an
/// id in this session.
pub fn lack(said: &str, sent: &str, known: &[ReferencedContent]) -> Option<String> {
    looks_up(said)
        .map(|phrase| format!("`{phrase}` sends the agent to look something up; hand it over instead"))
        .or_else(|| {
            let (phrase, id) =
                names(said, known).into_iter().find(|(_, id)| !is_held(id, said, sent, known))?;
            Some(format!("`{phrase}` names `{id}`, whose content is not handed over"))
        })
}

/// The first order to look something up.
fn looks_up(said: &str) -> Option<String> {
    said.lines().flat_map(sentences).find_map(order)
}

fn sentences(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, c) in line.char_indices() {
        let ends = matches!(c, '!' | '?' | ';')
            || (matches!(c, '.' | ':') && line[at + 1..].chars().next().is_none_or(char::is_whitespace));
        if ends {
            parts.push(&line[start..at]);
            start = at + c.len_utf8();
        }
    }
    parts.push(&line[start..]);
    parts
}

fn order(sentence: &str) -> Option<String> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let plain: Vec<String> = words.iter().map(|word| plain(word)).collect();
    for at in 0..words.len() {
        let Some(length) = verb(&plain[at..]) else { continue };
        let leads = at == 0 || LEADS.contains(&plain[at - 1].as_str()) || words[at - 1].ends_with(',');
        let is_taken_back = plain[at.saturating_sub(3)..at].iter().any(|word| NOT.contains(&word.as_str()));
        if !leads || is_taken_back {
            continue;
        }
        let rest = at + length..(at + length + REACH).min(words.len());
        if let Some(end) = rest.into_iter().find(|i| is_place(&plain[*i])) {
            return Some(words[at..=end].join(" "));
        }
    }
    None
}

/// How many words of an order to look something up stand at the start.
fn verb(words: &[String]) -> Option<usize> {
    LOOK.iter().find_map(|look| {
        let look: Vec<&str> = look.split(' ').collect();
        words.iter().map(String::as_str).take(look.len()).eq(look.iter().copied()).then_some(look.len())
    })
}

fn plain(word: &str) -> String {
    let edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '.');
    word.trim_matches(edge).trim_end_matches(['.', ',']).to_lowercase()
}

fn is_place(word: &str) -> bool {
    let is_file = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        stem.chars().any(char::is_alphanumeric) && EXTENSIONS.contains(&extension)
    });
    let is_path = word.starts_with("./") || word.starts_with("~/") || word.matches('/').count() >= 2;
    PLACES.contains(&word)
        || is_file
        || is_path
        || word.starts_with("http://")
        || word.starts_with("https://")
}

/// Every id that is named, with the phrase that names it.
fn names(said: &str, known: &[ReferencedContent]) -> Vec<(String, String)> {
    let words: Vec<&str> = said.split_whitespace().collect();
    let mut named = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let id = word.trim_matches(|c: char| !c.is_alphanumeric());
        let before = at.checked_sub(1).map(|at| plain(words[at])).unwrap_or_default();
        let is_kind = KINDS.contains(&before.as_str());
        // An id that is a word of the language names something only where it is said to.
        let is_word = !id.chars().any(|c| c.is_ascii_digit());
        let is_known = known.iter().any(|thing| thing.id == id) && (is_kind || !is_word);
        if is_known || (is_kind && looks_like_id(id)) {
            let from = at.saturating_sub(2);
            let phrase = words[from..=at].join(" ");
            named.push((phrase.trim_matches(|c: char| !c.is_alphanumeric()).to_owned(), id.to_owned()));
        }
    }
    named
}
