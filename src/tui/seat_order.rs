//! The order of the seats, those that need the facilitator first while a round is open; and of many the
//! totals.

use std::cmp::Reverse;

use super::model::Model;
use crate::ballot::Ballot;
use crate::history::SeatStatus;
use crate::insight::round_view::{SeatView, VisibleState, seats};
use crate::participants::progress::RequestPhase;
use crate::round::record::Outcome;

/// Longer lists show their totals first.
const MANY: usize = 30;
/// How much of an answer or a reason names a group, in characters.
const LABEL: usize = 80;

/// Seats in the same state, or with the same answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatGroup {
    pub label: String,
    /// One of its seats, by its place in the roster.
    pub first: usize,
    pub count: usize,
}

impl Model {
    /// The seats of the list in the order they are shown, by their places in the roster.
    pub fn seat_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.seat_count()).collect();
        self.sort_by_need(&mut order);
        order
    }

    /// Whether the list has so many seats that totals say more than rows.
    pub fn has_many_seats(&self) -> bool {
        self.seat_count() > MANY
    }

    /// The groups of all seats: while a round is open, those that need the facilitator first, else the
    /// largest first.
    pub fn seat_groups(&self) -> Vec<SeatGroup> {
        let labels = self.seat_labels();
        let mut places: Vec<usize> = (0..labels.len()).collect();
        let is_open =
            self.preview().is_none() && self.shown_round().is_some_and(|round| round.closed.is_none());
        self.sort_by_need(&mut places);
        let mut groups: indexmap::IndexMap<&str, SeatGroup> = indexmap::IndexMap::new();
        for index in places {
            let label = labels[index].as_str();
            let new = || SeatGroup { label: label.to_owned(), first: index, count: 0 };
            groups.entry(label).or_insert_with(new).count += 1;
        }
        let mut groups: Vec<SeatGroup> = groups.into_values().collect();
        if !is_open {
            groups.sort_by_key(|group| Reverse(group.count));
        }
        groups
    }

    /// The group of every seat, in the order of the roster; of a draft the seats' models.
    fn seat_labels(&self) -> Vec<String> {
        let session = self.session();
        if let Some(preview) = self.preview() {
            let label = |name: &String| session.seat_info(name).map(|info| info.label(&preview.opened.step));
            return preview
                .opened
                .seats
                .iter()
                .map(|name| label(name).unwrap_or_default().to_owned())
                .collect();
        }
        let Some(round) = self.shown_round() else { return Vec::new() };
        seats(session, round).map(|seat| self.label(&seat)).collect()
    }

    fn label(&self, seat: &SeatView<'_>) -> String {
        let with = |word: &str, more: &str| {
            let more: String = more.trim().lines().next().unwrap_or_default().chars().take(LABEL).collect();
            if more.is_empty() { word.to_owned() } else { format!("{word}: {more}") }
        };
        match &seat.standing {
            VisibleState::Unread("asking") => match self.progress.get(seat.name).map(|at| at.standing) {
                Some(RequestPhase::Waiting) => "waits to try again".to_owned(),
                Some(RequestPhase::Stalled) => "silent".to_owned(),
                Some(RequestPhase::Queued) => "queued".to_owned(),
                Some(RequestPhase::Asked | RequestPhase::Answering) | None => "asked".to_owned(),
            },
            VisibleState::Unread(word) => (*word).to_owned(),
            VisibleState::Lost => "key lost".to_owned(),
            VisibleState::Failed(failed) if failed.timed_out => "timed out".to_owned(),
            VisibleState::Failed(failed) => with("failed", &failed.reason),
            VisibleState::Excused(reason) => with("excused", reason),
            VisibleState::Missing => "missing".to_owned(),
            VisibleState::Revealed(answer) => seat.ballot().and_then(Ballot::phrase).unwrap_or_else(|| {
                let position = || answer.answer.get("position")?.as_str();
                let text =
                    if answer.outcome == Outcome::Answered { position() } else { answer.reason.as_deref() };
                with(answer.outcome.name(), text.unwrap_or_default())
            }),
        }
    }

    fn sort_by_need(&self, order: &mut [usize]) {
        let open = self.shown_round().filter(|round| round.closed.is_none());
        let Some(round) = open.filter(|_| self.preview().is_none()) else { return };
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
    }
}
