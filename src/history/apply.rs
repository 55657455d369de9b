//! Fold of events into the session state: total, infallible, the same live and in replay.
//!
//! An event that does not fit the state only advances the clock; the reader and `verify` report it.

use std::sync::Arc;

use super::agenda::Agenda;
use super::event::{
    AnswerRevealed, ApprovalGiven, ApprovalRequested, BallotSealed, Event, ItemStatus, Leak, LogEntry,
    RoundClosed, RoundOpened, SeatFailed, SessionOpened, StepFinished, StepStarted, Tally, TimedEvent,
    WorkItemClaimed, WorkItemOffered, WorkItemReturned,
};
use super::facilitator::{ACCEPTS_RESULT, LEAVES_STRATEGY};
use super::state::{AnsweredQuestion, ApprovalRun, NotHeld, RoundRun, Seat, SeatStatus, Session, StepRun};
use super::timestamp::Timestamp;
use super::work_item::WorkItem;
use crate::round::seal::SealTo;
use crate::workflow::{Definition, Step, StepKind, TRACKER, TaskMark};

impl Session {
    pub fn apply_entry(&mut self, line: &LogEntry) {
        self.apply(&line.stamped);
        self.note_hash(line);
    }

    /// Stores the hash of a round's opening entry; the round's seals are bound to it.
    pub fn note_hash(&mut self, line: &LogEntry) {
        if let Event::RoundOpened(opened) = &line.stamped.event
            && let Some(round) = self.rounds.iter_mut().rev().find(|round| Arc::ptr_eq(&round.opened, opened))
        {
            round.opened_sha256.clone_from(&line.hash);
        }
    }

    pub fn apply(&mut self, stamped: &TimedEvent) {
        let before = std::mem::replace(&mut self.last_at, stamped.at);
        let at = stamped.at;
        match &stamped.event {
            Event::SessionOpened(opened) => self.open(opened, at),
            Event::StepStarted(started) => self.start(started, at),
            Event::ContextChanged { text } => self.context.clone_from(text),
            Event::WorkItemOffered(item) if item.task.is_some() => self.offer(item, at),
            Event::WorkItemOffered(item) => self.offer_seat(item),
            Event::WorkItemClaimed(claim) => self.note_claim(claim, at),
            Event::WorkItemReturned(back) => self.note_return(back, at),
            Event::RoundOpened(opened) => self.open_round_run(opened, at),
            Event::BallotSealed(sealed) => self.note_sealed(sealed),
            Event::SeatFailed(failed) => self.note_failed(failed),
            Event::SeatExcused { round, participant, reason, .. } => {
                self.seat(round, participant, |seat| seat.give_up(SeatStatus::Excused(reason.clone())));
            }
            Event::SeatRetried { round, participant, model, .. } => {
                self.retry(round, participant, model.as_ref(), at);
            }
            Event::SeatInvited(invited) => self.invite(invited),
            Event::SeatJoined(joined) => self.note_joined(joined),
            Event::EnvelopeRefused(refused) => {
                self.seat(&refused.round, &refused.participant, |seat| seat.refused += 1);
            }
            Event::LateAnswerRefused { round, participant, .. } => self.note_late(round, participant),
            Event::RoundClosed(closed) => self.close_round(closed, at),
            Event::AnswerRevealed(answer) => self.reveal(answer),
            Event::KeyLost { round, participants, .. } => self.note_key_lost(round, participants),
            Event::SeatsAskedAgain { round, participants, seal, .. } => {
                self.ask_seats_again(round, participants, seal.as_ref());
            }
            Event::RoundAskedAgain { step, .. } => self.ask_round_again(step),
            Event::LeaksFound { found, .. } => self.note_leaks(found),
            Event::TallyMade(tally) => self.note_tally(tally),
            Event::StepFinished(result) => self.finish(result),
            Event::ApprovalRequested(requested) => self.request(requested, at),
            Event::ApprovalGiven(given) => self.answer(given, at),
            Event::IdeasMerged(merged) => self.note_merge(merged),
            Event::AgendaUpdated(_)
            | Event::ConflictOpened(_)
            | Event::ConflictResolved(_)
            | Event::QuestionOpened(_)
            | Event::QuestionAnswered { .. } => self.note_agenda(&stamped.event),
            Event::ArtifactRecorded(recorded) => self.note_artifact(recorded, at),
            Event::ReviewRecorded(review) => self.reviews.push(review.clone()),
            Event::LinkRecorded { link, .. } => self.links.push(link.clone()),
            Event::SynthesisRecorded { round, text, .. } => self.note_synthesis(round, text),
            Event::DeadlineExtended { round, deadline_ms, .. } => {
                if let Some(round) = self.round_mut(round) {
                    round.deadline_ms = Some(*deadline_ms);
                }
            }
            Event::RoundRevised(revised) => self.revise(revised),
            Event::Warning { message, .. } => self.warnings.push(message.clone()),
            Event::SessionPaused { reason, .. } => self.paused = Some((at, reason.clone())),
            Event::SessionResumed { .. } => self.resume(before, at),
            Event::SessionForked { session, .. } => self.fork(session, before, at),
            Event::SessionClosed(closed) => self.closed = Some(closed.clone()),
        }
    }

