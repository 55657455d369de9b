//! Test engine with a few seats and no facilitator.

use std::path::Path;

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::{Value, json};

use super::facilitator::{Facilitator, FacilitatorRequest, WaitPoint};
use super::state::{Engine, EngineConfig, Observer, SeatedParticipants};
use crate::core::Command;
use crate::history::{Session, Timestamp};
use crate::journal::{Disk, Journal, KeyStore};

pub struct Nobody;

impl Observer for Nobody {}

impl Facilitator for Nobody {
    fn next_request<'a>(
        &'a mut self,
        _: Option<&'a WaitPoint>,
        _: &'a Session,
    ) -> BoxFuture<'a, Result<FacilitatorRequest, String>> {
        std::future::pending().boxed()
    }

    fn on_refused(&mut self, why: &str) {
        panic!("{why}");
    }

    fn is_person(&self) -> bool {
        false
    }
}

/// Runs `act` on a newly opened session, with `now` as its clock.
pub fn with_engine<T>(
    (definition, seats, table): (&str, &[Value], SeatedParticipants),
    now: fn() -> Timestamp,
    act: impl FnOnce(&mut Engine<'_>) -> T,
) -> T {
    let dir = tempfile::tempdir().unwrap();
    let persona = |seat: &Value| json!({"name": seat["name"], "sha256": "", "description": "", "text": ""});
    let header = json!({
        "session": "s-1", "format": 3, "program": "test", "definition_file": "d.yaml",
        "texts": "", "definition_sha256": "", "definition": definition, "input": "x", "participants": seats,
        "personas": seats.iter().map(persona).collect::<Vec<_>>(),
    });
    let (mut observer, mut facilitator) = (Nobody, Nobody);
    let journal = Journal::create(&Disk::default(), &dir.path().join("s.s2s")).unwrap();
    let config = config(dir.path(), table, &mut observer, &mut facilitator);
    let mut engine = Engine::new(Session::default(), journal, config);
    engine.now = now;
    engine.stage(Command::Open(Box::new(serde_json::from_value(header).unwrap()))).unwrap();
    act(&mut engine)
}

/// Returns a configuration with seats and a facilitator, without a project or limits.
pub fn config<'a>(
    folder: &Path,
    participants: SeatedParticipants,
    observer: &'a mut dyn Observer,
    facilitator: &'a mut dyn Facilitator,
) -> EngineConfig<'a> {
    EngineConfig {
        keys: KeyStore::new(Disk::default(), &folder.join("keys")),
        participants,
        evidence: Box::new(|_| Err("no evidence".to_owned())),
        context_file: Box::new(|| Ok(None)),
        tasks_file: Box::new(|_, _| Ok(())),
        replace_seat: Box::new(|model| Err(model.to_owned())),
        observer,
        facilitator,
        interrupt: tokio_util::sync::CancellationToken::new(),
        budget: None,
        progress: crate::participants::progress::ProgressBoard::default(),
    }
}
