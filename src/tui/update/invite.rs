//! Links for seats whose people are somewhere else: shown, copied, renewed.

use indexmap::IndexMap;

use super::message::Effect;
use crate::history::{Door, SeatInvited, Session};
use crate::tui::list::{List, ListKind, ListRow};
use crate::tui::model::{Model, Overlay, TextView};
use crate::tui::sources::SeatLink;

/// Whether a seat is invited: a person by a link, an agent that polls by a token.
fn is_invited(session: &Session, seat: &str) -> bool {
    session.remote(seat).is_some_and(|remote| remote.door != Door::Nats)
}

fn is_agent(session: &Session, seat: &str) -> bool {
    session.remote(seat).is_some_and(|remote| remote.door == Door::Inbox)
}

pub fn access_word(session: &Session, seat: &str) -> &'static str {
    if is_agent(session, seat) { "access token" } else { "link" }
}

/// How a seat that is invited stands while nothing of it is sealed.
pub fn invitation(session: &Session, seat: &str) -> Option<&'static str> {
    if !is_invited(session, seat) {
        return None;
    }
    Some(match session.invitations.get(seat) {
        None => "not invited",
        Some(invitation) if invitation.key.is_none() => "invited",
        Some(_) => "joined",
    })
}

/// The seat that is chosen, or the first that is invited by a link.
pub fn seat_to_invite(model: &Model) -> Option<String> {
    let session = model.session();
    let chosen = model.seat_name().filter(|seat| is_invited(session, seat)).map(str::to_owned);
    chosen.or_else(|| session.roster.keys().find(|seat| is_invited(session, seat)).cloned())
}

/// What can be done with a seat's link. Links work once the session has begun, so it begins for them.
pub fn ask(model: &mut Model) -> Vec<Effect> {
    let Some(seat) = seat_to_invite(model) else { return Vec::new() };
    let state = invitation(model.session(), &seat).unwrap_or_default();
    let Some(live) = model.live_mut() else { return Vec::new() };
    if live.draft.is_some() {
        live.shows_link = true;
        return vec![Effect::Begin];
    }
    let word = access_word(model.session(), &seat);
    let code = if is_agent(model.session(), &seat) { "" } else { " and its QR code" };
    let rows =
        [format!("Show the {word}{code} (y copies)"), format!("New {word}: the old one stops working")];
    let rows = rows.iter().map(|text| ListRow::new(text, text, "")).collect();
    let title = format!("{seat}: {state}");
    model.overlay = Some(Overlay::List(List::of(ListKind::Invitation(seat), title, rows)));
    Vec::new()
}

pub fn chosen(model: &mut Model, seat: &str, at: usize) -> Vec<Effect> {
    if at == 1 {
        return vec![Effect::Invite(seat.to_owned())];
    }
    let word = access_word(model.session(), seat);
    let Some(link) = model.live().and_then(|live| live.links.get(seat)).cloned() else {
        model.notice = Some(format!("Its {word} is not on this machine. Make a new one."));
        return Vec::new();
    };
    show(model, seat, &link);
    Vec::new()
}

/// Shows a link, and its code where there is room for it.
fn show(model: &mut Model, seat: &str, link: &SeatLink) {
    let room = usize::from(model.size.0.saturating_sub(2));
    let fits = |code: &&String| code.lines().all(|line| line.chars().count() <= room);
    let code = link.code.as_ref().filter(fits).map(|code| format!("{code}\n")).unwrap_or_default();
    let (of, about) = if is_agent(model.session(), seat) {
        (
            "Access token",
            "Whoever has it works as this agent: give it to one agent alone. `roundtable inbox run -- COMMAND` needs \
             these in its environment. They work while this program runs.",
        )
    } else {
        (
            "Link",
            "Whoever opens it first votes as this seat: send it to one person alone. It works while this program runs.",
        )
    };
    let notes = link.notes.join("\n\n");
    // The link is in view on every screen; its code is below it.
    let text = format!("{}\n\n{code}{about}\n\n{notes}", link.text);
    let title = format!("{of} of {seat}");
    let copies = Some(link.text.clone());
    model.overlay = Some(Overlay::Text(TextView { title, text, copies, ..TextView::default() }));
}

/// Takes the links of a session that has begun or goes on.
pub fn begun(model: &mut Model, links: &IndexMap<String, SeatLink>) {
    let Some(live) = model.live_mut() else { return };
    live.links.clone_from(links);
    if std::mem::take(&mut live.shows_link)
        && let Some((seat, link)) = seat_to_invite(model).and_then(|seat| links.get_key_value(&seat))
    {
        show(model, seat, link);
    }
}

/// Takes a new link, now that its invitation is on record, and shows it.
pub fn recorded(model: &mut Model, invited: &SeatInvited) {
    let made = model.live_mut().and_then(|live| live.new_link.take_if(|(made, _)| made == invited));
    let Some((_, link)) = made else { return };
    show(model, &invited.participant, &link);
    if let Some(live) = model.live_mut() {
        live.links.insert(invited.participant.clone(), link);
    }
}
