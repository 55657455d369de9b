//! Command-line programs that take a seat in place of a service.
//!
//! A program known by name and one of the configuration are the same data. Nothing here looks a program up.

mod output;
mod presets;
mod program;
mod recorder;
mod seat;
mod wiretap;

pub use output::OutputPaths;
pub use presets::{NAMED, named};
pub use program::SeatProgram;
pub use seat::{ProgramSeat, version};
pub use wiretap::{WiretapFinding, fingerprint, measure};

/// The tools a program may declare in a blind round, if its configuration allows them: none that reads,
/// runs or fetches anything.
pub const HARMLESS_TOOLS: [&str; 2] = ["request_user_input", "update_plan"];
