//! `snapshot`: the exact bytes of a round's snapshot, or of an agent's prompt, without sending anything.

use std::path::Path;

use super::console::{Console, VerbResult};
use super::options::{environment, load_plan};
use crate::core::{Command, ExitCode, decide};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::{Event, Session, StepStarted, TimedEvent, Timestamp};
use crate::launch::environment::Environment;
use crate::launch::error::no_problems;
use crate::launch::evidence::with_evidence;
use crate::launch::prepare::{PreparedSession, opened};
use crate::launch::roster::UnknownAgentPolicy;
use crate::workflow::{Definition, Step};

/// Prints the snapshot of a definition's round, for one participant with its address.
pub fn run(
    file: &Path,
    step: Option<&str>,
    seat: Option<&str>,
    input: Option<&str>,
    output: &mut Console,
) -> VerbResult {
    let set_up = environment(false, output)?;
    let plan = load_plan(file, &set_up.folders, output)?;
    let asked = step.and_then(|step| plan.definition.step(step)).filter(|step| step.round().is_none());
    if let Some(step) = asked {
        let prompt = planned_prompt(&plan, &set_up, step, input)?;
        output.note("note: steps before this one have not run: their results are not in this prompt");
        output.bytes(prompt.as_bytes());
        return Ok(ExitCode::Finished);
    }
    let events = planned(&plan, &set_up, step, input, output)?;
    let mut names = Vec::new();
    let mut snapshot = String::new();
    for event in &events {
        if let Event::StepFinished(ended) = event {
            return Err(Diagnostic::new(ended.error.clone().unwrap_or_default()).into());
        } else if let Event::RoundOpened(opened) = event {
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

const AT: Timestamp = Timestamp(0);

fn session_at(
    plan: &PreparedSession,
    set_up: &Environment,
    nobody: UnknownAgentPolicy,
    step: &Step,
    input: Option<&str>,
) -> Result<Session, Vec<Diagnostic>> {
    let (roster, problems) = plan.roster(set_up, nobody);
    no_problems(problems)?;
    let mut session = opened(&plan.header(roster, "snapshot", input, None)?, AT);
    let (step, kind) = (step.id.clone(), step.kind_name().to_owned());
    let event = Event::StepStarted(StepStarted { step, kind, iteration: 1, within: None, items: Vec::new() });
    session.apply(&TimedEvent { at: AT, event });
    Ok(session)
}

fn planned_prompt(
    plan: &PreparedSession,
    set_up: &Environment,
    step: &Step,
    input: Option<&str>,
) -> Result<String, Vec<Diagnostic>> {
    let session = session_at(plan, set_up, UnknownAgentPolicy::Noticed, step, input)?;
    let offered = decide(&session, Command::Offer { step: step.id.clone() }, AT);
    let offered = offered
        .map_err(|refusal| Diagnostic::new(refusal.to_string()).hint("name a round or an agent's step"))?;
    for event in offered {
        if let Event::WorkItemOffered(item) = event {
            return Ok(session.agent_prompt(&item).1);
        } else if let Event::StepFinished(ended) = event {
            return Err(vec![Diagnostic::new(ended.error.clone().unwrap_or_default())]);
        }
    }
    Err(vec![Diagnostic::new(format!("step `{}` hands nothing out", step.id))])
}

/// Counts the rounds before a step on the shortest way to it.
fn rounds_before(definition: &Definition, id: &str) -> u32 {
    let rounds = |step: &Step| step.all().into_iter().filter(|step| step.round().is_some()).count() as u32;
    let mut reached: Vec<(&Step, u32)> =
        definition.steps.first().map(|first| (first, 0)).into_iter().collect();
    let mut at = 0;
    while let Some(&(step, before)) = reached.get(at) {
        at += 1;
        if step.id == id {
            return before;
        }
        if step.holds(id) {
            let earlier = step.all().into_iter().take_while(|nested| nested.id != id);
            return before + earlier.filter(|nested| nested.round().is_some()).count() as u32;
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

fn planned(
    plan: &PreparedSession,
    set_up: &Environment,
    step: Option<&str>,
    input: Option<&str>,
    output: &Console,
) -> Result<Vec<Event>, Vec<Diagnostic>> {
    let rounds: Vec<&Step> = plan.definition.all_steps().filter(|step| step.round().is_some()).collect();
    let found = rounds.iter().find(|known| step.is_none_or(|id| known.id == id));
    let Some(step) = found.copied() else {
        let wanted = step.unwrap_or("");
        let names: Vec<&str> = rounds.iter().map(|step| step.id.as_str()).collect();
        let problem = Diagnostic::new(format!("no round step `{wanted}`"));
        return Err(problem.hint(did_you_mean(wanted, &names)).into());
    };
    if plan.definition.steps.first().is_some_and(|first| first.id != step.id) {
        output.note("note: steps before this one have not run: their results are not in this snapshot");
    }
    let mut session = session_at(plan, set_up, UnknownAgentPolicy::Refused, step, input)?;
    session.rounds_left_out = rounds_before(&plan.definition, &step.id);
    with_evidence(&mut session, &[], set_up.looking_reader(&plan.definition))?;
    let project_summary = set_up.folders.context()?;
    let command = Command::OpenRound { project_summary, seal: None };
    Ok(decide(&session, command, AT).map_err(|refusal| Diagnostic::new(refusal.to_string()))?)
}
