//! Material from other files: tasks, linked sessions and evidence.

use std::path::Path;

use serde_json::{Map, Value};

use super::environment::Environment;
use super::needs::file_of;
use crate::config::dirs::Dirs;
use crate::config::evidence::{EvidenceReader, SecretPolicy};
use crate::config::need::{Need, NeedKind};
use crate::config::tasks::TaskFile;
use crate::config::{PathPolicy, read_text};
use crate::core::{Command, decide};
use crate::diagnostic::Diagnostic;
use crate::engine::{ReadEvidence, unrecorded_evidence};
use crate::history::{LinkedSession, PROJECT, Session, TimedEvent};
use crate::journal::{fold, read_log};
use crate::report;
use crate::round::material::Artifact;
use crate::workflow::load::entries::Findings;
use crate::workflow::{Definition, TASKS_FILE, Tasks};

/// Limit of a linked session, in bytes.
const MAX_LINKED: u64 = 256 * 1024 * 1024;

/// Texts of the files from which the tasks were read.
#[derive(Debug, Clone, Default)]
pub struct TaskTexts {
    pub file: Option<String>,
    pub state: Option<String>,
}

/// Adds the tasks of the definition's file, or else of the project's, to a definition. Also returns the texts
/// they were read from.
///
/// `problems` concern only the definition's own task file. `doubts`, such as an unreadable file of the project,
/// do not stop a session.
pub fn with_tasks(definition: Definition, file: &str, folders: &Dirs) -> (Tasks, TaskTexts) {
    let mut doubts: Vec<Diagnostic> =
        definition.tasks.iter().filter_map(|task| Some(task.doubt.clone()?.with_file(file))).collect();
    let tracker = definition.tracker.clone();
    let texts = match &tracker {
        Some(tracker) => {
            let tasks = TaskFile::new(folders, &tracker.file);
            let texts = tasks.read().and_then(|text| Ok((Some(text), tasks.read_state()?)));
            texts.map_err(|problem| problem.at(file, tracker.place.0, tracker.place.1))
        }
        None => folders.tasks().map_err(|problem| problem.with_file(TASKS_FILE)),
    };
    let without = |definition, problems| Tasks { definition, problems, doubts: Vec::new() };
    let (tasks, texts) = match texts {
        Ok((Some(text), state)) => {
            (definition.with_tasks(&text, state.as_deref()), TaskTexts { file: Some(text), state })
        }
        Ok((None, _)) => (without(definition, Vec::new()), TaskTexts::default()),
        Err(problem) => (without(definition, vec![problem]), TaskTexts::default()),
    };
    if tracker.is_some() {
        return (tasks, texts);
    }
    doubts.extend(tasks.problems.into_iter().chain(tasks.doubts));
    (Tasks { definition: tasks.definition, problems: Vec::new(), doubts }, texts)
}

