//! Remote seats in a session file: invitations, signed ballots, forgeries.

use std::path::Path;

use roundtable::core::Command;
use roundtable::history::{
    CloseReason, EnvelopeRefused, Event, RefusalWord, SeatInvited, SeatJoined, TimedEvent, Timestamp,
};
use roundtable::journal::verify;
use roundtable::round::envelope::{DeliveryIds, Envelope, FailedDelivery, Failure};
use roundtable::round::seal::sign::{SigningKey, ballot_message, offer_message};
use roundtable::round::seal::{Binding, Nonces, RoundKey, SealedRecord, Sealer};
use roundtable::round::snapshot::{hex, sha256_hex, unhex};
use serde_json::{Value, json};

use crate::forge::chained;
use crate::sitting::{Sitting, header, persona, seat};

/// Expiry of invitations.
const NEXT_YEAR: i64 = 1_826_888_400_000;

const DEFINITION: &str = "\
participants: [{name: ann, model: rehearsal}, {name: dana, model: remote/link}]
steps: [{id: vote, type: round, question: Which store?, rule: plurality, quorum: 1,
  ballot: {kind: choice, options: [redis, sqlite]}}]
";

pub fn round_key() -> RoundKey {
    RoundKey::new([0x11; 32])
}

pub fn dana() -> SigningKey {
    SigningKey::new([0x44; 32])
}

fn opened() -> Sitting {
    opened_as(DEFINITION, |_| {})
}

/// Returns a session with an invited link seat `dana`; `change` edits its header.
pub fn opened_as(definition: &str, change: impl FnOnce(&mut Value)) -> Sitting {
    let mut remote = seat("dana", "remote/link");
    remote["remote"] = json!({ "door": "link" });
    let seats = [seat("ann", "rehearsal"), remote];
    let mut header = header(definition, &seats, &[persona("ann", ""), persona("dana", "")]);
    header["session"] = "20261122-130000-phone-vote-0001".into();
    header["table_key"] = SigningKey::new([0x55; 32]).public().into();
    change(&mut header);
    let mut sitting = Sitting::new(header, 1000);
    sitting.does(Command::StartStep);
    sitting.invite("first");
    sitting
}

fn asked() -> Sitting {
    opened().asked(&dana())
}

impl Sitting {
    pub fn asked(mut self, key: &SigningKey) -> Self {
        self.does(Command::OpenRound { project_summary: None, seal: Some(round_key().seal_to()) });
        self.join("first", key).expect("joined");
        self
    }

    fn invite(&mut self, token: &str) {
        let (participant, invitation) = ("dana".to_owned(), sha256_hex(token));
        self.does(Command::Invite(SeatInvited { participant, invitation, expires: Timestamp(NEXT_YEAR) }));
    }

    fn join(&mut self, token: &str, key: &SigningKey) -> Result<usize, String> {
        let (participant, invitation) = ("dana".to_owned(), sha256_hex(token));
        self.tries(Command::Join(SeatJoined { participant, invitation, key: key.public() }))
    }

    pub fn envelope(&self, record: &str, nonce: u8, key: &SigningKey) -> Envelope {
        let round = self.session.rounds.last().expect("a round");
        let seal = self.sealed("dana", record, &round_key(), nonce);
        let delivery = round.delivery("dana").expect("a delivery");
        let (binding, signature) = (round.binding("dana"), String::new());
        let mut envelope = Envelope { v: 3, delivery, binding, seal, signature };
        sign(&mut envelope, key);
        envelope
    }

    pub fn send(&mut self, envelope: Envelope) -> Result<usize, String> {
        self.tries(Command::SealRemote(Box::new(envelope)))
    }

    /// Seals `ann`'s answer, closes, reveals and counts.
    pub fn finishes(&mut self) {
        let round = self.session.rounds.last().expect("a round");
        let item = round.seat("ann").and_then(|seat| seat.item.as_ref()).expect("asked");
        let seal =
            self.sealed("ann", &said("vote: sqlite").replace("human/browser", &item.model), &round_key(), 7);
        self.finishes_with(seal);
    }