    fn note_agenda(&mut self, event: &Event) {
        self.agenda.apply(event);
        // Templates read the current agenda from the definition.
        if let Event::AgendaUpdated(_) = event {
            Arc::make_mut(&mut self.definition).agenda.clone_from(&self.agenda.items);
        }
    }

    fn note_return(&mut self, back: &Arc<WorkItemReturned>, at: Timestamp) {
        self.note_mark(back);
        if let Some(item) = self.items.get_mut(&back.item) {
            item.claim = None;
            item.returned.push((Arc::clone(back), at));
        }
    }

    /// Returns the tracker's update of a task, if the returned item is one.
    fn mark(&self, back: &WorkItemReturned) -> Option<TaskMark> {
        let is_trackers = self.seat_info(&back.participant).is_some_and(|seat| seat.model == TRACKER);
        if !is_trackers || back.status != ItemStatus::Completed {
            return None;
        }
        let text = |key: &str| back.data[key].as_str().map(str::to_owned);
        let evidence = back.data["evidence"].as_object().cloned().unwrap_or_default();
        Some(TaskMark { task: text("issue_id")?, status: text("status")?, evidence })
    }

    fn note_mark(&mut self, back: &WorkItemReturned) {
        let Some(mark) = self.mark(back) else { return };
        let tasks = Arc::make_mut(&mut self.tasks);
        if let Some(task) = tasks.iter_mut().find(|task| task.id == mark.task) {
            task.set_status(&mark.status);
        }
    }

    /// Returns the task updates of running steps, which the tasks file may not contain yet. Empty without a
    /// tasks file and in a rehearsal.
    pub fn due_marks(&self) -> Vec<TaskMark> {
        if self.tasks_file().is_none() || self.has_rehearsal() {
            return Vec::new();
        }
        let items = self.active_steps().flat_map(|run| &run.items).filter_map(|id| self.items.get(id));
        items.filter_map(|item| self.mark(item.completed()?)).collect()
    }

    pub fn tasks_file(&self) -> Option<&str> {
        Some(self.definition().tracker.as_ref()?.file.as_str())
    }

    fn note_claim(&mut self, claim: &WorkItemClaimed, at: Timestamp) {
        if let Some(item) = self.items.get_mut(&claim.item) {
            item.note_claim(claim, at);
        }
    }

    fn note_late(&mut self, round: &str, participant: &str) {
        self.warnings.push(format!("`{participant}` answered after round `{round}` was closed; not counted"));
    }

    fn request(&mut self, requested: &ApprovalRequested, at: Timestamp) {
        let asked = ApprovalRun { requested: requested.clone(), counted: self.counted(), at, given: None };
        match self.run_mut(&requested.step) {
            Some(step) => step.approval = Some(asked),
            None => self.exhausted = Some(asked),
        }
    }

    fn offer_seat(&mut self, item: &Arc<WorkItemOffered>) {
        self.seat(&item.round, &item.participant, |seat| {
            seat.item = Some(Arc::clone(item));
            seat.status = SeatStatus::Asking;
        });
    }

    fn note_sealed(&mut self, sealed: &BallotSealed) {
        let key = self.seat_key(&sealed.participant).map(str::to_owned);
        self.seat(&sealed.round, &sealed.participant, |seat| {
            seat.signed_with = key;
            seat.status = SeatStatus::Sealed(Arc::clone(&sealed.seal));
            seat.elapsed_ms = Some(sealed.elapsed_ms);
        });
    }

    fn note_failed(&mut self, failed: &SeatFailed) {
        self.seat(&failed.round, &failed.participant, |seat| {
            seat.status = SeatStatus::Failed(failed.clone());
            seat.elapsed_ms = Some(failed.elapsed_ms);
        });
    }

    fn reveal(&mut self, answer: &Arc<AnswerRevealed>) {
        self.seat(&answer.round, &answer.participant, |seat| {
            if let SeatStatus::Sealed(sealed) = &seat.status {
                seat.status = SeatStatus::Revealed(Arc::clone(answer), sealed.hashes());
            }
        });
    }

