//! The model: what the screen shows, and nothing of how.

use super::replay::Replay;
use super::theme::Theme;

/// A part of the screen that can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    /// The seats of the round.
    Seats,
    /// How the ballots were counted.
    Tally,
    /// The chosen seat's answer.
    Answer,
    /// The snapshot, byte for byte.
    Snapshot,
    /// The events.
    Events,
}

impl Pane {
    /// All of them, in the order of the Tab key.
    pub const ALL: [Self; 5] = [Self::Seats, Self::Tally, Self::Answer, Self::Snapshot, Self::Events];

    /// Its place in [`Pane::ALL`].
    pub fn index(self) -> usize {
        Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0)
    }
}

/// What lies over the panes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlay {
    /// The keys.
    Help,
    /// Words to search for, as typed so far.
    Search(String),
    /// An action's name, as typed so far, and the chosen row.
    Palette(String, usize),
}

/// The screen.
#[derive(Debug, Clone)]
pub struct Model {
    /// The film.
    pub replay: Replay,
    /// The pane that is looked at.
    pub focus: Pane,
    /// The chosen seat, by its place in the roster.
    pub seat: usize,
    /// How far each pane is scrolled, in lines.
    pub scroll: [u16; 5],
    /// What lies over the panes.
    pub overlay: Option<Overlay>,
    /// The words searched for last.
    pub words: String,
    /// Whether only the chosen seat's events count.
    pub only_seat: bool,
    /// A word to the person, until the next key.
    pub notice: Option<String>,
    /// Width and height of the terminal.
    pub size: (u16, u16),
    /// Colours and signs.
    pub theme: Theme,
    /// Where the session is from.
    pub file: String,
}

impl Model {
    /// A replay, looked at from its start of interest: its last event.
    pub fn new(replay: Replay, file: String, size: (u16, u16), theme: Theme) -> Self {
        Self {
            replay,
            focus: Pane::Seats,
            seat: 0,
            scroll: [0; 5],
            overlay: None,
            words: String::new(),
            only_seat: false,
            notice: None,
            size,
            theme,
            file,
        }
    }

    /// The name of the chosen seat.
    pub fn seat_name(&self) -> Option<&str> {
        let round = self.replay.session().rounds.last()?;
        round
            .seats
            .get_index(self.seat.min(round.seats.len().saturating_sub(1)))
            .map(|(name, _)| name.as_str())
    }
}