    pub fn finishes_with(&mut self, seal: SealedRecord) {
        let (round, participant) = ("vote".to_owned(), "ann".to_owned());
        self.does(Command::Seal { round, participant, seal });
        let missing = self.session.open_round().expect("open").open_seats().next().is_some();
        let reason = if missing { CloseReason::Facilitator } else { CloseReason::All };
        self.does(Command::CloseRound { reason, key: round_key() });
        self.does(Command::Tally);
        self.does(Command::FinishStep { step: "vote".to_owned() });
        self.does(Command::Close);
    }

    pub fn findings(&self) -> Vec<String> {
        verify(&chained(&self.events), None).findings.into_iter().map(|finding| finding.what).collect()
    }
}

fn sign(envelope: &mut Envelope, key: &SigningKey) {
    let public = round_key().seal_to().public_key;
    let message = ballot_message(&envelope.binding, &public, &envelope.seal).expect("a message");
    envelope.signature = key.sign(&message);
}

/// Returns the events of a session with a signed ballot; another program verifies their file.
pub fn recorded() -> Vec<TimedEvent> {
    let mut sitting = voted();
    sitting.finishes();
    std::fs::write(crate::oracle::oracle_file("remote.s2s"), chained(&sitting.events)).expect("written");
    sitting.events
}

fn voted() -> Sitting {
    let mut sitting = asked();
    let record = said("{\"vote\":\"redis\",\"reason\":\"Größe\"}");
    sitting.send(sitting.envelope(&record, 0x22, &dana())).expect("taken");
    sitting
}

pub fn said(text: &str) -> String {
    json!({
        "origin": "person", "model": "human/browser",
        "replies": [{ "text": text }], "tries": 1, "latency_ms": 0,
    })
    .to_string()
}

#[test]
fn a_signed_ballot_counts_and_verifies() {
    let mut sitting = voted();
    sitting.does(Command::RefuseEnvelope(EnvelopeRefused {
        step: String::new(),
        round: "vote".to_owned(),
        participant: "dana".to_owned(),
        why: RefusalWord::BadSignature,
        commitment: hex(&[5; 32]),
    }));
    sitting.finishes();
    assert_eq!(sitting.findings(), [] as [&str; 0]);
    let tally = sitting.session.rounds[0].tally.as_ref().expect("counted");
    assert_eq!((tally.answered, tally.failed), (2, 0));
    let bytes = chained(&sitting.events);
    let verified = verify(&bytes, None);
    let signed = "1 ballots are signed with the keys that their seats had joined with";
    assert!(verified.proven.iter().any(|line| line == signed), "{:?}", verified.proven);
}

#[test]
fn what_does_not_belong_to_the_seat_or_the_round_is_refused() {
    let mut sitting = asked();
    let record = said("vote: redis");
    let good = sitting.envelope(&record, 0x22, &dana());
    let signed = |change: &dyn Fn(&mut Envelope)| {
        let mut envelope = good.clone();
        change(&mut envelope);
        sign(&mut envelope, &dana());
        envelope
    };
    let mut bent = good.clone();
    bent.seal.sealed[5] ^= 1;
    for (envelope, word) in [
        (signed(&|of| of.binding.session = "other".into()), RefusalWord::Stale),
        (signed(&|of| of.binding.round = "other".into()), RefusalWord::Stale),
        (signed(&|of| of.binding.snapshot_sha256 = "00".repeat(32)), RefusalWord::Stale),
        (signed(&|of| of.delivery = "00".repeat(32)), RefusalWord::Stale),
        (signed(&|of| of.binding.participant = "ann".into()), RefusalWord::NotAParticipant),
        (signed(&|of| of.seal.sealed = vec![0; 300_000]), RefusalWord::TooLong),
        (signed(&|of| of.seal.sealed.truncate(8000)), RefusalWord::BadLength),
        (sitting.envelope(&record, 0x22, &SigningKey::new([9; 32])), RefusalWord::BadSignature),
        (bent, RefusalWord::BadSignature),
    ] {
        assert_eq!(sitting.send(envelope), Err(word.to_string()));
    }
    // The table cannot seal for the seat either.
    let seal = sitting.sealed("dana", &record, &round_key(), 0x22);
    let (round, participant) = ("vote".to_owned(), "dana".to_owned());
    assert!(sitting.tries(Command::Seal { round, participant, seal }).is_err());
    sitting.send(good).expect("taken");
    let second = sitting.envelope(&record, 0x66, &dana());
    assert_eq!(sitting.send(second), Err(RefusalWord::AlreadySealed.to_string()));
    sitting.finishes();
    assert_eq!(sitting.findings(), [] as [&str; 0]);
}

