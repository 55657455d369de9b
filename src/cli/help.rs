//! Help: the examples of each command, the environment, manual pages and completions.
//!
//! The examples are data, so that `--help`, the manual pages and a test that runs each of them agree.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::args::Args;
use super::console::{Console, VerbResult};
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::journal::Disk;

type Example = (&'static str, &'static str);

const OF_RUN: [Example; 6] = [
    ("roundtable ask \"Which?\" in-process redis", "ask a question without a file"),
    ("roundtable cache.yaml", "open a definition in the terminal UI"),
    ("roundtable --batch cache.yaml --dry-run", "print the prompts and the cost, send nothing"),
    ("roundtable --batch cache.yaml --rehearse", "try it with placeholders, without a model"),
    ("roundtable --batch cache.yaml --json=result", "print the result as one line of JSON"),
    ("roundtable --batch cache.yaml --max-usd 0.50", "stop before it can cost more"),
];

/// Examples of each command, which is the second word.
const EXAMPLES: [Example; 27] = [
    ("roundtable ask \"Which?\" in-process redis --with openai/gpt-5-mini", "ask this one"),
    ("roundtable ask \"Which?\" in-process redis --rehearse --save-as q.yaml", "keep a file"),
    ("roundtable run cache.yaml", "the same as `roundtable --batch cache.yaml`"),
    ("roundtable resume session.s2s", "go on where it stopped"),
    ("roundtable resume session.s2s --answers answers.yaml", "answer what it waits for"),
    ("roundtable serve vote.yaml --lan", "for phones in the same network"),
    ("roundtable mcp --max-usd 1", "at most one dollar for each session"),
    ("roundtable inbox run -- ./agent.sh", "answer each work item with a program"),
    ("roundtable worker --nats tls://queue.example --name fleet", "answer questions"),
    ("roundtable replay session.s2s --text --at 8", "print the first eight events"),
    ("roundtable verify --explain", "the newest session, and what a file cannot prove"),
    ("roundtable trace", "every prompt and reply of the newest session"),
    ("roundtable report session.s2s --number 14 --out docs/adr", "write docs/adr/0014-title.md"),
    ("roundtable report session.s2s --out findings.sarif", "write findings for code scanning"),
    ("roundtable tally session.s2s --all", "recount a round under every rule"),
    ("roundtable tally --ballots ballots.json --rule schulze", "count ballots from a file"),
    ("roundtable check cache.yaml", "report errors and warnings"),
    ("roundtable check --expand cache.yaml", "print the steps of its discussions"),
    ("roundtable schema", "print the JSON Schema of definitions"),
    ("roundtable snapshot cache.yaml --for qa-lead", "with the lines addressed to one participant"),
    ("roundtable strategies", "list them"),
    ("roundtable personas", "list them"),
    ("roundtable sessions", "list saved sessions"),
    ("roundtable doctor", "check every provider, and print every setting"),
    ("roundtable init", "create `.s2s` in this folder"),
    ("roundtable man --out man1", "write all pages to a folder"),
    ("roundtable completions bash", "for bash; also elvish, fish, powershell, zsh"),
];

