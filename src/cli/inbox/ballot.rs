//! `inbox run` in rounds: the command answers in plain text, which the session seals.

use std::sync::Arc;

use serde_json::{Value, json};

use super::access::{done, refusal, text};
use super::worker::{Worker, attempt_of, is_unfit};
use crate::launch::error::RunError;
use crate::participants::{Failure, Participant as _, Prompt, Reply, SeatRequest};
use crate::persona::Persona;
use crate::round::prompt::reask_suffix;

impl Worker<'_> {
    /// Runs the command for a ballot, and sends what comes back; asks once more where that does not fit.
    pub(super) async fn vote(&mut self, offered: &Value) -> Result<(), RunError> {
        let item = offered["item"].as_str().unwrap_or_default();
        self.output.note(&format!("{}: asked", text(offered, "item")));
        let prompt = offered["prompt"].as_str().unwrap_or_default();
        let prompt = Prompt { rules: "".into(), snapshot: prompt.into(), tail: String::new() };
        let seat = offered["participant"].as_str().unwrap_or_default();
        let mut ask = SeatRequest::alone(seat, Arc::new(Persona::nobody(seat)), "", prompt);
        loop {
            let why = match self.program.ask(&ask).await {
                Err(Failure { reason, .. }) => reason,
                Ok(Reply { text, .. }) => {
                    let answer =
                        json!({ "holder": self.holder, "answer": text, "again": ask.again.is_some() });
                    let reply = self.access.post_item(item, "answer", &answer).await?;
                    if let Ok(receipt) = done(&reply) {
                        self.output.note(&format!("{item}: sealed"));
                        self.output.line(&receipt.to_string());
                        return Ok(());
                    }
                    let why = refusal(&reply);
                    if is_unfit(&reply) && ask.again.is_none() {
                        self.output.note(&format!("{item}: {why}; asked once more"));
                        ask.again = Some(reask_suffix(&why));
                        continue;
                    }
                    why
                }
            };
            self.leave(offered, &why);
            return Ok(());
        }
    }

    /// Leaves a ballot to others, unless the seat is asked again.
    fn leave(&mut self, offered: &Value, why: &str) {
        self.output.note(&format!("{}: not answered: {why}", text(offered, "item")));
        self.left.insert(attempt_of(offered));
    }
}
