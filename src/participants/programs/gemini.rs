//! Gemini CLI, by its documentation: declared, never run against a recorder, since it speaks its own API.
//!
//! Settings of its own name no core tool that exists; the instructions replace its system prompt. It exits
//! 0, 1, 42 (input) or 53 (turns), with the reason in `error`. With its tools it edits files unasked.

use super::output::OutputPaths;
use super::program::{SeatProgram, pairs, texts};

/// Returns the program.
pub fn program() -> SeatProgram {
    SeatProgram {
        provider: "gemini-cli".to_owned(),
        command: texts(&["gemini", "--output-format", "json", "--extensions", "none"]),
        with_model: texts(&["--model", "{model}"]),
        tools_command: texts(&["gemini", "--output-format", "json", "--approval-mode", "auto_edit"]),
        set: pairs(&[
            ("GEMINI_SYSTEM_MD", "{rules_file}"),
            ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "{files}/settings.json"),
        ]),
        files: pairs(&[(
            "settings.json",
            r#"{"tools":{"core":["none"]},"mcp":{"allowed":["none"]},"context":{"fileName":["none"]}}"#,
        )]),
        output: OutputPaths {
            reply: Some("$.response".to_owned()),
            failure: Some("$[*].error.message".to_owned()),
            tokens_in: Some("$.stats.models[*].tokens.prompt".to_owned()),
            tokens_cached: Some("$.stats.models[*].tokens.cached".to_owned()),
            tokens_out: Some("$.stats.models[*].tokens['candidates', 'thoughts']".to_owned()),
            ..OutputPaths::default()
        },
        version: texts(&["gemini", "--version"]),
        logged_out: texts(&["set an auth method", "please set", "not logged in"]),
        tool_less: true,
        priced_as: Some("gemini".to_owned()),
        ..SeatProgram::default()
    }
}
