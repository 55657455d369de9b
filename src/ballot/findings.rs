//! `findings`: a list of findings, each with a severity and a claim, and a place if it has one.
//!
//! They are collected and grouped, not counted. An empty list is an answer: nothing was found. A place
//! that cannot be read is flagged and left out; the finding stays.

use std::ops::RangeInclusive;

use serde_json::{Map as JsonMap, Value as Json, json};

use super::answer_schema::{closed, list, words};
use super::kind::{FormField, FormValues, Input, Instructions, KindSpec, Stage};
use super::model::{Ballot, BallotForm, Finding, Severity};
use super::parse::AnswerParser;
use super::parse::answer::{is_named, not_asked};
use super::parse::scalar::{is_placeholder, quoted, source_text, strip_markup};
use crate::yaml::{Map, Node, Value};

const KEYS: [&str; 5] = ["file", "lines", "severity", "claim", "evidence"];

pub(super) struct Findings;

impl KindSpec for Findings {
    fn keys(&self) -> &'static [&'static str] {
        &["findings"]
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            example: "findings:\n  - file: \"<path; leave it out if there is none>\"\n    lines: \"<from-to>\"\n    \
                      severity: \"<low | medium | high | critical>\"\n    claim: \"<what is wrong, in a sentence>\"\n    \
                      evidence: \"<what shows it>\"\n",
            detail: "Give each finding its severity and its claim; `file`, `lines` and `evidence` if you know them. \
                     An empty list says that you found nothing.",
            instead_of: "the findings",
            description: "findings, each with a severity and a claim, and file, lines and evidence if known",
            length: "every finding, or an empty list",
        }
    }

    fn schemas(&self, _form: &BallotForm) -> Vec<Json> {
        let property = |key: &str| {
            let schema = match key {
                "severity" => words(Severity::WORDS.map(|(word, _)| word)),
                "claim" => json!({"type": "string"}),
                _ => json!({"type": ["string", "null"]}),
            };
            (key.to_owned(), schema)
        };
        let finding = closed(&KEYS.map(property).into_iter().collect());
        vec![json!({"anyOf": [list(&finding), words(["abstain"])]})]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let items = match &value.value {
            Value::List(items) => items.as_slice(),
            Value::Map(_) => std::slice::from_ref(value),
            _ => return Err(format!("`findings` is {}, a list of findings is expected", value.kind())),
        };
        let (mut findings, mut kept) = (Vec::new(), Vec::new());
        for item in items {
            let Value::Map(entries) = &item.value else {
                let kind = item.kind();
                return Err(format!("`findings` holds {kind}, each finding has a `severity` and a `claim`"));
            };
            let (finding, content) = finding(answer, entries)?;
            findings.push(finding);
            kept.push(content);
        }
        Ok((Ballot::Findings(findings), kept.into()))
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
        Some(format!("reports {}", self.brief(ballot)?))
    }

    fn brief(&self, ballot: &Ballot) -> Option<String> {
        let Ballot::Findings(findings) = ballot else { return None };
        if findings.is_empty() {
            return Some("no findings".to_owned());
        }
        let of = |severity: Severity| findings.iter().filter(|one| one.severity == severity).count();
        let counts = Severity::WORDS.iter().rev().map(|(word, severity)| (of(*severity), word));
        let counts = counts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
        let noun = if findings.len() == 1 { "finding" } else { "findings" };
        Some(format!("{} {noun}: {}", findings.len(), counts.collect::<Vec<_>>().join(", ")))
    }

    fn listing(&self, ballot: &Ballot) -> Vec<String> {
        let Ballot::Findings(findings) = ballot else { return Vec::new() };
        findings.iter().map(Finding::line).collect()
    }

    fn fields(&self, _form: &BallotForm) -> Vec<FormField> {
        let hint =
            "One per line: severity | file:lines | claim | evidence; none = nothing found; empty = abstain";
        vec![FormField { key: "findings", hint, input: Input::Text(String::new()) }]
    }

    fn read_fields(&self, values: &dyn FormValues) -> Option<Vec<(&'static str, Json)>> {
        let text = values.text("findings");
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let is_none = |lines: &[&str]| matches!(lines, [one] if one.trim().eq_ignore_ascii_case("none"));
        let findings: Json = match lines.as_slice() {
            [] => return None,
            lines if is_none(lines) => json!([]),
            lines => lines.iter().map(|line| typed(line)).collect(),
        };
        Some(vec![("findings", findings)])
    }

    fn rehearse(&self, stage: &Stage<'_>) -> Vec<(&'static str, Json)> {
        let (word, _) = Severity::WORDS[(stage.lot)("severity", Severity::WORDS.len())];
        vec![("findings", json!([{"severity": word, "claim": stage.label}]))]
    }
}

/// A finding as a person types it in one line.
fn typed(line: &str) -> Json {
    let parts: Vec<&str> = line.splitn(4, '|').map(str::trim).collect();
    let (severity, place, claim, evidence) = match parts.as_slice() {
        [severity, claim] => (*severity, "", *claim, ""),
        [severity, place, claim] => (*severity, *place, *claim, ""),
        [severity, place, claim, evidence] => (*severity, *place, *claim, *evidence),
        _ => ("", "", line.trim(), ""),
    };
    let cut = place.rsplit_once(':').filter(|(_, lines)| line_range(lines).is_some());
    let (file, lines) = cut.unwrap_or((place, ""));
    let parts =
        [("file", file), ("lines", lines), ("severity", severity), ("claim", claim), ("evidence", evidence)];
    let given = parts.into_iter().filter(|(_, text)| !text.is_empty());
    Json::Object(given.map(|(key, text)| (key.to_owned(), text.into())).collect())
}

