//! Command line: arguments, and one file per command.
//!
//! Results go to standard output, everything else to standard error. Foreign text is sanitized before it is
//! printed.

mod args;
mod ask;
mod browse;
mod check;
mod console;
mod doctor;
mod doors;
mod dry_run;
mod files;
mod headless;
mod help;
mod inbox;
mod init;
mod link_door;
mod mcp;
mod options;
mod progress;
mod snapshot;
mod tally;
mod tui_host;
mod verify;
#[cfg(feature = "nats")]
mod worker;

use std::ffi::OsString;
use std::path::Path;

use clap::FromArgMatches as _;

use crate::config::doctor::ProbeLevel;
use crate::core::ExitCode;
use crate::words::alias;
use args::{Args, InboxVerb, RunArgs, Verb};
use browse::session_or_newest;
use console::{Console, VerbResult, fail};

/// Parses the command line, runs its command, and returns the exit code.
pub fn main() -> ExitCode {
    protect_memory();
    #[cfg(unix)]
    survive_file_limit();
    console::quiet_panics();
    let mut command = help::command();
    let arguments = replace_synonyms(std::env::args_os());
    let read = command.try_get_matches_from_mut(&arguments);
    let read =
        read.and_then(|found| Args::from_arg_matches(&found).map_err(|error| error.format(&mut command)));
    let args = match read {
        Ok(args) => args,
        Err(error) => {
            let verb = arguments.iter().skip(1).find_map(|word| command.find_subcommand(word));
            return console::print_help_or_error(&error, &command, verb);
        }
    };
    let mut output = Console::from_options(&args.run.common);
    let done = match args.verb {
        Some(verb) => dispatch(verb, &mut output),
        None => headless::run(&args.run, &mut output),
    };
    let exit = done.unwrap_or_else(|error| fail(&error, &mut output));
    crate::participants::external_program::end_all();
    output.exit(exit)
}

/// Replaces unambiguous synonyms of commands and flags; arguments after `--` stay unchanged.
fn replace_synonyms(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut is_own = true;
    let own = |(at, argument): (usize, OsString)| {
        let word = argument.to_string_lossy();
        is_own &= word != "--";
        let (name, value) = word.find('=').map_or((&*word, ""), |end| word.split_at(end));
        let is_verb = at == 1 && !Path::new(&argument).exists();
        let meant = if is_verb { alias("verb", name) } else { None }.or_else(|| alias("flag", name));
        meant.filter(|_| is_own).map_or_else(|| argument.clone(), |meant| format!("{meant}{value}").into())
    };
    let mut words: Vec<OsString> = arguments.enumerate().map(own).collect();
    if words.get(1).is_some_and(|verb| verb == "help") {
        words.retain(|word| word != "--help" && word != "-h");
    }
    words
}

fn dispatch(verb: Verb, output: &mut Console) -> VerbResult {
    match verb {
        Verb::Ask(args) => ask::run(&args, output),
        Verb::Run(run) => headless::run(&RunArgs { batch: true, ..*run }, output),
        Verb::Resume(args) => headless::resume_files(args, output),
        Verb::Serve(args) => headless::serve(&args, output),
        Verb::Mcp(args) => mcp::run(args, output),
        Verb::Inbox { verb: InboxVerb::Run(args) } => inbox::run(&args, output),
        #[cfg(feature = "nats")]
        Verb::Worker(args) => worker::run(&args, output),
        Verb::Replay { file, json, text, at, trust } => {
            output.json = json;
            let file = session_or_newest(file.as_deref(), output)?;
            if json || text || at.is_some() || !console::is_on_terminal() {
                return files::replay(&file, at, output);
            }
            let mut run = RunArgs::default();
            run.common.trust = trust;
            tui_host::show(&run, Some(crate::tui::OpenTarget::Replay(file)))
        }
        Verb::Verify(args) => verify::run(&args, output),
        Verb::Trace { file, json } => {
            output.json = json;
            files::trace(&session_or_newest(file.as_deref(), output)?, output)
        }
        Verb::Report(args) => files::report(&session_or_newest(args.file.as_deref(), output)?, &args, output),
        Verb::Tally { file, args } => {
            output.json = args.json;
            tally::run(&args, file.as_deref(), output)
        }
        Verb::Check { files, expand: true, .. } => check::expand(&files, output),
        Verb::Check { files, probe, .. } => check::run(&files, probe, output),
        Verb::Schema => {
            output.line(&crate::workflow::definition_schema_text());
            Ok(ExitCode::Finished)
        }
        Verb::Snapshot { file, step, seat } => snapshot::run(&file, step.as_deref(), seat.as_deref(), output),
        Verb::Strategies { name } => browse::strategy(name.as_deref(), output),
        Verb::Personas { name } => browse::personas(name.as_deref(), output),
        Verb::Sessions { decisions: true, json, markdown } => browse::decisions(json, markdown, output),
        Verb::Sessions { .. } => browse::sessions(output),
        Verb::Doctor { providers, wiretap: true, trust, .. } => {
            doctor::wiretap(&providers, trust.trust, output)
        }
        Verb::Doctor { providers, probe, trust, .. } => {
            let depth = if probe { ProbeLevel::OneWord } else { ProbeLevel::Listing };
            doctor::run(&providers, depth, trust.trust, output)
        }
        Verb::Init { agent: true, .. } => init::for_assistants(output),
        Verb::Init { from: None, .. } => init::run(output),
        Verb::Init { from: Some(file), .. } => init::definition_from(&file, output),
        Verb::Man { out } => help::man(&out, output),
        Verb::Completions { shell } => Ok(help::completions(shell, output)),
    }
}

/// Makes a write beyond the file-size limit fail instead of killing the process.
/// The handler replaces the signal's default, and stays after its runtime has ended.
#[cfg(unix)]
fn survive_file_limit() {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
        let _inside = runtime.enter();
        let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
    }
}

/// Protects the memory of this process: no core file, and no access by other programs of the same user.
/// Programs that it starts are not affected.
fn protect_memory() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Core).maximum;
        // Lowering a limit is always allowed.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    }
    // Also covers systems that pipe cores to a program, which ignores the limit.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
