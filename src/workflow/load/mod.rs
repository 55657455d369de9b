//! The loader: a file's text to a [`Definition`], or every problem in it with its place.

pub(crate) mod ballot;
pub(crate) mod map_reader;
pub(crate) mod material;
pub(crate) mod participants;
pub(crate) mod rule;
pub(crate) mod step;
pub(crate) mod task;

use super::definition::{Definition, LeakAction, PseudonymSetting, StructuredAnswers, WarmFirst};
use super::recall::{RecallKeys, recall};
use super::{envelope, validate};
use crate::diagnostic::Diagnostic;
use crate::yaml::{Node, Value, literal_keys, read, read_json};
use map_reader::{Fields, as_text};
use material::{agenda, artifacts};
use participants::participants;
use step::{Findings, StepPosition, completeness, step_body, steps, take_all};
use task::{links, reports, tasks, tracker};

/// What standard input is called in messages and in a session's header.
pub const STANDARD_INPUT: &str = "standard input";
/// A definition larger than this is refused, in bytes.
pub const MAX_DEFINITION: usize = 4 * 1024 * 1024;
/// Where a definition's text came from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub text: &'a str,
    /// The name for messages.
    pub file: &'a str,
    /// The id when the text gives none.
    pub id: &'a str,
}

/// The id of a definition that gives none: its file's name without folder and extension.
pub fn default_id(file: &str) -> &str {
    if file == STANDARD_INPUT {
        return "stdin";
    }
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// A loaded definition and what should be said about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub definition: Definition,
    /// Warnings, in the order of the file.
    pub warnings: Vec<Diagnostic>,
}

/// A definition with all that is to be said of it.
#[derive(Debug, Clone)]
pub struct Examined {
    /// What could be read of it, with errors or without; `None` for a text that is no mapping.
    pub definition: Option<Definition>,
    /// Errors, in the order of the file.
    pub problems: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
}

impl Examined {
    fn unreadable(problem: Diagnostic) -> Self {
        Self { definition: None, problems: vec![problem], warnings: Vec::new() }
    }

    fn loaded(self) -> Result<Loaded, Vec<Diagnostic>> {
        match self.definition {
            Some(definition) if self.problems.is_empty() => {
                Ok(Loaded { definition, warnings: self.warnings })
            }
            _ => Err(self.problems),
        }
    }
}

/// Loads a definition from YAML, or from JSON with comments.
///
/// # Errors
/// Every problem found, in the order of the file.
pub fn load(source: Source<'_>) -> Result<Loaded, Vec<Diagnostic>> {
    examine(source).loaded()
}

/// As [`load`], with what was no error when sessions of format 1 began: it stays none.
///
/// # Errors
/// As [`load`].
pub fn load_of_format_1(source: Source<'_>) -> Result<Loaded, Vec<Diagnostic>> {
    examine_parts(source).loaded()
}

/// Reads a definition as far as it can be read, for further checks.
pub fn examine(source: Source<'_>) -> Examined {
    let mut found = examine_parts(source);
    if let Some(definition) = &found.definition {
        envelope::check(definition, source.file, &mut found.problems);
        sort(&mut found.problems);
    }
    found
}

fn sort(problems: &mut [Diagnostic]) {
    problems.sort_by_key(|problem| problem.place.as_ref().map_or((0, 0), |at| (at.line, at.column)));
}

fn examine_parts(source: Source<'_>) -> Examined {
    let file = source.file;
    if source.text.len() > MAX_DEFINITION {
        let problem =
            Diagnostic::new(format!("definition is {} bytes; the limit is 4 MiB", source.text.len()))
                .hint("keep long material in fewer words, or in artifacts of several sessions");
        return Examined::unreadable(problem.with_file(file));
    }
    let looks_json =
        source.text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).starts_with(['{', '/']);
    let node = if looks_json { read_json(source.text, file) } else { read(source.text, file) };
    let mut warnings = Vec::new();
    let read = node.and_then(|node| {
        let (definition, mut problems) = definition(&node, source, &mut warnings)?;
        let secrets = written_keys(&node, file);
        // A secret under an unknown key is one error.
        problems.retain(|problem| secrets.iter().all(|secret| secret.place != problem.place));
        problems.extend(secrets);
        Ok((definition, problems))
    });
    match read {
        Err(problem) => Examined::unreadable(problem),
        Ok((definition, mut problems)) => {
            validate::check(&definition, file, &mut problems, &mut warnings);
            sort(&mut problems);
            Examined { definition: Some(definition), problems, warnings }
        }
    }
}

