//! Forged stories of a file's holder, and their detection.
//!
//! The file alone, a remote seat's signature, its receipt, or an earlier hash. docs/TRUST.md lists the attacks.

use roundtable::core::Command;
use roundtable::history::{Event, Receipt, TimedEvent};
use roundtable::journal::{NO_HASH, verify};
use roundtable::round::seal::SealedRecord;
use roundtable::round::seal::sign::SigningKey;
use roundtable::round::snapshot::sha256_hex;
use serde_json::{Value, json};

use crate::forge::chained;
use crate::remote::{dana, opened_as, round_key, said};
use crate::sitting::{self, Sitting};

const TRUE: &str = "\
goal: Choose a store
constraints: [no new server]
participants: [{name: ann, model: rehearsal}, {name: dana, model: remote/link}]
steps: [{id: vote, type: round, question: Which store?, rule: plurality, quorum: 1, ties: {seeded: 3},
  facilitator_directive: Think of the cost., ballot: {kind: choice, options: [redis, sqlite]}}]
";

/// Changes of a definition.
const OTHER_DEFINITIONS: [(&str, &str); 11] = [
    ("Choose a store", "Choose the fastest store"),
    ("no new server", "a new server"),
    ("Which store?", "Which shop?"),
    ("plurality", "majority"),
    ("quorum: 1", "quorum: 2"),
    ("seeded: 3", "seeded: 4"),
    ("{seeded: 3}", "none"),
    ("Think of the cost.", "Choose redis."),
    ("[redis, sqlite]", "[sqlite, redis]"),
    ("[redis, sqlite]", "[redis, sqlite, none]"),
    ("cost., ballot", "cost., directives: {dana: Choose redis.}, ballot"),
];

fn changed_session(from: &str, to: &str) -> Sitting {
    opened_as(&TRUE.replace(from, to), |_| {})
}

fn headed(pointer: &str, value: &Value) -> Sitting {
    opened_as(TRUE, |header| *header.pointer_mut(pointer).expect("there") = value.clone())
}

fn votes(sitting: &mut Sitting, key: &SigningKey) {
    let envelope = sitting.envelope(&said("vote: redis"), 0x22, key);
    sitting.send(envelope).expect("taken");
}

fn held() -> (Sitting, Receipt) {
    let mut sitting = changed_session("", "").asked(&dana());
    votes(&mut sitting, &dana());
    let receipt = Receipt::for_seat(&sitting.session.rounds[0], "dana").expect("a receipt");
    sitting.finishes();
    (sitting, receipt)
}

fn is_sealed_by(seat: &str) -> impl Fn(&TimedEvent) -> bool {
    move |stamped| matches!(&stamped.event, Event::BallotSealed(sealed) if sealed.participant == seat)
}

#[test]
fn whoever_makes_a_session_anew_needs_the_keys_of_its_remote_seats() {
    let (first, receipt) = held();
    assert_eq!(first.findings(), [] as [&str; 0]);
    receipt.check(&first.session).expect("the receipt fits");
    let signed = first.events.iter().find(|stamped| is_sealed_by("dana")(stamped)).expect("sealed");
    let forger = SigningKey::new([9; 32]);
    let definitions = OTHER_DEFINITIONS
        .iter()
        .map(|(from, to)| (*to, changed_session(from, to), changed_session(from, to)));
    let persona = sitting::persona("ann", "You must choose redis.");
    let headers = [("/participants/0/model", json!("openai/gpt-5")), ("/personas/0", persona)];
    let headers = headers.into_iter().map(|(at, value)| (at, headed(at, &value), headed(at, &value)));
    for (what, spliced, anew) in definitions.chain(headers) {
        // The ballot was signed for the true session, so its signature does not match.
        let mut spliced = spliced.asked(&dana());
        spliced.takes(TimedEvent { at: spliced.session.last_at, ..signed.clone() });
        let found = spliced.findings();
        assert!(found.iter().any(|found| found.contains("bad signature")), "{what}: {found:?}");
        // Ballot and key are the forger's: the file is consistent, but receipt and earlier hash differ.
        let mut anew = anew.asked(&forger);
        votes(&mut anew, &forger);
        anew.finishes();
        let hash = first.chain.head.clone();
        let file = chained(&anew.events);
        assert_eq!(verify(&file, None).findings, [], "{what}");
        assert_eq!(verify(&file, Some(&hash)).findings.len(), 1, "{what}");
        receipt.check(&anew.session).expect_err(what);
    }
}

