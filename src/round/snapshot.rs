//! Snapshot: every byte of `participant_context` above `your_role`, rendered once.
//!
//! Equal material yields equal bytes. They are hashed once and shared by reference. Only the address lines
//! and the persona that follow differ between seats.

use std::sync::Arc;

use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

use super::material::SnapshotContent;
use crate::ballot::{BallotKind, OptionText};
use crate::yaml::Out;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub text: Arc<str>,
    pub sha256: String,
}

#[cfg(test)]
thread_local! {
    /// Number of snapshots that this thread has rendered.
    pub(crate) static RENDERED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes.as_ref()))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(bytes)
}

impl Snapshot {
    pub fn freeze(material: &SnapshotContent<'_>) -> Self {
        #[cfg(test)]
        RENDERED.set(RENDERED.get() + 1);
        let mut text = String::from("participant_context:\n");
        Out::write_entries(&entries(material), 2, &mut text);
        Self { sha256: sha256_hex(&text), text: text.into() }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct AddressLines<'a> {
    pub role: &'a str,
    /// The facilitator's line to every seat.
    pub directive: Option<&'a str>,
    /// The facilitator's line to this seat.
    pub own_directive: Option<&'a str>,
    pub earlier_ballot: Option<&'a Map<String, Value>>,
    pub option_order: Option<&'a [String]>,
}

pub fn address(lines: AddressLines<'_>) -> String {
    let mut entries = vec![("your_role".into(), Out::text(lines.role))];
    let directives = [("facilitator_directive", lines.directive), ("your_directive", lines.own_directive)];
    entries.extend(directives.into_iter().filter_map(|(key, text)| Some((key.into(), Out::text(text?)))));
    entries.extend(lines.earlier_ballot.map(|own| ("your_earlier_ballot".into(), map(own))));
    let order = lines.option_order.and_then(|order| list(order.iter().map(Out::text)));
    entries.extend(order.map(|order| ("your_option_order".into(), order)));
    let mut text = String::new();
    Out::write_entries(&entries, 2, &mut text);
    text
}

/// Returns the keys and artifacts of a snapshot with their sizes in bytes, largest first.
pub fn largest_parts(snapshot: &str) -> Vec<(String, usize)> {
    let mut parts: Vec<(String, usize)> = Vec::new();
    for line in snapshot.split_inclusive('\n').skip(1) {
        let key = line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '-']));
        let in_artifacts = parts.last().is_some_and(|(name, _)| name.starts_with("artifact"));
        if let Some((key, _)) = key.and_then(|key| key.split_once(':')) {
            parts.push((format!("`{key}`").replace("`artifacts_snapshot`", "artifacts"), line.len()));
        } else if let (true, Some(id)) = (in_artifacts, line.strip_prefix("    - id: ")) {
            parts.push((format!("artifact {}", id.trim()), line.len()));
        } else if let Some((_, bytes)) = parts.last_mut() {
            *bytes += line.len();
        }
    }
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    parts
}

type SnapshotEntries<'a> = Vec<(std::borrow::Cow<'a, str>, Out<'a>)>;

fn entries<'a>(m: &'a SnapshotContent<'a>) -> SnapshotEntries<'a> {
    let mut entries: SnapshotEntries<'a> = Vec::new();
    let mut put = |key: &'static str, value: Option<Out<'a>>| {
        entries.extend(value.map(|value| (key.into(), value)));
    };
    put("project_summary", m.project_summary.filter(|s| !s.is_empty()).map(Out::text));
    put("goal", m.goal.filter(|s| !s.is_empty()).map(Out::text));
    put("constraints", list(m.constraints.iter().map(Out::text)));
    put("current_round", (m.current_round > 0).then(|| Out::Raw(m.current_round.to_string().into())));
    put("question", (!m.question.is_empty()).then(|| Out::text(m.question)));
    put("exploration", m.exploration.filter(|s| !s.is_empty()).map(Out::text));
    put("ballot", ballot(m));
    put(
        "agenda",
        list(m.agenda.iter().map(|item| {
            Out::Map(vec![
                ("id".into(), Out::word(&item.id)),
                ("title".into(), Out::text(&item.title)),
                ("status".into(), Out::text(&item.status)),
            ])
        })),
    );
    put("artifacts_snapshot", Some(Out::List(m.artifacts.iter().map(|a| artifact(a)).collect())));
    put("open_conflicts", list(m.open_conflicts.iter().map(json)));
    put("open_questions", list(m.open_questions.iter().map(json)));
    put("recent_rounds", list(m.recent_rounds.iter().map(json)));
    put("earlier_reasons", list(m.earlier_reasons.iter().map(json)));
    put("earlier_counts", m.earlier_counts.as_ref().map(json));
    put("context", (!m.context.is_empty()).then(|| map(&m.context)));
    put("linked_tasks", (!matches!(m.linked_tasks.as_str(), "" | "{}")).then(|| Out::text(&m.linked_tasks)));
    entries
}

fn map(map: &Map<String, Value>) -> Out<'_> {
    Out::Map(map.iter().map(|(key, value)| (key.as_str().into(), json(value))).collect())
}

fn json(value: &Value) -> Out<'_> {
    Out::json(value, false)
}

fn list<'a>(items: impl Iterator<Item = Out<'a>>) -> Option<Out<'a>> {
    let items: Vec<_> = items.collect();
    (!items.is_empty()).then_some(Out::List(items))
}

