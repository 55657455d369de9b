//! Ballot kind `findings`: findings with a severity, a claim and an optional place.
//!
//! Findings are collected and grouped, not counted. An empty list is a valid answer. Unreadable line numbers
//! are flagged and stored as given, but not used.

use std::ops::RangeInclusive;

use serde_json::{Value as Json, json};

use super::answer_schema::{list, object, word_enum};
use super::kind::{KindInfo, KindSpec, RehearsalInput};
use super::model::{Ballot, BallotForm, Finding, Severity};
use super::parse::AnswerParser;
use super::parse::answer::{entry, list_entries};
use super::parse::scalar::{is_given, quoted, source_text, strip_markup};
use crate::yaml::{Map, Node, Value};

const NEEDED: &str = "has a `severity` and a `claim`";
const KEYS: [&str; 5] = ["file", "lines", "severity", "claim", "evidence"];

pub(super) struct FindingsKind;

impl KindSpec for FindingsKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            keys: &["findings"],
            hint: "One per line: severity | file:lines | claim | evidence; none = nothing found; empty = abstain",
            is_text: true,
            example: "findings:\n  - file: \"<path; leave it out if there is none>\"\n    lines: \"<from-to>\"\n    \
                      severity: \"<low | medium | high | critical>\"\n    claim: \"<what is wrong, in a sentence>\"\n    \
                      evidence: \"<what shows it>\"\n",
            detail: "Give each finding its severity and its claim; `file`, `lines` and `evidence` if you know them. \
                     Give an empty list if you found nothing.",
            instead_of: "the findings",
            description: "findings, each with a severity and a claim, and file, lines and evidence if known",
            length: "every finding, or an empty list",
            ..KindInfo::default()
        }
    }

    fn schemas(&self, _form: &BallotForm) -> Vec<Json> {
        let schema = |key: &str| match key {
            "severity" => word_enum(Severity::WORDS.map(|(word, _)| word)),
            "claim" => json!({"type": "string"}),
            _ => json!({"type": ["string", "null"]}),
        };
        let finding = object(KEYS.map(|key| (key, schema(key))));
        vec![json!({"anyOf": [list(&finding), word_enum(["abstain"])]})]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let found =
            list_entries("finding", NEEDED, value)?.into_iter().map(|entries| finding(answer, entries));
        let (findings, kept): (Vec<Finding>, Vec<Json>) = found.collect::<Result<_, _>>()?;
        Ok((Ballot::Findings(findings), kept.into()))
    }

    fn typed(&self, text: &str) -> Json {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        if text.eq_ignore_ascii_case("none") { json!([]) } else { lines.map(typed).collect() }
    }

    fn rehearse(&self, input: &RehearsalInput<'_>) -> Vec<(&'static str, Json)> {
        let (word, _) = Severity::WORDS[(input.lot)("severity", Severity::WORDS.len())];
        vec![("findings", json!([{"severity": word, "claim": input.label}]))]
    }
}

/// Parses a typed line: `severity | file:lines | claim | evidence`, the file and the evidence optional.
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

/// Parses one finding and returns it with its stored form: known keys in order, then flagged others.
fn finding(answer: &mut AnswerParser<'_>, entries: &Map) -> Result<(Finding, Json), String> {
    let text = |answer: &mut AnswerParser<'_>, key| answer.entry_text("findings", entries, key);
    let needed = |key: &str| format!("a finding has no `{key}`: each {NEEDED}");
    let file = text(answer, "file")?;
    let (lines, kept_lines) = lines(answer, entries, file.is_some())?;
    let word = text(answer, "severity")?.ok_or_else(|| needed("severity"))?;
    let known = Severity::WORDS.into_iter().find(|(name, _)| strip_markup(&word).eq_ignore_ascii_case(name));
    let (_, severity) = known.ok_or_else(|| {
        format!("the `severity` {} is none of low, medium, high and critical", quoted(&word))
    })?;
    let claim = text(answer, "claim")?.ok_or_else(|| needed("claim"))?;
    let evidence = text(answer, "evidence")?;
    let own = [
        ("file", file.as_deref().map(Json::from)),
        ("lines", kept_lines),
        ("severity", Some(severity.name().into())),
        ("claim", Some(claim.as_str().into())),
        ("evidence", evidence.as_deref().map(Json::from)),
    ];
    let mut kept = own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    answer.keep_others("findings", entries, &KEYS, &mut kept);
    let file = file.as_deref().map(plain_path);
    Ok((Finding { file, lines, severity, claim, evidence }, Json::Object(kept)))
}

