//! The header: what its hashes, its definition and its numbers say of each other.

use crate::history::{Door, PseudonymMap, RemoteSeat, SessionOpened};
use crate::round::seal::sign::is_public_key;
use crate::round::snapshot::sha256_hex;
use crate::workflow::Definition;

pub fn check(opened: &SessionOpened, definition: &Definition) -> Result<(), String> {
    if sha256_hex(&opened.definition) != opened.definition_sha256 {
        return Err("the definition is not the one its hash was made of".to_owned());
    }
    if let Some(persona) = opened.personas.iter().find(|persona| sha256_hex(&persona.text) != persona.sha256)
    {
        return Err(format!("the text of persona `{}` is not the one its hash was made of", persona.name));
    }
    let of_seat =
        |name: &String| opened.participants.iter().any(|seat| seat.model.split('/').next() == Some(name));
    if let Some(name) = opened.providers.keys().find(|name| !of_seat(name)) {
        return Err(format!("`{name}` of `providers` is the provider of no seat"));
    }
    let has_remote = opened.participants.iter().any(|seat| seat.remote.is_some());
    if opened.table_key.as_deref().map(is_public_key) != has_remote.then_some(true) {
        return Err("a session with remote seats has a `table_key`, another has no such key".to_owned());
    }
    for seat in &opened.participants {
        if let Some(what) = seat.remote.as_ref().and_then(wrong_key) {
            return Err(format!("remote seat `{}` {what}", seat.name));
        }
    }
    if !has_its_pseudonyms(opened, definition) {
        return Err("the pseudonyms are not those that their seed gives, or are not asked for".to_owned());
    }
    let is_drawn_by_run =
        opened.seed.is_none() || opened.draw_seed.is_none() || opened.seed == opened.draw_seed;
    if opened.draw_seed.is_some() != definition.draws() || !is_drawn_by_run {
        return Err("`draw_seed` is not the run's seed, or there is one and nothing is drawn".to_owned());
    }
    opened.unlike_definition(definition).map_or(Ok(()), Err)
}

fn wrong_key(remote: &RemoteSeat) -> Option<&'static str> {
    match (remote.door, &remote.key) {
        (_, Some(key)) if !is_public_key(key) => Some("has a key that is none"),
        (Door::Nats, None) => Some("has a worker without a key"),
        (Door::Link, Some(_)) => Some("has a key before it has joined"),
        (Door::Inbox, Some(_)) => Some("has a key, and its ballots are sealed for it"),
        (Door::Link | Door::Inbox, None) | (Door::Nats, Some(_)) => None,
    }
}

/// Pseudonyms are there where the definition asks for them, and are those of their seed.
fn has_its_pseudonyms(opened: &SessionOpened, definition: &Definition) -> bool {
    let names = opened.participants.iter().map(|seat| seat.name.as_str());
    match (&opened.pseudonyms, &definition.pseudonyms) {
        (None, None) => true,
        (Some(drawn), Some(_)) => *drawn == PseudonymMap::draw(drawn.seed, names),
        _ => false,
    }
}
