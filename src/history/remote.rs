//! Remote seats as they stand: their invitations and keys.

use super::event::{BallotSealed, RemoteSeat, SeatInvited, SeatJoined};
use super::state::{Invitation, RoundRun, Session};
use crate::round::seal::AssociatedData;
use crate::round::seal::sign::{ballot_message, delivery_id, is_signed};

impl Session {
    pub(super) fn note_joined(&mut self, joined: &SeatJoined) {
        if let Some(invitation) = self.invitations.get_mut(&joined.participant) {
            invitation.key = Some(joined.key.clone());
        }
    }

    pub(super) fn invite(&mut self, invited: &SeatInvited) {
        let SeatInvited { participant, invitation, expires } = invited.clone();
        let before = self.invitations.get(&participant);
        let earlier_keys = before.map_or(0, |before| before.earlier_keys + u32::from(before.key.is_some()));
        self.invitations.insert(participant, Invitation { invitation, expires, key: None, earlier_keys });
    }

    /// Whether a seat is somewhere else, and signs what it seals.
    pub fn is_remote(&self, seat: &str) -> bool {
        self.remote(seat).is_some()
    }

    pub fn remote(&self, seat: &str) -> Option<&RemoteSeat> {
        self.seat_info(seat)?.remote.as_ref()
    }

    /// The key that a remote seat signs with: the one in the header, else the one it has joined with.
    pub fn seat_key(&self, seat: &str) -> Option<&str> {
        let pinned = self.remote(seat)?.key.as_deref();
        pinned.or_else(|| self.invitations.get(seat)?.key.as_deref())
    }

    /// Whether a ballot is signed with the key that its seat has joined with.
    pub fn is_signed_by_seat(&self, sealed: &BallotSealed) -> bool {
        let round = self.round(&sealed.round);
        let message = round.and_then(|round| {
            let public_key = &round.seal_to.as_ref()?.public_key;
            ballot_message(round.binding(&sealed.participant), public_key, &sealed.seal)
        });
        let signed = self.seat_key(&sealed.participant).zip(message).zip(sealed.signature.as_ref());
        signed.is_some_and(|((key, message), signature)| is_signed(key, &message, signature))
    }
}

impl RoundRun {
    pub fn binding<'a>(&'a self, seat: &'a str) -> AssociatedData<'a> {
        AssociatedData {
            session: &self.session,
            round: &self.opened.round,
            participant: seat,
            snapshot_sha256: &self.opened.snapshot_sha256,
            opened_sha256: &self.opened_sha256,
        }
    }

    /// The id of the delivery that a remote seat is to answer now.
    pub fn delivery(&self, seat: &str) -> Option<String> {
        let public_key = &self.seal_to.as_ref()?.public_key;
        Some(delivery_id(self.binding(seat), public_key, self.seat(seat)?.retried + 1))
    }
}
