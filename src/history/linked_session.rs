//! Saved sessions as linked tasks: what was frozen of them in the header, pinned by hash.

use serde::{Deserialize, Serialize};

use crate::workflow::{LinkDefinition, ROW_KEYS, Report, Task};

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
        let mut row = serde_json::Map::new();
        for key in ROW_KEYS {
            let value = match key {
                "id" => self.id.as_str().into(),
                "title" => self.title.as_str().into(),
                "status" => self.status.as_str().into(),
                "statusSince" => self.reported_at.as_str().into(),
                "createdAt" => self.created_at.as_str().into(),
                "labels" => serde_json::Value::Array(Vec::new()),
                _ => serde_json::Value::Null,
            };
            row.insert(key.to_owned(), value);
        }
        tasks.push(Task {
            id: self.id.clone(),
            title: self.title.clone(),
            description: self.report.clone(),
            test_steps: Vec::new(),
            priority: 0,
            doubt: None,
            status: self.status.clone(),
            row,
            deleted: false,
            place: (0, 0),
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
