//! Participant that is a person: at this terminal or behind a link.
//!
//! The front end or the link shows the question. The answer is checked, re-asked and sealed like any other.
//! Without a screen nobody can be asked here, and the session pauses.

use futures::future::{BoxFuture, FutureExt as _};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::{Failure, Origin, Participant, Reply, SeatRequest};

#[derive(Debug)]
pub struct HumanQuestion {
    /// Seat of a round, or id of the work item.
    pub seat: String,
    pub answer: oneshot::Sender<String>,
}

pub type HumanQueue = UnboundedSender<HumanQuestion>;

#[derive(Debug, Default)]
pub struct Human {
    /// Queue of questions; `None` without a screen, and for a seat that is asked only by its link.
    pub desk: Option<HumanQueue>,
}

impl Participant for Human {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        async move {
            let gone = || Failure::from("nobody was there to answer".to_owned());
            let (answer, answered) = oneshot::channel();
            let seat = if ask.task.is_some() { &ask.round } else { &ask.seat };
            let asked = HumanQuestion { seat: seat.clone(), answer };
            self.desk.as_ref().and_then(|desk| desk.send(asked).ok()).ok_or_else(gone)?;
            let text = answered.await.map_err(|_| gone())?;
            Ok(Reply::own(Origin::Person, text))
        }
        .boxed()
    }

    fn waits_for_person(&self, _step: &str) -> bool {
        self.desk.is_none()
    }
}
