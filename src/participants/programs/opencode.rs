//! opencode: an agent of ours denies every tool, its question tool included, at which `run` can hang; the
//! instructions replace its prompt.
//!
//! Of itself it adds the model's name, its folder and the date, and would ask for a title of the session in
//! a second request, which is switched off. It prints one event a line; the text of the last part is the
//! answer. Models of Anthropic and `OpenAI` can be pointed at a recorder, others count as declared.

use super::output::{Mark, OutputPaths};
use super::program::{SeatProgram, pairs, texts};

pub const TRIED: &str = "1.18.33";

const NO_TOOLS: &str = r#""share":"disabled","autoupdate":false,"agent":{"title":{"disable":true},"seat":{"mode":"primary","prompt":"{file:{rules_file}}","permission":{"*":"deny"}}}"#;
const RECORDER: &str = r#""provider":{"anthropic":{"options":{"baseURL":"{recorder}/v1"}},"openai":{"options":{"baseURL":"{recorder}/v1"}}}"#;

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
        set: pairs(&[
            ("OPENCODE_CONFIG_CONTENT", &format!("{{{NO_TOOLS}}}")),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ]),
        output: OutputPaths {
            reply: Some("part.text".to_owned()),
            reply_if: Some(Mark { path: "part.type", value: "text" }),
            failure: Some("error.data.message".to_owned()),
            failure_if: Some(Mark { path: "type", value: "error" }),
            end_if: Some(Mark { path: "part.reason", value: "stop" }),
            tokens_in: texts(&["part.tokens.input"]),
            tokens_cached: texts(&["part.tokens.cache.read"]),
            tokens_out: texts(&["part.tokens.output"]),
            cost: Some("part.cost".to_owned()),
            ..OutputPaths::default()
        },
        version: texts(&["opencode", "--version"]),
        logged_out: texts(&["no provider", "not logged in", "auth login"]),
        tool_less: true,
        recorder_set: pairs(&[
            ("OPENCODE_CONFIG_CONTENT", &format!("{{{RECORDER},{NO_TOOLS}}}")),
            ("ANTHROPIC_API_KEY", "recorder"),
            ("OPENAI_API_KEY", "recorder"),
        ]),
        recorder_models: texts(&["anthropic/", "openai/"]),
        ..SeatProgram::default()
    }
}
