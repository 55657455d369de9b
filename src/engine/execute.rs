//! Execution of the facilitator's requests.

use std::sync::Arc;

use super::evidence::too_large;
use super::facilitator::{
    FacilitatorRequest, ReplacementSeat, WaitPoint, current_wait_point, pending_question,
};
use super::round_key::new_key;
use super::state::{Engine, EngineError};
use crate::core::{Command, ExitCode, NextAction, QuestionKind, Refusal, decide, next};
use crate::history::{ApprovalGiven, CloseReason, Event, PauseReason, RoundOpened, RoundRevised, Timestamp};
use crate::participants::Participant;
use crate::round::seal::SealTo;

impl Engine<'_> {
    /// Waits at this point for a request and executes it; returns the exit code if it ends the run.
    pub(super) async fn await_request(&mut self, at: &WaitPoint) -> Result<Option<ExitCode>, EngineError> {
        if *at == WaitPoint::Draft
            && let Err(why) = self.refresh_evidence()
        {
            self.config.facilitator.on_refused(&why);
        }
        self.commit().await?;
        let arrivals = &mut self.arrivals;
        let request = tokio::select! {
            request = self.config.facilitator.next_request(Some(at), &self.session) => request.map_err(EngineError::Other)?,
            Some(arrival) = async { arrivals.as_mut()?.recv().await } => {
                self.handle_arrival(arrival);
                return Ok(None);
            }
            () = self.config.interrupt.cancelled() => return Ok(None),
        };
        let asked = if let WaitPoint::Question(question) = at { Some(question) } else { None };
        let lost = asked.filter(|asked| matches!(asked.kind, QuestionKind::KeyLost(_)));
        let reason = match (request, lost) {
            (FacilitatorRequest::Leave { reason }, _) => reason,
            (FacilitatorRequest::Answer(no), Some(lost)) if !no.approved => {
                PauseReason::Waiting(lost.message.clone())
            }
            (request, _) => return self.execute(request).map(|()| None),
        };
        let step = asked.map(|asked| &asked.step).or(self.session.step.as_ref().map(|run| &run.id)).cloned();
        self.pause(reason, step).await.map(Some)
    }

    /// Executes a request; a refusal is reported and changes nothing.
    pub(super) fn execute(&mut self, request: FacilitatorRequest) -> Result<(), EngineError> {
        match self.carry_out(request) {
            Err(EngineError::Refused(refusal)) => {
                self.config.facilitator.on_refused(&refusal.to_string());
                Ok(())
            }
            done => done,
        }
    }

    fn carry_out(&mut self, request: FacilitatorRequest) -> Result<(), EngineError> {
        match request {
            FacilitatorRequest::Leave { reason } => {
                self.leave_reason = Some(reason);
                self.config.interrupt.cancel();
            }
            FacilitatorRequest::OpenRound { seen } => self.open_round(seen.as_deref())?,
            FacilitatorRequest::CloseRound => self.close_by_order()?,
            FacilitatorRequest::Order(Command::Excuse { participant, reason }) => {
                self.stage(Command::Excuse { participant: participant.clone(), reason })?;
                self.cancel_seat(&participant);
            }
            FacilitatorRequest::Order(Command::Retry { participant, model }) => {
                self.retry(&participant, model)?;
            }
            FacilitatorRequest::Order(Command::ReviseRound(revised)) => self.revise(revised)?,
            FacilitatorRequest::Order(command) => {
                self.stage(command)?;
                // The command may have moved the deadline.
                self.reset_deadline();
            }
            FacilitatorRequest::Accept => self.accept()?,
            FacilitatorRequest::Answer(given) => self.take_answer(given)?,
        }
        Ok(())
    }

    /// Continues with the counted round as it is; a person's acceptance of a decision is recorded.
    fn accept(&mut self) -> Result<(), Refusal> {
        let (Some(WaitPoint::Counted), NextAction::Decide(Command::FinishStep { step })) =
            (current_wait_point(&self.session), next(&self.session))
        else {
            return Err(Refusal::from("there is nothing to accept now"));
        };
        if self.config.facilitator.is_person() {
            // Without a decision the core refuses the acceptance, and nothing is recorded.
            let _ = self.stage(Command::Answer(ApprovalGiven::yes(&step, "facilitator")));
        }
        self.stage(Command::FinishStep { step })
    }

    fn take_answer(&mut self, given: ApprovalGiven) -> Result<(), EngineError> {
        let question =
            pending_question(&self.session).ok_or_else(|| refused("nobody is asked anything now"))?;
        let answer = if let QuestionKind::KeyLost(_) = question.kind {
            Command::AskAgain { seal: Some(self.new_seal()?) }
        } else {
            Command::Answer(ApprovalGiven { step: question.step, ..given })
        };
        Ok(self.stage(answer)?)
    }

    /// Opens the waiting round; stops the session if the round would exceed the budget.
    fn open_round(&mut self, seen: Option<&str>) -> Result<(), EngineError> {
        if current_wait_point(&self.session) != Some(WaitPoint::Draft) {
            return Err(refused("no round waits to be opened"));
        }
        let (key, at) = (new_key()?, (self.now)());
        let events = self.opening_events(key.seal_to(), seen, at).map_err(refused)?;
        let opened = opened_by(&events);
        let over = self.config.budget.as_ref().zip(opened);
        if let Some(reason) = over.and_then(|(budget, opened)| budget.refuses(&self.session, opened)) {
            return Ok(self.stage(Command::Stop { reason })?);
        }
        if opened.is_some() {
            self.keep_key(&key)?;
        }
        self.stage_events(events, at);
        Ok(())
    }

    /// Returns the events that open the waiting round. If it cannot open and no person can correct it, they end
    /// its step. Renders the snapshot once, here; it must equal a reviewed one.
    fn opening_events(
        &mut self,
        seal: SealTo,
        seen: Option<&str>,
        at: Timestamp,
    ) -> Result<Vec<Event>, String> {
        if seen.is_some() {
            let changed = self.refresh_evidence()?;
            if !changed.is_empty() {
                return Err(format!("{} changed on disk; review the snapshot again", changed.join(", ")));
            }
        }
        let project_summary = (self.config.context_file)()?;
        let open = Command::OpenRound { project_summary, seal: Some(seal) };
        let events = decide(&self.session, open, at).map_err(|refusal| refusal.to_string())?;
        let Some(opened) = opened_by(&events) else {
            return if self.config.facilitator.is_person() { Err(failure_in(&events)) } else { Ok(events) };
        };
        self.check_seats()?;
        if seen.is_some_and(|seen| opened.snapshot_sha256 != seen) {
            return Err("CONTEXT.md or evidence changed on disk; review the snapshot again".to_owned());
        }
        let most = self.session.definition().max_snapshot_bytes;
        if opened.snapshot_bytes > most { Err(too_large(&opened.snapshot, most)) } else { Ok(events) }
    }

    /// Refuses a round with a seat that is known to be unavailable, before anything is sent.
    fn check_seats(&self) -> Result<(), String> {
        let Some((step, round)) = self.session.waiting_round() else { return Ok(()) };
        let lack = |name: &String| self.config.participants.get(name)?.unavailable_reason(&step.id);
        let mut seats = self.session.roster.keys().filter(|name| round.participants.includes(name));
        let found = seats.find_map(|name| Some(format!("{} (seat `{name}`)", lack(name)?)));
        found.map_or(Ok(()), Err)
    }

    fn close_by_order(&mut self) -> Result<(), EngineError> {
        if self.session.open_round().is_none() {
            return Err(refused("no round is open"));
        }
        // Results that are ready now still count; later ones are refused.
        self.collect_finished()?;
        self.close_round(CloseReason::Facilitator)
    }

    /// Changes the next round and replaces the models of its seats.
    fn revise(&mut self, revised: RoundRevised) -> Result<(), Refusal> {
        // Checks everything first: a model that cannot be asked must leave every seat unchanged.
        self.decide(Command::ReviseRound(revised.clone()))?;
        let newcomers: Result<Vec<_>, String> =
            revised.models.values().map(|model| self.create_participant(model)).collect();
        self.config
            .participants
            .extend(revised.models.keys().cloned().zip(newcomers.map_err(Refusal::Said)?));
        self.stage(Command::ReviseRound(revised))
    }

    /// Retries a seat; its earlier request is abandoned first, so that only one answer counts.
    fn retry(&mut self, participant: &str, model: Option<String>) -> Result<(), EngineError> {
        // A result that is ready now is sealed and stays.
        self.collect_finished()?;
        let now = self.session.seat_info(participant).map(|info| info.model.clone());
        let model = model.filter(|model| Some(model) != now.as_ref());
        let command = Command::Retry { participant: participant.to_owned(), model: model.clone() };
        self.decide(command.clone())?;
        self.replace_model(participant, model.as_deref()).map_err(refused)?;
        self.cancel_seat(participant);
        self.stage(command)?;
        self.retry_seat(participant)
    }

    /// Creates the participant for a model and stores its price.
    fn create_participant(&mut self, model: &str) -> Result<Arc<dyn Participant>, String> {
        let ReplacementSeat { participant, price } = (self.config.replace_seat)(model)?;
        if let Some(budget) = &mut self.config.budget {
            budget.prices.extend(price.map(|price| (model.to_owned(), price)));
        }
        Ok(participant)
    }

    /// Checks that a request and its re-ask are affordable, then puts a new model into the seat.
    fn replace_model(&mut self, participant: &str, model: Option<&str>) -> Result<(), String> {
        let newcomer = model.map(|model| self.create_participant(model)).transpose()?;
        if let (Some(budget), Some(round)) = (&mut self.config.budget, self.session.open_round()) {
            let seat = self.session.seat_info(participant);
            let model = model.or_else(|| Some(seat?.label(&round.opened.step)));
            let why = budget.refuses_retry(&self.session, &round.opened, seat, model.unwrap_or_default());
            why.map_or(Ok(()), Err)?;
        }
        if let Some(newcomer) = newcomer {
            self.config.participants.insert(participant.to_owned(), newcomer);
        }
        Ok(())
    }
}

