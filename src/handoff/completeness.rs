//! Completeness check: finds content that a work item refers to without including it.
//!
//! It checks the facilitator's own text and the ids that templates insert, never an answer or an artifact.
//! Certain findings refuse the work item: a known id whose content is missing, or an unknown id that looks like
//! a known one. Possible findings are warnings: an unknown id after a word such as "issue", or a fixed phrase.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::rendering::{Rendered, directive};
use crate::diagnostic::nearest;
use crate::history::Session;
use crate::round::snapshot::Snapshot;
use crate::workflow::{Completeness, Definition, Round, Step, StepKind, TRACKER, Template, is_blank, walk};

const PHRASES: [&str; 12] = [
    "check linear",
    "check jira",
    "check github",
    "check the tracker",
    "check the ticket",
    "look it up",
    "look up the issue",
    "look up the task",
    "look up the ticket",
    "open the file",
    "open the link",
    "read the file",
];
/// A phrase after one of these words is a prohibition.
const NEGATIONS: [&str; 5] = ["not", "never", "don't", "don’t", "without"];
/// Words that, in singular or plural, mark the next word as the id of a task or an artifact.
const KINDS: [&str; 4] = ["issue", "task", "ticket", "artifact"];

#[derive(Default)]
struct Material<'a> {
    sent: &'a str,
    /// Contents by id; `None` is a content that is certainly included.
    ids: IndexMap<&'a str, Vec<Option<&'a str>>>,
    /// Future results may add ids.
    may_grow: bool,
}

impl<'a> Material<'a> {
    fn add(&mut self, id: &'a str, content: Option<&'a str>) {
        self.ids.entry(id).or_default().push(content);
    }

    fn is_sent(&self, content: &str) -> bool {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<&str>>().join(" ");
        // In JSON and YAML, a text of several lines is escaped or indented.
        let escaped = Value::from(content).to_string();
        squeezed(self.sent).contains(&squeezed(content)) || self.sent.contains(escaped.trim_matches('"'))
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Gap {
    is_certain: bool,
    phrase: String,
    what: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    pub refusal: Option<String>,
    pub warnings: Vec<String>,
}

pub struct CheckedRound<'a> {
    pub asked: Rendered<'a>,
    pub snapshot: Snapshot,
    pub checked: Checked,
}

impl Checked {
    fn of(texts: &[String], held: &Material<'_>, completeness: Completeness) -> Self {
        let (mut checked, mut reasons) = (Self::default(), Vec::new());
        for Gap { is_certain, phrase, what } in texts.iter().flat_map(|text| findings(text, held)) {
            let said = format!("`{phrase}` {what}");
            match completeness {
                Completeness::Off => {}
                Completeness::Warn if !is_certain => {
                    checked.warnings.push(format!("the work item may be incomplete: {said}"));
                }
                Completeness::Warn | Completeness::Strict => reasons.push(said),
            }
        }
        if !reasons.is_empty() {
            checked.refusal = Some(format!("incomplete work item: {}", reasons.join("; ")));
        }
        checked
    }
}

impl Session {
    pub fn round_refusal(&self, step: &Step, round: &Round) -> Option<String> {
        self.checked_round(step, round, None).map_or_else(Some, |drafted| drafted.checked.refusal)
    }

