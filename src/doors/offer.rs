//! What a seat is asked, as JSON. The door adds until when.

use serde_json::{Value, json};

use crate::history::{RoundRun, Seat, SessionOpened};
use crate::round::envelope::VERSION;

/// An offer without its time; `order` is that of the options, where it is not the form's.
pub fn offer_json(
    header: &SessionOpened,
    round: &RoundRun,
    seat: &Seat,
    order: Option<&Vec<String>>,
) -> Option<Value> {
    let item = seat.item.as_ref()?;
    let persona = header.personas.iter().find(|persona| persona.name == item.persona);
    let (opened, mut ballot) = (&round.opened, round.opened.ballot.clone());
    if let Some(order) = order {
        ballot.options.clone_from(order);
    }
    Some(json!({
        "v": VERSION, "kind": "ballot", "delivery": round.delivery(&seat.name)?,
        "session": round.session, "round": opened.round, "participant": seat.name,
        "try": seat.retried + 1, "question": opened.question, "ballot": ballot,
        "rules": opened.rules, "address": item.address,
        "persona": persona.map(|persona| persona.text.as_str()),
        "snapshot_sha256": opened.snapshot_sha256, "public_key": round.seal_to.as_ref()?.public_key,
        "table_key": header.table_key,
    }))
}
