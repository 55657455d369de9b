//! `warm_first`: one seat of each model ahead, the others once its reply has begun.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::Desk;
use crate::server::{Answer, Server};

const FIRST: Duration = Duration::from_millis(400);

/// A service that has a model's prompt in its cache once it has answered it; notes when it is asked.
fn caching(asked: Arc<Mutex<Vec<Instant>>>) -> Server {
    Server::start(move |_| {
        let mut asked = asked.lock().expect("a lock");
        asked.push(Instant::now());
        let is_warm = asked[0].elapsed() >= FIRST;
        let answer = Answer::json(
            200,
            &json!({
                "choices": [{"message": {"content": "vote: redis\n"}, "finish_reason": "stop"}],
                "usage": {
                    "prompt_tokens": 1000, "completion_tokens": 10,
                    "prompt_tokens_details": {"cached_tokens": if is_warm { 900 } else { 0 }},
                },
            }),
        );
        if asked.len() == 1 { answer.after(FIRST) } else { answer }
    })
}

fn definition(warm: &str) -> String {
    format!(
        "question: Which?\nexploration: \"{}\"\nballot: {{kind: choice, options: [in-process, redis]}}\n\
         rule: majority\nparticipants: [{{persona: qa-lead, count: 20}}]\n{warm}",
        "Prices may differ between hosts for a minute. ".repeat(180)
    )
}

/// How many of twenty seats were asked before the first reply began, and what the run says.
fn early(warm: &str) -> (usize, String) {
    let asked = Arc::<Mutex<Vec<Instant>>>::default();
    let server = caching(Arc::clone(&asked));
    let desk = Desk::with(&definition(warm)).served_by(&server);
    let ran = desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(0);
    let asked = asked.lock().expect("a lock");
    assert_eq!(asked.len(), 20);
    (asked.iter().filter(|at| at.duration_since(asked[0]) < FIRST).count(), ran.err)
}

#[test]
fn one_seat_goes_ahead_and_the_others_find_the_cache_filled() {
    let (ahead, told) = early("warm_first: on\n");
    assert_eq!(ahead, 1);
    assert!(told.contains("20,000 tokens in (85 % from caches)"), "{told}");
    assert!(early("").0 > 1, "off unless it is asked for");
}
