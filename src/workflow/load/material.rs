//! Loading numbered material and the agenda.

use serde_json::{Map, Value as Json};

use super::entries::{Entries, Findings};
use crate::ballot::line_range;
use crate::round::material::{AgendaItem, Artifact, DETAILS, EVIDENCE_KEYS, EvidencePlace, EvidenceSource};
use crate::workflow::keys::spec::KeyType::{Any, Flag, Text, Texts, Words};
use crate::workflow::keys::spec::{MapSpec, REQUIRED, key, map};
use crate::yaml::{Node, placed};

pub const ARTIFACT: MapSpec = map(
    "artifact",
    "an artifact",
    &[
        key("id", Text, REQUIRED, "Its id.", "REQ-001"),
        key("summary", Text, "the title", "A line about it.", "\"Search by name\""),
        key("title", Text, "", "Its title.", "Search"),
        key("relevant", Flag, "true with `file`, `diff`", "Whether snapshots hold all its keys.", "true"),
        key("file", Text, "", "A file of the project whose text it shows.", "src/cache.rs"),
        key("lines", Text, "all", "The lines of `file` that it shows.", "10-80"),
        key("diff", Text, "", "Two commits whose difference it shows.", "main...HEAD"),
        key("paths", Texts, "all", "The paths of `diff` that it shows.", "[src]"),
        key(
            "numbers",
            Words(|| vec!["on", "off"]),
            "on",
            "Whether each line stands after its number.",
            "off",
        ),
        key("kind", Any, "", "Its kind.", "requirement"),
        key("status", Any, "", "Its status.", "draft"),
        key("priority", Any, "", "Its priority.", "high"),
        key("description", Any, "", "Its description.", "\"Users search by name.\""),
        key("content", Any, "", "Its text.", "\"…\""),
        key("acceptance", Any, "", "Its acceptance criteria.", "[\"finds a name in 1 s\"]"),
    ],
);

pub const AGENDA_ITEM: MapSpec = map(
    "agenda_item",
    "an agenda item",
    &[
        key("id", Text, "the title", "Its id.", "caching"),
        key("title", Text, "the id", "Its title.", "Caching"),
        key("status", Text, "open", "Its status.", "closed"),
    ],
);

/// Returns the source of an artifact's content: `file` with or without `lines`, or `diff` with or without
/// `paths`.
fn source(artifact: Entries<'_>) -> Option<EvidenceSource> {
    let numbers = artifact.word("numbers", &[("on", true), ("off", false)]).unwrap_or(true);
    let (file, diff) = (artifact.text("file"), artifact.text("diff"));
    if diff.is_some() && file.is_some() {
        artifact.refuse(artifact.node, "an artifact has both `file` and `diff`", "make it two artifacts");
    }
    let place = match (file, diff) {
        (None, None) => return None,
        (Some(path), _) => {
            let lines = artifact.text("lines");
            let range = lines.as_deref().and_then(line_range);
            if let (Some(node), None) = (artifact.node("lines"), &range) {
                artifact.refuse(node, "`lines` is no range of lines", "write it as in `10-80`");
            }
            EvidencePlace::File { path, lines: range }
        }
        (None, Some(range)) => EvidencePlace::Diff { range, paths: artifact.texts("paths") },
    };
    if let Some(node) = artifact.node("content") {
        artifact.refuse(
            node,
            "`content` of an artifact with a source is read from it",
            "leave `content` out",
        );
    }
    Some(EvidenceSource { place, numbers })
}

pub fn artifacts(entries: Entries<'_>) -> Vec<Artifact> {
    let mut artifacts: Vec<Artifact> = Vec::new();
    for inner in entries.maps("artifacts") {
        let artifact = artifact(inner);
        let id = &artifact.id;
        if !id.is_empty() && artifacts.iter().any(|other| other.id == *id) {
            inner.refuse(inner.node, format!("duplicate artifact id `{id}`"), "give each its own id");
        }
        artifacts.push(artifact);
    }
    artifacts
}

fn artifact(inner: Entries<'_>) -> Artifact {
    let title = inner.text("title");
    let source = source(inner);
    let named = source.as_ref().map(|source| source.place.name());
    let summary = inner.text("summary").or_else(|| title.clone()).or(named);
    if !inner.has("summary") && !inner.has("title") && source.is_none() {
        inner.refuse(inner.node, "an artifact has no `summary` or `title`", "add `summary: \"…\"`");
    }
    let mut details = Vec::new();
    details.extend(title.map(|title| ("title", title.into())));
    for key in DETAILS.into_iter().skip(1).filter(|key| source.is_none() || !EVIDENCE_KEYS.contains(key)) {
        details.extend(inner.node(key).map(|node| (key, Node::to_json(node))));
    }
    let relevant = inner.flag("relevant").unwrap_or(source.is_some());
    let id = inner.text("id").unwrap_or_default();
    Artifact { id, summary: summary.unwrap_or_default(), details, relevant, source }
}

/// An artifact as it is on record; it was checked before.
pub fn recorded_artifact(recorded: &Map<String, Json>) -> Artifact {
    let node = placed(recorded.clone().into(), &Node::default());
    let found = Findings::new("");
    Entries::of(&node, &found).map(artifact).unwrap_or_default()
}

pub fn agenda(entries: Entries<'_>) -> Vec<AgendaItem> {
    let item = |inner: Entries<'_>| {
        let title = inner.text("title");
        let id = inner.text("id").or_else(|| title.clone()).unwrap_or_default();
        let status = inner.text("status").unwrap_or_else(|| "open".to_owned());
        AgendaItem { title: title.unwrap_or_else(|| id.clone()), id, status, reason: None }
    };
    entries.maps("agenda").map(item).collect()
}
