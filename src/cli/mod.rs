//! The command line: what may be said, and one file for each verb.
//!
//! Results go to standard output, everything else to standard error. Foreign text is made harmless
//! before it is printed.

mod agent_files;
mod args;
mod ask;
mod batch;
mod browse;
mod check;
mod console;
mod doctor;
mod door;
mod dry_run;
mod files;
mod headless;
mod help;
mod inbox;
mod init;
mod link_door;
mod mcp;
#[cfg(not(feature = "nats"))]
mod no_worker_door;
mod options;
mod resume;
mod serve;
mod snapshot;
mod tally;
mod told;
mod tui_host;
mod verify;
mod wiretap;
#[cfg(feature = "nats")]
mod worker;
#[cfg(feature = "nats")]
mod worker_door;

#[cfg(not(feature = "nats"))]
use no_worker_door as worker_door;

use clap::FromArgMatches as _;
use clap::error::ErrorKind;

use crate::config::doctor::ProbeLevel;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use args::{Args, InboxVerb, Run, Verb};
use browse::session_file;
use console::{Console, VerbResult, fail};

/// Reads the command line, does what it says, and returns the exit code.
pub fn main() -> ExitCode {
    keep_closed();
    console::quiet_panics();
    let mut command = help::command();
    let read = command.try_get_matches_from_mut(std::env::args_os());
    let read =
        read.and_then(|found| Args::from_arg_matches(&found).map_err(|error| error.format(&mut command)));
    let args = match read {
        Ok(args) => args,
        Err(error) => {
            let stray = stray_word(&command).filter(|_| error.kind() == ErrorKind::DisplayHelp);
            let Some(problem) = stray else { return console::not_understood(&error) };
            return fail(&problem.into(), &mut Console::new(false, false));
        }
    };
    let mut output = Console::of(&args.run.common);
    console::debug_log(&output);
    let done = match args.verb {
        Some(verb) => dispatch(verb, args.trust, &mut output),
        None => batch::run(&Run { trust: args.trust, ..args.run }, &mut output),
    };
    let exit = done.unwrap_or_else(|error| fail(&error, &mut output));
    crate::participants::external_program::end_all();
    output.exit(exit)
}

/// What is wrong with a first word that is no option, no command and no file; help would not say so.
fn stray_word(command: &clap::Command) -> Option<Diagnostic> {
    let word = std::env::args_os().nth(1).filter(|word| !word.to_string_lossy().starts_with('-'))?;
    let is_known = command.find_subcommand(&word).is_some() || std::path::Path::new(&word).exists();
    (!is_known).then(|| batch::interactive(Some(std::path::Path::new(&word))))
}

fn dispatch(verb: Verb, trust: bool, output: &mut Console) -> VerbResult {
    match verb {
        Verb::Ask(args) => ask::run(args, trust, output),
        Verb::Run(run) => batch::run(&Run { batch: true, trust, ..*run }, output),
        Verb::Resume(args) => batch::resume_files(&Run { trust, ..args.into() }, output),
        Verb::Serve(args) => batch::serve(&args, trust, output),
        Verb::Mcp(args) => mcp::run(&args, trust, output),
        Verb::Inbox { verb: InboxVerb::Run(args) } => inbox::run(&args, output),
        #[cfg(feature = "nats")]
        Verb::Worker(args) => worker::run(&args, trust, output),
        Verb::Replay { file, json, text, at } => {
            output.json = json;
            let file = session_file(&file);
            if json || text || at.is_some() || !console::is_on_terminal() {
                return files::replay(&file, at, output);
            }
            tui_host::show(&Run { trust, ..Run::default() }, Some(crate::tui::OpenTarget::Replay(file)))
        }
        Verb::Verify { files, expect, receipt, explain, json } => {
            output.json = json;
            let noted = verify::VerifyInputs { expect: expect.as_deref(), receipt: receipt.as_deref() };
            verify::run(&files, &noted, explain, output)
        }
        Verb::Trace { file, participant, round, json } => {
            output.json = json;
            files::trace(&session_file(&file), participant.as_deref(), round.as_deref(), output)
        }
        Verb::Report(args) => files::report(&session_file(&args.file), &args, output),
        Verb::Tally { file, args } => {
            output.json = args.json;
            tally::run(&args, file.as_deref().map(session_file).as_deref(), output)
        }
        Verb::Check { files, expand: true, .. } => check::expand(&files, trust, output),
        Verb::Check { files, json, .. } => check::run(&files, json, trust, output),
        Verb::Schema => Ok(browse::schema(output)),
        Verb::Snapshot { file, step, seat, input } => {
            snapshot::run(&file, step.as_deref(), seat.as_deref(), input.as_deref(), trust, output)
        }
        Verb::Strategies { name } => browse::strategy(name.as_deref(), trust, output),
        Verb::Personas { name } => browse::personas(name.as_deref(), trust, output),
        Verb::Sessions => browse::sessions(trust, output),
        Verb::Doctor { providers, wiretap: true, json, .. } => {
            output.json = json;
            wiretap::run(&providers, trust, output)
        }
        Verb::Doctor { providers, probe, json, .. } => {
            output.json = json;
            let depth = if probe { ProbeLevel::OneWord } else { ProbeLevel::Listing };
            doctor::run(&providers, depth, trust, output)
        }
        Verb::Init { from: None, agent } => init::run(agent, output),
        Verb::Init { from: Some(file), .. } => init::definition_from(&file, output),
        Verb::Man { command, out } => help::man(command.as_deref(), out.as_deref(), output),
        Verb::Completions { shell } => Ok(help::completions(shell, output)),
    }
}

/// Keeps what this process holds in it from now on: no core file is made of it, and no other program of the
/// same user looks into it. What it starts is not bound by it.
fn keep_closed() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Core).maximum;
        // A limit may always be lowered.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    }
    // For where cores go to a program, which the limit does not bind.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
