//! The `init` command: creates a `.s2s` folder for the project.

use std::path::Path;

use super::console::{Console, VerbResult};
use crate::config::read_file::read_text;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::journal::Disk;
use crate::workflow::{MAX_DEFINITION, Source, import, load};

const CONTEXT: &str = "\
<!--
What every participant should know of this project, in a few lines: what it is, for whom, where it
stands, what is settled. It becomes `project_summary` in each round's snapshot. Comments like this
one are left out.
-->
";

const CONFIG: &str = "\
# Settings of this project.
# Keys never stand here: only the names of the variables that hold them.

# model: ollama/llama3.2        # for participants that name none
# max_output_tokens: 16384
# timeout: 600s
# providers:
#   lab: {api: openai, base_url: \"http://127.0.0.1:8091/v1\", key_env: LAB_API_KEY, max_in_flight: 2}
";

const ENTRY: &str = r#"{"mcpServers": {"roundtable": {"command": "roundtable", "args": ["mcp"]}}}"#;

pub fn definition_from(file: &Path, output: &mut Console) -> VerbResult {
    let name = file.display().to_string();
    let text = read_text(file, MAX_DEFINITION as u64)?;
    let (definition, left_out) = import(&text, &name)?;
    if let Err(problems) = load(Source { text: &definition, file: "the definition made of it", id: "round" })
    {
        return Err(problems.into());
    }
    for key in left_out {
        output.warn(&Diagnostic::new(format!("{name}: `{key}` is left out: a session makes it as it runs")));
    }
    output.line(definition.trim_end());
    Ok(ExitCode::Finished)
}

/// Writes the entry that starts `roundtable mcp` for Claude Code, and prints it for other assistants.
pub fn for_assistants(output: &mut Console) -> VerbResult {
    let path = Path::new(".mcp.json");
    if path.symlink_metadata().is_ok() {
        output.note("exists, unchanged: .mcp.json; if this entry is not in it, add it:");
    } else {
        Disk::default().write_whole(path, format!("{ENTRY}\n").as_bytes())?;
        output.note("created .mcp.json, which Claude Code reads; other assistants take the same entry:");
    }
    output.line(ENTRY);
    Ok(ExitCode::Finished)
}

/// Creates `.s2s` here; existing files stay unchanged.
pub fn run(output: &Console) -> VerbResult {
    let disk = Disk::default();
    let here = Path::new(".s2s");
    let project = Path::new(".").canonicalize();
    let leads_out = |s2s: std::path::PathBuf| !project.is_ok_and(|project| s2s.starts_with(project));
    if here.canonicalize().is_ok_and(leads_out) {
        let problem = Diagnostic::new("`.s2s` is outside this folder: nothing is written there");
        return Err(problem.hint("make it a folder of the project").into());
    }
    disk.make_dir(&here.join("sessions"))?;
    for (path, text) in [
        (here.join("CONTEXT.md"), CONTEXT),
        (here.join("config.yaml"), CONFIG),
        (here.join(".gitignore"), "sessions/\n"),
        // Otherwise git on Windows would change line ends of sessions, which breaks their hashes.
        (".gitattributes".into(), "*.s2s -text\n"),
    ] {
        if path.exists() {
            output.note(&format!("exists, unchanged: {}", path.display()));
        } else {
            disk.write_whole(&path, text.as_bytes())?;
            output.note(&format!("created {}", path.display()));
        }
    }
    output.note("describe your project in .s2s/CONTEXT.md; it is part of every snapshot");
    Ok(ExitCode::Finished)
}
