//! A provider of the configuration that is a program: its keys in config.yaml.

use crate::participants::programs::{HARMLESS_TOOLS, OutputPaths, SeatProgram, named};
use crate::workflow::Fields;
use crate::yaml::Node;

/// Reads the program that a provider is; of one known by name, what is added to it.
pub(super) fn program(fields: &mut Fields<'_>, node: &Node, name: &str) -> SeatProgram {
    let base_url = fields.text("base_url_env");
    let mut program = SeatProgram {
        provider: name.to_owned(),
        command: fields.texts("command"),
        arguments: fields.texts("arguments"),
        env: fields.texts("env"),
        output: OutputPaths {
            reply: fields.text("reply"),
            tokens_in: fields.text("tokens_in").into_iter().collect(),
            tokens_cached: fields.text("tokens_cached").into_iter().collect(),
            tokens_out: fields.text("tokens_out").into_iter().collect(),
            cost: fields.text("cost"),
            ..OutputPaths::default()
        },
        version: fields.texts("version"),
        allow_tools: fields.texts("allow_tools"),
        tool_less: fields.flag("tool_less").unwrap_or(false),
        recorder_set: base_url.map(|name| (name, "{recorder}".to_owned())).into_iter().collect(),
        ..SeatProgram::default()
    };
    if fields.word("prompt", &[("stdin", false), ("argument", true)]) == Some(true) {
        program.command.push("{prompt}".to_owned());
    }
    for (path, error) in program.output.problems() {
        let hint = error.hint.unwrap_or_else(|| "write it as `usage.input_tokens`".to_owned());
        fields.refuse(node, format!("`{path}` is no path: {}", error.message), hint);
    }
    if let Some(tool) = program.allow_tools.iter().find(|tool| !HARMLESS_TOOLS.contains(&tool.as_str())) {
        let known = HARMLESS_TOOLS.map(|tool| format!("`{tool}`")).join(" and ");
        let hint = format!("only {known} can be allowed: they read, run and fetch nothing");
        fields.refuse(node, format!("`{tool}` cannot be allowed in a blind round"), hint);
    }
    let is_known = named(name).is_some();
    if is_known && !program.command.is_empty() {
        let message = format!("`{name}` has flags of its own");
        fields.refuse(node, message, "give another name to a provider with a `command` of yours");
    }
    if !is_known && !program.arguments.is_empty() {
        let message = format!("`arguments` of `{name}` have no effect: they are for programs known by name");
        fields.refuse(node, message, "write them into its `command`");
    }
    let bare = SeatProgram { provider: name.to_owned(), ..SeatProgram::default() };
    if !is_known && program.command.is_empty() && program != bare {
        let message = format!("provider `{name}` has keys of a program and no `command`");
        fields.refuse(node, message, "add `command: [program, argument]`");
    }
    program
}
