//! The integration tests: one binary, one room of tests a file.

mod faults;
mod http;
mod saved;
mod server;
mod tidy;
