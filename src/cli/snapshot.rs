//! The `snapshot` command: the exact bytes of a round's snapshot. Sends nothing.

use std::path::Path;

use super::console::{Console, VerbResult};
use super::options::environment;
use crate::core::{Command, ExitCode, Refusal, decide};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::{Event, StepStarted, TimedEvent, Timestamp};
use crate::launch::error::no_problems;
use crate::launch::material::with_evidence;
use crate::launch::plan::read_definition;
use crate::launch::prepare::DraftedSession;
use crate::launch::roster::UnknownAgentPolicy;
use crate::workflow::Step;

/// Prints the snapshot of a definition's round, optionally with the addressed lines of one participant.
pub fn run(file: &Path, step: Option<&str>, seat: Option<&str>, output: &mut Console) -> VerbResult {
    const AT: Timestamp = Timestamp(0);
    let set_up = environment(false, output)?;
    let plan = read_definition(file, &set_up.folders)?;
    plan.warnings.iter().for_each(|warning| output.warn(warning));
    let rounds: Vec<&Step> = plan.definition.all_steps().filter(|step| step.round().is_some()).collect();
    let found = rounds.iter().position(|round| step.is_none_or(|id| round.id == id));
    let Some(at) = found else {
        let names: Vec<&str> = rounds.iter().map(|round| round.id.as_str()).collect();
        let problem = step.map_or("there is no round".to_owned(), |id| format!("no round `{id}`"));
        let hint = match names[..] {
            [] => "`--batch --dry-run` shows what agents are asked".to_owned(),
            _ => did_you_mean(step.unwrap_or_default(), &names),
        };
        return Err(Diagnostic::new(problem).hint(hint).into());
    };
    let step = rounds[at];
    if plan.definition.steps.first().is_some_and(|first| first.id != step.id) {
        output.note("note: steps before this one have not run: their results are left out");
    }
    let DraftedSession { mut session, problems, .. } =
        plan.draft(&set_up, UnknownAgentPolicy::Refused, AT)?;
    no_problems(problems)?;
    let (step, kind) = (step.id.clone(), step.kind_name().to_owned());
    let started = StepStarted { step, kind, iteration: 1, within: None, items: Vec::new() };
    session.apply(&TimedEvent { at: AT, event: Event::StepStarted(started) });
    session.rounds_left_out = at as u32;
    with_evidence(&mut session, &[], set_up.preview_reader(&plan.definition))?;
    let command = Command::OpenRound { project_summary: set_up.folders.context()?, seal: None };
    let refused = |refusal: Refusal| Diagnostic::new(refusal.to_string());
    let events = decide(&session, command, AT).map_err(refused)?;
    let (mut text, mut names) = (String::new(), Vec::new());
    for event in &events {
        if let Event::StepFinished(ended) = event {
            return Err(Diagnostic::new(ended.error.clone().unwrap_or_default()).into());
        }
        if let Event::RoundOpened(opened) = event {
            text = opened.snapshot.to_string();
        }
        if let Event::WorkItemOffered(item) = event {
            names.push(item.participant.as_str());
            if seat == Some(&item.participant) {
                text.push_str(&item.address);
            }
        }
    }
    if let Some(seat) = seat.filter(|seat| !names.contains(seat)) {
        let problem = Diagnostic::new(format!("`{seat}` has no seat in this round"));
        return Err(problem.hint(did_you_mean(seat, &names)).into());
    }
    output.bytes(text.as_bytes());
    Ok(ExitCode::Finished)
}
