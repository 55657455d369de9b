//! roundtable: blind rounds among AI participants.
//!
//! A facilitator opens a round. One frozen snapshot goes to every participant at once; answers are sealed on
//! arrival and revealed together when the round closes. A rule fixed beforehand counts the ballots. Commands
//! produce events, and state is a fold of events.
//!
//! Modules in reading order; each uses only earlier ones (tested by `tests/integration/tidy.rs`):
//!
//! - [`diagnostic`], [`sanitize`], [`yaml`]: errors with place and hint, safe display of foreign text, YAML
//! - [`tally`]: voting rules
//! - [`ballot`]: ballot kinds and forms, parsing of replies
//! - [`round`]: snapshot, prompt, answer record and seal
//! - [`persona`]: role descriptions
//! - [`workflow`]: the definition of a session
//! - [`history`]: events and session state
//! - [`handoff`]: input of participants and later steps
//! - [`core`]: decisions on commands, next action, tally of a round, cost, exit codes
//! - [`clock`], [`signals`]: system clock; signals that end the program
//! - [`participants`]: HTTP providers, programs, people, rehearsal
//! - [`journal`]: the `.s2s` file: write, read, verify; keys of open rounds
//! - [`engine`]: execution of the core's actions
//! - [`insight`]: views of a session, as data and wording
//! - [`report`]: one output format per file
//! - [`remote`]: remote seats and their workers
//! - [`config`]: folders, settings, providers, prices, trust, the doctor
//! - [`launch`]: seats, models, scripted answers and linked sessions of a run
//! - [`tui`]: terminal screen
//! - [`cli`]: command line

pub mod ballot;
pub mod cli;
pub mod clock;
pub mod config;
pub mod core;
pub mod diagnostic;
pub mod engine;
pub mod handoff;
pub mod history;
pub mod insight;
pub mod journal;
pub mod launch;
pub mod participants;
pub mod persona;
pub mod remote;
pub mod report;
pub mod round;
pub mod sanitize;
pub mod signals;
pub mod tally;
pub mod tokens;
pub mod tui;
mod words;
pub mod workflow;
pub mod yaml;

#[cfg(test)]
#[path = "../tests/integration/cases.rs"]
mod cases;
