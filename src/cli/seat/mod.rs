//! `seat`: votes by a link on the terminal, with a program that the session's host did not serve.
//!
//! The question must be signed by the session that the link is from. The ballot is read here, sealed,
//! signed and kept before it is sent, so that the same bytes are sent again when the network fails.

mod answered;
mod result;
mod words;

use std::io::BufRead as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::args::SeatArgs;
use super::console::Console;
use super::verb_result::VerbResult;
use crate::ballot::{ParsedReply, answer_hint, read_reply};
use crate::config::dirs::Dirs;
use crate::config::read_file::read_text;
use crate::core::{ExitCode, refusal};
use crate::diagnostic::Diagnostic;
use crate::history::Receipt;
use crate::journal::{Disk, KeyStore};
use crate::launch::error::RunError;
use crate::launch::random::random;
use crate::launch::run::runtime;
use crate::participants::http::link::{LinkClient, LinkReply};
use crate::round::envelope::Envelope;
use crate::round::offer::{Offer, fingerprint};
use crate::round::seal::Nonces;
use crate::round::seal::sign::SigningKey;
use crate::round::snapshot::sha256_hex;
pub use answered::answered;
use answered::{PAUSE, TRIES};
use words::{answer_refused, bad_offer, damaged, in_words, refused, unreachable};

/// The most bytes of an answer's file.
const MAX_ANSWER: u64 = 256 * 1024;

/// What is kept of a seat, for its owner alone.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    sent: Option<Envelope>,
    receipt: Option<Receipt>,
}

/// Joins by a link, answers, and waits for the result.
pub fn run(args: &SeatArgs, trust: bool, output: &mut Console) -> VerbResult {
    let no_link = || {
        Diagnostic::new("this is no link of a ballot")
            .hint("put it in quotes, whole: 'https://NAME/b#TOKEN.FINGERPRINT'")
    };
    let link = if args.link == "-" { first_line()? } else { args.link.clone() };
    let (address, secret) = link.split_once("/b#").ok_or_else(no_link)?;
    let (token, fingerprint) = secret.split_once('.').ok_or_else(no_link)?;
    let answer = args.answer.as_deref().map(|file| read_text(file, MAX_ANSWER)).transpose()?;
    let root = args.cert.as_deref().map(|file| read_text(file, 1 << 20)).transpose()?;
    let client = LinkClient::new(address, token, root.as_deref())?;
    let keys = KeyStore::new(Disk::default(), &Dirs::find(trust)?.keys());
    let answers = match answer {
        Some(text) => Answers::File(Some(text)),
        None => Answers::Typed,
    };
    let mut visit = Visit::new((&client, token, fingerprint), keys, answers, output)?;
    runtime()?.block_on(visit.run())
}

/// The link on standard input; what follows it may be the answer.
fn first_line() -> Result<String, Diagnostic> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Diagnostic::new(format!("stdin cannot be read: {error}")))?;
    Ok(line.trim().to_owned())
}

fn new_key() -> Result<String, Diagnostic> {
    Ok(SigningKey::new(random()?).to_hex().to_string())
}

/// Who answers.
pub enum Answers {
    /// A person at the terminal.
    Typed,
    /// A file, the first question; nobody is at a terminal.
    File(Option<String>),
}

/// One seat of a session that is served somewhere.
pub struct Visit<'a> {
    client: &'a LinkClient,
    fingerprint: String,
    keys: KeyStore,
    invitation: String,
    kept: Kept,
    answers: Answers,
    /// The last line on how the seat stands: it is not repeated.
    said: String,
    output: &'a mut Console,
}

