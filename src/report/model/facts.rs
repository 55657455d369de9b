//! The four facts beside a headline, what happens next, and what it cost.

use serde::Serialize;
use serde_json::Value;

use super::{Report, dissent_heading};
use crate::ballot::BallotKind;
use crate::core::Cost;
use crate::history::{AnsweredQuestion, ApprovalGiven, Invitation, SCRIPTED, Session};
use crate::insight::headline::cap;
use crate::insight::independence::independence;
use crate::insight::wording::{capital, resume_verb};
use crate::insight::{
    asked_about, first_names, format_duration, group_digits, join_list, pluralize, scripted,
};
use crate::tally::{Backing, Tier, Ties};
use crate::workflow::{FacilitatorForm, Step, StepKind};

/// "Strength", its word, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    #[serde(skip)]
    pub name: &'static str,
    pub value: String,
    pub note: String,
}

/// What a person was asked, and answered.
#[derive(Debug, Serialize)]
pub struct Approval<'a> {
    pub step: &'a str,
    /// The message; of a decision of the facilitator's own that it is one.
    pub question: &'a str,
    pub message: &'a str,
    pub choices: &'a [String],
    /// "Yes", "No", or the option chosen.
    pub answer: String,
    pub approved: bool,
    pub choice: Option<&'a str>,
    pub edited: Option<&'a Value>,
    /// What was said beside the answer; none where that is blank.
    pub comment: Option<&'a str>,
    pub by: &'a str,
    pub name: Option<&'a str>,
    /// Who it was, for people: "a script", "facilitator", or a name.
    pub approver: String,
    pub at: String,
    /// Why the result is only proposed although the answer is yes.
    pub because: Option<&'static str>,
    #[serde(skip)]
    is_decision: bool,
}

impl Approval<'_> {
    /// "accepted", "rejected" or "proposed": the seats recommend; a person accepts or rejects.
    pub fn status(&self) -> &'static str {
        match self.because {
            _ if !self.approved => "rejected",
            None => "accepted",
            Some(_) => "proposed",
        }
    }
}

/// What a person has yet to answer.
#[derive(Debug, Serialize)]
pub struct Waiting<'a> {
    pub step: &'a str,
    pub message: &'a str,
    /// The ideas, the proposal, or who blocks and until when.
    pub about: Vec<String>,
}

pub fn people_money(cost: &Cost) -> String {
    let dollars = if cost.dollars >= 0.005 {
        format!("${:.2}", cost.dollars)
    } else if cost.dollars > 0.0 {
        "under $0.01".to_owned()
    } else {
        String::new()
    };
    match (dollars.is_empty(), cost.is_unknown) {
        (false, false) => dollars,
        (false, true) => format!("at least {dollars}: not every price is known"),
        (true, true) => "not known".to_owned(),
        (true, false) => "nothing".to_owned(),
    }
}

/// What a session has cost, and how long its rounds were open: "$0.07, 12,345 tokens".
pub fn cost_lines(session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    let spent = session.spent(&|model| session.price(model));
    if spent.is_told() || spent.is_unknown {
        let tokens = group_digits((spent.tokens.input + spent.tokens.output) as usize);
        lines.push(format!("Cost {}, {tokens} tokens", people_money(&spent)));
    }
    let open = session.rounds.iter().filter_map(|round| Some(round.closed_at?.since(round.opened_at)));
    let (open, date): (u64, String) = (open.sum(), session.opened_at.to_string().chars().take(10).collect());
    lines.push(match (session.rounds.len(), open) {
        (0, _) => date,
        (count, ..1000) => format!("{}, {date}", pluralize(count, "round")),
        (count, _) => {
            format!("{} of answering in {}, {date}", format_duration(open), pluralize(count, "round"))
        }
    });
    lines
}

/// How a session stands: "finished, exit code 0".
pub fn status(session: &Session) -> String {
    match &session.closed {
        Some(closed) => format!("{}, exit code {}", closed.status.name(), closed.exit_code),
        None if session.paused.is_some() => "paused".to_owned(),
        None => "not finished".to_owned(),
    }
}

