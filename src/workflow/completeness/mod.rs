//! Whether what the facilitator wrote can be worked on with what is handed over.
//!
//! Checked are the facilitator's own words alone, never an answer or an artifact. What can be decided
//! exactly is a certain finding: an id of the definition whose content is not in the work item, and
//! an id that looks like the definition's own and exists nowhere. What is a guess about language, such
//! as "check Linear", is a possible finding. Ids whose content is handed over are never a finding.

mod lookup;
mod spelling;
#[cfg(test)]
mod tests;
mod words;

use crate::diagnostic::nearest;
pub use spelling::looks_like_id;
use spelling::plain;

/// What names a task or an artifact when an id follows.
const KINDS: [&str; 8] = ["issue", "task", "ticket", "artifact", "issues", "tasks", "tickets", "artifacts"];

/// Something that can be named by its id, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferencedContent {
    pub id: String,
    /// Its content; none when only the id is known.
    pub content: Option<String>,
}

/// What a work item holds, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// Ids that exist, each with whether its content is handed over.
    pub ids: Vec<(String, bool)>,
    /// Names, titles and summaries of what is handed over: a file that stands here is at hand.
    pub names: String,
    /// Whether results that are not there yet may bring further ids.
    pub may_grow: bool,
}

/// A phrase of the facilitator that the work item does not bear out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletenessFinding {
    /// Whether it is decided exactly; otherwise it is a guess about language.
    pub is_certain: bool,
    /// The phrase, as it was written.
    pub phrase: String,
    /// What is wrong with it.
    pub what: String,
}

impl std::fmt::Display for CompletenessFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` {}", self.phrase, self.what)
    }
}

/// Every finding in a text of the facilitator's, certain ones first.
pub fn findings(said: &str, held: &Held) -> Vec<CompletenessFinding> {
    let mut found: Vec<CompletenessFinding> =
        named_ids(said, held).into_iter().filter_map(|named| of_id(&named, said, held)).collect();
    found.extend(lookup::lookups(said, &held.names).into_iter().map(|phrase| CompletenessFinding {
        is_certain: false,
        phrase,
        what: "asks to look something up; include the content instead".to_owned(),
    }));
    found.sort_by_key(|finding| !finding.is_certain);
    found
}

/// An id in a text, and the phrase it stands in.
struct NamedId<'a> {
    id: &'a str,
    phrase: String,
    /// Whether the word before says that it is an issue, a task, a ticket or an artifact.
    is_called_one: bool,
}

fn of_id(named: &NamedId<'_>, said: &str, held: &Held) -> Option<CompletenessFinding> {
    let id = named.id;
    let finding =
        |is_certain, what| Some(CompletenessFinding { is_certain, phrase: named.phrase.clone(), what });
    if describes(said, id) {
        return None;
    }
    let mut known = held.ids.iter().filter(|(known, _)| known == id).peekable();
    if known.peek().is_some() {
        let missing = || finding(true, format!("names `{id}`, whose content is not handed over"));
        return if known.any(|(_, is_held)| *is_held) { None } else { missing() };
    }
    let prefix = |id: &str| id.split_once('-').map(|(prefix, _)| prefix.to_owned());
    let own = |known: &&(String, bool)| looks_like_id(&known.0) && prefix(&known.0) == prefix(id);
    if held.ids.iter().any(|known| own(&known)) {
        let like: Vec<&str> = held.ids.iter().filter(own).map(|(id, _)| id.as_str()).collect();
        let hint = nearest(id, like).map(|like| format!("; there is `{like}`")).unwrap_or_default();
        return finding(!held.may_grow, format!("names `{id}`, which does not exist{hint}"));
    }
    let guess = || finding(false, format!("names `{id}`, whose content is not handed over"));
    if named.is_called_one { guess() } else { None }
}

/// Every id a text names, each once.
fn named_ids<'a>(said: &'a str, held: &Held) -> Vec<NamedId<'a>> {
    let words: Vec<&str> = said.split_whitespace().collect();
    let mut named: Vec<NamedId<'a>> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| plain(words[at])).unwrap_or_default();
        let is_called_one = KINDS.contains(&before.as_str());
        for id in ids_in(word) {
            // An id that is a word of the language names something only where it is said to.
            let is_word = !id.chars().any(|c| c.is_ascii_digit());
            let is_known = held.ids.iter().any(|(known, _)| known == id) && (is_called_one || !is_word);
            if !(is_known || looks_like_id(id)) || named.iter().any(|other| other.id == id) {
                continue;
            }
            let from = at.saturating_sub(2);
            let phrase = words[from..=at].join(" ");
            let phrase = phrase.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
            named.push(NamedId { id, phrase, is_called_one });
        }
    }
    named
}

/// The ids a word may hold: itself, and the parts of `REQ-1/REQ-2`; none of an address or a file.
fn ids_in(word: &str) -> Vec<&str> {
    let edge = |c: char| !c.is_alphanumeric();
    let word = word.trim_matches(edge);
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    let parts: Vec<&str> = word.split(['/', ',', '–', '…']).collect();
    if parts.iter().all(|part| looks_like_id(part)) { parts } else { vec![word] }
}

/// Whether what goes by that id is handed over: its content in `sent`, or described in `said`.
pub fn is_held(id: &str, said: &str, sent: &str, known: &[ReferencedContent]) -> bool {
    let contents: Vec<&str> = known
        .iter()
        .filter(|thing| thing.id == id)
        .filter_map(|thing| thing.content.as_deref())
        .filter(|content| !content.trim().is_empty())
        .collect();
    if contents.is_empty() {
        return describes(said, id);
    }
    let sent_words = squeezed(sent);
    contents.iter().any(|content| {
        // In JSON and YAML a text of several lines stands escaped or indented.
        let escaped = serde_json::Value::from(*content).to_string();
        sent_words.contains(&squeezed(content)) || sent.contains(escaped.trim_matches('"'))
    })
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Whether a text tells what it names: a description of it follows.
fn describes(said: &str, id: &str) -> bool {
    let after = said.split_once(id).map_or("", |(_, after)| after).to_lowercase();
    let Some((_, description)) = after.split_once("description") else { return false };
    description.trim_start_matches([':', ' ', '\n', '\r', '*', '-']).trim().len() >= 10
}
