//! Evidence of a run: what the definition's artifacts name, and what the command line adds.

use serde_json::{Map, Value};

use super::environment::Environment;
use super::needs::file_of;
use crate::config::evidence::{EvidenceReader, SecretPolicy};
use crate::config::need::{Need, What};
use crate::core::{Command, decide};
use crate::diagnostic::Diagnostic;
use crate::engine::{ReadEvidence, unrecorded_evidence};
use crate::history::{PROJECT, Session, TimedEvent};
use crate::round::material::Artifact;
use crate::workflow::Definition;

impl Environment {
    /// Reads evidence that a definition names, to look at it; nothing of it is sent.
    pub fn looking_reader(&self, definition: &Definition) -> EvidenceReader {
        let is_allowed = self.config.secrets_allowed || definition.secrets_allowed;
        EvidenceReader::of_project(&self.folders, SecretPolicy::allow_if(is_allowed))
    }

    pub(super) fn sending_reader(&self, session: &Session) -> Result<EvidenceReader, Vec<Diagnostic>> {
        if self.config.secrets_allowed {
            return Ok(EvidenceReader::of_project(&self.folders, SecretPolicy::Allow));
        }
        let mut agreed = Vec::new();
        for need in self.secrets(session) {
            self.trust.check(&need)?;
            if let What::Secret { secret, .. } = need.what {
                agreed.push(secret.sha256);
            }
        }
        Ok(EvidenceReader::of_project(&self.folders, SecretPolicy::Agreed(agreed)))
    }

    /// Returns the evidence that looks like a secret and that the definition sends all the same.
    pub(super) fn secrets(&self, session: &Session) -> Vec<Need> {
        let definition = session.definition.iter().filter(|definition| definition.secrets_allowed);
        let definition = definition.filter(|_| !self.config.secrets_allowed);
        let reader = EvidenceReader::of_project(&self.folders, SecretPolicy::Allow);
        let need = |artifact: &Artifact| {
            let source = artifact.source.as_ref()?;
            // Unreadable evidence is refused when it is sent.
            let secret = reader.secret(source).ok()??;
            let what = What::Secret { source: source.place.name(), secret };
            Some(Need { what, named_by: Some(file_of(session).to_owned()) })
        };
        definition.flat_map(|definition| definition.artifacts.iter().filter_map(need)).collect()
    }
}

/// Returns the evidence of a definition that cannot be read or must not be sent.
pub fn unreadable_evidence(definition: &Definition, file: &str, reader: &EvidenceReader) -> Vec<Diagnostic> {
    let wrong = |artifact: &Artifact| {
        let problem = reader.read(artifact.source.as_ref()?).err()?;
        Some(Diagnostic { message: format!("artifact `{}`: {problem}", artifact.id), place: None, ..problem })
    };
    let problems = definition.artifacts.iter().filter_map(wrong);
    problems.map(|problem| problem.with_file(file)).collect()
}

pub fn read_evidence<'a>(reader: EvidenceReader) -> ReadEvidence<'a> {
    Box::new(move |source| reader.read(source).map_err(|problem| problem.to_string()))
}

/// Puts the evidence of the waiting round, and what is given beside it, on record in a session that is
/// only tried out. Returns the events that record it.
pub fn with_evidence(
    session: &mut Session,
    given: &[Map<String, Value>],
    reader: EvidenceReader,
) -> Result<Vec<TimedEvent>, Diagnostic> {
    let at = session.opened_at;
    let mut commands = evidence_commands(session, given.to_vec());
    for artifact in unrecorded_evidence(session, &mut read_evidence(reader)).map_err(Diagnostic::new)? {
        commands.push(Command::RecordArtifact { artifact, by: PROJECT.to_owned() });
    }
    let mut recorded = Vec::new();
    for command in commands {
        for event in decide(session, command, at).map_err(|refusal| Diagnostic::new(refusal.to_string()))? {
            let event = TimedEvent { at, event };
            session.apply(&event);
            recorded.push(event);
        }
    }
    Ok(recorded)
}

/// The commands that put evidence of the command line on record, as `EV-1`, `EV-2` and so on.
pub fn evidence_commands(session: &Session, given: Vec<Map<String, Value>>) -> Vec<Command> {
    let artifacts = session.definition.iter().flat_map(|definition| &definition.artifacts);
    let numbers = artifacts.filter_map(|artifact| artifact.id.strip_prefix("EV-")?.parse::<u32>().ok());
    let next = numbers.max().map_or(1, |last| last.saturating_add(1));
    let record = |artifact| Command::RecordArtifact { artifact, by: "facilitator".to_owned() };
    (next..).zip(given).map(|(number, shown)| record(numbered_evidence(number, shown))).collect()
}

/// Evidence as an artifact: its id is `EV-` and the number.
pub fn numbered_evidence(number: u32, shown: Map<String, Value>) -> Map<String, Value> {
    let mut artifact = Map::new();
    artifact.insert("id".to_owned(), format!("EV-{number}").into());
    artifact.insert("summary".to_owned(), shown.get("source").cloned().unwrap_or_default());
    artifact.insert("relevant".to_owned(), true.into());
    artifact.extend(shown);
    artifact
}
