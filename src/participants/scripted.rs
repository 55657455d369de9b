//! Answers written in advance; each attempt uses the next one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;

use crate::workflow::written_id;

use super::{Failure, Origin, Participant, Reply, SeatRequest, lock, ready_reply};

/// Reply, or error message of a scripted failure.
pub type ScriptedReply = Result<String, String>;

/// Answers to one step: used in order (`in_turn`), or the first one every time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script<T> {
    pub lines: Vec<T>,
    pub in_turn: bool,
}

impl<T: Clone> Script<T> {
    /// Returns the answer after `used` others. Fails if all are used up.
    pub fn line(&self, step: &str, used: usize) -> Result<T, String> {
        let line = self.lines.get(if self.in_turn { used } else { 0 });
        line.cloned().ok_or_else(|| format!("the script has no more answers for step `{step}`"))
    }
}

/// Seat with scripted answers in some steps; `otherwise` answers in the others.
pub struct ScriptedParticipant {
    parts: HashMap<String, Script<ScriptedReply>>,
    used: Mutex<HashMap<String, usize>>,
    otherwise: Option<Arc<dyn Participant>>,
}

impl ScriptedParticipant {
    /// Creates a seat from scripts by step; `used` counts the answers that each step has used already.
    pub fn new(
        parts: HashMap<String, Script<ScriptedReply>>,
        used: HashMap<String, usize>,
        otherwise: Option<Arc<dyn Participant>>,
    ) -> Self {
        Self { parts, used: Mutex::new(used), otherwise }
    }

    /// Returns the script of a step and its key: the step's id, or the id written in the definition.
    fn part<'a>(&'a self, step: &'a str) -> Option<(&'a str, &'a Script<ScriptedReply>)> {
        [step, written_id(step)].into_iter().find_map(|id| Some((id, self.parts.get(id)?)))
    }

    fn next_line(&self, step: &str) -> Option<ScriptedReply> {
        let (step, script) = self.part(step)?;
        let mut used = lock(&self.used);
        let used = used.entry(step.to_owned()).or_insert(0);
        *used += 1;
        Some(script.line(step, *used - 1).and_then(|reply| reply))
    }
}

impl Participant for ScriptedParticipant {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        match (self.next_line(&ask.step), &self.otherwise) {
            (Some(reply), _) => ready_reply(Origin::Script, reply),
            (None, Some(otherwise)) => otherwise.ask(ask),
            (None, None) => {
                let reason = format!("no answer is scripted for `{}` in step `{}`", ask.seat, ask.step);
                ready_reply(Origin::Script, Err(reason))
            }
        }
    }

    fn waits_for_person(&self, step: &str) -> bool {
        self.part(step).is_none() && self.otherwise.as_ref().is_some_and(|other| other.waits_for_person(step))
    }

    fn unavailable_reason(&self, step: &str) -> Option<String> {
        let (step, script) = self.part(step)?;
        let used = lock(&self.used);
        script.line(step, used.get(step).copied().unwrap_or(0)).err()
    }
}
