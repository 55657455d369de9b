//! Lots: a number from a hash of snapshot, persona, seat and seed, the same every time.

use sha2::{Digest as _, Sha256};

use crate::participants::SeatRequest;
use crate::persona::Persona;
use crate::round::snapshot::sha256_hex;

/// How every text of a rehearsed answer begins.
pub const LABEL: &str = "(rehearsal) This is a placeholder, no judgement.";

/// Draws lots for one seat; the same seat of the same round always draws the same.
pub struct Lots {
    seed: Sha256,
}

impl Lots {
    pub fn new(snapshot_sha256: &str, ask: &SeatRequest) -> Self {
        let seed = Sha256::new()
            .chain_update(snapshot_sha256)
            .chain_update(persona_sha256(&ask.persona))
            .chain_update(&ask.seat)
            .chain_update(ask.seed.unwrap_or_default().to_be_bytes());
        Self { seed }
    }

    /// A number that depends on `what` is drawn for.
    pub fn number(&self, what: &str) -> u64 {
        first_bytes(&self.seed.clone().chain_update(what).finalize())
    }

    /// An index below `count`; 0 where there is none.
    pub fn index(&self, what: &str, count: usize) -> usize {
        (self.number(what) % count.max(1) as u64) as usize
    }
}

pub fn first_bytes(hash: &[u8]) -> u64 {
    hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// What of a persona can change an answer: name, priorities and text.
pub fn persona_sha256(persona: &Persona) -> String {
    let priorities: Vec<String> =
        persona.priorities.iter().map(|(word, weight)| format!("{word}={weight}\n")).collect();
    sha256_hex(format!("{}\n{}{}", persona.name, priorities.concat(), persona.text))
}