const ENVIRONMENT: [(&str, &str); 13] = [
    ("OPENAI_API_KEY, ANTHROPIC_API_KEY, …", "keys of hosted providers; `roundtable doctor` names each"),
    ("OPENAI_BASE_URL, OLLAMA_BASE_URL, …", "another address of a provider"),
    ("ROUNDTABLE_MODEL", "model of seats that name none"),
    ("NAME_MODEL", "model of one seat: QA_LEAD_MODEL is that of `qa-lead`"),
    ("ROUNDTABLE_HOME", "folder that holds `config` and `state`"),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME", "where these are without ROUNDTABLE_HOME"),
    ("ROUNDTABLE_LOG", "file for a debug log, without answers and keys"),
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

fn examples(verb: &str) -> Vec<Example> {
    if verb.is_empty() {
        return OF_RUN.to_vec();
    }
    EXAMPLES.into_iter().filter(|(line, _)| line.split(' ').nth(1) == Some(verb)).collect()
}

fn columns(heading: &str, rows: &[Example]) -> String {
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    let rows = rows.iter().map(|(left, right)| format!("  {left:width$}  {right}"));
    format!("{heading}:\n{}", rows.collect::<Vec<_>>().join("\n"))
}

/// Commands by what they are for, in the order of `--help`.
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

/// The command line with the help of every command.
pub fn command() -> Command {
    let mut command = Args::command();
    let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for name in names {
        let shown = columns("Examples", &examples(&name));
        command = command.mut_subcommand(name, |verb| verb.after_help(shown));
    }
    let shown = columns("Examples", &examples(""));
    let environment = columns("Environment", &ENVIRONMENT);
    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n";
    let rest = "Arguments:\n{positionals}\n\nOptions:\n{options}{after-help}";
    let template = format!("{template}{}{rest}", grouped(&command));
    command
        .help_template(template)
        .after_help(format!("{shown}\n\n{EXIT_CODES}"))
        .after_long_help(format!("{shown}\n\n{environment}\n\n{EXIT_CODES}"))
}

/// `man`: the page of the program or of one command, or all of them into a folder.
pub fn man(verb: Option<&str>, out: Option<&Path>, output: &mut Console) -> VerbResult {
    let mut root = command().disable_help_subcommand(true);
    root.build();
    if let Some(folder) = out {
        let disk = Disk::default();
        disk.make_dir(folder)?;
        let pages = with_subcommands(&root);
        for page in &pages {
            let path = folder.join(Man::new((*page).clone()).get_filename());
            disk.write_whole(&path, &page_of(page))?;
        }
        output.note(&format!("written: {} pages to {}", pages.len(), folder.display()));
        return Ok(ExitCode::Finished);
    }
    let page = verb.map_or(Some(&root), |verb| root.find_subcommand(verb));
    let Some(page) = page else {
        let verb = verb.unwrap_or_default();
        let known: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
        let problem = Diagnostic::new(format!("there is no command `{verb}`"));
        return Err(problem.hint(crate::diagnostic::did_you_mean(verb, &known)).into());
    };
    let page = page_of(page);
    let is_shown = std::io::stdout().is_terminal() && by_man(&page).is_ok_and(|status| status.success());
    if !is_shown {
        output.bytes(&page);
    }
    Ok(ExitCode::Finished)
}

/// Shows a page in the pager of `man`.
fn by_man(page: &[u8]) -> std::io::Result<ExitStatus> {
    let mut man = std::process::Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn()?;
    man.stdin.take().map_or(Ok(()), |mut input| input.write_all(page))?;
    man.wait()
}

fn with_subcommands(command: &Command) -> Vec<&Command> {
    std::iter::once(command).chain(command.get_subcommands().flat_map(with_subcommands)).collect()
}

/// A manual page; its examples and exit codes are those of the help.
fn page_of(page: &Command) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _ = Man::new(page.clone()).manual("roundtable manual").render(&mut text);
    text
}

pub fn completions(shell: clap_complete::Shell, output: &mut Console) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "roundtable", &mut text);
    output.bytes(&text);
    ExitCode::Finished
}

#[cfg(test)]
mod tests {
    use super::{EXAMPLES, command};

    #[test]
    fn every_command_has_help_of_its_own_with_examples() {
        let mut command = command();
        command.build();
        for verb in command.clone().get_subcommands().filter(|verb| verb.get_name() != "help") {
            let name = verb.get_name();
            let help = verb.clone().render_help().to_string();
            assert!(help.contains(&format!("roundtable {name}")), "{name}:\n{help}");
            assert!(help.contains("Examples:\n  roundtable "), "{name}:\n{help}");
        }
        let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let of_verb = |(line, _): &(&'static str, &str)| line.split(' ').nth(1).unwrap_or_default();
        assert!(EXAMPLES.iter().map(of_verb).all(|verb| known.contains(&verb)));
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