fn refused(why: impl Into<String>) -> EngineError {
    EngineError::Refused(Refusal::Said(why.into()))
}

fn opened_by(events: &[Event]) -> Option<&RoundOpened> {
    events
        .iter()
        .find_map(|event| if let Event::RoundOpened(opened) = event { Some(&**opened) } else { None })
}

/// Returns the error of the step that these events end.
fn failure_in(events: &[Event]) -> String {
    let ends =
        |event: &Event| if let Event::StepFinished(ended) = event { ended.error.clone() } else { None };
    events.iter().find_map(ends).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::with_engine;
    use super::*;
    use crate::participants::rehearsal::Rehearsal;

    #[test]
    fn a_model_that_cannot_be_asked_leaves_every_seat_as_it_was() {
        let seat = |name: &str| json!({"name": name, "persona": name, "model": "test/a", "weight": 1.0});
        let definition = "question: q\nparticipants: [ann, bob]\n";
        with_engine(
            (definition, &[seat("ann"), seat("bob")], [].into()),
            || Timestamp(0),
            |engine| {
                engine.config.replace_seat = Box::new(|model| match model {
                    "test/b" => Ok(ReplacementSeat {
                        participant: Arc::new(Rehearsal { is_watched: false }),
                        price: None,
                    }),
                    _ => Err("no key".to_owned()),
                });
                engine.stage(Command::StartStep).unwrap();
                let revised = |bob: &str| RoundRevised {
                    step: "d".to_owned(),
                    form: "question: q\n".to_owned(),
                    participants: None,
                    models: [("ann", "test/b"), ("bob", bob)]
                        .map(|(seat, model)| (seat.to_owned(), model.to_owned()))
                        .into(),
                };
                assert!(engine.revise(revised("test/c")).is_err());
                assert!(
                    engine.config.participants.is_empty() && engine.session.roster["ann"].model == "test/a"
                );
                engine.revise(revised("test/b")).unwrap();
                assert_eq!(
                    (engine.config.participants.len(), &*engine.session.roster["bob"].model),
                    (2, "test/b")
                );
            },
        );
    }
}
