//! Conversion of command-line options to launch options.

use serde_json::{Map, Value};

use super::args::RunArgs;
use super::console::Console;
use crate::config::evidence::{EvidenceReader, SecretPolicy};
use crate::config::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::launch::environment::Environment;
use crate::launch::plan::{LaunchOptions, ModelFlags, RunMode};
use crate::launch::scripted_answers::Answers;
use crate::round::material::{EvidencePlace, EvidenceSource};
use crate::workflow::split_participants;

const MAX_ANSWERS: u64 = 64 * 1024 * 1024;

pub fn launch_options(run: &RunArgs, set_up: &mut Environment) -> Result<LaunchOptions, Diagnostic> {
    if run.secrets.is_some() {
        set_up.config.secrets_allowed = true;
    }
    let answers = match &run.common.answers {
        None => Answers::default(),
        Some(path) => Answers::parse(&read_text(path, MAX_ANSWERS)?, &path.display().to_string())?,
    };
    let evidence = evidence(run, set_up.config.secrets_allowed)?;
    Ok(LaunchOptions {
        mode: if run.batch { RunMode::Headless } else { RunMode::Check },
        flags: ModelFlags::parse(&run.opening.model),
        participants: run.participants.iter().flat_map(|list| split_participants(list)).collect(),
        invited: run.invite.clone(),
        input: run.opening.input.clone(),
        seed: run.seed,
        max_usd: run.common.max_usd,
        answers,
        rehearse: run.rehearse,
        is_preview: run.dry_run,
        evidence,
    })
}

/// Reads the evidence of the command line, which is added to the definition's.
pub fn evidence(run: &RunArgs, secrets_allowed: bool) -> Result<Vec<Map<String, Value>>, Diagnostic> {
    let is_piped = |path: &String| path == "-";
    if run.evidence.iter().filter(|path| is_piped(path)).count() > 1
        || run.evidence.iter().any(is_piped) && run.files.iter().any(|file| file.as_os_str() == "-")
    {
        return Err(
            Diagnostic::new("standard input can be read only once").hint("write one of them to a file")
        );
    }
    let reader = EvidenceReader::of_person(SecretPolicy::allow_if(secrets_allowed));
    let file = |named: &String| {
        if is_piped(named) {
            let text = std::io::read_to_string(std::io::stdin().lock());
            let text = text.map_err(|error| Diagnostic::new(format!("standard input: {error}")))?;
            return reader.piped(&text);
        }
        let place = EvidencePlace::file(named);
        let summary = place.name();
        let mut shown = reader.read(&EvidenceSource { place, numbers: true, written_at: (0, 0) })?;
        shown.insert("summary".to_owned(), summary.into());
        Ok(shown)
    };
    let diff = |range: &String| {
        let place = EvidencePlace::Diff { range: range.clone(), paths: Vec::new() };
        reader.read(&EvidenceSource { place, numbers: true, written_at: (0, 0) })
    };
    run.evidence.iter().map(file).chain(run.diff.iter().map(diff)).collect()
}

/// Finds folders and configuration, and prints warnings about the project.
pub fn environment(trusts: bool, output: &Console) -> Result<Environment, Vec<Diagnostic>> {
    let set_up = Environment::find(trusts)?;
    for notice in set_up.notices() {
        output.warn(notice);
    }
    Ok(set_up)
}
