//! Driver for a session on any definition.
//!
//! Seats and agents fail or abstain, people say yes and no in turn. Frozen values must not change.

use roundtable::core::{Command, NextAction, QuestionKind, next};
use roundtable::history::{
    ApprovalGiven, Event, Merge, PersonaInfo, RoundOpened, SeatFailed, SeatInfo, SessionOpened, TimedEvent,
};
use roundtable::persona::Persona;
use roundtable::round::answer::{AnswerRecord, Origin, ReplyAttempt};
use roundtable::round::seal::RoundKey;
use roundtable::round::snapshot::sha256_hex;
use roundtable::workflow::{Definition, ParticipantSpec, Step};
use roundtable::yaml::read_own;

use crate::sitting::{START, Sitting};

/// Maximum number of actions per definition.
const TURNS: u32 = 60;

pub fn drive(text: &str, definition: &Definition) -> Vec<TimedEvent> {
    let mut drive = Drive { sitting: Sitting::at(START, 1_000), turn: 0 };
    drive.give(Command::Open(Box::new(header(text, definition))));
    while drive.turn < TURNS && drive.step() {
        drive.turn += 1;
    }
    drive.sitting.events
}

struct Drive {
    sitting: Sitting,
    turn: u32,
}

impl Drive {
    fn give(&mut self, command: Command) -> bool {
        let Ok(events) = self.sitting.tries(command) else { return false };
        for stamped in self.sitting.events.iter().rev().take(events) {
            if let Event::RoundOpened(opened) = &stamped.event {
                frozen(opened);
            }
        }
        true
    }

    /// Performs the next action; returns whether anything happened.
    fn step(&mut self) -> bool {
        match next(&self.sitting.session) {
            NextAction::Nothing | NextAction::Done | NextAction::Rest => false,
            NextAction::Decide(command) => {
                let text = format!("{command:?}");
                assert!(self.give(command), "refused, and it was what comes next: {text}");
                true
            }
            NextAction::OpenRound => {
                // A round may refuse a definition's question with an error.
                let summary = Some("A shed.\n".to_owned());
                let key = RoundKey::new([self.sitting.session.rounds.len() as u8 + 1; 32]);
                self.give(Command::OpenRound { project_summary: summary, seal: Some(key.seal_to()) })
                    && self.is_shared()
            }
            NextAction::CloseRound(reason) => {
                let key = self.key();
                self.give(Command::CloseRound { reason, key })
            }
            NextAction::AwaitSeats => self.settle(),
            NextAction::AskPerson(question) => {
                let approved = self.turn.is_multiple_of(2);
                let yes = ApprovalGiven::yes(&question.step, "facilitator");
                let choice = match question.kind {
                    QuestionKind::Tie(options) | QuestionKind::Exhausted(options) => options.first().cloned(),
                    QuestionKind::Merge(ideas) if approved => {
                        let merge = Merge::unmerged(&ideas);
                        return self
                            .give(Command::Answer(ApprovalGiven { merge: Some(merge.into()), ..yes }));
                    }
                    QuestionKind::Approval | QuestionKind::Proposal(_) | QuestionKind::Merge(_) => None,
                    QuestionKind::KeyLost(_) => {
                        return self.give(Command::AskAgain { seal: Some(self.key().seal_to()) });
                    }
                };
                self.give(Command::Answer(ApprovalGiven { approved, choice, ..yes }))
            }
        }
    }

    /// Returns whether every prompt of the open round begins with the same bytes.
    fn is_shared(&self) -> bool {
        let round = self.sitting.session.open_round().expect("open");
        for item in round.seats.values().filter_map(|seat| seat.item.as_ref()) {
            let prompt = self.sitting.session.prompt(round, item);
            assert_eq!(*prompt.snapshot, *round.opened.snapshot);
            assert_eq!(item.context_sha256, round.opened.snapshot_sha256);
        }
        true
    }

    fn settle(&mut self) -> bool {
        let Some(round) = self.sitting.session.open_round() else { return false };
        let Some(seat) = round.open_seats().next() else { return false };
        let (name, id) = (seat.name.clone(), round.opened.round.clone());
        if self.turn.is_multiple_of(3) {
            let (round, participant, reason) = (id, name, "no line".to_owned());
            let failed = Command::Fail(Box::new(SeatFailed {
                round,
                participant,
                reason,
                tries: 1,
                ..SeatFailed::default()
            }));
            return self.give(failed);
        }
        let record = AnswerRecord {
            origin: Origin::Placeholder,
            model: "rehearsal".to_owned(),
            replies: vec![ReplyAttempt { text: "vote: abstain".to_owned(), ..ReplyAttempt::default() }],
            tries: 1,
            latency_ms: 1,
            ..AnswerRecord::default()
        };
        let text = serde_json::to_string(&record).expect("a record is JSON");
        let sealed = self.sitting.sealed(&name, &text, &self.key(), self.turn as u8);
        self.give(Command::Seal { round: id, participant: name, seal: sealed })
    }

    fn key(&self) -> RoundKey {
        RoundKey::new([self.sitting.session.rounds.len() as u8; 32])
    }
}

/// Checks that a snapshot matches its hash and is one YAML map.
fn frozen(opened: &RoundOpened) {
    assert_eq!(sha256_hex(&*opened.snapshot), opened.snapshot_sha256);
    let node = read_own(&opened.snapshot, &mut { usize::MAX }).expect("a snapshot is YAML");
    let map = node.as_object().expect("a map");
    assert_eq!(map.keys().collect::<Vec<_>>(), ["participant_context"], "{}", opened.snapshot);
    assert_eq!(map["participant_context"]["question"], opened.question, "{}", opened.snapshot);
    assert!(!opened.snapshot.contains("\n  your_role:"), "{}", opened.snapshot);
}

fn header(text: &str, definition: &Definition) -> SessionOpened {
    let mut specs = definition.participants.clone();
    for agent in definition.all_steps().flat_map(Step::agents).filter(|name| !name.is_empty()) {
        if specs.iter().all(|spec| spec.name != agent) {
            specs.push(ParticipantSpec { agent_only: true, ..ParticipantSpec::from_persona(agent, (0, 0)) });
        }
    }
    let seats = specs.iter().map(|spec| {
        let model = definition.answered_by(spec, false).unwrap_or_else(|| "rehearsal".to_owned());
        SeatInfo::from_spec(spec, model, Vec::new())
    });
    let mut personas: Vec<PersonaInfo> = Vec::new();
    for spec in &specs {
        if personas.iter().all(|known| known.name != spec.persona) {
            let text = spec.prompt.as_deref().unwrap_or("You paint.");
            personas
                .push(PersonaInfo::new(spec.persona.clone(), Some(Persona::with_text(&spec.persona, text))));
        }
    }
    let mut opened: SessionOpened =
        serde_json::from_value(crate::sitting::header(text, &[], &[])).expect("a header");
    (opened.input, opened.participants, opened.personas) = (definition.input(), seats.collect(), personas);
    opened
}
