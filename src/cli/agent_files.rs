//! `init --agent`: tells coding assistants of this project how to ask a panel.
//!
//! An entry for the server is added to a configuration that is there, beside what it holds. What cannot be
//! changed without losing something stays as it is, and the person reads what to add.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::console::Console;
use crate::config::PathPolicy;
use crate::config::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::journal::{Disk, DiskError};
use crate::launch::error::RunError;

const NAME: &str = "roundtable";
const SKILL: &str = include_str!("skill.md");
/// A larger configuration is not read, in bytes.
const MOST: u64 = 1024 * 1024;

/// Where an assistant keeps its servers: file, key of the servers, whether an entry names its transport.
const SERVERS: [(&str, &str, bool); 3] = [
    (".mcp.json", "mcpServers", false),
    (".cursor/mcp.json", "mcpServers", false),
    (".vscode/mcp.json", "servers", true),
];

/// Writes the entry of Claude Code, those of Cursor and VS Code where their folders are, and the skill.
///
/// # Errors
/// When a file leads out of the project or cannot be written.
pub fn write(output: &Console) -> Result<(), RunError> {
    for (file, key, is_typed) in SERVERS {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        if folder.as_os_str().is_empty() || folder.is_dir() {
            add_server(Path::new(file), key, is_typed, output)?;
        }
    }
    let skill = Path::new(".claude/skills/roundtable/SKILL.md");
    if skill.exists() {
        output.note(&format!("exists, unchanged: {}", skill.display()));
    } else {
        put(skill, SKILL)?;
        output.note(&format!("created {}", skill.display()));
    }
    output.note("other assistants: `roundtable mcp` is the command of the server; Codex: codex mcp add roundtable -- roundtable mcp");
    Ok(())
}

fn add_server(file: &Path, key: &str, is_typed: bool, output: &Console) -> Result<(), RunError> {
    let mut entry = json!({"command": NAME, "args": ["mcp"]});
    if is_typed {
        entry["type"] = "stdio".into();
    }
    let there = file.symlink_metadata().is_ok();
    let text = if there { read_text(file, MOST)? } else { "{}".to_owned() };
    let mut config = match serde_json::from_str::<Map<String, Value>>(&text) {
        Ok(config) if config.get(key).is_none_or(Value::is_object) => config,
        _ => {
            output.note(&format!("unchanged, since it is no plain JSON: {}", file.display()));
            output.note(&format!("  add to its `{key}`: \"{NAME}\": {entry}"));
            return Ok(());
        }
    };
    let servers = config.entry(key).or_insert_with(|| json!({}));
    if servers.get(NAME).is_some() {
        output.note(&format!("exists, unchanged: `{NAME}` in {}", file.display()));
        return Ok(());
    }
    servers[NAME] = entry;
    put(file, &format!("{:#}\n", Value::Object(config)))?;
    let done = if there {
        format!("added `{NAME}` to {}", file.display())
    } else {
        format!("created {}", file.display())
    };
    output.note(&done);
    Ok(())
}

/// Writes a file of the project, and the folders above it.
fn put(file: &Path, text: &str) -> Result<(), RunError> {
    let project = Path::new(".");
    let bounds = PathPolicy::for_project(project, None);
    // What is there of the path must not lead out; what is not is made here.
    for part in file.ancestors().filter(|part| part.symlink_metadata().is_ok()) {
        bounds.check(part)?;
        if part.is_symlink() {
            let problem =
                Diagnostic::new(format!("`{}` is a link: nothing is written there", part.display()));
            return Err(problem.hint("make it a folder or a file of the project").into());
        }
    }
    let unwritable =
        |error: DiskError| RunError::unwritable(Diagnostic::new(error.to_string()), &error.cause);
    let disk = Disk::default();
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        disk.make_dir(folder).map_err(unwritable)?;
    }
    disk.write_whole(file, text.as_bytes()).map_err(unwritable)
}
