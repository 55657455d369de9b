//! What steps leave behind where its keys are fixed, and the check of every path that reads it.
//!
//! A path to a key that is not there is always undefined: in a condition, a template or a transform it
//! is a mistake, told before anything runs.

use super::definition::Definition;
use super::lang::Template;
use super::steps::step::{Step, StepKind};
use crate::diagnostic::{Diagnostic, did_you_mean};

const ROUND: [&str; 5] = ["data", "success", "outcome", "decision", "tally"];
/// The count of a round, in the order it is written.
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
const OUTCOMES: [&str; 8] =
    ["decided", "tie", "blocked", "no_quorum", "weak", "undecided", "abstained", "failed"];
/// Keys of the result of a parallel or a review.
const SEVERAL: [&str; 2] = ["data", "success"];
const ENTRY: [&str; 5] = ["stepId", "status", "result", "error", "length"];
/// Keys of the result of an approval; `success` says that it was answered.
const APPROVAL: [&str; 3] = ["approved", "comment", "success"];
/// Keys of the result of an approval that merges ideas.
const MERGE: [&str; 4] = ["approved", "comment", "success", "options"];

/// Adds a problem for every path that can never lead anywhere.
pub fn check(definition: &Definition, file: &str, problems: &mut Vec<Diagnostic>) {
    for step in definition.all_steps() {
        let mut refuse = |what: &str, path: &[String], unknown: Unknown<'_>| {
            let at = path.get(..=unknown.at).unwrap_or(path).join(".");
            let message = format!("{what} of step `{}` reads `{at}`, which does not exist", step.id);
            let problem = Diagnostic::new(message).at(file, step.place.0, step.place.1);
            problems.push(problem.hint(unknown.hint(path)));
        };
        let mut read = |what: &str, path: &[String]| {
            if let Some(unknown) = in_scope(definition, step, path) {
                refuse(what, path, unknown);
            }
        };
        match &step.kind {
            StepKind::Condition(branch) => {
                branch.condition.paths().into_iter().for_each(|path| read("the condition", path));
                for (path, word) in branch.condition.compared_words() {
                    if is_outcome(definition, step, path) && !OUTCOMES.contains(&word) {
                        let message = format!(
                            "the condition of step `{}` compares `{}` with `{word}`, which it never is",
                            step.id,
                            path.join(".")
                        );
                        let problem = Diagnostic::new(message).at(file, step.place.0, step.place.1);
                        problems.push(problem.hint(did_you_mean(word, &OUTCOMES)));
                    }
                }
            }
            StepKind::Transform(transform) => read("the transform", &transform.path()),
            StepKind::Agent(agent) => of_template(agent.prompt.as_ref(), &mut read),
            StepKind::Review(review) => of_template(review.prompt.as_ref(), &mut read),
            _ => {}
        }
    }
}

fn of_template(template: Option<&Template>, read: &mut impl FnMut(&str, &[String])) {
    for path in template.map(Template::paths).unwrap_or_default() {
        read("the prompt", path);
    }
}

/// A key that is not there: where it stands in its path, and what is known there.
struct Unknown<'a> {
    at: usize,
    known: Vec<&'a str>,
}

impl<'a> Unknown<'a> {
    fn new(at: usize, known: &[&'a str]) -> Self {
        Self { at, known: known.to_vec() }
    }

    fn hint(&self, path: &[String]) -> String {
        let (key, before) = (&path[self.at], &path[..self.at]);
        let is_under_tally = before.last().is_some_and(|last| last == "tally");
        if is_under_tally && ROUND.contains(&key.as_str()) {
            return format!("did you mean `{}.{key}`?", before[..before.len() - 1].join("."));
        }
        if before.len() == 2 && TALLY_KEYS.contains(&key.as_str()) && self.known.contains(&"tally") {
            return format!("did you mean `{}.tally.{key}`?", before.join("."));
        }
        did_you_mean(key, &self.known)
    }
}

/// Returns a hint for a path to a key that no envelope has.
pub fn unknown_path(definition: &Definition, step: &Step, path: &[String]) -> Option<String> {
    in_scope(definition, step, path).map(|unknown| unknown.hint(path))
}

fn in_scope<'a>(definition: &'a Definition, step: &Step, path: &[String]) -> Option<Unknown<'a>> {
    // In templates the agenda is a list, and there are no counts.
    let is_condition = matches!(step.kind, StepKind::Condition(_));
    match path {
        [root, id, ..] if root == "runs" && definition.step(id).is_none() => {
            let known: Vec<&str> = definition.all_steps().map(|step| step.id.as_str()).collect();
            Some(Unknown::new(1, &known))
        }
        [root, key, below @ ..] if is_condition && root == "agenda" => in_agenda(definition, key, below),
        [root, key, ..]
            if is_condition && matches!(root.as_str(), "conflicts" | "questions") && key != "open" =>
        {
            Some(Unknown::new(1, &["open"]))
        }
        [root, key, ..] if root == "context" => unknown_in(definition.step_of_key(key, step)?, path, 2),
        [root, ..] if step.input.as_ref() == Some(root) => {
            unknown_in(definition.step_of_key(root, step)?, path, 1)
        }
        _ => None,
    }
}

