//! The maps of a definition's material: artifacts, agenda, tasks, links, reports.

use super::spec::KeyType::{Any, Flag, Text, Texts, Words};
use super::spec::{MapSpec, REQUIRED, key, map};

fn on_off() -> Vec<&'static str> {
    vec!["on", "off"]
}

pub static ARTIFACT: MapSpec = map(
    "artifact",
    "an artifact",
    &[
        key("id", Text, REQUIRED, "Its id.", "REQ-001"),
        key("summary", Text, "the title", "A line about it.", "\"Search by name\""),
        key("title", Text, "", "Its title.", "Search"),
        key("relevant", Flag, "true with `file`, `diff`", "Whether snapshots hold all its keys.", "true"),
        key("file", Text, "", "A file of the project whose text it shows.", "src/cache.rs"),
        key("lines", Text, "all", "The lines of `file` that it shows.", "10-80"),
        key("diff", Text, "", "Two commits whose difference it shows.", "main...HEAD"),
        key("paths", Texts, "all", "The paths of `diff` that it shows.", "[src]"),
        key("numbers", Words(on_off), "on", "Whether each line stands after its number.", "off"),
        key("kind", Any, "", "Its kind.", "requirement"),
        key("status", Any, "", "Its status.", "draft"),
        key("priority", Any, "", "Its priority.", "high"),
        key("description", Any, "", "Its description.", "\"Users search by name.\""),
        key("content", Any, "", "Its text.", "\"…\""),
        key("acceptance", Any, "", "Its acceptance criteria.", "[\"finds a name in 1 s\"]"),
    ],
);

pub static AGENDA_ITEM: MapSpec = map(
    "agenda_item",
    "an agenda item",
    &[
        key("id", Text, "the title", "Its id.", "caching"),
        key("title", Text, "the id", "Its title.", "Caching"),
        key("status", Text, "open", "Its status.", "closed"),
    ],
);

pub static TASK: MapSpec = MapSpec {
    is_open: true,
    ..map(
        "task",
        "a task",
        &[
            key("id", Text, "`issue_id`", "Its id; required if there is no `issue_id`.", "APP-15"),
            key("issue_id", Text, "", "Another name of `id`.", "APP-15"),
            key("title", Text, "", "Its title.", "\"Dark mode\""),
            key("description", Text, "", "What to do.", "\"Add a switch.\""),
            key("test_steps", Texts, "", "How to test it.", "[\"click the switch\"]"),
            key("steps", Texts, "", "Another name of `test_steps`.", "[\"click the switch\"]"),
            key("status", Text, "OPEN", "Its status.", "DONE"),
            key("priority", Any, "0", "1 (urgent) to 4 (low), 0 for none, or a word such as `high`.", "2"),
            key("deletedAt", Any, "", "The time of its deletion; with one it is left out.", "2026-01-31"),
        ],
    )
};

pub static TRACKER: MapSpec = map(
    "tracker",
    "`tracker`",
    &[key(
        "file",
        Text,
        REQUIRED,
        "A file with `tasks`, only read; `tasks.state.yaml` next to it keeps their state.",
        ".s2s/tasks.yaml",
    )],
);

pub static LINK: MapSpec = map(
    "link",
    "a link",
    &[
        key("id", Text, REQUIRED, "Its id.", "l1"),
        key("fromId", Text, REQUIRED, "Its start: a task, an agent or a saved session.", "agent-1"),
        key("toId", Text, REQUIRED, "Its end.", "APP-15"),
        key("type", Text, REQUIRED, "Its type.", "agent_task"),
        key("createdAt", Text, "", "The time it was created.", "2026-01-31"),
    ],
);

pub static REPORT: MapSpec = map(
    "report",
    "a report",
    &[
        key("agentId", Text, REQUIRED, "The agent that wrote it.", "agent-1"),
        key("scope", Text, "current", "Its scope.", "current"),
        key("createdAt", Text, "", "The time it was created.", "2026-01-31"),
        key("content", Text, "", "Its text.", "Done."),
    ],
);
