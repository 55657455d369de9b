//! opencode, by its documentation: declared, never run against a recorder.
//!
//! An agent of ours denies every tool, its question tool included, at which `run` can hang. It prints one
//! event a line; the text of the last part is the answer.

use super::output::OutputPaths;
use super::program::{SeatProgram, pairs, texts};

/// Returns the program.
pub fn program() -> SeatProgram {
    SeatProgram {
        provider: "opencode-cli".to_owned(),
        command: texts(&["opencode", "run", "--format", "json", "--agent", "seat"]),
        with_model: texts(&["--model", "{model}"]),
        tools_command: texts(&["opencode", "run", "--format", "json"]),
        tools_set: pairs(&[(
            "OPENCODE_CONFIG_CONTENT",
            r#"{"share":"disabled","autoupdate":false,"permission":{"question":"deny"}}"#,
        )]),
        set: pairs(&[(
            "OPENCODE_CONFIG_CONTENT",
            r#"{"share":"disabled","autoupdate":false,"agent":{"seat":{"mode":"primary","prompt":"{file:{rules_file}}","permission":{"*":"deny"}}}}"#,
        )]),
        output: OutputPaths {
            reply: Some("$[?@.type == 'text'].text".to_owned()),
            failure: Some("$[?@.type == 'error'].error.data.message".to_owned()),
            tokens_in: Some("$.part.tokens.input".to_owned()),
            tokens_cached: Some("$.part.tokens.cache.read".to_owned()),
            tokens_out: Some("$.part.tokens.output".to_owned()),
            ..OutputPaths::default()
        },
        version: texts(&["opencode", "--version"]),
        logged_out: texts(&["no provider", "not logged in", "auth login"]),
        tool_less: true,
        ..SeatProgram::default()
    }
}
