//! The tasks of a definition, from the files they are kept in.

use crate::config::dirs::Dirs;
use crate::config::tasks::TaskFile;
use crate::diagnostic::Diagnostic;
use crate::history::Session;
use crate::workflow::{Definition, TASKS_FILE, Tasks, state_file};

/// The texts of the files that tasks were read from.
#[derive(Debug, Clone, Default)]
pub struct TaskTexts {
    pub file: Option<String>,
    pub state: Option<String>,
}

/// A definition with the tasks of its file, else of the project's, and the texts they were read from.
/// `problems` are those of the definition's own file of tasks; `doubts`, such as an unreadable file of the
/// project's, do not stop a session.
pub fn with_tasks(definition: Definition, file: &str, folders: &Dirs) -> (Tasks, TaskTexts) {
    if let Some(tracker) = definition.tracker.clone() {
        let tasks = TaskFile::of(folders, &tracker.file);
        return match tasks.read().and_then(|text| Ok((text, tasks.read_state()?))) {
            Ok((text, state)) => {
                let tasks = definition.with_tasks(&text, state.as_deref());
                (tasks, TaskTexts { file: Some(text), state })
            }
            Err(problem) => {
                let problems = vec![problem.at(file, tracker.place.0, tracker.place.1)];
                (Tasks { definition, problems, doubts: Vec::new() }, TaskTexts::default())
            }
        };
    }
    let of_own = definition.tasks.iter().filter_map(|task| Some(task.doubt.clone()?.with_file(file)));
    let mut doubts: Vec<Diagnostic> = of_own.collect();
    let (definition, texts) = match folders.tasks() {
        Ok((None, _)) => (definition, TaskTexts::default()),
        Ok((Some(text), state)) => {
            let read = definition.with_tasks(&text, state.as_deref());
            doubts.extend(read.problems.into_iter().chain(read.doubts));
            (read.definition, TaskTexts { file: Some(text), state })
        }
        Err(problem) => {
            doubts.push(problem.with_file(TASKS_FILE));
            (definition, TaskTexts::default())
        }
    };
    (Tasks { definition, problems: Vec::new(), doubts }, texts)
}

/// That a session writes no state of its tasks, though the definition names their file.
pub fn rehearsed_tasks(session: &Session) -> Option<Diagnostic> {
    let file = session.tasks_file().filter(|_| session.has_rehearsal())?;
    let file = state_file(file);
    let problem = Diagnostic::new(format!("placeholders answer: nothing is written to `{file}`"));
    Some(problem.hint("seat a model with `--model NAME=provider/model`, or script the answers (--answers)"))
}