fn ballot<'a>(m: &'a SnapshotContent<'a>) -> Option<Out<'a>> {
    let form = m.ballot.filter(|form| form.kind != BallotKind::default())?;
    let mut entries: SnapshotEntries<'a> = vec![("kind".into(), Out::word(form.kind.name()))];
    let option = |id: &'a String| match form.about.get(id) {
        None if form.about.is_empty() => Out::text(id),
        about => {
            let texts = about.into_iter().flat_map(OptionText::entries);
            let texts = texts.map(|(key, text)| (key.into(), Out::text(text)));
            Out::Map(std::iter::once(("id".into(), Out::text(id))).chain(texts).collect())
        }
    };
    entries.extend(list(form.options.iter().map(option)).map(|options| ("options".into(), options)));
    let number = |number: &Number| Out::Raw(number.to_string().into());
    let ends = [("min", &form.min), ("max", &form.max)];
    let scale: SnapshotEntries<'a> =
        ends.iter().filter_map(|(key, end)| Some(((*key).into(), number(end.as_ref()?)))).collect();
    entries.extend((!scale.is_empty()).then(|| ("scale".into(), Out::Map(scale))));
    entries.extend(list(form.cards.iter().map(Out::text)).map(|cards| ("cards".into(), cards)));
    entries.extend(list(form.abstain.iter().map(Out::text)).map(|cards| ("abstain".into(), cards)));
    Some(Out::Map(entries))
}

fn artifact<'a>(artifact: &'a super::material::Artifact) -> Out<'a> {
    let mut entries: SnapshotEntries<'a> =
        vec![("id".into(), Out::word(&artifact.id)), ("summary".into(), Out::text(&artifact.summary))];
    if artifact.relevant {
        let details = artifact.details.iter().filter(|(_, value)| *value != Value::Null);
        entries.extend(details.map(|(key, value)| ((*key).into(), json(value))));
    }
    Out::Map(entries)
}

#[cfg(test)]
mod tests {
    use super::super::material::Artifact;
    use super::*;

    fn example() -> Artifact {
        Artifact {
            id: "REQ-001".into(),
            summary: "...".into(),
            details: Vec::new(),
            relevant: false,
            source: None,
        }
    }

    #[test]
    fn the_documented_example_has_its_published_hash() {
        let artifact = example();
        let snapshot = Snapshot::freeze(&SnapshotContent {
            project_summary: Some("..."),
            current_round: 3,
            question: "What risks do you see?",
            artifacts: vec![&artifact],
            ..SnapshotContent::default()
        });
        assert_eq!(snapshot.text.len(), 163);
        assert_eq!(snapshot.sha256, "b727d2cee6d9a9b4b0e68b404270082455219a3ba65f116bc7a879df881ed400");
        let lines = AddressLines { role: "software-architect", ..AddressLines::default() };
        assert_eq!(address(lines), "  your_role: \"software-architect\"\n");
    }

    #[test]
    fn snapshot_keys_have_a_fixed_order_and_read_back() {
        let mut relevant = example();
        relevant.relevant = true;
        relevant.details = vec![("title", "T".into()), ("acceptance", serde_json::json!(["a", "b"]))];
        let form = crate::ballot::BallotForm::over(BallotKind::Choice, vec!["x y".into()]);
        let context = serde_json::json!({"plan": {"data": [1]}});
        let snapshot = Snapshot::freeze(&SnapshotContent {
            goal: Some("g"),
            constraints: &["c".to_owned()],
            current_round: 1,
            question: "q\nsecond line",
            ballot: Some(&form),
            artifacts: vec![&relevant],
            recent_rounds: vec![serde_json::json!({"round": 1, "question": "p", "outcome": "decided: a"})],
            context: context.as_object().cloned().unwrap_or_default(),
            linked_tasks: "{\n    \"linked_from\": []\n}".to_owned(),
            ..SnapshotContent::default()
        });
        let value = crate::yaml::read(&snapshot.text, "s").unwrap().to_json();
        let inner = value["participant_context"].as_object().unwrap();
        let keys: Vec<&str> = inner.keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "goal",
                "constraints",
                "current_round",
                "question",
                "ballot",
                "artifacts_snapshot",
                "recent_rounds",
                "context",
                "linked_tasks"
            ]
        );
        assert_eq!(inner["artifacts_snapshot"][0]["acceptance"], serde_json::json!(["a", "b"]));
        assert_eq!(inner["question"], "q\nsecond line");
        assert_eq!(inner["linked_tasks"], "{\n    \"linked_from\": []\n}");
    }

    #[test]
    fn the_largest_parts_come_first() {
        let artifact = example();
        let (long, two) = ("long ".repeat(100), [&artifact, &artifact]);
        let snapshot = Snapshot::freeze(&SnapshotContent {
            question: &long,
            artifacts: two.to_vec(),
            ..SnapshotContent::default()
        });
        let parts = largest_parts(&snapshot.text);
        let all: usize = parts.iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(parts[0].0, "`question`");
        assert_eq!(parts[1].0, "artifact REQ-001");
        assert_eq!(all + "participant_context:\n".len(), snapshot.text.len());
    }

    #[test]
    fn hex_round_trips() {
        assert_eq!(unhex::<2>(&hex(&[0, 255])), Some([0, 255]));
        assert_eq!(unhex::<2>("00f"), None);
        assert_eq!(unhex::<1>("é"), None);
    }
}
