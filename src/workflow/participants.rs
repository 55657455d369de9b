//! Participants of a definition: single seats, numbered seats, and their names.

use std::collections::{HashMap, HashSet};

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use super::keys::spec::KeyType::{List, Number, Positive, Texts, Whole};
use super::keys::spec::{KeySpec, key};
use super::load::entries::{Entries, FromKey, as_text, enum_of_words, keys, texts};
use crate::persona::is_name;
use crate::yaml::Value;

keys! {
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct ParticipantSpec as "participant" ("a participant") {
        /// Empty if the seat is named after its model.
        persona: String = key("persona", "that of its name, if any", "The persona.", "qa-lead"),
        name: String = key("name", "the persona, or the model's last part", "The name of the seat.", "ann"),
        role: Option<String> =
            key("role", "the name; without a persona `participant`", "Its `your_role`.", "reviewer"),
        prompt: Option<String> =
            key("prompt", "the persona's text", "A text instead of a persona's.", "\"You test.\""),
        models: Vec<String> as (Texts) = key(
            "model",
            "see [models](PROVIDERS.md)",
            "`provider/model`, `human`, `remote/link`, `remote/inbox` or `recorded/FILE`. In a list, in rounds, the next is asked if one fails.",
            "ollama/llama3.2",
        ) => models,
        agent_only: bool =
            key("agent_only", "false", "It works for steps of type `agent` and sits in no round.", "true"),
        weight: f64 as (Positive) = key("weight", "1", "The weight of its ballot.", "2"),
        seed: Option<u64> =
            key("seed", "", "The seed of the first seat, one more for each further seat.", "7"),
        // No provider accepts a higher temperature.
        temperature: Option<f64> as (Number(0.0, 2.0)) =
            key("temperature", "the provider's", "The temperature.", "0.7"),
        effort: Option<Effort> = key("effort", "the provider's", "How much the model is to think.", "low"),
        max_output_tokens: Option<u64> as (Whole(1, u64::MAX)) =
            key("max_output_tokens", "16384", "The most tokens of a reply, thinking included.", "32768"),
        skills: Vec<String> = key("skills", "", "Skills, for work items.", "[rust]"),
        tags: Vec<String> = key("tags", "the persona's", "Words that describe it to reviewers.", "[backend]"),
        tools: Option<SeatTools> = key(
            "tools",
            "",
            "`allowed`: the program that its model is may use its tools, and takes no seat in a round. `none`: its persona's tools are left out.",
            "none",
        ),
    } also {
        COUNT,
        ProgramSpec::KEYS[0],
        ProgramSpec::KEYS[1],
        ProgramSpec::KEYS[2],
        ProgramSpec::KEYS[3],
    } and {
        needs_persona: bool,
        command: Option<ProgramSpec>,
        place: (u64, u64) => Entries::place,
    }
}

const COUNT: KeySpec = key("count", "1", "The number of seats.", "3").with_type(Whole(1, MOST_SEATS));

enum_of_words! {
    /// Tool setting of a seat. Without one, a seat whose persona lists tools cannot join a round.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SeatTools {
        /// The seat runs without the tools of its persona.
        LeftOut = "none",
        /// The program behind the model may use its tools.
        Allowed = "allowed",
    }
}

keys! {
    /// External program that answers: started without a shell, with the prompt on standard input.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct ProgramSpec {
        command: Vec<String> =
            key("command", "", "An external program and its arguments.", "[./agent.sh, --json]"),
        /// In addition to `PATH`, `HOME` and the like.
        env: Vec<String> = key("env", "", "Names of environment variables that the program gets.", "[HOME]"),
        /// In addition to 0. The answer consists of the exit code and the output.
        ok_exit: Vec<i64> as (List(&Whole(0, 255))) =
            key("ok_exit", "[0]", "Exit codes that are answers.", "[0, 1]"),
        tool_less: bool =
            key("tool_less", "false", "Whether the program may take a seat in a blind round.", "true"),
    }
}

