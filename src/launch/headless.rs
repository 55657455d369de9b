//! Facilitator of a headless run: fixed rules, and answers from a file.

use futures::future::{BoxFuture, FutureExt as _, pending, ready};

use super::scripted_answers::{Answers, scripted};
use crate::core::{Command, Question, QuestionKind};
use crate::engine::{Facilitator, FacilitatorRequest, WaitPoint};
use crate::history::{ApprovalGiven, Merge, PLACEHOLDER, PauseReason, Session};

/// Opens every round, accepts every tally, answers by script. An unanswered question pauses the session.
pub struct HeadlessFacilitator {
    pub answers: Answers,
    /// Retries the seats whose answers were lost with their key.
    pub ask_again: bool,
    /// Reason of a refused request; it ends the run, because no person can make another request.
    refused: Option<String>,
}

impl HeadlessFacilitator {
    pub fn new(answers: Answers, ask_again: bool) -> Self {
        Self { answers, ask_again, refused: None }
    }

    fn request(&mut self, at: &WaitPoint, session: &Session) -> Result<FacilitatorRequest, String> {
        if let Some(why) = self.refused.take() {
            return Err(why);
        }
        match at {
            WaitPoint::Question(question) => self.answer(question, session.rehearses()),
            WaitPoint::Draft => Ok(FacilitatorRequest::OpenRound { seen: None }),
            WaitPoint::Counted => {
                let note = self.answers.note(session)?;
                let note = note.map(|(round, text)| Command::RecordSynthesis { round, text });
                Ok(note.map_or(FacilitatorRequest::Accept, FacilitatorRequest::Order))
            }
        }
    }

    fn answer(&mut self, question: &Question, rehearses: bool) -> Result<FacilitatorRequest, String> {
        let answer = match &question.kind {
            QuestionKind::KeyLost(_) => self.ask_again.then(|| scripted(true)),
            _ => self.answers.next_answer(question)?,
        };
        let answer = answer.or_else(|| rehearses.then(|| placeholder(&question.kind)));
        let leave = || FacilitatorRequest::Leave { reason: PauseReason::Waiting(question.message.clone()) };
        Ok(answer.map_or_else(leave, FacilitatorRequest::Answer))
    }
}

/// Returns a rehearsal's answer: yes, or the first choice.
fn placeholder(kind: &QuestionKind) -> ApprovalGiven {
    let (choice, merge) = match kind {
        QuestionKind::Tie(choices) | QuestionKind::Exhausted(choices) => (choices.first().cloned(), None),
        QuestionKind::Merge(ideas) => (None, Some(Merge::unmerged(ideas).into())),
        _ => (None, None),
    };
    let comment = Some("Placeholder: nobody was asked".to_owned());
    ApprovalGiven { choice, comment, merge, by: PLACEHOLDER.to_owned(), ..scripted(true) }
}

impl Facilitator for HeadlessFacilitator {
    fn next_request<'a>(
        &'a mut self,
        at: Option<&'a WaitPoint>,
        session: &'a Session,
    ) -> BoxFuture<'a, Result<FacilitatorRequest, String>> {
        match at {
            Some(at) => ready(self.request(at, session)).boxed(),
            None => pending().boxed(),
        }
    }

    fn on_refused(&mut self, why: &str) {
        self.refused = Some(why.to_owned());
    }

    fn is_person(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::core::{Command, ExitCode};
    use crate::engine::testing::{Nobody, config};
    use crate::engine::{Budget, Engine, EngineConfig};
    use crate::journal::{Disk, Journal};
    use crate::participants::rehearsal::Rehearsal;
    use crate::round::snapshot::RENDERED;

    /// Runs one step with scripted answers; also returns how often its snapshot was rendered.
    fn run(step: &str, answers: &str) -> (Result<ExitCode, String>, usize) {
        let dir = tempfile::tempdir().unwrap();
        let header = json!({
            "session": "s-1", "format": 3, "program": "test", "definition_file": "d.yaml",
            "texts": "", "definition_sha256": "", "definition": format!("participants: [ann]\nsteps: [{step}]\n"), "input": "x",
            "participants": [{"name": "ann", "persona": "ann", "model": "rehearsal", "weight": 1.0}],
            "personas": [{"name": "ann", "sha256": "", "description": "", "text": ""}],
        });
        let answers = Answers::parse(answers, "a.yaml").unwrap();
        let (mut observer, mut facilitator) = (Nobody, HeadlessFacilitator::new(answers, false));
        let journal = Journal::create(&Disk::default(), &dir.path().join("s.s2s")).unwrap();
        let table = [("ann".to_owned(), Arc::new(Rehearsal { is_watched: false }) as _)].into();
        let config = EngineConfig {
            context_file: Box::new(|| Ok(Some("a project".to_owned()))),
            budget: Some(Budget::new(1.0, HashMap::new(), crate::core::ReplyLimits::default())),
            ..config(dir.path(), table, &mut observer, &mut facilitator)
        };
        let mut engine = Engine::new(Session::default(), journal, config);
        engine.stage(Command::Open(Box::new(serde_json::from_value(header).unwrap()))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let before = RENDERED.get();
        let done = runtime.block_on(engine.run()).map_err(|error| error.to_string());
        let rendered = RENDERED.get() - before;
        let is_opened = !engine.session.rounds.is_empty();
        assert_eq!(dir.path().join("keys").exists(), is_opened, "a key is kept for a round that opens");
        (done, rendered)
    }

    #[test]
    fn a_snapshot_is_rendered_once_per_opening() {
        let round =
            "{id: a, type: round, question: q?, ballot: {kind: choice, options: [x, y]}, rule: plurality}";
        assert_eq!(run(round, ""), (Ok(ExitCode::Undecided), 1));
        let refused = "{id: a, type: round, question: q?, requires: [issue.title]}";
        assert_eq!(run(refused, ""), (Ok(ExitCode::Undecided), 1));
    }

    #[test]
    fn a_question_without_an_answer_pauses_and_used_up_answers_end_the_run() {
        let approval = "{id: ok, type: approval, message: go?}";
        assert_eq!(run(approval, "").0, Ok(ExitCode::Waiting));
        assert_eq!(run(approval, "ok: true").0, Ok(ExitCode::Finished));
        assert_eq!(run(approval, "ok: []").0, Err("the script has no more answers for step `ok`".to_owned()));
    }
}
