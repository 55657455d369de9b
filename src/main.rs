//! The program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(roundtable::cli::main() as u8)
}
