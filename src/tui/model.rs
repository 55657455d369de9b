//! The model: what the screen shows, and nothing of how.

use std::collections::HashMap;

use super::form::Form;
use super::home::{Home, OpenTarget};
use super::keymap::{Keys, ScreenState};
use super::list::List;
use super::live::LiveSession;
use super::replay::Replay;
use super::sources::ModelSource;
use super::theme::Theme;
use crate::engine::{FacilitatorRequest, WaitPoint};
use crate::history::{SeatStatus, Session};
use crate::participants::progress::{Progress, RequestPhase};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    /// What is asked, and how it is answered and counted.
    Question,
    Seats,
    Tally,
    Answer,
    Snapshot,
    Events,
    Steps,
    /// What would go wrong with the draft.
    Checks,
}

impl Pane {
    /// All of them, in the order of the Tab key.
    pub const ALL: [Self; 8] = [
        Self::Question,
        Self::Seats,
        Self::Tally,
        Self::Answer,
        Self::Snapshot,
        Self::Events,
        Self::Steps,
        Self::Checks,
    ];

    pub fn index(self) -> usize {
        Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0)
    }
}

/// Longer lists of seats have more of the screen.
const MANY_SEATS: usize = 30;

#[derive(Debug, Clone)]
pub enum Mode {
    Home,
    Replay,
    /// A session with the facilitator at the table.
    Live(Box<LiveSession>),
}

