//! An ask for unit tests.

use std::sync::Arc;

use super::progress::ProgressHandle;
use super::{Prompt, SeatRequest};
use crate::persona::Persona;

/// An ask with these three parts of a prompt and nothing else of interest.
pub fn ask(rules: &str, snapshot: &str, tail: &str) -> SeatRequest {
    let persona = Persona::parse("---\nname: qa-lead\n---\nText.\n", "qa-lead.md").expect("a persona");
    SeatRequest {
        step: "decide".to_owned(),
        round: "decide".to_owned(),
        seat: "qa-lead".to_owned(),
        place: (0, 1),
        persona: Arc::new(persona),
        model: "a \"model\"".to_owned(),
        prompt: Prompt { rules: rules.into(), snapshot: snapshot.into(), tail: tail.to_owned() },
        again: None,
        warm_first: false,
        seed: None,
        temperature: None,
        effort: None,
        max_output_tokens: None,
        has_twice_the_room: false,
        schema: None,
        time_left: None,
        timeout: None,
        watch: ProgressHandle::default(),
        purse: super::purse::Purse::default(),
        task: None,
    }
}
