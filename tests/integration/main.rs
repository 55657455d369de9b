//! The integration tests: one binary, one room of tests a file.

mod altered;
mod crash;
mod cut;
mod faults;
mod full_disk;
mod home;
mod http;
mod open_round;
mod saved;
mod seats;
mod server;
mod storage;
mod tidy;
