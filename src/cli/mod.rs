//! The command line: what may be said, and one file for each verb.
//!
//! Results go to standard output, everything else to standard error. Foreign text is made harmless
//! before it is printed.

mod args;
mod batch;
mod browse;
mod check;
mod closed;
mod console;
mod cost_summary;
mod doctor;
mod dry_run;
mod files;
mod foreseen;
mod headless;
mod init;
mod options;
mod receipts;
mod resume;
mod snapshot;
mod tally;
mod told;
mod tui_host;
mod verb_result;
mod verify;
mod wiretap;

use clap::Parser as _;

use crate::config::doctor::ProbeLevel;
use crate::core::ExitCode;
use args::{Args, Run, Verb};
use browse::session_file;
use console::{Console, fail};
use verb_result::VerbResult;

/// Reads the command line, does what it says, and returns the exit code.
pub fn main() -> ExitCode {
    closed::keep_closed();
    console::quiet_panics();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return console::not_understood(&error),
    };
    let mut output = Console::new(args.run.json, args.run.quiet);
    console::debug_log(&output);
    let done = match args.verb {
        Some(verb) => dispatch(verb, args.trust, &mut output),
        None => batch::run(&Run { trust: args.trust, ..args.run }, &mut output),
    };
    let exit = done.unwrap_or_else(|error| fail(&error, &mut output));
    crate::participants::external_program::end_all();
    output.exit(exit)
}

fn dispatch(verb: Verb, trust: bool, output: &mut Console) -> VerbResult {
    match verb {
        Verb::Resume(run) => {
            *output = Console::new(run.json, run.quiet);
            batch::resume_files(&Run { trust, ..run }, output)
        }
        Verb::Replay { file, json, text, at } => {
            output.json = json;
            let on_screen = !(json || text || at.is_some()) && console::is_on_terminal();
            let file = session_file(&file);
            if on_screen {
                tui_host::show(&Run { trust, ..Run::default() }, Some(crate::tui::OpenTarget::Replay(file)))
            } else {
                files::replay(&file, at, output)
            }
        }
        Verb::Verify { file, expect, receipts, explain, json } => {
            output.json = json;
            let noted = verify::VerifyInputs { expect: expect.as_deref(), receipts: &receipts };
            verify::run(&session_file(&file), &noted, explain, output)
        }
        Verb::Trace { file, participant, round, json } => {
            output.json = json;
            files::trace(&session_file(&file), participant.as_deref(), round.as_deref(), output)
        }
        Verb::Report { file, format, out } => {
            files::report(&session_file(&file), format, out.as_deref(), output)
        }
        Verb::Tally { file, args } => {
            output.json = args.json;
            tally::run(&args, file.as_deref().map(session_file).as_deref(), output)
        }
        Verb::Check { files, json } => {
            output.json = json;
            check::run(&files, trust, output)
        }
        Verb::Schema => {
            output.line(&format!("{:#}", crate::workflow::definition_schema()));
            Ok(ExitCode::Finished)
        }
        Verb::Snapshot { file, step, seat, input } => {
            snapshot::run(&file, step.as_deref(), seat.as_deref(), input.as_deref(), trust, output)
        }
        Verb::Personas { name } => browse::personas(name.as_deref(), trust, output),
        Verb::Sessions { verb } => browse::sessions(verb, trust, output),
        Verb::Config { .. } => browse::config(trust, output),
        Verb::Doctor { providers, wiretap, json, .. } if wiretap => {
            output.json = json;
            wiretap::run(&providers, trust, output)
        }
        Verb::Doctor { providers, probe, json, .. } => {
            output.json = json;
            let depth = if probe { ProbeLevel::OneWord } else { ProbeLevel::Listing };
            doctor::run(&providers, depth, trust, output)
        }
        Verb::Init => init::run(output),
        Verb::Man => Ok(browse::man(output)),
        Verb::Completions { shell } => Ok(browse::completions(shell, output)),
    }
}
