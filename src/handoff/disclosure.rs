//! Disclosure of answers: leak scan, redaction and pseudonyms.
//!
//! Answers are scanned once they may be read, and redacted in the copy that later steps see. The log and the
//! reports contain the originals. Pseudonyms are drawn once, by the seed alone, and recorded in the header.
//! Neither their numbers nor their order reveal the roster's order.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::names::{LeakScanner, names_of_model, well_known};
use crate::history::{
    CollectedIdea, Event, Leak, LeakKind, PseudonymMap, RoundRun, Seat, SeatStatus, Session, StepFinished,
    WorkItem, WorkItemOffered, WorkItemReturned,
};
use crate::round::snapshot::sha256_hex;
use crate::tally::NoDecision;
use crate::workflow::{LeakAction, Step};

/// Candidates for the first word of a pseudonym; the first one that begins no seat's name is used.
const WORDS: [&str; 4] = ["participant", "voice", "speaker", "table-voice"];

impl PseudonymMap {
    pub fn draw<'a>(seed: u64, roster: impl Iterator<Item = &'a str>) -> Self {
        let roster: Vec<&str> = roster.collect();
        let mut order = roster.clone();
        order.sort_by_cached_key(|name| sha256_hex(format!("roundtable pseudonym 1\n{seed}\n{name}")));
        let is_free = |word: &&&str| !roster.iter().any(|name| name.to_lowercase().starts_with(**word));
        let word = WORDS.iter().find(is_free).copied().unwrap_or("anonymous-participant");
        let number = |name: &str| order.iter().position(|other| *other == name).map_or(0, |at| at + 1);
        let names = roster.iter().map(|name| ((*name).to_owned(), format!("{word}-{}", number(name))));
        Self { seed, names: names.collect() }
    }
}

impl Session {
    pub fn pseudonyms(&self) -> Option<&IndexMap<String, String>> {
        self.header.as_ref()?.pseudonyms.as_ref().map(|drawn| &drawn.names)
    }

    pub fn display_name<'a>(&'a self, seat: &'a str) -> &'a str {
        self.pseudonyms().and_then(|names| names.get(seat)).map_or(seat, String::as_str)
    }

    /// Returns a seat's position in lists for others: by pseudonym, else by roster.
    pub(crate) fn shown_at(&self, seat: &str) -> usize {
        let Some(names) = self.pseudonyms() else { return self.roster.get_index_of(seat).unwrap_or(0) };
        let number = |name: &String| name.rsplit('-').next().and_then(|digits| digits.parse().ok());
        names.get(seat).and_then(number).unwrap_or(0)
    }

    pub fn leaks_of(&self, item: &str) -> Option<&[Leak]> {
        self.leaks.get(item).map(Vec::as_slice)
    }

    /// Returns the names to scan for; none if the definition disables the scan. Seat names count only if they
    /// must be hidden or a scan is requested; otherwise later rounds see them anyway.
    fn names_to_find(&self) -> Vec<Leak> {
        let asked = self.definition().leaks;
        let pseudonyms = self.pseudonyms();
        let unsaid = if pseudonyms.is_some() { LeakAction::Mask } else { LeakAction::Flag };
        let action = asked.unwrap_or(unsaid);
        let name = |kind: LeakKind, text: &str| {
            let mask = (action == LeakAction::Mask).then(|| kind.mask().to_owned());
            Leak { participant: String::new(), item: String::new(), kind, text: text.to_owned(), mask }
        };
        let mut names = Vec::new();
        if action != LeakAction::Off {
            names.extend(well_known().map(|(kind, text)| name(kind, text)));
            let models = self.roster.values().flat_map(|seat| names_of_model(&seat.model));
            names.extend(models.map(|text| name(LeakKind::Model, text)));
        }
        if pseudonyms.is_some() || asked.is_some_and(|action| action != LeakAction::Off) {
            for seat in self.roster.keys() {
                let found = name(LeakKind::Seat, seat);
                let pseudonym = pseudonyms.and_then(|names| names.get(seat)).cloned();
                names.push(Leak { mask: pseudonym.or(found.mask), ..found });
            }
        }
        names
    }

