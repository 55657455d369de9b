//! What of an answer is handed on: scanned once it may be read, masked or kept back as the definition
//! says, its author by pseudonym. The answer itself stays as it is, in the log and in every report.

use serde_json::{Map, Value, json};

use crate::ballot::{Ballot, Stance};
use crate::history::{
    AnswerRevealed, CollectedIdea, Event, LeakReport, LeaksFound, RoundRun, Seat, SeatStatus, Session,
    StepFinished, WorkItem,
};
use crate::identity::{Hit, LeakScanner, Named, leaks_in, masked};
use crate::round::record::Outcome;
use crate::workflow::{LeakAction, Step, StepKind};

/// What stands for an answer that is not handed on.
pub const WITHHELD: &str = "withheld: identifies its author or another participant";
/// What stands for names that have no pseudonym.
const MODEL: &str = "[model]";
const VENDOR: &str = "[vendor]";
const PARTICIPANT: &str = "[participant]";

/// What is looked for, and what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LeakPolicy {
    /// Whether names of participants count.
    seats: bool,
    /// What becomes of an answer with findings, pseudonyms aside.
    action: LeakAction,
}

impl Session {
    /// What was found in the answer to a work item; none of what has not been handed on.
    pub fn leaks_of(&self, item: &str) -> Option<&LeakReport> {
        self.leaks.get(item)
    }

    /// Names of participants count where they are to be hidden, or where the definition says how to
    /// handle them; elsewhere later rounds are shown them anyway.
    fn watch(&self) -> Option<LeakPolicy> {
        let definition = self.definition.as_ref()?;
        let hidden = self.pseudonyms().is_some();
        let unsaid = if hidden { LeakAction::Mask } else { LeakAction::Flag };
        let action = definition.leaks.unwrap_or(unsaid);
        let seats = hidden || definition.leaks.is_some();
        (hidden || action != LeakAction::Off).then_some(LeakPolicy { seats, action })
    }

    /// The event on the answers of a closed round, if they give something away that is not on record.
    pub(crate) fn leaks_in_round(&self, run: &RoundRun) -> Option<Event> {
        let watch = self.watch()?;
        let scan = self.scan(watch, &material_of(run));
        let answers = run.seats.values().filter_map(|seat| {
            let item = seat.item.as_ref()?;
            Some((item.participant.as_str(), item.item.as_str(), seat_answer(seat)))
        });
        self.found(watch, &scan, &run.opened.step, &run.opened.round, answers)
    }

    /// The event on what came back for a step's work items.
    pub(crate) fn leaks_in_items(&self, step: &Step, items: &[&WorkItem]) -> Option<Event> {
        let watch = self.watch()?;
        let own = match &step.kind {
            StepKind::Agent(agent) => agent.prompt.as_ref().map(|prompt| prompt.text().to_owned()),
            StepKind::Review(review) => review.prompt.as_ref().map(|prompt| prompt.text().to_owned()),
            _ => None,
        };
        let scan = self.scan(watch, &own.unwrap_or_default());
        let answers = items
            .iter()
            .map(|item| (item.offered.participant.as_str(), item.offered.item.as_str(), said_for(item)));
        self.found(watch, &scan, &step.id, "", answers)
    }

