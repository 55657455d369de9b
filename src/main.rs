//! The program: everything is in the library.

use std::process::ExitCode;

use roundtable::session::Exit;

fn main() -> ExitCode {
    let exit = std::panic::catch_unwind(roundtable::cli::main).unwrap_or(Exit::Failure);
    ExitCode::from(exit as u8)
}
