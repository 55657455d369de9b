//! `ideas`: a list of ideas, each with a title and a text. They are collected, not counted.

use serde_json::{Map as JsonMap, Value as Json, json};

use super::answer_schema::{closed, list, words};
use super::kind::{FormField, FormValues, Input, Instructions, KindSpec, Stage};
use super::model::{Ballot, BallotForm, Idea};
use super::parse::AnswerParser;
use super::parse::answer::{is_named, not_asked};
use super::parse::scalar::{folded, is_placeholder, quoted, source_text};
use crate::yaml::{Map, Node, Value};

pub(super) struct Ideas;

impl KindSpec for Ideas {
    fn keys(&self) -> &'static [&'static str] {
        &["ideas"]
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            example: "ideas:\n  - title: \"<a few words>\"\n    text: \"<one idea in one to three sentences>\"\n",
            detail: "Give one idea or more, each with a title of its own and a text.",
            instead_of: "the ideas",
            description: "ideas, each with a title and a text",
            length: "one idea or more",
        }
    }

    fn schemas(&self, _form: &BallotForm) -> Vec<Json> {
        let text = |key: &str| (key.to_owned(), json!({"type": "string"}));
        let idea = closed(&["title", "text"].map(text).into_iter().collect());
        vec![json!({"anyOf": [list(&idea), words(["abstain"])]})]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let items = match &value.value {
            Value::List(items) => items.as_slice(),
            Value::Map(_) => std::slice::from_ref(value),
            _ => return Err(format!("`ideas` is {}, a list of ideas is expected", value.kind())),
        };
        let (mut ideas, mut kept): (Vec<Idea>, Vec<Json>) = (Vec::new(), Vec::new());
        for item in items {
            let Value::Map(entries) = &item.value else {
                return Err(format!("`ideas` holds {}, each idea has a `title` and a `text`", item.kind()));
            };
            let (idea, content) = idea(answer, entries)?;
            if ideas.iter().any(|other| folded(&other.title) == folded(&idea.title)) {
                let title = quoted(&idea.title);
                return Err(format!("two ideas are titled {title}: give each a title of its own"));
            }
            ideas.push(idea);
            kept.push(content);
        }
        if ideas.is_empty() {
            return Err("`ideas` holds no idea: give one, or abstain".to_owned());
        }
        Ok((Ballot::Ideas(ideas), kept.into()))
    }

    fn repeats_form(&self, _form: &BallotForm, value: &Node) -> bool {
        let is_left = |node: &Node| matches!(&node.value, Value::Text(text) if is_placeholder(text));
        let is_template = |item: &Node| {
            let Value::Map(entries) = &item.value else { return false };
            !entries.is_empty() && entries.iter().all(|(_, node)| is_left(node))
        };
        match &value.value {
            Value::List(items) => !items.is_empty() && items.iter().all(is_template),
            _ => is_template(value),
        }
    }

    fn phrase(&self, ballot: &Ballot) -> Option<String> {
        let Ballot::Ideas(ideas) = ballot else { return None };
        let titles: Vec<&str> = ideas.iter().map(|idea| idea.title.as_str()).collect();
        let noun = if ideas.len() == 1 { "idea" } else { "ideas" };
        Some(format!("gives {} {noun}: {}", ideas.len(), titles.join(", ")))
    }

    fn brief(&self, ballot: &Ballot) -> Option<String> {
        let Ballot::Ideas(ideas) = ballot else { return None };
        Some(ideas.iter().map(|idea| idea.title.as_str()).collect::<Vec<_>>().join(" + "))
    }

    fn listing(&self, ballot: &Ballot) -> Vec<String> {
        let Ballot::Ideas(ideas) = ballot else { return Vec::new() };
        ideas.iter().map(|idea| format!("{}: {}", idea.title, idea.text)).collect()
    }

    fn fields(&self, _form: &BallotForm) -> Vec<FormField> {
        let hint = "One idea per line, as title: text; empty = abstain";
        vec![FormField { key: "ideas", hint, input: Input::Text(String::new()) }]
    }

    fn read_fields(&self, values: &dyn FormValues) -> Option<Vec<(&'static str, Json)>> {
        let idea = |line: &str| {
            let (title, text) = line.split_once(':').unwrap_or((line, ""));
            json!({"title": title.trim(), "text": text.trim()})
        };
        let text = values.text("ideas");
        let ideas: Vec<Json> = text.lines().filter(|line| !line.trim().is_empty()).map(idea).collect();
        (!ideas.is_empty()).then(|| vec![("ideas", ideas.into())])
    }

    fn rehearse(&self, stage: &Stage<'_>) -> Vec<(&'static str, Json)> {
        let count = 1 + (stage.lot)("ideas", 3);
        let idea = |nth: usize| json!({"title": format!("Placeholder {}", nth + 1), "text": stage.label});
        vec![("ideas", (0..count).map(idea).collect())]
    }
}

/// One idea, and it as it is kept: other keys of it after its own, flagged.
fn idea(answer: &mut AnswerParser<'_>, entries: &Map) -> Result<(Idea, Json), String> {
    let (title, text) = (part(answer, entries, "title")?, part(answer, entries, "text")?);
    let mut kept: JsonMap<String, Json> = JsonMap::new();
    kept.insert("title".to_owned(), title.as_str().into());
    kept.insert("text".to_owned(), text.as_str().into());
    for (key, node) in entries {
        if !["title", "text"].iter().any(|known| is_named(&key.text, known)) {
            answer.flags.push(not_asked(&format!("ideas.{}", key.text)));
            kept.insert(key.text.clone(), node.to_json());
        }
    }
    Ok((Idea { title, text }, Json::Object(kept)))
}

fn part(answer: &AnswerParser<'_>, entries: &Map, key: &str) -> Result<String, String> {
    let mut found = entries.iter().filter(|(known, _)| is_named(&known.text, key)).map(|(_, node)| node);
    let (first, second) = (found.next(), found.next());
    if second.is_some() {
        return Err(format!("the key `{key}` stands twice in an idea: give each key once"));
    }
    let text = first.map(|node| {
        source_text(node, answer.source)
            .ok_or_else(|| format!("the `{key}` of an idea is {}, text is expected", node.kind()))
    });
    let text = text.transpose()?.map(|text| text.trim().to_owned());
    text.filter(|text| !text.is_empty() && !is_placeholder(text))
        .ok_or_else(|| format!("an idea has no `{key}`: each has a `title` and a `text`"))
}
