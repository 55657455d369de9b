//! Ballot kind `ideas`: ideas with a title and a text; collected, not counted.

use serde_json::{Value as Json, json};

use super::answer_schema::{list, object, word_enum};
use super::kind::{KindInfo, KindSpec, RehearsalInput};
use super::model::{Ballot, BallotForm, Idea};
use super::parse::AnswerParser;
use super::parse::answer::list_entries;
use super::parse::scalar::{folded, quoted};
use crate::yaml::{Map, Node};

const NEEDED: &str = "has a `title` and a `text`";

pub(super) struct IdeasKind;

impl KindSpec for IdeasKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            keys: &["ideas"],
            hint: "One idea per line, as title: text; empty = abstain",
            is_text: true,
            example: "ideas:\n  - title: \"<a few words>\"\n    text: \"<one idea in one to three sentences>\"\n",
            detail: "Give one idea or more, each with its own title and a text.",
            instead_of: "the ideas",
            description: "ideas, each with a title and a text",
            length: "one idea or more",
            ..KindInfo::default()
        }
    }

    fn schemas(&self, _form: &BallotForm) -> Vec<Json> {
        let idea = object(["title", "text"].map(|key| (key, json!({"type": "string"}))));
        vec![json!({"anyOf": [list(&idea), word_enum(["abstain"])]})]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let (mut ideas, mut kept): (Vec<Idea>, Vec<Json>) = (Vec::new(), Vec::new());
        for entries in list_entries("idea", NEEDED, value)? {
            let (idea, content) = idea(answer, entries)?;
            if ideas.iter().any(|other| folded(&other.title) == folded(&idea.title)) {
                let title = quoted(&idea.title);
                return Err(format!("two ideas are titled {title}: give each its own title"));
            }
            ideas.push(idea);
            kept.push(content);
        }
        if ideas.is_empty() {
            return Err("`ideas` contains no idea: give one, or abstain".to_owned());
        }
        Ok((Ballot::Ideas(ideas), kept.into()))
    }

    fn typed(&self, text: &str) -> Json {
        let idea = |line: &str| {
            let (title, text) = line.split_once(':').unwrap_or((line, ""));
            json!({"title": title.trim(), "text": text.trim()})
        };
        text.lines().filter(|line| !line.trim().is_empty()).map(idea).collect()
    }

    fn rehearse(&self, input: &RehearsalInput<'_>) -> Vec<(&'static str, Json)> {
        let count = 1 + (input.lot)("ideas", 3);
        let idea = |nth: usize| json!({"title": format!("Placeholder {}", nth + 1), "text": input.label});
        vec![("ideas", (0..count).map(idea).collect())]
    }
}

/// Parses one idea and returns it with its stored form: known keys in order, then flagged others.
fn idea(answer: &mut AnswerParser<'_>, entries: &Map) -> Result<(Idea, Json), String> {
    let mut part = |key: &str| {
        let text = answer.entry_text("ideas", entries, key)?;
        text.ok_or_else(|| format!("an idea has no `{key}`: each {NEEDED}"))
    };
    let (title, text) = (part("title")?, part("text")?);
    let own = [("title", &title), ("text", &text)];
    let mut kept = own.map(|(key, text)| (key.to_owned(), text.as_str().into())).into_iter().collect();
    answer.keep_others("ideas", entries, &["title", "text"], &mut kept);
    Ok((Idea { title, text }, Json::Object(kept)))
}
