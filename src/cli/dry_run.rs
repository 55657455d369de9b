//! `--dry-run`: what the first round would send, and nothing sent.

use super::Done;
use super::output::Output;
use super::plan::SetUp;
use crate::problem::Problem;
use crate::report;
use crate::session::{Command, Event, Exit, Moment, Next, Session, Stamped, WorkItemOffered, decide, next};
use crate::text::{estimated_tokens, harmless};

/// Folds the session up to the opening of its first round and prints each prompt.
pub fn run(mut session: Session, now: Moment, set_up: &SetUp, output: &mut Output) -> Done {
    loop {
        let command = match next(&session) {
            Next::Decide(command @ Command::StartStep) => command,
            Next::OpenRound => {
                let project_summary = set_up.folders.context().map_err(|problem| vec![problem])?;
                Command::OpenRound { project_summary }
            }
            _ => break,
        };
        for event in decide(&session, command, now).map_err(|refusal| vec![Problem::new(refusal.0)])? {
            let stamped = Stamped { at: now, event };
            session.apply(&stamped);
            if output.json {
                output.line(&report::preview(now, &stamped.event, &session));
            } else if let Event::WorkItemOffered(item) = &stamped.event {
                output.line(&prompt(&session, item));
            }
        }
    }
    conclude(&session, output);
    Ok(Exit::Finished)
}

fn prompt(session: &Session, item: &WorkItemOffered) -> String {
    let text = session.round(&item.round).map(|round| session.prompt(round, item).text()).unwrap_or_default();
    let (bytes, tokens) = (text.len(), estimated_tokens(text.len()));
    let head = format!("=== {} ({}) · {bytes} bytes · about {tokens} tokens", item.participant, item.model);
    harmless(&format!("{head}\n\n{text}")).into_owned()
}

fn conclude(session: &Session, output: &Output) {
    let Some(round) = session.open_round() else {
        return output.note("dry run: the first step asks a person; nothing was sent or saved");
    };
    output.note(&format!(
        "dry run: {} seats, snapshot {} bytes (sha256 {}), nothing was sent or saved",
        round.seats.len(),
        round.opened.snapshot_bytes,
        round.opened.snapshot_sha256
    ));
    let definition = session.definition.as_ref();
    let waiting = definition.map_or(0, |definition| definition.steps.len()).saturating_sub(1);
    if waiting > 0 {
        output.note(&format!("{waiting} more steps wait for this round's result"));
    }
}
