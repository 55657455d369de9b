//! Runner of a prepared session, for any front end.

use tokio_util::sync::CancellationToken;

use super::environment::Environment;
use super::material::{evidence_commands, read_evidence};
use super::seat::ReadySession;
use super::wrapped::wrapped;
use crate::config::prices::highest_price_of;
use crate::config::tasks::TaskFile;
use crate::core::{Command, ExitCode};
use crate::diagnostic::Diagnostic;
use crate::engine::{
    Engine, EngineConfig, EngineError, Facilitator, Observer, RemoteSeats, ReplacementSeat, SeatReplacer,
};
use crate::history::Session;
use crate::participants::human::HumanQueue;
use crate::participants::progress::ProgressBoard;

pub struct FrontEnd<'a> {
    pub observer: &'a mut dyn Observer,
    pub facilitator: &'a mut dyn Facilitator,
    pub interrupt: CancellationToken,
    pub progress: ProgressBoard,
    /// Queue of questions to people, if a front end shows them.
    pub desk: Option<HumanQueue>,
    /// Remote seats, if any can connect.
    pub remote: Option<RemoteSeats>,
}

pub struct EndedRun {
    pub done: Result<ExitCode, EngineError>,
    pub session: Session,
    /// Number of events in the file.
    pub entries: usize,
    pub last_hash: String,
}

pub async fn run(ready: ReadySession, set_up: &Environment, front: FrontEnd<'_>) -> EndedRun {
    let replace_seat = replacement(set_up, front.desk.as_ref(), ready.budget.is_some());
    let keys = set_up.keys();
    let before = if let Command::Open(_) = ready.start {
        drop(ready.session);
        Session::default()
    } else {
        ready.session
    };
    let mut engine = Engine::new(
        before,
        ready.journal,
        EngineConfig {
            keys: keys.clone(),
            participants: ready.table,
            context_file: Box::new(|| set_up.folders.context().map_err(|problem| problem.to_string())),
            evidence: read_evidence(ready.evidence_reader),
            tasks_file: Box::new(|name, mark| TaskFile::new(&set_up.folders, name).mark(mark)),
            replace_seat,
            observer: front.observer,
            facilitator: front.facilitator,
            interrupt: front.interrupt,
            budget: ready.budget,
            progress: front.progress,
        },
    );
    let mut invitations = Vec::new();
    if let Some(remote) = front.remote {
        engine.receive(remote.arrivals);
        invitations = remote.invitations;
    }
    engine.erase_old_keys();
    let begun = engine.stage(ready.start).and_then(|()| {
        invitations.into_iter().try_for_each(|invited| engine.stage(Command::Invite(invited)))?;
        let given = evidence_commands(&engine.session, ready.evidence);
        given.into_iter().try_for_each(|command| engine.stage(command))
    });
    let done = match begun {
        Ok(()) => engine.run().await,
        Err(refusal) => Err(refusal.into()),
    };
    let (entries, last_hash) = (engine.entries(), engine.last_hash());
    let session = std::mem::take(&mut engine.session);
    if session.closed.is_some() {
        ready.claim.end();
        keys.erase_all(&session);
    }
    EndedRun { done, session, entries, last_hash }
}

/// Returns the function that creates a participant for a seat with a new model.
fn replacement<'a>(set_up: &'a Environment, desk: Option<&HumanQueue>, has_budget: bool) -> SeatReplacer<'a> {
    let mut catalog = set_up.catalog().with_desk(desk);
    Box::new(move |model| {
        let participant = catalog.participant(model).map_err(|problem| problem.to_string())?;
        // A replacement is measured like the programs at the session's opening.
        wrapped(model, set_up, &mut |_| ()).map_err(|problem| problem.to_string())?;
        let price = match highest_price_of(&catalog, model) {
            Err(problem) if has_budget => return Err(problem.message),
            price => price.ok(),
        };
        Ok(ReplacementSeat { participant, price })
    })
}

pub fn runtime() -> Result<tokio::runtime::Runtime, Diagnostic> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(8 << 20)
        .build()
        .map_err(|error| Diagnostic::new(format!("the runtime cannot start: {error}")))
}

/// Raises the limit of open files to the system's maximum, because each seat needs a connection.
pub fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Nofile).maximum;
        // After a failure the old limit applies; a seat beyond it fails with a clear error.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}