    fn found<'a>(
        &self,
        watch: LeakPolicy,
        scan: &LeakScanner,
        step: &str,
        round: &str,
        answers: impl Iterator<Item = (&'a str, &'a str, Value)>,
    ) -> Option<Event> {
        let mask = |hit: &Hit| self.mask(watch, hit);
        let mut found = Vec::new();
        for (who, item, said) in answers {
            let leaks = leaks_in(scan, &said, (who, item), &mask);
            // With `off` only what a pseudonym stands for is anybody's concern.
            found.extend(
                leaks.into_iter().filter(|leak| watch.action != LeakAction::Off || leak.mask.is_some()),
            );
        }
        if found.is_empty() || found.iter().any(|leak| self.leaks.contains_key(&leak.item)) {
            return None;
        }
        Some(Event::LeaksFound(std::sync::Arc::new(LeaksFound {
            step: step.to_owned(),
            round: round.to_owned(),
            action: watch.action,
            found,
        })))
    }

    fn mask(&self, watch: LeakPolicy, hit: &Hit) -> Option<String> {
        let pseudonym = match hit.named {
            Named::Seat(at) => self.pseudonyms().and_then(|names| names.get_index(at)),
            _ => None,
        };
        match (pseudonym, watch.action) {
            (Some((_, name)), _) => Some(name.clone()),
            (None, LeakAction::Mask) => Some(match hit.named {
                Named::Vendor => VENDOR.to_owned(),
                Named::Model => MODEL.to_owned(),
                Named::Seat(_) | Named::Ai => PARTICIPANT.to_owned(),
            }),
            _ => None,
        }
    }

    fn scan(&self, watch: LeakPolicy, own: &str) -> LeakScanner {
        let seats: Vec<&str> = self.roster.keys().map(String::as_str).collect();
        let models: Vec<&str> = self.roster.values().map(|seat| seat.model.as_str()).collect();
        let material = format!("{}\n{own}", self.material());
        LeakScanner::new(if watch.seats { &seats } else { &[] }, &models, &material)
    }

    /// What the facilitator brought: names in it are what is talked about.
    fn material(&self) -> String {
        let Some(definition) = &self.definition else { return String::new() };
        let mut texts: Vec<String> = definition.constraints.clone();
        texts.extend([&definition.goal, &definition.project_summary].into_iter().flatten().cloned());
        texts.extend(self.header.as_ref().map(|header| header.input.to_string()));
        texts.extend(self.agenda.items.iter().map(|item| item.title.clone()));
        for artifact in &definition.artifacts {
            texts.extend([artifact.id.clone(), artifact.summary.clone()]);
            texts.extend(artifact.details.iter().map(|(_, value)| value.to_string()));
        }
        for task in &definition.tasks {
            texts.extend([task.title.clone(), task.description.clone()]);
            texts.extend(task.test_steps.clone());
        }
        // What a step or a seat led to is no text of the facilitator's.
        let points = self.agenda.conflicts.iter().chain(&self.agenda.questions);
        texts.extend(points.filter(|point| point.step.is_none()).map(|point| point.to_json().to_string()));
        texts.join("\n")
    }

    /// What is handed on of an answer; none where it is withheld.
    fn handed(&self, item: &str, said: Value) -> Option<Value> {
        match self.leaks.get(item) {
            None => Some(said),
            Some(handling) if handling.action == LeakAction::Withhold => None,
            Some(handling) => Some(masked(&said, &handling.found)),
        }
    }

    /// An idea of a closed round as later steps see it; none where its answer is withheld.
    pub(super) fn handed_idea(&self, round: &RoundRun, idea: CollectedIdea) -> Option<CollectedIdea> {
        let author = idea.id.rsplit_once('#').and_then(|(name, at)| Some((round.seat(name)?, at)));
        let Some((seat, at)) = author else { return Some(idea) };
        let Some(item) = &seat.item else { return Some(idea) };
        let handed = self.handed(&item.item, seat_answer(seat))?;
        let at = at.parse::<usize>().map_or(0, |at| at.saturating_sub(1));
        let text = |key: &str| handed["result"]["ideas"][at][key].as_str().unwrap_or_default().to_owned();
        Some(CollectedIdea { title: text("title"), text: text("text"), ..idea })
    }

    /// A seat of a closed round as later steps see it.
    pub(crate) fn disclosed_answer(&self, seat: &Seat) -> Value {
        let name = self.display_name(&seat.name);
        let said = seat_answer(seat);
        let handed = match &seat.item {
            Some(item) => self.handed(&item.item, said),
            None => Some(said),
        };
        entry(name, handed)
    }

    /// The work items behind a step's last result, in the order they were offered.
    fn items_behind(&self, step: &str) -> impl Iterator<Item = &WorkItem> {
        self.items_of.get(step).into_iter().flatten().filter_map(|id| self.items.get(id))
    }

    /// What an agent's step made, as later steps see it; none where it is withheld.
    pub(crate) fn disclosed_result(&self, step: &Step, result: &StepFinished) -> Option<Value> {
        match self.items_behind(&step.id).next() {
            Some(item) => {
                let said = self.handed(&item.offered.item, json!({ "result": result.data }))?;
                Some(said["result"].clone())
            }
            None => Some(result.data.clone()),
        }
    }

    /// The note that the step which finished last wrote on a round, while it is not on record: the round,
    /// and the text as it is handed on.
    pub(crate) fn due_synthesis(&self) -> Option<(String, String)> {
        let id = self.finished_step.as_ref().filter(|_| self.synthesis_due)?;
        let round = self.synthesis_of(id)?.opened.round.clone();
        let data = self.disclosed_result(self.definition.as_ref()?.step(id)?, self.results.get(id)?)?;
        let text = ["synthesis", "result"].into_iter().find_map(|key| data[key].as_str());
        Some((round, text.map_or_else(|| data.to_string(), str::to_owned)))
    }

    /// What came back for a work item, as later agents see it.
    pub(crate) fn handed_content(&self, item: &WorkItem) -> Value {
        let handed = self.handed(&item.offered.item, said_for(item));
        handed.map_or_else(|| WITHHELD.into(), |said| said["result"].clone())
    }

    /// Whether what came back for a work item is kept back.
    pub(crate) fn is_withheld(&self, item: &str) -> bool {
        self.leaks.get(item).is_some_and(|handling| handling.action == LeakAction::Withhold)
    }

    /// The entries of a finished review, as later steps see them.
    pub(crate) fn handed_reviews(&self, step: &Step) -> Value {
        let mut items: Vec<&WorkItem> = self.items_behind(&step.id).collect();
        if self.pseudonyms().is_some() {
            items.sort_by_key(|item| self.shown_at(&item.offered.participant));
        }
        let of = |item: &&WorkItem| {
            let handed = self.handed(&item.offered.item, said_for(item));
            entry(self.display_name(&item.offered.participant), handed)
        };
        items.iter().map(of).collect()
    }

    /// Why a step failed, as later steps get it.
    pub(crate) fn shown_error(&self, failed: &StepFinished) -> String {
        let error = failed.error.clone().unwrap_or_default();
        let Some(item) = self.items_behind(&failed.step).next() else {
            return self.shown_reason(self.last_round_of(&failed.step), &error);
        };
        let handed = self.handed(&item.offered.item, json!({ "error": error }));
        handed.as_ref().and_then(|said| said["error"].as_str()).unwrap_or(WITHHELD).to_owned()
    }

    /// What the program of a failed step printed, as later steps get it.
    pub(crate) fn output_of(&self, failed: &StepFinished) -> Option<String> {
        let item = self.items_behind(&failed.step).next()?;
        let output = item.outcome()?.output()?;
        Some(if self.is_withheld(&item.offered.item) { WITHHELD.to_owned() } else { output })
    }

    /// Why a round did not decide, with the seats that block it, which end the sentence, as others are shown
    /// them, in that order.
    pub(crate) fn shown_reason(&self, round: Option<&RoundRun>, reason: &str) -> String {
        let mut blockers = round.map(blockers).unwrap_or_default();
        match reason.strip_suffix(&blockers.join(", ")) {
            Some(words) if self.pseudonyms().is_some() => {
                blockers.sort_by_key(|name| self.shown_at(name));
                let shown: Vec<&str> = blockers.into_iter().map(|name| self.display_name(name)).collect();
                format!("{words}{}", shown.join(", "))
            }
            _ => reason.to_owned(),
        }
    }
}

