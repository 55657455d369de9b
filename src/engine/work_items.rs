//! Work items of agents: claimed on disk, asked, renewed while in progress, returned.

use std::sync::Arc;
use std::time::Duration;

use futures::future::FutureExt as _;
use tokio::time::Instant;

use super::request_pool::{FinishedRequest, RequestId};
use super::state::{Engine, EngineError};
use super::work_item_attempt::{AttemptLimits, internal_error, run_attempt};
use crate::ballot::ReplySchema;
use crate::core::{Command, ItemHolder, LEASE_MS, decide};
use crate::handoff::FormFacts;
use crate::history::{Event, RoundOpened, RoundRun, Timestamp, WorkItem, WorkItemOffered, WorkItemReturned};
use crate::participants::purse::Purse;
use crate::participants::{Prompt, SeatRequest, WorkItemView};
use crate::tokens::estimated_tokens;
use crate::workflow::{OutputSchema, Step, StepKind, TRACKER};

impl Engine<'_> {
    /// Offers the work items of a step; stops the session if they would exceed the budget.
    pub(super) fn offer(&mut self, step: String) -> Result<(), EngineError> {
        let at = (self.now)();
        let events = decide(&self.session, Command::Offer { step }, at)?;
        let offered = events
            .iter()
            .filter_map(|event| if let Event::WorkItemOffered(item) = event { Some(&**item) } else { None });
        let budget = self.config.budget.as_ref();
        if let Some(reason) = budget.and_then(|budget| budget.refuses_items(&self.session, offered)) {
            return Ok(self.stage(Command::Stop { reason })?);
        }
        self.stage_events(events, at);
        Ok(())
    }

    /// Claims every ready work item and asks its agent once the claims are on disk. Renews the claims of items
    /// in progress.
    pub(super) async fn run_work_items(&mut self) -> Result<(), EngineError> {
        let now = (self.now)();
        self.end_late_work(now)?;
        let (mut ready, mut claims, mut lack) = (Vec::new(), Vec::new(), None);
        for item in self.session.open_items().filter(|item| !self.is_polling_agent(&item.offered.participant))
        {
            let WorkItemOffered { item: id, participant, step, .. } = &*item.offered;
            let who = ItemHolder { item: id.clone(), participant: participant.clone(), holder: None };
            if self.is_asked(id) {
                // A claim may have expired, as on a machine that slept.
                let again = if item.is_held(now) { Command::Renew(who) } else { Command::Claim(who) };
                claims.extend(needs_renewal(item, now).then_some(again));
            } else if item.wait_ms(now) == 0 && lack.is_none() {
                ready.push(id.clone());
                lack = self.config.participants.get(participant).and_then(|who| who.unavailable_reason(step));
                claims.extend(lack.is_none().then_some(Command::Claim(who)));
            }
        }
        for claim in claims {
            self.stage(claim)?;
        }
        if ready.is_empty() {
            return Ok(());
        }
        self.commit().await?;
        match lack {
            Some(lack) => Err(EngineError::Other(lack)),
            None => ready.iter().try_for_each(|item| self.start_work_item(item)),
        }
    }

    fn is_asked(&self, item: &str) -> bool {
        self.pool.requests.contains_key(&RequestId::Item(item.to_owned()))
    }

    fn start_work_item(&mut self, id: &str) -> Result<(), EngineError> {
        let Some(item) = self.session.items.get(id) else { return Ok(()) };
        if item.offered.model == TRACKER {
            self.requested.update(&self.session);
        }
        let agent = item.offered.participant.clone();
        let Some(participant) = self.config.participants.get(&agent).cloned() else {
            return Err(EngineError::Other(format!("no participant for agent `{agent}`")));
        };
        let terms = self.attempt_limits(&item.offered.step);
        let ask = self.agent_request(item, terms.schema.as_ref(), terms.facts.as_ref());
        let (place, of, id) = (RequestId::Item(id.to_owned()), id.to_owned(), id.to_owned());
        let work =
            async move { FinishedRequest::Item(Box::new(run_attempt(participant, ask, of, terms).await)) };
        self.pool
            .begin(place, work.boxed(), move || FinishedRequest::Item(Box::new(internal_error(agent, id))));
        Ok(())
    }

    pub(super) fn attempt_limits(&self, id: &str) -> AttemptLimits {
        let step = self.session.definition().step(id);
        let schema = step.and_then(Step::answer_schema).cloned();
        AttemptLimits {
            step: id.to_owned(),
            schema,
            facts: step.and_then(|step| self.session.form_facts(step)),
            needs_feedback: step.is_some_and(|step| matches!(step.kind, StepKind::Review(_))),
            timeout: self.step_timeout(id),
        }
    }

    fn agent_request(
        &self,
        item: &WorkItem,
        schema: Option<&OutputSchema>,
        facts: Option<&FormFacts>,
    ) -> SeatRequest {
        let offered = &item.offered;
        let (system, text) = self.session.agent_prompt(offered);
        let estimated = estimated_tokens(&system) + estimated_tokens(&text);
        let prompt = Prompt { rules: system.into(), snapshot: text.into(), tail: String::new() };
        // The reserve covers the first attempt; later ones must fit into the rest.
        let reserved = if item.returned.is_empty() { 2 } else { 0 };
        let mut task = WorkItemView {
            input: offered.task.as_ref().map(|task| task.input.clone()).unwrap_or_default(),
            whole: self.session.work_item_json(offered).unwrap_or_default(),
            schema: schema.cloned(),
            is_rehearsal: self.session.rehearses(),
            placeholder: facts.map(FormFacts::placeholder),
            ..WorkItemView::default()
        };
        if self.session.seat_info(&offered.participant).is_some_and(|info| info.model == TRACKER) {
            (task.tasks, task.evidence_asked) =
                (Arc::clone(&self.session.tasks), Arc::clone(&self.requested.tasks));
        }
        let written = facts.map(FormFacts::schema).or_else(|| schema.map(|own| own.written().clone()));
        SeatRequest {
            round: offered.item.clone(),
            schema: written.map(|written| Arc::new(ReplySchema::from_schema(&written))),
            time_left: self.session_time_left(),
            watch: self.config.progress.begin(&offered.item),
            purse: self.purse(&offered.participant, &offered.model, estimated, reserved),
            task: Some(Arc::new(task)),
            ..self.request(&offered.participant, &offered.step, prompt)
        }
    }

    /// Builds a request of a seat in a step, with the settings of its roster entry.
    pub(super) fn request(&self, seat: &str, step: &str, prompt: Prompt) -> SeatRequest {
        let info = self.session.seat_info(seat);
        let model = info.map_or("", |info| &info.model);
        let model = model.split_once('/').map_or(model, |(_, model)| model);
        SeatRequest {
            step: step.to_owned(),
            seed: info.and_then(|info| info.seed),
            temperature: info.and_then(|info| info.temperature),
            effort: info.and_then(|info| info.effort),
            max_output_tokens: info.and_then(|info| info.max_output_tokens),
            // The participant must time out after the engine.
            timeout: self.step_timeout(step).map(|time| time.saturating_add(Duration::from_secs(1))),
            ..SeatRequest::alone(seat, model, prompt)
        }
    }

    /// Records a result. If the claim expired meanwhile, as on a machine that slept, claims the item again
    /// first; no other worker takes it.
    pub(super) fn settle_item(&mut self, back: Box<WorkItemReturned>) -> Result<(), EngineError> {
        let is_held = self.session.items.get(&back.item).is_some_and(|item| item.is_held((self.now)()));
        if !is_held {
            let (item, participant) = (back.item.clone(), back.participant.clone());
            self.stage(Command::Claim(ItemHolder { item, participant, holder: None }))?;
        }
        self.stage(Command::Return(back))?;
        self.note_due_tasks();
        Ok(())
    }

    /// Returns the next time at which something is due without a result: an attempt after its wait, the renewal
    /// or the timeout of a claim, the session's end.
    pub(super) fn wake(&self) -> Option<Instant> {
        let now = (self.now)();
        let due_in = |item: &WorkItem| match &item.claim {
            _ if self.is_polling_agent(&item.offered.participant) => {
                Some(self.time_is_up_at(item, now)?.since(now))
            }
            Some(claim) if self.is_asked(&item.offered.item) => {
                Some(Timestamp(claim.until.0 - LEASE_MS / 2).since(now))
            }
            _ => Some(item.wait_ms(now)),
        };
        let items = self.session.open_items().filter_map(due_in);
        let session = self.session_time_left().map(|left| left.as_millis() as u64);
        // A clock may go back; this minimum prevents a busy loop.
        let millis = items.chain(session).min()?;
        Some(Instant::now() + Duration::from_millis(millis.max(1)))
    }

    pub(super) fn step_timeout(&self, step: &str) -> Option<Duration> {
        self.session.definition().step(step)?.timeout_ms.map(Duration::from_millis)
    }

    pub(super) fn purse(&self, seat: &str, model: &str, prompt_tokens: usize, reserved: u32) -> Purse {
        let (budget, seat) = (self.config.budget.as_ref(), self.session.seat_info(seat));
        budget.map(|budget| budget.purse(seat, model, prompt_tokens, reserved)).unwrap_or_default()
    }

    pub(super) fn seat_purse(&self, round: &RoundOpened, seat: &str, model: &str) -> Purse {
        let reserved = self.config.budget.as_ref().map_or(0, |budget| budget.reserved_requests(round.number));
        self.purse(seat, model, round.estimated_tokens, reserved)
    }

    pub(super) fn session_time_left(&self) -> Option<Duration> {
        let limit = self.session.definition().max_duration_ms?;
        Some(Duration::from_millis(limit.saturating_sub(self.session.ran_ms((self.now)()))))
    }

    /// Returns the time left of the open round: until its deadline or the session's end, whichever is sooner.
    pub(super) fn time_left(&self, round: &RoundRun) -> Option<Duration> {
        let ran = self.session.round_ran_ms(round, (self.now)());
        let of_round = round.deadline_ms.map(|ms| Duration::from_millis(ms.saturating_sub(ran)));
        of_round.into_iter().chain(self.session_time_left()).min()
    }
}

