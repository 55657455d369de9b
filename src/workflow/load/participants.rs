//! Loading who takes part: one seat, many of one persona, or a grid of personas and models.

use std::collections::HashSet;

use super::map_reader::{Fields, as_text};
use crate::diagnostic::Diagnostic;
use crate::persona::is_name;
use crate::workflow::definition::{ParticipantSpec, ProgramSpec};
use crate::workflow::per_seat::{PerSeat, spread};
use crate::yaml::{Node, Value};

/// No entry seats more.
const MOST_SEATS: u64 = 10_000;

/// Who is asked when a definition names nobody.
pub const DEFAULT_PANEL: [&str; 5] =
    ["software-architect", "security-champion", "product-manager", "qa-lead", "devops-engineer"];

/// Who takes part; the default panel when nobody is named.
pub fn participants(
    fields: &mut Fields<'_>,
    file: &str,
    problems: &mut Vec<Diagnostic>,
) -> Vec<ParticipantSpec> {
    if !fields.has("participants") {
        fields.node("participants");
        return DEFAULT_PANEL.iter().map(|name| ParticipantSpec::named(name, (0, 0))).collect();
    }
    let mut all = Vec::new();
    if let Some(node) = fields.node("participants").filter(|node| node.value == Value::List(Vec::new())) {
        fields.refuse(node, "`participants` is empty", "name at least one, or leave the key out");
    }
    for node in fields.list("participants") {
        if let Some(name) = as_text(node) {
            if is_name(&name) {
                all.push(ParticipantSpec::named(&name, (node.line, node.column)));
            } else {
                all.push(ParticipantSpec::named("", (node.line, node.column)));
                problems.push(
                    node.problem(file, format!("`{name}` is not a participant's name"))
                        .hint("use a persona's name, or a map `{persona: …, model: …}`"),
                );
            }
        } else {
            participant_map(node, file, problems, &mut all);
        }
    }
    all
}

fn participant_map(node: &Node, file: &str, problems: &mut Vec<Diagnostic>, all: &mut Vec<ParticipantSpec>) {
    let mut fields = match Fields::from_node(node, "a participant", file) {
        Ok(fields) => fields,
        Err(problem) => return problems.push(problem),
    };
    let grid = fields.node("grid");
    let kinds = match grid {
        Some(grid) => of_grid(&mut fields, grid),
        None => vec![of_one(&mut fields, node)],
    };
    let weight = fields.positive("weight").unwrap_or(1.0);
    let seed = fields.whole_number("seed", 0);
    let temperature = spread(&mut fields, "temperature");
    let count = fields.whole_number("count", 1).unwrap_or(1);
    if count.saturating_mul(kinds.len() as u64) > MOST_SEATS {
        let what = if grid.is_some() { "the grid seats" } else { "`count` is" };
        fields.refuse(node, format!("{what} above {MOST_SEATS}"), "seat fewer participants");
    }
    let (skills, tags) = (fields.texts("skills"), fields.texts("tags"));
    let each = usize::try_from(count.min(MOST_SEATS)).unwrap_or(usize::MAX);
    let seats = kinds.iter().flat_map(|kind| std::iter::repeat_n(kind, each));
    let total = each.saturating_mul(kinds.len());
    let mut numbers = SeatNumbers::of(&kinds, each);
    let taken: HashSet<String> = all.iter().map(|seat| seat.name.clone()).collect();
    for (nth, kind) in seats.take(MOST_SEATS as usize).enumerate() {
        all.push(ParticipantSpec {
            name: numbers.name(&kind.name, &taken),
            weight,
            seed: seed.map(|seed| seed.wrapping_add(nth as u64)),
            temperature: temperature.as_ref().map(|spread: &PerSeat| spread.value_for(nth, total)),
            skills: skills.clone(),
            tags: tags.clone(),
            ..kind.clone()
        });
    }
    problems.extend(fields.finish(&[]));
}

/// What all seats of a map without a grid have in common.
fn of_one(fields: &mut Fields<'_>, node: &Node) -> ParticipantSpec {
    let persona = fields.text("persona");
    let mut name = fields.text("name").or_else(|| persona.clone()).unwrap_or_default();
    if !is_name(&name) {
        fields.refuse(node, "participant has no usable `persona` or `name`", "add `persona: qa-lead`");
        name.clear();
    }
    ParticipantSpec {
        persona: persona.unwrap_or_else(|| name.clone()),
        prompt: fields.text("prompt"),
        command: program(fields, node, &name),
        model: fields.text("model"),
        ..ParticipantSpec::named(&name, (node.line, node.column))
    }
}

