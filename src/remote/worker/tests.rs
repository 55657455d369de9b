//! Unit tests of offers, answers and costs, without a queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::{Value, json};

use super::{Answerer, Money, WorkerModel};
use crate::ballot::{BallotForm, BallotKind};
use crate::history::Price;
use crate::journal::Disk;
use crate::participants::{Failure, Participant, Reply, SeatRequest, TokenUsage};
use crate::remote::nats::send::SeatReply;
use crate::round::answer::AnswerRecord;
use crate::round::envelope::FailedDelivery;
use crate::round::offer::BadOffer;
use crate::round::seal::sign::{SigningKey, ballot_message, delivery_id, is_signed, offer_message};
use crate::round::seal::{Binding, RoundKey, unseal};
use crate::round::snapshot::sha256_hex;

const SNAPSHOT: &str = "participant_context:\n";
/// Must not appear outside a seal.
const CANARY: &str = "a grey heron";

/// Answers with a fixed text, and counts its requests.
struct Model1(String, AtomicU32);

impl Participant for Model1 {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        assert!(ask.prompt.text().contains("Rules.\n\nparticipant_context:\n  your_role: \"x\"\n"));
        let usage = Some(TokenUsage { input: 100, output: 10, ..TokenUsage::default() });
        ask.purse.pay(1).expect("reserved").settle(usage, true);
        let reply = Reply { text: self.0.clone(), tries: 1, usage, ..Reply::default() };
        std::future::ready(Ok(reply)).boxed()
    }
}

fn table() -> SigningKey {
    SigningKey::new([1; 32])
}

fn answerer(says: &str, money: Option<Money>) -> (Answerer, Arc<Model1>) {
    let model = Arc::new(Model1(says.to_owned(), AtomicU32::new(0)));
    let participant = Arc::clone(&model) as Arc<dyn Participant>;
    let price = Price { input: 1000.0, cached: 1000.0, output: 1000.0 };
    let models = vec![WorkerModel { name: "lab/m".to_owned(), participant, price, most_output: 100 }];
    (Answerer { key: SigningKey::new([2; 32]), table_keys: vec![table().public()], models, money }, model)
}

/// Returns a signed offer with these changes.
fn offer(changes: &[(&str, Value)]) -> (Vec<u8>, String) {
    let public_key = RoundKey::new([3; 32]).seal_to().public_key;
    let (hash, opened) = (sha256_hex(SNAPSHOT), sha256_hex("opened"));
    let [session, round, participant] = ["s", "vote", "ann"].map(str::to_owned);
    let (snapshot_sha256, opened_sha256) = (hash.clone(), opened.clone());
    let binding = Binding { session, round, participant, snapshot_sha256, opened_sha256 };
    let mut offer = json!({
        "v": 3, "kind": "ballot", "delivery": delivery_id(&binding, &public_key, 1), "session": "s",
        "round": "vote", "participant": "ann", "try": 1, "question": "Which?",
        "ballot": BallotForm::over(BallotKind::Choice, vec!["a".into(), "b".into()]),
        "rules": "Rules.\n", "address": "  your_role: \"x\"\n", "persona": "You doubt.\n",
        "snapshot_sha256": hash, "opened_sha256": opened, "public_key": public_key, "table_key": table().public(),
        "deadline": null, "model": null,
    });
    for (key, value) in changes {
        offer[*key] = value.clone();
    }
    let json = offer.to_string().into_bytes();
    let signature = table().sign(&offer_message(&json));
    (json, signature)
}

#[test]
fn offers_without_a_pinned_signature_are_refused() {
    let (answerer, _) = answerer("", None);
    let (json, signature) = offer(&[]);
    assert!(answerer.read(&json, &signature).is_ok());
    let read = |changes: &[(&str, Value)]| {
        let (json, signature) = offer(changes);
        answerer.read(&json, &signature).map(drop)
    };
    let mut changed = json.clone();
    changed[20] ^= 1;
    assert!(answerer.read(&changed, &signature).is_err());
    let other = SigningKey::new([9; 32]);
    assert_eq!(answerer.read(&json, &other.sign(&offer_message(&json))).map(drop), Err(BadOffer::NotSigned));
    assert_eq!(answerer.read(&json, "").map(drop), Err(BadOffer::NotSigned));
    let (strange, _) = offer(&[("table_key", json!(other.public()))]);
    let by_other = other.sign(&offer_message(&strange));
    assert_eq!(answerer.read(&strange, &by_other).map(drop), Err(BadOffer::Stranger));
    let stolen = RoundKey::new([4; 32]).seal_to().public_key;
    for (key, value) in [
        ("delivery", json!("00".repeat(32))),
        ("public_key", json!(stolen)),
        ("participant", json!("bob")),
        ("snapshot_sha256", json!(sha256_hex("another"))),
        ("opened_sha256", json!(sha256_hex("another"))),
        ("try", json!(2)),
    ] {
        assert_eq!(read(&[(key, value)]), Err(BadOffer::NotSigned), "{key}");
    }
    assert_eq!(read(&[("v", json!(4))]), Err(BadOffer::Unknown));
    assert_eq!(read(&[("kind", json!("work"))]), Err(BadOffer::Unknown));
}

