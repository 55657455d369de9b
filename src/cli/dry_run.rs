//! `--dry-run`: what the first round would send, and nothing sent.

use std::collections::HashMap;

use super::Done;
use super::batch::known_prices;
use super::output::Output;
use super::plan::SetUp;
use crate::engine::Price;
use crate::problem::Problem;
use crate::report;
use crate::round::record::Usage;
use crate::session::{Command, Event, Exit, Moment, Next, Session, Stamped, WorkItemOffered, decide, next};
use crate::setup::prices::AS_OF;
use crate::text::{estimated_tokens, harmless};

/// Folds the session up to the opening of its first round and prints each prompt.
pub fn run(mut session: Session, now: Moment, set_up: &SetUp, output: &mut Output) -> Done {
    let costs =
        Costs { prices: known_prices(&session, set_up), longest: set_up.config.max_output_tokens.value };
    let mut total = Total::default();
    loop {
        let command = match next(&session) {
            Next::Decide(command @ Command::StartStep) => command,
            Next::OpenRound => {
                let project_summary = set_up.folders.context().map_err(|problem| vec![problem])?;
                Command::OpenRound { project_summary }
            }
            _ => break,
        };
        for event in decide(&session, command, now).map_err(|refusal| vec![Problem::new(refusal.0)])? {
            let stamped = Stamped { at: now, event };
            session.apply(&stamped);
            if output.json {
                output.line(&report::preview(now, &stamped.event, &session));
            }
            if let Event::WorkItemOffered(item) = &stamped.event {
                let text = prompt(&session, item);
                let money = costs.add(&item.model, text.len(), &mut total);
                if !output.json {
                    output.line(&shown(item, &text, &money));
                }
            }
        }
    }
    conclude(&session, output);
    if total.tokens > 0 {
        total.say(costs.longest, output);
    }
    Ok(Exit::Finished)
}

fn prompt(session: &Session, item: &WorkItemOffered) -> String {
    session.round(&item.round).map(|round| session.prompt(round, item).text()).unwrap_or_default()
}

fn shown(item: &WorkItemOffered, text: &str, money: &str) -> String {
    let (bytes, tokens) = (text.len(), estimated_tokens(text.len()));
    let head = format!("=== {} ({}) · {bytes} bytes · about {tokens} tokens", item.participant, item.model);
    harmless(&format!("{head}{money}\n\n{text}")).into_owned()
}

/// What seats could cost.
struct Costs {
    prices: HashMap<String, Price>,
    longest: u64,
}

/// What all of them could.
#[derive(Default)]
struct Total {
    dollars: f64,
    tokens: u64,
    unknown: Vec<String>,
}

impl Costs {
    /// Adds a prompt of so many bytes and a reply as long as allowed; says what that costs.
    fn add(&self, model: &str, bytes: usize, total: &mut Total) -> String {
        let input = estimated_tokens(bytes) as u64;
        total.tokens += input;
        match self.prices.get(model) {
            Some(price) => {
                let dollars = price.of(Usage { input, output: self.longest, cached: 0 });
                total.dollars += dollars;
                if dollars > 0.0 { format!(" · up to {dollars:.4} $") } else { String::new() }
            }
            // Scripted seats ask nobody.
            None if model.contains('/') => {
                if !total.unknown.iter().any(|known| known == model) {
                    total.unknown.push(model.to_owned());
                }
                " · price not known".to_owned()
            }
            None => String::new(),
        }
    }
}

impl Total {
    /// What the prompts come to, in tokens and money.
    fn say(&self, longest: u64, output: &Output) {
        let mut said = format!("about {} tokens of prompts", self.tokens);
        if self.dollars > 0.0 {
            let dollars = self.dollars;
            said.push_str(&format!(
                "; up to {dollars:.4} $ if every reply is as long as allowed ({longest} tokens), at prices of {AS_OF} unless config.yaml says otherwise"
            ));
        }
        output.note(&said);
        if !self.unknown.is_empty() {
            let models = self.unknown.join(", ");
            output.note(&format!("no price is known of {models}: add `prices` to config.yaml"));
        }
    }
}

fn conclude(session: &Session, output: &Output) {
    let Some(round) = session.open_round() else {
        return output.note("dry run: the first step asks a person; nothing was sent or saved");
    };
    output.note(&format!(
        "dry run: {} seats, snapshot {} bytes (sha256 {}), nothing was sent or saved",
        round.seats.len(),
        round.opened.snapshot_bytes,
        round.opened.snapshot_sha256
    ));
    let definition = session.definition.as_ref();
    let waiting = definition.map_or(0, |definition| definition.steps.len()).saturating_sub(1);
    if waiting > 0 {
        output.note(&format!("{waiting} more steps wait for this round's result"));
    }
}