/// Every persona of a grid with every model: a persona's seats stand together, in the order of the
/// models. A seat's name does not tell its model, so that no prompt does.
fn of_grid(fields: &mut Fields<'_>, grid: &Node) -> Vec<ParticipantSpec> {
    for key in
        ["persona", "name", "model", "prompt", "command", "cwd", "env", "max_bytes", "ok_exit", "tool_less"]
    {
        if let Some(node) = fields.node(key) {
            let message = format!("`{key}` stands beside a `grid`, which names its own");
            fields.refuse(node, message, format!("leave `{key}` out, or write a participant of its own"));
        }
    }
    let mut inner = match Fields::from_node(grid, "a grid", fields.file()) {
        Ok(inner) => inner,
        Err(problem) => {
            fields.problems.push(problem.hint("write `{personas: [qa-lead], models: [ollama/llama3.2]}`"));
            return Vec::new();
        }
    };
    let (personas, models) = (inner.texts("personas"), inner.texts("models"));
    for (names, key) in [(&personas, "personas"), (&models, "models")] {
        let again = names.iter().enumerate().find(|(nth, name)| names[..*nth].contains(name));
        if let Some((_, name)) = again {
            inner.refuse(grid, format!("`{key}` names `{name}` twice"), "name each once; `count` seats more");
        } else if names.is_empty() {
            inner.refuse(grid, format!("the grid has no `{key}`"), format!("add `{key}: […]`"));
        }
    }
    if let Some(name) = personas.iter().find(|name| !is_name(name)) {
        inner.refuse(grid, format!("`{name}` is not a persona's name"), "write it as `qa-lead`");
    }
    let place = (grid.line, grid.column);
    let seat = |persona: &String, model: &String| ParticipantSpec {
        model: Some(model.clone()),
        ..ParticipantSpec::named(persona, place)
    };
    let seats = personas.iter().flat_map(|persona| models.iter().map(|model| seat(persona, model))).collect();
    fields.problems.extend(inner.finish(&[]));
    seats
}

/// Numbers seats that would share a name, from 1.
struct SeatNumbers {
    /// Whether each name has more than one seat.
    are_many: bool,
    last: Option<(String, usize)>,
}

impl SeatNumbers {
    fn of(kinds: &[ParticipantSpec], each: usize) -> Self {
        let shared = kinds.windows(2).any(|two| two[0].name == two[1].name);
        Self { are_many: each > 1 || shared, last: None }
    }

    /// The next seat's name; those of one name come one after the other, and go on from those that
    /// an earlier entry has taken.
    fn name(&mut self, name: &str, taken: &HashSet<String>) -> String {
        if !self.are_many {
            return name.to_owned();
        }
        let mut nth = self.last.take().filter(|(last, _)| last == name).map_or(1, |(_, nth)| nth + 1);
        while taken.contains(&format!("{name}-{nth}")) {
            nth += 1;
        }
        self.last = Some((name.to_owned(), nth));
        format!("{name}-{nth}")
    }
}

/// Exit codes that are answers.
fn ok_exit(fields: &mut Fields<'_>) -> Vec<i64> {
    let mut codes = Vec::new();
    for node in fields.list("ok_exit") {
        match &node.value {
            Value::Number(code) if code.as_i64().is_some_and(|code| (0..=255).contains(&code)) => {
                codes.extend(code.as_i64());
            }
            _ => fields.wrong(node, "ok_exit", "a whole number from 0 to 255"),
        }
    }
    codes
}

