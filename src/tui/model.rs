//! Model: the state of the screen, without its appearance.

use std::collections::HashMap;

use super::form::Form;
use super::frame::Pane;
use super::home::{Home, OpenTarget};
use super::keys::ScreenState;
use super::list::List;
use super::live::{LiveSession, Preview};
use super::reading::TextView;
use super::replay::Replay;
use super::theme::Theme;
use crate::core::{Command, Question, run_ahead};
use crate::engine::{FacilitatorRequest, WaitPoint};
use crate::history::{RoundRun, SeatStatus, Session, Timestamp, WorkItemOffered};
use crate::insight::round_view::is_revealed;
use crate::participants::progress::{Progress, RequestPhase};

#[derive(Debug, Clone, Default)]
pub enum Mode {
    #[default]
    Home,
    Replay,
    Live(Box<LiveSession>),
}

/// An occurrence of the search words: the round (counted back), pane, seat, and index in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchHit {
    pub back: usize,
    pub pane: Pane,
    pub seat: usize,
    pub nth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveTarget {
    Quit,
    Home,
}

#[derive(Debug, Clone)]
pub enum Overlay {
    Search(String),
    Form(Box<Form>),
    List(List),
    Text(TextView),
    Ask(Ask),
}

#[derive(Debug, Clone)]
pub struct Ask {
    pub title: String,
    pub text: String,
    pub then: OnYes,
    /// The form to restore if the person declines.
    pub below: Option<Box<Form>>,
}

#[derive(Debug, Clone)]
pub enum OnYes {
    Order(Vec<FacilitatorRequest>),
    Open(OpenTarget),
    Rehearse,
    /// Discards the form below.
    Discard,
    Leave(LeaveTarget),
}

#[derive(Debug, Clone, Default)]
pub struct Model {
    pub mode: Mode,
    pub home: Home,
    pub replay: Replay,
    pub focus: Pane,
    /// Index of the chosen seat in the roster.
    pub seat: usize,
    pub scroll: [usize; Pane::ALL.len()],
    pub overlay: Option<Overlay>,
    pub words: String,
    pub hit: Option<SearchHit>,
    pub is_side_by_side: bool,
    /// Message to the person, until the next key.
    pub notice: Option<String>,
    pub size: (u16, u16),
    pub theme: Theme,
    pub file: String,
    /// Name and start of the work on another thread.
    pub busy: Option<(String, Timestamp)>,
    /// Requests of the open round, by seat.
    pub progress: HashMap<String, Progress>,
    /// Number of rounds between the shown one and the last one.
    pub rounds_back: usize,
    /// Current time, for the clocks of the screen.
    pub now: Timestamp,
}

impl Model {
    pub fn home(size: (u16, u16), theme: Theme) -> Self {
        let home = Home { is_reading: true, ..Home::default() };
        Self { home, size, theme, replay: Replay::new(Vec::new()), ..Self::default() }
    }

    pub fn show(&mut self, mode: Mode, replay: Replay, file: String) {
        let old = std::mem::replace(&mut self.replay, replay);
        // Freeing a long session takes a while.
        std::thread::spawn(move || drop(old));
        (self.mode, self.file) = (mode, file);
        (self.focus, self.seat, self.scroll) = (Pane::Seats, 0, [0; Pane::ALL.len()]);
        (self.overlay, self.is_side_by_side) = (None, false);
        (self.rounds_back, self.hit) = (0, None);
        self.words.clear();
    }

    pub fn session(&self) -> &Session {
        &self.replay.session
    }

    pub fn live(&self) -> Option<&LiveSession> {
        match &self.mode {
            Mode::Live(live) => Some(live),
            _ => None,
        }
    }

    pub fn live_mut(&mut self) -> Option<&mut LiveSession> {
        match &mut self.mode {
            Mode::Live(live) => Some(live),
            _ => None,
        }
    }

    pub fn screen_state(&self) -> ScreenState {
        let live = match &self.mode {
            Mode::Home => return ScreenState::Home,
            Mode::Replay => return ScreenState::Replay,
            Mode::Live(live) => live,
        };
        let session = self.session();
        if live.ended.is_some() || session.closed.is_some() || session.paused.is_some() {
            return ScreenState::Closed;
        }
        match self.replay.wait_point() {
            Some(WaitPoint::Draft) => ScreenState::Draft,
            Some(WaitPoint::Question(_)) => ScreenState::Question,
            Some(WaitPoint::Counted) => ScreenState::Revealed,
            // A draft without a round waits for the facilitator too: its first action would send something.
            None if live.draft.is_some() => ScreenState::Draft,
            None => ScreenState::Open,
        }
    }

    pub fn is_drafting(&self) -> bool {
        self.replay.wait_point() == Some(&WaitPoint::Draft)
    }