/// One finding, and it as it is kept: its known keys in their order, then others, flagged.
fn finding(answer: &mut AnswerParser<'_>, entries: &Map) -> Result<(Finding, Json), String> {
    let mut kept: JsonMap<String, Json> = JsonMap::new();
    let file = text(answer, entries, "file")?;
    if let Some(file) = &file {
        kept.insert("file".to_owned(), file.as_str().into());
    }
    let lines = lines(answer, entries, file.is_some(), &mut kept)?;
    let needed = "a finding has no `claim`: each has a `severity` and a `claim`";
    let severity =
        text(answer, entries, "severity")?.ok_or_else(|| needed.replacen("claim", "severity", 1))?;
    let severity = Severity::WORDS
        .into_iter()
        .find(|(word, _)| strip_markup(&severity).eq_ignore_ascii_case(word))
        .ok_or_else(|| {
            format!("the `severity` {} is none of low, medium, high and critical", quoted(&severity))
        })?;
    kept.insert("severity".to_owned(), severity.0.into());
    let claim = text(answer, entries, "claim")?.ok_or(needed)?;
    kept.insert("claim".to_owned(), claim.as_str().into());
    let evidence = text(answer, entries, "evidence")?;
    if let Some(evidence) = &evidence {
        kept.insert("evidence".to_owned(), evidence.as_str().into());
    }
    for (key, node) in entries {
        if !KEYS.iter().any(|known| is_named(&key.text, known)) {
            answer.flags.push(not_asked(&format!("findings.{}", key.text)));
            kept.insert(key.text.clone(), node.to_json());
        }
    }
    Ok((Finding { file, lines, severity: severity.1, claim, evidence }, Json::Object(kept)))
}

/// The value of a key; `None` where it is left out.
fn value<'a>(entries: &'a Map, key: &str) -> Result<Option<&'a Node>, String> {
    let mut found = entries.iter().filter(|(known, _)| is_named(&known.text, key)).map(|(_, node)| node);
    let (first, second) = (found.next(), found.next());
    if second.is_some() {
        return Err(format!("the key `{key}` stands twice in a finding: give each key once"));
    }
    let is_given = |node: &&Node| match &node.value {
        Value::Null => false,
        Value::Text(text) => !text.trim().is_empty() && !is_placeholder(text),
        Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => true,
    };
    Ok(first.filter(is_given))
}

fn text(answer: &AnswerParser<'_>, entries: &Map, key: &str) -> Result<Option<String>, String> {
    let Some(node) = value(entries, key)? else { return Ok(None) };
    let text = source_text(node, answer.source)
        .ok_or_else(|| format!("the `{key}` of a finding is {}, text is expected", node.kind()))?;
    Ok(Some(text.trim().to_owned()))
}

/// The lines of a finding: `12`, `12-18` or a list of two numbers. What is none of these is kept and flagged.
fn lines(
    answer: &mut AnswerParser<'_>,
    entries: &Map,
    has_file: bool,
    kept: &mut JsonMap<String, Json>,
) -> Result<Option<(u32, u32)>, String> {
    let Some(node) = value(entries, "lines")? else { return Ok(None) };
    let written = match &node.value {
        Value::List(ends) if ends.len() == 2 => {
            ends.iter().map(|end| source_text(end, answer.source)).collect::<Option<Vec<_>>>()
        }
        _ => source_text(node, answer.source).map(|text| vec![text]),
    };
    let range = written.and_then(|ends| line_range(&ends.join("-")));
    let Some(range) = range.filter(|_| has_file) else {
        let why = if has_file { "are no lines such as `12-18`" } else { "stand beside no `file`" };
        answer.flags.push(format!("the `lines` of a finding {why}: kept, not used"));
        kept.insert("lines".to_owned(), node.to_json());
        return Ok(None);
    };
    let (from, to) = (*range.start(), *range.end());
    kept.insert("lines".to_owned(), lines_text(from, to).into());
    Ok(Some((from, to)))
}

fn lines_text(from: u32, to: u32) -> String {
    if from == to { from.to_string() } else { format!("{from}-{to}") }
}

/// A file and its lines, if they are known: `src/cache.rs:10-80`.
pub fn place(file: &str, lines: Option<(u32, u32)>) -> String {
    lines.map_or_else(|| file.to_owned(), |(from, to)| format!("{file}:{}", lines_text(from, to)))
}

impl Finding {
    /// Its file and lines, such as `src/cache.rs:10-80`.
    pub fn place(&self) -> Option<String> {
        Some(place(self.file.as_deref()?, self.lines))
    }

    pub fn line(&self) -> String {
        let place = self.place().map(|place| format!(" {place}")).unwrap_or_default();
        let evidence = self.evidence.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
        format!("{}{place}: {}{evidence}", self.severity.name(), self.claim)
    }
}

/// `10` or `10-80`, with or without the `L` that some write before a number.
pub fn line_range(text: &str) -> Option<RangeInclusive<u32>> {
    let number = |text: &str| text.trim().trim_start_matches(['L', 'l']).parse::<u32>().ok();
    let (from, to) = text.split_once(['-', '–']).unwrap_or((text, text));
    let (from, to) = (number(from)?, number(to)?);
    (from > 0 && from <= to).then_some(from..=to)
}
