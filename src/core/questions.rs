//! Which rounds ask one question: a session has a decision for each question that was asked for one.
//!
//! Rounds belong together when one revises the other, when they are runs of one step that ask the same text
//! or one that a person amended, and when they are the deciding rounds of one discussion. That their forms
//! look alike says nothing.

use std::collections::HashMap;

use crate::ballot::BallotKind;
use crate::history::{AnsweredQuestion, RoundOpened, RoundRun, Session, round_outcome};
use crate::workflow::{Definition, Step, StepKind};

/// A question that was asked for a decision, with its revealed and open rounds, the earliest first.
#[derive(Debug, Clone)]
pub struct AskedQuestion<'a> {
    pub rounds: Vec<&'a RoundRun>,
    /// The last of its rounds that has a rule.
    pub decides: &'a RoundRun,
}

/// The question as it was first asked with the form of the round that decides; of a proposal as it was asked
/// last, with its amendments.
pub fn question_asked<'a>(rounds: &[&'a RoundRun], decides: &'a RoundRun) -> &'a str {
    let ballot = &decides.opened.ballot;
    let first = rounds.iter().find(|round| round.opened.ballot.is_like(ballot));
    &first.filter(|_| ballot.kind != BallotKind::Consent).unwrap_or(&decides).opened.question
}

/// The questions of a session that have a rule, in the order in which they were first asked.
pub fn questions(session: &Session) -> Vec<AskedQuestion<'_>> {
    let question = |rounds: Vec<_>| {
        let decides = rounds.iter().rfind(|round: &&&RoundRun| round.opened.rule.is_some()).copied()?;
        Some(AskedQuestion { rounds, decides })
    };
    by_question(session).into_iter().filter_map(question).collect()
}

/// The rounds of a question, and the open rounds of its discussion, in their order.
pub fn record_of<'a>(session: &'a Session, rounds: &[&'a RoundRun]) -> Vec<&'a RoundRun> {
    let whole = rounds.iter().find_map(|round| discussion_in(session, round));
    let is_open = |round: &RoundRun| {
        round.opened.rule.is_none() && whole.is_some_and(|whole| is_within(&round.opened.step, whole))
    };
    let is_own = |round: &RoundRun| rounds.iter().any(|own| std::ptr::eq(*own, round));
    session.rounds.iter().filter(|round| is_own(round) || is_open(round)).collect()
}

/// The rounds before this one that ask the same question, the latest first.
pub fn earlier_rounds<'a>(session: &'a Session, round: &RoundRun) -> impl Iterator<Item = &'a RoundRun> {
    let is_it = |other: &&RoundRun| other.opened.round == round.opened.round;
    let all = by_question(session).into_iter().find(|rounds| rounds.iter().any(is_it));
    let mut rounds = all.unwrap_or_default();
    rounds.truncate(rounds.iter().position(is_it).unwrap_or(0));
    rounds.into_iter().rev()
}

/// The rounds of a session, grouped by the question that they ask.
fn by_question(session: &Session) -> Vec<Vec<&RoundRun>> {
    let mut groups: Vec<Vec<&RoundRun>> = Vec::new();
    let mut known: HashMap<QuestionMark<'_>, usize> = HashMap::new();
    for round in &session.rounds {
        let first = sought(session, round).filter_map(|mark| known.get(&mark).copied()).min();
        let at = first.unwrap_or(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(round),
            None => groups.push(vec![round]),
        }
        for mark in marks(session, round) {
            known.entry(mark).and_modify(|group| *group = at.min(*group)).or_insert(at);
        }
    }
    groups
}

/// A round asks again what one before it asked, if it seeks a mark of that one.
#[derive(PartialEq, Eq, Hash)]
enum QuestionMark<'a> {
    Round(&'a str),
    Step(&'a str),
    Question(&'a str, &'a str),
    Discussion(&'a str),
}

fn marks<'a>(session: &'a Session, round: &'a RoundRun) -> impl Iterator<Item = QuestionMark<'a>> {
    let RoundOpened { round: id, step, question, .. } = &*round.opened;
    [QuestionMark::Round(id), QuestionMark::Step(step), QuestionMark::Question(step, question)]
        .into_iter()
        .chain(
            discussion_in(session, round)
                .filter(|_| round.opened.rule.is_some())
                .map(QuestionMark::Discussion),
        )
}

fn sought<'a>(session: &'a Session, round: &'a RoundRun) -> impl Iterator<Item = QuestionMark<'a>> {
    let RoundOpened { step, question, revises, written, rule, .. } = &*round.opened;
    let whole = discussion_in(session, round);
    // A text that no template makes differs only where a person amended it.
    let is_written = written.as_ref().is_some_and(|written| written.question.is_some());
    let of_step = if is_written && whole.is_none() {
        QuestionMark::Question(step, question)
    } else {
        QuestionMark::Step(step)
    };
    let deciding = whole.filter(|_| rule.is_some()).map(QuestionMark::Discussion);
    revises.as_deref().map(QuestionMark::Round).into_iter().chain([of_step]).chain(deciding)
}

fn discussion_in<'a>(session: &'a Session, round: &RoundRun) -> Option<&'a str> {
    session.definition().step(&round.opened.step).and_then(discussion_of)
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

impl AskedQuestion<'_> {
    /// The workflow went another way for want of a decision, and the step that it led to answers for it.
    pub(super) fn is_answered_elsewhere(&self, session: &Session) -> bool {
        let definition = session.definition();
        let step = definition.step(&self.decides.opened.step);
        let Some((step, tally)) = step.zip(self.decides.tally.as_ref()) else { return false };
        let undecided = step.round().and_then(|round| round.on_undecided.as_ref());
        let undecided = undecided.filter(|_| round_outcome(tally).is_undecided());
        let target = undecided.or(step.on_error.as_ref());
        let mut target = target.or_else(|| way_out_of_discussion(definition, step)).map(String::as_str);
        let is_own = |id: &str| self.rounds.iter().any(|round| round.opened.step == id);
        if let Some(own) = target.filter(|target| is_own(target)) {
            target = definition.step(own).and_then(|step| step.on_exhausted.as_deref());
        }
        !tally.decided && target.is_some_and(|target| !is_own(target))
    }
}

/// The facilitator's decision in the place of a round that had used up its step's runs.
pub fn decided_by_person<'a>(session: &'a Session, round: &RoundRun) -> Option<&'a AnsweredQuestion> {
    let step = &round.opened.step;
    let is_last = session.last_round_of(step).is_some_and(|last| std::ptr::eq(last, round));
    session.chosen.get(step).filter(|_| is_last)
}

/// The step that an undecided discussion leads to.
fn way_out_of_discussion<'a>(definition: &'a Definition, step: &Step) -> Option<&'a String> {
    let whole = discussion_of(step)?;
    let end = definition.step(&format!("{whole}-done"))?;
    let StepKind::Condition(end) = &end.kind else { return None };
    end.otherwise.as_ref().filter(|otherwise| Some(*otherwise) != end.then.as_ref())
}
