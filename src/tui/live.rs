//! State of a live session: draft, preview, orders, links.
//!
//! Events arrive from the engine once they are on disk, and are folded as in a replay. Before the first order
//! a session has neither engine nor file.

use std::collections::VecDeque;
use std::time::Duration;

use indexmap::IndexMap;
use similar::{ChangeTag, TextDiff};

use super::form::Form;
use super::home::OpenTarget;
use crate::core::{Command, ExitCode, RoundDraft, draft_round, run_ahead};
use crate::handoff::Checked;
use crate::history::{
    Event, LogEntry, RoundOpened, SeatInvited, Session, SessionOpened, TimedEvent, Timestamp,
};

#[derive(Debug, Clone, PartialEq)]
pub enum EngineUpdate {
    Saw(Box<LogEntry>),
    Refused(String),
    /// A message for the person that is no event.
    Note(String),
    /// The engine has stopped: its exit code, or the error.
    Ended(Result<ExitCode, String>),
}

/// Changes to the seats of a session that has not begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeatChoice {
    pub seats: Vec<(String, String)>,
    /// Names of the chosen participants; empty for those of the definition.
    pub participants: Vec<String>,
    /// Placeholders answer for all seats.
    pub rehearse: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatLink {
    /// A link, or the environment variables that an agent needs.
    pub text: String,
    /// QR code of the link, as lines.
    pub code: Option<String>,
    /// Notes on the certificate for the receiver of the link.
    pub notes: Vec<String>,
}

/// A session that has not begun, with its checks.
#[derive(Debug, Clone)]
pub struct Draft {
    pub opened: SessionOpened,
    pub notices: Vec<String>,
    /// Evidence as it would be recorded if the session began now.
    pub evidence: Vec<TimedEvent>,
    /// The programs and requests that the session needs, one per line.
    pub needs: Vec<String>,
    /// Whether the person still has to agree to some needs.
    pub asks_first: bool,
    pub problems: Vec<(String, String)>,
    /// The source, and the changes to its seats.
    pub from: (OpenTarget, SeatChoice),
}

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct LiveSession {
    /// `None` once the engine runs.
    pub draft: Option<Box<Draft>>,
    /// The prompts that would be sent if the draft round were opened now.
    pub preview: Option<Box<Preview>>,
    pub ended: Option<Result<ExitCode, String>>,
    pub is_new_question: bool,
    /// Human seats and work items that wait for a person, in the order of their requests.
    pub asked: VecDeque<String>,
    pub links: IndexMap<String, SeatLink>,
    /// The newest link with its invitation, until the invitation is on disk.
    pub new_link: Option<(SeatInvited, SeatLink)>,
    /// Whether a link is to be shown as soon as it exists.
    pub shows_link: bool,
    /// The last submitted form, until its order has been carried out.
    pub handed_in: Option<Box<Form>>,
    /// Whether the snapshot is shown as a diff from the last one.
    pub shows_diff: bool,
    /// The snapshot on the screen when the round was ordered to open; cleared once it is open.
    /// After a refusal, the next draft is compared with it.
    pub ordered: Option<String>,
    pub is_refused: bool,
}

impl LiveSession {
    /// Returns the number of seats without a model or scripted answers, before the session begins.
    pub fn seats_without_model(&self) -> usize {
        let seats = self.draft.iter().flat_map(|draft| &draft.opened.participants);
        seats.filter(|seat| seat.has_no_model() && seat.scripted.is_empty()).count()
    }

    /// Returns the seats that would fail, with the reasons, before the session begins.
    pub fn problems(&self) -> &[(String, String)] {
        self.draft.as_ref().map_or(&[], |draft| &draft.problems)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    pub opened: RoundOpened,
    /// Diff from the last round's snapshot: a sign (` `, `+`, `-`) and a line each.
    pub diff: Vec<(char, String)>,
    /// Whether the diff compares with the snapshot shown when the round was ordered to open.
    pub is_changed: bool,
    pub checked: Checked,
    /// Bytes that the snapshot would have with all earlier rounds and results.
    pub bytes_in_full: usize,
    /// Background of the question, as it would be sent.
    pub background: Option<String>,
}

impl Preview {
    /// Computes the round that `session` would open now; `context` is the project's context.
    pub fn compute(session: &Session, context: Option<&str>) -> Result<Self, String> {
        let RoundDraft { opened, checked, bytes_in_full } =
            draft_round(session, context).map_err(|refusal| refusal.to_string())?;
        let before = session.rounds.last().map_or("", |round| &round.opened.snapshot);
        let diff = if before.is_empty() { Vec::new() } else { text_diff(before, &opened.snapshot) };
        let background = session
            .definition()
            .step(&opened.step)
            .and_then(|step| session.rendered_round(step, step.round()?).ok()?.round.exploration.clone());
        Ok(Self { opened, diff, is_changed: false, checked, bytes_in_full, background })
    }
}

/// Returns the events of a session that has not begun, without sending anything.
/// They end where the facilitator is needed, or before the first action that needs an engine.
pub fn preview_events(opened: &SessionOpened, at: Timestamp) -> Vec<TimedEvent> {
    let mut session = Session::default();
    let first = TimedEvent { at, event: Event::SessionOpened(Box::new(opened.clone())) };
    session.apply(&first);
    let is_free = |command: &Command| matches!(command, Command::StartStep | Command::AskPerson { .. });
    std::iter::once(first).chain(run_ahead(&mut session, at, is_free)).collect()
}

/// Returns every line of both texts with a sign: ` ` in both, `-` only before, `+` only after.
pub fn text_diff(before: &str, after: &str) -> Vec<(char, String)> {
    let diff = TextDiff::configure().timeout(Duration::from_millis(200)).diff_lines(before, after);
    let line = |change: similar::Change<&str>| {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Insert => '+',
            ChangeTag::Delete => '-',
        };
        (sign, change.value().trim_end_matches('\n').to_owned())
    };
    diff.iter_all_changes().map(line).collect()
}