/// What is less certain of remote ballots than their signatures say, a line each.
pub fn remote_notes(session: &Session) -> Vec<String> {
    /// With more seats than this the others are counted.
    const NAMED: usize = 5;
    let named = |seats: &[&str]| {
        let more = seats.len().saturating_sub(NAMED);
        let more = (more > 0).then(|| format!("{more} more"));
        join_list(seats.iter().take(NAMED).map(|seat| (*seat).to_owned()).chain(more))
    };
    let mut notes = Vec::new();
    if !session.sealed_for.is_empty() {
        let seats: Vec<&str> = session.sealed_for.keys().map(String::as_str).collect();
        let ballots = pluralize(session.sealed_for.values().sum(), "ballot");
        notes.push(format!("{ballots} sent as plain text and sealed on arrival: {}", named(&seats)));
    }
    let is_again = |(_, known): &(&String, &Invitation)| known.earlier_keys > 0 && known.key.is_some();
    let again: Vec<&str> = session.invitations.iter().filter(is_again).map(|(seat, _)| &**seat).collect();
    if !again.is_empty() {
        notes.push(format!("Invited again, joined with more than one key: {}", named(&again)));
    }
    notes
}

#[derive(Debug, Serialize)]
pub struct InShort {
    pub question: String,
    /// "YES", "No decision: a and b tie".
    pub name: String,
    #[serde(skip)]
    pub is_made: bool,
    /// "weak, 2 of 3 seats", "dissent: skeptic", "approved by Ana Berg".
    pub facts: Vec<String>,
}

impl<'a> Report<'a> {
    pub fn in_short(&self) -> InShort {
        let [strength, _, _, approval] = self.facts();
        let backing = self.tally.filter(|tally| tally.decided).and_then(|tally| tally.tier_because.as_ref());
        let why = backing.map_or(strength.note, Backing::to_string);
        let mut facts = if self.is_decided() {
            vec![format!("{}: {why}", strength.value.to_lowercase())]
        } else {
            vec![self.made.sentence.trim_end_matches('.').to_owned()]
        };
        facts.retain(|fact| !fact.is_empty());
        let dissent: Vec<&str> = self.dissent().iter().map(|one| one.participant).collect();
        if !dissent.is_empty() {
            let heading = self.run.map_or("Dissent", |run| dissent_heading(run.opened.ballot.kind));
            facts.push(format!("{}: {}", heading.to_lowercase(), first_names(&dissent, 4)));
        }
        if self.approval().is_some() {
            facts.push(format!("{}: {}", approval.value.to_lowercase(), approval.note));
        }
        let question = self.title().lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let name = if self.is_decided() { self.made.name.clone() } else { self.made.label.clone() };
        InShort { question: question.trim().to_owned(), name, is_made: self.is_decided(), facts }
    }

    /// How strong the result is, as three boxes: 0 to 3.
    pub fn boxes(&self) -> usize {
        let decided = self.tally.filter(|tally| tally.decided);
        decided.and_then(|tally| tally.tier).map_or(0, |tier| tier as usize)
    }

    pub fn facts(&self) -> [Fact; 4] {
        [self.strength(), self.quorum(), self.independence(), self.approval_fact()]
    }

    fn strength(&self) -> Fact {
        let fact = |value: &str, note: String| Fact { name: "Strength", value: value.to_owned(), note };
        let decided = self.tally.filter(|tally| tally.decided).and_then(|tally| Some((tally, tally.tier?)));
        let Some((tally, tier)) = decided else {
            let note = if self.is_decided() { "the facilitator decided" } else { "nothing was decided" };
            return fact("None", note.to_owned());
        };
        let kind = self.run.map(|run| run.opened.ballot.kind);
        let note = match (cap(tally), tier, kind) {
            (Some(why), ..) => why.to_string(),
            (None, Tier::Unanimous, _) => "every seat asked".to_owned(),
            (None, Tier::Strong, Some(BallotKind::Estimate)) => "the middle half is close".to_owned(),
            (None, Tier::Weak, Some(BallotKind::Estimate)) => "the middle half is wide".to_owned(),
            (None, Tier::Strong, _) => "three quarters of the seats asked, or more".to_owned(),
            (None, Tier::Weak, _) => "less than three quarters of the seats asked".to_owned(),
            (None, Tier::None, _) => "placeholders voted".to_owned(),
        };
        fact(&capital(tier.name()), note)
    }

