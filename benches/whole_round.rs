//! Complete round: a session through the engine, with log and key on disk.
//!
//! One round step, a ballot with two options, all seats with one HTTP service. The measured time is from the
//! request for the snapshot until the tally is on disk.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable::core::{Command, ExitCode, decide};
use roundtable::engine::{Engine, EngineConfig, Observer};
use roundtable::history::{
    Event, LogEntry, PersonaInfo, SeatInfo, Session, SessionOpened, TimedEvent, Timestamp,
};
use roundtable::journal::{Disk, FORMAT, Journal, KeyStore};
use roundtable::launch::headless::HeadlessFacilitator;
use roundtable::launch::scripted_answers::Answers;
use roundtable::participants::progress::ProgressBoard;
use roundtable::participants::{Participant, SeatRequest};
use roundtable::persona::Persona;
use roundtable::round::snapshot::sha256_hex;
use roundtable::workflow::{Source, load};

/// Answer of every seat.
pub const ANSWER: &str = "vote: in-process\nrationale: [nothing new to run]\nconfidence: 0.8\n";

/// Runs one session in `dir`; returns the time of its round.
pub async fn run(id: &str, seats: usize, participant: Arc<dyn Participant>, dir: &Path) -> Duration {
    let header = header(id, seats);
    let table = header.participants.iter().map(|seat| (seat.name.clone(), participant.clone())).collect();
    let path = dir.join(format!("{id}.s2s"));
    let mut opened = None;
    let (mut watch, mut nobody) = (Watch::default(), HeadlessFacilitator::new(Answers::default(), false));
    let journal = Journal::create(&Disk::default(), &path).expect("a new log");
    let mut engine = Engine::new(
        Session::default(),
        journal,
        EngineConfig {
            keys: KeyStore::new(Disk::default(), &dir.join("keys")),
            participants: table,
            evidence: Box::new(|_| Err("no evidence".to_owned())),
            // Called just before the round opens.
            context_file: Box::new(|| {
                opened = Some(Instant::now());
                Ok(None)
            }),
            tasks_file: Box::new(|_, _| Ok(())),
            replace_seat: Box::new(|model| Err(model.to_owned())),
            observer: &mut watch,
            facilitator: &mut nobody,
            interrupt: tokio_util::sync::CancellationToken::new(),
            budget: None,
            progress: ProgressBoard::default(),
        },
    );
    engine.stage(Command::Open(Box::new(header))).expect("a session opens");
    let exit = engine.run().await.expect("a session ends");
    drop(engine);
    assert_eq!((exit, watch.answered), (ExitCode::Finished, seats), "not every seat answered");
    watch.counted.expect("a tally") - opened.expect("a round")
}

/// Returns the requests of the round's seats, without a session file.
pub fn asks(seats: usize) -> Vec<SeatRequest> {
    let mut session = Session::default();
    for command in [
        Command::Open(Box::new(header("fan-out", seats))),
        Command::StartStep,
        Command::OpenRound { project_summary: None, seal: None },
    ] {
        let at = Timestamp(0);
        for event in decide(&session, command, at).expect("possible") {
            session.apply(&TimedEvent { at, event });
        }
    }
    let round = session.open_round().expect("a round");
    let ask = |name: &String| SeatRequest {
        step: "decide".to_owned(),
        round: "decide".to_owned(),
        seat: name.clone(),
        model: "model".to_owned(),
        prompt: session.prompt(round, round.seats[name].item.as_ref().expect("handed out")),
        again: None,
        warm_first: false,
        seed: None,
        temperature: None,
        effort: None,
        max_output_tokens: None,
        has_twice_the_room: false,
        ballot: None,
        schema: None,
        time_left: None,
        timeout: None,
        watch: roundtable::participants::progress::ProgressHandle::default(),
        purse: roundtable::participants::purse::Purse::default(),
        task: None,
    };
    round.seats.keys().map(ask).collect()
}

/// Encodes a request with the same texts by a plain JSON encoder.
pub fn plain_body(ask: &SeatRequest) -> Vec<u8> {
    let user = format!("{}{}", ask.prompt.snapshot, ask.prompt.tail);
    let body = serde_json::json!({
        "messages": [
            {"role": "system", "content": &*ask.prompt.rules},
            {"role": "user", "content": user},
        ],
        "model": ask.model,
        "max_tokens": 4096,
    });
    body.to_string().into_bytes()
}

fn persona() -> Persona {
    let source = "---\nname: seat\n---\nYou look for what may break, and say what it would cost.\n";
    Persona::parse(source, "seat.md").expect("a persona")
}

/// Returns a definition with a snapshot of about 8 KiB.
fn definition(seats: usize) -> String {
    let line = "    A line of context that is as long as lines of context are.\n";
    format!(
        "id: fan-out\ncut_prompts: count\nproject_summary: |\n{}participants: [{{persona: seat, model: bench/model, count: {seats}}}]\n\
         steps:\n  - id: decide\n    type: round\n    question: Which cache first?\n    \
         ballot: {{kind: choice, options: [in-process, redis]}}\n    rule: majority\n",
        line.repeat(128)
    )
}

fn header(id: &str, seats: usize) -> SessionOpened {
    let text = definition(seats);
    let loaded = load(Source { text: &text, file: "fan-out.yaml", id: "fan-out" }).expect("a definition");
    let seat = |name: &str| SeatInfo {
        name: name.to_owned(),
        persona: "seat".to_owned(),
        model: "bench/model".to_owned(),
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
    };
    let persona = persona();
    SessionOpened {
        session: id.to_owned(),
        format: FORMAT,
        texts: roundtable::history::TEXTS.to_owned(),
        program: "bench".to_owned(),
        definition_file: "fan-out.yaml".to_owned(),
        definition_sha256: sha256_hex(&text),
        input: loaded.input(),
        seed: None,
        participants: loaded.participants.iter().map(|spec| seat(&spec.name)).collect(),
        tasks_file: None,
        tasks_state: None,
        linked_sessions: Vec::new(),
        unread: Vec::new(),
        prices: indexmap::IndexMap::new(),
        table_key: None,
        draw_seed: None,
        rehearse: false,
        pseudonyms: None,
        personas: vec![PersonaInfo {
            name: persona.name,
            sha256: sha256_hex(&persona.text),
            description: persona.description,
            tags: persona.tags,
            text: persona.text,
        }],
        definition: text,
    }
}

/// Observer that records when the tally is on disk.
#[derive(Default)]
struct Watch {
    counted: Option<Instant>,
    answered: usize,
}

impl Observer for Watch {
    fn on_event(&mut self, line: &LogEntry, _: &Session) {
        if let Event::TallyMade(tally) = &line.stamped.event {
            (self.counted, self.answered) = (Some(Instant::now()), tally.answered);
        }
    }
}
