//! Built-in programs: commands with and without tools, and output paths.
//!
//! The first line of each function names the version it was tested with.

use super::output::{OutputMark, OutputPaths};
use super::program::{OwnSettings, SeatProgram, pairs, words};

pub type Preset = (&'static str, fn() -> SeatProgram);

/// Built-in programs by provider name.
pub const PRESETS: [Preset; 4] =
    [("claude-cli", claude), ("codex-cli", codex), ("gemini-cli", gemini), ("opencode-cli", opencode)];

pub fn find_preset(provider: &str) -> Option<SeatProgram> {
    let make = PRESETS.iter().find(|(known, _)| *known == provider)?.1;
    Some(SeatProgram { provider: provider.to_owned(), ..make() })
}

/// Claude Code 2.1.197: no tools, no settings, no memory; the instructions are its whole system prompt.
///
/// `--tools ""` alone still sends 26 KB of system text, which `--system-prompt` replaces. `--json-schema` adds a
/// tool and a second turn, so it is not used. Nonessential traffic is disabled; otherwise a second request with
/// the whole prompt asks for a session title. An error exits with 1 and its reason in `result`, even if nobody
/// is logged in.
///
/// With tools, it edits files without asking and does what the user's own settings allow. It ignores the
/// project's settings and MCP servers, since the user has not agreed to them.
fn claude() -> SeatProgram {
    let set = pairs(&[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")]);
    SeatProgram {
        command: words(
            "claude -p --setting-sources '' --tools '' --system-prompt {rules} --no-session-persistence \
             --strict-mcp-config --disable-slash-commands --output-format json",
        ),
        with_model: words("--model {model}"),
        set: set.clone(),
        tools_command: words(
            "claude -p --setting-sources user --permission-mode acceptEdits --no-session-persistence \
             --strict-mcp-config --output-format json",
        ),
        tools_set: set,
        output: OutputPaths {
            reply: Some("result".to_owned()),
            failure: Some("result".to_owned()),
            failure_if: Some(OutputMark { path: "is_error", value: "true" }),
            end_if: Some(OutputMark { path: "type", value: "result" }),
            tokens_in: words(
                "usage.input_tokens usage.cache_creation_input_tokens usage.cache_read_input_tokens",
            ),
            tokens_cached: words("usage.cache_read_input_tokens"),
            tokens_out: words("usage.output_tokens"),
            cost: Some("total_cost_usd".to_owned()),
            ..OutputPaths::default()
        },
        version: words("claude --version"),
        logged_out: &["not logged in", "invalid api key", "please run /login", "oauth token"],
        recorder_set: pairs(&[("ANTHROPIC_BASE_URL", "{recorder}"), ("ANTHROPIC_API_KEY", "recorder")]),
        own_variables: &[
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        own_settings: Some(OwnSettings {
            file: ".claude/settings.json",
            keys: &[
                ("ANTHROPIC_BASE_URL", "ANTHROPIC_BASE_URL"),
                ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_BEDROCK"),
                ("CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_VERTEX"),
                ("apiKeyHelper", "ANTHROPIC_API_KEY"),
            ],
        }),
        priced_as: Some("anthropic"),
        ..SeatProgram::default()
    }
}

/// Codex 0.169.0: every tool disabled; the instructions are all of its developer text.
///
/// Its tools depend on its model catalog. It declares none for an unknown model, so it gets a catalog with
/// another model only. Without a model name it uses the default model of its built-in catalog, with that model's
/// tools.
///
/// With tools, it runs commands in its sandbox: it can write in the project, has no network, and asks nobody.
fn codex() -> SeatProgram {
    const FEATURES: &str = "apps browser_use computer_use goals hooks image_generation multi_agent plugins \
        shell_tool skill_search sleep_tool tool_suggest unbounded_connection_retries unified_exec view_image";
    const SETTINGS: &str = "model_instructions_file=\"{rules_file}\" \
        tools.experimental_request_user_input.enabled=false web_search=\"disabled\" project_doc_max_bytes=0 \
        include_environment_context=false include_permissions_instructions=false \
        include_apps_instructions=false include_collaboration_mode_instructions=false \
        skills.include_instructions=false check_for_update_on_startup=false analytics.enabled=false";
    /// Catalog with an unused model; Codex rejects an empty catalog.
    const MODELS: &str = r#"{"models":[{"slug":"none","display_name":"none","description":"","default_reasoning_level":"medium","supported_reasoning_levels":[],"shell_type":"disabled","visibility":"none","supported_in_api":true,"priority":1,"base_instructions":"","supports_reasoning_summaries":false,"support_verbosity":false,"truncation_policy":{"mode":"tokens","limit":10000},"supports_parallel_tool_calls":false,"experimental_supported_tools":[],"input_modalities":["text"]}]}"#;
    let each = |option: &str, list: &str| -> Vec<String> {
        words(list).into_iter().flat_map(|word| [option.to_owned(), word]).collect()
    };
    let mut command = words(
        "codex exec --json --ephemeral --ignore-user-config --ignore-rules --skip-git-repo-check \
         --sandbox read-only --color never",
    );
    command.extend(each("-c", SETTINGS).into_iter().chain(each("--disable", FEATURES)));
    SeatProgram {
        command,
        with_model: words("--model {model} -c model_catalog_json=\"{files}/models.json\""),
        // Without the limit on retries it never gives up when the service is unreachable.
        tools_command: words(
            "codex exec --json --ephemeral --skip-git-repo-check --sandbox workspace-write \
             -c approval_policy=\"never\" --disable unbounded_connection_retries --color never",
        ),
        files: pairs(&[("models.json", MODELS)]),
        output: OutputPaths {
            reply: Some("item.text".to_owned()),
            reply_if: Some(OutputMark { path: "item.type", value: "agent_message" }),
            failure: Some("error.message".to_owned()),
            failure_if: Some(OutputMark { path: "type", value: "turn.failed" }),
            end_if: Some(OutputMark { path: "type", value: "turn.completed" }),
            tokens_in: words("usage.input_tokens"),
            tokens_cached: words("usage.cached_input_tokens"),
            tokens_out: words("usage.output_tokens"),
            ..OutputPaths::default()
        },
        version: words("codex --version"),
        logged_out: &["not logged in", "401 unauthorized", "codex login"],
        recorder_words: each(
            "-c",
            "model_provider=\"recorder\" model_providers.recorder.name=\"recorder\" \
             model_providers.recorder.base_url=\"{recorder}/v1\" model_providers.recorder.wire_api=\"responses\"",
        ),
        own_variables: &["OPENAI_BASE_URL", "OPENAI_API_KEY", "CODEX_API_KEY"],
        own_settings: Some(OwnSettings {
            file: ".codex/config.toml",
            keys: &[("model_provider", "model_provider="), ("openai_base_url", "openai_base_url=")],
        }),
        priced_as: Some("openai"),
        ..SeatProgram::default()
    }
}

/// Gemini CLI 0.61.0: no tools, extensions or MCP servers; the instructions replace its system prompt.
///
/// Its settings file is in its working folder, which is marked as trusted for this run. A system settings file
/// would be ignored: Gemini requires a folder that nobody else can write in, and a temporary folder does not
/// qualify. It adds the date and the list of that folder's files to the prompt. Exit codes: 0, 1, 41 (login), 42
/// (input) or 53 (turns), with the reason in `error`. With tools, it edits files without asking. It is declared
/// to have no tools, not measured.
fn gemini() -> SeatProgram {
    const SETTINGS: &str = "work/.gemini/settings.json";
    /// No core tool has this name.
    const NO_TOOLS: &str = r#"{"tools":{"core":["none"]},"mcp":{"allowed":["none"]},"context":{"fileName":["none"],"includeDirectoryTree":false},"privacy":{"usageStatisticsEnabled":false}}"#;
    SeatProgram {
        command: words("gemini --output-format json --extensions none"),
        with_model: words("--model {model}"),
        tools_command: words("gemini --output-format json --approval-mode auto_edit"),
        set: pairs(&[("GEMINI_SYSTEM_MD", "{rules_file}"), ("GEMINI_CLI_TRUST_WORKSPACE", "true")]),
        files: pairs(&[(SETTINGS, NO_TOOLS)]),
        output: OutputPaths {
            reply: Some("response".to_owned()),
            failure: Some("error.message".to_owned()),
            usage_under: Some("stats.models"),
            tokens_in: words("tokens.prompt"),
            tokens_cached: words("tokens.cached"),
            tokens_out: words("tokens.candidates tokens.thoughts"),
            ..OutputPaths::default()
        },
        version: words("gemini --version"),
        logged_out: &["set an auth method", "invalid auth method", "please set", "not logged in"],
        tool_less: true,
        own_variables: &[
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_GENAI_USE_VERTEXAI",
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
        ],
        priced_as: Some("gemini"),
        ..SeatProgram::default()
    }
}

/// opencode 1.18.33: our agent denies every tool, and the instructions replace its prompt.
///
/// Its question tool is denied too, because `run` can hang on it. It adds the model's name, its folder and the
/// date to the prompt. A second request for a session title is disabled. It prints one event per line; the text
/// of the last part is the answer. It is declared to have no tools, not measured.
fn opencode() -> SeatProgram {
    const NO_TOOLS: &str = r#"{"share":"disabled","autoupdate":false,"agent":{"title":{"disable":true},"seat":{"mode":"primary","prompt":"{file:{rules_file}}","permission":{"*":"deny"}}}}"#;
    const WITH_TOOLS: &str = r#"{"share":"disabled","autoupdate":false,"permission":{"question":"deny"}}"#;
    const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";
    SeatProgram {
        command: words("opencode run --format json --agent seat"),
        with_model: words("--model {model}"),
        tools_command: words("opencode run --format json"),
        tools_set: pairs(&[(CONFIG, WITH_TOOLS)]),
        set: pairs(&[
            (CONFIG, NO_TOOLS),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ]),
        output: OutputPaths {
            reply: Some("part.text".to_owned()),
            reply_if: Some(OutputMark { path: "part.type", value: "text" }),
            failure: Some("error.data.message".to_owned()),
            failure_if: Some(OutputMark { path: "type", value: "error" }),
            end_if: Some(OutputMark { path: "part.reason", value: "stop" }),
            tokens_in: words("part.tokens.input"),
            tokens_cached: words("part.tokens.cache.read"),
            tokens_out: words("part.tokens.output"),
            cost: Some("part.cost".to_owned()),
            ..OutputPaths::default()
        },
        version: words("opencode --version"),
        logged_out: &["no provider", "not logged in", "auth login"],
        tool_less: true,
        own_variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        ..SeatProgram::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_programs_are_complete_and_their_paths_parse() {
        for (provider, _) in PRESETS {
            let program = find_preset(provider).expect("a program");
            assert_eq!(program.provider, provider);
            assert!(!program.command.is_empty() && !program.version.is_empty(), "{provider}");
            assert!(program.output.reply.is_some() && program.output.problems().is_empty());
            let with_tools = program.with_tools("m").expect("with its tools");
            assert_eq!(with_tools.executable(), program.executable());
            assert!(with_tools.command.ends_with(&["--model".to_owned(), "m".to_owned()]));
            assert!(program.is_measurable() != program.is_declared(), "{provider}");
        }
    }
}
