//! Codex: every tool switched off; the instructions are all of its developer text.
//!
//! Which tools it declares depends on what its own list of models says of the model. With a list that does
//! not hold the model it falls back to none, so it is given one that holds another. Without a model's name
//! it takes the default of its own list, and that one's tools.
//!
//! With its tools it runs commands in its sandbox, which lets it write in the project and reach no network,
//! and asks nobody.

use super::output::{Mark, OutputPaths};
use super::program::{SeatProgram, pairs, texts};

pub const TRIED: &str = "0.169.0";

const FEATURES: [&str; 15] = [
    "apps",
    "browser_use",
    "computer_use",
    "goals",
    "hooks",
    "image_generation",
    "multi_agent",
    "plugins",
    "shell_tool",
    "skill_search",
    "sleep_tool",
    "tool_suggest",
    "unbounded_connection_retries",
    "unified_exec",
    "view_image",
];

const SETTINGS: [&str; 11] = [
    "model_instructions_file=\"{rules_file}\"",
    "tools.experimental_request_user_input.enabled=false",
    "web_search=\"disabled\"",
    "project_doc_max_bytes=0",
    "include_environment_context=false",
    "include_permissions_instructions=false",
    "include_apps_instructions=false",
    "include_collaboration_mode_instructions=false",
    "skills.include_instructions=false",
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
];

/// A list with a model that nobody asks for, since an empty one is refused.
const MODELS: &str = r#"{"models":[{"slug":"none","display_name":"none","description":"","default_reasoning_level":"medium","supported_reasoning_levels":[],"shell_type":"disabled","visibility":"none","supported_in_api":true,"priority":1,"base_instructions":"","supports_reasoning_summaries":false,"support_verbosity":false,"truncation_policy":{"mode":"tokens","limit":10000},"supports_parallel_tool_calls":false,"experimental_supported_tools":[],"input_modalities":["text"]}]}"#;

const RECORDER: [&str; 8] = [
    "-c",
    "model_provider=\"recorder\"",
    "-c",
    "model_providers.recorder.name=\"recorder\"",
    "-c",
    "model_providers.recorder.base_url=\"{recorder}/v1\"",
    "-c",
    "model_providers.recorder.wire_api=\"responses\"",
];

pub fn program() -> SeatProgram {
    let mut command = texts(&[
        "codex",
        "exec",
        "--json",
        "--ephemeral",
        "--ignore-user-config",
        "--ignore-rules",
        "--skip-git-repo-check",
        "--sandbox",
        "read-only",
        "--color",
        "never",
    ]);
    command.extend(SETTINGS.iter().flat_map(|setting| texts(&["-c", setting])));
    command.extend(FEATURES.iter().flat_map(|feature| texts(&["--disable", feature])));
    SeatProgram {
        provider: "codex-cli".to_owned(),
        command,
        with_model: texts(&["--model", "{model}", "-c", "model_catalog_json=\"{files}/models.json\""]),
        tools_command: texts(&[
            "codex",
            "exec",
            "--json",
            "--ephemeral",
            "--skip-git-repo-check",
            "--sandbox",
            "workspace-write",
            "-c",
            "approval_policy=\"never\"",
            // Else it never gives up where nobody answers.
            "--disable",
            "unbounded_connection_retries",
            "--color",
            "never",
        ]),
        files: pairs(&[("models.json", MODELS)]),
        output: OutputPaths {
            reply: Some("item.text".to_owned()),
            reply_if: Some(Mark { path: "item.type", value: "agent_message" }),
            failure: Some("error.message".to_owned()),
            failure_if: Some(Mark { path: "type", value: "turn.failed" }),
            end_if: Some(Mark { path: "type", value: "turn.completed" }),
            tokens_in: texts(&["usage.input_tokens"]),
            tokens_cached: texts(&["usage.cached_input_tokens"]),
            tokens_out: texts(&["usage.output_tokens"]),
            ..OutputPaths::default()
        },
        version: texts(&["codex", "--version"]),
        logged_out: texts(&["not logged in", "401 unauthorized", "codex login"]),
        recorder_words: texts(&RECORDER),
        priced_as: Some("openai".to_owned()),
        ..SeatProgram::default()
    }
}
