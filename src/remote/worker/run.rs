//! The loop: as many offers at once as the worker may answer.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{self, Context};
use futures::StreamExt as _;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::answer::Answerer;
use super::context::Contexts;
use super::spool::Spool;
use crate::remote::nats::send::SeatReply;
use crate::remote::nats::streams::worker_consumer;
use crate::remote::nats::{Address, QueueError, Tell, Trouble, connect};

const PULL: Duration = Duration::from_secs(2);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The pause before the queue is asked once more after a fault.
const PAUSE: Duration = Duration::from_secs(1);

pub struct WorkerSettings {
    /// The server; its name is the worker's.
    pub address: Address,
    pub answerer: Answerer,
    pub spool: Spool,
    pub in_flight: usize,
    /// It ends when there is nothing to answer.
    pub until_idle: bool,
    /// Cancelled when nothing more is to be begun.
    pub interrupt: CancellationToken,
    /// Says one line to its owner.
    pub tell: Tell,
}

pub struct Worker {
    pub(super) settings: WorkerSettings,
    pub(super) queue: Context,
    pub(super) contexts: Contexts,
    pub(super) trouble: Trouble,
    working: Mutex<HashSet<String>>,
}

/// A delivery in work, until this is dropped.
pub(super) struct Working<'a> {
    worker: &'a Worker,
    delivery: String,
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.worker.working().remove(&self.delivery);
    }
}

impl Worker {
    /// Connects, for a minute at the most.
    pub async fn connect(settings: WorkerSettings) -> Result<Arc<Self>, QueueError> {
        let client = connect(&settings.address, &settings.tell).await?;
        Ok(Arc::new(Self {
            queue: jetstream::new(client.clone()),
            contexts: Contexts::new(client),
            trouble: Trouble::new(&settings.tell, ""),
            working: Mutex::default(),
            settings,
        }))
    }

    pub(super) fn name(&self) -> &str {
        &self.settings.address.name
    }

    pub(super) fn tell(&self, line: &str) {
        (self.settings.tell)(line);
    }

    /// Sends what an earlier run has left, and answers offers until it is interrupted, or idle. What is in
    /// work then is finished.
    ///
    /// # Errors
    /// When the consumer of its offers has another configuration, or it may not use it.
    pub async fn run(self: &Arc<Self>, left: Vec<SeatReply>) -> Result<(), QueueError> {
        let mut at_work = JoinSet::new();
        let this = Arc::clone(self);
        let delivering = tokio::spawn(async move { this.deliver_left(left).await });
        if let Some(consumer) = self.consumer().await? {
            self.pull(&consumer, &mut at_work).await;
        }
        while at_work.join_next().await.is_some() {}
        let _ = delivering.await;
        Ok(())
    }

    /// The consumer of its offers, once a session has made it; `None` where nothing is to be waited for.
    async fn consumer(&self) -> Result<Option<PullConsumer>, QueueError> {
        let mut is_told = false;
        while !self.settings.interrupt.is_cancelled() {
            match worker_consumer(&self.queue, self.name()).await {
                Ok(Some(consumer)) => return Ok(Some(consumer)),
                Ok(None) if self.settings.until_idle => return Ok(None),
                // The server has answered before: what is wrong now may pass.
                Err(QueueError::Refused(_)) if is_told => {}
                Err(error) => return Err(error),
                Ok(None) => {
                    if !std::mem::replace(&mut is_told, true) {
                        self.tell("no session has asked for this worker yet: waiting");
                    }
                }
            }
            self.pause().await;
        }
        Ok(None)
    }

    async fn pull(self: &Arc<Self>, consumer: &PullConsumer, at_work: &mut JoinSet<()>) {
        let mut forgot = None::<Instant>;
        while !self.settings.interrupt.is_cancelled() {
            if forgot.is_none_or(|forgot| forgot.elapsed() > DAY) {
                self.settings.spool.forget_old();
                forgot = Some(Instant::now());
            }
            while at_work.try_join_next().is_some() {}
            let was_idle = at_work.is_empty();
            let free = self.settings.in_flight.saturating_sub(at_work.len());
            if free == 0 {
                tokio::select! {
                    _ = at_work.join_next() => {}
                    () = self.settings.interrupt.cancelled() => {}
                }
                continue;
            }
            match self.pull_once(consumer, free, at_work).await {
                Ok(0) if self.settings.until_idle && was_idle => return,
                Ok(_) => {}
                Err(why) => {
                    self.trouble.say(&format!("the queue gives no offers: {why}; trying again"));
                    self.pause().await;
                }
            }
        }
    }

    /// Takes up to `free` offers; returns how many came.
    async fn pull_once(
        self: &Arc<Self>,
        consumer: &PullConsumer,
        free: usize,
        at_work: &mut JoinSet<()>,
    ) -> Result<usize, String> {
        let batch = consumer.batch().max_messages(free).expires(PULL).messages().await;
        let mut batch = batch.map_err(|error| error.to_string())?;
        let mut came = 0;
        loop {
            let message = tokio::select! {
                message = batch.next() => message,
                () = self.settings.interrupt.cancelled() => None,
            };
            let Some(message) = message else { return Ok(came) };
            let message = message.map_err(|error| error.to_string())?;
            came += 1;
            let this = Arc::clone(self);
            at_work.spawn(async move { this.handle(message).await });
        }
    }

    async fn pause(&self) {
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = self.settings.interrupt.cancelled() => {}
        }
    }

    fn working(&self) -> MutexGuard<'_, HashSet<String>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins work on a delivery; `None` where it is in work already.
    pub(super) fn begin(&self, delivery: &str) -> Option<Working<'_>> {
        let is_new = self.working().insert(delivery.to_owned());
        is_new.then(|| Working { worker: self, delivery: delivery.to_owned() })
    }
}
