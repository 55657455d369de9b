//! Loading who takes part: one seat, or many of one persona.

use std::collections::HashSet;

use super::entries::Entries;
use super::map_reader::as_text;
use crate::persona::is_name;
use crate::workflow::definition::Effort;
use crate::workflow::definition::SeatNames;
use crate::workflow::definition::{ParticipantSpec, ProgramSpec, SeatTools, is_model_text};
use crate::yaml::Value;

/// No entry seats more.
pub const MOST_SEATS: u64 = 10_000;

/// Roster of a definition that names nobody.
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

/// `taken` are the names of the seats so far: seats that `count` numbers go on from theirs.
fn participant_map(entries: Entries<'_>, all: &mut Vec<ParticipantSpec>, taken: &HashSet<String>) {
    let seat = of_one(entries);
    let seed = entries.whole_number("seed");
    let count = entries.whole_number("count").unwrap_or(1).clamp(1, MOST_SEATS);
    let is_numbered = count > 1 && !seat.persona.is_empty();
    let mut number = 0;
    for nth in 0..count {
        let mut seat = ParticipantSpec { seed: seed.map(|seed| seed.wrapping_add(nth)), ..seat.clone() };
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

fn of_one(entries: Entries<'_>) -> ParticipantSpec {
    let persona = entries.text("persona");
    let place = (entries.node.line, entries.node.column);
    let model = models(entries).next();
    let mut name = entries.text("name").or_else(|| persona.clone()).unwrap_or_default();
    if let (true, Some(model)) = (name.is_empty(), &model) {
        return with_shared_keys(entries, ParticipantSpec::of_model(model, place));
    }
    if !is_name(&name) {
        let message = "participant has no usable `persona`, `model` or `name`";
        let hint = "write `persona: qa-lead`, `model: openai/gpt-5-mini` or `{name: ana, model: human}`; a text of \
                    its own is its `prompt`";
        if !entries.found.is_wrong(entries.node) {
            entries.refuse(entries.node, message, hint);
        }
        name.clear();
    }
    let seat = ParticipantSpec {
        needs_persona: persona.is_some(),
        persona: persona.unwrap_or_else(|| name.clone()),
        agent_only: entries.flag("agent_only").unwrap_or_default(),
        command: program(entries, &name),
        model,
        ..ParticipantSpec::named(&name, place)
    };
    with_shared_keys(entries, seat)
}

/// The seat with the keys that a seat of a persona and one of a model alone share.
fn with_shared_keys(entries: Entries<'_>, seat: ParticipantSpec) -> ParticipantSpec {
    ParticipantSpec {
        fallbacks: fallbacks(entries),
        prompt: entries.text("prompt"),
        role: entries.text("role"),
        tools: tools(entries),
        weight: entries.number("weight").unwrap_or(1.0),
        temperature: entries.number("temperature"),
        effort: entries.word("effort", &Effort::WORDS),
        max_output_tokens: entries.whole_number("max_output_tokens"),
        skills: entries.texts("skills"),
        tags: entries.texts("tags"),
        ..seat
    }
}

fn models(entries: Entries<'_>) -> impl Iterator<Item = String> {
    entries.texts("model").into_iter().filter(|model| !model.is_empty())
}

fn fallbacks(entries: Entries<'_>) -> Vec<String> {
    let fallbacks: Vec<String> = models(entries).skip(1).collect();
    let is_asked = |model: &String| {
        model.contains('/') && !model.starts_with("remote/") && !model.starts_with("rehearsal")
    };
    if let (false, Some(other)) = (fallbacks.is_empty(), models(entries).find(|model| !is_asked(model)))
        && let Some(node) = entries.node("model")
    {
        let message = format!("`{other}` cannot stand in a list of models");
        entries.refuse(node, message, "list models such as `openai/gpt-5-mini`, the preferred one first");
    }
    fallbacks
}

fn tools(entries: Entries<'_>) -> SeatTools {
    if entries.has("tools") && entries.has("command") {
        let message = "`tools` stands beside a `command`, which has the tools it has";
        entries.refuse(entries.node, message, "leave one of them out");
    }
    let words = [("none", SeatTools::LeftOut), ("allowed", SeatTools::Allowed)];
    entries.word("tools", &words).unwrap_or_default()
}

fn program(entries: Entries<'_>, name: &str) -> Option<ProgramSpec> {
    let codes = entries.values("ok_exit");
    let program = ProgramSpec {
        command: entries.texts("command"),
        env: entries.texts("env"),
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
    fn many_of_one_persona_have_names_and_seeds_of_their_own() {
        let panel = seats("{persona: qa-lead, count: 3, seed: 7, temperature: 0.5, weight: 2}").unwrap();
        assert_eq!(names(&panel), ["qa-lead-1", "qa-lead-2", "qa-lead-3"]);
        let drawn: Vec<_> = panel.iter().map(|seat| (seat.seed, seat.temperature, seat.weight)).collect();
        assert_eq!(drawn, [7, 8, 9].map(|seed| (Some(seed), Some(0.5), 2.0)));
        let one = seats("{persona: qa-lead, temperature: 0.7}").unwrap();
        assert_eq!((names(&one), one[0].temperature, one[0].seed), (vec!["qa-lead"], Some(0.7), None));
        let after = seats("{persona: skeptic, count: 2}, {persona: skeptic, model: a/x, count: 2}").unwrap();
        assert_eq!(names(&after), ["skeptic-1", "skeptic-2", "skeptic-3", "skeptic-4"]);
    }

    #[test]
    fn what_cannot_be_seated_is_told_where_it_stands() {
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
            // A number too large to be counted is refused, and nothing is made of it.
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
