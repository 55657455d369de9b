//! The result of a round, compared with the receipt of who voted in it.

use serde_json::Value;

use super::words::{damaged, in_words};
use super::{Answers, Visit};
use crate::core::{ExitCode, refusal};
use crate::diagnostic::Diagnostic;
use crate::launch::error::RunError;

impl Visit<'_> {
    /// Shows the result of a round that is closed, once there is one; an exit code where nothing follows.
    pub(super) async fn show_result(&mut self) -> Result<Option<ExitCode>, RunError> {
        let reply = self.client.get("/v1/seat/result").await.ok().filter(|reply| reply.status == 200);
        let result: Option<Value> = reply.and_then(|reply| serde_json::from_slice(&reply.body).ok());
        if let Some(result) = &result {
            let text = |key: &str| result[key].as_str().unwrap_or_default().to_owned();
            let winners = result["winners"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let winners = winners.collect::<Vec<_>>().join(", ");
            let decided = if result["decided"] == true {
                format!("Decided: {winners}")
            } else {
                "No decision".to_owned()
            };
            let of = self.kept.receipt.as_ref().filter(|receipt| receipt.round == text("round"));
            let fits = match (of, result["own"]["commitment"].as_str()) {
                (Some(receipt), Some(opened)) if receipt.commitment == opened => {
                    "Your receipt fits the answer that was opened."
                }
                (Some(_), Some(_)) => {
                    return Err(damaged(
                        "the answer that was opened is not the one that your receipt is for",
                    ));
                }
                (Some(_), None) => {
                    return Err(damaged("your answer was not opened, and you have a receipt for it"));
                }
                (None, _) => "You have no receipt in this round.",
            };
            self.say(&format!(
                "{decided}\n{}\n{} of {} answered\n{fits}",
                text("reason"),
                result["answered"],
                result["asked"]
            ));
        } else {
            self.say("The round is closed.");
        }
        let status = self.client.get("/v1/status").await.ok();
        let status: Option<Value> = status.and_then(|reply| serde_json::from_slice(&reply.body).ok());
        let is_over = status.is_some_and(|status| status["state"] == "over");
        match &self.kept.receipt {
            Some(_) if is_over || (matches!(self.answers, Answers::File(_)) && result.is_some()) => {
                Ok(Some(ExitCode::Finished))
            }
            None if is_over => Err(Diagnostic::new(in_words(refusal::ROUND_CLOSED)).into()),
            _ => Ok(None),
        }
    }
}
