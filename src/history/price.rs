//! Price of a model's tokens.

use serde::{Deserialize, Serialize};

use crate::round::record::TokenUsage;

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Of a prompt.
    pub input: f64,
    /// Of what of a prompt the service had in its cache.
    pub cached: f64,
    /// Of a reply.
    pub output: f64,
}

impl Price {
    /// Whether nothing is charged.
    pub fn is_nothing(&self) -> bool {
        self.input <= 0.0 && self.cached <= 0.0 && self.output <= 0.0
    }

    /// What these tokens cost.
    pub fn cost_usd(&self, tokens: TokenUsage) -> f64 {
        let uncached = tokens.input.saturating_sub(tokens.cached);
        let input = uncached as f64 * self.input + tokens.cached as f64 * self.cached;
        (input + tokens.output as f64 * self.output) / 1e6
    }
}
