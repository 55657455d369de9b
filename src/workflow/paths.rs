//! Paths that steps read in expressions and templates, and their check.
//!
//! A path can read only results of finished steps and the definition. So no template reaches into an open
//! round. `handoff` renders the templates.

use super::definition::Definition;
use super::lang::{Template, Transform};
use super::load::entries::Findings;
use super::steps::step::{Step, StepKind};
use crate::diagnostic::did_you_mean;

/// Names visible to templates of rounds, approvals and directives, in addition to the step's `input`.
const SCOPE: [&str; 8] =
    ["input", "context", "error", "goal", "constraints", "project_summary", "artifacts", "agenda"];
const STEP_SCOPE: [&str; 2] = ["linked_tasks", "stage_context"];
const REVIEW_SCOPE: [&str; 2] = ["review_context", "artifact"];

/// Keys of a round's result.
const ROUND: [&str; 5] = ["data", "success", "outcome", "decision", "tally"];
/// Keys of a round's tally, in output order.
pub const TALLY_KEYS: [&str; 17] = [
    "rule",
    "decided",
    "winners",
    "order",
    "tie",
    "scores",
    "tier",
    "quorum_met",
    "asked",
    "answered",
    "abstained",
    "invalid",
    "refused",
    "failed",
    "missing",
    "excused",
    "reason",
];
/// Keys of the result of a parallel, each or review step.
const SEVERAL: [&str; 2] = ["data", "success"];
const ENTRY: [&str; 5] = ["stepId", "status", "result", "error", "length"];
/// Keys of an approval's result; only one that merges ideas has `options`.
const APPROVAL: [&str; 4] = ["approved", "comment", "success", "options"];

impl Step {
    /// Returns every text that may be a template, except the prompt, each with its name for messages.
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

    pub fn prompt(&self) -> Option<&Template> {
        match &self.kind {
            StepKind::Agent(agent) => agent.prompt.as_ref(),
            StepKind::Review(review) => review.prompt.as_ref(),
            _ => None,
        }
    }

    /// Returns the paths that pick a value, each with its key.
    fn transforms(&self) -> Vec<(&'static str, &Transform)> {
        let own = match &self.kind {
            StepKind::Transform(transform) => Some(("`transform`", transform)),
            StepKind::Each(each) => Some(("`of`", &each.of)),
            StepKind::Round(round) => {
                round.options_from.as_ref().map(|options| ("`options`", &options.transform))
            }
            _ => None,
        };
        let of_record = self.record.as_ref().map(|record| ("`record`", &record.from));
        // A path with an error is empty.
        own.into_iter().chain(of_record).filter(|(_, path)| !path.text().is_empty()).collect()
    }
}

/// Reports every path that does not exist and every text that is no valid template. An unknown name in a
/// prompt or an `input` is only a warning, because it prints nothing.
pub fn check(definition: &Definition, found: &Findings<'_>) {
    for step in definition.all_steps() {
        let reader = PathReader { definition, step };
        let mut reported: Vec<String> = Vec::new();
        let mut read = |what: &str, path: &[String], scope: Option<&[&'static str]>| {
            let Some(unknown) = reader.unknown(path, scope) else { return };
            let end = path.get(..=unknown.at).unwrap_or(path).join(".");
            let message = format!("{what} of step `{}` reads `{end}`, which does not exist", step.id);
            if reported.contains(&message) {
                return;
            }
            let is_soft = unknown.is_name && matches!(what, "`prompt`" | "`input`");
            let note = if is_soft { Findings::warn_at } else { Findings::refuse_at };
            note(found, step.place, message.clone(), unknown.hint(path));
            reported.push(message);
        };
        if let StepKind::Condition(branch) = &step.kind {
            branch.condition.paths().into_iter().for_each(|path| read("`condition`", path, None));
        }
        for (what, transform) in step.transforms() {
            if !(what == "`of`" && transform.step() == "input") {
                read(what, transform.path(), None);
            }
        }
        if let Some(input) = &step.input {
            read("`input`", &["context".to_owned(), input.clone()], None);
        }
        let of_round = [&SCOPE[..], &STEP_SCOPE].concat();
        let of_prompt = [&of_round[..], &["available_skills"]].concat();
        let of_review = [&of_prompt[..], &REVIEW_SCOPE].concat();
        let scope = if let StepKind::Review(_) = step.kind { &of_review } else { &of_prompt };
        for path in step.prompt().map(Template::paths).unwrap_or_default() {
            read("`prompt`", path, Some(scope));
        }
        let directive = definition.facilitator_directive.as_deref().filter(|_| step.asks_seats());
        let directive = directive.map(|text| ("`facilitator_directive`", text));
        for (what, text) in step.written().into_iter().chain(directive) {
            match Template::parse(text) {
                Ok(template) => {
                    template.paths().into_iter().for_each(|path| read(what, path, Some(&of_round)));
                }
                Err(error) => {
                    let hint = error.hint.clone().unwrap_or_else(|| "write `\\{{` for two braces".to_owned());
                    let message = format!("{what} of step `{}` is no template: {error}", step.id);
                    found.refuse_at(step.place, message, hint);
                }
            }
        }
    }
}

