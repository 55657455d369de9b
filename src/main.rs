//! Entry point; the library contains the program.

use std::alloc::System;

use roundtable::core::ExitCode;
use zeroizing_alloc::ZeroAlloc;

/// Wipes all freed memory, because several buffers hold copies of a reply before it is sealed.
#[global_allocator]
static MEMORY: ZeroAlloc<System> = ZeroAlloc(System);

fn main() -> std::process::ExitCode {
    let code = std::panic::catch_unwind(roundtable::cli::main).unwrap_or(ExitCode::Failure);
    std::process::ExitCode::from(code as u8)
}
