//! How a session seals, and what its seals are bound to.

use super::state::{RoundRun, SeatStatus, Session};
use crate::round::seal::{RoundKey, SEAL_2, SealFormat, unseal};

impl Session {
    pub fn seal_format(&self) -> SealFormat {
        match self.header.as_ref().and_then(|header| header.seal) {
            Some(SEAL_2) => SealFormat::Two,
            _ => SealFormat::One,
        }
    }

    /// The number of its seal, where this version does not have it.
    pub fn other_seal(&self) -> Option<u32> {
        self.header.as_ref()?.seal.filter(|seal| *seal != SEAL_2)
    }

    /// Whether `key` opens what is sealed in a round, as far as its first seal or its public key shows.
    pub fn opens_with(&self, round: &RoundRun, key: &RoundKey) -> bool {
        if let Some(seal_to) = &round.seal_to {
            return key.seal_to() == *seal_to;
        }
        round.sealed_seats().next().is_none_or(|seat| match &seat.status {
            SeatStatus::Sealed(sealed) => {
                unseal(key, round.binding(&seat.name), sealed, self.seal_format()).is_ok()
            }
            _ => true,
        })
    }
}