/// The seats of a round that block its proposal, in roster order.
fn blockers(round: &RoundRun) -> Vec<&str> {
    let blocks = |seat: &&Seat| {
        let SeatStatus::Revealed(answer, _) = &seat.status else { return false };
        answer.outcome == Outcome::Answered
            && matches!(answer.ballot, Some(Ballot::Consent(Stance::Block, _)))
    };
    round.seats.values().filter(blocks).map(|seat| seat.name.as_str()).collect()
}

/// What a round was asked, as it was frozen: results of earlier steps are not among it.
fn material_of(run: &RoundRun) -> String {
    let opened = &run.opened;
    let mut texts = vec![opened.question.clone()];
    texts.extend(opened.ballot.options.iter().chain(&opened.ballot.cards).cloned());
    let frozen = crate::yaml::read(&run.opened.snapshot, "snapshot").map(|node| node.to_json());
    let frozen = frozen.unwrap_or_default();
    let of = |key: &str| frozen["participant_context"][key].as_str().map(str::to_owned);
    texts.extend([of("project_summary"), of("exploration")].into_iter().flatten());
    texts.join("\n")
}

/// An entry of an envelope: what is handed on under a name.
fn entry(name: &str, handed: Option<Value>) -> Value {
    match handed {
        None => rejected(name, WITHHELD),
        Some(said) => match said.get("error").and_then(Value::as_str) {
            Some(error) => rejected(name, error),
            None => json!({ "stepId": name, "result": said["result"] }),
        },
    }
}

/// What a seat said, or why there is nothing: `{result}` or `{error}`.
pub fn seat_answer(seat: &Seat) -> Value {
    match &seat.status {
        SeatStatus::Revealed(answer, _) if is_valid(answer) => said("result", answer.answer.clone().into()),
        other => said("error", why_rejected(other).into()),
    }
}

/// What came back for a work item, in the same form.
fn said_for(item: &WorkItem) -> Value {
    let back = item.outcome();
    match back.and_then(|back| back.error.clone()) {
        Some(error) => said("error", error.into()),
        None => said("result", back.map(|back| back.data.clone()).unwrap_or_default()),
    }
}

fn said(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

fn is_valid(answer: &AnswerRevealed) -> bool {
    matches!(answer.outcome, Outcome::Answered | Outcome::Abstained)
}

/// Why a seat has no answer, as results hold it.
fn why_rejected(status: &SeatStatus) -> String {
    match status {
        SeatStatus::Revealed(answer, _) => {
            let reason = answer.reason.as_deref().unwrap_or("no reason given");
            format!("{}: {reason}", answer.outcome.name())
        }
        SeatStatus::Failed(failed) => failed.reason.clone(),
        SeatStatus::Excused(reason) => format!("excused: {reason}"),
        SeatStatus::Lost(_) => "its answer was lost with the round's key".to_owned(),
        _ => "no answer before the round closed".to_owned(),
    }
}

/// An entry of what came to nothing.
pub fn rejected(id: &str, error: &str) -> Value {
    json!({ "stepId": id, "status": "rejected", "result": null, "error": error })
}
