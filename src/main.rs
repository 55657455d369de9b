//! The program: everything is in the library.

use std::alloc::System;
use std::process::ExitCode;

use roundtable::session::Exit;
use zeroizing_alloc::ZeroAlloc;

/// What is freed is wiped: a reply is in many hands before it is sealed, each with a copy.
#[global_allocator]
static MEMORY: ZeroAlloc<System> = ZeroAlloc(System);

fn main() -> ExitCode {
    let exit = std::panic::catch_unwind(roundtable::cli::main).unwrap_or(Exit::Failure);
    ExitCode::from(exit as u8)
}