    fn quorum(&self) -> Fact {
        let Some(run) = self.run else {
            return Fact { name: "Quorum", value: "–".to_owned(), note: "no round was held".to_owned() };
        };
        let Some(tally) = self.tally else {
            let note =
                format!("{} of {} sealed, {} needed", run.sealed(), run.seats.len(), run.opened.quorum);
            return Fact { name: "Quorum", value: "Not counted yet".to_owned(), note };
        };
        let mut note = format!("{} of {} took part, {} needed", tally.took_part(), tally.asked, tally.quorum);
        if let Some(needed) = tally.quorum_ballots {
            note += &format!("; {}, {needed} needed", pluralize(tally.answered, "ballot"));
        }
        Fact { name: "Quorum", value: if tally.quorum_met { "Met" } else { "Not met" }.to_owned(), note }
    }

    fn independence(&self) -> Fact {
        let name = "Independence";
        let Some(found) = self.run.and_then(|run| independence(self.session, run)) else {
            return Fact { name, value: "–".to_owned(), note: "no answers to compare".to_owned() };
        };
        let mut notes: Vec<String> = Vec::new();
        for seats in &found.same_answers {
            notes.push(format!("the same answer: {}", join_list(seats.iter().take(6))));
        }
        if notes.is_empty() {
            let shared = found.models.values().filter(|seats| seats.len() > 1).count();
            notes.push(match shared {
                0 => "no two seats share a model or an answer".to_owned(),
                1 => "one model has several seats".to_owned(),
                more => format!("{more} models have several seats"),
            });
        }
        Fact { name, value: found.counts(), note: notes.join("; ") }
    }

