//! The tracker's tasks as they stand after the results so far.

use super::event::ItemStatus;
use super::state::Session;
use crate::workflow::Task;

/// The model of the built-in tracker.
pub const TRACKER: &str = "tracker";

impl Session {
    /// The definition's tasks, each with the status the tracker gave it last; deleted ones left out.
    pub fn tasks(&self) -> Vec<Task> {
        let Some(definition) = &self.definition else { return Vec::new() };
        let mut tasks: Vec<Task> = definition.tasks.iter().filter(|task| !task.deleted).cloned().collect();
        let returned = self.items.values().flat_map(|item| &item.returned).map(|(back, _)| back);
        let by_tracker = returned.filter(|back| {
            back.status == ItemStatus::Completed
                && self.seat_info(&back.participant).is_some_and(|seat| seat.model == TRACKER)
        });
        for back in by_tracker {
            let (id, status) = (back.data["issue_id"].as_str(), back.data["status"].as_str());
            if let (Some(id), Some(status)) = (id, status)
                && let Some(task) = tasks.iter_mut().find(|task| task.id == id)
            {
                status.clone_into(&mut task.status);
                task.row.insert("status".to_owned(), status.into());
            }
        }
        tasks
    }

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
