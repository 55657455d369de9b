//! The integration tests: one binary, one room of tests a file.

mod bad_input;
mod bad_services;
mod blind;
mod choice_of_model;
mod exit_codes;
mod faults;
mod http;
mod ndjson;
mod program;
mod same_bytes;
mod saved;
mod scripts;
mod server;
mod terminal;
mod tidy;
