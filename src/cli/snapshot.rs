//! `snapshot`: the exact bytes of a round's snapshot, without sending anything.

use std::path::Path;
use std::sync::Arc;

use super::Done;
use super::files::log_of;
use super::output::Output;
use super::plan::{Plan, SetUp, load_plan};
use crate::journal::fold;
use crate::problem::{Problem, did_you_mean};
use crate::session::{Command, Event, Exit, Moment, Session, Stamped, decide};

/// Prints the snapshot of a definition's or a session's round, for one participant with its address.
pub fn run(
    file: &Path,
    step: Option<&str>,
    seat: Option<&str>,
    input: Option<&str>,
    output: &mut Output,
) -> Done {
    let events = if file.extension().is_some_and(|extension| extension == "s2s") {
        match log_of(file, output)? {
            Ok(log) => recorded(&fold(&log), step)?,
            Err(exit) => return Ok(exit),
        }
    } else {
        let set_up = SetUp::find()?;
        let plan = load_plan(file, output)?;
        planned(&plan, &set_up, step, input, output)?
    };
    let mut names = Vec::new();
    let mut snapshot = String::new();
    for event in &events {
        match event {
            Event::RoundOpened(opened) => snapshot.clone_from(&opened.snapshot),
            Event::WorkItemOffered(item) => {
                names.push(item.participant.as_str());
                if seat == Some(item.participant.as_str()) {
                    snapshot.push_str(&item.address);
                    output.bytes(snapshot.as_bytes());
                    return Ok(Exit::Finished);
                }
            }
            _ => {}
        }
    }
    if let Some(seat) = seat {
        let problem = Problem::new(format!("`{seat}` has no seat in this round"));
        return Err(vec![problem.hint(did_you_mean(seat, &names))]);
    }
    output.bytes(snapshot.as_bytes());
    Ok(Exit::Finished)
}

/// The events that opened a recorded round: its step's last one, or the session's first.
fn recorded(session: &Session, step: Option<&str>) -> Result<Vec<Event>, Vec<Problem>> {
    let of_step =
        |id: &str| session.rounds.iter().rev().find(|r| r.opened.step == id || r.opened.round == id);
    let round = match step {
        Some(id) => of_step(id),
        None => session.rounds.first(),
    };
    let round = round.ok_or_else(|| {
        let known: Vec<&str> = session.rounds.iter().map(|round| round.opened.round.as_str()).collect();
        vec![
            Problem::new("no such round was opened in this session")
                .hint(format!("rounds: {}", known.join(", "))),
        ]
    })?;
    let items = round.seats.values().filter_map(|seat| seat.item.as_ref());
    let mut events = vec![Event::RoundOpened(Arc::clone(&round.opened))];
    events.extend(items.map(|item| Event::WorkItemOffered(Arc::clone(item))));
    Ok(events)
}

/// The events that would open a definition's round now.
fn planned(
    plan: &Plan,
    set_up: &SetUp,
    step: Option<&str>,
    input: Option<&str>,
    output: &Output,
) -> Result<Vec<Event>, Vec<Problem>> {
    let rounds: Vec<&str> = plan
        .definition
        .steps
        .iter()
        .filter(|step| step.round().is_some())
        .map(|step| step.id.as_str())
        .collect();
    let id = match step {
        None => rounds.first().copied(),
        Some(id) => rounds.iter().copied().find(|known| *known == id),
    };
    let Some(id) = id.map(str::to_owned) else {
        let wanted = step.unwrap_or("");
        let problem = Problem::new(format!("no round step `{wanted}`"));
        return Err(vec![problem.hint(did_you_mean(wanted, &rounds))]);
    };
    if plan.definition.steps.first().is_some_and(|first| first.id != id) {
        output.note("note: steps before this one have not run: their results are not in this snapshot");
    }
    let opened = plan.header(plan.roster(set_up)?, "snapshot", input, None)?;
    let mut session = Session::default();
    let at = Moment(0);
    session.apply(&Stamped { at, event: Event::SessionOpened(Box::new(opened)) });
    session.apply(&Stamped {
        at,
        event: Event::StepStarted { step: id, kind: "round".to_owned(), iteration: 1, within: None },
    });
    let project_summary = set_up.folders.context().map_err(|problem| vec![problem])?;
    let command = Command::OpenRound { project_summary };
    decide(&session, command, at).map_err(|refusal| vec![Problem::new(refusal.0)])
}
