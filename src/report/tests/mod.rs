//! Sessions for report tests, folded from handmade events.
//!
//! The fold is the real one; only answers and times are invented.

mod decisions;
mod headline;
mod json;
mod madr;
mod markdown;
mod ndjson;
mod pages;
mod strength;
mod text;

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::ballot::{Ballot, Stance};
use crate::core::{Command, decide};
use crate::history::{
    AnswerRevealed, BallotSealed, CloseReason, Event, PersonaInfo, SeatFailed, SeatInfo, Session,
    SessionOpened, TimedEvent, Timestamp,
};
use crate::report::{Document, Source};
use crate::round::answer::AnswerRecord;
use crate::round::answer::{Finish, Outcome, ReplyAttempt, TokenUsage};
use crate::round::seal::{RoundKey, SealedRecord};

/// 2026-11-21T23:05:07.120Z.
const START: i64 = 1_795_302_307_120;

pub const CHOICE: &str = "\
goal: Choose how the shop caches its price list
constraints: [no new server]
artifacts: [{id: REQ-001, summary: Prices change hourly}]
participants: [software-architect, qa-lead, devops-engineer]
steps:
  - {id: pick, type: round, question: Which cache first?, ballot: {kind: choice, options: [inline, redis]}, rule: majority}
";

const CONSENT: &str = "\
question: Adopt the proposal?
ballot: consent
rule: consent
participants: [software-architect, qa-lead, devops-engineer]
";

/// Test session under construction.
pub struct Table {
    pub session: Session,
    events: Vec<TimedEvent>,
    now: i64,
}

impl Table {
    /// Opens a session on a definition; `model` answers every seat.
    fn open(definition: &str, model: &str) -> Self {
        let mut table = Self { session: Session::default(), events: Vec::new(), now: START };
        let mut header = SessionOpened {
            session: "s-1".to_owned(),
            format: crate::journal::FORMAT,
            program: "roundtable 0.1.0".to_owned(),
            texts: crate::history::TEXTS.to_owned(),
            definition_file: "cache.yaml".to_owned(),
            definition_sha256: "d".repeat(64),
            definition: definition.to_owned(),
            input: Value::Null,
            seed: None,
            rehearse: false,
            participants: Vec::new(),
            personas: Vec::new(),
            tasks_file: None,
            tasks_state: None,
            linked_sessions: Vec::new(),
            unread: Vec::new(),
            prices: indexmap::IndexMap::new(),
            table_key: None,
            draw_seed: None,
            pseudonyms: None,
        };
        let loaded = Session::load_definition(&header).unwrap();
        for seat in &loaded.participants {
            header.participants.push(SeatInfo {
                name: seat.name.clone(),
                persona: seat.persona.clone(),
                model: model.to_owned(),
                weight: 1.0,
                seed: None,
                temperature: None,
                effort: None,
                max_output_tokens: None,
                scripted: Vec::new(),
                agent_only: false,
                role: None,
                without_tools: false,
                skills: Vec::new(),
                tags: Vec::new(),
                wrapped: None,
                remote: None,
            });
            header.personas.push(PersonaInfo {
                name: seat.persona.clone(),
                sha256: "e".repeat(64),
                description: String::new(),
                tags: Vec::new(),
                text: format!("You are {}.\n", seat.persona),
            });
        }
        table.apply(Event::SessionOpened(Box::new(header)));
        table
    }

    /// Opens a session and its first round.
    pub fn round(definition: &str) -> Self {
        let mut table = Self::open(definition, "ollama/llama3.2");
        table.command(Command::StartStep);
        table.command(Command::OpenRound { project_summary: None, seal: None });
        table
    }