#[test]
fn a_seat_fails_by_its_own_signature_alone() {
    let mut sitting = asked();
    let of = |reason: &str| FailedDelivery {
        v: 3,
        ids: DeliveryIds::new(
            sitting.session.rounds[0].delivery("dana").expect("a delivery"),
            sitting.session.rounds[0].binding("dana"),
        ),
        failed: Failure { reason: reason.to_owned(), timed_out: true, tries: 3 },
        signature: String::new(),
    };
    let good = of("the service is down").sign(&dana());
    let forged = of("the service is down").sign(&SigningKey::new([9; 32]));
    let long = of(&"x".repeat(201)).sign(&dana());
    let stale = of("down");
    let ids = DeliveryIds { delivery: "00".repeat(32), ..stale.ids };
    let stale = FailedDelivery { ids, ..of("down") }.sign(&dana());
    let mut fail = |failed: FailedDelivery| sitting.tries(Command::FailRemote(Box::new(failed)));
    assert_eq!(fail(forged), Err(RefusalWord::BadSignature.to_string()));
    assert_eq!(fail(long), Err(RefusalWord::TooLong.to_string()));
    assert_eq!(fail(stale), Err(RefusalWord::Stale.to_string()));
    fail(good.clone()).expect("taken");
    assert_eq!(fail(good), Err(RefusalWord::Stale.to_string()), "it has failed already");
    sitting.finishes();
    assert_eq!(sitting.findings(), [] as [&str; 0]);
    for (key, value) in [("reason", json!("it is late")), ("tries", json!(2)), ("timed_out", json!(false))] {
        let found = changed(&sitting, "seat_failed", |of| of[key] = value.clone());
        assert!(!found.is_empty(), "{key}");
    }
}

#[test]
fn what_comes_too_late_is_refused() {
    for excused in [true, false] {
        let mut sitting = asked();
        let envelope = sitting.envelope(&said("vote: redis"), 0x22, &dana());
        if excused {
            sitting.does(Command::Excuse { participant: "dana".to_owned(), reason: "ill".to_owned() });
            assert_eq!(sitting.send(envelope), Err(RefusalWord::SeatExcused.to_string()));
        } else {
            sitting.does(Command::CloseRound { reason: CloseReason::Facilitator, key: round_key() });
            assert_eq!(sitting.send(envelope), Err(RefusalWord::RoundClosed.to_string()));
        }
    }
}

