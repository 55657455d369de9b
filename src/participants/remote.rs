//! A seat behind a link: it is asked through a door, and its ballot arrives sealed.

use futures::future::{BoxFuture, FutureExt as _};

use super::{Failure, Participant, Reply, SeatRequest};

/// A seat whose person is somewhere else. Where no door is open nobody can be asked.
#[derive(Debug, Default)]
pub struct Remote;

impl Participant for Remote {
    fn ask<'a>(&'a self, _: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        let reason = "this seat is asked by its link alone".to_owned();
        std::future::ready(Err(Failure { reason, timed_out: false, tries: 1, usage: None })).boxed()
    }

    fn waits_for_person(&self, _step: &str) -> bool {
        true
    }
}
