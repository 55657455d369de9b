//! What is known of a session's work items before anything runs, for `check` and `--dry-run`.

use crate::diagnostic::Diagnostic;
use crate::history::Session;

const HINT: &str = "hand over what it names, or word it otherwise; `completeness: off` skips this check";

/// What will be refused whatever results come, and what a warning will be given of; `file` is the
/// definition's name.
pub fn foreseen(session: &Session, file: &str) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let (mut refused, mut warned) = (Vec::new(), Vec::new());
    for (step, checked) in session.foreseen() {
        let problem = |why: &String| {
            let message = format!("step `{}`: {why}", step.id);
            Diagnostic::new(message).hint(HINT).at(file, step.place.0, step.place.1)
        };
        refused.extend(checked.refusal.iter().map(problem));
        warned.extend(checked.warnings.iter().map(problem));
    }
    (refused, warned)
}
