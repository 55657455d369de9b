//! Time limits of one call. The round's deadline bounds all of it. The service's own limit bounds requests
//! and the pauses between them, but not the waits that the service asks for.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::super::purse::Paid;
use super::{Failure, SeatRequest, format_duration};

/// Without a deadline no service is waited for longer than this at a time.
const LONGEST: Duration = Duration::from_secs(600);

pub(super) struct Patience {
    deadline: Option<Instant>,
    /// The time left for requests and pauses.
    left: Duration,
    /// The shorter of both limits, for messages.
    limit: Duration,
}

impl Patience {
    pub fn new(time_left: Option<Duration>, total: Duration) -> Self {
        let deadline = time_left.and_then(|left| Instant::now().checked_add(left));
        Self { deadline, left: total, limit: time_left.map_or(total, |left| left.min(total)) }
    }

    fn to_deadline(&self) -> Option<Duration> {
        self.deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// The longest wait a service may ask for now.
    pub fn longest_wait(&self) -> Duration {
        self.to_deadline().unwrap_or(LONGEST)
    }

    pub fn left(&self) -> Duration {
        self.to_deadline().map_or(self.left, |left| left.min(self.left))
    }

    /// Waits as long as the service wants the seats of this model to, and notes it for those who watch.
    pub async fn heed(&self, wait: Duration, ask: &SeatRequest, tries: u32) -> Result<(), Failure> {
        let why = format!("the service asked this model's seats to wait {}", format_duration(wait));
        if wait >= self.longest_wait() {
            return Err(Failure { tries, ..format!("{why}, {}", self.exceeded()).into() });
        }
        ask.watch.waits(&why, wait);
        self.wait(tries, sleep(wait)).await
    }

    /// Why a wait is too long, in words.
    pub fn exceeded(&self) -> String {
        match self.to_deadline() {
            Some(left) => format!("with {} left", format_duration(left)),
            None => format!("longer than {}, the most without a deadline", format_duration(LONGEST)),
        }
    }

    /// Waits for others: bounded by the deadline alone.
    pub async fn wait<T>(&self, tries: u32, others: impl Future<Output = T>) -> Result<T, Failure> {
        match self.to_deadline() {
            Some(left) => timeout(left, others).await.map_err(|_| self.late(tries)),
            None => Ok(others.await),
        }
    }

    /// Spends the call's own time.
    pub async fn spend<T>(&mut self, tries: u32, work: impl Future<Output = T>) -> Result<T, Failure> {
        let started = Instant::now();
        let done = timeout(self.left(), work).await.map_err(|_| self.late(tries));
        self.left = self.left.saturating_sub(started.elapsed());
        done
    }

    pub fn late(&self, tries: u32) -> Failure {
        Failure {
            timed_out: true,
            tries,
            ..Failure::from(format!("no reply within {}", format_duration(self.limit)))
        }
    }
}

/// Pays for one more request; `last` is why the one before it failed.
pub(super) fn pay(ask: &SeatRequest, last: Option<&str>, tries: u32) -> Result<Paid, Failure> {
    let rooms = if ask.has_twice_the_room { 2 } else { 1 };
    ask.purse.pay(rooms).map_err(|why| {
        let reason = last.map_or(why.clone(), |last| format!("{last}; {why}"));
        Failure { tries, ..reason.into() }
    })
}
