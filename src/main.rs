//! The program: everything is in the library.

use std::alloc::System;

use roundtable::core::ExitCode;
use zeroizing_alloc::ZeroAlloc;

/// What is freed is wiped: a reply is in many hands before it is sealed, each with a copy.
#[global_allocator]
static MEMORY: ZeroAlloc<System> = ZeroAlloc(System);

fn main() -> std::process::ExitCode {
    let code = std::panic::catch_unwind(roundtable::cli::main).unwrap_or(ExitCode::Failure);
    std::process::ExitCode::from(code as u8)
}