/// Checks if half of the claim's lease is over.
pub(super) fn needs_renewal(item: &WorkItem, now: Timestamp) -> bool {
    item.claim.as_ref().is_some_and(|claim| claim.until.0 - now.0 < LEASE_MS / 2)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use futures::future::BoxFuture;
    use serde_json::json;

    use super::super::testing::with_engine;
    use super::*;
    use crate::core::ExitCode;
    use crate::participants::{Failure, Participant, Reply};

    static SLEPT: AtomicI64 = AtomicI64::new(0);

    fn now() -> Timestamp {
        Timestamp(1_800_000_000_000 + SLEPT.load(Ordering::SeqCst))
    }

    /// Lets the machine sleep during its request, and answers after this delay.
    struct Sleeper(Duration);

    impl Participant for Sleeper {
        fn ask<'a>(&'a self, _: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
            async move {
                SLEPT.fetch_add(2 * LEASE_MS, Ordering::SeqCst);
                tokio::time::sleep(self.0).await;
                Ok(Reply { text: "{}".to_owned(), tries: 1, ..Reply::default() })
            }
            .boxed()
        }
    }

    /// Runs `act` on an engine with a work item of agent `ann`, whose requests cost one dollar.
    fn with_item(act: impl FnOnce(&mut Engine<'_>)) {
        let definition = "steps: [{id: a, type: agent, agent: ann, max_retries: 1}]\n";
        let ann =
            json!({"name": "ann", "persona": "ann", "model": "test/test", "weight": 1.0, "agent_only": true});
        with_engine((definition, &[ann], std::collections::HashMap::new()), now, |engine| {
            engine.stage(Command::StartStep).unwrap();
            engine.stage(Command::Offer { step: "a".to_owned() }).unwrap();
            let (item, participant) = ("a/1".to_owned(), "ann".to_owned());
            engine.stage(Command::Claim(ItemHolder { item, participant, holder: None })).unwrap();
            act(engine);
        });
    }

    #[test]
    fn a_claim_is_renewed_when_half_of_it_is_over() {
        with_item(|engine| {
            let item = &engine.session.items["a/1"];
            let until = item.claim.as_ref().unwrap().until.0;
            assert!(!needs_renewal(item, Timestamp(until - LEASE_MS / 2)));
            assert!(needs_renewal(item, Timestamp(until - LEASE_MS / 2 + 1)));
        });
    }

    #[test]
    fn only_the_first_attempt_of_a_work_item_has_a_reserve() {
        with_item(|engine| {
            let price = crate::history::Price { input: 0.0, cached: 0.0, output: 1.0 };
            let limits = crate::core::ReplyLimits { usual: 1_000_000, ..Default::default() };
            let prices = [("test/test".to_owned(), price)].into();
            engine.config.budget = Some(super::super::Budget::new(2.0, prices, limits));
            let pays = |engine: &Engine<'_>| {
                let item = &engine.session.items["a/1"];
                engine.agent_request(item, None, None).purse.pay(1).is_ok()
            };
            assert!(pays(engine));
            let back = internal_error("ann".to_owned(), "a/1".to_owned());
            engine.settle_item(Box::new(back)).unwrap();
            assert!(!pays(engine), "a further try pays for itself");
        });
    }

    #[test]
    fn a_claim_that_expired_while_the_machine_slept_is_made_again() {
        for after in [0, 1, 600] {
            let definition = "steps: [{id: a, type: agent, agent: ann}]\n";
            let ann = json!({"name": "ann", "persona": "ann", "model": "test/test", "weight": 1.0, "agent_only": true});
            let table = [("ann".to_owned(), Arc::new(Sleeper(Duration::from_secs(after))) as _)].into();
            with_engine((definition, &[ann], table), now, |engine| {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
                assert_eq!(runtime.unwrap().block_on(engine.run()).unwrap(), ExitCode::Finished, "{after}");
            });
        }
    }
}