    pub(crate) fn leaks_in_round(&self, run: &RoundRun) -> Option<Event> {
        let answers = run.seats.values().filter_map(|seat| Some((&**seat.item.as_ref()?, seat_answer(seat))));
        self.leaks_found(&run.opened.step, Some(&run.opened.round), own_part(&run.opened.snapshot), answers)
    }

    pub(crate) fn leaks_in_items(&self, step: &Step, items: &[&WorkItem]) -> Option<Event> {
        let material: String = items.iter().map(|item| self.agent_prompt(&item.offered).1).collect();
        let answers = items.iter().map(|item| (&*item.offered, said_for(item)));
        self.leaks_found(&step.id, None, &material, answers)
    }

    fn leaks_found<'a>(
        &self,
        step: &str,
        round: Option<&String>,
        material: &str,
        answers: impl Iterator<Item = (&'a WorkItemOffered, AnswerOrReason)>,
    ) -> Option<Event> {
        let mut scanner = LeakScanner::new(self.names_to_find());
        scanner.leave_out(material);
        let leaks = |(asked, said): (&'a WorkItemOffered, AnswerOrReason)| {
            scanner.leaks_in(&said, &asked.participant, &asked.item)
        };
        let found: Vec<Leak> = answers.flat_map(leaks).collect();
        let (step, round) = (step.to_owned(), round.cloned());
        (!found.is_empty()).then_some(Event::LeaksFound { step, round, found })
    }

    fn redacted(&self, item: &str, said: AnswerOrReason) -> AnswerOrReason {
        let Some(found) = self.leaks_of(item) else { return said };
        let scanner = LeakScanner::new(found.iter().cloned());
        said.map(|value| scanner.masked(&value)).map_err(|why| scanner.masked_text(&why))
    }

    pub(super) fn redacted_item(&self, item: &WorkItem) -> AnswerOrReason {
        self.redacted(&item.offered.item, said_for(item))
    }

    pub(super) fn redacted_idea(&self, round: &RoundRun, idea: CollectedIdea) -> CollectedIdea {
        let author = idea.id.rsplit_once('#').and_then(|(name, at)| Some((round.seat(name)?, at)));
        let Some((seat, at)) = author else { return idea };
        let Some(item) = &seat.item else { return idea };
        let redacted = self.redacted(&item.item, seat_answer(seat)).unwrap_or_default();
        let at = at.parse::<usize>().map_or(0, |at| at.saturating_sub(1));
        let text = |key: &str| redacted["ideas"][at][key].as_str().unwrap_or_default().to_owned();
        CollectedIdea { title: text("title"), text: text("text"), ..idea }
    }

    pub(super) fn disclosed_answer(&self, seat: &Seat) -> AnswerOrReason {
        let said = seat_answer(seat);
        seat.item.iter().fold(said, |said, item| self.redacted(&item.item, said))
    }

    /// Returns answers as later steps see them, by the names and in the order for others.
    pub(super) fn shown_answers<'a>(
        &self,
        answers: impl Iterator<Item = (&'a str, AnswerOrReason)>,
    ) -> Value {
        let mut answers: Vec<_> = answers.collect();
        if self.pseudonyms().is_some() {
            answers.sort_by_key(|(name, _)| self.shown_at(name));
        }
        let entry = |(name, said): (&str, AnswerOrReason)| match (self.display_name(name), said) {
            (name, Ok(result)) => json!({ "stepId": name, "result": result }),
            (name, Err(why)) => rejected(name, &why),
        };
        answers.into_iter().map(entry).collect()
    }

    /// Returns the work items of a step's last result, in the order they were offered.
    pub(super) fn items_behind(&self, step: &str) -> impl Iterator<Item = &WorkItem> {
        self.items_of.get(step).into_iter().flatten().filter_map(|id| self.items.get(id))
    }

    pub(crate) fn disclosed_result(&self, step: &Step, result: &StepFinished) -> Value {
        match self.items_behind(&step.id).next() {
            Some(item) => self.redacted(&item.offered.item, Ok(result.data.clone())).unwrap_or_default(),
            None => result.data.clone(),
        }
    }