    fn note_key_lost(&mut self, round: &str, participants: &[String]) {
        let Some(round) = self.round_mut(round) else { return };
        for name in participants {
            if let Some(seat) = round.seats.get_mut(name)
                && let SeatStatus::Sealed(sealed) = &seat.status
            {
                seat.status = SeatStatus::Lost(Arc::clone(sealed));
            }
            if !round.key_lost.contains(name) {
                round.key_lost.push(name.clone());
            }
        }
    }

    fn ask_seats_again(&mut self, round: &str, participants: &[String], seal: Option<&SealTo>) {
        let Some(round) = self.round_mut(round) else { return };
        if let Some(seal) = seal {
            round.seal_to = Some(seal.clone());
        }
        for seat in round.seats.values_mut().filter(|seat| participants.contains(&seat.name)) {
            seat.status = SeatStatus::Asking;
            seat.elapsed_ms = None;
        }
    }

    fn note_tally(&mut self, tally: &Tally) {
        if let Some(round) = self.round_mut(&tally.round) {
            round.tally = Some(tally.clone());
        }
    }

    fn note_leaks(&mut self, found: &[Leak]) {
        for leak in found {
            self.leaks.entry(leak.item.clone()).or_default().push(leak.clone());
        }
    }

    fn close_round(&mut self, closed: &RoundClosed, at: Timestamp) {
        let Some(round) = self.round_mut(&closed.round) else { return };
        round.closed_at = Some(at);
        round.closed = Some(closed.clone());
        for seat in round.seats.values_mut().filter(|seat| seat.status.is_open()) {
            seat.status = SeatStatus::Missing;
        }
    }

    fn answer(&mut self, given: &ApprovalGiven, at: Timestamp) {
        if let Some(asked) = self.exhausted.take() {
            return self.answer_exhausted(&asked, given, at);
        }
        let counted = self.counted();
        let Some(step) = self.run_mut(&given.step) else { return };
        let round = step.round;
        let Some(asked) = step.approval.as_mut().filter(|asked| asked.given.is_none()) else {
            self.leaves_strategy |= given.choice.is_some();
            let (message, choices) = match &given.choice {
                Some(leave) => (LEAVES_STRATEGY, vec!["accept".to_owned(), leave.clone()]),
                None => (ACCEPTS_RESULT, Vec::new()),
            };
            let (message, given) = (message.to_owned(), given.clone());
            return self.approvals.push(AnsweredQuestion { message, choices, counted, given, at });
        };
        asked.given = Some(given.clone());
        let asked = asked.clone();
        *self.answered.entry(given.step.clone()).or_insert(0) += 1;
        self.note_answer(&asked, given, at);
        if let Some(round) = round.and_then(|index| self.rounds.get_mut(index)) {
            round.tie_choice.clone_from(&given.choice);
        }
    }

    pub(crate) fn note_answer(
        &mut self,
        asked: &ApprovalRun,
        given: &ApprovalGiven,
        at: Timestamp,
    ) -> AnsweredQuestion {
        self.waited_ms += at.since(asked.at.max(self.asked_until));
        self.asked_until = at;
        let (message, choices) = (asked.requested.message.clone(), asked.requested.choices.clone());
        let answer = AnsweredQuestion { message, choices, counted: asked.counted, given: given.clone(), at };
        self.approvals.push(answer.clone());
        answer
    }

    fn open(&mut self, opened: &SessionOpened, at: Timestamp) {
        if let Ok(definition) = Session::load_definition(opened) {
            self.open_with(opened, definition, at);
        }
    }

    /// Opens the session with a loaded definition, even one with errors.
    pub fn open_with(&mut self, opened: &SessionOpened, definition: Definition, at: Timestamp) {
        self.opened_at = at;
        self.id.clone_from(&opened.session);
        let roster = opened.participants.iter().map(|seat| (seat.name.clone(), seat.clone()));
        self.roster = Arc::new(roster.collect());
        let tasks = definition.tasks.iter();
        self.tasks = Arc::new(tasks.filter(|task| !task.deleted).cloned().collect());
        self.agenda = Agenda::from_definition(&definition);
        self.definition = Arc::new(definition);
        self.header = Some(Arc::new(opened.clone()));
    }

    /// Adds the pause to the waiting time, unless an open question counts that time already. After a crash the
    /// pause starts at the last event.
    pub(crate) fn resume(&mut self, last: Timestamp, at: Timestamp) {
        let since = self.paused.take().map_or(last, |(since, _)| since);
        // A local worker's claim ended with its program, so the item is offered again.
        for item in self.items.values_mut() {
            let agent = self.roster.get(&item.offered.participant);
            item.claim = item.claim.take().filter(|_| agent.is_some_and(|agent| agent.remote.is_some()));
        }
        if self.asked().next().is_none() && self.exhausted.is_none() {
            self.waited_ms += at.since(since);
        }
    }

