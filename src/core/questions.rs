//! Which rounds ask one question: a session has a decision for each question that was asked for one.
//!
//! Rounds belong together when one revises the other, when they are runs of one step that ask the same text
//! or one that a person amended, and when they are the deciding rounds of one discussion. That their forms
//! look alike says nothing.

use crate::history::{AnsweredQuestion, RoundRun, Session, round_outcome};
use crate::workflow::{Definition, Step, StepKind};

/// A question that was asked for a decision, with its revealed and open rounds, the earliest first.
#[derive(Debug, Clone)]
pub struct AskedQuestion<'a> {
    pub rounds: Vec<&'a RoundRun>,
    /// The last of its rounds that has a rule.
    pub decides: &'a RoundRun,
}

/// The questions of a session that have a rule, in the order in which they were first asked.
pub fn questions(session: &Session) -> Vec<AskedQuestion<'_>> {
    let mut groups: Vec<Vec<&RoundRun>> = Vec::new();
    for round in &session.rounds {
        let is_same =
            |group: &&mut Vec<&RoundRun>| group.iter().any(|before| asks_again(session, before, round));
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(round),
            None => groups.push(vec![round]),
        }
    }
    let question = |rounds: Vec<_>| {
        let decides = rounds.iter().rfind(|round: &&&RoundRun| round.opened.rule.is_some()).copied()?;
        Some(AskedQuestion { rounds, decides })
    };
    groups.into_iter().filter_map(question).collect()
}

/// The rounds before this one that ask the same question, the earliest first.
pub fn earlier_rounds<'a>(session: &'a Session, round: &RoundRun) -> Vec<&'a RoundRun> {
    let mut found = vec![round];
    let at = session.rounds.iter().position(|other| other.opened.round == round.opened.round).unwrap_or(0);
    let mut earlier = Vec::new();
    for other in session.rounds[..at].iter().rev() {
        if found.iter().any(|later| asks_again(session, other, later)) {
            found.push(other);
            earlier.push(other);
        }
    }
    earlier.reverse();
    earlier
}

/// Whether `round` asks again what `before` asked.
fn asks_again(session: &Session, before: &RoundRun, round: &RoundRun) -> bool {
    let (before, round) = (&before.opened, &round.opened);
    if round.revises.as_ref() == Some(&before.round) {
        return true;
    }
    let Some(definition) = session.definition.as_deref() else { return false };
    let discussion = |step: &str| definition.step(step).and_then(discussion_of);
    let of_one = discussion(&round.step).is_some_and(|whole| discussion(&before.step) == Some(whole));
    if before.step != round.step {
        return of_one && before.rule.is_some() && round.rule.is_some();
    }
    // A text that no template makes differs only where a person amended it.
    let is_written = round.written.as_ref().is_some_and(|written| written.question.is_some());
    of_one || before.question == round.question || !is_written
}

/// The id of the discussion, or of the item of its agenda, that a deciding round belongs to: its result has
/// that name.
pub fn discussion_of(step: &Step) -> Option<&str> {
    let output = step.output.as_deref()?;
    (step.round().is_some() && is_within(&step.id, output)).then_some(output)
}

pub fn is_within(step: &str, whole: &str) -> bool {
    step.strip_prefix(whole).is_some_and(|rest| rest.starts_with('-'))
}

impl<'a> AskedQuestion<'a> {
    /// What the facilitator decided, where its rounds had used up their runs.
    pub fn by_person(&self, session: &'a Session) -> Option<&'a AnsweredQuestion> {
        let step = &self.decides.opened.step;
        let is_last = session.last_round_of(step).is_some_and(|last| std::ptr::eq(last, self.decides));
        session.chosen.get(step).filter(|_| is_last)
    }

    /// Whether the workflow went another way for want of a decision: the step that it led to answers for it.
    pub(super) fn is_answered_elsewhere(&self, session: &Session) -> bool {
        let Some(definition) = session.definition.as_deref() else { return false };
        let (Some(step), Some(tally)) = (definition.step(&self.decides.opened.step), &self.decides.tally)
        else {
            return false;
        };
        let outcome = round_outcome(tally);
        let of_round =
            step.on_undecided.as_ref().filter(|_| outcome.is_undecided()).or(step.on_error.as_ref());
        let mut target = of_round.or_else(|| way_out_of_discussion(definition, step)).map(String::as_str);
        let is_own = |id: &str| self.rounds.iter().any(|round| round.opened.step == id);
        if let Some(own) = target.filter(|target| is_own(target)) {
            target = definition.step(own).and_then(|step| step.on_exhausted.as_deref());
        }
        !tally.decided && target.is_some_and(|target| !is_own(target))
    }
}

/// Where a discussion leads that comes to no decision, if the definition says so.
fn way_out_of_discussion<'a>(definition: &'a Definition, step: &Step) -> Option<&'a String> {
    let whole = discussion_of(step)?;
    let end = definition.step(&format!("{whole}-done"))?;
    let StepKind::Condition(end) = &end.kind else { return None };
    end.otherwise.as_ref().filter(|otherwise| Some(*otherwise) != end.then.as_ref())
}
