//! What changes the agenda: a block in a consent round, and orders of the facilitator.

use crate::ballot::{Ballot, BallotKind, Stance};
use crate::core::command::AgendaChange;
use crate::history::{
    Agenda, AgendaUpdated, ConflictResolved, Event, Point, PointOpened, QuestionAnswered, RoundRun, Seat,
    SeatStatus, Session,
};

/// Who opens and resolves conflicts by counting.
pub(crate) const TALLY: &str = "tally";
const TITLE_LENGTH: usize = 200;

/// The event that a change yields, with the next free id where it opens something.
pub fn change(
    agenda: &Agenda,
    change: AgendaChange,
    by: String,
    step: Option<String>,
) -> Result<Event, String> {
    Ok(match change {
        AgendaChange::Item { id, title, status, reason } => {
            check_item(agenda, &id, title.as_deref(), status.as_deref())?;
            Event::AgendaUpdated(AgendaUpdated { id, title, status, reason, step, by })
        }
        AgendaChange::OpenConflict { title, description, minimum_change } => {
            check_title("a conflict", &title)?;
            let id = agenda.next_conflict();
            let opened =
                PointOpened { id, title, description, minimum_change, step, by, ..Default::default() };
            Event::ConflictOpened(Box::new(opened))
        }
        AgendaChange::ResolveConflict { id, how } => {
            check_open("conflict", "resolved", &agenda.conflicts, &id)?;
            check_text(&format!("how `{id}` is resolved"), &how)?;
            Event::ConflictResolved(ConflictResolved { id, how: Some(how), step, round: None, by })
        }
        AgendaChange::OpenQuestion { title, description } => {
            check_title("a question", &title)?;
            let id = agenda.next_question();
            let opened = PointOpened { id, title, description, step, by, ..Default::default() };
            Event::QuestionOpened(Box::new(opened))
        }
        AgendaChange::AnswerQuestion { id, answer } => {
            check_open("question", "answered", &agenda.questions, &id)?;
            check_text(&format!("the answer to `{id}`"), &answer)?;
            Event::QuestionAnswered(QuestionAnswered { id, answer, step, by })
        }
    })
}

fn check_item(agenda: &Agenda, id: &str, title: Option<&str>, status: Option<&str>) -> Result<(), String> {
    match agenda.item(id) {
        _ if id.trim().is_empty() => Err("an agenda item needs an id".to_owned()),
        None if title.is_none() => Err(format!("no agenda item `{id}`: a new one needs a title")),
        Some(_) if title.is_none() && status.is_none() => {
            Err(format!("nothing changes of agenda item `{id}`: give it a title or a status"))
        }
        Some(_) | None => {
            title.map_or(Ok(()), |title| check_title("an agenda item", title))?;
            status.map_or(Ok(()), |status| check_title("the status of an agenda item", status))
        }
    }
}

fn check_title(what: &str, title: &str) -> Result<(), String> {
    check_text(&format!("{what}: its title"), title)?;
    let is_line = !title.contains('\n') && title.chars().count() <= TITLE_LENGTH;
    if is_line { Ok(()) } else { Err(format!("{what}: one line, at most {TITLE_LENGTH} characters")) }
}

fn check_text(what: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("{what} is empty")) } else { Ok(()) }
}

fn check_open(noun: &str, settled: &str, points: &[Point], id: &str) -> Result<(), String> {
    match points.iter().find(|point| point.id == id) {
        None => Err(format!("no {noun} `{id}`")),
        Some(point) if !point.is_open() => Err(format!("{noun} `{id}` is already {settled}")),
        Some(_) => Ok(()),
    }
}

/// The conflicts that the blocks of a counted consent round open, and those that a round without a block
/// resolves. A seat that blocks again keeps its open conflict, with its new minimum change.
pub fn conflicts_of(session: &Session, run: &RoundRun, quorum_met: bool) -> Vec<Event> {
    let opened = &run.opened;
    if opened.ballot.kind != BallotKind::Consent {
        return Vec::new();
    }
    let mut agenda = session.agenda.clone();
    let is_of_step =
        |point: &&Point| point.participant.is_some() && point.step.as_ref() == Some(&opened.step);
    let blocks: Vec<Block<'_>> = run.seats.values().filter_map(Block::of).collect();
    let mut events = Vec::new();
    if blocks.is_empty() && quorum_met {
        events.extend(agenda.open_conflicts().filter(is_of_step).map(|conflict| {
            Event::ConflictResolved(ConflictResolved {
                id: conflict.id.clone(),
                how: None,
                step: Some(opened.step.clone()),
                round: Some(opened.round.clone()),
                by: TALLY.to_owned(),
            })
        }));
    }
    for block in blocks {
        let is_theirs =
            |point: &&Point| is_of_step(point) && point.participant.as_deref() == Some(block.seat);
        let before = agenda.open_conflicts().find(is_theirs);
        if before.is_some_and(|before| before.round.as_ref() == Some(&opened.round)) {
            continue;
        }
        let event = Event::ConflictOpened(Box::new(PointOpened {
            id: before.map_or_else(|| agenda.next_conflict(), |before| before.id.clone()),
            title: title(&opened.question),
            description: block.position,
            minimum_change: block.minimum_change,
            step: Some(opened.step.clone()),
            round: Some(opened.round.clone()),
            participant: Some(block.seat.to_owned()),
            by: TALLY.to_owned(),
        }));
        agenda.apply(&event);
        events.push(event);
    }
    events
}

/// The question of a round as a title: its first line, shortened.
fn title(question: &str) -> String {
    let line = question.lines().next().unwrap_or_default();
    let short: String = line.chars().take(TITLE_LENGTH - 10).collect();
    let cut = if short.len() < question.len() { "…" } else { "" };
    format!("Blocked: {short}{cut}")
}

struct Block<'a> {
    seat: &'a str,
    position: Option<String>,
    minimum_change: Option<String>,
}

impl<'a> Block<'a> {
    /// The block of a seat; also of one without a valid reply that may be a block.
    fn of(seat: &'a Seat) -> Option<Self> {
        let SeatStatus::Revealed(answer, _) = &seat.status else { return None };
        let position = || answer.answer.get("position").and_then(|text| text.as_str()).map(str::to_owned);
        if let Some(Ballot::Consent(Stance::Block, change)) = &answer.ballot {
            return Some(Self { seat: &seat.name, position: position(), minimum_change: change.clone() });
        }
        answer.may_block.then(|| Self { seat: &seat.name, position: None, minimum_change: None })
    }
}