    fn open_round_run(&mut self, opened: &Arc<RoundOpened>, at: Timestamp) {
        let seat = |name: &String| {
            let seat = Seat {
                name: name.clone(),
                door: self.remote(name).map(|remote| remote.door),
                ..Seat::default()
            };
            (name.clone(), seat)
        };
        let seats = opened.seats.iter().map(seat).collect();
        let index = self.rounds.len();
        if let Some(step) = self.run_mut(&opened.step) {
            step.round = Some(index);
        }
        self.rounds.push(RoundRun {
            opened_at: at,
            waited_before: self.waited_ms,
            seats,
            session: self.id.clone(),
            deadline_ms: opened.deadline_ms,
            seal_to: opened.seal.clone(),
            opened: Arc::clone(opened),
            ..RoundRun::default()
        });
    }

    fn start(&mut self, started: &StepStarted, at: Timestamp) {
        let id = &started.step;
        self.expand_each(started);
        self.iterations = started.iteration;
        (self.is_result_accepted, self.leaves_strategy, self.synthesis_due) = (false, false, false);
        self.chosen.shift_remove(id);
        *self.runs.entry(id.clone()).or_insert(0) += 1;
        let run = StepRun { id: id.clone(), started: at, ..StepRun::default() };
        match &started.within {
            None => self.step = Some(run),
            Some(around) => {
                if let Some(around) = self.run_mut(around) {
                    around.nested.push(run);
                }
            }
        }
    }

    /// Copies the steps of an `each` step, once per item.
    fn expand_each(&mut self, started: &StepStarted) {
        let is_each = |step: &Step| matches!(step.kind, StepKind::Each(_));
        if self.definition().step(&started.step).is_some_and(is_each)
            && let Some(step) = Arc::make_mut(&mut self.definition).step_mut(&started.step)
        {
            step.expand(&started.items);
        }
    }

    pub(crate) fn run_mut(&mut self, id: &str) -> Option<&mut StepRun> {
        self.step.as_mut()?.find_mut(id)
    }

    fn offer(&mut self, offered: &Arc<WorkItemOffered>, at: Timestamp) {
        let step = self.definition().step(&offered.step);
        let (retries, retry_delay_ms) =
            step.map_or((0, 0), |step| (step.max_retries, step.retry_delay_ms.unwrap_or(0)));
        if let Some(run) = self.run_mut(&offered.step) {
            run.items.push(offered.item.clone());
        }
        let item = WorkItem {
            offered: Arc::clone(offered),
            at,
            claim: None,
            claimed_at: None,
            returned: Vec::new(),
            tries: retries.saturating_add(1),
            retry_delay_ms,
        };
        self.items.insert(offered.item.clone(), item);
    }

    fn finish(&mut self, result: &Arc<StepFinished>) {
        if let Some(run) = self.run_mut(&result.step) {
            let (items, is_open) = (run.items.clone(), run.round.is_some());
            self.items_of.insert(result.step.clone(), items);
            self.note_not_held(result, is_open);
        }
        if self.step.as_ref().is_none_or(|top| top.id != result.step) {
            if let Some(run) = self.run_mut(&result.step) {
                run.result = Some(Arc::clone(result));
            }
            return;
        }
        self.step = None;
        let is_refused = result.data["approved"] == false;
        self.synthesis_due = result.success && !is_refused && self.synthesis_of(&result.step).is_some();
        self.finished_step = Some(result.step.clone());
        self.results.insert(result.step.clone(), Arc::clone(result));
    }

    fn note_not_held(&mut self, result: &StepFinished, was_opened: bool) {
        let step = self.definition().step(&result.step);
        let is_round = step.is_some_and(|step| step.round().is_some());
        self.not_held.shift_remove(&result.step);
        if is_round && !was_opened {
            let why = result.error.clone().unwrap_or_default();
            self.not_held.insert(result.step.clone(), NotHeld { why, after: self.rounds.len() });
        }
    }

    pub(crate) fn round_mut(&mut self, id: &str) -> Option<&mut RoundRun> {
        self.rounds.iter_mut().rev().find(|round| round.opened.round == id)
    }

    pub(crate) fn seat(&mut self, round: &str, name: &str, change: impl FnOnce(&mut Seat)) {
        if let Some(seat) = self.round_mut(round).and_then(|round| round.seats.get_mut(name)) {
            change(seat);
        }
    }
}
