//! What something must have called for: warnings, a rest, seats that are asked again after one. And times.

use super::Verifier;
use crate::core::{Command, decide, is_key_file_left};
use crate::history::{Event, LogEntry, RoundRun, SeatStatus, WorkItemReturned};

impl Verifier {
    /// What must come before this document, or at its place.
    pub(super) fn in_turn(&mut self, line: &LogEntry) {
        let event = &line.stamped.event;
        if line.seq > 0 && line.stamped.at < self.session.last_at {
            self.backwards.push(line.seq);
        }
        // A write that was torn is gone on with: what was due is due again, or never was.
        if matches!(event, Event::SessionResumed { .. } | Event::SessionForked(_)) {
            self.unread.clear();
            self.asked_anew.clear();
        }
        if self.asked_anew.pop_front().is_some_and(|due| due != *event) {
            self.find(line, "a failed seat is not asked again although its round was resumed");
        }
        if line.seq > 0 && !matches!(event, Event::Warning { .. }) && !self.unread.is_empty() {
            self.unread.clear();
            self.find(line, "what could not be read is not warned of");
        }
    }

    /// What this document makes due.
    pub(super) fn after(&mut self, line: &LogEntry) {
        if let Event::Warning { .. } = line.stamped.event {
            return;
        }
        if let Event::SessionResumed { program, torn_bytes } = &line.stamped.event {
            let resume = Command::Resume { program: program.clone(), torn_bytes: *torn_bytes };
            let events = decide(&self.session, resume, line.stamped.at).unwrap_or_default();
            self.asked_anew = events.into_iter().skip(1).collect();
        }
        self.warned = 0;
    }

    /// A warning repeats what the header could not read, comes before a work item or a round of which
    /// there is something to be said, or tells of a key file. Its words are those of the version that
    /// wrote it; the header's stand there.
    pub(super) fn warning(
        &mut self,
        line: &LogEntry,
        message: &str,
        step: Option<&str>,
        participant: Option<&str>,
    ) {
        let is_called_for = match (self.unread.pop_front(), step) {
            (Some(unread), _) => step.is_none() && unread == message,
            (None, None) if is_key_file_left(&self.session, message) => return,
            (None, None) => self.warned < self.session.opening_warnings().len(),
            (None, Some(step)) => {
                let offer = Command::Offer { step: step.to_owned() };
                let events = decide(&self.session, offer, line.stamped.at).unwrap_or_default();
                let due = warnings(&events).nth(self.warned);
                due.is_some_and(|due| due == participant)
            }
        };
        self.warned += 1;
        if !is_called_for {
            self.find(line, "nothing called for this warning");
        }
    }

    /// Whether a step waits for a person now, or for people's seats.
    pub(super) fn waits_at(&self, step: &str) -> bool {
        let exhausted = self.session.exhausted.as_ref().map(|asked| asked.requested.step.as_str());
        self.session.running(step).is_some() || exhausted == Some(step)
    }

    pub(super) fn late(&mut self, line: &LogEntry, late: &Event) {
        let Event::LateAnswerRefused { round, participant, .. } = late else { return };
        let is_late = |run: &RoundRun| {
            let seat = run.seat(participant).map(|seat| &seat.status);
            let is_open =
                seat.is_none_or(|seat| matches!(seat, SeatStatus::Sealed(_) | SeatStatus::Revealed(..)));
            let (step, round) = (run.opened.step.clone(), round.clone());
            let due = Event::LateAnswerRefused { step, round, participant: participant.clone() };
            run.closed.is_some() && !is_open && due == *late
        };
        if !self.session.round(round).is_some_and(is_late) {
            self.find(line, "an answer is late for a round that is not closed, or has no such seat left");
        }
    }

    /// Notes a try that took longer than there was time between its claim and its return.
    pub(super) fn time_of(&mut self, line: &LogEntry, back: &WorkItemReturned) {
        let Some(begun) = self.begun.remove(&back.item) else { return };
        let between = line.stamped.at.since(begun);
        if back.latency_ms > between + 1 + between / 1000 {
            self.result.notes.push(format!(
                "document {}: `{}` took {} ms, and {between} ms lie between claim and return: a clock was set, \
                 or one of them is not true",
                line.seq, back.participant, back.latency_ms
            ));
        }
    }

    /// Notes times that run backwards: a clock may have been set.
    pub(super) fn of_times(&mut self) {
        let Some(first) = self.backwards.first() else { return };
        let documents = match self.backwards.len() {
            1 => format!("document {first} is"),
            count => format!("{count} documents, the first of them {first}, are"),
        };
        self.result.notes.push(format!(
            "{documents} dated before the one before: a clock was set back, or the times are not true"
        ));
    }
}

/// Of whom the warnings are that come before the next work item.
pub(super) fn warnings(events: &[Event]) -> impl Iterator<Item = Option<&str>> {
    events.iter().map_while(|event| {
        if let Event::Warning { participant, .. } = event { Some(participant.as_deref()) } else { None }
    })
}
