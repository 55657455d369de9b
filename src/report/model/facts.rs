//! Facts below a headline, the next step, cost and duration.

use serde::Serialize;

use super::question::QuestionRounds;
use crate::core::Cost;
use crate::history::{
    AnsweredQuestion, ApprovalGiven, RoundOutcome, RoundRun, Session, Timestamp, round_outcome,
};
use crate::insight::wording::{capital, resume_verb};
use crate::insight::{asked_about, format_duration, group_digits, independence, pluralize, scripted, tally};
use crate::tally::{Backing, Tier};
use crate::workflow::{FacilitatorForm, Step, StepKind};

/// Short value, such as the strength, and its explanation.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    pub value: String,
    pub note: String,
}

impl Fact {
    fn new(value: impl Into<String>, note: impl Into<String>) -> Self {
        Self { value: value.into(), note: note.into() }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Facts {
    /// Strength as a number of boxes, 0 to 3.
    pub boxes: usize,
    pub strength: Fact,
    pub quorum: Fact,
    pub independence: Fact,
    pub approval: Fact,
}

/// Question to a person, and the answer.
#[derive(Debug, Serialize)]
pub struct ApprovalFacts<'a> {
    #[serde(flatten)]
    pub given: &'a ApprovalGiven,
    /// Message, or the fact that the facilitator decides.
    pub question: &'a str,
    pub message: &'a str,
    pub choices: &'a [String],
    /// "Yes", "No", or the chosen option.
    pub answer: &'a str,
    /// Approver, for people: "a script", "facilitator" or a name.
    pub approver: String,
    pub at: Timestamp,
    /// Reason why the result stays proposed despite a yes.
    pub because: Option<&'static str>,
    #[serde(skip)]
    pub is_decision: bool,
}

/// Question that a person has not answered yet.
#[derive(Debug, Serialize)]
pub struct Waiting<'a> {
    pub step: &'a str,
    pub message: &'a str,
    /// Ideas, a proposal, or the blocks with their conditions.
    pub about: Vec<String>,
}

