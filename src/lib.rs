//! roundtable: blind rounds among AI participants.
//!
//! A facilitator opens a round; one frozen snapshot goes to every participant at once; answers are
//! sealed as they arrive and revealed together when the round closes; ballots are counted by a rule
//! fixed beforehand. Commands go in, events come out, state is a fold of events.
//!
//! In reading order; an arrow never runs back (`tests/integration/tidy.rs` sees to it):
//!
//! - [`problem`], [`text`], [`yaml`]: errors as people read them, harmless text, YAML in and out
//! - [`tally`]: counting rules
//! - [`ballot`]: ballot kinds, their forms, reading a reply
//! - [`round`]: snapshot, prompt, record and seal
//! - [`identity`], [`persona`]: what gives an author away, found and masked; who a participant is
//! - [`workflow`]: the definition a facilitator writes
//! - [`session`]: the core: events, state, what a command yields, what happens next
//! - [`clock`]: the one place that reads the clock
//! - [`participants`]: who answers, one file a provider
//! - [`journal`]: the `.s2s` file: write, read, verify; the keys of open rounds
//! - [`engine`]: the loop that does what the core says
//! - [`report`]: the folded state as Markdown, JSON, text and NDJSON
//! - [`setup`]: folders, configuration, personas on disk, models, scripted answers
//! - [`tui`]: the screen: a saved session replayed
//! - [`cli`]: the command line and the headless face

pub mod ballot;
pub mod cli;
pub mod clock;
pub mod config;
pub mod core;
pub mod diagnostic;
pub mod engine;
pub mod handoff;
pub mod history;
pub mod identity;
pub mod insight;
pub mod journal;
pub mod launch;
pub mod participants;
pub mod persona;
pub mod report;
pub mod round;
pub mod sanitize;
pub mod tally;
pub mod tui;
pub mod workflow;
pub mod yaml;