impl ParticipantSpec {
    pub fn from_persona(name: &str, place: (u64, u64)) -> Self {
        let name = name.to_owned();
        Self { persona: name.clone(), name, needs_persona: true, weight: 1.0, place, ..Self::default() }
    }

    /// Creates a participant without a persona: a model or a person, named after the model.
    pub fn from_model(model: &str, place: (u64, u64)) -> Self {
        let persona = String::new();
        let models = vec![model.to_owned()];
        Self { persona, needs_persona: false, models, ..Self::from_persona(&name_of_model(model), place) }
    }

    /// Returns a model and the models after it in the seat's list.
    pub fn models_from<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a str> {
        let from = self.models.iter().skip_while(move |other| *other != model);
        std::iter::once(model).chain(from.skip(1).map(String::as_str))
    }

    /// Reads a plain roster entry: a model, a person or a persona's name.
    pub fn from_text(text: &str, place: (u64, u64)) -> Self {
        if is_model_text(text) { Self::from_model(text, place) } else { Self::from_persona(text, place) }
    }
}

/// Returns whether a roster entry is a model or the person at this terminal; otherwise it is a persona.
pub fn is_model_text(text: &str) -> bool {
    text.contains('/') || matches!(text, "human" | "rehearsal")
}

pub const MOST_SEATS: u64 = 10_000;
const MOST_IN_ALL: usize = 20_000;

/// Roster of a definition that names no participants.
pub const DEFAULT_PANEL: [&str; 5] =
    ["software-architect", "security-champion", "product-manager", "qa-lead", "devops-engineer"];

/// Reads the roster; without `participants`, the default panel. A seat with an unusable name gets an empty
/// one and an error, so the file does not load.
pub fn participants(entries: Entries<'_>) -> Vec<ParticipantSpec> {
    let Some(node) = entries.node("participants") else {
        return DEFAULT_PANEL.iter().map(|name| ParticipantSpec::from_persona(name, (0, 0))).collect();
    };
    if node.value == Value::List(Vec::new()) {
        entries.refuse(node, "`participants` is empty", "name at least one, or leave the key out");
    }
    let (mut all, mut taken) = (Vec::new(), HashSet::new());
    for node in entries.list("participants") {
        let before = all.len();
        if let Some(inner) = Entries::from_node(node, entries.found) {
            participant_map(inner, &mut all, &taken);
        } else if let Some(name) = as_text(node) {
            let mut seat = ParticipantSpec::from_text(&name, (node.line, node.column));
            if !is_model_text(&name) && !is_name(&name) {
                let hint =
                    "write a persona such as `qa-lead`, a model such as `openai/gpt-5-mini`, or `human`";
                entries.refuse(node, format!("`{name}` is not a participant's name"), hint);
                seat = ParticipantSpec::from_persona("", seat.place);
            }
            all.push(seat);
        }
        if all.len() > MOST_IN_ALL {
            entries.refuse(node, format!("there are more than {MOST_IN_ALL} seats"), "lower a `count`");
            break;
        }
        taken.extend(all[before..].iter().map(|seat| seat.name.clone()));
    }
    make_names_unique(&mut all);
    all
}

fn make_names_unique(all: &mut [ParticipantSpec]) {
    let mut names = SeatNames::new(all.iter().filter(|seat| !seat.persona.is_empty()).map(|seat| &seat.name));
    for seat in all.iter_mut().filter(|seat| seat.persona.is_empty() && !seat.name.is_empty()) {
        seat.name = names.reserve(&seat.name);
        if seat.prompt.is_some() {
            seat.persona.clone_from(&seat.name);
        }
    }
}

/// Reads a participant map. Numbered seats skip the names in `taken`.
fn participant_map(entries: Entries<'_>, all: &mut Vec<ParticipantSpec>, taken: &HashSet<String>) {
    let seat = participant_spec(entries);
    let count = Option::from_key(entries, &COUNT).unwrap_or(1).clamp(1, MOST_SEATS);
    let is_numbered = count > 1 && !seat.persona.is_empty();
    let mut number = 0;
    for nth in 0..count {
        let mut seat = ParticipantSpec { seed: seat.seed.map(|seed| seed.wrapping_add(nth)), ..seat.clone() };
        if is_numbered {
            let base = seat.name;
            number += 1;
            while taken.contains(&format!("{base}-{number}")) {
                number += 1;
            }
            seat.name = format!("{base}-{number}");
        }
        all.push(seat);
    }
}

