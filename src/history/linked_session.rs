//! Saved sessions as linked tasks: what was frozen of them in the header, pinned by hash.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::workflow::{LinkDefinition, Report, Task};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedSession {
    /// The name it is linked by: its file, as the definition writes it.
    pub id: String,
    pub session: String,
    pub sha256: String,
    pub title: String,
    pub status: String,
    pub created_at: String,
    pub reported_at: String,
    pub report: String,
}

impl LinkedSession {
    /// Puts it among tasks, links and reports as a task with an agent that has reported.
    pub fn add(&self, tasks: &mut Vec<Task>, links: &mut Vec<LinkDefinition>, reports: &mut Vec<Report>) {
        let row = json!({
            "id": self.id, "title": self.title, "status": self.status, "statusSince": self.reported_at,
            "priority": null, "estimate": null, "timeSpent": null, "createdAt": self.created_at,
            "labels": [], "languageCode": null,
        });
        tasks.push(Task {
            id: self.id.clone(),
            title: self.title.clone(),
            description: self.report.clone(),
            status: self.status.clone(),
            row: row.as_object().cloned().unwrap_or_default(),
            ..Task::default()
        });
        links.push(LinkDefinition {
            id: format!("{}/outcome", self.id),
            from: self.session.clone(),
            to: self.id.clone(),
            kind: "agent_task".to_owned(),
            created_at: self.created_at.clone(),
            place: (0, 0),
        });
        reports.push(Report {
            agent: self.session.clone(),
            scope: "current".to_owned(),
            created_at: self.reported_at.clone(),
            content: self.report.clone(),
        });
    }
}
