//! Command-line programs that take a seat in place of a service.
//!
//! What is fixed of a program known by name stands in a file of its own, with the version it was tried
//! against. A program of the configuration is the same data. Nothing here looks a program up or runs one
//! but [`ProgramSeat`].

mod claude;
mod codex;
mod gemini;
mod opencode;
mod output;
mod program;
mod recorder;
mod seat;
mod wiretap;

pub use output::OutputPaths;
pub use program::SeatProgram;
pub use seat::{PASSED, ProgramSeat, version};
pub use wiretap::{Finding, fingerprint, measure};

pub struct NamedProgram {
    pub provider: &'static str,
    pub tried: &'static str,
    make: fn() -> SeatProgram,
}

/// Every program known by name.
pub const NAMED: [NamedProgram; 4] = [
    NamedProgram { provider: "claude-cli", tried: claude::TRIED, make: claude::program },
    NamedProgram { provider: "codex-cli", tried: codex::TRIED, make: codex::program },
    NamedProgram { provider: "gemini-cli", tried: gemini::TRIED, make: gemini::program },
    NamedProgram { provider: "opencode-cli", tried: opencode::TRIED, make: opencode::program },
];

/// Returns the program known by this provider's name.
pub fn named(provider: &str) -> Option<SeatProgram> {
    NAMED.iter().find(|known| known.provider == provider).map(|known| (known.make)())
}

/// The tools a program may declare in a blind round, if its configuration allows them: none that reads,
/// runs or fetches anything.
pub const HARMLESS_TOOLS: [&str; 2] = ["request_user_input", "update_plan"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_program_is_whole_and_its_paths_can_be_read() {
        for known in &NAMED {
            let program = named(known.provider).expect("a program");
            assert_eq!(program.provider, known.provider);
            assert!(!program.command.is_empty() && !program.version.is_empty(), "{}", known.provider);
            assert!(program.output.reply.is_some() && program.output.problems().is_empty());
            let with_tools = program.with_tools("m").expect("with its tools");
            assert_eq!(with_tools.executable(), program.executable());
            assert!(with_tools.command.ends_with(&["--model".to_owned(), "m".to_owned()]));
            assert!(program.is_measurable("anthropic/m"), "{}", known.provider);
            assert!(program.is_measurable("m") || program.tool_less, "{}", known.provider);
        }
    }
}
