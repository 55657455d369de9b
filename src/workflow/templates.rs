//! What a facilitator writes as templates beside prompts: questions, explorations, options, messages of
//! approvals, directives. Here they are found and checked; `handoff` renders them.
//!
//! Whatever such a template may name is there before its step begins: results of steps that are over,
//! and the definition. So none can reach into a round that is open.

use super::definition::Definition;
use super::envelope::unknown_path;
use super::lang::{Template, Transform};
use super::steps::step::{Step, StepKind};
use crate::diagnostic::{Diagnostic, did_you_mean};

/// Names that a template of a round, an approval or a directive sees in addition to its step's `input`.
pub const SCOPE: [&str; 8] =
    ["input", "context", "error", "goal", "constraints", "project_summary", "artifacts", "agenda"];

impl Step {
    /// Every text of it that may hold a template, prompts apart, with what it is.
    pub fn written(&self) -> Vec<(&'static str, &str)> {
        let mut texts = vec![("`facilitator_directive`", self.facilitator_directive.as_ref())];
        if let StepKind::Approval(approval) = &self.kind {
            texts.push(("`message`", Some(&approval.message)));
        } else if let StepKind::Round(round) = &self.kind {
            texts.extend([
                ("`question`", Some(&round.question)),
                ("`exploration`", round.exploration.as_ref()),
            ]);
            texts.extend(round.ballot.options.iter().map(|option| ("an option", Some(option))));
            texts.extend(round.directives.values().map(|text| ("a line of `directives`", Some(text))));
            for about in round.ballot.about.values() {
                texts.push(("an option's `title`", about.title.as_ref()));
                texts.push(("an option's `description`", about.description.as_ref()));
            }
        }
        texts.into_iter().filter_map(|(what, text)| Some((what, text?.as_str()))).collect()
    }
}

/// Adds a problem for every template that cannot be read or names what is never there.
pub fn check(definition: &Definition, file: &str, problems: &mut Vec<Diagnostic>) {
    for step in definition.all_steps() {
        let at = |message: String| Diagnostic::new(message).at(file, step.place.0, step.place.1);
        let directive = definition.facilitator_directive.as_deref().filter(|_| step.asks_seats());
        let directive = directive.map(|text| ("`facilitator_directive`", text));
        for (what, text) in step.written().into_iter().chain(directive) {
            if !Template::is_one(text) {
                continue;
            }
            match Template::parse(text) {
                Err(error) => {
                    let hint = error.hint.clone().unwrap_or_else(|| "write `\\{{` for two braces".to_owned());
                    problems
                        .push(at(format!("{what} of step `{}` is no template: {error}", step.id)).hint(hint));
                }
                Ok(template) => {
                    let unknown = template.paths().into_iter().find_map(|path| {
                        let hint = unknown_name(definition, step, path)?;
                        Some((path.join("."), hint))
                    });
                    problems.extend(unknown.map(|(path, hint)| {
                        at(format!("{what} of step `{}` names nothing: `{path}`", step.id)).hint(hint)
                    }));
                }
            }
        }
        if let Some(from) = step.round().and_then(|round| round.options_from.as_ref()) {
            let unknown = unknown_source(definition, step, &from.transform);
            problems.extend(unknown.map(|(path, hint)| {
                at(format!("`options` of step `{}` come from nothing: `{path}`", step.id)).hint(hint)
            }));
        }
    }
}

/// Why a path leads nowhere, as what to do; `None` if it may lead somewhere.
fn unknown_name(definition: &Definition, step: &Step, path: &[String]) -> Option<String> {
    let known: Vec<&str> = definition.keys_seen_by(step);
    let beside = step.input.as_deref().into_iter().chain(definition.items_seen_by(step)).chain(SCOPE);
    match path {
        [root, key, ..] if root == "context" && !known.contains(&key.as_str()) => {
            Some(did_you_mean(key, &known))
        }
        [root, key, ..] if root == "steps" && known.contains(&key.as_str()) => {
            Some(format!("a step's result is `context.{key}`"))
        }
        [root, ..] if known.contains(&root.as_str()) && !beside.clone().any(|own| own == root) => {
            Some(format!("a step's result is `context.{root}`"))
        }
        [root, ..] if !beside.clone().any(|known| known == root) => Some(format!(
            "{}; write `\\{{{{` for two braces",
            did_you_mean(root, &beside.collect::<Vec<_>>())
        )),
        _ => unknown_path(definition, step, path),
    }
}

fn unknown_source(definition: &Definition, step: &Step, from: &Transform) -> Option<(String, String)> {
    Some((from.text().to_owned(), unknown_name(definition, step, &from.path())?))
}
