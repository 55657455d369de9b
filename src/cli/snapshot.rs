//! `snapshot`: the exact bytes of a round's snapshot, or of an agent's prompt, without sending anything.

use std::path::Path;
use std::sync::Arc;

use super::console::Console;
use super::files::log_of;
use super::options::{environment, load_plan};
use super::verb_result::VerbResult;
use crate::core::{Command, ExitCode, decide};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::{Event, Session, TimedEvent, Timestamp, WorkItem};
use crate::journal::fold;
use crate::launch::environment::Environment;
use crate::launch::prepare::{PreparedSession, none, opened};
use crate::launch::roster::UnknownAgentPolicy;
use crate::workflow::{Definition, Step};

/// Prints the snapshot of a definition's or a session's round, for one participant with its address.
pub fn run(
    file: &Path,
    step: Option<&str>,
    seat: Option<&str>,
    input: Option<&str>,
    trusts: bool,
    output: &mut Console,
) -> VerbResult {
    let events = if file.extension().is_some_and(|extension| extension == "s2s") {
        let session = fold(&log_of(file, output)?);
        if let Some(prompt) = step.and_then(|step| recorded_prompt(&session, step)) {
            output.bytes(prompt.as_bytes());
            return Ok(ExitCode::Finished);
        }
        recorded(&session, step)?
    } else {
        let set_up = environment(trusts, output)?;
        let plan = load_plan(file, &set_up.folders, output)?;
        let asked = step.and_then(|step| plan.definition.step(step)).filter(|step| step.round().is_none());
        if let Some(step) = asked {
            let prompt = planned_prompt(&plan, &set_up, step, input)?;
            output.note("note: steps before this one have not run: their results are not in this prompt");
            output.bytes(prompt.as_bytes());
            return Ok(ExitCode::Finished);
        }
        planned(&plan, &set_up, step, input, output)?
    };
    let mut names = Vec::new();
    let mut snapshot = String::new();
    for event in &events {
        if let Event::RoundOpened(opened) = event {
            snapshot = opened.snapshot.to_string();
        }
        if let Event::WorkItemOffered(item) = event {
            names.push(item.participant.as_str());
            if seat == Some(item.participant.as_str()) {
                snapshot.push_str(&item.address);
                output.bytes(snapshot.as_bytes());
                return Ok(ExitCode::Finished);
            }
        }
    }
    if let Some(seat) = seat {
        let problem = Diagnostic::new(format!("`{seat}` has no seat in this round"));
        return Err(problem.hint(did_you_mean(seat, &names)).into());
    }
    output.bytes(snapshot.as_bytes());
    Ok(ExitCode::Finished)
}

/// The prompt of a recorded work item, by its id or its step: the last one.
fn recorded_prompt(session: &Session, step: &str) -> Option<String> {
    let of_step = |item: &&WorkItem| item.offered.step == step || item.offered.item == step;
    let item = session.items.values().rev().find(of_step)?;
    Some(session.agent_prompt(&item.offered).1)
}

/// The prompt that an agent's step would hand over now.
fn planned_prompt(
    plan: &PreparedSession,
    set_up: &Environment,
    step: &Step,
    input: Option<&str>,
) -> Result<String, Vec<Diagnostic>> {
    let id = step.id.clone();
    let (roster, problems) = plan.roster(set_up, UnknownAgentPolicy::Noticed);
    none(problems)?;
    let header = plan.header(roster, "snapshot", (input, None))?;
    let at = Timestamp(0);
    let mut session = opened(&header, at);
    let kind = step.kind_name().to_owned();
    session.apply(&TimedEvent {
        at,
        event: Event::StepStarted { step: id.clone(), kind, iteration: 1, within: None },
    });
    let offered = decide(&session, Command::Offer { step: id.clone() }, at);
    let offered = offered
        .map_err(|refusal| vec![Diagnostic::new(refusal.0).hint("name a round or an agent's step")])?;
    let prompt = offered.iter().find_map(|event| {
        if let Event::WorkItemOffered(item) = event { Some(session.agent_prompt(item).1) } else { None }
    });
    prompt.ok_or_else(|| vec![Diagnostic::new(format!("step `{id}` hands nothing out"))])
}

