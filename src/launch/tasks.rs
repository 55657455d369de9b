//! The tasks of a definition, from the files they are kept in.

use crate::config::dirs::Dirs;
use crate::config::tasks::TaskFile;
use crate::diagnostic::Diagnostic;
use crate::history::Session;
use crate::workflow::{Definition, TASKS_FILE, Tasks};

/// A definition with the tasks of its file, else of the project's, and their text if there are some.
/// `problems` are those of the definition's own file of tasks; `doubts`, such as an unreadable file of the
/// project's, do not stop a session.
pub fn with_tasks(definition: Definition, file: &str, folders: &Dirs) -> (Tasks, Option<String>) {
    if let Some(tracker) = definition.tracker.clone() {
        return match TaskFile::of(folders, &tracker.file).read() {
            Ok(text) => (definition.with_tasks(&text), Some(text)),
            Err(problem) => {
                let problems = vec![problem.at(file, tracker.place.0, tracker.place.1)];
                (Tasks { definition, problems, doubts: Vec::new() }, None)
            }
        };
    }
    let of_own = definition.tasks.iter().filter_map(|task| Some(task.doubt.clone()?.with_file(file)));
    let mut doubts: Vec<Diagnostic> = of_own.collect();
    let (definition, text) = match folders.tasks() {
        Ok(None) => (definition, None),
        Ok(Some(text)) => {
            let read = definition.with_tasks(&text);
            doubts.extend(read.problems.into_iter().chain(read.doubts));
            (read.definition, Some(text))
        }
        Err(problem) => {
            doubts.push(problem.with_file(TASKS_FILE));
            (definition, None)
        }
    };
    (Tasks { definition, problems: Vec::new(), doubts }, text)
}

/// That a session writes nothing to the file of its tasks, though the definition names one.
pub fn rehearsed_tasks(session: &Session) -> Option<Diagnostic> {
    let file = session.tasks_file().filter(|_| session.has_rehearsal())?;
    let problem =
        Diagnostic::new(format!("this session has rehearsed answers: nothing is written to `{file}`"));
    Some(problem.hint("seat a model with `--model NAME=provider/model`, or script the answers (--answers)"))
}