fn participant_spec(entries: Entries<'_>) -> ParticipantSpec {
    let seat = ParticipantSpec::read(entries);
    if entries.has("tools") && entries.has("command") {
        let message = "`tools` has no effect on a `command`, which brings its own tools";
        entries.refuse(entries.node, message, "leave one of them out");
    }
    // Tallies calculate with six decimal places.
    if !(1e-6..=1e9).contains(&seat.weight) && !entries.found.is_wrong(entries.node) {
        entries.refuse(entries.node, "a `weight` is from 0.000001 to 1000000000", "write `weight: 2`");
    }
    let mut name = if seat.name.is_empty() { seat.persona.clone() } else { seat.name.clone() };
    if let (true, Some(model)) = (name.is_empty(), seat.models.first()) {
        return ParticipantSpec { name: name_of_model(model), ..seat };
    }
    if !is_name(&name) {
        let nameless = "write `persona: qa-lead`, `model: openai/gpt-5-mini` or `{name: ana, model: human}`; a text \
                        of its own is its `prompt`";
        let (message, hint) = if seat.name.is_empty() {
            ("participant has no usable `persona`, `model` or `name`".to_owned(), nameless)
        } else {
            let hint = "write letters, digits, `-`, `_` and `.`, at most 64 bytes, such as `ana-berg`";
            (format!("`{name}` is not a participant's name"), hint)
        };
        if !entries.found.is_wrong(entries.node) {
            entries.refuse(entries.node, message, hint);
        }
        name.clear();
    }
    let needs_persona = !seat.persona.is_empty();
    let persona = if needs_persona { seat.persona.clone() } else { name.clone() };
    ParticipantSpec { command: program(entries, &name), needs_persona, persona, name, ..seat }
}

fn models(entries: Entries<'_>) -> Vec<String> {
    let named = entries.node("model").map(texts).unwrap_or_default();
    // A model listed twice would be its own successor forever.
    let models: IndexSet<String> = named.into_iter().filter(|model| !model.is_empty()).collect();
    let is_asked = |model: &String| {
        model.contains('/') && !model.starts_with("remote/") && !model.starts_with("rehearsal")
    };
    if let (2.., Some(other)) = (models.len(), models.iter().find(|model| !is_asked(model)))
        && let Some(node) = entries.node("model")
    {
        let message = format!("`{other}` cannot stand in a list of models");
        entries.refuse(node, message, "list models such as `openai/gpt-5-mini`, the preferred one first");
    }
    models.into_iter().collect()
}

fn program(entries: Entries<'_>, name: &str) -> Option<ProgramSpec> {
    let program = ProgramSpec::read(entries);
    if !entries.has("command") {
        if program != ProgramSpec::default() {
            let message = format!("`{name}` has keys of an external program and no `command`");
            entries.refuse(entries.node, message, "add `command: [program, argument]`");
        }
        return None;
    }
    if program.command.first().is_none_or(String::is_empty) {
        let message = format!("the `command` of `{name}` is empty");
        entries.refuse(entries.node, message, "write `command: [program, argument]`");
    }
    Some(program)
}

enum_of_words! {
    /// Reasoning effort. The provider decides which levels a model accepts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Effort {
        None = "none",
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        Xhigh = "xhigh",
        Max = "max",
    }
}

/// Longest name derived from a model's, in characters.
const LONGEST: usize = 64;

/// Returns the last part of a model's name; for a program without a model, such as `claude-cli/`, its name.
pub fn name_of_model(model: &str) -> String {
    let whole = model.trim_end_matches('/');
    let last = whole.rsplit('/').next().unwrap_or_default();
    let last = if whole == model { last } else { last.strip_suffix("-cli").unwrap_or(last) };
    let fits = |c: char| if c.is_alphanumeric() || "-_.:".contains(c) { c } else { '-' };
    let name: String = last.chars().take(LONGEST).map(fits).collect();
    if name.is_empty() { "participant".to_owned() } else { name }
}

