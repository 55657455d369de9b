//! People who take seats: where nobody shows them their questions, the session rests before anything
//! is sent.

use super::state::Engine;

impl Engine<'_> {
    /// The step that a person must answer in next, and what to say, where no person can be asked.
    pub(super) fn missing_human(&self) -> Option<(String, String)> {
        let waits = |name: &str, step: &str| {
            let is_at_a_door = self.arrivals.is_some() && self.session.is_remote(name);
            !is_at_a_door
                && self.config.table.get(name).is_some_and(|participant| participant.waits_for_person(step))
        };
        let (step, names) = self.next_seats().or_else(|| self.next_agents())?;
        let names: Vec<&str> = names.into_iter().filter(|name| waits(name, &step)).collect();
        if names.is_empty() || self.waits_in_vain() {
            return None;
        }
        let who = names.join(", ");
        let seats = if names.iter().all(|name| self.session.is_remote(name)) { "remote" } else { "human" };
        Some((step, format!("waiting for {seats} seat: {who}")))
    }

    /// Whether the round that waits cannot be opened: its step ends, and nobody is asked.
    fn waits_in_vain(&self) -> bool {
        let definition = self.session.definition.as_deref().filter(|_| self.session.open_round().is_none());
        let waiting = definition.zip(self.session.waiting_round());
        waiting.is_some_and(|(definition, (step, round))| {
            self.session.round_refusal(definition, step, round).is_some()
        })
    }

    fn next_seats(&self) -> Option<(String, Vec<&str>)> {
        if let Some(round) = self.session.open_round() {
            let seats: Vec<&str> = round.open_seats().map(|seat| seat.name.as_str()).collect();
            return (!seats.is_empty()).then(|| (round.opened.step.clone(), seats));
        }
        let (step, round) = self.session.waiting_round()?;
        let seats = self.session.roster.keys().filter(|name| round.participants.holds(name));
        Some((step.id.clone(), seats.map(String::as_str).collect()))
    }

    fn next_agents(&self) -> Option<(String, Vec<&str>)> {
        let step = self.session.open_items().next()?.offered.step.clone();
        let items = self.session.open_items().filter(|item| item.offered.step == step);
        Some((step.clone(), items.map(|item| item.offered.participant.as_str()).collect()))
    }
}