    /// The answer that adopts or rejects the result, else the facilitator's own decision.
    pub fn approval(&self) -> Option<Approval<'a>> {
        let decided = || self.decision.as_ref().and_then(|made| made.by_person);
        let asked = self.session.approval_of(self.run).or_else(decided)?;
        let because = self.stays_proposed(&asked.given).filter(|_| asked.given.approved);
        Some(Approval { because, ..Approval::from(asked) })
    }

    /// Why a yes does not adopt the result.
    fn stays_proposed(&self, given: &ApprovalGiven) -> Option<&'static str> {
        let written = self.session.definition.as_deref().and_then(|definition| definition.answers.as_ref());
        if !self.mark().is_empty() {
            Some("it is a rehearsal")
        } else if self.run.is_some_and(|run| scripted(self.session, run).0 > 0) {
            Some("a script stood for a model")
        } else if self.run.is_some() && !self.is_decided() {
            Some("nothing was decided")
        } else if given.by == SCRIPTED && written.is_some_and(|written| written.get(&given.step).is_some()) {
            Some("the definition itself approves it")
        } else {
            None
        }
    }

    /// How models that lead concluded: the last accepted conclusion of each discussion, with its id where
    /// there are several.
    pub fn conclusions(&self) -> Vec<(Option<&'a str>, String)> {
        let Some(definition) = self.session.definition.as_deref() else { return Vec::new() };
        let concludes = |step: &Step| {
            let StepKind::Approval(approval) = &step.kind else { return false };
            let proposing = approval.edits.as_ref().and_then(|id| definition.step(id)?.agent());
            proposing.is_some_and(|agent| agent.form == Some(FacilitatorForm::Conclude))
        };
        let line = |step: &'a Step| {
            let said = &self.session.results.get(&step.id)?.data;
            let summary = said["summary"].as_str().filter(|_| said["approved"] == true)?;
            let advice = said["recommendation"].as_str().map(|option| format!("Recommends {option}. "));
            Some((step.key().strip_suffix("-conclude"), advice.unwrap_or_default() + summary))
        };
        let mut found: Vec<_> =
            definition.steps.iter().filter(|step| concludes(step)).filter_map(line).collect();
        if let [(of, _)] = found.as_mut_slice() {
            *of = None;
        }
        found
    }

    pub fn waiting(&self) -> Option<Waiting<'a>> {
        let session = self.session;
        let step = session.step.as_ref().and_then(|step| step.approval.as_ref());
        let asked = step.or(session.exhausted.as_ref()).filter(|asked| asked.given.is_none())?;
        let (step, message) = (&asked.requested.step, &asked.requested.message);
        Some(Waiting { step, message, about: asked_about(session) })
    }

    fn approval_fact(&self) -> Fact {
        let (value, note) = match self.approval() {
            _ if self.waiting().is_some() => ("Waiting".to_owned(), "a person has yet to answer".to_owned()),
            Some(said) => {
                let value = match (said.is_decision, said.approved) {
                    (true, _) => "Decided",
                    (false, true) => "Approved",
                    (false, false) => "Rejected",
                };
                let date: String = said.at.chars().take(10).collect();
                let by = format!("by {}, {date}", said.approver);
                match said.because {
                    Some(why) => ("Proposed".to_owned(), format!("{why}; {} {by}", value.to_lowercase())),
                    None => (value.to_owned(), by),
                }
            }
            None if self.is_decided() && self.mark().is_empty() => {
                ("Not asked for".to_owned(), "recommended by the seats, adopted by nobody yet".to_owned())
            }
            None => ("–".to_owned(), "nothing to approve".to_owned()),
        };
        Fact { name: "Approval", value, note }
    }

    /// What happens next, where no approval says so.
    pub fn next(&self) -> Vec<String> {
        let resume = format!("`roundtable {} {}`", resume_verb(self.session), self.source.name());
        if self.session.closed.is_none() {
            return vec![format!("The session is not finished. Resume it with {resume}.")];
        }
        let Some(tally) = self.tally else { return vec!["Nothing was decided.".to_owned()] };
        if tally.rehearsal {
            return vec!["A rehearsal decides nothing: give each seat a model and ask again.".to_owned()];
        }
        if self.is_decided() {
            return vec!["This is a recommendation. Nobody has adopted it yet.".to_owned()];
        }
        if tally.rule.is_none() {
            return vec!["Nothing was to be decided. The record has every answer in full.".to_owned()];
        }
        if !tally.quorum_met {
            return vec![
                "Too few seats gave a vote; the reasons are above. Then hold the round again.".to_owned(),
            ];
        }
        if !tally.verdict.tie {
            return vec![
                "Ask again with what was said in view, or change the options. Nothing is decided.".to_owned(),
            ];
        }
        let asks = self.run.is_some_and(|run| run.opened.ties == Ties::Ask);
        let who = if asks {
            "A person has to break the tie."
        } else {
            "A person has to break the tie, or a second round."
        };
        let others = format!("`roundtable tally {} --all` shows what other rules find.", self.source.name());
        vec![who.to_owned(), others]
    }
}

impl<'a> From<&'a AnsweredQuestion> for Approval<'a> {
    fn from(asked: &'a AnsweredQuestion) -> Self {
        let given = &asked.given;
        let answer = match asked.decides().or(given.choice.as_deref()) {
            Some(choice) => choice.to_owned(),
            None if given.approved => "Yes".to_owned(),
            None => "No".to_owned(),
        };
        let is_decision = asked.decides().is_some();
        Self {
            step: &given.step,
            question: if is_decision { "The facilitator decides:" } else { &asked.message },
            message: &asked.message,
            choices: &asked.choices,
            answer,
            approved: given.approved,
            choice: given.choice.as_deref(),
            edited: given.edited.as_ref(),
            comment: given.comment.as_deref().filter(|comment| !comment.trim().is_empty()),
            by: &given.by,
            name: given.name.as_deref(),
            approver: given.approver(),
            at: asked.at.to_string(),
            because: None,
            is_decision,
        }
    }
}