/// Formats a date: "2026-11-21".
pub fn date(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

pub fn people_money(cost: &Cost) -> String {
    let dollars = match cost.dollars {
        0.005.. => format!("${:.2}", cost.dollars),
        some if some >= 0.00005 && cost.is_unknown => format!("${some:.4}"),
        some if some > 0.0 && !cost.is_unknown => "under $0.01".to_owned(),
        _ => return if cost.is_unknown { "not known" } else { "nothing" }.to_owned(),
    };
    if cost.is_unknown { format!("at least {dollars}: not every cost is known") } else { dollars }
}

/// Returns the cost of the session and the total time its rounds were open: "$0.07, 12,345 tokens".
pub fn cost_lines(session: &Session, spent: &Cost) -> Vec<String> {
    let mut lines = Vec::new();
    if spent.has_usage() || spent.is_unknown {
        let tokens = group_digits((spent.tokens.input + spent.tokens.output) as usize);
        lines.push(format!("Cost {}, {tokens} tokens", people_money(spent)));
    }
    let open = session.rounds.iter().filter_map(|round| Some(round.closed_at?.since(round.opened_at)));
    let (open, date): (u64, String) = (open.sum(), date(session.opened_at));
    lines.push(match (session.rounds.len(), open) {
        (0, _) => date,
        (count, ..1000) => format!("{}, {date}", pluralize(count, "round")),
        (count, _) => {
            format!("{} of answering in {}, {date}", format_duration(open), pluralize(count, "round"))
        }
    });
    lines
}

/// Compares the participation in a round with its quorum.
pub fn quorum(run: &RoundRun) -> Fact {
    let Some(tally) = tally(run) else {
        let note = format!("{} of {} sealed, {} needed", run.sealed(), run.seats.len(), run.opened.quorum);
        return Fact::new("Not counted yet", note);
    };
    let note = format!("{} of {} took part, {} needed", tally.took_part(), tally.asked, tally.quorum);
    Fact::new(if tally.quorum_met { "Met" } else { "Not met" }, note)
}

impl<'a> QuestionRounds<'a> {
    pub fn facts(&self) -> Facts {
        let counted = self.tally.filter(|tally| tally.decided || tally.tier_because.is_some());
        let tier = counted.and_then(|tally| tally.tier);
        Facts {
            boxes: tier.map_or(0, |tier| tier as usize),
            strength: self.strength(tier),
            quorum: self.run.map_or_else(|| Fact::new("–", "no round was held"), quorum),
            independence: self.independence(),
            approval: self.approval_fact(),
        }
    }

    fn strength(&self, tier: Option<Tier>) -> Fact {
        let Some(tier) = tier else {
            let note = if self.is_decided() { "the facilitator decided" } else { "nothing was decided" };
            return Fact::new("None", note);
        };
        let because = self.tally.and_then(|tally| tally.tier_because.as_ref());
        Fact::new(capital(tier.name()), because.map_or("placeholders voted".to_owned(), Backing::to_string))
    }

    fn independence(&self) -> Fact {
        let Some(found) = self.run.and_then(|run| independence(self.session, run)) else {
            return Fact::new("–", "no answers to compare");
        };
        let note = Some(found.notes().join("; ")).filter(|note| !note.is_empty());
        let nothing_shared = || "no two seats share a model or an answer".to_owned();
        Fact::new(found.counts(), note.unwrap_or_else(nothing_shared))
    }

    /// Returns the answer that adopts or rejects the result, else the facilitator's own decision.
    pub fn approval(&self) -> Option<ApprovalFacts<'a>> {
        let asked = self.session.approval_of(self.run).or(self.by_person)?;
        let because = self.stays_proposed(&asked.given).filter(|_| asked.given.approved);
        Some(ApprovalFacts { because, ..ApprovalFacts::from(asked) })
    }

    /// Returns why a yes does not adopt the result.
    fn stays_proposed(&self, given: &ApprovalGiven) -> Option<&'static str> {
        if !self.mark().is_empty() {
            Some("it is a rehearsal")
        } else if self.run.is_some() && !self.is_decided() {
            Some("nothing was decided")
        } else if self.run.is_some_and(|run| scripted(self.session, run).0 > 0) {
            Some("a script stood for a model")
        } else if given.is_of_definition() {
            Some("the definition itself approves it")
        } else {
            None
        }
    }

    fn approval_fact(&self) -> Fact {
        let Some(said) = self.approval() else {
            return if self.waits() {
                Fact::new("Waiting", "a person has yet to answer")
            } else if self.is_decided() && self.mark().is_empty() {
                Fact::new("Not asked for", "recommended by the seats, adopted by nobody yet")
            } else {
                Fact::new("–", "nothing to approve")
            };
        };
        let value = match (said.is_decision, said.given.approved) {
            (true, _) => "Decided",
            (false, true) => "Approved",
            (false, false) => "Rejected",
        };
        let by = format!("by {}, {}", said.approver, date(said.at));
        match said.because {
            Some(why) => Fact::new("Proposed", format!("{why}; {} {by}", value.to_lowercase())),
            None => Fact::new(value, by),
        }
    }

    /// Returns whether a person still has to answer a question that may adopt the result.
    fn waits(&self) -> bool {
        let Some(waiting) = waiting(self.session) else { return false };
        let step = self.session.definition().step(waiting.step).map(|step| &step.kind);
        let Some(StepKind::Approval(approval)) = step else { return true };
        approval.adopts.is_none() || approval.adopts(self.run.map(|run| run.opened.step.as_str()))
    }

    /// Describes the next step if no approval settles it. `file` is the name of the session's file.
    pub fn next(&self, file: &str) -> String {
        if self.session.closed.is_none() {
            let verb = resume_verb(self.session);
            return format!("The session is not finished. Resume it with `roundtable {verb} {file}`.");
        }
        let said = match self.tally {
            None => "Nothing was decided.",
            Some(tally) if tally.rehearsal => {
                "A rehearsal decides nothing: give each seat a model and ask again."
            }
            Some(_) if self.is_decided() => "This is a recommendation. Nobody has adopted it yet.",
            Some(tally) if tally.rule.is_none() => {
                "Nothing was to be decided. The record has every answer in full."
            }
            Some(tally) if !tally.quorum_met => {
                "Too few seats gave a vote; the record says why of each. Then hold the round again."
            }
            Some(tally) if tally.verdict.tie => {
                let other = format!("`roundtable tally {file} --all` shows what other rules find.");
                return format!("A person has to break the tie, or a second round. {other}");
            }
            Some(_) => "Ask again with what was said in view, or change the options. Nothing is decided.",
        };
        said.to_owned()
    }
}

