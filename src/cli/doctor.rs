//! The `doctor` command: the state of each provider, with hints.
//!
//! Keys are named by their variable. Model names and reasons are foreign text and sanitized. With `--wiretap`,
//! it measures what a program really sends.

use super::console::{Console, VerbResult, aligned};
use super::options::environment;
use crate::config::doctor::{Checkup, CheckupStatus, Doctor, ProbeLevel};
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::launch::environment::Environment;
use crate::launch::error::RunError;
use crate::launch::run::runtime;
use crate::participants::programs::WiretapFinding;
use crate::sanitize::harmless_line;
use crate::signals::Signals;

const NAMED: usize = 5;

pub fn run(names: &[String], depth: ProbeLevel, trusts: bool, output: &mut Console) -> VerbResult {
    let set_up = environment(trusts, output)?;
    let found = checked(&set_up, names, depth)?;
    for line in lines(&found, names.is_empty()) {
        output.line(&line);
    }
    let answers = |checkup: &Checkup| {
        use CheckupStatus::{Answers, Probed, Program};
        matches!(checkup.state, Answers(_) | Probed(_, _, Ok(_)) | Program { .. })
    };
    if names.is_empty() && !found.iter().any(answers) {
        output.note("no model answers yet: set a key or start a local server; `--rehearse` needs neither");
    }
    let any = !names.is_empty() && !found.iter().all(answers);
    Ok(if any { ExitCode::Unreachable } else { ExitCode::Finished })
}

/// Checks the named providers, or all if none is named. Fails with only an exit code if a signal interrupts it.
pub fn checked(set_up: &Environment, names: &[String], depth: ProbeLevel) -> Result<Vec<Checkup>, RunError> {
    let catalog = set_up.catalog();
    let needs = names.iter().filter_map(|name| catalog.need(name).ok().flatten());
    let refused: Vec<Diagnostic> = needs.filter_map(|need| set_up.trust.check(&need).err()).collect();
    if !refused.is_empty() {
        return Err(refused.into());
    }
    let doctor = Doctor { catalog: &catalog, folders: &set_up.folders, depth };
    runtime()?.block_on(async {
        let mut signals = Signals::new()
            .map_err(|error| Diagnostic::new(format!("signals cannot be waited for: {error}")))?;
        tokio::select! {
            found = doctor.check(names) => Ok(found?),
            // This also stops programs that were started to read keys.
            exit = signals.any() => Err(RunError { problems: Vec::new(), exit }),
        }
    })
}

pub fn lines(found: &[Checkup], are_all: bool) -> Vec<String> {
    let mut rows = Vec::new();
    for checkup in found {
        rows.push((checkup.provider.as_str(), state_text(checkup)));
        for (word, text) in [("note", &checkup.note), ("hint", &checkup.hint)] {
            rows.extend(text.iter().map(|text| ("", format!("{word}: {text}"))));
        }
    }
    if are_all {
        rows.push(("rehearsal", "built-in placeholder, asks no model".to_owned()));
    }
    aligned(&rows).collect()
}

fn state_text(checkup: &Checkup) -> String {
    let mut text = match &checkup.state {
        CheckupStatus::NoKey => return "no key".to_owned(),
        CheckupStatus::NotSetUp(why) => return format!("not checked: {why}"),
        CheckupStatus::Silent(why) => format!("unreachable: {why}"),
        CheckupStatus::Program { path, version, known } => {
            format!("found: {version} · {known} · {}", path.display())
        }
        CheckupStatus::Answers(models) => listed(models),
        CheckupStatus::Probed(models, model, Ok(probed)) => {
            let declined =
                if probed.declined.is_empty() { "nothing".to_owned() } else { probed.declined.join(", ") };
            format!(
                "{} · `{model}` answers; took {}; declined {declined}",
                listed(models),
                probed.taken.join(", ")
            )
        }
        CheckupStatus::Probed(models, model, Err(why)) => {
            format!("{} · `{model}` unreachable: {why}", listed(models))
        }
    };
    if let Some(key) = &checkup.key {
        text.push_str(&format!(" · key from {key}"));
    }
    if let Some(address) = &checkup.address {
        text.push_str(&format!(" · {address}"));
    }
    text
}

fn listed(models: &[String]) -> String {
    let shown: Vec<&str> = models.iter().take(NAMED).map(String::as_str).collect();
    match models.len() {
        0 => "ok, no model list".to_owned(),
        n if n > NAMED => format!("answers: {n} models ({}, …)", shown.join(", ")),
        1 => format!("answers: 1 model ({})", shown.join("")),
        n => format!("ok: {n} models ({})", shown.join(", ")),
    }
}

/// Measures the program of each model and prints the result.
pub fn wiretap(names: &[String], trusts: bool, output: &mut Console) -> VerbResult {
    if names.is_empty() {
        let problem = Diagnostic::new("--wiretap needs a program");
        return Err(problem.hint("roundtable doctor --wiretap claude-cli/MODEL").into());
    }
    let set_up = environment(trusts, output)?;
    let mut exit = ExitCode::Finished;
    for name in names {
        let mut program = set_up.installed(name)?.ok_or_else(|| {
            Diagnostic::new(format!("`{name}` is no program"))
                .hint("name one that `roundtable doctor` lists, or a provider with a `command`")
        })?;
        let finding = match program.measure() {
            Ok(finding) => finding.clone(),
            Err(problem) => {
                output.warn(&problem);
                exit = ExitCode::Unreachable;
                continue;
            }
        };
        let refused = program.refusal().map(|problem| problem.message);
        let (version, path) = (&program.version, program.path.display());
        output.line(&harmless_line(&format!("{name}  {version} · {path}")));
        for line in finding_lines(&finding, refused.as_deref()) {
            output.line(&harmless_line(&format!("  {line}")));
        }
    }
    Ok(exit)
}

fn finding_lines(finding: &WiretapFinding, refused: Option<&str>) -> [String; 5] {
    let list = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let whole = if finding.is_whole { "whole and unchanged" } else { "not whole, or changed" };
    [
        format!("tools        {}", list(&finding.tools)),
        format!("requests     {}", finding.requests),
        format!("adds         {} bytes before, {} after", finding.bytes_before, finding.bytes_after),
        format!("snapshot     {whole}"),
        format!("blind seat   {}", refused.unwrap_or("yes")),
    ]
}
