//! The list of seats: its order, its groups, and the seats it is narrowed to. While a round is open,
//! those that need the facilitator stand first.

use std::cmp::Reverse;

use super::model::{Model, Overlay};
use super::seat_list::SeatSort;
use crate::ballot::Ballot;
use crate::history::SeatStatus;
use crate::insight::round_view::{SeatView, VisibleState, confidence, is_revealed, seats};
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
        let count = self.seat_count();
        let mut order: Vec<usize> = (0..count).collect();
        if self.list.is_narrowed() {
            let labels = self.seat_labels();
            let words = self.list.words.to_lowercase();
            let rows = if words.trim().is_empty() { Vec::new() } else { self.seat_texts(&labels) };
            let holds = |index: usize| {
                let text = rows.get(index).map(String::as_str).unwrap_or_default();
                words.split_whitespace().all(|word| text.contains(word))
            };
            order.retain(|index| self.list.group.as_ref().is_none_or(|group| labels[*index] == *group));
            order.retain(|index| holds(*index));
        }
        match self.list.sort {
            SeatSort::Default => self.sort_by_need(&mut order),
            SeatSort::Name => order.sort_by_cached_key(|index| self.name_at(*index).to_lowercase()),
            SeatSort::Group => {
                self.sort_by_need(&mut order);
                let groups = self.seat_groups();
                let labels = self.seat_labels();
                let place = |label: &String| groups.iter().position(|group| group.label == *label);
                order.sort_by_cached_key(|index| place(&labels[*index]));
            }
            SeatSort::Model => order.sort_by_cached_key(|index| self.model_at(*index)),
            SeatSort::Time => {
                let times = self.of_views(|seat| seat.elapsed_ms);
                order.sort_by_key(|index| Reverse(times.get(*index).copied().flatten()));
            }
            SeatSort::Confidence => {
                let sure = self.of_views(|seat| confidence(seat.answer()?)?.parse::<f64>().ok());
                let sure = |index: &usize| sure.get(*index).copied().flatten().unwrap_or(-1.0);
                order.sort_by(|a, b| sure(b).total_cmp(&sure(a)));
            }
        }
        order
    }

    /// Whether the list has so many seats that totals say more than rows.
    pub fn has_many_seats(&self) -> bool {
        self.seat_count() > MANY
    }

    /// Sorts by the next thing that tells these seats apart.
    pub fn sort_by_next(&mut self) {
        use SeatSort::{Confidence, Default, Group, Model, Name, Time};
        let revealed = self.shown_round().is_some_and(is_revealed);
        let all: &[SeatSort] = match self.preview() {
            Some(_) => &[Default, Name, Model],
            None if revealed => &[Default, Name, Group, Confidence, Time, Model],
            None => &[Default, Name, Group, Time, Model],
        };
        let at = all.iter().position(|sort| *sort == self.list.sort).map_or(0, |at| at + 1);
        self.list.sort = all[at % all.len()];
    }

    /// Chooses the first seat of the list where the chosen one is not in it. A list that has become empty,
    /// such as that of sealed seats at the reveal, shows all seats again.
    pub fn settle_seat(&mut self) {
        if !self.list.is_narrowed() {
            return;
        }
        let order = self.seat_order();
        match order.first() {
            Some(_) if order.contains(&self.seat) => {}
            Some(first) => self.seat = *first,
            None if matches!(self.overlay, Some(Overlay::Narrow)) => {}
            None => (self.list.group, self.list.words) = (None, String::new()),
        }
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

    fn name_at(&self, index: usize) -> &str {
        match self.preview() {
            Some(preview) => preview.opened.seats.get(index).map_or("", String::as_str),
            None => {
                self.shown_round().and_then(|round| round.seats.get_index(index)).map_or("", |(name, _)| name)
            }
        }
    }

    fn model_at(&self, index: usize) -> String {
        let step = match self.preview() {
            Some(preview) => Some(preview.opened.step.as_str()),
            None => self.shown_round().map(|round| round.opened.step.as_str()),
        };
        let info = self.session().seat_info(self.name_at(index));
        info.zip(step).map(|(info, step)| info.label(step).to_owned()).unwrap_or_default()
    }

    fn of_views<T>(&self, of: impl Fn(&SeatView<'_>) -> T) -> Vec<T> {
        let round = self.shown_round().filter(|_| self.preview().is_none());
        round.map(|round| seats(self.session(), round).map(|seat| of(&seat)).collect()).unwrap_or_default()
    }

    /// The group of every seat, in the order of the roster; of a draft the seats' models.
    fn seat_labels(&self) -> Vec<String> {
        if self.preview().is_some() {
            return (0..self.seat_count()).map(|index| self.model_at(index)).collect();
        }
        self.of_views(|seat| self.label(seat))
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

    /// What the words of a narrowed list are looked for in, in lower case.
    fn seat_texts(&self, labels: &[String]) -> Vec<String> {
        let text = |(index, label): (usize, &String)| {
            format!("{} {} {label}", self.name_at(index), self.model_at(index)).to_lowercase()
        };
        labels.iter().enumerate().map(text).collect()
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
