//! Answers written beforehand: each try takes the next one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;

use crate::workflow::written_id;

use super::{Failure, Origin, Participant, Reply, SeatRequest, at_once, lock};

/// A reply, or the message with which the try fails.
pub type ScriptedReply = Result<String, String>;

/// Answers to one step: used up in order, or a single one that serves every time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script<T> {
    pub lines: Vec<T>,
    pub in_turn: bool,
}

impl<T: Clone> Script<T> {
    /// The answer after so many; fails, naming the step, when they are used up.
    pub fn line(&self, step: &str, used: usize) -> Result<T, String> {
        let line = self.lines.get(if self.in_turn { used } else { 0 });
        line.cloned().ok_or_else(|| format!("the script has no more answers for step `{step}`"))
    }
}

/// A seat whose answers in some steps are scripted; in others it is who it is.
pub struct ScriptedParticipant {
    parts: HashMap<String, Script<ScriptedReply>>,
    used: Mutex<HashMap<String, usize>>,
    otherwise: Option<Arc<dyn Participant>>,
}

impl ScriptedParticipant {
    /// Scripted by step; `used` says how many answers of a step are used up already.
    pub fn new(
        parts: HashMap<String, Script<ScriptedReply>>,
        used: HashMap<String, usize>,
        otherwise: Option<Arc<dyn Participant>>,
    ) -> Self {
        Self { parts, used: Mutex::new(used), otherwise }
    }

    /// Returns the script of a step with its id: its own, or the one it was written with.
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
            (Some(reply), _) => at_once(Origin::Script, reply),
            (None, Some(otherwise)) => otherwise.ask(ask),
            (None, None) => {
                let reason = format!("no answer is scripted for `{}` in step `{}`", ask.seat, ask.step);
                at_once(Origin::Script, Err(reason))
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