    pub fn question(&self) -> Option<Question> {
        match self.replay.wait_point() {
            Some(WaitPoint::Question(question)) => Some(question.clone()),
            _ => None,
        }
    }

    /// Returns the seat of the person whose turn it is.
    pub fn pending_human(&self) -> Option<&String> {
        // Roster order, whatever the order of the requests.
        let asked = &self.live()?.asked;
        let mut seats = self.session().open_round()?.open_seats();
        seats.find_map(|seat| asked.iter().find(|name| **name == seat.name))
    }

    /// Returns the work item that waits for a person.
    pub fn pending_item(&self) -> Option<&WorkItemOffered> {
        let asked = &self.live()?.asked;
        self.session().open_items().map(|item| &*item.offered).find(|item| asked.contains(&item.item))
    }

    pub fn is_turn(&self) -> bool {
        self.pending_human().is_some() || self.pending_item().is_some()
    }

    /// Returns the session as it will be if the counted result is accepted, up to what asks somebody else.
    pub fn if_accepted(&self) -> Session {
        use Command::{AskPerson, FinishStep, RecordSynthesis, StartStep};
        let mut after = self.session().clone();
        run_ahead(&mut after, self.session().last_at, |command| {
            matches!(command, StartStep | FinishStep { .. } | AskPerson { .. } | RecordSynthesis { .. })
        });
        after
    }

    pub fn last_closed(&self) -> Option<&RoundRun> {
        self.session().rounds.iter().rev().find(|round| round.closed.is_some())
    }

    /// Returns the number of seats in the preview, else in the shown round.
    pub fn seat_count(&self) -> usize {
        match self.preview() {
            Some(preview) => preview.opened.seats.len(),
            None => self.shown_round().map_or(0, |round| round.seats.len()),
        }
    }

    /// Returns the number of the newest round; a drafted round counts.
    pub fn newest_round(&self) -> usize {
        self.session().rounds.len() + usize::from(self.live().is_some_and(|live| live.preview.is_some()))
    }

    /// Returns the round whose seats and answers are shown: the last one, or an earlier one that was chosen.
    pub fn shown_round(&self) -> Option<&RoundRun> {
        let drafted = self.newest_round() - self.session().rounds.len();
        self.session().rounds.iter().rev().nth(self.rounds_back.saturating_sub(drafted))
    }

    /// Returns the shown round if it is revealed and the facilitator has no other task.
    pub fn revealed(&self) -> Option<&RoundRun> {
        let state = self.screen_state();
        let is_elsewhere = matches!(state, ScreenState::Home | ScreenState::Draft | ScreenState::Question);
        let round = self.shown_round().filter(|_| !is_elsewhere || self.rounds_back > 0)?;
        is_revealed(round).then_some(round)
    }

    /// Returns the preview of the drafted round, unless an earlier round is shown.
    pub fn preview(&self) -> Option<&Preview> {
        self.live()?.preview.as_deref().filter(|_| self.rounds_back == 0)
    }

    /// Returns whether the shown preview is of a session that has not begun, so that all of it can change.
    pub fn is_undecided(&self) -> bool {
        self.preview().is_some() && self.live().is_some_and(|live| live.draft.is_some())
    }

    pub fn seat_name(&self) -> Option<&str> {
        let at = self.seat.min(self.seat_count().saturating_sub(1));
        match self.preview() {
            Some(preview) => preview.opened.seats.get(at).map(String::as_str),
            None => self.shown_round()?.seats.get_index(at).map(|(name, _)| name.as_str()),
        }
    }

    /// Returns the seat to excuse or retry in the open round: the chosen one. If that is sealed or excused,
    /// returns the first failed one.
    pub fn seat_to_help(&self) -> Option<String> {
        let chosen = self.seat_name()?;
        let round = self.session().open_round()?;
        let is_settled = round.seat(chosen).is_some_and(|seat| {
            matches!(seat.status, SeatStatus::Sealed(_) | SeatStatus::Excused(_) | SeatStatus::Revealed(..))
        });
        let failed = round.failed_seats().next().filter(|_| is_settled).map(|seat| seat.name.clone());
        Some(failed.unwrap_or_else(|| chosen.to_owned()))
    }

    /// Returns the roster indexes of the seats in the order of the list. In an open round, seats that need the
    /// facilitator are first.
    pub fn seat_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.seat_count()).collect();
        let open = self.shown_round().filter(|round| round.closed.is_none());
        let Some(round) = open.filter(|_| self.preview().is_none()) else { return order };
        let turn = self.pending_human().map(String::as_str);
        let rank = |index: &usize| {
            let Some((name, seat)) = round.seats.get_index(*index) else { return 0 };
            match &seat.status {
                SeatStatus::Failed(_) => 0,
                _ if turn == Some(name.as_str()) => 1,
                SeatStatus::Asking => match self.progress.get(name).map(|progress| progress.phase) {
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