/// Unknown key: its index in the path, and the keys that are known there.
struct Unknown<'a> {
    at: usize,
    known: Vec<&'a str>,
    /// Set if it should name a result or a variable of the scope, not a key of a result.
    is_name: bool,
    /// Result that the path names without `context`.
    result: Option<&'a str>,
}

impl<'a> Unknown<'a> {
    fn name(at: usize, known: Vec<&'a str>) -> Self {
        Self { at, known, is_name: true, result: None }
    }

    fn key(at: usize, known: &[&'a str]) -> Self {
        Self { at, known: known.to_vec(), is_name: false, result: None }
    }

    fn hint(&self, path: &[String]) -> String {
        let key = path[self.at].as_str();
        if let Some(result) = self.result {
            return format!("a step's result is `context.{result}`");
        }
        if self.at == 0 {
            return format!("{}; write `\\{{{{` for two braces", did_you_mean(key, &self.known));
        }
        did_you_mean(key, &self.known)
    }
}

struct PathReader<'a> {
    definition: &'a Definition,
    step: &'a Step,
}

impl<'a> PathReader<'a> {
    /// Returns the first unknown key of a path. Templates see the names of `scope`; expressions have no
    /// scope.
    fn unknown(&self, path: &[String], scope: Option<&[&'static str]>) -> Option<Unknown<'a>> {
        let Self { definition, step } = *self;
        // Templates see the agenda as a list and have no counts.
        let is_condition = scope.is_none() && matches!(step.kind, StepKind::Condition(_));
        match path {
            [root, key, ..] if root == "context" => {
                let known = definition.keys_seen_by(step);
                let found = definition.step_of_key(key, step);
                if !known.contains(&key.as_str()) && (scope.is_some() || found.is_none()) {
                    return Some(Unknown::name(1, known));
                }
                unknown_in(found?, path, 2)
            }
            [root, ..] if step.input.as_ref() == Some(root) => {
                unknown_in(definition.step_of_key(root, step)?, path, 1)
            }
            [root, id, ..] if is_condition && root == "runs" && definition.step(id).is_none() => {
                Some(Unknown::name(1, definition.all_steps().map(|step| step.id.as_str()).collect()))
            }
            [root, key, below @ ..] if is_condition && root == "agenda" => self.in_agenda(key, below),
            [root, key, ..] if is_condition && ["conflicts", "questions"].contains(&root.as_str()) => {
                (key != "open").then(|| Unknown::key(1, &["open"]))
            }
            [root, ..] => {
                let mut known = scope?.to_vec();
                known.extend(step.input.as_deref().into_iter().chain(definition.items_seen_by(step)));
                let named = if root == "steps" { path.get(1).unwrap_or(root) } else { root };
                let result = definition.keys_seen_by(step).into_iter().find(|key| key == named);
                (!known.contains(&root.as_str())).then(|| Unknown { result, ..Unknown::name(0, known) })
            }
            [] => None,
        }
    }

    /// Checks an agenda path: items have `title` and `status`, and `open` counts the open items.
    fn in_agenda(&self, key: &str, below: &[String]) -> Option<Unknown<'a>> {
        if key == "open" {
            return None;
        }
        let agenda = &self.definition.agenda;
        if agenda.iter().all(|item| item.id != key) {
            let ids = agenda.iter().map(|item| item.id.as_str());
            return Some(Unknown::name(1, ids.chain(["open"]).collect()));
        }
        let field = below.first()?;
        (!["title", "status"].contains(&field.as_str())).then(|| Unknown::key(2, &["title", "status"]))
    }
}

/// Returns the first key of `path`, from index `at`, that the step's result does not have.
fn unknown_in<'a>(step: &Step, path: &[String], at: usize) -> Option<Unknown<'a>> {
    let step = step.last();
    let known: &[&'static str] = match &step.kind {
        StepKind::Round(_) => &ROUND,
        StepKind::Parallel { .. } | StepKind::Each(_) | StepKind::Review(_) => &SEVERAL,
        StepKind::Approval(approval) if approval.merges.is_some() => &APPROVAL,
        StepKind::Approval(_) => &APPROVAL[..3],
        _ => return None,
    };
    let key = path.get(at)?.as_str();
    if !known.contains(&key) {
        return Some(Unknown::key(at, known));
    }
    let below = path.get(at + 1)?.as_str();
    match key {
        "tally" if !TALLY_KEYS.contains(&below) => Some(Unknown::key(at + 1, &TALLY_KEYS)),
        "data" => {
            let entry = path.get(at + 2)?.as_str();
            if !ENTRY.contains(&entry) {
                return Some(Unknown::key(at + 2, &ENTRY[..4]));
            }
            let inner = below.parse::<usize>().ok().and_then(|index| {
                // Every entry has the result of the last step in the `each`.
                if let StepKind::Each(_) = step.kind { step.steps.last() } else { step.steps.get(index) }
            });
            inner.filter(|_| entry == "result").and_then(|inner| unknown_in(inner, path, at + 3))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::workflow::{Source, load};

    fn problems(step: &str) -> Vec<String> {
        let text = format!(
            "participants: [skeptic, qa-lead]\nsteps:\n  - {{id: first, type: round, question: q, \
             ballot: {{kind: choice, options: [a, b]}}, rule: majority}}\n  \
             - {{id: both, type: parallel, steps: [{{id: x, type: round, question: r}}, \
             {{id: y, type: approval, message: m}}]}}\n  {step}\n"
        );
        let source = Source { text: &text, file: "f", id: "f" };
        let found = load(source).err().unwrap_or_default();
        found
            .iter()
            .map(|problem| format!("{} -> {}", problem.message, problem.hint.clone().unwrap_or_default()))
            .collect()
    }

    #[test]
    fn unknown_paths_suggest_the_nearest_key() {
        let condition =
            |text: &str| problems(&format!("- {{id: z, type: condition, condition: \"{text}\"}}"));
        for (text, wanted) in [
            ("context.first.tally.winner === 'p'", "did you mean `winners`?"),
            ("context.first.winners.0 === 'p'", "known here: data, success, outcome, decision, tally"),
            ("context.first.sucess", "did you mean `success`?"),
            ("context.first.data[0].reslt.position === 'x'", "did you mean `result`?"),
            ("context.both.tally.decided", "known here: data, success"),
            ("context.both.data[0].result.tally.winner === 'p'", "did you mean `winners`?"),
            ("context.both.data[1].result.aproved", "did you mean `approved`?"),
            ("runs.frist > 1", "did you mean `first`?"),
        ] {
            let found = condition(text);
            assert!(matches!(&found[..], [one] if one.contains(wanted)), "{text}: {found:?}");
        }
        for text in [
            "context.first.outcome === 'tie' && context.first.tally.scores.a > 1",
            "context.first.tally.winners.length === 1 && context.first.tally.order[0][0] === 'a'",
            "context.both.data[1].result.approved || context.both.success",
            "context.first.data[0].result.whatever === 1 && context.first.decision === null",
            "runs.first > 2 && rounds >= 3 && runs.x === 1",
        ] {
            assert_eq!(condition(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn prompts_and_transforms_share_the_path_check() {
        for (step, wanted) in [
            (
                "- {id: z, type: agent, agent: skeptic, prompt: \"{{context.first.tally.winner}}\"}",
                "`winners`",
            ),
            ("- {id: z, type: agent, agent: skeptic, input: first, prompt: \"{{first.talley}}\"}", "`tally`"),
            ("- {id: z, type: transform, transform: context.first.tally.winer}", "`winners`"),
        ] {
            let found = problems(step);
            assert!(matches!(&found[..], [one] if one.contains(wanted)), "{step}: {found:?}");
        }
    }
}
