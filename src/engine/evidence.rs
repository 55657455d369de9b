//! Evidence of a round: read from the project when the round is drafted, and recorded.
//!
//! A snapshot uses only recorded evidence, never the files. Files that changed since are recorded again before
//! the next draft, and a draft reviewed before the change is refused.

use serde_json::{Map, Value};

use super::state::{Engine, ReadEvidence};
use crate::core::Command;
use crate::history::{PROJECT, Session};
use crate::round::snapshot::largest_parts;

impl Engine<'_> {
    /// Records the current content of the waiting round's sources if it is not recorded yet. Returns the ids of
    /// artifacts whose recorded content has changed.
    pub(super) fn refresh_evidence(&mut self) -> Result<Vec<String>, String> {
        let mut changed = Vec::new();
        for artifact in unrecorded_evidence(&self.session, &mut self.config.evidence)? {
            let id = artifact["id"].as_str().unwrap_or_default();
            let known = self.session.definition().artifacts.iter();
            let known = known.filter(|known| known.id == id && known.detail("content").is_some());
            changed.extend(known.map(|known| known.id.clone()));
            let command = Command::RecordArtifact { artifact, by: PROJECT.to_owned() };
            self.stage(command).map_err(|refusal| refusal.to_string())?;
        }
        Ok(changed)
    }
}

/// Returns the waiting round's artifacts with the current content of their sources, if not recorded yet.
///
/// # Errors
/// Returns the artifact's id and a reason if a source cannot be read or is not allowed.
pub fn unrecorded_evidence(
    session: &Session,
    read: &mut ReadEvidence<'_>,
) -> Result<Vec<Map<String, Value>>, String> {
    let Some((_, round)) = session.waiting_round() else { return Ok(Vec::new()) };
    let mut unrecorded = Vec::new();
    let known = &session.definition().artifacts;
    for artifact in known.iter().filter(|artifact| round.artifacts.includes(&artifact.id)) {
        let Some(source) = &artifact.source else { continue };
        let found = read(source).map_err(|why| format!("artifact `{}`: {why}", artifact.id))?;
        if found.iter().all(|(key, value)| artifact.detail(key) == Some(value)) {
            continue;
        }
        let named = [("id", &artifact.id), ("summary", &artifact.summary)];
        let named = named.map(|(key, text)| (key.to_owned(), text.as_str().into()));
        unrecorded.push(named.into_iter().chain(found).collect());
    }
    Ok(unrecorded)
}

/// Describes a snapshot that is too large to send: its size, the limit and its largest parts, in bytes.
pub(super) fn too_large(snapshot: &str, most: usize) -> String {
    let parts = largest_parts(snapshot);
    let named: Vec<String> =
        parts.iter().take(3).map(|(name, bytes)| format!("{name} ({bytes} bytes)")).collect();
    format!(
        "the snapshot has {} bytes, and `max_snapshot_bytes` is {most}; its largest parts: {}",
        snapshot.len(),
        named.join(", ")
    )
}
