//! Loader: turns a file's text into a [`Definition`] or all its problems.

pub(crate) mod aliases;
pub(crate) mod ballot;
pub(crate) mod entries;
pub(crate) mod material;

use super::definition::Definition;
use super::discussion::expanded;
use super::keys::check::check_definition;
use super::participants::ParticipantSpec;
use super::steps::round::Round;
use super::steps::step::Step;
use super::strategy::ReadStrategy;
use super::used::{ReadUsed, UsedDefinitions, has_use};
use super::{paths, validate};
use crate::diagnostic::Diagnostic;
use crate::yaml::{Node, Out, Value, literal_keys};
use aliases::read_definition;
use entries::{Entries, Findings};

/// Name of standard input in messages and in a session's header.
pub const STANDARD_INPUT: &str = "standard input";
/// Largest accepted definition, in bytes.
pub const MAX_DEFINITION: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub text: &'a str,
    pub file: &'a str,
    /// Id of a definition that sets none.
    pub id: &'a str,
}

/// Returns the default id: the file's name without folder and extension.
pub fn default_id(file: &str) -> &str {
    if file == STANDARD_INPUT {
        return "stdin";
    }
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

#[derive(Debug, Clone)]
pub struct CheckedDefinition {
    /// Readable part, with or without problems; `None` if the text is no map.
    pub definition: Option<Definition>,
    pub problems: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
    /// Text with discussions and used definitions replaced by their steps; `None` if it has none.
    pub expanded: Option<String>,
}

impl CheckedDefinition {
    fn unreadable(problem: Diagnostic) -> Self {
        Self { definition: None, problems: vec![problem], warnings: Vec::new(), expanded: None }
    }
}

/// Loads a definition from YAML, or from JSON with comments.
pub fn load(source: Source<'_>) -> Result<Definition, Vec<Diagnostic>> {
    match examine(source, NO_OTHER) {
        CheckedDefinition { definition: Some(definition), problems, .. } if problems.is_empty() => {
            Ok(definition)
        }
        CheckedDefinition { problems, .. } => Err(problems),
    }
}

#[derive(Clone, Copy)]
pub struct OtherFiles<'a> {
    pub definition: ReadUsed<'a>,
    pub strategy: ReadStrategy<'a>,
}

/// No other files: definitions of sessions and forms contain all their steps.
pub const NO_OTHER: OtherFiles<'static> = OtherFiles {
    definition: &|_, _| Err(Diagnostic::new("other files cannot be used here")),
    strategy: &|_| Ok(None),
};

/// Reads a definition as far as possible and reports all its problems.
pub fn examine(source: Source<'_>, others: OtherFiles<'_>) -> CheckedDefinition {
    let file = source.file;
    if source.text.len() > MAX_DEFINITION {
        let problem =
            Diagnostic::new(format!("definition is {} bytes; the limit is 4 MiB", source.text.len()))
                .hint("keep long material in fewer words, or in artifacts of several sessions");
        return CheckedDefinition::unreadable(problem.with_file(file));
    }
    let node = match read_definition(source.text, file, source.id) {
        Ok(node) => node,
        Err(problem) => return CheckedDefinition::unreadable(problem),
    };
    let found = Findings::new(file);
    check_definition(&node, &found);
    warn_of_cut_texts(&node, source.text, &found);
    let used = UsedDefinitions::new(others.definition);
    let may_replace = found.is_sound() && has_use(&node);
    let replaced = may_replace.then(|| used.in_place(&node, &[file], &found)).flatten();
    let (mut is_expanded, mut node) = (replaced.is_some(), replaced.unwrap_or(node));
    if let Some(led) = found.is_sound().then(|| expanded(&node, others.strategy, &found)).flatten() {
        (is_expanded, node) = (true, led);
    }
    if is_expanded {
        // A strategy can set keys that a round does not accept.
        check_definition(&node, &found);
    }
    let definition = Entries::from_node(&node, &found).map(|entries| definition(entries, source.id));
    if let Some(definition) = &definition {
        let secrets = written_keys(&node, file);
        // A secret under an unknown key is one error, not two.
        let is_other = |problem: &Diagnostic| secrets.iter().all(|secret| secret.place != problem.place);
        found.problems.borrow_mut().retain(is_other);
        for secret in secrets {
            found.add(secret);
        }
        validate::check(definition, &found);
        paths::check(definition, &found);
    }
    let mut problems = found.problems.take();
    problems.sort_by_key(|problem| problem.place.as_ref().map_or((0, 0), |at| (at.line, at.column)));
    CheckedDefinition {
        definition,
        problems,
        warnings: found.warnings.take(),
        expanded: is_expanded.then(|| Out::json_document(&node.to_json(), true)),
    }
}

