//! The order in which seats are shown: while a round is open, those that need the facilitator first.

use super::model::Model;
use crate::history::SeatStatus;
use crate::participants::progress::RequestPhase;

impl Model {
    /// The seats in the order they are shown: while a round is open, those that need the facilitator first.
    pub fn seat_order(&self) -> Vec<usize> {
        let count = self.seat_count();
        let mut order: Vec<usize> = (0..count).collect();
        let open = self.shown_round().filter(|round| round.closed.is_none());
        let Some(round) = open.filter(|_| self.preview().is_none()) else { return order };
        let turn = self.pending_human().map(|(name, _)| name.as_str());
        let rank = |index: &usize| {
            let Some((name, seat)) = round.seats.get_index(*index) else { return 0 };
            match &seat.status {
                SeatStatus::Failed(_) => 0,
                _ if turn == Some(name.as_str()) => 1,
                SeatStatus::Asking => match self.progress.get(name).map(|progress| progress.standing) {
                    Some(RequestPhase::Waiting | RequestPhase::Stalled) => 2,
                    Some(RequestPhase::Asked | RequestPhase::Answering | RequestPhase::Queued) | None => 3,
                },
                SeatStatus::Waiting | SeatStatus::Lost(_) | SeatStatus::Missing => 4,
                SeatStatus::Sealed(_) | SeatStatus::Revealed(..) => 5,
                SeatStatus::Excused(_) => 6,
            }
        };
        order.sort_by_key(rank);
        order
    }
}
