//! Merging of a round's ideas into options, with a check that none is lost.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::event::{CollectedIdea, IdeasMerged, Merge, MergedOption};
use super::state::{RoundRun, Session};
use crate::ballot::Ballot;
use crate::workflow::{Step, StepKind};

const ID_LENGTH: usize = 40;
const TITLE_LENGTH: usize = 120;

impl RoundRun {
    /// Returns its ideas or findings, in roster and answer order; empty before the reveal.
    pub fn ideas(&self) -> Vec<CollectedIdea> {
        let mut found = Vec::new();
        for answer in self.answers() {
            let texts = answer.ballot.as_ref().map(texts).unwrap_or_default();
            found.extend(texts.into_iter().enumerate().map(|(at, (title, text))| CollectedIdea {
                id: format!("{}#{}", answer.participant, at + 1),
                title,
                text,
            }));
        }
        found
    }
}

fn texts(ballot: &Ballot) -> Vec<(String, String)> {
    match ballot {
        Ballot::Ideas(ideas) => ideas.iter().map(|idea| (idea.title.clone(), idea.text.clone())).collect(),
        Ballot::Findings(found) => {
            let title = |claim: &str| claim.replace('\n', " ").chars().take(TITLE_LENGTH).collect();
            found.iter().map(|one| (title(&one.claim), one.line())).collect()
        }
        Ballot::Position
        | Ballot::Choice(_)
        | Ballot::Approval(_)
        | Ballot::Ranking(_)
        | Ballot::Scores(_)
        | Ballot::Estimate(_)
        | Ballot::Consent(..)
        | Ballot::Abstain => Vec::new(),
    }
}

impl Session {
    /// Returns the closed round whose ideas an approval step merges, if any.
    pub fn round_to_merge(&self, step: &str) -> Option<&RoundRun> {
        let StepKind::Approval(approval) = &self.definition().step(step)?.kind else { return None };
        let round = self.last_round_of(approval.merges.as_deref()?)?;
        round.closed.is_some().then_some(round)
    }

    pub fn is_merged(&self, step: &Step) -> bool {
        let round = self.last_round_of(&step.id);
        round.is_some_and(|round| self.merge_of(&round.opened.round).is_some())
    }

    pub(crate) fn note_merge(&mut self, merged: &IdeasMerged) {
        if let Some(run) = self.run_mut(&merged.step) {
            run.merge = Some(merged.merge.clone());
            self.merges.push(merged.clone());
        }
    }

    pub fn merge_of(&self, round: &str) -> Option<&IdeasMerged> {
        self.merges.iter().rev().find(|merged| merged.round == round)
    }
}

impl Merge {
    pub fn unmerged(ideas: &[CollectedIdea]) -> Self {
        let mut merge = Self::default();
        for idea in ideas {
            let id = merge.free_id(&idea.title);
            let (title, from) = (idea.title.clone(), vec![idea.id.clone()]);
            merge.options.push(MergedOption { id, title, description: Some(idea.text.clone()), from });
        }
        merge
    }

    /// Returns an unused id derived from a title.
    pub fn free_id(&self, title: &str) -> String {
        let id = option_id(title);
        let is_free = |id: &String| self.options.iter().all(|option| option.id != *id);
        let numbered = (2..).map(|number| {
            let stem: String = id.chars().take(ID_LENGTH - 5).collect();
            format!("{}-{number}", stem.trim_end_matches('-'))
        });
        std::iter::once(id.clone()).chain(numbered).find(is_free).unwrap_or(id)
    }

    /// Returns the options for later steps, without their proposers.
    pub fn options_json(&self) -> Value {
        let option = |option: &MergedOption| {
            let mut shown = json!({ "id": option.id, "title": option.title });
            if let Some(description) = &option.description {
                shown["description"] = description.as_str().into();
            }
            shown
        };
        self.options.iter().map(option).collect()
    }

    /// Checks that every idea is placed exactly once and every option has a unique id.
    pub fn check(&self, ideas: &[CollectedIdea]) -> Result<(), String> {
        if self.options.is_empty() {
            return Err("the merge has no option: keep at least one".to_owned());
        }
        let mut ids = HashSet::new();
        for option in &self.options {
            check_option(option)?;
            if !ids.insert(option.id.as_str()) {
                return Err(format!("two options have the id `{}`: give each its own", option.id));
            }
        }
        let mut placed = HashSet::new();
        let from = self.options.iter().flat_map(|option| option.from.iter());
        for id in from.chain(self.set_aside.iter().map(|aside| &aside.idea)) {
            if !ideas.iter().any(|idea| idea.id == *id) {
                return Err(format!("there is no idea `{id}`"));
            }
            if !placed.insert(id.as_str()) {
                return Err(format!("idea `{id}` is placed twice: put it into one option, or set it aside"));
            }
        }
        if let Some(aside) = self.set_aside.iter().find(|aside| aside.reason.trim().is_empty()) {
            return Err(format!("idea `{}` is set aside without a reason", aside.idea));
        }
        match ideas.iter().find(|idea| !placed.contains(idea.id.as_str())) {
            Some(lost) => Err(format!(
                "idea `{}` ({}) is in no option: put it into one, or set it aside with a reason",
                lost.id, lost.title
            )),
            None => Ok(()),
        }
    }
}

