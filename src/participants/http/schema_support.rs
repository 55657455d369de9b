//! Whether the answer's schema goes with the requests of a model: until its service declines it.
//!
//! A service may take schemas of one model and not of another, or not this one. A request that it
//! declines is sent once more without; when that one is taken, the model's further requests go
//! without it from the start. What was asked in words stays the same.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::participants::SeatRequest;
use crate::participants::api::{RequestOptions, SchemaMode};

/// The models of one service that take no schema.
#[derive(Default)]
pub(super) struct SchemaSupport(Mutex<HashSet<String>>);

impl SchemaSupport {
    /// The limits of a request, with the schema only where there is one and the model takes it.
    pub fn limits(&self, limits: RequestOptions, ask: &SeatRequest) -> RequestOptions {
        let declined = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_taken = ask.schema.is_some() && !declined.contains(&ask.model);
        RequestOptions { form: if is_taken { limits.form } else { SchemaMode::InWords }, ..limits }
    }

    /// Notes that a model's service takes the request without its schema alone; says so once.
    pub fn declined(&self, model: &str, host: &str) {
        let is_new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned());
        if is_new {
            tracing::warn!(model, host, "the service declined the answer's schema; asked without it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::participants::api::ApiStream;
    use crate::participants::testing::ask;

    #[test]
    fn a_model_that_declines_is_asked_without_and_no_other() {
        let limits = RequestOptions {
            max_output_tokens: 1,
            completion_tokens: false,
            stream: ApiStream::Off,
            form: SchemaMode::BySchema,
        };
        let structured = SchemaSupport::default();
        let mut ask = ask("r", "s", "t");
        assert_eq!(structured.limits(limits, &ask).form, SchemaMode::InWords, "there is none");
        ask.schema = Some("{}".into());
        assert_eq!(structured.limits(limits, &ask).form, SchemaMode::BySchema);
        structured.declined("other", "host");
        assert_eq!(structured.limits(limits, &ask).form, SchemaMode::BySchema);
        structured.declined(&ask.model, "host");
        assert_eq!(structured.limits(limits, &ask).form, SchemaMode::InWords);
    }
}
