//! An engine on a thread of its own, so that the screen answers whatever it does.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _, ready};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::cli::plan::Environment;
use crate::cli::work::ReadySession;
use crate::config::prices::price_of;
use crate::config::tasks::TaskFile;
use crate::core::{Command, ExitCode, Question};
use crate::engine::{
    Engine, EngineConfig, FacilitatorAnswer, FacilitatorPrompt, FacilitatorRequest, Observer,
    ReplacementSeat, SeatReplacer,
};
use crate::history::{LogEntry, Session};
use crate::journal::{Disk, KeyStore};
use crate::participants::human::{HumanQuestion, HumanQueue};
use crate::participants::progress::ProgressBoard;
use crate::tui::{EngineHandle, EngineUpdate};

/// Tells the screen what happens.
struct EventForwarder(UnboundedSender<EngineUpdate>);

impl Observer for EventForwarder {
    fn on_event(&mut self, line: &LogEntry, _: &Session) {
        // A screen that is gone needs to know nothing.
        let _ = self.0.send(EngineUpdate::Saw(Box::new(line.clone())));
    }

    fn on_refused(&mut self, why: &str) {
        let _ = self.0.send(EngineUpdate::Refused(why.to_owned()));
    }
}

/// The facilitator answers by orders; nobody else is asked.
struct ScreenFacilitator;

impl FacilitatorPrompt for ScreenFacilitator {
    fn ask<'a>(
        &'a mut self,
        _: &'a Question,
        _: &'a Session,
    ) -> BoxFuture<'a, Result<Option<FacilitatorAnswer>, String>> {
        ready(Ok(None)).boxed()
    }
}

/// Starts an engine on a session.
pub fn spawn(
    seated: ReadySession,
    start: Command,
    set_up: &Arc<Environment>,
    (desk, people): (HumanQueue, UnboundedReceiver<HumanQuestion>),
) -> EngineHandle {
    let (orders, taken) = unbounded_channel();
    let (tell, news) = unbounded_channel();
    let path = seated.path.clone();
    let set_up = Arc::clone(set_up);
    let telling = tell.clone();
    let watches = ProgressBoard::default();
    let noted_in = watches.clone();
    let work = move || {
        let done = work(seated, start, &set_up, (taken, noted_in), desk, telling.clone());
        let _ = telling.send(EngineUpdate::Ended(done));
    };
    if let Err(error) = std::thread::Builder::new().name("engine".to_owned()).spawn(work) {
        let _ = tell.send(EngineUpdate::Ended(Err(format!("the engine cannot start: {error}"))));
    }
    EngineHandle { orders, news, people, watches, path }
}

fn work(
    seated: ReadySession,
    start: Command,
    set_up: &Environment,
    (orders, watches): (UnboundedReceiver<FacilitatorRequest>, ProgressBoard),
    desk: HumanQueue,
    news: UnboundedSender<EngineUpdate>,
) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(8 << 20)
        .build()
        .map_err(|error| format!("the engine cannot start: {error}"))?;
    let seating = seating(set_up, desk, seated.budget.is_some());
    let (mut teller, mut person) = (EventForwarder(news), ScreenFacilitator);
    let mut engine = Engine::new(EngineConfig {
        session: seated.session,
        journal: seated.journal,
        keys: KeyStore::new(Disk::default(), &set_up.folders.keys()),
        table: seated.table,
        personas: seated.personas,
        context_file: Box::new(|| set_up.folders.context().map_err(|problem| problem.to_string())),
        observer: &mut teller,
        person: &mut person,
        interrupt: CancellationToken::new(),
        budget: seated.budget,
    });
    engine.keeps_tasks(Box::new(|name, mark| TaskFile::of(&set_up.folders, name).mark(mark)));
    engine.attach_facilitator(orders, seating, watches);
    let done = runtime.block_on(async {
        engine.erase_old_keys().map_err(|refusal| refusal.to_string())?;
        engine.stage(start).map_err(|refusal| refusal.to_string())?;
        engine.run().await.map_err(|error| error.to_string())
    });
    drop(engine);
    runtime.shutdown_background();
    done
}

/// Finds who takes a seat whose model is replaced.
fn seating(set_up: &Environment, desk: HumanQueue, has_budget: bool) -> SeatReplacer<'_> {
    let mut catalog = set_up.catalog().with_desk(desk);
    Box::new(move |model| {
        let participant = catalog.participant(model).map_err(|problem| problem.to_string())?;
        let price = price_of(&catalog, model);
        if has_budget && price.is_none() {
            return Err(format!("the price of `{model}` is not known, so that no budget can be kept"));
        }
        Ok(ReplacementSeat { participant, price })
    })
}
