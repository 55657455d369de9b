//! Options of `mcp`.

use clap::Args as ClapArgs;

use super::run::dollars;

/// The panel and the limit that a user gives a coding assistant.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct McpArgs {
    /// Ask these participants unless the assistant names others (default: five personas)
    #[arg(long, value_name = "A,B")]
    pub participants: Vec<String>,
    /// Set the default model, or NAME=provider/model for one seat (repeatable)
    #[arg(long, value_name = "MODEL")]
    pub model: Vec<String>,
    /// Stop each session before its cost can exceed USD, whatever the assistant allows
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub max_usd: Option<f64>,
}