/// A text that may be read: a pane, of a round this far back, of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchPlace {
    pub back: usize,
    pub pane: Pane,
    pub seat: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchHit {
    pub place: SearchPlace,
    pub nth: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextView {
    pub title: String,
    pub text: String,
    pub copies: Option<String>,
    pub kind: TextKind,
    pub scroll: usize,
    pub words: String,
    pub is_typing: bool,
    pub at_hit: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextKind {
    #[default]
    Plain,
    /// A seat's answer, which is Markdown; the arrows lead to other seats.
    Answer,
    /// The keys; they are made anew for each drawing.
    Help,
    /// What the person is asked to agree to before it is run or asked, and whether its end has been on the
    /// screen: nobody agrees before.
    Agree(bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveTarget {
    Quit,
    Home,
}

#[derive(Debug, Clone)]
pub enum Overlay {
    /// Words to search for, as typed so far.
    Search(String),
    Form(Box<Form>),
    List(List),
    Text(TextView),
    Ask(Ask),
}

/// A question that is asked once before something is ordered.
#[derive(Debug, Clone)]
pub struct Ask {
    pub title: String,
    pub text: String,
    pub then: Asked,
}

#[derive(Debug, Clone)]
pub enum Asked {
    Order(FacilitatorRequest),
    Open(OpenTarget),
    /// Placeholders stand for all.
    Rehearse,
    /// What was typed into this form is thrown away.
    Discard(Box<Form>),
    /// Whether to leave a running session, and the form below the question.
    Leave(LeaveTarget, Option<Box<Form>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerLayout {
    One,
    SideBySide,
}

#[derive(Debug, Clone)]
pub struct Model {
    pub mode: Mode,
    /// The home screen, also while a session is shown.
    pub home: Home,
    /// Who can answer on this machine.
    pub sources: Vec<ModelSource>,
    pub is_finding_sources: bool,
    pub replay: Replay,
    pub focus: Pane,
    /// The chosen seat, by its place in the roster.
    pub seat: usize,
    pub scroll: [usize; Pane::ALL.len()],
    pub overlay: Option<Overlay>,
    pub words: String,
    /// The occurrence of them that was gone to last.
    pub hit: Option<SearchHit>,
    pub answer_layout: AnswerLayout,
    /// A word to the person, until the next key.
    pub notice: Option<String>,
    pub size: (u16, u16),
    pub theme: Theme,
    pub keys: Keys,
    pub file: String,
    /// What is done on another thread, and since when.
    pub busy: Option<(String, crate::history::Timestamp)>,
    /// How much of a replay has been read, in percent, while it is.
    pub reading: Option<u8>,
    /// How the requests of the open round stand, by seat.
    pub progress: HashMap<String, Progress>,
    /// How many rounds before the last one the shown one is.
    pub rounds_back: usize,
    /// The time, for how long a round is open.
    pub now: crate::history::Timestamp,
}

impl Model {
    /// The home screen, its rows still to be read.
    pub fn home(size: (u16, u16), theme: Theme, keys: Keys) -> Self {
        Self {
            mode: Mode::Home,
            home: Home { is_reading: true, ..Home::default() },
            sources: Vec::new(),
            is_finding_sources: true,
            replay: Replay::new(Vec::new()),
            focus: Pane::Seats,
            seat: 0,
            scroll: [0; Pane::ALL.len()],
            overlay: None,
            words: String::new(),
            hit: None,
            answer_layout: AnswerLayout::One,
            notice: None,
            size,
            theme,
            keys,
            file: String::new(),
            busy: None,
            reading: None,
            progress: HashMap::new(),
            rounds_back: 0,
            now: crate::history::Timestamp::default(),
        }
    }

    /// A replay, looked at from its start of interest: its last event.
    pub fn replay(replay: Replay, file: String, size: (u16, u16), theme: Theme) -> Self {
        Self { mode: Mode::Replay, replay, file, ..Self::home(size, theme, Keys::default()) }
    }

    pub fn show(&mut self, mode: Mode, replay: Replay, file: String) {
        let old = std::mem::replace(&mut self.replay, replay);
        // Giving back the memory of a long session takes a while.
        std::thread::spawn(move || drop(old));
        (self.mode, self.file) = (mode, file);
        (self.focus, self.seat, self.scroll) = (Pane::Seats, 0, [0; Pane::ALL.len()]);
        (self.overlay, self.answer_layout, self.reading) = (None, AnswerLayout::One, None);
        (self.rounds_back, self.hit) = (0, None);
        self.words.clear();
    }

    pub fn session(&self) -> &Session {
        self.replay.session()
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
        match self.replay.waits() {
            Some(WaitPoint::Draft) => ScreenState::Draft,
            Some(WaitPoint::Question(_)) => ScreenState::Question,
            Some(WaitPoint::Counted) => ScreenState::Revealed,
            // Nothing was sent yet, and the next thing would be.
            None if live.draft.is_some() => ScreenState::Draft,
            None => ScreenState::Open,
        }
    }

    /// Whether a round waits to be opened.
    pub fn is_drafting(&self) -> bool {
        self.replay.waits() == Some(&WaitPoint::Draft)
    }

    pub fn question(&self) -> Option<crate::core::Question> {
        match self.replay.waits() {
            Some(WaitPoint::Question(question)) => Some(question.clone()),
            _ => None,
        }
    }

    /// The person whose turn it is, and why an earlier answer did not count.
    pub fn pending_human(&self) -> Option<&(String, Option<String>)> {
        // In the order of the roster, whoever was quicker to ask.
        let asked = &self.live()?.asked;
        let mut seats = self.session().open_round()?.open_seats();
        seats.find_map(|seat| asked.iter().find(|(name, _)| *name == seat.name))
    }

    /// The seats that are on the table: of the round that would be opened, else of the last one.
    pub fn seat_count(&self) -> usize {
        match self.preview() {
            Some(preview) => preview.opened.seats.len(),
            None => self.shown_round().map_or(0, |round| round.seats.len()),
        }
    }

    /// The round whose seats and answers are shown: the last one, or an earlier one that is looked back at.
    pub fn shown_round(&self) -> Option<&crate::history::RoundRun> {
        // A drafted round is the newest, and is none of these.
        let drafted = self.live().is_some_and(|live| live.preview.is_some());
        let back = self.rounds_back.saturating_sub(usize::from(drafted));
        self.session().rounds.iter().rev().nth(back)
    }

    /// What would be sent, where a round waits to be opened and no earlier one is looked back at.
    pub fn preview(&self) -> Option<&super::live::Preview> {
        self.live()?.preview.as_deref().filter(|_| self.rounds_back == 0)
    }

    /// Whether the session that is looked at has not begun, so that all of it may still change.
    pub fn is_undecided(&self) -> bool {
        self.live().is_some_and(|live| live.draft.is_some() && live.from.is_some())
            && self.preview().is_some()
    }

    pub fn seat_name(&self) -> Option<&str> {
        let at = self.seat.min(self.seat_count().saturating_sub(1));
        match self.preview() {
            Some(preview) => preview.opened.seats.get(at).map(String::as_str),
            None => self.shown_round()?.seats.get_index(at).map(|(name, _)| name.as_str()),
        }
    }

    /// The seat of the open round that is helped: the chosen one, or the first that failed where the chosen one
    /// has settled.
    pub fn seat_to_help(&self) -> Option<String> {
        let chosen = self.seat_name()?;
        let round = self.session().open_round()?;
        let is_settled = round.seat(chosen).is_some_and(|seat| {
            matches!(seat.status, SeatStatus::Sealed(_) | SeatStatus::Excused(_) | SeatStatus::Revealed(..))
        });
        let failed = round.failed_seats().next().filter(|_| is_settled).map(|seat| seat.name.clone());
        Some(failed.unwrap_or_else(|| chosen.to_owned()))
    }

    /// The places of the seats in the roster, in the order of the list: while a round is open, those first that
    /// need the facilitator.
    pub fn seat_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.seat_count()).collect();
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

    /// Whether the list is longer than its share of the screen.
    pub fn has_many_seats(&self) -> bool {
        self.seat_count() > MANY_SEATS
    }
}
