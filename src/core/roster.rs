//! Roster of a session, as its definition requires it.
//!
//! The command line may choose participants and models. Everything else about a seat must match the
//! definition.

use crate::history::{PersonaInfo, RemoteSeat, SeatInfo, SessionOpened};
use crate::persona::Persona;
use crate::round::snapshot::sha256_hex;
use crate::workflow::{Definition, ParticipantSpec, SeatTools, Step, TRACKER};

pub const ROLE_WITHOUT_PERSONA: &str = "participant";

impl Definition {
    /// Returns whether a step names the built-in tracker and no seat has its name.
    pub fn is_tracker(&self, spec: &ParticipantSpec) -> bool {
        spec.agent_only
            && spec.name == TRACKER
            && !self.participants.iter().any(|other| other.name == TRACKER)
    }

    /// Returns the model name if no model answers: the tracker, a rehearsal's placeholder, or a program.
    pub fn answered_by(&self, spec: &ParticipantSpec, rehearses: bool) -> Option<String> {
        if self.is_tracker(spec) {
            return Some(TRACKER.to_owned());
        }
        if rehearses {
            return Some("rehearsal".to_owned());
        }
        let words = spec.command.as_ref()?.command.as_slice();
        // An interpreter is named with its script.
        let is_name = |word: &&String| !word.starts_with(['-', '{']) && !word.contains(char::is_whitespace);
        let script = words.get(1).filter(is_name);
        let names = words.first().into_iter().chain(script);
        let names: Vec<&str> = names.filter_map(|name| name.rsplit(['/', '\\']).next()).collect();
        (!names.is_empty()).then(|| format!("command/{}", names.join(" ")))
    }
}

impl SeatInfo {
    /// Creates a seat from the definition and the command line's choices.
    pub fn from_spec(spec: &ParticipantSpec, model: String, scripted: Vec<String>) -> Self {
        Self {
            name: spec.name.clone(),
            persona: spec.persona.clone(),
            remote: RemoteSeat::from_model(&model).filter(|_| scripted.is_empty()),
            model,
            weight: spec.weight,
            seed: spec.seed,
            temperature: spec.temperature,
            effort: spec.effort,
            max_output_tokens: spec.max_output_tokens,
            scripted,
            agent_only: spec.agent_only,
            skills: spec.skills.clone(),
            tags: spec.tags.clone(),
            role: spec.role.clone(),
            without_tools: spec.tools == Some(SeatTools::LeftOut),
            wrapped: None,
        }
    }

    /// Returns the participant of a seat that only the command line names: a model or a persona.
    fn to_spec(&self) -> ParticipantSpec {
        ParticipantSpec {
            persona: self.persona.clone(),
            needs_persona: !self.persona.is_empty() && self.role.is_none(),
            tools: self.without_tools.then_some(SeatTools::LeftOut),
            ..ParticipantSpec::from_persona(&self.name, (0, 0))
        }
    }
}

impl PersonaInfo {
    /// Creates the header's entry of a persona; one that is not needed has only a name.
    pub fn new(name: String, persona: Option<Persona>) -> Self {
        let persona = persona.unwrap_or_else(|| Persona::with_name(&name));
        Self {
            name,
            sha256: sha256_hex(&persona.text),
            description: persona.description,
            tags: persona.tags,
            text: persona.text,
        }
    }
}

impl SessionOpened {
    pub fn unlike_definition(&self, definition: &Definition) -> Option<String> {
        let mut personas: Vec<PersonaInfo> = Vec::new();
        for seat in &self.participants {
            let known = definition.participants.iter().find(|spec| spec.name == seat.name).cloned();
            let known = known.unwrap_or_else(|| seat.to_spec());
            // A participant left out of the rounds can still answer as an agent.
            let spec = ParticipantSpec { agent_only: known.agent_only || seat.agent_only, ..known };
            let model = definition.answered_by(&spec, self.rehearse).unwrap_or_else(|| seat.model.clone());
            let given = SeatInfo::from_spec(&spec, model, seat.scripted.clone());
            // A seat without its own seed uses that of the run.
            let mut given = SeatInfo { seed: given.seed.or(self.seed), ..given };
            // The settings provide the key.
            if let (Some(given), Some(remote)) = (&mut given.remote, &seat.remote) {
                given.key.clone_from(&remote.key);
            }
            let role = spec.role.clone().or_else(|| self.role_without_persona(&spec, seat));
            if *seat != (SeatInfo { role, wrapped: seat.wrapped.clone(), ..given }) {
                return Some(format!("seat `{}` of the roster is not as the definition gives it", seat.name));
            }
            if !personas.iter().any(|persona| persona.name == spec.persona) {
                personas.push(self.persona_given(&spec, personas.len()));
            }
        }
        if personas != self.personas {
            return Some("the personas are not those of the roster".to_owned());
        }
        let is_seated = |name: &&str| self.participants.iter().any(|seat| seat.name == **name);
        let mut agents = definition.all_steps().flat_map(Step::agents).filter(|name| !name.is_empty());
        let missing = agents.find(|name| !is_seated(name))?;
        Some(format!("agent `{missing}` of a step is not in the roster"))
    }

    /// Returns the role that the header sets for a seat without a persona.
    fn role_without_persona(&self, spec: &ParticipantSpec, seat: &SeatInfo) -> Option<String> {
        let has_text = |info: &PersonaInfo| info.name == spec.persona && !info.text.is_empty();
        let may_be = !spec.needs_persona && !self.personas.iter().any(has_text);
        seat.role.clone().filter(|role| may_be && role == ROLE_WITHOUT_PERSONA)
    }

    /// Takes the persona's text from the definition, else from the header.
    fn persona_given(&self, spec: &ParticipantSpec, place: usize) -> PersonaInfo {
        let name = spec.persona.clone();
        match (&spec.prompt, self.personas.get(place)) {
            (Some(text), _) => PersonaInfo::new(name.clone(), Some(Persona::with_text(&name, text))),
            (None, Some(info)) => PersonaInfo { name, ..info.clone() },
            (None, None) => PersonaInfo::new(name, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::core::testing::session;

    #[test]
    fn the_roster_names_a_program_by_its_script_and_not_by_its_prompt() {
        let differs = |command: &str, model: &str| {
            let seat = format!("{{name: p, command: [{command}], tool_less: true}}");
            let session = session(&format!("question: q\nparticipants: [{seat}]\n"), &[("p", model)]);
            let header = session.header.as_ref().expect("opened");
            header.unlike_definition(session.definition()).is_some_and(|why| why.starts_with("seat `p`"))
        };
        assert!(!differs("python3, dir/a.py", "command/python3 a.py"));
        assert!(differs("python3, dir/a.py", "command/python3 b.py"));
        assert!(differs("ask, \"{prompt}\"", "command/ask {prompt}"));
        assert!(!differs("ask, \"{prompt}\"", "command/ask"));
    }
}