/// Reads the saved sessions that a definition links, next to its file or else in the current folder. Also
/// returns the errors of unreadable ones.
pub fn linked_sessions(
    definition: &Definition,
    file: &str,
    bounds: &PathPolicy,
) -> (Vec<LinkedSession>, Vec<Diagnostic>) {
    let (mut sessions, mut problems): (Vec<LinkedSession>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for link in &definition.links {
        for id in [&link.from, &link.to] {
            let is_file = Path::new(id).extension().is_some_and(|extension| extension == "s2s");
            if !is_file || sessions.iter().any(|known| known.id == *id) {
                continue;
            }
            match read(id, file, bounds) {
                Ok(session) => sessions.push(session),
                Err(problem) => problems
                    .push(problem.at(file, link.place.0, link.place.1).hint("nothing of it is handed over")),
            }
        }
    }
    (sessions, problems)
}

/// Returns a session's outcome, or else its last result.
fn outcome(session: &Session) -> String {
    let last = || session.results.values().last().filter(|result| result.success);
    report::outcome(session).or_else(|| Some(last()?.data.to_string())).unwrap_or_default()
}

fn read(id: &str, file: &str, bounds: &PathPolicy) -> Result<LinkedSession, Diagnostic> {
    let beside = Path::new(file).parent().filter(|folder| folder.join(id).is_file());
    let folder = beside.unwrap_or(Path::new(""));
    let unread = |why: String| Diagnostic::new(format!("linked session `{id}` cannot be read: {why}"));
    bounds.check_named(folder, id).map_err(|problem| unread(problem.message))?;
    let text = read_text(&folder.join(id), MAX_LINKED).map_err(|problem| unread(problem.message))?;
    let log = read_log(text.as_bytes()).map_err(|damage| unread(damage.what))?;
    if log.lines.is_empty() {
        return Err(unread("it contains no complete event".to_owned()));
    }
    let head = log.lines.last().map(|line| line.hash.clone());
    let session = fold(&log);
    let title = session.definition().goal.clone();
    let asked = session.rounds.first().map(|round| round.opened.question.clone());
    let status = match &session.closed {
        Some(closed) => closed.status.name(),
        None if session.paused.is_some() => "paused",
        None => "open",
    };
    Ok(LinkedSession {
        id: id.to_owned(),
        session: session.id.clone(),
        sha256: head.unwrap_or_default(),
        title: title.or(asked).unwrap_or_else(|| session.id.clone()),
        status: status.to_owned(),
        created_at: session.opened_at.to_string(),
        reported_at: session.last_at.to_string(),
        report: outcome(&session),
    })
}

impl Environment {
    /// Returns a reader for previews of the definition's evidence; nothing is sent.
    pub fn preview_reader(&self, definition: &Definition) -> EvidenceReader {
        let is_allowed = self.config.secrets_allowed || definition.secrets_allowed;
        EvidenceReader::of_project(&self.folders, SecretPolicy::allow_if(is_allowed))
    }

    pub(super) fn sending_reader(&self, session: &Session) -> EvidenceReader {
        let agreed = self.secrets(session).into_iter().filter(|need| self.trust.allows(need));
        let agreed = agreed.filter_map(|need| match need.what {
            NeedKind::Secret { secret, .. } => Some(secret.sha256),
            _ => None,
        });
        let is_allowed = self.config.secrets_allowed;
        let policy = if is_allowed { SecretPolicy::Allow } else { SecretPolicy::Agreed(agreed.collect()) };
        EvidenceReader::of_project(&self.folders, policy)
    }

    /// Returns the evidence that looks like a secret and that the definition nevertheless allows to send.
    pub(super) fn secrets(&self, session: &Session) -> Vec<Need> {
        let definition = session.definition();
        if self.config.secrets_allowed || !definition.secrets_allowed {
            return Vec::new();
        }
        let reader = EvidenceReader::of_project(&self.folders, SecretPolicy::Allow);
        let need = |artifact: &Artifact| {
            let source = artifact.source.as_ref()?;
            // Unreadable evidence is refused when it is sent.
            let secret = reader.secret(source).ok()??;
            let what = NeedKind::Secret { source: source.place.name(), secret };
            Some(Need { what, named_by: Some(file_of(session).to_owned()) })
        };
        definition.artifacts.iter().filter_map(need).collect()
    }
}

/// Reports evidence of a definition that cannot be read or must not be sent.
pub fn check_evidence(definition: &Definition, reader: &EvidenceReader, found: &Findings<'_>) {
    for artifact in &definition.artifacts {
        if let Some(source) = &artifact.source
            && let Err(problem) = reader.read(source)
        {
            let message = format!("artifact `{}`: {problem}", artifact.id);
            found.add_at(source.written_at, Diagnostic { message, place: None, ..problem });
        }
    }
}

pub fn read_evidence<'a>(reader: EvidenceReader) -> ReadEvidence<'a> {
    Box::new(move |source| reader.read(source).map_err(|problem| problem.to_string()))
}

/// Records the evidence of the next round and of the command line in a preview session. Returns the events.
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

/// Returns the commands that record the command line's evidence, as `EV-1`, `EV-2` and so on.
pub fn evidence_commands(session: &Session, given: Vec<Map<String, Value>>) -> Vec<Command> {
    let artifacts = &session.definition().artifacts;
    let numbers =
        artifacts.iter().filter_map(|artifact| artifact.id.strip_prefix("EV-")?.parse::<u32>().ok());
    let next = numbers.max().map_or(1, |last| last.saturating_add(1));
    let record = |artifact| Command::RecordArtifact { artifact, by: "facilitator".to_owned() };
    (next..).zip(given).map(|(number, shown)| record(numbered_evidence(number, shown))).collect()
}

/// Returns evidence as an artifact with the id `EV-` and the number.
pub fn numbered_evidence(number: u32, shown: Map<String, Value>) -> Map<String, Value> {
    let mut artifact = Map::new();
    artifact.insert("id".to_owned(), format!("EV-{number}").into());
    artifact.insert("summary".to_owned(), shown.get("source").cloned().unwrap_or_default());
    artifact.insert("relevant".to_owned(), true.into());
    artifact.extend(shown);
    artifact
}
