//! Codex: every tool switched off; the instructions are all of its developer text.
//!
//! Which tools it declares depends on what its own list of models says of the model. With a list that does
//! not hold the model it falls back to none, so it is given one that holds another. Without a model's name
//! it takes the default of its own list, and that one's tools.

use super::output::OutputPaths;
use super::program::{SeatProgram, pairs, texts};

/// The version this was tried against.
pub const TRIED: &str = "0.169.0";

/// What it can do that is switched off.
const FEATURES: [&str; 14] = [
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
    "unified_exec",
    "view_image",
];

/// A list with a model that nobody asks for, since an empty one is refused.
const MODELS: &str = r#"{"models":[{"slug":"none","display_name":"none","description":"","default_reasoning_level":"medium","supported_reasoning_levels":[],"shell_type":"disabled","visibility":"none","supported_in_api":true,"priority":1,"base_instructions":"","supports_reasoning_summaries":false,"support_verbosity":false,"truncation_policy":{"mode":"tokens","limit":10000},"supports_parallel_tool_calls":false,"experimental_supported_tools":[],"input_modalities":["text"]}]}"#;

/// Returns the program.
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
        "-c",
        "model_instructions_file=\"{rules_file}\"",
        "-c",
        "tools.experimental_request_user_input.enabled=false",
        "-c",
        "web_search=\"disabled\"",
        "-c",
        "project_doc_max_bytes=0",
        "-c",
        "include_environment_context=false",
        "-c",
        "include_permissions_instructions=false",
        "-c",
        "include_apps_instructions=false",
        "-c",
        "include_collaboration_mode_instructions=false",
        "-c",
        "skills.include_instructions=false",
        "-c",
        "check_for_update_on_startup=false",
        "-c",
        "analytics.enabled=false",
    ]);
    command.extend(FEATURES.iter().flat_map(|feature| texts(&["--disable", feature])));
    SeatProgram {
        provider: "codex-cli".to_owned(),
        command,
        with_model: texts(&["--model", "{model}", "-c", "model_catalog_json=\"{files}/models.json\""]),
        files: pairs(&[("models.json", MODELS)]),
        output: OutputPaths {
            reply: Some("$[?@.type == 'agent_message'].text".to_owned()),
            failure: Some("$[?@.type == 'turn.failed'].error.message".to_owned()),
            tokens_in: Some("$.usage.input_tokens".to_owned()),
            tokens_cached: Some("$.usage.cached_input_tokens".to_owned()),
            tokens_out: Some("$.usage.output_tokens".to_owned()),
        },
        version: texts(&["codex", "--version"]),
        logged_out: texts(&["not logged in", "401 unauthorized", "codex login"]),
        priced_as: Some("openai".to_owned()),
        ..SeatProgram::default()
    }
}