#[test]
fn an_invitation_takes_one_key_and_a_new_one_withdraws_it() {
    let mut sitting = asked();
    let other = SigningKey::new([9; 32]);
    assert_eq!(sitting.join("first", &other), Err(RefusalWord::AlreadyPinned.to_string()));
    assert_eq!(sitting.join("guessed", &other), Err(RefusalWord::NoSuchInvitation.to_string()));
    sitting.invite("second");
    assert_eq!(sitting.join("first", &other), Err(RefusalWord::NoSuchInvitation.to_string()));
    let early = sitting.envelope(&said("vote: redis"), 0x22, &dana());
    assert_eq!(sitting.send(early), Err(RefusalWord::BadSignature.to_string()), "nobody has joined");
    sitting.join("second", &other).expect("joined");
    let record = said("vote: redis");
    sitting.send(sitting.envelope(&record, 0x22, &other)).expect("taken");
    let invited = SeatInvited {
        participant: "dana".to_owned(),
        invitation: sha256_hex("third"),
        expires: Timestamp(NEXT_YEAR),
    };
    let why = sitting.tries(Command::Invite(invited)).expect_err("something is sealed");
    assert!(why.contains("has sealed in the open round"), "{why}");
    sitting.finishes();
    assert_eq!(sitting.findings(), [] as [&str; 0]);
    let notes = verify(&chained(&sitting.events), None).notes;
    assert!(notes.iter().any(|note| note.contains("dana was invited again")), "{notes:?}");
}

#[test]
fn an_expired_invitation_is_none() {
    let mut sitting = opened();
    let (participant, invitation) = ("dana".to_owned(), sha256_hex("short"));
    let expires = Timestamp(sitting.now + 1500);
    sitting.does(Command::Invite(SeatInvited { participant, invitation, expires }));
    sitting.now += 10_000;
    assert_eq!(sitting.join("short", &dana()), Err(RefusalWord::NoSuchInvitation.to_string()));
}

/// Replaces one event by its JSON after `change`.
fn changed(sitting: &Sitting, event: &str, change: impl Fn(&mut Value)) -> Vec<String> {
    let mut events = sitting.events.clone();
    let values = events.iter().map(|stamped| serde_json::to_value(&stamped.event).expect("JSON"));
    let place = values.rev().position(|value| value["event"] == event).expect("there");
    let place = events.len() - 1 - place;
    let mut value = serde_json::to_value(&events[place].event).expect("JSON");
    change(&mut value);
    events[place].event = serde_json::from_value::<Event>(value).expect("an event");
    verify(&chained(&events), None).findings.into_iter().map(|finding| finding.what).collect()
}

#[test]
fn a_forged_ballot_is_found_by_the_seats_name() {
    // The table knows the round's key and could seal anything for dana.
    let mut forged = asked();
    let record = said("vote: sqlite");
    let envelope = forged.envelope(&record, 0x22, &SigningKey::new([9; 32]));
    let mut event = json!({ "event": "ballot_sealed", "step": "vote", "round": "vote", "participant": "dana",
        "elapsed_ms": 2000 });
    let parts = serde_json::to_value(&envelope).expect("JSON");
    for key in ["commitment", "enc", "sealed", "signature"] {
        event[key] = parts[key].clone();
    }
    let put = |forged: &mut Sitting, event: &Value| {
        forged.now += 1000;
        let event = serde_json::from_value(event.clone()).expect("an event");
        forged.takes(TimedEvent { at: Timestamp(forged.now), event });
    };
    put(&mut forged, &event);
    forged.finishes();
    assert_eq!(forged.findings(), ["`ballot_sealed` of `dana` cannot be here: bad signature"]);
    // Omitting the signature or pinning another key afterwards does not help.
    let mut bare = asked();
    let key = event.as_object_mut().expect("a map");
    key.remove("signature");
    put(&mut bare, &event);
    let pinned = json!({ "event": "seat_joined", "participant": "dana",
        "invitation": sha256_hex("first"), "key": SigningKey::new([9; 32]).public() });
    put(&mut bare, &pinned);
    bare.finishes();
    let found = bare.findings();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("`dana` seals its ballot itself"), "{found:?}");
}