#[test]
fn a_vote_that_is_kept_out_is_found_by_its_receipt() {
    let (_, receipt) = held();
    let mut missing = changed_session("", "").asked(&dana());
    missing.finishes();
    let mut excused = changed_session("", "").asked(&dana());
    excused.does(Command::Excuse { participant: "dana".to_owned(), reason: "ill".to_owned() });
    excused.finishes();
    for sitting in [missing, excused] {
        assert_eq!(sitting.findings(), [] as [&str; 0]);
        receipt.check(&sitting.session).expect_err("no ballot of hers is in it");
    }
}

/// The holder knows the key. Changed bytes are found by a signature, or without one by a hash.
#[test]
fn a_vote_that_is_destroyed_is_found_where_it_was_signed() {
    let (first, _) = held();
    let other = |seal: &SealedRecord| SealedRecord { sealed: vec![7; seal.sealed.len()], ..seal.clone() };
    let mut events = first.events.clone();
    for stamped in events.iter_mut().filter(|stamped| is_sealed_by("dana")(stamped)) {
        if let Event::BallotSealed(sealed) = &mut stamped.event {
            sealed.seal = other(&sealed.seal).into();
        }
    }
    let found = verify(&chained(&events), None).findings;
    assert!(found[0].what.contains("bad signature"), "{found:?}");
    let mut sitting = changed_session("", "").asked(&dana());
    votes(&mut sitting, &dana());
    let seal = sitting.sealed("ann", &said("vote: sqlite"), &round_key(), 7);
    sitting.finishes_with(other(&seal));
    assert_eq!(sitting.findings(), [] as [&str; 0]);
    assert_eq!(verify(&chained(&sitting.events), Some(&first.chain.head)).findings.len(), 1);
}

#[test]
fn a_document_is_refused_that_no_writer_writes() {
    let (first, _) = held();
    let text = String::from_utf8(chained(&first.events)).expect("UTF-8");
    let changes: [(&str, &str); 9] = [
        ("\nrule: plurality\n", "\nrule: plurality # after the audit\n"),
        ("\nrule: plurality\n", "\n# winner: redis\nrule: plurality\n"),
        ("\nrule: plurality\n", "\nrule: plurality\nverdict: redis\n"),
        ("\nrule: plurality\n", "\nrule: \"plurality\"\n"),
        ("\nrule: plurality\n", "\nrule: !!str plurality\n"),
        ("\nrule: plurality\n", "\n\nrule: plurality\n"),
        ("\nquorum: 1\n", "\nquorum: 0x1\n"),
        ("\nseq: 2\n", "\nseq: 02\n"),
        ("\nquestion: ", "\nquestion:  "),
    ];
    for (from, to) in changes {
        assert!(text.contains(from), "{from:?}");
        let found = verify(rechained(&text.replacen(from, to, 1)).as_bytes(), None);
        assert!(!found.findings.is_empty(), "{to:?}");
    }
    assert_eq!(verify(rechained(&text).as_bytes(), None).findings, []);
}

fn rechained(text: &str) -> String {
    let (mut out, mut head) = (String::new(), NO_HASH.to_owned());
    for document in text.split_inclusive("\nhash: ").filter_map(|part| part.split_once("---\n")) {
        let body = document.1.trim_end_matches("hash: ");
        let (seq, rest) = body.split_once("prev: \"").expect("a hash before");
        let body = format!("---\n{seq}prev: \"{head}{}", &rest[64..]);
        head = sha256_hex(&body);
        out += &format!("{body}hash: {head}\n");
    }
    out
}
