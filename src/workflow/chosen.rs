//! Participants chosen on the command line: names, models, people, and maps in braces.

use serde_json::Value;

use super::definition::Definition;
use super::load::{Source, load};
use super::participants::{ParticipantSpec, SeatNames, SeatTools, is_model_text};
use super::steps::round::Selection;
use super::steps::step::Step;
use crate::diagnostic::Diagnostic;

/// Model of a remote person who is invited by a link.
pub const LINK: &str = "remote/link";

/// Splits a list of participants at the commas outside braces.
pub fn split_participants(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Reads a map in braces like a participant of a definition. Rejects keys that only a definition supports.
fn read_seat(entry: &str) -> Result<ParticipantSpec, Vec<Diagnostic>> {
    let text = format!("question: q\nparticipants: [{entry}]\n");
    let place_is_here = |problem: Diagnostic| Diagnostic { place: None, ..problem };
    let wrong = |problems: Vec<Diagnostic>| problems.into_iter().map(place_is_here).collect::<Vec<_>>();
    let loaded = load(Source { text: &text, file: "--participants", id: "chosen" }).map_err(wrong)?;
    if let [seat] = loaded.participants.as_slice() {
        let simple = ParticipantSpec {
            persona: seat.persona.clone(),
            needs_persona: seat.needs_persona,
            models: seat.models.iter().take(1).cloned().collect(),
            tools: seat.tools.filter(|tools| *tools == SeatTools::LeftOut),
            ..ParticipantSpec::from_persona(&seat.name, seat.place)
        };
        if simple == *seat {
            return Ok(ParticipantSpec { place: (0, 0), ..simple });
        }
    }
    let hint = "a participant of the command line has `persona`, `name`, `model` and `tools: none`";
    Err(Diagnostic::new(format!("`{entry}` needs a definition")).hint(hint).into())
}

/// Finds the participants that a name selects: one by name, all of a persona, or the next one of a model.
fn find_selected<'a>(
    name: &str,
    known: &'a [ParticipantSpec],
    chosen: &[ParticipantSpec],
) -> Vec<&'a ParticipantSpec> {
    let is_free = |seat: &&ParticipantSpec| chosen.iter().all(|one| one.name != seat.name);
    let has = |of: fn(&ParticipantSpec) -> &String| -> Vec<&ParticipantSpec> {
        known.iter().filter(|seat| of(seat) == name).collect()
    };
    let by_name = has(|seat| &seat.name);
    let found = if by_name.is_empty() { has(|seat| &seat.persona) } else { by_name };
    if !found.is_empty() && (!is_model_text(name) || found.iter().all(is_free)) {
        return found;
    }
    let of_model = |seat: &&ParticipantSpec| {
        seat.persona.is_empty() && seat.models.first().is_some_and(|first| first == name) && is_free(seat)
    };
    known.iter().find(of_model).into_iter().collect()
}

impl Definition {
    /// Adds seats for people invited by link; each replaces a participant of the same name.
    pub fn with_invited(mut self, names: &[String]) -> Result<Self, Vec<Diagnostic>> {
        for name in names {
            let seat = read_seat(&format!("{{name: {}, model: {LINK}}}", Value::from(name.as_str())))?;
            if seat.name != *name {
                return Err(vec![Diagnostic::new(format!("--invite names no seat: `{name}`"))]);
            }
            match self.participants.iter_mut().find(|known| known.name == *name) {
                Some(known) => *known = seat,
                None => self.participants.push(seat),
            }
        }
        Ok(self)
    }

    /// Keeps only these participants, in this order. An entry is a map in braces or a name. A name that no
    /// participant has selects all participants of that persona. Any other name becomes a new participant: a
    /// model, a person or a persona.
    pub fn with_participants(mut self, entries: &[String]) -> Result<Self, Vec<Diagnostic>> {
        let known = std::mem::take(&mut self.participants);
        let mut seat_names = SeatNames::new(known.iter().map(|seat| &seat.name));
        let mut chosen: Vec<ParticipantSpec> = Vec::new();
        for entry in entries {
            let seat = if entry.starts_with('{') {
                read_seat(entry)?
            } else {
                let found = find_selected(entry, &known, &chosen);
                if !found.is_empty() {
                    chosen.extend(found.into_iter().cloned());
                    continue;
                }
                ParticipantSpec::from_text(entry, (0, 0))
            };
            let is_of_model = seat.persona.is_empty();
            let name = if is_of_model { seat_names.reserve(&seat.name) } else { seat.name.clone() };
            chosen.push(ParticipantSpec { name, ..seat });
        }
        self.participants = chosen;
        let seated: Vec<String> = self.participants.iter().map(|p| p.name.clone()).collect();
        for step in &mut self.steps {
            step.change_rounds(&mut |round| {
                if let Selection::Named(names) = &mut round.participants {
                    names.retain(|name| seated.contains(name));
                }
            });
        }
        let agents: Vec<String> = self.all_steps().flat_map(Step::agents).map(str::to_owned).collect();
        let rest = known.into_iter().filter(|p| agents.contains(&p.name) && !seated.contains(&p.name));
        self.participants.extend(rest.map(|spec| ParticipantSpec { agent_only: true, ..spec }));
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_braces_split_nothing() {
        let parts = split_participants("qa-lead, {persona: coder, tools: none},ollama/llama3.2,, human");
        assert_eq!(parts, ["qa-lead", "{persona: coder, tools: none}", "ollama/llama3.2", "human"]);
    }

    #[test]
    fn seat_maps_reject_keys_of_definitions() {
        let seat = read_seat("{persona: coder, tools: none}").unwrap();
        assert_eq!((&*seat.name, seat.tools), ("coder", Some(SeatTools::LeftOut)));
        for wrong in [
            "{persona: coder, weight: 2}",
            "{persona: coder, count: 2}",
            "{name: x, tools: allowed}",
            "{persno: x}",
        ] {
            let problems = read_seat(wrong).expect_err(wrong);
            assert!(problems[0].hint.is_some() && problems[0].place.is_none(), "{wrong}");
        }
    }
}
