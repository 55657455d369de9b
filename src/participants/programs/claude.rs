//! Claude Code: no tools, no settings, no memory; the instructions are its whole system prompt.
//!
//! `--tools ""` alone still sends 26 KB of system text, which `--system-prompt` replaces.
//! `--json-schema` adds a tool and a second turn, so it is not used. What is not essential is switched off:
//! else a second request with the whole prompt asks for a title of the session. It exits 1 with the reason
//! in `result`, also when nobody is logged in.
//!
//! With its tools it edits files unasked and does whatever else the user's own settings allow; those of the
//! project, and its servers of tools, are not read, since the user has not agreed to what they say.

use super::output::{Mark, OutputPaths};
use super::program::{SeatProgram, pairs, texts};

pub const TRIED: &str = "2.1.197";

const SET: [(&str, &str); 1] = [("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")];

pub fn program() -> SeatProgram {
    SeatProgram {
        provider: "claude-cli".to_owned(),
        command: texts(&[
            "claude",
            "-p",
            "--setting-sources",
            "",
            "--tools",
            "",
            "--system-prompt",
            "{rules}",
            "--no-session-persistence",
            "--strict-mcp-config",
            "--disable-slash-commands",
            "--output-format",
            "json",
        ]),
        with_model: texts(&["--model", "{model}"]),
        set: pairs(&SET),
        tools_command: texts(&[
            "claude",
            "-p",
            "--setting-sources",
            "user",
            "--permission-mode",
            "acceptEdits",
            "--no-session-persistence",
            "--strict-mcp-config",
            "--output-format",
            "json",
        ]),
        tools_set: pairs(&SET),
        output: OutputPaths {
            reply: Some("result".to_owned()),
            failure: Some("result".to_owned()),
            failure_if: Some(Mark { path: "is_error", value: "true" }),
            end_if: Some(Mark { path: "type", value: "result" }),
            tokens_in: texts(&[
                "usage.input_tokens",
                "usage.cache_creation_input_tokens",
                "usage.cache_read_input_tokens",
            ]),
            tokens_cached: texts(&["usage.cache_read_input_tokens"]),
            tokens_out: texts(&["usage.output_tokens"]),
            cost: Some("total_cost_usd".to_owned()),
            ..OutputPaths::default()
        },
        version: texts(&["claude", "--version"]),
        logged_out: texts(&["not logged in", "invalid api key", "please run /login", "oauth token"]),
        recorder_set: pairs(&[("ANTHROPIC_BASE_URL", "{recorder}"), ("ANTHROPIC_API_KEY", "recorder")]),
        priced_as: Some("anthropic".to_owned()),
        ..SeatProgram::default()
    }
}
