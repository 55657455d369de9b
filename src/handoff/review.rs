//! Artifacts for later agents, and work items of reviews.
//!
//! A reviewer is never the author, and sees the author's tag instead of the name.

use serde_json::{Map, Value};

use super::work_item_input::WorkItemDraft;
use crate::history::{PreviousArtifact, ReviewContext, ReviewRecorded, Session, StepArtifact, StepRun};
use crate::round::material::Artifact;
use crate::workflow::{Review, Step};

const NO_TAG: &str = "participant";

struct ReviewedArtifact<'a> {
    artifact: PreviousArtifact,
    authors: Vec<&'a str>,
}

impl Session {
    /// Returns the artifacts of earlier steps, `inline` with their content, except those of the running step.
    pub fn previous_artifacts(&self, inline: bool) -> Vec<PreviousArtifact> {
        let running: Vec<&String> =
            self.step.iter().flat_map(StepRun::all).flat_map(|run| &run.items).collect();
        let earlier = self.made_in_order().filter(|made| !running.iter().any(|item| *item == made.item()));
        earlier.map(|made| self.referenced_artifact(made, inline)).collect()
    }

    pub fn made_in_order(&self) -> impl Iterator<Item = &StepArtifact> {
        self.definition().all_steps().filter_map(|step| self.made.get(step.made_id()))
    }

    pub fn reviews_in_order(&self) -> impl Iterator<Item = &ReviewRecorded> {
        self.items.keys().filter_map(|item| self.reviews.iter().find(|review| review.item == *item))
    }

    fn referenced_artifact(&self, made: &StepArtifact, inline: bool) -> PreviousArtifact {
        PreviousArtifact {
            artifact_id: made.id().to_owned(),
            version: made.recorded.version.unwrap_or(1),
            kind: made.recorded.kind.clone().unwrap_or_default(),
            stage: made.recorded.stage.clone().unwrap_or_default(),
            created_at: made.at,
            content: inline.then(|| {
                self.items.get(made.item()).and_then(|item| self.redacted_item(item).ok()).unwrap_or_default()
            }),
        }
    }

    /// Returns the first two tags of an author, or else of its persona, sorted; or `participant`.
    fn author_tag(&self, author: &str) -> String {
        let seat = self.seat_info(author);
        let persona = seat.and_then(|seat| self.persona(&seat.persona)).map(|persona| &persona.tags);
        let own = seat.map(|seat| &seat.tags).filter(|tags| !tags.is_empty());
        let mut tags: Vec<&str> = own.or(persona).into_iter().flatten().take(2).map(String::as_str).collect();
        tags.sort_unstable();
        if tags.is_empty() { NO_TAG.to_owned() } else { tags.join(" / ") }
    }

    /// Returns one work item for each reviewed artifact and each reviewer who is not its author.
    pub(crate) fn reviews(&self, step: &Step, review: &Review) -> Result<Vec<WorkItemDraft>, String> {
        let reviewed = self.reviewed_artifacts(&review.of);
        let mut drafts = Vec::new();
        for target in &reviewed {
            let reviewers = self.definition().reviewers(review).into_iter();
            for reviewer in reviewers.filter(|name| !target.authors.contains(name)) {
                let context = ReviewContext {
                    target_artifact_id: target.artifact.artifact_id.clone(),
                    target_author_tag: match target.authors[..] {
                        [author] => self.author_tag(author),
                        _ => NO_TAG.to_owned(),
                    },
                    review_criteria: review.criteria.clone(),
                };
                let input = self.review_input(step, target, &context, reviewer)?;
                drafts.push(self.draft_work_item(step, reviewer, input, Some(context))?);
            }
        }
        match (reviewed.is_empty(), drafts.is_empty()) {
            (true, _) => Err(format!("step `{}` has made nothing to review", review.of)),
            (_, true) => Err(format!("nobody but the author is there to review `{}`", review.of)),
            _ => Ok(drafts),
        }
    }

    /// Returns the artifacts under a name: of a step and the steps inside it, or one of the definition.
    fn reviewed_artifacts<'a>(&'a self, of: &str) -> Vec<ReviewedArtifact<'a>> {
        let definition = self.definition();
        let Some(step) = definition.step(of) else {
            let found = definition.artifacts.iter().find(|artifact| artifact.id == of);
            return found.map(|artifact| self.definition_artifact(artifact)).into_iter().collect();
        };
        let all = step.all().into_iter();
        all.filter_map(|step| {
            if step.round().is_some() {
                return self.round_artifact(step);
            }
            let made = self.made.get(step.made_id())?;
            let is_own = made.recorded.step.as_ref() == Some(&step.id);
            let (artifact, authors) = (self.referenced_artifact(made, true), vec![&*made.recorded.by]);
            is_own.then_some(ReviewedArtifact { artifact, authors })
        })
        .collect()
    }

    fn definition_artifact(&self, artifact: &Artifact) -> ReviewedArtifact<'_> {
        let kind = artifact.detail("kind").and_then(Value::as_str).unwrap_or("artifact");
        let artifact = PreviousArtifact {
            artifact_id: artifact.id.clone(),
            version: 1,
            kind: kind.to_owned(),
            stage: String::new(),
            created_at: self.opened_at,
            content: Some(artifact.to_json()),
        };
        ReviewedArtifact { artifact, authors: Vec::new() }
    }

    fn round_artifact(&self, step: &Step) -> Option<ReviewedArtifact<'_>> {
        let round = self.last_round_of(&step.id)?;
        let artifact = PreviousArtifact {
            artifact_id: step.key().to_owned(),
            version: self.runs.get(&step.id).copied().unwrap_or(1),
            kind: "round".to_owned(),
            stage: step.label.as_deref().unwrap_or(&step.id).to_owned(),
            created_at: round.closed_at?,
            content: self.context_value(step, self.results.get(&step.id)?),
        };
        Some(ReviewedArtifact { artifact, authors: round.seats.keys().map(String::as_str).collect() })
    }

    /// Returns a review's input. A reviewer with tools gets the artifact without its content.
    fn review_input(
        &self,
        step: &Step,
        target: &ReviewedArtifact<'_>,
        context: &ReviewContext,
        reviewer: &str,
    ) -> Result<Map<String, Value>, String> {
        let has_tools = self.seat_info(reviewer).is_some_and(|seat| !seat.skills.is_empty());
        let mut artifact = target.artifact.clone();
        artifact.content = artifact.content.filter(|_| !has_tools);
        let mut input = Map::new();
        for (key, value) in self.input_of(step)? {
            if key == "context" {
                input.insert("review_context".to_owned(), serde_json::to_value(context).unwrap_or_default());
                input.insert("artifact".to_owned(), serde_json::to_value(&artifact).unwrap_or_default());
            }
            input.insert(key, value);
        }
        Ok(input)
    }
}