    /// Returns the round and the text of a note that the last step wrote and that is not recorded yet.
    pub(crate) fn due_synthesis(&self) -> Option<(String, String)> {
        let id = self.finished_step.as_ref().filter(|_| self.synthesis_due)?;
        let round = self.synthesis_of(id)?.opened.round.clone();
        let step = self.definition().step(id)?;
        let data = self.disclosed_result(step, self.results.get(id)?);
        let text = ["synthesis", "result"].into_iter().find_map(|key| data[key].as_str());
        // A person's own merge has no note.
        let whole = || step.agent().map(|_| data.to_string());
        Some((round, text.map(str::to_owned).or_else(whole)?))
    }

    pub(crate) fn shown_error(&self, failed: &StepFinished) -> String {
        let error = failed.error.clone().unwrap_or_default();
        let Some(item) = self.items_behind(&failed.step).next() else {
            let round =
                self.last_round_of(&failed.step).filter(|_| !self.not_held.contains_key(&failed.step));
            let why = round.and_then(|round| round.tally.as_ref()?.failure());
            return why.map_or(error, |why| self.shown_reason(&why));
        };
        self.redacted(&item.offered.item, Err(error)).err().unwrap_or_default()
    }

    pub(crate) fn output_of(&self, failed: &StepFinished) -> Option<String> {
        let item = self.items_behind(&failed.step).next()?;
        item.outcome()?.output()
    }

    /// Formats the reason of an undecided round, with the names and order that others see.
    pub(crate) fn shown_reason(&self, reason: &NoDecision) -> String {
        let shown = |blockers: &[String]| {
            let mut blockers = blockers.to_vec();
            if self.pseudonyms().is_some() {
                blockers.sort_by_key(|name| self.shown_at(name));
            }
            blockers.iter().map(|name| self.display_name(name).to_owned()).collect()
        };
        reason.with_blockers(shown).to_string()
    }
}

/// Returns the part of a snapshot without answers. Names in it are the topic and so no leak.
fn own_part(snapshot: &str) -> &str {
    const OF_ANSWERS: [&str; 6] =
        ["open_conflicts", "open_questions", "recent_rounds", "earlier_reasons", "earlier_counts", "context"];
    let keys = OF_ANSWERS.iter().filter_map(|key| snapshot.find(&format!("\n  {key}:")));
    &snapshot[..keys.min().unwrap_or(snapshot.len())]
}

/// Answer, or the reason why it is missing.
type AnswerOrReason = Result<Value, String>;

pub fn seat_answer(seat: &Seat) -> AnswerOrReason {
    seat.content().map(|content| Value::Object(content.clone())).ok_or_else(|| why_rejected(&seat.status))
}

fn said_for(item: &WorkItem) -> AnswerOrReason {
    match item.outcome().map(|back| &**back) {
        Some(WorkItemReturned { error: Some(error), .. }) => Err(error.clone()),
        back => Ok(back.map(|back| back.data.clone()).unwrap_or_default()),
    }
}

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

pub fn fulfilled(id: &str, result: &Value) -> Value {
    json!({ "stepId": id, "status": "fulfilled", "result": result, "error": null })
}

pub fn rejected(id: &str, error: &str) -> Value {
    json!({ "stepId": id, "status": "rejected", "result": null, "error": error })
}

#[cfg(test)]
mod tests {
    use crate::history::PseudonymMap;

    #[test]
    fn pseudonyms_depend_on_the_seed_and_not_on_roster_order() {
        let roster = ["a", "b", "c", "d", "e"];
        let draw = |seed| PseudonymMap::draw(seed, roster.iter().copied());
        assert_eq!(draw(7), draw(7));
        let mut orders: Vec<Vec<String>> =
            (0..40).map(|seed| draw(seed).names.values().cloned().collect()).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort();
            assert_eq!(sorted, (1..=5).map(|n| format!("participant-{n}")).collect::<Vec<_>>());
        }
        orders.sort();
        orders.dedup();
        assert!(orders.len() > 25, "hardly any order differs: {}", orders.len());
        // A seat's pseudonym does not depend on the roster's order.
        assert_eq!(
            draw(7).names["c"],
            PseudonymMap::draw(7, ["c", "e", "a", "d", "b"].into_iter()).names["c"]
        );
        let odd = PseudonymMap::draw(1, ["Participant-1", "voices"].into_iter());
        assert!(odd.names.values().all(|name| name.starts_with("speaker-")), "{odd:?}");
    }
}
