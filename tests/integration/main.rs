//! Integration tests: one binary, one topic per file.

mod agents;
mod altered;
mod ask;
mod bad_input;
mod bad_services;
mod blind;
mod cases;
mod choice_of_model;
mod clones;
#[cfg(target_os = "linux")]
mod closed;
mod core;
mod cost;
mod cut;
mod discussions;
mod documents;
mod every_value;
mod evidence;
mod examples;
mod exit_codes;
mod face;
mod files;
mod forge;
mod fuzzed;
mod hosts;
mod http;
mod inbox;
mod injection;
mod leaks;
mod led;
mod limits;
mod live;
mod mcp;
#[cfg(target_os = "linux")]
mod memory;
mod merging;
#[cfg(feature = "nats")]
mod nats_server;
mod nats_session;
mod no_persona;
mod not_held;
mod open_round;
mod oracle;
mod outputs;
mod packaging;
mod patience;
mod picture;
mod placeholders;
mod program;
mod properties;
mod pty;
mod recall;
mod remote;
mod reports;
mod revisions;
mod same_bytes;
mod saved;
mod scenarios;
#[cfg(unix)]
mod seat_programs;
mod seats;
mod serve;
mod served;
mod server;
mod services;
mod sitting;
mod stopping;
mod storage;
mod stories;
mod structured;
mod tally;
mod tasks_file;
mod templates;
mod terminal;
mod texts;
mod tidy;
mod trust;
#[cfg(unix)]
mod wiretap;
mod work_items;
mod yaml;

use cases::cases;
