//! roundtable: blind rounds among AI participants.
//!
//! A facilitator opens a round; one frozen snapshot goes to every participant at once; answers are
//! sealed as they arrive and revealed together when the round closes; ballots are counted by a rule
//! fixed beforehand. Commands go in, events come out, state is a fold of events.
//!
//! In reading order; an arrow never runs back (`tests/integration/tidy.rs` sees to it):
//!
//! - [`diagnostic`], [`sanitize`], [`yaml`]: errors with place and hint, foreign text made harmless, YAML
//! - [`tally`]: voting rules
//! - [`ballot`]: ballot kinds, their forms, reading a reply
//! - [`round`]: snapshot, prompt, record and seal
//! - [`persona`]: who a participant is
//! - [`workflow`]: the definition a facilitator writes
//! - [`history`]: events and the state they fold into
//! - [`handoff`]: what participants and later steps are given
//! - [`core`]: which events a command yields, what happens next, counts, cost, exit codes
//! - [`clock`], [`signals`]: the one place that reads the clock; the signals that end the program
//! - [`participants`]: who answers: HTTP services, programs, people, the rehearsal
//! - [`journal`]: the `.s2s` file: write, read, verify; the keys of open rounds
//! - [`engine`]: the loop that does what the core says
//! - [`insight`]: what a session shows, as data and wording
//! - [`report`]: one output format a file
//! - [`remote`]: how seats elsewhere are reached, and who answers there
//! - [`config`]: folders, settings, providers, prices, trust, the doctor
//! - [`launch`]: seats, models, scripted answers and linked sessions of a run
//! - [`tui`]: the terminal screen
//! - [`cli`]: the command line

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