fn check_option(option: &MergedOption) -> Result<(), String> {
    let MergedOption { id, title, from, .. } = option;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || id.len() > ID_LENGTH || id.starts_with('-') || !id.chars().all(is_plain) {
        return Err(format!(
            "`{id}` is no id of an option: at most {ID_LENGTH} small letters, digits and `-`"
        ));
    }
    if id == "abstain" {
        return Err("`abstain` is always possible and is no option".to_owned());
    }
    if title.trim().is_empty() || title.chars().count() > TITLE_LENGTH || title.contains('\n') {
        return Err(format!("option `{id}` needs a title of one line, at most {TITLE_LENGTH} characters"));
    }
    if from.is_empty() { Err(format!("option `{id}` contains no idea")) } else { Ok(()) }
}

/// Derives an id from a title: ASCII letters and digits in lower case, `-` between words.
pub fn option_id(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let id = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let id: String = id.chars().take(ID_LENGTH).collect();
    let id = id.trim_end_matches('-');
    if id.is_empty() || id == "abstain" { "option".to_owned() } else { id.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::event::SkippedIdea;

    fn idea(id: &str, title: &str) -> CollectedIdea {
        CollectedIdea { id: id.to_owned(), title: title.to_owned(), text: "It works.".to_owned() }
    }

    fn option(id: &str, from: &[&str]) -> MergedOption {
        let from = from.iter().map(|id| (*id).to_owned()).collect();
        MergedOption { id: id.to_owned(), title: "A title".to_owned(), description: None, from }
    }

    #[test]
    fn every_idea_has_one_place() {
        let ideas = [idea("a#1", "Queue"), idea("a#2", "Cache"), idea("b#1", "queue")];
        let aside =
            |idea: &str, reason: &str| SkippedIdea { idea: idea.to_owned(), reason: reason.to_owned() };
        let check = |options: Vec<MergedOption>, set_aside: Vec<SkippedIdea>| {
            Merge { options, set_aside }.check(&ideas).err().unwrap_or_default()
        };
        assert_eq!(check(vec![option("queue", &["a#1", "b#1"]), option("cache", &["a#2"])], vec![]), "");
        assert_eq!(check(vec![option("queue", &["a#1", "b#1"])], vec![aside("a#2", "later")]), "");
        let lost = check(vec![option("queue", &["a#1", "b#1"])], vec![]);
        assert!(lost.contains("`a#2` (Cache) is in no option"), "{lost}");
        let cases = [
            (vec![option("queue", &["a#1", "b#1", "a#2"]), option("x", &["a#2"])], "`a#2` is placed twice"),
            (vec![option("queue", &["a#1", "b#1", "c#1"])], "no idea `c#1`"),
            (vec![option("queue", &["a#1"]), option("queue", &["b#1"])], "two options have the id `queue`"),
            (vec![option("Queue", &["a#1"])], "`Queue` is no id"),
            (vec![option("abstain", &["a#1"])], "is no option"),
            (vec![option("queue", &[])], "contains no idea"),
            (vec![], "has no option"),
        ];
        for (options, wanted) in cases {
            let said = check(options, vec![]);
            assert!(said.contains(wanted), "{said}");
        }
        let silent = check(vec![option("queue", &["a#1", "b#1"])], vec![aside("a#2", " ")]);
        assert!(silent.contains("without a reason"), "{silent}");
    }

    #[test]
    fn unmerged_ideas_are_options_with_unique_ids() {
        let ideas = [idea("a#1", "A queue!"), idea("b#1", "a queue"), idea("c#1", "…"), idea("d#1", "—")];
        let merge = Merge::unmerged(&ideas);
        let ids: Vec<&str> = merge.options.iter().map(|option| option.id.as_str()).collect();
        assert_eq!(ids, ["a-queue", "a-queue-2", "option", "option-2"]);
        assert_eq!(merge.check(&ideas), Ok(()));
        assert_eq!(option_id(&"long ".repeat(20)).len(), 39);
    }
}
