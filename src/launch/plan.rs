//! Plan of a session: its definition, and the options of the run.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::error::each_once;
use super::material::{TaskTexts, linked_sessions, with_tasks};
use super::scripted_answers::Answers;
use crate::config::PathPolicy;
use crate::config::dirs::Dirs;
use crate::config::read_file::{read_input, read_text};
use crate::diagnostic::Diagnostic;
use crate::history::{LinkedSession, Session};
use crate::workflow::{
    CheckedDefinition, Definition, MAX_DEFINITION, OtherFiles, Source, default_id, examine, unknown_tasks,
};

/// Options of a run, the same for every front end.
#[derive(Debug, Clone, Default)]
pub struct LaunchOptions {
    pub mode: RunMode,
    pub flags: ModelFlags,
    /// Participants to use, in this order; empty for the definition's.
    pub participants: Vec<String>,
    /// Seats that people fill by links, instead of their models.
    pub invited: Vec<String>,
    pub input: Option<String>,
    pub seed: Option<u64>,
    pub max_usd: Option<f64>,
    pub answers: Answers,
    pub rehearse: bool,
    /// Preview only: no seat is asked, so none needs a model.
    pub is_preview: bool,
    /// Evidence in addition to the definition's, as shown in a snapshot.
    pub evidence: Vec<Map<String, Value>>,
}

impl LaunchOptions {
    pub fn is_headless(&self) -> bool {
        self.mode == RunMode::Headless
    }

    /// Returns true if options choose participants or models; the definition's seat answers are then unused.
    pub fn names_others(&self) -> bool {
        let names_model = self.flags.all.is_some() || !self.flags.named.is_empty();
        self.rehearse || names_model || !self.participants.is_empty() || !self.invited.is_empty()
    }

    /// Returns the scripted answers of an opened session: those of the file, and the definition's for the steps
    /// that were scripted at opening.
    pub fn answers_of(&self, session: &Session) -> Answers {
        let opened_so = |step: &str| session.roster.values().any(|seat| seat.is_scripted(step));
        self.answers.clone().with_written(session.definition(), opened_so)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunMode {
    /// Checks a definition, or previews its run.
    #[default]
    Check,
    Headless,
    /// The draft shows each seat whose program is missing; in a round it fails with the reason.
    Screen,
}

#[derive(Debug, Clone, Default)]
pub struct ModelFlags {
    pub all: Option<String>,
    pub named: HashMap<String, String>,
}

impl ModelFlags {
    pub fn parse(values: &[String]) -> Self {
        let mut flags = Self::default();
        for value in values {
            match value.split_once('=') {
                Some((name, model)) => {
                    flags.named.insert(name.to_owned(), model.to_owned());
                }
                None => flags.all = Some(value.clone()),
            }
        }
        flags
    }
}

pub struct SessionPlan {
    pub definition: Definition,
    /// Errors of the definition; with any, no session opens.
    pub problems: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
    pub text: String,
    pub file: String,
    /// Options, with the definition's answers as far as they are used.
    pub options: LaunchOptions,
    pub tasks: TaskTexts,
    pub unread: Vec<Diagnostic>,
    pub linked: Vec<LinkedSession>,
    pub unlinked: Vec<Diagnostic>,
}

impl SessionPlan {
    fn from_text(text: String, file: String, folders: &Dirs) -> Result<Self, Vec<Diagnostic>> {
        let CheckedDefinition { definition, mut problems, mut warnings, expanded } = examine(
            Source { text: &text, file: &file, id: default_id(&file) },
            OtherFiles {
                definition: &|from, path| used_definition(from, path, &folders.path_policy(Some(&file))),
                strategy: &|name| folders.strategy(name),
            },
        );
        let Some(definition) = definition else { return Err(problems) };
        let (tasks, texts) = with_tasks(definition, &file, folders);
        warnings = each_once(warnings.into_iter().chain(tasks.doubts.iter().cloned()));
        if tasks.problems.is_empty() {
            warnings.extend(unknown_tasks(&tasks.definition, &file));
        }
        problems.extend(tasks.problems);
        let definition = tasks.definition;
        let (linked, unlinked) = linked_sessions(&definition, &file, &folders.path_policy(Some(&file)));
        let options =
            LaunchOptions { answers: Answers::written(&definition, &file), ..LaunchOptions::default() };
        Ok(Self {
            definition,
            problems,
            warnings,
            text: expanded.unwrap_or(text),
            file,
            options,
            tasks: texts,
            unread: tasks.doubts,
            linked,
            unlinked,
        })
    }

    fn valid(self) -> Result<Self, Vec<Diagnostic>> {
        if self.problems.is_empty() { Ok(self) } else { Err(self.problems) }
    }
}

/// Reads a definition as far as possible, for further checks; `-` is standard input.
pub fn examine_file(path: &Path, folders: &Dirs) -> Result<SessionPlan, Vec<Diagnostic>> {
    let (file, text) = read_input(path, MAX_DEFINITION as u64 * 8)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    SessionPlan::from_text(text, file, folders)
}

pub fn read_definition(path: &Path, folders: &Dirs) -> Result<SessionPlan, Vec<Diagnostic>> {
    examine_file(path, folders)?.valid()
}

pub fn load_definition(text: String, file: String, folders: &Dirs) -> Result<SessionPlan, Vec<Diagnostic>> {
    SessionPlan::from_text(text, file, folders)?.valid()
}

/// Reads the definition that file `from` uses as `path`; returns its name for messages and its text.
fn used_definition(from: &str, path: &str, bounds: &PathPolicy) -> Result<(String, String), Diagnostic> {
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    bounds.check_named(folder, path)?;
    let path = folder.join(path);
    Ok((path.display().to_string(), read_text(&path, MAX_DEFINITION as u64)?))
}
