//! Loading who takes part: one seat, many of one persona, or a grid of personas and models.

use std::collections::HashSet;

use super::entries::Entries;
use super::map_reader::as_text;
use crate::persona::is_name;
use crate::workflow::definition::{ParticipantSpec, ProgramSpec, SeatTools, is_model_text};
use crate::workflow::effort::Effort;
use crate::workflow::per_seat::spread;
use crate::workflow::seat_names::SeatNames;
use crate::yaml::Value;

/// No entry seats more.
pub const MOST_SEATS: u64 = 10_000;

/// Who is asked when a definition names nobody.
pub const DEFAULT_PANEL: [&str; 5] =
    ["software-architect", "security-champion", "product-manager", "qa-lead", "devops-engineer"];

/// The roster; the default panel when nobody is named. A seat whose name cannot be used has none: the file
/// does not load.
pub fn participants(entries: Entries<'_>) -> Vec<ParticipantSpec> {
    let Some(node) = entries.node("participants") else {
        return DEFAULT_PANEL.iter().map(|name| ParticipantSpec::named(name, (0, 0))).collect();
    };
    if node.value == Value::List(Vec::new()) {
        entries.refuse(node, "`participants` is empty", "name at least one, or leave the key out");
    }
    let (mut all, mut taken) = (Vec::new(), HashSet::new());
    for node in entries.list("participants") {
        let before = all.len();
        if let Some(inner) = Entries::of(node, entries.found) {
            participant_map(inner, &mut all, &taken);
        } else if let Some(name) = as_text(node) {
            let mut seat = ParticipantSpec::of_text(&name, (node.line, node.column));
            if !is_model_text(&name) && !is_name(&name) {
                let hint =
                    "write a persona such as `qa-lead`, a model such as `openai/gpt-5-mini`, or `human`";
                entries.refuse(node, format!("`{name}` is not a participant's name"), hint);
                seat = ParticipantSpec::named("", seat.place);
            }
            all.push(seat);
        }
        taken.extend(all[before..].iter().map(|seat| seat.name.clone()));
    }
    name_apart(&mut all);
    all
}

/// Names the seats that are named after their models so that all names differ.
fn name_apart(all: &mut [ParticipantSpec]) {
    let mut names =
        SeatNames::taken(all.iter().filter(|seat| !seat.persona.is_empty()).map(|seat| &seat.name));
    for seat in all.iter_mut().filter(|seat| seat.persona.is_empty() && !seat.name.is_empty()) {
        seat.name = names.free(&seat.name);
        if seat.prompt.is_some() {
            seat.persona.clone_from(&seat.name);
        }
    }
}

/// `taken` are the names of the seats so far.
fn participant_map(entries: Entries<'_>, all: &mut Vec<ParticipantSpec>, taken: &HashSet<String>) {
    let kinds = match entries.map("grid") {
        Some(grid) => of_grid(entries, grid),
        None => vec![of_one(entries)],
    };
    let weight = entries.number("weight").unwrap_or(1.0);
    let seed = entries.whole_number("seed");
    let temperature = spread(entries, "temperature");
    let effort = entries.word("effort", &Effort::WORDS);
    let max_output_tokens = entries.whole_number("max_output_tokens");
    let count = entries.whole_number("count").unwrap_or(1).clamp(1, MOST_SEATS);
    if count * kinds.len() as u64 > MOST_SEATS {
        let message = format!("the grid seats above {MOST_SEATS}");
        entries.refuse(entries.node, message, "seat fewer participants");
    }
    let (skills, tags) = (entries.texts("skills"), entries.texts("tags"));
    let (role, tools) = (entries.text("role"), tools(entries));
    let each = usize::try_from(count).unwrap_or(usize::MAX);
    let seats = kinds.iter().flat_map(|kind| std::iter::repeat_n(kind, each));
    let total = each.saturating_mul(kinds.len());
    let mut numbers = SeatNumbers::of(&kinds, each);
    for (nth, kind) in seats.take(MOST_SEATS as usize).enumerate() {
        all.push(ParticipantSpec {
            name: if kind.persona.is_empty() { kind.name.clone() } else { numbers.name(&kind.name, taken) },
            role: role.clone(),
            tools,
            weight,
            seed: seed.map(|seed| seed.wrapping_add(nth as u64)),
            temperature: temperature.as_ref().map(|spread| spread.value_for(nth, total)),
            effort,
            max_output_tokens,
            skills: skills.clone(),
            tags: tags.clone(),
            ..kind.clone()
        });
    }
}