/// The events that opened a recorded round: its step's last one, or the session's first.
fn recorded(session: &Session, step: Option<&str>) -> Result<Vec<Event>, Vec<Diagnostic>> {
    let of_step =
        |id: &str| session.rounds.iter().rev().find(|r| r.opened.step == id || r.opened.round == id);
    let round = match step {
        Some(id) => of_step(id),
        None => session.rounds.first(),
    };
    let round = round.ok_or_else(|| {
        let known: Vec<&str> = session.rounds.iter().map(|round| round.opened.round.as_str()).collect();
        vec![
            Diagnostic::new("no such round was opened in this session")
                .hint(format!("rounds: {}", known.join(", "))),
        ]
    })?;
    let items = round.seats.values().filter_map(|seat| seat.item.as_ref());
    let mut events = vec![Event::RoundOpened(Arc::clone(&round.opened))];
    events.extend(items.map(|item| Event::WorkItemOffered(Arc::clone(item))));
    Ok(events)
}

/// How many rounds come before a step on the shortest way to it.
fn rounds_before(definition: &Definition, id: &str) -> u32 {
    let rounds = |step: &Step| {
        let all = std::iter::once(step).chain(step.nested());
        all.filter(|step| step.round().is_some()).count() as u32
    };
    let mut reached: Vec<(&Step, u32)> =
        definition.steps.first().map(|first| (first, 0)).into_iter().collect();
    let mut at = 0;
    while let Some(&(step, before)) = reached.get(at) {
        at += 1;
        if step.id == id {
            return before;
        }
        if step.nested().iter().any(|nested| nested.id == id) {
            let earlier = step.nested().iter().take_while(|nested| nested.id != id);
            return before + earlier.map(rounds).sum::<u32>();
        }
        let listed = definition.steps.iter().skip_while(|other| other.id != step.id).nth(1);
        let listed = listed.filter(|_| !definition.is_routed());
        let routed = step.targets().into_iter().filter_map(|(_, target)| definition.step(target));
        for next in routed.chain(listed) {
            if !reached.iter().any(|(known, _)| known.id == next.id) {
                reached.push((next, before + rounds(step)));
            }
        }
    }
    0
}

/// The events that would open a definition's round now.
fn planned(
    plan: &PreparedSession,
    set_up: &Environment,
    step: Option<&str>,
    input: Option<&str>,
    output: &Console,
) -> Result<Vec<Event>, Vec<Diagnostic>> {
    let rounds: Vec<&str> = plan
        .definition
        .all_steps()
        .filter(|step| step.round().is_some())
        .map(|step| step.id.as_str())
        .collect();
    let id = match step {
        None => rounds.first().copied(),
        Some(id) => rounds.iter().copied().find(|known| *known == id),
    };
    let Some(id) = id.map(str::to_owned) else {
        let wanted = step.unwrap_or("");
        let problem = Diagnostic::new(format!("no round step `{wanted}`"));
        return Err(vec![problem.hint(did_you_mean(wanted, &rounds))]);
    };
    if plan.definition.steps.first().is_some_and(|first| first.id != id) {
        output.note("note: steps before this one have not run: their results are not in this snapshot");
    }
    let (roster, problems) = plan.roster(set_up, UnknownAgentPolicy::Refused);
    none(problems)?;
    let at = Timestamp(0);
    let mut session = opened(&plan.header(roster, "snapshot", (input, None))?, at);
    session.rounds_left_out = rounds_before(&plan.definition, &id);
    session.apply(&TimedEvent {
        at,
        event: Event::StepStarted { step: id, kind: "round".to_owned(), iteration: 1, within: None },
    });
    let project_summary = set_up.folders.context().map_err(|problem| vec![problem])?;
    let command = Command::OpenRound { project_summary };
    decide(&session, command, at).map_err(|refusal| vec![Diagnostic::new(refusal.0)])
}
