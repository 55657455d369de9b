//! Gemini CLI: no tools, no extensions, no servers of tools; the instructions replace its system prompt.
//!
//! Its settings are in its working folder, which counts as trusted for this run: those of a system file are
//! read from folders alone that nobody else can write in, and a temporary folder is none. Of itself it adds
//! the date and the list of that folder's files. It exits 0, 1, 41 (login), 42 (input) or 53 (turns), with
//! the reason in `error`. With its tools it edits files unasked.

use super::output::OutputPaths;
use super::program::{SeatProgram, pairs, texts};

/// The version this was tried against.
pub const TRIED: &str = "0.61.0";

const SETTINGS: &str = "work/.gemini/settings.json";
/// No core tool of this name exists.
const NO_TOOLS: &str = r#"{"tools":{"core":["none"]},"mcp":{"allowed":["none"]},"context":{"fileName":["none"],"includeDirectoryTree":false},"privacy":{"usageStatisticsEnabled":false}}"#;

pub fn program() -> SeatProgram {
    // A recorder asks for a key; whoever is logged in otherwise is not asked for one.
    let with_key = NO_TOOLS.replacen('{', r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"#, 1);
    SeatProgram {
        provider: "gemini-cli".to_owned(),
        command: texts(&["gemini", "--output-format", "json", "--extensions", "none"]),
        with_model: texts(&["--model", "{model}"]),
        tools_command: texts(&["gemini", "--output-format", "json", "--approval-mode", "auto_edit"]),
        set: pairs(&[("GEMINI_SYSTEM_MD", "{rules_file}"), ("GEMINI_CLI_TRUST_WORKSPACE", "true")]),
        files: pairs(&[(SETTINGS, NO_TOOLS)]),
        output: OutputPaths {
            reply: Some("response".to_owned()),
            failure: Some("error.message".to_owned()),
            usage_under: Some("stats.models"),
            tokens_in: texts(&["tokens.prompt"]),
            tokens_cached: texts(&["tokens.cached"]),
            tokens_out: texts(&["tokens.candidates", "tokens.thoughts"]),
            ..OutputPaths::default()
        },
        version: texts(&["gemini", "--version"]),
        logged_out: texts(&["set an auth method", "invalid auth method", "please set", "not logged in"]),
        recorder_set: pairs(&[("GOOGLE_GEMINI_BASE_URL", "{recorder}"), ("GEMINI_API_KEY", "recorder")]),
        recorder_files: vec![(SETTINGS.to_owned(), with_key)],
        priced_as: Some("gemini".to_owned()),
        ..SeatProgram::default()
    }
}
