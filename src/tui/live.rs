//! A session with the facilitator at the table: what would be sent next, and what was said of orders.
//!
//! The events themselves come from the engine, once they are on disk, and are folded like a replay's.
//! Before the first order there is no engine and no file: the session is only looked at.

use std::collections::VecDeque;
use std::time::Duration;

use indexmap::IndexMap;
use similar::{ChangeTag, TextDiff};

use super::form::Form;
use super::home::OpenTarget;
use crate::core::{Command, ExitCode, NextAction, RoundDraft, decide, draft_round, next};
use crate::engine::hold;
use crate::handoff::Checked;
use crate::history::{
    Event, LogEntry, RoundOpened, SeatInvited, Session, SessionOpened, TimedEvent, Timestamp,
};

#[derive(Debug, Clone, PartialEq)]
pub enum EngineUpdate {
    Saw(Box<LogEntry>),
    Refused(String),
    /// Something beside it that a person should know.
    Note(String),
    /// The engine has stopped: the exit code, or what went wrong.
    Ended(Result<ExitCode, String>),
}

/// Changes to the seats of a session that has not begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeatChoice {
    pub seats: Vec<(String, String)>,
    /// Names of the chosen participants; empty for those of the definition.
    pub participants: Vec<String>,
    /// Placeholders answer for all.
    pub rehearse: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatLink {
    /// A link, or what an agent needs in its environment.
    pub text: String,
    /// The link for a phone's camera, in lines.
    pub code: Option<String>,
    /// Notes on the certificate for the receiver of the link.
    pub notes: Vec<String>,
}

/// A session that has not begun: what it would open with, and what is known of that.
#[derive(Debug, Clone)]
pub struct Draft {
    pub opened: SessionOpened,
    pub notices: Vec<String>,
    /// Its evidence, recorded as it would be if the session began now.
    pub evidence: Vec<TimedEvent>,
    /// Lines that tell its needs.
    pub needs: Vec<String>,
    /// The person has not agreed to all of them yet.
    pub asks_first: bool,
    pub problems: Vec<(String, String)>,
    /// Its source, and the changes to its seats.
    pub from: (OpenTarget, SeatChoice),
}

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct LiveSession {
    /// `None` once an engine works.
    pub draft: Option<Box<Draft>>,
    /// The prompts that would be sent if the waiting round were opened now.
    pub preview: Option<Box<Preview>>,
    pub ended: Option<Result<ExitCode, String>>,
    pub is_new_question: bool,
    /// The seats of people who are asked, in turn.
    pub asked: VecDeque<String>,
    pub links: IndexMap<String, SeatLink>,
    /// A link that was made last with its invitation, until that is on record.
    pub new_link: Option<(SeatInvited, SeatLink)>,
    /// A link is shown as soon as there is one.
    pub shows_link: bool,
    /// The form that was handed in last, until what it orders has happened.
    pub handed_in: Option<Box<Form>>,
    /// The snapshot is shown as its difference from the last one.
    pub shows_diff: bool,
    /// The snapshot that was shown when the round was to be opened, until it is; once that is refused, what
    /// the next draft differs from.
    pub ordered: Option<String>,
    pub is_refused: bool,
}

impl LiveSession {
    /// The seats that nobody answers for yet, before the session begins.
    pub fn seats_without_model(&self) -> usize {
        let seats = self.draft.iter().flat_map(|draft| &draft.opened.participants);
        seats.filter(|seat| seat.has_no_model() && seat.scripted.is_empty()).count()
    }

    /// Seats that would fail, and why, before the session begins.
    pub fn problems(&self) -> &[(String, String)] {
        self.draft.as_ref().map_or(&[], |draft| &draft.problems)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    pub opened: RoundOpened,
    /// The snapshot's difference from the last round's: a sign (` `, `+`, `-`) and a line each.
    pub diff: Vec<(char, String)>,
    /// The difference is that from the snapshot shown when the round was to be opened.
    pub is_changed: bool,
    pub checked: Checked,
    /// The bytes that the snapshot would have with all earlier rounds and results.
    pub bytes_in_full: usize,
    /// The background of its question, as it would be sent.
    pub background: Option<String>,
}

impl Preview {
    /// The round that `session` would open now, `context` being its project's.
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

/// The events of a session that is only looked at: up to where a facilitator is wanted, or to where
/// something would be sent, which takes an engine.
pub fn preview_events(opened: &SessionOpened, at: Timestamp) -> Vec<TimedEvent> {
    let mut session = Session::default();
    let mut events = vec![TimedEvent { at, event: Event::SessionOpened(Box::new(opened.clone())) }];
    session.apply(&events[0]);
    while hold(&session).is_none() {
        let now = next(&session);
        let NextAction::Decide(command @ (Command::StartStep | Command::AskPerson { .. })) = now else {
            break;
        };
        let Ok(decided) = decide(&session, command, at) else { break };
        for event in decided {
            let stamped = TimedEvent { at, event };
            session.apply(&stamped);
            events.push(stamped);
        }
    }
    events
}

/// Every line of both texts with a sign: ` ` in both, `-` only before, `+` only after.
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