async fn answered(answerer: &Answerer, changes: &[(&str, Value)]) -> SeatReply {
    let (json, signature) = offer(changes);
    let offer = answerer.read(&json, &signature).expect("an offer");
    answerer.answer(&offer, SNAPSHOT.into()).await.expect("counted")
}

fn failure(answer: SeatReply) -> FailedDelivery {
    let SeatReply::Failed(failed) = answer else { panic!("{answer:?}") };
    assert!(failed.is_signed_by(&SigningKey::new([2; 32]).public()));
    let json = serde_json::to_vec(&failed).expect("JSON");
    FailedDelivery::read(&json).expect("a failure that may be sent")
}

#[tokio::test]
async fn answers_are_sealed_to_the_round_and_signed() {
    let (answerer, model) = answerer(&format!("{{\"vote\": \"a\", \"rationale\": [\"{CANARY}\"]}}"), None);
    let SeatReply::Sealed(envelope) = answered(&answerer, &[]).await else { panic!("no ballot") };
    let message =
        ballot_message(&envelope.binding, &RoundKey::new([3; 32]).seal_to().public_key, &envelope.seal);
    assert!(is_signed(&answerer.key.public(), &message.expect("its form"), &envelope.signature));
    assert!(!serde_json::to_string(&envelope).expect("JSON").contains(CANARY));
    let opened = unseal(&RoundKey::new([3; 32]), &envelope.binding, &envelope.seal);
    let raw: AnswerRecord = serde_json::from_str(&opened.expect("opens").record).expect("a record");
    assert_eq!((raw.model.as_str(), raw.tries, raw.replies.len()), ("lab/m", 1, 1));
    assert!(raw.replies[0].text.contains(CANARY));
    assert_eq!(model.1.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn only_the_workers_models_are_asked() {
    let (answerer, model) = answerer("{\"vote\": \"a\"}", None);
    let failed = failure(answered(&answerer, &[("model", json!("lab/other"))]).await);
    assert_eq!(failed.failed.reason, "the worker does not answer with this model");
    assert_eq!(model.1.load(Ordering::Relaxed), 0);
    assert!(matches!(answered(&answerer, &[("model", json!("lab/m"))]).await, SeatReply::Sealed(_)));
}

#[tokio::test]
async fn no_model_is_asked_once_the_limit_is_reached() {
    let folder = tempfile::tempdir().expect("a folder");
    // Each question may cost about $2.50, but costs $0.11.
    let money = || Money::new(Disk::default(), folder.path(), 2.7);
    let (first, model) = answerer("{\"vote\": \"a\"}", Some(money()));
    for _ in 0..2 {
        assert!(matches!(answered(&first, &[]).await, SeatReply::Sealed(_)));
    }
    assert!((money().spent().expect("a number") - 0.22).abs() < 1e-6);
    let (later, again) = answerer("{\"vote\": \"a\"}", Some(money()));
    let mut refused = None;
    while refused.is_none() {
        match answered(&later, &[]).await {
            SeatReply::Sealed(_) => assert!(again.1.load(Ordering::Relaxed) < 9),
            failed @ SeatReply::Failed(_) => refused = Some(failure(failed)),
        }
    }
    assert_eq!(
        refused.map(|failed| failed.failed.reason).as_deref(),
        Some("the worker's cost limit is reached")
    );
    assert_eq!(model.1.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn reasons_are_one_short_line() {
    let (answerer, _) = answerer("", None);
    let (json, signature) = offer(&[]);
    let ids = answerer.read(&json, &signature).expect("an offer").ids;
    let failed = failure(answerer.fail(ids, &format!("ö\n\u{1b}[31m{}", "größe ".repeat(60))));
    assert!(failed.failed.reason.len() <= 200, "{}", failed.failed.reason);
}