/// Returns the last accepted conclusion of each discussion led by a model; with its id if there are several.
pub fn conclusions(session: &Session) -> Vec<(Option<&str>, String)> {
    let definition = session.definition();
    let concludes = |step: &Step| {
        let StepKind::Approval(approval) = &step.kind else { return false };
        let proposing = approval.edits.as_ref().and_then(|id| definition.step(id)?.agent());
        proposing.is_some_and(|agent| agent.form == Some(FacilitatorForm::Conclude))
    };
    let mut found = Vec::new();
    for step in definition.steps.iter().filter(|step| concludes(step)) {
        let Some(said) = session.results.get(&step.id).map(|result| &result.data) else { continue };
        let is_end = said["approved"] == true && said["action"] != "repeat";
        if let Some(summary) = said["summary"].as_str().filter(|_| is_end) {
            let advice = said["recommendation"].as_str().map(|option| format!("Recommends {option}. "));
            found.push((step.key().strip_suffix("-conclude"), advice.unwrap_or_default() + summary));
        }
    }
    if let [(of, _)] = found.as_mut_slice() {
        *of = None;
    }
    found
}

pub fn waiting(session: &Session) -> Option<Waiting<'_>> {
    let step = session.asked().next().and_then(|step| step.approval.as_ref());
    let asked = step.or(session.exhausted.as_ref()).filter(|asked| asked.given.is_none())?;
    let (step, message) = (&asked.requested.step, &asked.requested.message);
    Some(Waiting { step, message, about: asked_about(session) })
}

impl<'a> ApprovalFacts<'a> {
    /// Creates the entry for the list of all answers, with a note if it adopts a round without a decision.
    pub fn new(asked: &'a AnsweredQuestion, session: &Session) -> Self {
        let mut counted = session.rounds.iter().filter(|run| run.tally.is_some());
        let last = asked.counted.checked_sub(1).and_then(|at| counted.nth(at));
        // A comment on a blocked proposal amends it, so it will be voted on again.
        let is_amended = asked.given.comment.is_some();
        let is_undecided = last.and_then(|run| run.tally.as_ref()).is_some_and(|tally| {
            !(tally.decided || is_amended && round_outcome(tally) == RoundOutcome::Blocked)
        });
        let is_about = last.is_some_and(|run| session.approval_of(Some(run)) == Some(asked));
        let because = (is_undecided && is_about && asked.given.approved).then_some("nothing was decided");
        Self { because, ..Self::from(asked) }
    }
}

impl<'a> From<&'a AnsweredQuestion> for ApprovalFacts<'a> {
    fn from(asked: &'a AnsweredQuestion) -> Self {
        let AnsweredQuestion { given, message, choices, at, .. } = asked;
        let is_decision = asked.decides().is_some();
        Self {
            given,
            question: if is_decision { "The facilitator decides:" } else { message },
            message,
            choices,
            answer: match asked.decides().or(given.choice.as_deref()) {
                Some(choice) => choice,
                None if given.approved => "Yes",
                None => "No",
            },
            approver: given.approver(),
            at: *at,
            because: None,
            is_decision,
        }
    }
}
