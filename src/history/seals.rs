//! How a session seals, and what its seals are bound to.

use super::state::{RoundRun, SeatStatus, Session};
use crate::round::seal::{Padding, RoundKey, SEAL_2, SealFormat, unseal};

impl Session {
    /// How records are sealed, and by that what they hold: what came back, or what was read of it.
    pub fn seal_format(&self) -> SealFormat {
        match self.header.as_ref().map(|header| (header.seal, header.reply_rules)) {
            Some((Some(SEAL_2), _)) => SealFormat::Two,
            Some((_, Some(_))) => SealFormat::One(Padding::Classes),
            Some((_, None)) | None => SealFormat::One(Padding::Steps),
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
