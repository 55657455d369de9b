//! The strength of a result: how many of the seats that were asked stand behind it.
//!
//! People read "strength"; files and programs read `tier`.

use serde::{Deserialize, Serialize};

/// How strong a result is, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Nothing was decided.
    None,
    Weak,
    /// At least three quarters of the seats asked stand behind it.
    Strong,
    /// Every seat asked does.
    Unanimous,
}

impl Tier {
    pub const ASKED: [(&'static str, Self); 3] =
        [("weak", Self::Weak), ("strong", Self::Strong), ("unanimous", Self::Unanimous)];

    pub fn name(self) -> &'static str {
        Self::ASKED.iter().find(|(_, tier)| *tier == self).map_or("none", |(name, _)| name)
    }
}
