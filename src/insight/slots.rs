//! Votes for the option that a seat was shown first or last.

use serde::Serialize;

use super::round_view;
use crate::ballot::{Ballot, OptionOrder};
use crate::history::{RoundRun, Session};

/// The slots of the votes in a round whose options stood in an order of each seat's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Slots {
    pub order: OptionOrder,
    pub votes: usize,
    pub first: usize,
    pub last: usize,
}

/// The slots of a revealed round; none where all seats were shown one order.
pub fn slots(session: &Session, round: &RoundRun) -> Option<Slots> {
    let order = round.opened.ballot.order;
    if order.is_same() || !round_view::is_revealed(round) {
        return None;
    }
    let mut found = Slots { order, votes: 0, first: 0, last: 0 };
    for seat in round_view::seats(session, round) {
        let top = seat.ballot().and_then(Ballot::top_options);
        let shown = session.option_order(&round.opened, seat.name);
        if let (Some([top]), Some(shown)) = (top.as_deref(), shown) {
            found.votes += 1;
            found.first += usize::from(shown.first() == Some(top));
            found.last += usize::from(shown.last() == Some(top));
        }
    }
    Some(found)
}

impl Slots {
    pub fn line(&self) -> String {
        let order = match self.order {
            OptionOrder::Same => "one for all seats",
            OptionOrder::PerSeat => "one for each seat",
            OptionOrder::Mirrored => "reversed for half of the seats",
        };
        let Self { votes, first, last, .. } = self;
        format!(
            "Order of options: {order}; votes for the option shown first: {first} of {votes}, shown last: {last} of {votes}"
        )
    }
}