/// What all seats of a map without a grid have in common.
fn of_one(entries: Entries<'_>) -> ParticipantSpec {
    let persona = entries.text("persona");
    let place = (entries.node.line, entries.node.column);
    let model = entries.text("model").filter(|model| !model.is_empty());
    let mut name = entries.text("name").or_else(|| persona.clone()).unwrap_or_default();
    if let (true, Some(model)) = (name.is_empty(), &model) {
        let prompt = entries.text("prompt");
        return ParticipantSpec { prompt, ..ParticipantSpec::of_model(model, place) };
    }
    if !is_name(&name) {
        let message = "participant has no usable `persona`, `model` or `name`";
        let hint = "write `persona: qa-lead`, `model: openai/gpt-5-mini` or `{name: ana, model: human}`";
        entries.refuse(entries.node, message, hint);
        name.clear();
    }
    let table_seals = entries.flag("table_seals").unwrap_or_default();
    if table_seals && model.as_deref() != Some("remote/inbox") {
        let hint = "add `model: remote/inbox`, or leave it out: every other seat seals its ballots, or is sealed for";
        entries.refuse(entries.node, "`table_seals` is for agents that poll", hint);
    }
    ParticipantSpec {
        needs_persona: persona.is_some(),
        persona: persona.unwrap_or_else(|| name.clone()),
        agent_only: entries.flag("agent_only").unwrap_or_default(),
        table_seals,
        prompt: entries.text("prompt"),
        command: program(entries, &name),
        model,
        ..ParticipantSpec::named(&name, place)
    }
}

fn tools(entries: Entries<'_>) -> SeatTools {
    if entries.has("tools") && entries.has("command") {
        let message = "`tools` stands beside a `command`, which has the tools it has";
        entries.refuse(entries.node, message, "leave one of them out");
    }
    let words = [("none", SeatTools::LeftOut), ("allowed", SeatTools::Allowed)];
    entries.word("tools", &words).unwrap_or_default()
}

/// Every persona of a grid with every model: a persona's seats stand together, in the order of the
/// models. A seat's name does not tell its model, so that no prompt does.
fn of_grid(entries: Entries<'_>, grid: Entries<'_>) -> Vec<ParticipantSpec> {
    for key in [
        "persona",
        "name",
        "model",
        "prompt",
        "command",
        "cwd",
        "env",
        "max_bytes",
        "ok_exit",
        "tool_less",
        "tools",
    ] {
        if let Some(node) = entries.node(key) {
            let message = format!("`{key}` stands beside a `grid`, which names its own");
            entries.refuse(node, message, format!("leave `{key}` out, or write a participant of its own"));
        }
    }
    let (personas, models) = (grid.texts("personas"), grid.texts("models"));
    for (names, key) in [(&personas, "personas"), (&models, "models")] {
        let again = names.iter().enumerate().find(|(nth, name)| names[..*nth].contains(name));
        if let Some((_, name)) = again {
            let message = format!("`{key}` names `{name}` twice");
            entries.refuse(grid.node, message, "name each once; `count` seats more");
        } else if names.is_empty() && grid.has(key) {
            entries.refuse(grid.node, format!("the grid has no `{key}`"), format!("add `{key}: […]`"));
        }
    }
    if let Some(name) = personas.iter().find(|name| !is_name(name)) {
        entries.refuse(grid.node, format!("`{name}` is not a persona's name"), "write it as `qa-lead`");
    }
    let place = (grid.node.line, grid.node.column);
    let seat = |persona: &String, model: &String| ParticipantSpec {
        model: Some(model.clone()),
        ..ParticipantSpec::named(persona, place)
    };
    personas.iter().flat_map(|persona| models.iter().map(|model| seat(persona, model))).collect()
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

/// The external program a participant is, if it is one.
fn program(entries: Entries<'_>, name: &str) -> Option<ProgramSpec> {
    let codes = entries.values("ok_exit");
    let program = ProgramSpec {
        command: entries.texts("command"),
        cwd: entries.text("cwd"),
        env: entries.texts("env"),
        max_bytes: entries.whole_number("max_bytes"),
        ok_exit: codes.iter().filter_map(serde_json::Value::as_i64).collect(),
        tool_less: entries.flag("tool_less").unwrap_or(false),
    };
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
            ("{grid: [qa-lead]}", "`grid` of a participant must be a map of keys, found a list"),
            ("{grid: {personas: [a], models: [b/c]}, model: x/y}", "`model` stands beside a `grid`"),
            ("{grid: {personas: [a, b], models: [c/d]}, count: 5001}", "the grid seats above 10000"),
            (
                "{persona: qa-lead, count: 10001}",
                "`count` of a participant must be a whole number from 1 to 10000",
            ),
            (
                "{persona: qa-lead, temperature: 2.5}",
                "`temperature` of a participant must be a number from 0 to 2",
            ),
            ("{persona: qa-lead, temperature: [0.1, hot]}", "must be a number from 0 to 2"),
            ("{persona: qa-lead, temperature: {from: 1}}", "the temperature has no `to`"),
            ("{persona: qa-lead, temperature: []}", "`temperature` is empty"),
            ("{grid: {personas: [qa-lead], models: [a/x]}}, qa-lead", "duplicate participant name"),
        ] {
            let found = told(wrong);
            assert!(found.contains(message), "{wrong}: {found}");
        }
        // A number too large to be counted is refused, and nothing is made of it.
        told("{grid: {personas: [a, b], models: [c/d]}, count: 18446744073709551615}");
    }
}
