//! Loader of artifacts and agenda items.

use serde_json::{Map, Value as Json};

use super::entries::{Entries, Findings, keys};
use crate::ballot::line_range;
use crate::round::material::{AgendaItem, Artifact, DETAILS, EVIDENCE_KEYS, EvidencePlace, EvidenceSource};
use crate::workflow::keys::spec::KeyType::Words;
use crate::workflow::keys::spec::{REQUIRED, key};
use crate::yaml::{Node, placed};

keys! {
    pub struct ArtifactKeys as "artifact" ("an artifact") {
        id: String = key("id", REQUIRED, "Its id.", "REQ-001"),
        summary: Option<String> = key("summary", "the title", "A line about it.", "\"Search by name\""),
        title: Option<String> = key("title", "", "Its title.", "Search"),
        relevant: Option<bool> =
            key("relevant", "true with `file`, `diff`", "Whether snapshots hold all its keys.", "true"),
        file: Option<String> = key("file", "", "A file of the project whose text it shows.", "src/cache.rs"),
        lines: Option<String> = key("lines", "all", "The lines of `file` that it shows.", "10-80"),
        diff: Option<String> = key("diff", "", "Two commits whose difference it shows.", "main...HEAD"),
        paths: Vec<String> = key("paths", "all", "The paths of `diff` that it shows.", "[src]"),
        is_unnumbered: bool as (Words(|| vec!["on", "off"])) =
            key("numbers", "on", "Whether lines are numbered.", "off"),
    } also {
        key("kind", "", "Its kind.", "requirement"),
        key("status", "", "Its status.", "draft"),
        key("priority", "", "Its priority.", "high"),
        key("description", "", "Its description.", "\"Users search by name.\""),
        key("content", "", "Its text.", "\"…\""),
        key("acceptance", "", "Its acceptance criteria.", "[\"finds a name in 1 s\"]"),
    }
}

keys! {
    pub struct AgendaKeys as "agenda_item" ("an agenda item") {
        id: Option<String> = key("id", "the title", "Its id.", "caching"),
        title: Option<String> = key("title", "the id", "Its title.", "Caching"),
        status: Option<String> = key("status", "open", "Its status.", "closed"),
    }
}

/// Returns the source of an artifact's content: a `file` or a `diff`, if it has one.
fn source(keys: &ArtifactKeys, entries: Entries<'_>) -> Option<EvidenceSource> {
    let place = match (keys.file.clone(), keys.diff.clone()) {
        (None, None) => return None,
        (Some(path), diff) => {
            if diff.is_some() {
                entries.refuse(
                    entries.node,
                    "an artifact has both `file` and `diff`",
                    "make it two artifacts",
                );
            }
            let lines = keys.lines.as_deref().and_then(line_range);
            if let (Some(node), None) = (entries.node("lines"), &lines) {
                entries.refuse(node, "`lines` is no range of lines", "write it as in `10-80`");
            }
            EvidencePlace::File { path, lines }
        }
        (None, Some(range)) => EvidencePlace::Diff { range, paths: keys.paths.clone() },
    };
    if let Some(node) = entries.node("content") {
        let message = "`content` of an artifact with a source is read from it";
        entries.refuse(node, message, "leave `content` out");
    }
    Some(EvidenceSource { place, numbers: !keys.is_unnumbered, written_at: entries.place() })
}

pub fn artifacts(entries: Entries<'_>) -> Vec<Artifact> {
    entries.unique("artifacts", "artifact", artifact, |artifact| &artifact.id)
}

fn artifact(inner: Entries<'_>) -> Artifact {
    let keys = ArtifactKeys::read(inner);
    let source = source(&keys, inner);
    let named = source.as_ref().map(|source| source.place.name());
    let ArtifactKeys { id, summary, title, relevant, .. } = keys;
    let summary = summary.or_else(|| title.clone()).or(named);
    if !inner.has("summary") && !inner.has("title") && source.is_none() {
        inner.refuse(inner.node, "an artifact has no `summary` or `title`", "add `summary: \"…\"`");
    }
    let mut details = Vec::new();
    details.extend(title.map(|title| ("title", title.into())));
    for key in DETAILS.into_iter().skip(1).filter(|key| source.is_none() || !EVIDENCE_KEYS.contains(key)) {
        details.extend(inner.node(key).map(|node| (key, Node::to_json(node))));
    }
    let relevant = relevant.unwrap_or(source.is_some());
    Artifact { id, summary: summary.unwrap_or_default(), details, relevant, source }
}

/// Reads an artifact of an event; it was checked before it was recorded.
pub fn recorded_artifact(recorded: &Map<String, Json>) -> Artifact {
    let node = placed(recorded.clone().into(), &Node::default());
    let found = Findings::new("");
    Entries::from_node(&node, &found).map(artifact).unwrap_or_default()
}

pub fn agenda(entries: Entries<'_>) -> Vec<AgendaItem> {
    let item = |inner: Entries<'_>| {
        let AgendaKeys { id, title, status } = AgendaKeys::read(inner);
        let id = id.or_else(|| title.clone()).unwrap_or_default();
        let status = status.unwrap_or_else(|| "open".to_owned());
        AgendaItem { title: title.unwrap_or_else(|| id.clone()), id, status, reason: None }
    };
    entries.maps("agenda").map(item).collect()
}