/// Normalizes a path, so that `./a.rs` and `a.rs` are the same file.
fn plain_path(path: &str) -> String {
    let path = path.trim().trim_matches('`');
    let root = if path.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.is_empty() { path.to_owned() } else { format!("{root}{}", parts.join("/")) }
}

/// First and last line of a finding.
type LineRange = Option<(u32, u32)>;

/// Parses the lines of a finding, `12`, `12-18` or a list of two numbers, and returns their stored form.
/// Other values, and lines without a file, are flagged and not used.
fn lines(
    answer: &mut AnswerParser<'_>,
    entries: &Map,
    has_file: bool,
) -> Result<(LineRange, Option<Json>), String> {
    let node = entry(entries, "findings", "lines")?;
    let Some(node) = node.filter(|node| is_given(node)) else { return Ok((None, None)) };
    let written = match &node.value {
        Value::List(ends) if ends.len() == 2 => {
            ends.iter().map(|end| source_text(end, answer.source)).collect::<Option<Vec<_>>>()
        }
        _ => source_text(node, answer.source).map(|text| vec![text]),
    };
    let range = written.and_then(|ends| line_range(&ends.join("-")));
    let Some(range) = range.filter(|_| has_file) else {
        let why = if has_file { "are no lines such as `12-18`" } else { "have no `file`" };
        answer.flags.push(format!("the `lines` of a finding {why}: kept, not used"));
        return Ok((None, Some(node.to_json())));
    };
    let (from, to) = range.into_inner();
    Ok((Some((from, to)), Some(lines_text(from, to).into())))
}

fn lines_text(from: u32, to: u32) -> String {
    if from == to { from.to_string() } else { format!("{from}-{to}") }
}

/// Formats counts such as "3 findings: 1 critical, 2 low" or "no findings".
pub fn count_by_severity(found: impl Iterator<Item = Severity> + Clone) -> String {
    let of = |severity: Severity| found.clone().filter(|one| *one == severity).count();
    let counts = Severity::WORDS.iter().rev().map(|(word, severity)| (of(*severity), word));
    let counts = counts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    match found.count() {
        0 => "no findings".to_owned(),
        1 => format!("1 finding: {counts}"),
        all => format!("{all} findings: {counts}"),
    }
}

/// Formats a place such as `src/cache.rs:10-80`.
pub fn place(file: &str, lines: Option<(u32, u32)>) -> String {
    lines.map_or_else(|| file.to_owned(), |(from, to)| format!("{file}:{}", lines_text(from, to)))
}

impl Finding {
    /// Returns the place, such as `src/cache.rs:10-80`; `None` without a file.
    pub fn place(&self) -> Option<String> {
        Some(place(self.file.as_deref()?, self.lines))
    }

    pub fn line(&self) -> String {
        let place = self.place().map(|place| format!(" {place}")).unwrap_or_default();
        let evidence = self.evidence.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
        format!("{}{place}: {}{evidence}", self.severity.name(), self.claim)
    }
}

/// Parses `10` or `10-80`, with an optional `L` before each number.
pub fn line_range(text: &str) -> Option<RangeInclusive<u32>> {
    let number = |text: &str| text.trim().trim_start_matches(['L', 'l']).parse::<u32>().ok();
    let (from, to) = text.split_once(['-', '–']).unwrap_or((text, text));
    let (from, to) = (number(from)?, number(to)?);
    (from > 0 && from <= to).then_some(from..=to)
}
