//! Evidence of a run: what the definition's artifacts name, and what the command line adds.

use serde_json::{Map, Value};

use super::environment::Environment;
use crate::config::evidence::EvidenceReader;
use crate::core::{Command, decide};
use crate::diagnostic::Diagnostic;
use crate::engine::{ReadEvidence, unrecorded_evidence};
use crate::history::{PROJECT, Session, TimedEvent};
use crate::round::material::Artifact;
use crate::workflow::Definition;

impl Environment {
    /// Reads evidence that files of the project name.
    pub fn evidence_reader(&self) -> EvidenceReader {
        EvidenceReader::of_project(&self.folders, self.config.secrets_allowed.value)
    }
}

/// What of a definition's evidence cannot be read or must not be sent.
pub fn unreadable_evidence(definition: &Definition, file: &str, reader: &EvidenceReader) -> Vec<Diagnostic> {
    let wrong = |artifact: &Artifact| {
        let problem = reader.read(artifact.source.as_ref()?).err()?;
        Some(Diagnostic { message: format!("artifact `{}`: {problem}", artifact.id), place: None, ..problem })
    };
    let problems = definition.artifacts.iter().filter_map(wrong);
    problems.map(|problem| problem.with_file(file)).collect()
}

/// Reads evidence for an engine.
pub fn read_evidence<'a>(reader: EvidenceReader) -> ReadEvidence<'a> {
    Box::new(move |source| reader.read(source).map_err(|problem| problem.to_string()))
}

/// Puts the evidence of the waiting round, and what is given beside it, on record in a session that is
/// only tried out.
///
/// # Errors
/// When it cannot be read.
pub fn with_evidence(
    session: &mut Session,
    given: &[Map<String, Value>],
    reader: EvidenceReader,
) -> Result<(), Diagnostic> {
    let at = session.opened_at;
    let mut commands = evidence_commands(session, given.to_vec());
    for artifact in unrecorded_evidence(session, &mut read_evidence(reader)).map_err(Diagnostic::new)? {
        commands.push(Command::RecordArtifact { artifact, by: PROJECT.to_owned() });
    }
    for command in commands {
        for event in decide(session, command, at).map_err(|refusal| Diagnostic::new(refusal.0))? {
            session.apply(&TimedEvent { at, event });
        }
    }
    Ok(())
}

/// The commands that put evidence of the command line on record, as `EV-1`, `EV-2` and so on.
pub fn evidence_commands(session: &Session, given: Vec<Map<String, Value>>) -> Vec<Command> {
    let artifacts = session.definition.iter().flat_map(|definition| &definition.artifacts);
    let numbers = artifacts.filter_map(|artifact| artifact.id.strip_prefix("EV-")?.parse::<u32>().ok());
    let next = numbers.max().map_or(1, |last| last.saturating_add(1));
    let command = |(number, shown): (u32, Map<String, Value>)| {
        let mut artifact = Map::new();
        artifact.insert("id".to_owned(), format!("EV-{number}").into());
        artifact.insert("summary".to_owned(), shown.get("source").cloned().unwrap_or_default());
        artifact.insert("relevant".to_owned(), true.into());
        artifact.extend(shown);
        Command::RecordArtifact { artifact, by: "facilitator".to_owned() }
    };
    (next..).zip(given).map(command).collect()
}
