//! Help texts: examples of each command, environment variables, manual pages, completions.
//!
//! The examples are lines of the documents, which tests run.

use std::path::Path;

use clap::{Command, CommandFactory as _};

use super::args::Args;
use super::console::{Console, VerbResult, aligned};
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::journal::Disk;
use crate::launch::error::RunError;

/// Documents whose lines `roundtable … # comment` are the examples.
const DOCUMENTS: [&str; 5] = [
    include_str!("../../README.md"),
    include_str!("../../docs/AUTOMATION.md"),
    include_str!("../../docs/TALLIES.md"),
    include_str!("../../docs/ELSEWHERE.md"),
    include_str!("../../docs/TRUST.md"),
];

const ENVIRONMENT: [(&str, &str); 12] = [
    ("OPENAI_API_KEY, ANTHROPIC_API_KEY, …", "keys of hosted providers; `roundtable doctor` names each"),
    ("OPENAI_BASE_URL, OLLAMA_BASE_URL, …", "another address of a provider"),
    ("ROUNDTABLE_MODEL", "model of seats that name none"),
    ("NAME_MODEL", "model of one seat: QA_LEAD_MODEL is that of `qa-lead`"),
    ("ROUNDTABLE_HOME", "folder that holds `config` and `state`"),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME", "where these are without ROUNDTABLE_HOME"),
    ("ROUNDTABLE_URL, ROUNDTABLE_TOKEN", "the session and the agent of `roundtable inbox`"),
    ("ROUNDTABLE_ASCII", "draw with ASCII only"),
    ("NO_COLOR", "no colors"),
    ("TERM, LANG, LC_ALL, LC_CTYPE, COLORFGBG", "what the terminal can show"),
    ("HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "proxy for requests"),
    ("PATH", "where programs such as `claude` are found"),
];

const EXIT_CODES: &str = "Exit codes: 0 finished · 1 unexpected failure · 2 error in usage, configuration, definition \
    or file · 3 finished without a decision · 4 waiting for a person · 5 participants unreachable, or cost or time \
    limit reached · 6 verification failed · 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM (resumable)";

/// Returns the example lines that show one of these commands.
fn examples(lines: &[&str], verbs: &[&str]) -> String {
    let is_wanted = |line: &&&str| line.split_whitespace().nth(1).is_some_and(|verb| verbs.contains(&verb));
    let example = |(line, what): (&str, &str)| format!("  {}\n      {what}\n", line.trim_end());
    let lines = lines.iter().filter(is_wanted).filter_map(|line| line.split_once(" # "));
    let shown: String = lines.map(example).collect();
    if shown.is_empty() { shown } else { format!("Examples:\n{shown}") }
}

fn columns(heading: &str, rows: &[(&str, &str)]) -> String {
    aligned(rows).fold(format!("{heading}:\n"), |text, row| format!("{text}  {row}\n"))
}

/// Groups of commands, in the order of `--help`.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Ask and run", &["ask", "run", "resume"]),
    ("Look at sessions", &["report", "replay", "verify", "trace", "tally", "sessions"]),
    ("Define", &["check", "snapshot", "schema", "strategies", "personas"]),
    ("Seats elsewhere", &["serve", "inbox", "worker", "mcp"]),
    ("Set up", &["init", "doctor"]),
];

fn grouped(command: &Command) -> String {
    let line = |name: &&str| {
        let about = command.find_subcommand(name)?.get_about()?.to_string();
        Some(format!("  {name:11}{about}\n"))
    };
    let group = |(heading, names): (&str, &[&str])| {
        format!("{heading}:\n{}\n", names.iter().filter_map(line).collect::<String>())
    };
    GROUPS.into_iter().map(group).collect()
}

/// Returns the command line with the help of every command.
pub fn command() -> Command {
    let mut command = Args::command();
    // The documents are read once, not for each command.
    let lines = DOCUMENTS.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with("roundtable "));
    let lines: Vec<&str> = lines.collect();
    let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for name in names {
        let shown = examples(&lines, &[&name]);
        command = command.mut_subcommand(name, |verb| verb.after_help(shown));
    }
    let files = "Definitions (YAML or JSON) or sessions (.s2s) to run, or `-` for stdin";
    command = command.mut_subcommand("run", |run| {
        run.mut_arg("files", |arg| arg.help(files)).mut_arg("batch", |arg| arg.hide(true))
    });
    let shown = examples(&lines, &["ask", "run", "--batch"]);
    let environment = columns("Environment", &ENVIRONMENT);
    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n";
    let rest = "Arguments:\n{positionals}\n\nOptions:\n{options}{after-help}";
    let template = format!("{template}{}{rest}", grouped(&command));
    command
        .help_template(template)
        .after_help(format!("{shown}\n{EXIT_CODES}"))
        .after_long_help(format!("{shown}\n{environment}\n{EXIT_CODES}"))
}

/// Writes the manual page of every command into a folder.
pub fn man(folder: &Path, output: &Console) -> VerbResult {
    Disk::default().make_dir(folder)?;
    clap_mangen::generate_to(command(), folder).map_err(|error| {
        let problem = Diagnostic::new(format!("cannot write to {}: {error}", folder.display()));
        RunError::unwritable(problem, &error)
    })?;
    output.note(&format!("written: the pages of all commands to {}", folder.display()));
    Ok(ExitCode::Finished)
}

pub fn completions(shell: clap_complete::Shell, output: &mut Console) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "roundtable", &mut text);
    output.bytes(&text);
    ExitCode::Finished
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn every_command_has_help_of_its_own_and_examples_come_from_the_documents() {
        let mut command = command();
        command.build();
        for verb in command.clone().get_subcommands().filter(|verb| verb.get_name() != "help") {
            let help = verb.clone().render_help().to_string();
            assert!(help.contains(&format!("roundtable {}", verb.get_name())), "{help}");
        }
        let check = command.find_subcommand("check").expect("a command").clone().render_help().to_string();
        assert!(
            check.contains("Examples:\n  roundtable check cache.yaml\n      report all errors"),
            "{check}"
        );
    }

    #[test]
    fn resume_lists_only_what_it_takes() {
        let mut command = command();
        command.build();
        let resume = command.find_subcommand("resume").expect("a command").clone().render_help().to_string();
        for taken in ["--answers", "--max-usd", "--json", "--ask-again", "--quiet"] {
            assert!(resume.contains(taken), "{taken}\n{resume}");
        }
        for other in
            ["--input", "--model", "--participants", "--save", "--seed", "--dry-run", "--evidence", "--batch"]
        {
            assert!(!resume.contains(other), "{other}\n{resume}");
        }
    }
}