    /// Returns a round as it would open now, with its check. Fails if a template cannot be rendered.
    pub fn checked_round<'a>(
        &self,
        step: &'a Step,
        round: &'a Round,
        summary: Option<&str>,
    ) -> Result<CheckedRound<'a>, String> {
        let is_needy = !step.requires.is_empty();
        let lacking = || self.input_of(step).and_then(|input| missing(step, &input, |_| false)).err();
        let refusal = is_needy.then(lacking).flatten();
        let asked = self.rendered_round(step, round);
        let asked = asked.map_err(|why| refusal.clone().unwrap_or(why))?;
        let snapshot = self.snapshot_with(step, &asked.round, summary, self.recalled(step, &asked.round));
        let mut checked = match refusal {
            None => self.check_round(step, round, &asked, &snapshot.text),
            refusal => Checked { refusal, ..Checked::default() },
        };
        checked.warnings.extend(asked.warnings.iter().cloned());
        Ok(CheckedRound { asked, snapshot, checked })
    }

    fn check_round(&self, step: &Step, round: &Round, asked: &Rendered<'_>, snapshot: &str) -> Checked {
        let scope = asked.written.as_ref().and_then(|_| self.scope_of(step).ok());
        let texts = own_texts(self.definition(), step, round_texts(round), scope.as_ref());
        if !texts.iter().any(|text| may_name(text)) {
            return Checked::default();
        }
        let context = self.context_for(&step.id);
        Checked::of(&texts, &self.material(step, &context, snapshot), self.completeness(step))
    }

    /// Checks an agent's work item; `sent` is all that the agent gets.
    pub(crate) fn check_agent(
        &self,
        step: &Step,
        template: Option<(&Template, &Value)>,
        input: &Map<String, Value>,
        sent: &str,
    ) -> Checked {
        let (own, scope) = template.unzip();
        let said = own.into_iter().map(Template::text).collect();
        let texts = own_texts(self.definition(), step, said, scope);
        Checked::of(&texts, &self.material(step, input, sent), self.completeness(step))
    }

    /// Collects all known ids. Every round shows the agenda, and at least summaries of its artifacts.
    fn material<'a>(&'a self, step: &Step, input: &'a Map<String, Value>, sent: &'a str) -> Material<'a> {
        let definition = self.definition();
        let mut held = Material { sent, ..Material::default() };
        for task in &definition.tasks {
            let content = if task.description.trim().is_empty() { &task.title } else { &task.description };
            held.add(&task.id, Some(content));
        }
        for artifact in &definition.artifacts {
            let description = artifact.detail("description").and_then(Value::as_str);
            held.add(&artifact.id, Some(description.unwrap_or(&artifact.summary)));
            if step.round().is_some_and(|round| round.artifacts.includes(&artifact.id)) {
                held.add(&artifact.id, None);
            }
        }
        definition.agenda.iter().for_each(|item| held.add(&item.id, None));
        input.values().for_each(|value| gather(value, &mut held));
        held
    }

    /// Returns the check that applies to a step; none for the tracker.
    fn completeness(&self, step: &Step) -> Completeness {
        let seat = step.agent().and_then(|agent| self.seat_info(&agent.agent));
        let is_tracker = seat.is_some_and(|seat| seat.model == TRACKER);
        if is_tracker { Completeness::Off } else { self.definition().completeness(step) }
    }

    /// Checks all steps before the run. Returns only findings that no result can change.
    pub fn findings_before_run(&self) -> Vec<(&Step, Checked)> {
        let definition = self.definition();
        let brings = |step: &Step| matches!(step.kind, StepKind::Agent(_) | StepKind::Review(_));
        let bringing = definition.all_steps().filter(|step| brings(step)).count();
        // No result precedes the first step.
        let is_first = |step: &Step| definition.steps.first().is_some_and(|first| first.id == step.id);
        let grows = |step: &Step| !is_first(step) && bringing > usize::from(brings(step));
        let checked =
            definition.all_steps().map(|step| (step, self.step_findings_before_run(step, grows(step))));
        checked.filter(|(_, checked)| *checked != Checked::default()).collect()
    }

    fn step_findings_before_run(&self, step: &Step, may_grow: bool) -> Checked {
        let definition = self.definition();
        // Results cannot supply these requirements, so the session's input must.
        let input = Map::from_iter([("input".to_owned(), self.given_input(&step.id))]);
        let may_come =
            |key: &str| matches!(key, "context" | "error") || definition.step_of_key(key, step).is_some();
        if let Err(why) = missing(step, &input, may_come) {
            return Checked { refusal: Some(why), ..Checked::default() };
        }
        let (said, is_open) = match &step.kind {
            StepKind::Round(round) => (round_texts(round), false),
            StepKind::Agent(_) | StepKind::Review(_) => {
                let own = step.prompt().map(Template::text);
                (own.into_iter().collect(), own.is_none_or(|text| text.contains("{{")))
            }
            _ => return Checked::default(),
        };
        let texts = own_texts(definition, step, said, None);
        let (nothing, said) = (Map::new(), texts.join("\n"));
        let mut held = Material { may_grow, ..self.material(step, &nothing, &said) };
        // A template or a result may still supply the content.
        if is_open {
            held.ids.values_mut().for_each(|contents| contents.push(None));
        } else if may_grow {
            definition.tasks.iter().for_each(|task| held.add(&task.id, None));
        }
        Checked::of(&texts, &held, self.completeness(step))
    }
}

fn round_texts(round: &Round) -> Vec<&str> {
    std::iter::once(round.question.as_str()).chain(round.exploration.as_deref()).collect()
}

/// Returns the facilitator's texts for a step, its directive included.
fn own_texts(definition: &Definition, step: &Step, said: Vec<&str>, scope: Option<&Value>) -> Vec<String> {
    let all = said.into_iter().chain(directive(definition, step).map(String::as_str));
    all.map(|text| own_words(text, scope)).collect()
}

/// Fails if a required path is missing in the input, unless its first key `may_come` later.
pub(super) fn missing(
    step: &Step,
    input: &Map<String, Value>,
    may_come: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let is_missing = |path: &&String| {
        !may_come(path.split('.').next().unwrap_or_default())
            && look_up(input, path).is_none_or(|found| is_blank(&found))
    };
    let named: Vec<String> =
        step.requires.iter().filter(is_missing).map(|path| format!("`{path}`")).collect();
    if named.is_empty() {
        return Ok(());
    }
    Err(format!("the work item lacks {}, which step `{}` requires", named.join(" and "), step.id))
}

/// Looks up a path in a work item: at the top, in the context, in the session's input.
fn look_up<'a>(input: &'a Map<String, Value>, path: &str) -> Option<Cow<'a, Value>> {
    let keys: Vec<String> = path.split('.').map(str::to_owned).collect();
    let at_top = input.get(&keys[0]).and_then(|value| walk(value, &keys[1..]));
    let inside = |key: &str| input.get(key).and_then(|value| walk(value, &keys));
    at_top.or_else(|| inside("context")).or_else(|| inside("input"))
}

