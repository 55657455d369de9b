//! The tracker's tasks: of which evidence was asked for, and what was written of their state.

use super::command::{DecideResult, refuse};
use crate::history::{Event, Session, TaskWritten, UnwrittenTask};
use crate::workflow::{TRACKER, Task, state_file};

impl Session {
    /// The tasks of which a work item has asked for evidence.
    pub fn requested_evidence(&self) -> Vec<String> {
        let Some(definition) = &self.definition else { return Vec::new() };
        let of_others = self.items.values().filter(|item| item.offered.model != TRACKER);
        let asked: Vec<String> = of_others
            .map(|item| {
                let (_, text) = self.agent_prompt(&item.offered);
                let rules = item.offered.task.as_ref().and_then(|task| task.rules.clone());
                text + &rules.unwrap_or_default()
            })
            .filter(|text| text.to_lowercase().contains("evidence"))
            .collect();
        let is_asked = |task: &&Task| asked.iter().any(|prompt| prompt.contains(&task.id));
        definition.tasks.iter().filter(is_asked).map(|task| task.id.clone()).collect()
    }
}

/// That a task's state is written as the tracker left it, or why not.
pub fn record_task(session: &Session, item: &str, error: Option<String>) -> DecideResult {
    let unwritten = session.unwritten_tasks().into_iter().find(|unwritten| unwritten.item == item);
    let (Some(UnwrittenTask { step, item, mark }), Some(file)) = (unwritten, session.tasks_file()) else {
        return refuse(format!("`{item}` left nothing to write of the tasks' state"));
    };
    let (task, status, file) = (mark.task, mark.status, state_file(file));
    Ok(vec![Event::TaskWritten(TaskWritten { step, item, task, status, file, error })])
}