#[test]
fn a_sealed_invalid_record_fails_at_the_reveal() {
    let plain = said("vote: redis");
    let with_tokens = "\"tries\":1,\"tokens\":{\"input\":1,\"output\":1,\"cached\":0}";
    let records = [
        "no record".to_owned(),
        plain.replace("\"tries\":1", "\"tries\":2"),
        plain.replace("\"tries\":1", with_tokens),
        plain.replace("human/browser", "openai/gpt-5"),
        plain.replace("\"person\"", "\"model\""),
        format!(" {plain}"),
    ];
    for record in records {
        let mut sitting = asked();
        sitting.send(sitting.envelope(&record, 0x22, &dana())).expect("nobody can read it yet");
        sitting.finishes();
        let tally = sitting.session.rounds[0].tally.as_ref().expect("counted");
        assert_eq!((tally.answered, tally.failed), (1, 1), "{record}");
        assert_eq!(sitting.findings(), [] as [&str; 0], "{record}");
    }
}

#[test]
fn envelopes_are_read_strictly() {
    let sitting = asked();
    let envelope = sitting.envelope(&said("vote: redis"), 0x22, &dana());
    let json = serde_json::to_string(&envelope).expect("JSON");
    assert_eq!(Envelope::read(json.as_bytes()), Some(envelope));
    let commitment = json.split("\"commitment\":\"").nth(1).expect("there")[..64].to_owned();
    for bad in [
        "{}".to_owned(),
        json.replace("\"v\":3", "\"v\":4"),
        json.replace("\"v\":3", "\"v\":3,\"more\":1"),
        json.replace("\"v\":3", "\"v\":3,\"v\":3"),
        json.replace(&commitment, &commitment.to_uppercase()),
        json.replace("\"sealed\":\"", "\"sealed\":\" "),
        json[..json.len() - 1].to_owned(),
    ] {
        assert_eq!(Envelope::read(bad.as_bytes()), None, "{}", &bad[..40.min(bad.len())]);
    }
}

/// The ballot page checks itself with this vector, and other programs can, too.
#[test]
fn the_vector_of_the_seal_holds_signature_offer_and_delivery() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/remote/vector.json");
    let text = std::fs::read_to_string(&path).expect("the vector");
    let mut vector: Value = serde_json::from_str(&text).expect("JSON");
    let of = |vector: &Value, key: &str| vector[key].as_str().expect("a text").to_owned();
    let key = RoundKey::from_hex(&of(&vector, "key")).expect("a key");
    let record = of(&vector, "record");
    let binding: Binding = serde_json::from_value(vector["binding"].clone()).expect("a binding");
    let nonces = Nonces {
        ephemeral: unhex(&of(&vector, "ephemeral_key")).expect("32 bytes"),
        commitment: unhex(&of(&vector, "commitment_nonce")).expect("32 bytes"),
    };
    let seal = Sealer::new(&key).seal(&nonces, &binding, &record).expect("sealed");
    let dana_key = SigningKey::from_hex(&of(&vector, "seat_seed")).expect("a key");
    let table = SigningKey::from_hex(&of(&vector, "table_seed")).expect("a key");
    let public = key.seal_to().public_key;
    let message = ballot_message(&binding, &public, &seal).expect("a message");
    let offer = of(&vector, "offer");
    let made = json!({
        "public_key": public, "enc": seal.enc, "commitment": seal.commitment,
        "sealed_sha256": sha256_hex(&seal.sealed), "seat_key": dana_key.public(), "signature": dana_key.sign(&message),
        "delivery": roundtable::round::seal::sign::delivery_id(&binding, &public, 1),
        "table_key": table.public(), "offer_signature": table.sign(&offer_message(offer.as_bytes())),
    });
    for (key, value) in made.as_object().expect("a map") {
        vector[key] = value.clone();
    }
    let made = format!("{vector:#}\n");
    if std::env::var_os("UPDATE_SCENARIOS").is_some() {
        std::fs::write(path, made).expect("written");
    } else {
        assert_eq!(text, made);
    }
}
