//! From the command line's options to what a launch is given.

use std::path::Path;

use super::args::Run;
use super::console::Console;
use crate::config::dirs::Dirs;
use crate::config::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::launch::environment::Environment;
use crate::launch::model_choice::ModelFlags;
use crate::launch::prepare::{LaunchOptions, PreparedSession, read_definition};
use crate::launch::scripted_answers::Answers;

/// Larger answers are not read, in bytes.
const MAX_ANSWERS: u64 = 64 * 1024 * 1024;

/// Reads the options of a run.
///
/// # Errors
/// When the answers file cannot be read.
pub fn launch_options(run: &Run) -> Result<LaunchOptions, Diagnostic> {
    let answers = match &run.answers {
        None => Answers::default(),
        Some(path) => Answers::parse(&read_text(path, MAX_ANSWERS)?, &path.display().to_string())?,
    };
    Ok(LaunchOptions {
        is_headless: run.batch,
        flags: ModelFlags::parse(&run.model),
        participants: run.participants.clone(),
        input: run.input.clone(),
        seed: run.seed,
        max_usd: run.max_usd,
        answers,
    })
}

/// Finds folders and configuration, and prints what is to be said of the project.
pub fn environment(trusts: bool, output: &Console) -> Result<Environment, Vec<Diagnostic>> {
    let set_up = Environment::find(trusts)?;
    for notice in set_up.notices() {
        output.warn(notice);
    }
    Ok(set_up)
}

/// Reads and loads a definition, and prints its warnings; `-` is standard input.
pub fn load_plan(path: &Path, folders: &Dirs, output: &Console) -> Result<PreparedSession, Vec<Diagnostic>> {
    let (plan, warnings) = read_definition(path, folders)?;
    for warning in &warnings {
        output.warn(warning);
    }
    Ok(plan)
}
