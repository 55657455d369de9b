//! Grouping of rounds by question; each question with a rule has one decision.
//!
//! Rounds share a question if one revises the other, or if they decide one discussion. Runs of one step
//! share it if their text is the same or amended. A similar ballot form alone does not link rounds.

use std::collections::HashMap;

use crate::ballot::BallotKind;
use crate::history::{AnsweredQuestion, RoundOpened, RoundRun, Session, round_outcome};
use crate::workflow::{Definition, Step, StepKind};

/// Question with a rule, and its closed and open rounds, earliest first.
#[derive(Debug, Clone)]
pub struct AskedQuestion<'a> {
    pub rounds: Vec<&'a RoundRun>,
    /// Last of its rounds that has a rule.
    pub decides: &'a RoundRun,
}

/// Returns the question as first asked with the deciding round's ballot form; for a consent proposal, as
/// last amended.
pub fn question_asked<'a>(rounds: &[&'a RoundRun], decides: &'a RoundRun) -> &'a str {
    let ballot = &decides.opened.ballot;
    let first = rounds.iter().find(|round| round.opened.ballot.is_like(ballot));
    &first.filter(|_| ballot.kind != BallotKind::Consent).unwrap_or(&decides).opened.question
}

/// Returns the questions of a session that have a rule, in the order of their first round.
pub fn questions(session: &Session) -> Vec<AskedQuestion<'_>> {
    let question = |rounds: Vec<_>| {
        let decides = rounds.iter().rfind(|round: &&&RoundRun| round.opened.rule.is_some()).copied()?;
        Some(AskedQuestion { rounds, decides })
    };
    by_question(session).into_iter().filter_map(question).collect()
}

/// Returns the rounds of a question and the rounds without a rule of its discussion, in order.
pub fn record_of<'a>(session: &'a Session, rounds: &[&'a RoundRun]) -> Vec<&'a RoundRun> {
    let whole = rounds.iter().find_map(|round| discussion_in(session, round));
    let is_open = |round: &RoundRun| {
        round.opened.rule.is_none() && whole.is_some_and(|whole| is_within(&round.opened.step, whole))
    };
    let is_own = |round: &RoundRun| rounds.iter().any(|own| std::ptr::eq(*own, round));
    session.rounds.iter().filter(|round| is_own(round) || is_open(round)).collect()
}

/// Returns the earlier rounds of the same question, latest first.
pub fn earlier_rounds<'a>(session: &'a Session, round: &RoundRun) -> impl Iterator<Item = &'a RoundRun> {
    let is_it = |other: &&RoundRun| other.opened.round == round.opened.round;
    let all = by_question(session).into_iter().find(|rounds| rounds.iter().any(is_it));
    let mut rounds = all.unwrap_or_default();
    rounds.truncate(rounds.iter().position(is_it).unwrap_or(0));
    rounds.into_iter().rev()
}

fn by_question(session: &Session) -> Vec<Vec<&RoundRun>> {
    let mut groups: Vec<Vec<&RoundRun>> = Vec::new();
    let mut known: HashMap<QuestionMark<'_>, usize> = HashMap::new();
    for round in &session.rounds {
        let first = sought_marks(session, round).filter_map(|mark| known.get(&mark).copied()).min();
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

/// Mark of a round; a later round joins the first group with a mark that [`sought_marks`] returns.
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

fn sought_marks<'a>(session: &'a Session, round: &'a RoundRun) -> impl Iterator<Item = QuestionMark<'a>> {
    let RoundOpened { step, question, revises, written, rule, .. } = &*round.opened;
    let whole = discussion_in(session, round);
    // A question without a template changes only if a person amends it.
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

/// Returns the id of the discussion that a deciding round belongs to: the key of its result.
pub fn discussion_of(step: &Step) -> Option<&str> {
    let output = step.output.as_deref()?;
    (step.round().is_some() && is_within(&step.id, output)).then_some(output)
}

pub fn is_within(step: &str, whole: &str) -> bool {
    step.strip_prefix(whole).is_some_and(|rest| rest.starts_with('-'))
}

impl AskedQuestion<'_> {
    /// Returns whether the undecided question has a route to another step, whose result then counts instead.
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

/// Returns the facilitator's decision that replaces a round of a step at `max_runs`.
pub fn decided_by_person<'a>(session: &'a Session, round: &RoundRun) -> Option<&'a AnsweredQuestion> {
    let step = &round.opened.step;
    let is_last = session.last_round_of(step).is_some_and(|last| std::ptr::eq(last, round));
    session.chosen.get(step).filter(|_| is_last)
}

/// Returns the step after an undecided discussion.
fn way_out_of_discussion<'a>(definition: &'a Definition, step: &Step) -> Option<&'a String> {
    let whole = discussion_of(step)?;
    let end = definition.step(&format!("{whole}-done"))?;
    if let StepKind::Condition(end) = &end.kind { end.otherwise.as_ref() } else { None }
}