/// Keys to services written as values. Of a participant a `key` or a `token` can be nothing else; in an input or an artifact it can.
fn written_keys(node: &Node, file: &str) -> Vec<Diagnostic> {
    let mut problems = literal_keys(node, file, &[]);
    let Value::Map(map) = &node.value else { return problems };
    for (_, seats) in map.iter().filter(|(key, _)| key.text == "participants") {
        let found = literal_keys(seats, file, &["key", "token"]);
        let new: Vec<Diagnostic> = found.into_iter().filter(|problem| !problems.contains(problem)).collect();
        problems.extend(new);
    }
    problems
}

const LEAKS: [(&str, LeakAction); 4] = [
    ("off", LeakAction::Off),
    ("flag", LeakAction::Flag),
    ("mask", LeakAction::Mask),
    ("refuse", LeakAction::Refuse),
];

/// `true`, `false` or `{seed: 7}`.
fn pseudonyms(
    fields: &mut Fields<'_>,
    file: &str,
    problems: &mut Vec<Diagnostic>,
) -> Option<PseudonymSetting> {
    let node = fields.node("pseudonyms")?;
    if !matches!(node.value, Value::Map(_)) {
        return fields.flag("pseudonyms").filter(|wanted| *wanted).map(|_| PseudonymSetting::default());
    }
    let mut own = Fields::from_node(node, "pseudonyms", file).ok()?;
    let seed = own.whole_number("seed", 0);
    problems.extend(own.finish(&[]));
    Some(PseudonymSetting { seed })
}

fn definition(
    node: &Node,
    source: Source<'_>,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(Definition, Vec<Diagnostic>), Diagnostic> {
    let file = source.file;
    let mut fields = Fields::from_node(node, "the definition", file)
        .map_err(|problem| problem.hint("write at least `question: …`, or `steps:`"))?;
    let mut problems = Vec::new();
    let id = fields.text("id").unwrap_or_else(|| source.id.to_owned());
    let participants = participants(&mut fields, file, &mut problems);
    // A file whose top level has a type is that one step; its `steps` are then a parallel's.
    let is_parallel = fields.node("type").and_then(as_text).is_some_and(|word| word == "parallel");
    let single = is_parallel || fields.node("steps").is_none();
    let mut found = Findings { file, problems: &mut problems, warnings };
    let steps = if single && !fields.has("type") && !fields.has("question") {
        fields.refuse(node, "missing `question` or `steps`", "add `question: …`");
        take_all(&mut fields);
        Vec::new()
    } else if single {
        vec![step_body(&mut fields, &id, node, StepPosition::AtTop, &mut found)]
    } else {
        steps(fields.list("steps"), &mut found)
    };
    let definition = Definition {
        description: fields.text("description"),
        goal: fields.text("goal"),
        constraints: fields.texts("constraints"),
        project_summary: fields.text("project_summary"),
        input: fields.node("input").map(Node::to_json),
        participants,
        facilitator_directive: if single { None } else { fields.text("facilitator_directive") },
        artifacts: artifacts(&mut fields, file, &mut problems),
        agenda: agenda(&mut fields, file, &mut problems),
        tasks: tasks(&mut fields, &mut problems),
        tracker: tracker(&mut fields, &mut problems),
        links: links(&mut fields, &mut problems),
        reports: reports(&mut fields, &mut problems),
        open_conflicts: fields.values("open_conflicts"),
        open_questions: fields.values("open_questions"),
        budget: fields.positive("budget"),
        warm_first: fields
            .word("warm_first", &[("off", WarmFirst::Off), ("auto", WarmFirst::Auto), ("on", WarmFirst::On)])
            .unwrap_or_default(),
        structured: fields
            .word("structured", &[("auto", StructuredAnswers::Auto), ("off", StructuredAnswers::Off)])
            .unwrap_or_default(),
        recall: if single { RecallKeys::default() } else { recall(&mut fields) },
        leaks: fields.word("leaks", &LEAKS),
        pseudonyms: pseudonyms(&mut fields, file, &mut problems),
        completeness: if single { None } else { completeness(&mut fields) },
        max_iterations: fields
            .whole_number("max_iterations", 1)
            .map_or(100, |n| u32::try_from(n).unwrap_or(u32::MAX)),
        max_duration_ms: fields.whole_number("max_duration_ms", 1),
        id,
        steps,
    };
    warnings.extend(definition.tasks.iter().filter_map(|task| task.doubt.clone()));
    if fields.node("steps").is_some_and(|node| node.value == Value::List(Vec::new())) {
        fields.refuse(node, "`steps` is empty", "add a step, or write `question: …` instead");
    }
    fields.without_effect(&["facilitator"]);
    warnings.append(&mut fields.notices);
    problems.extend(fields.finish(&["$schema"]));
    Ok((definition, problems))
}
