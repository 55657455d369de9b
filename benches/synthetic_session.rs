//! Sessions of any length, made by the core: rounds with sealed and failed seats.

#[expect(dead_code, reason = "the word is for tests")]
#[path = "../tests/integration/sitting.rs"]
mod sitting;

use std::path::Path;

use roundtable::core::Command;
use roundtable::history::{CloseReason, Event, LogEntry, SeatFailed};
use roundtable::journal::Chain;
use roundtable::round::answer::{AnswerRecord, Origin, ReplyAttempt};
use roundtable::round::seal::{Nonces, RoundKey, Sealer};
use roundtable::workflow::{ParticipantSpec, Source, load};
use sitting::{Sitting, header, persona, seat};

const ID: &str = "20260101-000000-long-0000";

/// Returns a session with one round step that repeats itself.
fn session_of(seats: usize) -> Sitting {
    let definition = format!(
        "participants: [{{persona: qa-lead, count: {seats}}}]\nmax_iterations: 100000\nsteps:\n  \
         - {{id: pick, type: round, question: \"Which?\", ballot: {{kind: choice, options: [a, b]}}, rule: plurality, next: pick, on_error: pick}}\n"
    );
    let loaded = load(Source { text: &definition, file: "long.yaml", id: "long" });
    let participants = loaded.expect("a definition").participants;
    let known = |spec: &ParticipantSpec| {
        let mut seat = seat(&spec.name, "rehearsal");
        seat["persona"] = spec.persona.as_str().into();
        seat
    };
    let seats: Vec<serde_json::Value> = participants.iter().map(known).collect();
    let mut header = header(&definition, &seats, &[persona("qa-lead", "You test.\n")]);
    header["session"] = ID.into();
    Sitting::new(header, 20)
}

impl Sitting {
    /// Opens a round; the first `sealed` seats answer.
    fn opens(&mut self, sealed: usize, key: &RoundKey) {
        self.does(Command::StartStep);
        self.does(Command::OpenRound { project_summary: None, seal: Some(key.seal_to()) });
        let round = self.session.rounds.last().expect("a round").opened.clone();
        for name in round.seats.iter().take(sealed) {
            let answer = serde_json::json!({ "vote": "a", "rationale": ["because it is simple"] });
            let raw = AnswerRecord {
                origin: Origin::Placeholder,
                model: "rehearsal".to_owned(),
                replies: vec![ReplyAttempt { text: answer.to_string(), ..ReplyAttempt::default() }],
                tries: 1,
                latency_ms: 20,
                ..AnswerRecord::default()
            };
            let text = serde_json::to_string(&raw).expect("a record is JSON");
            let nonces = Nonces { ephemeral: [7; 32], commitment: [9; 32] };
            let run = self.session.rounds.last().expect("a round");
            let binding = run.binding(name);
            let seal = Sealer::new(key).seal(&nonces, &binding, &text).expect("short enough");
            self.does(Command::Seal { round: round.round.clone(), participant: name.clone(), seal });
        }
    }

    fn closes(&mut self, sealed: usize, key: &RoundKey) {
        let round = self.session.rounds.last().expect("a round").opened.clone();
        for name in round.seats.iter().skip(sealed) {
            self.does(Command::Fail(Box::new(SeatFailed {
                round: round.round.clone(),
                participant: name.clone(),
                reason: "connection refused".to_owned(),
                tries: 4,
                ..SeatFailed::default()
            })));
        }
        self.does(Command::CloseRound { reason: CloseReason::All, key: key.clone() });
        self.does(Command::Tally);
        self.does(Command::FinishStep { step: "pick".to_owned() });
    }
}

/// Writes a session of exactly this many events; returns its size in bytes.
pub fn write(path: &Path, events: usize) -> usize {
    const SEATS: usize = 500;
    const SEALED: usize = 70;
    let mut sitting = session_of(SEATS);
    let mut number = 0_u8;
    while sitting.events.len() < events {
        number = number.wrapping_add(1);
        let key = RoundKey::new([number; 32]);
        sitting.opens(SEALED, &key);
        sitting.closes(SEALED, &key);
    }
    sitting.events.truncate(events);
    let (mut text, mut chain) = (String::new(), Chain::default());
    for stamped in &sitting.events {
        chain.write(stamped.clone(), &mut text);
    }
    std::fs::write(path, &text).expect("written");
    text.len()
}

/// Returns the events of a session with an open round, `sealed` of its seats sealed.
pub fn open_round(seats: usize, sealed: usize) -> Vec<LogEntry> {
    let mut sitting = session_of(seats);
    sitting.opens(sealed, &RoundKey::new([1; 32]));
    let line = |(seq, stamped)| LogEntry { seq, prev: String::new(), hash: String::new(), stamped };
    let is_seal = |event: &Event| matches!(event, Event::BallotSealed(_));
    assert!(sitting.events.iter().filter(|stamped| is_seal(&stamped.event)).count() == sealed);
    (0..).zip(sitting.events).map(line).collect()
}
