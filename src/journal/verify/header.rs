//! The header: what its hashes, its definition and its numbers say of each other.

use super::Verifier;
use crate::history::{Door, LogEntry, PseudonymMap, RemoteSeat, Session, SessionOpened};
use crate::round::seal::SEAL_2;
use crate::round::snapshot::{sha256_hex, unhex};
use crate::workflow::Definition;

impl Verifier {
    pub(super) fn opened(&mut self, line: &LogEntry, opened: &SessionOpened) {
        if line.seq != 0 {
            return self.find(line, "the session is opened twice");
        }
        self.unread = opened.unread.iter().cloned().collect();
        if sha256_hex(&opened.definition) != opened.definition_sha256 {
            self.find(line, "the definition is not the one its hash was made of");
        }
        for persona in opened.personas.iter().filter(|persona| sha256_hex(&persona.text) != persona.sha256) {
            let what = format!("the text of persona `{}` is not the one its hash was made of", persona.name);
            self.find(line, what);
        }
        let of_seat =
            |name: &String| opened.participants.iter().any(|seat| seat.model.split('/').next() == Some(name));
        if let Some(name) = opened.providers.keys().find(|name| !of_seat(name)) {
            self.find(line, format!("`{name}` of `providers` is the provider of no seat"));
        }
        let has_remote = opened.participants.iter().any(|seat| seat.remote.is_some());
        let is_key = opened.table_key.as_deref().map(|key| unhex::<32>(key).is_some());
        if is_key != has_remote.then_some(true) || has_remote && opened.seal != Some(SEAL_2) {
            self.find(
                line,
                "a session with remote seats has a `table_key` and seal 2, another has no such key",
            );
        }
        for seat in &opened.participants {
            if let Some(what) = seat.remote.as_ref().and_then(wrong_key) {
                self.find(line, format!("remote seat `{}` {what}", seat.name));
            }
        }
        let Ok(definition) = Session::definition_of(opened) else { return };
        if !has_its_pseudonyms(opened, &definition) {
            self.find(line, "the pseudonyms are not those that their seed gives, or are not asked for");
        }
        let is_drawn_by_run =
            opened.seed.is_none() || opened.draw_seed.is_none() || opened.seed == opened.draw_seed;
        if opened.draw_seed.is_some() != definition.draws() || !is_drawn_by_run {
            self.find(line, "`draw_seed` is not the run's seed, or there is one and nothing is drawn");
        }
        if let Some(what) = opened.unlike_definition(&definition) {
            self.find(line, what);
        }
    }
}

fn wrong_key(remote: &RemoteSeat) -> Option<&'static str> {
    match (remote.door, &remote.key) {
        (_, Some(key)) if unhex::<32>(key).is_none() => Some("has a key that is none"),
        (Door::Nats, None) => Some("has a worker without a key"),
        (Door::Link, Some(_)) => Some("has a key before it has joined"),
        (Door::Inbox, Some(_)) => Some("has a key, and its ballots are sealed for it"),
        (Door::Link | Door::Inbox, None) | (Door::Nats, Some(_)) => None,
    }
}

/// Whether there are pseudonyms where the definition asks for them, and those of their seed.
fn has_its_pseudonyms(opened: &SessionOpened, definition: &Definition) -> bool {
    let names = opened.participants.iter().map(|seat| seat.name.as_str());
    match (&opened.pseudonyms, &definition.pseudonyms) {
        (None, None) => true,
        (Some(drawn), Some(_)) => *drawn == PseudonymMap::draw(drawn.seed, names),
        _ => false,
    }
}
