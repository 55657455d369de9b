//! The seats of a round, by where they stand.

use super::state::{RoundRun, Seat, SeatStatus};

impl RoundRun {
    /// The seat of that name.
    pub fn seat(&self, name: &str) -> Option<&Seat> {
        self.seats.get(name)
    }

    /// How many seats are sealed or were.
    pub fn sealed(&self) -> usize {
        let sealed = |s: &&Seat| matches!(s.status, SeatStatus::Sealed(_) | SeatStatus::Revealed(..));
        self.seats.values().filter(sealed).count()
    }

    /// Seats from which an answer may still come.
    pub fn open_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|seat| seat.status.is_open())
    }

    /// Seats that are sealed and not revealed yet.
    pub fn sealed_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|seat| matches!(seat.status, SeatStatus::Sealed(_)))
    }

    /// Seats from which nothing came back.
    pub fn failed_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|seat| matches!(seat.status, SeatStatus::Failed(_)))
    }

    /// Seats sealed under a key that is gone.
    pub fn lost_seats(&self) -> Vec<String> {
        let lost = |s: &&Seat| matches!(s.status, SeatStatus::Lost(_));
        self.seats.values().filter(lost).map(|seat| seat.name.clone()).collect()
    }
}
