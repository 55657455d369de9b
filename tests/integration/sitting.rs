//! Session driven command by command, on the test's clock.

use roundtable::core::{Command, decide};
use roundtable::history::{Session, TimedEvent, Timestamp};
use roundtable::journal::Chain;
use roundtable::round::seal::{Nonces, RoundKey, SealedRecord, Sealer};
use roundtable::round::snapshot::sha256_hex;
use serde_json::{Value, json};

pub const START: i64 = 1_795_302_307_120;

pub struct Sitting {
    pub session: Session,
    pub events: Vec<TimedEvent>,
    pub chain: Chain,
    pub now: i64,
    /// Milliseconds by which each command advances the clock.
    pub pace: i64,
    /// A word in every generated answer.
    pub word: String,
}

impl Sitting {
    pub fn new(header: Value, pace: i64) -> Self {
        let mut sitting = Self::at(START, pace);
        sitting.does(Command::Open(Box::new(serde_json::from_value(header).expect("a header"))));
        sitting
    }

    /// Returns a session that is not open yet.
    pub fn at(now: i64, pace: i64) -> Self {
        let (session, chain, word) = (Session::default(), Chain::default(), "word".to_owned());
        Self { session, events: Vec::new(), chain, now, pace, word }
    }

    /// Returns the session of these events, at the time of the last one.
    pub fn of(events: &[TimedEvent]) -> Self {
        let mut sitting = Self::at(events.last().map_or(START, |last| last.at.0), 0);
        for stamped in events {
            sitting.takes(stamped.clone());
        }
        sitting
    }

    /// Executes a command; returns the number of its events, or the refusal.
    pub fn tries(&mut self, command: Command) -> Result<usize, String> {
        self.now += self.pace;
        let at = Timestamp(self.now);
        let events = decide(&self.session, command, at).map_err(|refusal| refusal.to_string())?;
        let count = events.len();
        for event in events {
            self.takes(TimedEvent { at, event });
        }
        Ok(count)
    }

    /// Folds an event as it would be in the file.
    pub fn takes(&mut self, stamped: TimedEvent) {
        let line = self.chain.write(stamped, &mut String::new());
        self.session.apply_entry(&line);
        self.events.push(line.stamped);
    }

    /// Seals a seat's answer in the last round under this key.
    pub fn sealed(&self, seat: &str, record: &str, key: &RoundKey, nonce: u8) -> SealedRecord {
        let binding = self.session.rounds.last().map(|round| round.binding(seat)).unwrap_or_default();
        let nonces = Nonces { ephemeral: [nonce; 32], commitment: [nonce; 32] };
        Sealer::new(key).seal(&nonces, &binding, record).expect("short enough")
    }

    pub fn does(&mut self, command: Command) -> usize {
        let text = format!("{command:?}");
        self.tries(command).unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
    }
}

/// Returns the header of a session of this definition, with these seats and personas.
pub fn header(definition: &str, seats: &[Value], personas: &[Value]) -> Value {
    json!({
        "session": "s-1", "format": roundtable::journal::FORMAT, "program": "test", "definition_file": "w.yaml",
        "texts": roundtable::history::TEXTS, "definition_sha256": sha256_hex(definition), "definition": definition, "input": {},
        "participants": seats, "personas": personas,
    })
}

pub fn seat(name: &str, model: &str) -> Value {
    json!({ "name": name, "persona": name, "model": model, "weight": 1.0 })
}

pub fn persona(name: &str, text: &str) -> Value {
    json!({ "name": name, "sha256": sha256_hex(text), "description": "", "text": text })
}
