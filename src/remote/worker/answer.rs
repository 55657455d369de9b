//! Answer to one offer: a sealed ballot, or a failure.

use std::sync::Arc;
use std::time::Duration;

use super::money::Money;
use crate::ballot::ReplySchema;
use crate::clock::now;
use crate::core::Cost;
use crate::engine::{RoundShared, SeatResult, ask_and_seal};
use crate::history::Price;
use crate::journal::DiskError;
use crate::participants::purse::Funds;
use crate::participants::{Failure, Participant, Prompt, SeatRequest, TokenUsage};
use crate::remote::nats::send::SeatReply;
use crate::round::envelope::{self, DeliveryIds, FailedDelivery, MAX_REASON, VERSION};
use crate::round::offer::{BadOffer, Offer};
use crate::round::seal::sign::SigningKey;
use crate::sanitize::harmless_line;
use crate::tokens::estimated_tokens;

/// Requests reserved per question: the first, and one re-ask.
const REQUESTS: u32 = 2;
/// Number of tokens by which a prompt may exceed its estimate.
const MARGIN: usize = 1000;

pub struct WorkerModel {
    /// `provider/model`.
    pub name: String,
    pub participant: Arc<dyn Participant>,
    pub price: Price,
    pub most_output: u64,
}

/// Keys, models and budget of a worker.
pub struct Answerer {
    pub key: SigningKey,
    /// Public keys of the sessions that may ask, in hex.
    pub table_keys: Vec<String>,
    /// Default model first.
    pub models: Vec<WorkerModel>,
    pub money: Option<Money>,
}

impl Answerer {
    /// Reads an offer that is signed with one of `table_keys`.
    pub fn read(&self, json: &[u8], signature: &str) -> Result<Offer, BadOffer> {
        Offer::read(json, signature, |table| self.table_keys.iter().any(|known| known == table))
    }

    pub fn fail(&self, of: DeliveryIds, reason: &str) -> SeatReply {
        let failure = Failure { reason: reason.to_owned(), ..Failure::default() };
        self.failed(of, &failure)
    }

    fn failed(&self, ids: DeliveryIds, failure: &Failure) -> SeatReply {
        let mut reason = harmless_line(&failure.reason);
        let end = (0..=MAX_REASON).rev().find(|end| reason.is_char_boundary(*end));
        reason.truncate(end.unwrap_or(0));
        let failed = envelope::Failure { reason, timed_out: failure.timed_out, tries: failure.tries };
        let signature = String::new();
        let failed = FailedDelivery { v: VERSION, ids, failed, signature };
        SeatReply::Failed(Box::new(failed.sign(&self.key)))
    }

    /// Asks the model that an offer names, and seals its answer.
    ///
    /// # Errors
    /// The reservation cannot be written to disk; the model was not asked.
    pub async fn answer(&self, offer: &Offer, snapshot: Arc<str>) -> Result<SeatReply, DiskError> {
        let fail = |why: &str| Ok(self.fail(offer.ids.clone(), why));
        let left = offer.deadline.map(|end| Duration::from_millis(u64::try_from(end - now().0).unwrap_or(0)));
        let Some(shared) = RoundShared::from_offer(offer, left) else {
            return fail("the round's public key is damaged");
        };
        let wanted = offer.model.as_ref();
        let model = self.models.iter().find(|model| wanted.is_none_or(|wanted| *wanted == model.name));
        let Some(model) = model else { return fail("the worker does not answer with this model") };
        let mut ask = SeatRequest {
            round: offer.ids.round.clone(),
            step: offer.ids.round.clone(),
            schema: ReplySchema::for_form(&offer.ballot).map(Arc::new),
            time_left: left,
            model: model.name.split_once('/').map_or(&*model.name, |(_, short)| short).to_owned(),
            ..SeatRequest::alone(&offer.ids.participant, "", offer.prompt(snapshot))
        };
        let (each, funds) = (model.each(&ask.prompt), Funds::default());
        let reserved = each * f64::from(REQUESTS);
        if let Some(money) = &self.money {
            if !money.reserve(reserved).await? {
                return fail("the worker's cost limit is reached");
            }
            ask.purse = funds.purse(each, REQUESTS);
        }
        let asked = Arc::clone(&model.participant);
        let result = ask_and_seal(asked, ask, model.name.clone(), Arc::new(shared)).await;
        if let Some(money) = &self.money {
            let costs = funds.reported_usage().into_iter();
            let costs = costs.map(|usage| Cost::from_usage(usage, Some(model.price)).dollars);
            // After a failure, the reservation stays counted.
            let _ = money.settle(reserved, costs.sum::<f64>() + funds.unreported_cost()).await;
        }
        match result {
            SeatResult::Failed(failure, _) => Ok(self.failed(offer.ids.clone(), &failure)),
            SeatResult::Sealed(seal) => match offer.envelope(seal, &self.key) {
                Some(envelope) => Ok(SeatReply::Sealed(Box::new(envelope))),
                None => fail("the answer could not be sealed"),
            },
        }
    }
}

impl WorkerModel {
    /// Returns the maximum cost of a request, in US dollars.
    fn each(&self, prompt: &Prompt) -> f64 {
        let input = estimated_tokens(&prompt.text()) + MARGIN;
        let tokens = TokenUsage { input: input as u64, output: self.most_output, ..TokenUsage::default() };
        self.price.cost_usd(tokens)
    }
}