fn gather<'a>(value: &'a Value, held: &mut Material<'a>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, held)),
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str);
            if let (Some(id), Some(content)) = (text("issue_id").or_else(|| text("id")), text("description"))
                && looks_like_id(id)
            {
                held.add(id, Some(content));
            }
            map.values().for_each(|value| gather(value, held));
        }
        _ => {}
    }
}

/// Replaces each tag of a template by `…`, or by its value over `scope` if that is an id.
fn own_words(template: &str, scope: Option<&Value>) -> String {
    let mut words = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        words.push_str(before);
        let (tag, behind) = after.split_once("}}").unwrap_or((after, ""));
        rest = behind.strip_prefix('}').unwrap_or(behind);
        let value = Template::parse(&format!("{{{{{}}}}}", tag.trim_matches(['{', '~', ' '])))
            .ok()
            .zip(scope)
            .and_then(|(tag, scope)| tag.render(scope).ok())
            .unwrap_or_default();
        words.push_str(if looks_like_id(value.trim()) { value.trim() } else { "…" });
    }
    words.push_str(rest);
    words
}

/// Returns true if a text can have findings; most cannot, which saves collecting all ids.
fn may_name(said: &str) -> bool {
    let lower = said.to_ascii_lowercase();
    lower.contains(|c: char| c.is_ascii_digit())
        || KINDS.iter().chain(&PHRASES).any(|word| lower.contains(word))
}

fn findings(said: &str, held: &Material<'_>) -> Vec<Gap> {
    let mut found = id_findings(said, held);
    found.extend(PHRASES.iter().filter_map(|phrase| asked(said, phrase)).map(|phrase| Gap {
        is_certain: false,
        phrase,
        what: "asks to look something up; include the content instead".to_owned(),
    }));
    found.sort_by_key(|finding| !finding.is_certain);
    found
}

/// Returns a phrase as written in a text, if it occurs there and is not prohibited.
fn asked(said: &str, phrase: &str) -> Option<String> {
    let lower = said.to_ascii_lowercase();
    let is_asked = |(at, _): &(usize, &str)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '-';
        let before = lower[..*at].split_whitespace().next_back().unwrap_or_default();
        !lower[..*at].ends_with(is_word)
            && !lower[at + phrase.len()..].starts_with(is_word)
            && !NEGATIONS.contains(&before)
    };
    let (at, _) = lower.match_indices(phrase).find(is_asked)?;
    said.get(at..at + phrase.len()).map(str::to_owned)
}

fn id_findings(said: &str, held: &Material<'_>) -> Vec<Gap> {
    let words: Vec<&str> = said.split_whitespace().collect();
    let (mut seen, mut found) = (Vec::new(), Vec::new());
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let before = before.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let is_called_one = KINDS.contains(&before.strip_suffix('s').unwrap_or(&before));
        for id in ids_in(word) {
            // An id without digits may be an ordinary word, so it counts only after a word such as "issue".
            let is_word = !id.chars().any(|c| c.is_ascii_digit());
            let is_known = held.ids.contains_key(id) && (is_called_one || !is_word);
            if !(is_known || looks_like_id(id)) || seen.contains(&id) {
                continue;
            }
            seen.push(id);
            let Some((is_certain, what)) = of_id(id, is_called_one, held) else { continue };
            let phrase = words[at.saturating_sub(2)..=at].join(" ");
            let phrase = phrase.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
            found.push(Gap { is_certain, phrase, what });
        }
    }
    found
}

fn of_id(id: &str, is_called_one: bool, held: &Material<'_>) -> Option<(bool, String)> {
    let not_held = || format!("names `{id}`, whose content is not handed over");
    if let Some(contents) = held.ids.get(id) {
        return (!contents.iter().any(|content| content.is_none_or(|content| held.is_sent(content))))
            .then(|| (true, not_held()));
    }
    let prefix = |id: &str| id.split_once('-').map(|(prefix, _)| prefix.to_owned());
    let is_like = |known: &&str| looks_like_id(known) && prefix(known) == prefix(id);
    let like: Vec<&str> = held.ids.keys().copied().filter(is_like).collect();
    if like.is_empty() {
        return is_called_one.then(|| (false, not_held()));
    }
    let hint = nearest(id, like).map(|like| format!("; there is `{like}`")).unwrap_or_default();
    Some((!held.may_grow, format!("names `{id}`, which does not exist{hint}")))
}

/// Returns the ids in a word: the word itself, or the parts of `REQ-1/REQ-2`. Skips addresses and files.
fn ids_in(word: &str) -> Vec<&str> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    let parts: Vec<&str> = word.split(['/', ',', '–', '…']).collect();
    if parts.iter().all(|part| looks_like_id(part)) { parts } else { vec![word] }
}

fn looks_like_id(word: &str) -> bool {
    let Some((project, number)) = word.split_once('-') else { return false };
    project.starts_with(|c: char| c.is_ascii_uppercase())
        && project.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
}