/// The external program a participant is, if it is one.
fn program(fields: &mut Fields<'_>, node: &Node, name: &str) -> Option<ProgramSpec> {
    let is_program = fields.has("command");
    let program = ProgramSpec {
        command: fields.texts("command"),
        cwd: fields.text("cwd"),
        env: fields.texts("env"),
        max_bytes: fields.whole_number("max_bytes", 1),
        ok_exit: ok_exit(fields),
        tool_less: fields.flag("tool_less").unwrap_or(false),
    };
    if !is_program {
        if program != ProgramSpec::default() {
            let message = format!("`{name}` has keys of an external program and no `command`");
            fields.refuse(node, message, "add `command: [program, argument]`");
        }
        return None;
    }
    if program.command.first().is_none_or(String::is_empty) {
        let message = format!("the `command` of `{name}` is empty");
        fields.refuse(node, message, "write `command: [program, argument]`");
    }
    Some(program)
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Diagnostic;
    use crate::workflow::{ParticipantSpec, Source, load};

    fn seats(participants: &str) -> Result<Vec<ParticipantSpec>, Vec<Diagnostic>> {
        let text = format!("question: q\nparticipants: [{participants}]\n");
        Ok(load(Source { text: &text, file: "f", id: "f" })?.definition.participants)
    }

    fn names(seats: &[ParticipantSpec]) -> Vec<&str> {
        seats.iter().map(|seat| seat.name.as_str()).collect()
    }

    #[test]
    fn many_of_one_persona_have_seeds_and_temperatures_of_their_own() {
        let panel = seats("{persona: qa-lead, count: 3, seed: 7, temperature: {from: 0, to: 1}, weight: 2}");
        let panel = panel.unwrap();
        assert_eq!(names(&panel), ["qa-lead-1", "qa-lead-2", "qa-lead-3"]);
        let drawn: Vec<_> = panel.iter().map(|seat| (seat.seed, seat.temperature, seat.weight)).collect();
        let expected = [(7, 0.0), (8, 0.5), (9, 1.0)];
        assert_eq!(drawn, expected.map(|(seed, warmth)| (Some(seed), Some(warmth), 2.0)));
        let one = seats("{persona: qa-lead, temperature: 0.7}").unwrap();
        assert_eq!((names(&one), one[0].temperature, one[0].seed), (vec!["qa-lead"], Some(0.7), None));
    }

    #[test]
    fn a_grid_seats_every_persona_with_every_model() {
        let grid = "{grid: {personas: [qa-lead, skeptic], models: [a/x, b/y]}, count: 2, seed: 1, \
                    temperature: [0, 1]}";
        let seats_of = seats(grid).unwrap();
        let told: Vec<_> = seats_of
            .iter()
            .map(|seat| (&*seat.name, &*seat.persona, seat.model.as_deref(), seat.seed, seat.temperature))
            .collect();
        let expected = [
            ("qa-lead-1", "qa-lead", "a/x", 1, 0.0),
            ("qa-lead-2", "qa-lead", "a/x", 2, 1.0),
            ("qa-lead-3", "qa-lead", "b/y", 3, 0.0),
            ("qa-lead-4", "qa-lead", "b/y", 4, 1.0),
            ("skeptic-1", "skeptic", "a/x", 5, 0.0),
            ("skeptic-2", "skeptic", "a/x", 6, 1.0),
            ("skeptic-3", "skeptic", "b/y", 7, 0.0),
            ("skeptic-4", "skeptic", "b/y", 8, 1.0),
        ];
        let expected = expected.map(|(name, persona, model, seed, warmth)| {
            (name, persona, Some(model), Some(seed), Some(warmth))
        });
        assert_eq!(told, expected);
        let after = seats(&format!("{{persona: skeptic, count: 2}}, {grid}")).unwrap();
        assert_eq!(names(&after)[6..], ["skeptic-3", "skeptic-4", "skeptic-5", "skeptic-6"]);
        let each = seats("{grid: {personas: [qa-lead, skeptic], models: a/x}}").unwrap();
        assert_eq!(names(&each), ["qa-lead", "skeptic"]);
    }

    #[test]
    fn what_cannot_be_seated_is_told_where_it_stands() {
        let told = |participants: &str| {
            let problems = seats(participants).expect_err(participants);
            assert!(problems.iter().all(|problem| problem.hint.is_some() && problem.place.is_some()));
            problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; ")
        };
        for (wrong, message) in [
            ("{grid: {personas: [qa-lead]}}", "the grid has no `models`"),
            ("{grid: {personas: [], models: [a/x]}}", "the grid has no `personas`"),
            ("{grid: {personas: [qa-lead], models: [a/x, a/x]}}", "`models` names `a/x` twice"),
            ("{grid: {personas: [\"qa lead\"], models: [a/x]}}", "`qa lead` is not a persona's name"),
            ("{grid: [qa-lead]}", "a grid must be a map of keys, found a list"),
            ("{grid: {personas: [a], models: [b/c]}, model: x/y}", "`model` stands beside a `grid`"),
            ("{grid: {personas: [a, b], models: [c/d]}, count: 5001}", "the grid seats above 10000"),
            ("{persona: qa-lead, count: 10001}", "`count` is above 10000"),
            (
                "{persona: qa-lead, temperature: 2.5}",
                "`temperature` of a participant must be a number from 0",
            ),
            ("{persona: qa-lead, temperature: [0.1, hot]}", "must be a number from 0 to 2"),
            ("{persona: qa-lead, temperature: {from: 1}}", "must be a number from 0 to 2"),
            ("{persona: qa-lead, temperature: []}", "must be a number from 0 to 2"),
            ("{grid: {personas: [qa-lead], models: [a/x]}}, qa-lead", "duplicate participant name"),
        ] {
            let found = told(wrong);
            assert!(found.contains(message), "{wrong}: {found}");
        }
        // A number too large to be counted is refused, and nothing is made of it.
        told("{grid: {personas: [a, b], models: [c/d]}, count: 18446744073709551615}");
    }
}
