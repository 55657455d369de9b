//! Command-line programs that fill a seat in place of a service.
//!
//! Built-in programs and those of the configuration are the same data. Nothing here searches for a program on
//! the machine.

mod output;
mod presets;
mod program;
mod recorder;
mod seat;
mod wiretap;

pub use output::OutputPaths;
pub use presets::{PRESETS, find_preset};
pub use program::SeatProgram;
pub use seat::{ProgramSeat, version};
pub use wiretap::{WiretapFinding, fingerprint, measure};

/// Tools that the configuration may allow in a blind round: none reads files, runs commands or fetches.
pub const HARMLESS_TOOLS: [&str; 2] = ["request_user_input", "update_plan"];
