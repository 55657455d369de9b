//! Keys of rounds, on disk while their round is open.
//!
//! Meanwhile this process knows only the public key. The private key is in the key store before the first
//! request. It is read again at the close, and erased once it is published.

use zeroize::Zeroizing;

use super::state::{Engine, EngineError};
use crate::core::Command;
use crate::journal::DiskError;
use crate::round::seal::{RoundKey, SealTo};

impl Engine<'_> {
    /// Returns the open round's private key from the store; `None` if that is missing or another.
    pub(super) fn stored_key(&self) -> Result<Option<RoundKey>, EngineError> {
        let Some(round) = self.session.open_round() else { return Ok(None) };
        let found = self.config.keys.find(&self.session.id, round.opened.number)?;
        Ok(found.filter(|key| round.opens_with(key)))
    }

    /// Replaces the missing key of the open round. If answers are sealed to it, records the loss instead.
    pub(super) fn replace_key(&mut self) -> Result<(), EngineError> {
        let command = match self.session.open_round() {
            Some(round) if round.sealed() > 0 => Command::LoseKey,
            _ => Command::AskAgain { seal: Some(self.new_seal()?) },
        };
        Ok(self.stage(command)?)
    }

    /// Creates a key for the open round and returns its public part; the private key is then on disk alone.
    pub(super) fn new_seal(&mut self) -> Result<SealTo, EngineError> {
        let key = new_key()?;
        self.keep_key(&key)?;
        Ok(key.seal_to())
    }

    /// Stores the key of the open round, else of the next one.
    pub(super) fn keep_key(&self, key: &RoundKey) -> Result<(), DiskError> {
        let open = self.session.open_round().map(|round| round.opened.number);
        self.config.keys.keep(&self.session.id, open.unwrap_or_else(|| self.session.next_round_number()), key)
    }

    /// Erases the keys of closed rounds, in case of a crash between close and erasure.
    pub fn erase_old_keys(&self) {
        for round in self.session.rounds.iter().filter(|round| round.closed.is_some()) {
            self.config.keys.erase(&self.session.id, round.opened.number);
        }
    }
}

pub(super) fn new_key() -> Result<RoundKey, EngineError> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *bytes)
        .map_err(|error| EngineError::Other(format!("the operating system gives no randomness: {error}")))?;
    Ok(RoundKey::new(*bytes))
}