    pub fn document(&self) -> Document<'_> {
        Document::new(&self.session, Source::default())
    }

    fn json(&self) -> Value {
        serde_json::to_value(self.document()).unwrap()
    }

    fn apply(&mut self, event: Event) {
        self.now += 1_000;
        let stamped = TimedEvent { at: Timestamp(self.now), event };
        self.session.apply(&stamped);
        self.events.push(stamped);
    }

    pub fn command(&mut self, command: Command) {
        let events = decide(&self.session, command, Timestamp(self.now + 1_000)).unwrap();
        for event in events {
            self.apply(event);
        }
    }

    pub fn seal(&mut self, seat: &str) {
        self.apply(Event::BallotSealed(BallotSealed {
            step: self.step(),
            round: self.step(),
            participant: seat.to_owned(),
            elapsed_ms: 3_200,
            signature: None,
            seal: SealedRecord { commitment: "c".repeat(64), enc: "0".repeat(64), sealed: vec![0; 3] }.into(),
        }));
    }

    pub fn fail(&mut self, seat: &str, reason: &str) {
        let (round, participant) = (self.step(), seat.to_owned());
        let reason = reason.to_owned();
        self.command(Command::Fail(Box::new(SeatFailed {
            round,
            participant,
            reason,
            tries: 4,
            ..SeatFailed::default()
        })));
    }

    fn step(&self) -> String {
        self.session.rounds.last().unwrap().opened.round.clone()
    }

    /// Closes the round with these answers, one per sealed seat, and counts it.
    pub fn close(&mut self, answers: Vec<AnswerRevealed>) {
        self.close_only();
        for answer in answers {
            self.apply(Event::AnswerRevealed(answer.into()));
        }
        self.command(Command::Tally);
    }

    fn close_only(&mut self) {
        let run = self.session.open_round().unwrap();
        let missing = run.open_seats().map(|seat| seat.name.clone()).collect();
        let (step, round, key) = (self.step(), self.step(), RoundKey::new([7; 32]).publish());
        let closed =
            crate::history::RoundClosed { step, round, reason: CloseReason::Facilitator, missing, key };
        self.apply(Event::RoundClosed(closed));
    }

    pub fn finish(&mut self) {
        let step = self.session.step.as_ref().map(|run| run.id.clone()).unwrap_or_default();
        self.command(Command::FinishStep { step });
        self.command(Command::Close);
    }

    fn seat(&mut self, name: &str, change: impl FnOnce(&mut SeatInfo)) {
        let roster = Arc::make_mut(&mut self.session.roster);
        change(roster.get_mut(name).unwrap());
    }

    fn answer(&self, seat: &str, ballot: Ballot, content: Value) -> AnswerRevealed {
        let outcome = if ballot == Ballot::Abstain { Outcome::Abstained } else { Outcome::Answered };
        let text = content.to_string();
        let answer = if let Value::Object(entries) = content { entries } else { Map::new() };
        AnswerRevealed {
            step: self.step(),
            round: self.step(),
            participant: seat.to_owned(),
            outcome,
            reason: None,
            ballot: Some(ballot),
            answer,
            flags: Vec::new(),
            record: AnswerRecord {
                model: "ollama/llama3.2".to_owned(),
                replies: vec![ReplyAttempt { text, ..ReplyAttempt::default() }],
                tries: 1,
                latency_ms: 2_400,
                tokens: Some(TokenUsage { input: 600, output: 80, ..TokenUsage::default() }),
                ..AnswerRecord::default()
            },
            may_block: false,
            nonce: "1".repeat(64),
        }
    }

    pub fn vote(&self, seat: &str, option: &str, content: Value) -> AnswerRevealed {
        self.answer(seat, Ballot::Choice(option.to_owned()), content)
    }

    fn stance(&self, seat: &str, stance: Stance, change: Option<&str>) -> AnswerRevealed {
        self.answer(seat, Ballot::Consent(stance, change.map(str::to_owned)), json!({}))
    }

    pub fn invalid(&self, seat: &str, reply: &str) -> AnswerRevealed {
        let mut answer = self.answer(seat, Ballot::Position, json!({}));
        answer.outcome = Outcome::Invalid;
        answer.reason = Some("no such option: `memcached`".to_owned());
        answer.ballot = None;
        answer.answer = Map::new();
        answer.record.replies = vec![ReplyAttempt {
            text: reply.to_owned(),
            finish: Finish::Complete,
            limit: None,
            reason: None,
        }];
        answer
    }
}

/// Returns a session decided by two of three seats.
pub fn decided() -> Table {
    let mut table = Table::round(CHOICE);
    for seat in ["devops-engineer", "software-architect", "qa-lead"] {
        table.seal(seat);
    }
    let answers = vec![
        table.vote(
            "software-architect",
            "inline",
            json!({"vote": "inline", "position": "Keep it in the process.", "confidence": 0.8}),
        ),
        table.vote("qa-lead", "inline", json!({"vote": "inline", "concerns": ["stale prices"]})),
        table.vote(
            "devops-engineer",
            "redis",
            json!({
                "vote": "redis",
                "position": "Restarts empty an in-process cache.\nThat happens *daily*.",
                "rationale": ["deploys are frequent", "redis is there already"],
                "confidence": 0.6,
            }),
        ),
    ];
    table.close(answers);
    table.finish();
    table
}

/// Returns a session in which one of three seats answered.
fn below_quorum() -> Table {
    let mut table = Table::round(CHOICE);
    table.seal("qa-lead");
    table.fail("software-architect", "connection refused");
    let answers = vec![table.vote("qa-lead", "inline", json!({"vote": "inline"}))];
    table.close(answers);
    table.finish();
    table
}
