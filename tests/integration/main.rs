//! The integration tests: one binary, one room of tests a file.

mod core;
mod definitions;
mod faults;
mod http;
mod saved;
mod scenarios;
mod server;
mod tidy;
mod yaml;
