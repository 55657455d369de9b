//! Driver of the property tests' sessions.

use roundtable::ballot::BallotKind;
use roundtable::core::{Command, NextAction, QuestionKind, next};
use roundtable::history::{
    ApprovalGiven, CloseReason, Event, PauseReason, RoundRevised, SeatFailed, SeatInfo, Session, TimedEvent,
};
use roundtable::report;
use roundtable::round::answer::{AnswerRecord, Finish, ReplyAttempt};
use roundtable::round::seal::{RoundKey, SealedRecord};
use roundtable::workflow::{Source, load};
use serde_json::{Value, json};

use super::draw::{Action, Ballot, Drawn};
use crate::forge::entries;
use crate::sitting::{Sitting, header, persona};

pub const SEATS: [&str; 4] = ["dora", "abe", "cleo", "bert"];
pub fn states(events: &[TimedEvent]) -> Vec<Session> {
    let mut session = Session::default();
    let state = |line| {
        session.apply_entry(&line);
        session.clone()
    };
    entries(events).into_iter().map(state).collect()
}

impl Sitting {
    pub fn open(drawn: &Drawn) -> Self {
        let sitting = Self::new(header_of(&drawn.text), 0);
        assert!(sitting.session.header.is_some(), "the drawn definition loads: {}", drawn.text);
        sitting
    }

    pub fn after(drawn: &Drawn, acts: &[Action]) -> Self {
        let mut sitting = Self::open(drawn);
        for action in acts {
            sitting.act(action);
        }
        sitting
    }

    /// Executes a command: folds its events; a refusal changes nothing. Returns whether it was accepted.
    pub fn give(&mut self, command: Command) -> bool {
        if !matches!(command, Command::Seal { .. } | Command::Fail(_)) {
            self.now += 1_000;
        }
        let before = self.session.clone();
        let taken = self.tries(command);
        assert!(taken.as_ref().map_or_else(|refusal| !refusal.is_empty(), |count| *count > 0), "{taken:?}");
        assert_eq!(taken.is_ok(), self.session != before, "only what is taken changes the state");
        taken.is_ok()
    }

    fn must(&mut self, command: Command) {
        let text = format!("{command:?}");
        assert!(self.give(command), "refused, and it was what comes next: {text}");
    }

