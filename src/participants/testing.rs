//! Request for unit tests.

use super::{Prompt, SeatRequest};

pub fn ask(rules: &str, snapshot: &str, tail: &str) -> SeatRequest {
    SeatRequest {
        step: "decide".to_owned(),
        round: "decide".to_owned(),
        seat: "qa-lead".to_owned(),
        model: "a \"model\"".to_owned(),
        prompt: Prompt { rules: rules.into(), snapshot: snapshot.into(), tail: tail.to_owned() },
        ..SeatRequest::default()
    }
}