/// Of an agenda item conditions see `title` and `status`; `open` is how many items are open.
fn in_agenda<'a>(definition: &'a Definition, key: &str, below: &[String]) -> Option<Unknown<'a>> {
    if key == "open" {
        return None;
    }
    if definition.agenda.iter().all(|item| item.id != key) {
        let ids = definition.agenda.iter().map(|item| item.id.as_str());
        return Some(Unknown::new(1, &ids.chain(["open"]).collect::<Vec<_>>()));
    }
    let field = below.first()?;
    const ITEM: [&str; 2] = ["title", "status"];
    (!ITEM.contains(&field.as_str())).then(|| Unknown::new(2, &ITEM))
}

/// The first key of `path`, from `at` on, that what `step` leaves does not have.
fn unknown_in<'a>(step: &'a Step, path: &[String], at: usize) -> Option<Unknown<'a>> {
    let step = step.last();
    let known: &[&str] = match &step.kind {
        StepKind::Round(_) => &ROUND,
        StepKind::Parallel { .. } | StepKind::Each(_) | StepKind::Review(_) => &SEVERAL,
        StepKind::Approval(approval) if approval.merges.is_some() => &MERGE,
        StepKind::Approval(_) => &APPROVAL,
        StepKind::Agent(_) | StepKind::Transform(_) | StepKind::Condition(_) => return None,
        StepKind::Sequence { .. } => return None,
    };
    let key = path.get(at)?.as_str();
    if !known.contains(&key) {
        return Some(Unknown::new(at, known));
    }
    let below = path.get(at + 1)?.as_str();
    match key {
        "tally" if !TALLY_KEYS.contains(&below) => Some(Unknown::new(at + 1, &TALLY_KEYS)),
        "data" => {
            let entry = path.get(at + 2)?.as_str();
            if !ENTRY.contains(&entry) {
                return Some(Unknown::new(at + 2, &ENTRY[..4]));
            }
            let inner = below.parse::<usize>().ok().and_then(|index| {
                // Each entry of an `each` has the result of the last step that is written.
                if let StepKind::Each(_) = step.kind { step.steps.last() } else { step.steps.get(index) }
            });
            inner.filter(|_| entry == "result").and_then(|inner| unknown_in(inner, path, at + 3))
        }
        _ => None,
    }
}

fn is_outcome(definition: &Definition, step: &Step, path: &[String]) -> bool {
    matches!(path, [root, key, last] if root == "context" && last == "outcome"
        && definition.step_of_key(key, step).is_some_and(|step| step.last().round().is_some()))
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
    fn a_path_that_leads_nowhere_is_told_with_the_nearest_key() {
        let condition =
            |text: &str| problems(&format!("- {{id: z, type: condition, condition: \"{text}\"}}"));
        for (text, wanted) in [
            ("context.first.tally.outcome === 'blocked'", "did you mean `context.first.outcome`?"),
            ("context.first.tally.winner === 'p'", "did you mean `winners`?"),
            ("context.first.winners.0 === 'p'", "did you mean `context.first.tally.winners`?"),
            ("context.first.sucess", "did you mean `success`?"),
            ("context.first.data[0].reslt.position === 'x'", "did you mean `result`?"),
            ("context.both.tally.decided", "known here: data, success"),
            ("context.both.data[0].result.tally.winner === 'p'", "did you mean `winners`?"),
            ("context.both.data[1].result.aproved", "did you mean `approved`?"),
            ("context.first.outcome === 'block'", "did you mean `blocked`?"),
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
    fn prompts_and_transforms_are_checked_alike() {
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
