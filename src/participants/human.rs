//! A person: at this terminal, asked in turn and sealed like everyone; or behind a link, asked through a door.
//!
//! The question goes to whoever shows it; the answer comes back as a text and is read, asked again
//! and sealed as any other. Without a screen there is nobody to ask, and the session rests instead.

use futures::future::{BoxFuture, FutureExt as _};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::{Failure, Origin, Participant, Reply, SeatRequest};

#[derive(Debug)]
pub struct HumanQuestion {
    /// The seat of a round, or the work item.
    pub seat: String,
    pub answer: oneshot::Sender<String>,
}

pub type HumanQueue = UnboundedSender<HumanQuestion>;

#[derive(Debug, Default)]
pub struct Human {
    /// The queue of questions; none without a screen, and for a seat that is asked by its link alone.
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
