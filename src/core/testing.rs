//! Test sessions with the given seats and models, driven by commands.

use serde_json::{Value, json};

use super::{Command, decide};
use crate::history::{Session, TimedEvent, Timestamp};
use crate::round::seal::RoundKey;

pub fn session(definition: &str, seats: &[(&str, &str)]) -> Session {
    let seat =
        |(name, model): &(&str, &str)| json!({"name": name, "persona": name, "model": model, "weight": 1.0});
    let header = json!({
        "session": "s-1", "format": 3, "program": "test", "definition_file": "w.yaml", "definition_sha256": "",
        "definition": definition, "input": {}, "personas": [], "texts": "",
        "participants": seats.iter().map(seat).collect::<Value>(),
    });
    let mut session = Session::default();
    does(&mut session, Command::Open(serde_json::from_value(header).expect("a header")));
    session
}

pub fn does(session: &mut Session, command: Command) {
    let said = format!("{command:?}");
    let events = decide(session, command, Timestamp(1)).unwrap_or_else(|why| panic!("{said}: {why}"));
    for event in events {
        session.apply(&TimedEvent { at: Timestamp(1), event });
    }
}

/// Returns a session whose first round is open.
pub fn open_round(definition: &str, seats: &[(&str, &str)]) -> Session {
    let mut session = session(definition, seats);
    does(&mut session, Command::StartStep);
    let seal = Some(RoundKey::new([1; 32]).seal_to());
    does(&mut session, Command::OpenRound { project_summary: None, seal });
    session
}