impl<'a> Visit<'a> {
    /// A seat by its client, and by the token and the fingerprint of its link; what was kept of it goes on.
    ///
    /// # Errors
    /// When what was kept cannot be read.
    pub fn new(
        (client, token, fingerprint): (&'a LinkClient, &str, &str),
        keys: KeyStore,
        answers: Answers,
        output: &'a mut Console,
    ) -> Result<Self, Diagnostic> {
        let invitation = sha256_hex(token);
        let kept = keys.seat(&invitation).map_err(|error| Diagnostic::new(error.to_string()))?;
        let kept = match kept.and_then(|text| serde_json::from_str(&text).ok()) {
            Some(kept) => kept,
            None => Kept { key: new_key()?, sent: None, receipt: None },
        };
        let (fingerprint, said) = (fingerprint.to_owned(), String::new());
        Ok(Self { client, fingerprint, keys, invitation, kept, answers, said, output })
    }

    fn key(&self) -> Result<SigningKey, Diagnostic> {
        SigningKey::from_hex(&self.kept.key).ok_or_else(|| Diagnostic::new("the seat's key is damaged"))
    }

    async fn run(&mut self) -> VerbResult {
        self.keep()?;
        let key = self.key()?;
        // Who has a receipt has joined; nobody joins once the session is over.
        if self.kept.receipt.is_none() {
            let joined = match self.join(&key).await {
                // A wrong address is told at once.
                Err(why) => return Err(unreachable(&why)),
                Ok(reply) if reply.is_passing() => answered(|| self.join(&key)).await?,
                Ok(reply) => reply,
            };
            is_done(joined)?;
        }
        let mut tries = 0;
        loop {
            let seat = match self.client.get("/v1/seat").await {
                Ok(seat) if !seat.is_passing() => seat,
                other => {
                    tries += 1;
                    let why = other.err().unwrap_or_else(|| "the session is not running".to_owned());
                    self.say("The session does not answer; trying again.");
                    if tries > TRIES {
                        return self.left_alone(&why);
                    }
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            tries = 0;
            if let Some(exit) = self.follow(&is_done(seat)?, &key).await? {
                return Ok(exit);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn join(&self, key: &SigningKey) -> Result<LinkReply, String> {
        let join = json!({ "public_key": key.public() }).to_string();
        self.client.post("/v1/seat/key", join.into_bytes()).await
    }

    /// What the seat is asked now, if its session has signed it.
    fn offer(&self, seat: &LinkReply) -> Result<Option<Offer>, RunError> {
        let Some(signature) = &seat.signature else { return Ok(None) };
        let is_of_link = |table: &str| fingerprint(table).as_deref() == Some(&*self.fingerprint);
        Ok(Some(Offer::read(&seat.body, signature, is_of_link).map_err(bad_offer)?))
    }

    /// Does what the seat's state asks for; an exit code at the end.
    async fn follow(&mut self, seat: &LinkReply, key: &SigningKey) -> Result<Option<ExitCode>, RunError> {
        if let Some(offer) = self.offer(seat)? {
            self.answer(&offer, key).await?;
            return Ok(None);
        }
        let state: Value = serde_json::from_slice(&seat.body).unwrap_or_default();
        match state["state"].as_str().unwrap_or_default() {
            "sealed" => {
                let receipt = serde_json::from_value::<Receipt>(state["receipt"].clone()).ok();
                self.check_receipt(receipt)?;
                self.say(
                    "Sealed. Nobody can read your answer before the round closes. Waiting for the result.",
                );
            }
            "excused" => return Err(Diagnostic::new(in_words(refusal::SEAT_EXCUSED)).into()),
            "waiting" => self.say("The question is not asked yet."),
            _ => return self.show_result().await,
        }
        Ok(None)
    }

    /// Answers; whether it is sealed.
    async fn answer(&mut self, offer: &Offer, key: &SigningKey) -> Result<bool, RunError> {
        if self.kept.sent.as_ref().is_some_and(|sent| sent.delivery == offer.delivery) {
            return self.deliver().await;
        }
        let path = format!("/v1/context/{}", offer.snapshot_sha256);
        let context = answered(|| self.client.get(&path)).await?;
        if context.status != 200 {
            return Ok(false);
        }
        let snapshot = String::from_utf8(context.body).unwrap_or_default();
        if sha256_hex(&snapshot) != offer.snapshot_sha256 {
            return Err(damaged("what everybody was given does not have its hash; nothing was sent"));
        }
        let since = crate::clock::now();
        let text = self.ask(offer, &snapshot)?;
        let latency = u64::try_from(crate::clock::now().0 - since.0).unwrap_or(0);
        let nonces = Nonces { cipher: random()?, commitment: random()? };
        let too_long = || Diagnostic::new("the answer is too long to be sealed").hint("shorten it");
        self.kept.sent = Some(offer.seal(text, latency, &nonces, key).ok_or_else(too_long)?);
        self.keep()?;
        self.deliver().await
    }

    /// The text of an answer that fits its form.
    fn ask(&mut self, offer: &Offer, snapshot: &str) -> Result<String, RunError> {
        let unfit = |reason: &str| format!("the answer does not fit: {reason}");
        if let Answers::File(Some(text)) = &mut self.answers {
            let text = std::mem::take(text);
            self.answers = Answers::File(None);
            return match problem_of(offer, &text) {
                None => Ok(text),
                Some(reason) => {
                    Err(Diagnostic::new(unfit(&reason)).hint("nothing was sent; mend the file").into())
                }
            };
        }
        let left = |what: &str| RunError {
            problems: vec![Diagnostic::new(what).hint("the link still works")],
            exit: ExitCode::Waiting,
        };
        if matches!(self.answers, Answers::File(None)) {
            return Err(left("another question is asked: run it again with an answer to that"));
        }
        self.output.note(&format!("{snapshot}\nSHA-256 {}\n", offer.snapshot_sha256));
        for own in
            [&offer.address, &offer.persona].into_iter().flatten().filter(|text| !text.trim().is_empty())
        {
            self.output.note(&format!("For you alone:\n{own}\n"));
        }
        self.output.note(&format!("{}\n\n{}", offer.in_words(), answer_hint(&offer.ballot)));
        loop {
            self.output.note("Type the answer; an empty line ends it. It cannot be changed once it is sent.");
            let mut text = String::new();
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                if line.trim().is_empty() && !text.is_empty() {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            }
            if text.trim().is_empty() {
                return Err(left("left without an answer; nothing was sent"));
            }
            match problem_of(offer, &text) {
                None => return Ok(text),
                Some(reason) => self.output.note(&unfit(&reason)),
            }
        }
    }

    /// Sends what is sealed until it is confirmed; whether it was taken.
    async fn deliver(&mut self) -> Result<bool, RunError> {
        let Some(sent) = self.kept.sent.clone() else { return Ok(false) };
        let bytes = serde_json::to_vec(&sent).unwrap_or_default();
        let mut why = String::new();
        for _ in 0..TRIES {
            match self.client.post("/v1/seat/sealed", bytes.clone()).await {
                Ok(reply) if reply.status < 300 => {
                    self.check_receipt(serde_json::from_slice(&reply.body).ok())?;
                    return Ok(true);
                }
                Ok(reply) if !reply.is_passing() => {
                    self.kept.sent = None;
                    self.keep()?;
                    if reply.word() == refusal::STALE {
                        self.say(in_words(refusal::STALE));
                        return Ok(false);
                    }
                    return Err(answer_refused(&reply));
                }
                Ok(_) => "the session is not running".clone_into(&mut why),
                Err(cause) => why = cause,
            }
            self.say("Sealed here, not delivered yet; trying again.");
            tokio::time::sleep(PAUSE).await;
        }
        Err(unreachable(&format!("{why}; the sealed answer is kept")))
    }

    /// Prints the receipt of what was sealed here, and keeps it.
    fn check_receipt(&mut self, receipt: Option<Receipt>) -> Result<(), RunError> {
        let own = self.kept.sent.as_ref().map(|sent| &sent.commitment);
        let Some(receipt) = receipt.filter(|receipt| Some(&receipt.commitment) == own) else {
            return Err(damaged("the receipt is not for what was sealed here"));
        };
        let line = serde_json::to_string(&receipt).unwrap_or_default();
        if self.said != line && !self.said.starts_with("Sealed. ") {
            self.output.line(&line);
            self.said.clone_from(&line);
        }
        self.kept.receipt = Some(receipt);
        self.keep()
    }

    /// The session is gone: nothing is lost of a ballot that is sealed.
    fn left_alone(&mut self, why: &str) -> VerbResult {
        if self.kept.receipt.is_none() {
            return Err(unreachable(why));
        }
        self.output.note("Your answer is sealed; run the same command again to see the result.");
        Ok(ExitCode::Finished)
    }

    fn say(&mut self, text: &str) {
        if self.said != text {
            self.output.note(text);
            text.clone_into(&mut self.said);
        }
    }

    fn keep(&self) -> Result<(), RunError> {
        let text = serde_json::to_string(&self.kept).unwrap_or_default();
        let kept = self.keys.keep_seat(&self.invitation, &text);
        Ok(kept.map_err(|error| Diagnostic::new(format!("the seat's key cannot be kept: {error}")))?)
    }
}

/// A reply that is no refusal.
fn is_done(reply: LinkReply) -> Result<LinkReply, RunError> {
    if reply.status < 300 { Ok(reply) } else { Err(refused(&reply)) }
}

/// Why a text is no answer to a question; none where it is one.
fn problem_of(offer: &Offer, text: &str) -> Option<String> {
    match read_reply(&offer.ballot, text) {
        ParsedReply::Answered(_) => None,
        ParsedReply::Invalid(reason) | ParsedReply::BareBlock(_, reason) => Some(reason),
        ParsedReply::Refused(_) => Some("it is no ballot; write `vote: abstain` to abstain".to_owned()),
    }
}