/// Names in use, each with the last number appended to it.
#[derive(Debug, Default)]
pub struct SeatNames(HashMap<String, usize>);

impl SeatNames {
    pub fn new<'a>(names: impl Iterator<Item = &'a String>) -> Self {
        Self(names.map(|name| (name.clone(), 1)).collect())
    }

    /// Reserves the name, or the first free one of `NAME-2`, `NAME-3` and so on.
    pub fn reserve(&mut self, name: &str) -> String {
        let mut nth = self.0.get(name).map_or(1, |last| last + 1);
        let numbered = |nth: usize| if nth == 1 { name.to_owned() } else { format!("{name}-{nth}") };
        while self.0.contains_key(&numbered(nth)) {
            nth += 1;
        }
        self.0.insert(numbered(nth), 1);
        self.0.insert(name.to_owned(), nth);
        numbered(nth)
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Diagnostic;
    use crate::workflow::{ParticipantSpec, Source, load};

    fn seats(participants: &str) -> Result<Vec<ParticipantSpec>, Vec<Diagnostic>> {
        let text = format!("question: q\nparticipants: [{participants}]\n");
        Ok(load(Source { text: &text, file: "f", id: "f" })?.participants)
    }

    fn names(seats: &[ParticipantSpec]) -> Vec<&str> {
        seats.iter().map(|seat| seat.name.as_str()).collect()
    }

    #[test]
    fn numbered_seats_have_distinct_names_and_seeds() {
        let panel = seats("{persona: qa-lead, count: 3, seed: 7, temperature: 0.5, weight: 2}").unwrap();
        assert_eq!(names(&panel), ["qa-lead-1", "qa-lead-2", "qa-lead-3"]);
        let drawn: Vec<_> = panel.iter().map(|seat| (seat.seed, seat.temperature, seat.weight)).collect();
        assert_eq!(drawn, [7, 8, 9].map(|seed| (Some(seed), Some(0.5), 2.0)));
        let one = seats("{persona: qa-lead, temperature: 0.7}").unwrap();
        assert_eq!((names(&one), one[0].temperature, one[0].seed), (vec!["qa-lead"], Some(0.7), None));
        let after = seats("{persona: skeptic, count: 2}, {persona: skeptic, model: a/x, count: 2}").unwrap();
        assert_eq!(names(&after), ["skeptic-1", "skeptic-2", "skeptic-3", "skeptic-4"]);
        assert_eq!(seats("{model: [a/x, b/y, a/x]}").unwrap()[0].models, ["a/x", "b/y"]);
    }

    #[test]
    fn invalid_participants_are_errors_with_a_place() {
        for (wrong, message) in [
            (
                "{persona: qa-lead, count: 10001}",
                "`count` of a participant must be a whole number from 1 to 10000",
            ),
            (
                "{persona: qa-lead, temperature: 2.5}",
                "`temperature` of a participant must be a number from 0 to 2",
            ),
            ("{persona: qa-lead, temperature: [0, 1]}", "must be a number from 0 to 2"),
            ("{persona: qa-lead, count: 2}, qa-lead-1", "duplicate participant name"),
            ("{persona: qa-lead, weight: 1e-7}", "from 0.000001 to"),
            ("{persona: qa-lead, weight: 1e40}", "from 0.000001 to"),
            (
                "{name: a, persona: qa-lead, count: 10000}, {name: b, persona: qa-lead, count: 10000}, skeptic",
                "there are more than 20000 seats",
            ),
            // A number too large for the seat loop is rejected before the loop runs.
            ("{persona: qa-lead, count: 18446744073709551615}", "must be a whole number from 1 to 10000"),
        ] {
            let problems = seats(wrong).expect_err(wrong);
            assert!(problems.iter().all(|problem| problem.hint.is_some() && problem.place.is_some()));
            assert!(
                problems.iter().any(|problem| problem.message.contains(message)),
                "{wrong}: {problems:?}"
            );
        }
    }
}