    /// Returns a facilitator's order that answers nothing; some are invalid.
    fn live(&self, which: usize) -> Command {
        let artifact = |text: &str| serde_json::from_str(text).expect("a map");
        let form = |form: &str, participants| {
            let step = self.session.step.as_ref().map_or("pick", |run| run.id.as_str()).to_owned();
            Command::ReviseRound(RoundRevised {
                step,
                form: form.to_owned(),
                participants,
                ..RoundRevised::default()
            })
        };
        let some = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        match which {
            0 => {
                form("question: Now?\nballot: {kind: choice, options: [red, blue]}\nrule: plurality\n", None)
            }
            1 => form("question: \"And you?\"\nquorum: 1\n", some(&[name(0)])),
            2 => form("question: [\n", some(&["nobody"])),
            3 => Command::RecordArtifact {
                artifact: artifact(r#"{"id": "REQ-9", "title": "Shade", "relevant": true}"#),
                by: "facilitator".to_owned(),
            },
            4 => Command::RecordArtifact {
                artifact: artifact(r#"{"id": 3, "colour": "x"}"#),
                by: String::new(),
            },
            5 => Command::RecordSynthesis { round: self.round_id(), text: "Red, mostly.".to_owned() },
            6 => Command::ExtendDeadline { more_ms: 7_200_000 },
            7 => Command::AskRoundAgain,
            8 | 9 => Command::Retry {
                participant: name(which - 8).to_owned(),
                model: (which == 9).then(|| "ollama/other".to_owned()),
            },
            _ => Command::Fork {
                session: format!("s-{}", self.events.len()),
                at_seq: self.events.len().saturating_sub(1) as u64,
            },
        }
    }

    pub fn act(&mut self, action: &Action) {
        let command = match *action {
            Action::Follow => {
                let now = next(&self.session);
                return self.follow(now);
            }
            Action::Settle(seat, ballot) => self.settling(&self.round_id(), seat, ballot),
            Action::Stray(seat, ballot) => self.settling("nowhere", seat, ballot),
            Action::Swapped(seat) => {
                let of_another = self.answer(name(seat + 1), Ballot::Vote(0), &self.key());
                Command::Seal { seal: of_another, round: self.round_id(), participant: name(seat).to_owned() }
            }
            Action::WrongKey(seat) => {
                let answer = self.answer(name(seat), Ballot::Vote(0), &RoundKey::new([99; 32]));
                Command::Seal { seal: answer, round: self.round_id(), participant: name(seat).to_owned() }
            }
            Action::Live(which) => self.live(which),
            Action::Excuse(seat) => {
                Command::Excuse { participant: name(seat).to_owned(), reason: "had to leave".to_owned() }
            }
            Action::Close => Command::CloseRound { reason: CloseReason::Facilitator, key: self.key() },
            Action::CloseWithWrongKey => {
                Command::CloseRound { reason: CloseReason::Facilitator, key: RoundKey::new([98; 32]) }
            }
            Action::Tally => Command::Tally,
            Action::Start => Command::StartStep,
            Action::OpenRound => Command::OpenRound {
                project_summary: Some("A garden.\n".to_owned()),
                seal: Some(self.next_key().seal_to()),
            },
            Action::AskPerson => Command::AskPerson { step: self.step_id() },
            Action::Answer { yes, choice, stray } => self.answering(yes, choice, stray),
            Action::LoseKey => Command::LoseKey,
            Action::AskAgain => Command::AskAgain { seal: Some(self.key().seal_to()) },
            Action::Finish => Command::FinishStep { step: self.step_id() },
            Action::Pause => Command::Pause { reason: PauseReason::Waiting("lunch".to_owned()), step: None },
            Action::Resume => Command::Resume { program: "test".to_owned(), torn_bytes: Some(3) },
            Action::Stop => Command::Stop { reason: "rain".to_owned() },
            Action::CloseSession => Command::Close,
            Action::OpenAgain => {
                let another = header_of("{\"question\": \"Another?\"}");
                Command::Open(Box::new(serde_json::from_value(another).expect("a header")))
            }
        };
        self.give(command);
    }

    /// Executes the next action; votes and answers of people vary by turn.
    pub fn follow(&mut self, now: NextAction) {
        let turn = self.events.len();
        match now {
            NextAction::Nothing => panic!("the session is not open"),
            NextAction::Done => {}
            NextAction::Decide(command) => self.must(command),
            NextAction::OpenRound => {
                self.must(Command::OpenRound {
                    project_summary: None,
                    seal: Some(self.next_key().seal_to()),
                });
            }
            NextAction::AwaitSeats => {
                let open: Vec<_> = self.session.open_round().expect("a round").open_seats().collect();
                assert!(!open.is_empty(), "nobody is left to wait for");
                let seat = SEATS.iter().position(|seat| *seat == open[turn % open.len()].name);
                let ballot =
                    [Ballot::Vote(turn % 3), Ballot::Vote(0), Ballot::Fail, Ballot::Abstain][turn / 2 % 4];
                self.settle(seat.expect("a seat of the roster"), ballot);
            }
            NextAction::CloseRound(reason) => {
                let key = self.key();
                self.must(Command::CloseRound { reason, key });
            }
            NextAction::AskPerson(question) => {
                let (approved, choice) = match question.kind {
                    QuestionKind::Approval | QuestionKind::Proposal(_) => (turn.is_multiple_of(2), None),
                    QuestionKind::Merge(_) => (false, None),
                    QuestionKind::Tie(options) | QuestionKind::Exhausted(options) => {
                        (true, Some(options[turn % options.len()].clone()))
                    }
                    QuestionKind::KeyLost(_) => {
                        return self.must(Command::AskAgain { seal: Some(self.key().seal_to()) });
                    }
                };
                let yes = ApprovalGiven::yes(&question.step, "facilitator");
                self.must(Command::Answer(ApprovalGiven { approved, choice, ..yes }));
            }
            NextAction::Rest => self.must(Command::Resume { program: "test".to_owned(), torn_bytes: None }),
        }
    }

    pub fn until_seats(&mut self) {
        while !matches!(next(&self.session), NextAction::AwaitSeats) {
            self.follow(next(&self.session));
        }
    }

    pub fn finish(&mut self) {
        for _ in 0..1_000 {
            match next(&self.session) {
                NextAction::Done => return,
                now => self.follow(now),
            }
        }
        panic!("no end: {:?}", next(&self.session));
    }

    pub fn close(&mut self) {
        let key = self.key();
        self.must(Command::CloseRound { reason: CloseReason::All, key });
    }

    pub fn settle(&mut self, seat: usize, ballot: Ballot) {
        let command = self.settling(&self.round_id(), seat, ballot);
        self.must(command);
    }

    fn settling(&self, round: &str, seat: usize, ballot: Ballot) -> Command {
        let (round, participant) = (round.to_owned(), name(seat).to_owned());
        if ballot == Ballot::Fail {
            let (reason, timed_out) = ("no line".to_owned(), seat.is_multiple_of(2));
            return Command::Fail(Box::new(SeatFailed {
                round,
                participant,
                reason,
                timed_out,
                tries: 4,
                ..SeatFailed::default()
            }));
        }
        let answer = self.answer(&participant, ballot, &self.key());
        Command::Seal { round, participant, seal: answer }
    }

    fn answer(&self, seat: &str, ballot: Ballot, key: &RoundKey) -> SealedRecord {
        let item = self.session.rounds.last().and_then(|round| round.seat(seat)?.item.as_ref());
        let record = self.record(ballot);
        let model = item.map_or_else(|| record.model.clone(), |item| item.model.clone());
        let text = serde_json::to_string(&AnswerRecord { model, ..record }).expect("a record is JSON");
        // Nonces depend on the seat, so that they are independent of the order of arrival.
        let nonce = seat.bytes().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
        self.sealed(seat, &text, key, nonce)
    }

    fn record(&self, ballot: Ballot) -> AnswerRecord {
        let round = self.session.rounds.last();
        let kind = round.map_or(BallotKind::Position, |round| round.opened.ballot.kind);
        let options = round.map_or(&[][..], |round| &round.opened.ballot.options);
        let word = &self.word;
        let answer = match (ballot, kind) {
            (Ballot::Abstain, _) => json!({ "vote": "abstain", "rationale": [word] }),
            (Ballot::Invalid | Ballot::Fail | Ballot::Refuse, _) => json!({ "said": word }),
            (Ballot::Vote(n), BallotKind::Choice) => {
                json!({ "vote": options[n % options.len()], "rationale": [word], "confidence": 0.25 })
            }
            (Ballot::Vote(n), BallotKind::Consent) => match n % 3 {
                0 => json!({ "consent": "support", "rationale": [word] }),
                1 => json!({ "consent": "stand-aside", "rationale": [word] }),
                _ => json!({ "consent": "block", "minimum_change": format!("drop the {word}") }),
            },
            (Ballot::Vote(_), _) => json!({ "position": format!("a {word}\nor two") }),
        };
        let finish = if ballot == Ballot::Refuse { Finish::Refusal } else { Finish::Complete };
        AnswerRecord {
            model: "ollama/llama3.2".to_owned(),
            replies: vec![ReplyAttempt { text: answer.to_string(), finish, ..ReplyAttempt::default() }],
            tries: 1,
            latency_ms: 1_200,
            ..AnswerRecord::default()
        }
    }

    fn answering(&self, approved: bool, choice: Option<usize>, stray: bool) -> Command {
        let step =
            self.session.step.as_ref().map_or("nowhere", |run| if stray { "nowhere" } else { &run.id });
        let winners = self.session.rounds.last().and_then(|round| round.tally.as_ref());
        let winners = winners.map_or(&[][..], |tally| &tally.verdict.winners);
        let choice = choice.map(|n| winners.get(n).cloned().unwrap_or_else(|| "violet".to_owned()));
        let yes = ApprovalGiven::yes(step, "facilitator");
        Command::Answer(ApprovalGiven { approved, choice, comment: Some("so be it".to_owned()), ..yes })
    }

    fn step_id(&self) -> String {
        self.session.step.as_ref().map(|run| run.id.clone()).unwrap_or_default()
    }

    fn round_id(&self) -> String {
        self.session.rounds.last().map_or_else(|| "none".to_owned(), |round| round.opened.round.clone())
    }

    pub fn key(&self) -> RoundKey {
        RoundKey::new([self.session.rounds.len() as u8; 32])
    }

    fn next_key(&self) -> RoundKey {
        RoundKey::new([self.session.rounds.len() as u8 + 1; 32])
    }
}

fn name(seat: usize) -> &'static str {
    SEATS.get(seat).copied().unwrap_or("nobody")
}

fn header_of(definition: &str) -> Value {
    let source = Source { text: definition, file: "shed.json", id: "shed" };
    let specs = load(source).expect("a definition").participants;
    let seat = |spec| {
        let info = SeatInfo::from_spec(spec, "ollama/llama3.2".to_owned(), Vec::new());
        serde_json::to_value(info).expect("JSON")
    };
    let painter = persona("painter", "You paint.\n\tWith care: always.\n");
    let seats: Vec<Value> = specs.iter().map(seat).collect();
    let mut header = header(definition, &seats, &[painter]);
    header["input"] = json!({ "budget": 1e21, "small": -0.5, "n": null, "deep": [[["x"]]] });
    header
}

/// Returns everything that a session shows to people or programs, without ciphertexts and commitments.
pub fn surfaces(sitting: &Sitting) -> String {
    let session = &sitting.session;
    let document = report::Document::new(session, report::Source::default());
    let mut shown = vec![report::markdown(&document), report::json(&document)];
    let lines = entries(&sitting.events);
    let mut folded = Session::default();
    for line in &lines {
        folded.apply_entry(line);
        let stamped = &line.stamped;
        shown.extend(report::event_line(&stamped.event, stamped.at, &folded));
        let mut event = stamped.event.clone();
        if let Event::BallotSealed(sealed) = &mut event {
            let seal = std::sync::Arc::make_mut(&mut sealed.seal);
            seal.commitment = String::new();
            seal.sealed.fill(0);
        }
        shown.push(report::line(line.seq, "", "", stamped.at, &event, &folded));
    }
    shown.extend(report::trace::trace(&lines, session).iter().map(report::trace::text));
    shown.push(format!("{:?}", next(session)));
    shown.join("\n")
}