/// Warns of texts that YAML cuts before a number such as `#1`, which it reads as a comment.
fn warn_of_cut_texts(node: &Node, source: &str, found: &Findings<'_>) {
    match &node.value {
        Value::Map(map) => map.iter().for_each(|(_, value)| warn_of_cut_texts(value, source, found)),
        Value::List(items) => items.iter().for_each(|item| warn_of_cut_texts(item, source, found)),
        Value::Text(text) => {
            let rest = node.offset.and_then(|at| source.get(at..)?.strip_prefix(text.as_str()));
            let comment = rest.and_then(|rest| rest.lines().next()?.trim_start().strip_prefix('#'));
            if let Some(cut) = comment.filter(|cut| cut.starts_with(|c: char| c.is_ascii_digit())) {
                let message = format!("the text ends before `#{cut}`: YAML takes that for a comment");
                found.warn_at((node.line, node.column), message, "put the text in quotes");
            }
        }
        _ => {}
    }
}

/// Reports API keys written as values. `key` and `token` count only in participants; inputs and artifacts
/// may use these names for other data.
fn written_keys(node: &Node, file: &str) -> Vec<Diagnostic> {
    let mut problems = literal_keys(node, file, &[]);
    let Some(seats) = node.get("participants") else { return problems };
    let mut found = literal_keys(seats, file, &["key", "token"]);
    found.retain(|problem| !problems.contains(problem));
    problems.extend(found);
    problems
}

fn definition(entries: Entries<'_>, default_id: &str) -> Definition {
    match entries.node("steps") {
        Some(node) if node.value == Value::List(Vec::new()) => {
            entries.refuse(node, "`steps` is empty", "add a step, or write `question: …` instead");
        }
        // If there are errors already, one of them may concern the absent key.
        None if entries.found.is_sound() => {
            entries.refuse(entries.node, "missing `question` or `steps`", "add `question: …`");
        }
        _ => {}
    }
    let mut definition = Definition::read(entries);
    if let (Some(tracker), Some(node), true) =
        (&definition.tracker, entries.node("tracker"), entries.has("tasks"))
    {
        let hint = format!("move the tasks to `{}`, or leave `tracker` out", tracker.file);
        entries.refuse(node, "both `tasks` and `tracker.file` say what the tasks are", hint);
    }
    if definition.id.is_empty() {
        default_id.clone_into(&mut definition.id);
    }
    definition.tasks.iter().filter_map(|task| task.doubt.clone()).for_each(|doubt| entries.found.warn(doubt));
    let revises = |step: &Step| step.round().is_some_and(|round| round.revises.is_some());
    if !entries.has("pseudonyms") && definition.all_steps().any(revises) {
        definition.pseudonyms = true;
    }
    let Definition { participants, steps, .. } = &mut definition;
    for step in steps {
        step.change_rounds(&mut |round| give_in_turn(round, participants));
    }
    definition
}

/// Assigns a round's `directives_in_turn` to its seats, in roster order.
fn give_in_turn(round: &mut Round, roster: &[ParticipantSpec]) {
    let lines = std::mem::take(&mut round.directives_in_turn);
    let seats = roster.iter().filter(|seat| !seat.agent_only && round.participants.includes(&seat.name));
    let given = seats.zip(lines.iter().cycle()).map(|(seat, line)| (seat.name.clone(), line.clone()));
    let given: Vec<(String, String)> = given.collect();
    round.directives.extend(given);
}
