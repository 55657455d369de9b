//! The keys of rounds: found or made before the first request, erased once they are published.

use zeroize::Zeroizing;

use super::state::{Engine, EngineError};
use crate::core::{Command, Refusal, key_file_left};
use crate::round::seal::{RoundKey, SealTo};

impl Engine<'_> {
    /// The open round's key: in memory, else from the store, else new if nothing is sealed yet.
    /// `None` when it is gone and answers are sealed under it.
    pub(super) fn round_key(&mut self) -> Result<Option<RoundKey>, EngineError> {
        let Some(round) = self.session.open_round() else { return Ok(None) };
        let number = round.opened.number;
        if let Some((_, key)) = self.key.as_ref().filter(|(of, _)| *of == number) {
            return Ok(Some(key.clone()));
        }
        let found = self.keys.find(&self.session.id, number)?;
        if let Some(key) = found.filter(|key| round.opens_with(key)) {
            self.key = Some((number, key.clone()));
            return Ok(Some(key));
        }
        if round.sealed() > 0 {
            return Ok(None);
        }
        // Nothing is lost but the key that was announced.
        let seal = self.new_seal()?;
        self.stage(Command::AskAgain { seal: Some(seal) })?;
        Ok(self.key.as_ref().map(|(_, key)| key.clone()))
    }

    /// What the open round, else the next, is sealed to from now on. The private key is on disk when this
    /// returns.
    pub(super) fn new_seal(&mut self) -> Result<SealTo, EngineError> {
        let open = self.session.open_round().map(|round| round.opened.number);
        let number = open.unwrap_or_else(|| self.session.next_round_number());
        Ok(self.make_key(number)?.seal_to())
    }

    fn make_key(&mut self, number: u32) -> Result<RoundKey, EngineError> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *bytes).map_err(|error| {
            EngineError::Table(format!("the operating system gives no randomness: {error}"))
        })?;
        let key = RoundKey::new(*bytes);
        self.keys.keep(&self.session.id, number, &key)?;
        self.key = Some((number, key.clone()));
        Ok(key)
    }

    /// The key is published by now, so that a file that cannot be removed endangers nothing: it is
    /// noted, in the session where that goes on.
    pub(super) fn erase_key(&mut self, number: u32) -> Result<(), Refusal> {
        let Err(error) = self.keys.erase(&self.session.id, number) else { return Ok(()) };
        if self.session.closed.is_some() {
            self.left_behind = Some(error);
            return Ok(());
        }
        self.stage(Command::Warn { message: key_file_left(number, &error.cause) })
    }

    /// Erases keys of rounds that are closed: a crash may have come between close and erasure. One
    /// that cannot be removed is noted.
    ///
    /// # Errors
    /// When the note is refused: a fault of the program.
    pub fn erase_old_keys(&mut self) -> Result<(), Refusal> {
        let closed = self.session.rounds.iter().filter(|round| round.closed.is_some());
        let numbers: Vec<u32> = closed.map(|round| round.opened.number).collect();
        numbers.into_iter().try_for_each(|number| self.erase_key(number))
    }
}
