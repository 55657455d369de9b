//! The `--dry-run` option: prints every prompt that depends on no answer, sends nothing.

use std::collections::HashMap;

use futures::future::join_all;
use indexmap::IndexMap;

use super::console::{Console, VerbResult};
use crate::config::prices::AS_OF;
use crate::config::trust::lines;
use crate::core::{Command, ExitCode, NextAction, ReplyLimits, decide, next};
use crate::diagnostic::Diagnostic;
use crate::handoff::whole_prompt;
use crate::history::{Event, Price, Session, TimedEvent, WorkItemOffered};
use crate::launch::environment::Environment;
use crate::launch::error::RunError;
use crate::launch::material::with_evidence;
use crate::launch::needs::known_prices;
use crate::launch::plan::LaunchOptions;
use crate::launch::prepare::Opening;
use crate::round::answer::TokenUsage;
use crate::sanitize::{group_digits, harmless, pluralize};
use crate::tokens::estimated_tokens;

/// Advances the session as far as possible without answers, and prints each prompt.
pub fn run(
    Opening { mut session, needs, .. }: Opening,
    options: &LaunchOptions,
    set_up: &Environment,
    output: &mut Console,
) -> VerbResult {
    for line in lines(&needs, &set_up.trust) {
        output.note(&line);
    }
    let file = session.header.as_ref().map(|header| header.definition_file.clone()).unwrap_or_default();
    let (refused, warned) = foreseen(&session, &file);
    refused.iter().chain(&warned).for_each(|problem| output.warn(problem));
    let mut told = String::new();
    let total = draft(&mut session, options, set_up, &mut |event, session, money| {
        if let Event::WorkItemOffered(item) = event {
            let own = session.round(&item.round).filter(|_| told == item.round);
            let own = own.map(|round| format!("(as above, then)\n{}", session.prompt(round, item).tail));
            output.line(&prompt_block(item, &prompt(session, item), own.as_deref(), money));
            told.clone_from(&item.round);
        } else {
            remark(event, output);
        }
    })?;
    conclude(&session, output);
    if total.tokens > 0 {
        total.say(output);
    }
    Ok(if refused.is_empty() { ExitCode::Finished } else { ExitCode::Undecided })
}

/// Advances a session as far as possible without answers, and returns the cost of its prompts.
/// `see` gets each event, the session after it, and the cost of a prompt as text.
pub fn draft(
    session: &mut Session,
    options: &LaunchOptions,
    set_up: &Environment,
    see: &mut dyn FnMut(&Event, &Session, &str),
) -> Result<Total, RunError> {
    let costs = Costs { prices: known_prices(session, set_up), limits: set_up.config.reply_limits() };
    let mut total = Total::default();
    let mut given = options.evidence.clone();
    let now = session.opened_at;
    loop {
        let command = match next(session) {
            NextAction::Decide(Command::Close) => break,
            NextAction::Decide(command) => command,
            NextAction::OpenRound => {
                let reader = set_up.preview_reader(session.definition());
                with_evidence(session, &std::mem::take(&mut given), reader)?;
                let project_summary = set_up.folders.context()?;
                Command::OpenRound { project_summary, seal: None }
            }
            _ => break,
        };
        for event in decide(session, command, now).map_err(|refusal| Diagnostic::new(refusal.to_string()))? {
            let stamped = TimedEvent { at: now, event };
            session.apply(&stamped);
            let mut money = String::new();
            if let Event::WorkItemOffered(item) = &stamped.event {
                money = costs.add(session, item, &mut total);
            }
            see(&stamped.event, session, &money);
        }
    }
    Ok(total)
}

/// Returns the refusals that no result can prevent, and the warnings; `file` is the definition's name.
pub fn foreseen(session: &Session, file: &str) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    const HINT: &str = "hand over what it names, or word it otherwise; `completeness: off` skips this check";
    let (mut refused, mut warned) = (Vec::new(), Vec::new());
    for (step, checked) in session.findings_before_run() {
        let problem = |why: &String| {
            let message = format!("step `{}`: {why}", step.id);
            Diagnostic::new(message).hint(HINT).at(file, step.place.0, step.place.1)
        };
        refused.extend(checked.refusal.iter().map(problem));
        warned.extend(checked.warnings.iter().map(problem));
    }
    (refused, warned)
}

/// Returns a problem for each model whose prompts exceed the context window that its local server reports.
pub fn misfits(session: &Session, options: &LaunchOptions, set_up: &Environment) -> Vec<Diagnostic> {
    let (mut longest, mut session) = (IndexMap::<String, usize>::new(), session.clone());
    // Errors of the draft are reported elsewhere.
    let _ = draft(&mut session, options, set_up, &mut |event, session, _| {
        if let Event::WorkItemOffered(item) = event {
            let known = longest.entry(item.model.clone()).or_default();
            *known = estimated_tokens(&prompt(session, item)).max(*known);
        }
    });
    let asked = longest.into_iter().filter_map(|(model, needed)| {
        let (provider, name) = model.split_once('/')?;
        let (server, name) = (set_up.catalog().over_http(provider).ok()?, name.to_owned());
        Some(async move {
            let why = server.window_problem(&name, needed).await?;
            Some(Diagnostic::new(format!("`{model}`: {why}")))
        })
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_or_else(
        |_| Vec::new(),
        |runtime| runtime.block_on(join_all(asked)).into_iter().flatten().collect(),
    )
}

fn remark(event: &Event, output: &Console) {
    if let Event::Warning { message, .. } = event {
        output.note(&format!("warning: {message}"));
    }
    if let Event::StepFinished(result) = event
        && let Some(error) = &result.error
    {
        output.note(&format!("step `{}` would fail: {error}", result.step));
    }
}

fn prompt(session: &Session, item: &WorkItemOffered) -> String {
    if let Some(round) = session.round(&item.round) {
        return session.prompt(round, item).text();
    }
    let (system, text) = session.agent_prompt(item);
    whole_prompt(&system, &text)
}

/// Returns a prompt with its size; after another seat's of the same round its `own` part alone.
fn prompt_block(item: &WorkItemOffered, text: &str, own: Option<&str>, money: &str) -> String {
    let head = format!(
        "=== {} ({}) · {} · {} bytes · about {} tokens",
        item.participant,
        item.model,
        item.item,
        group_digits(text.len()),
        group_digits(estimated_tokens(text))
    );
    harmless(&format!("{head}{money}\n\n{}", own.unwrap_or(text))).into_owned()
}

struct Costs {
    prices: HashMap<String, Price>,
    limits: ReplyLimits,
}

/// Tokens and cost of prompts, assuming replies of the maximum length.
#[derive(Default)]
pub struct Total {
    pub dollars: f64,
    pub tokens: u64,
    longest: u64,
    pub unknown: Vec<String>,
}

impl Costs {
    /// Adds a prompt and a reply of the maximum length; returns their cost as text.
    fn add(&self, session: &Session, item: &WorkItemOffered, total: &mut Total) -> String {
        let seat = session.seat_info(&item.participant);
        let (model, input) = (item.model.as_str(), estimated_tokens(&prompt(session, item)) as u64);
        total.tokens += input;
        match self.prices.get(model) {
            Some(price) => {
                let output = self.limits.limit_for(seat, model);
                total.longest = total.longest.max(output);
                let dollars = price.cost_usd(TokenUsage { input, output, ..TokenUsage::default() });
                total.dollars += dollars;
                if dollars > 0.0 { format!(" · up to ${dollars:.4}") } else { String::new() }
            }
            // Scripted seats have no `/` and cost nothing.
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
    fn say(&self, output: &Console) {
        let mut said = format!("prompts: about {} tokens", group_digits(self.tokens as usize));
        if self.dollars > 0.0 {
            let (dollars, longest) = (self.dollars, group_digits(self.longest as usize));
            said.push_str(&format!(
                "; up to ${dollars:.4} if every reply is as long as allowed ({longest} tokens), at prices published by {AS_OF} unless config.yaml says otherwise"
            ));
        }
        output.note(&said);
        if !self.unknown.is_empty() {
            let models = self.unknown.join(", ");
            output.note(&format!("no price is known of {models}: add `prices` to your own config.yaml"));
        }
    }
}

fn conclude(session: &Session, output: &Console) {
    if let Some(round) = session.open_round() {
        output.note(&format!(
            "dry run: {}, snapshot {} bytes (sha256 {}), nothing was sent or saved",
            pluralize(round.seats.len(), "seat"),
            group_digits(round.opened.snapshot_bytes),
            round.opened.snapshot_sha256
        ));
    } else {
        output.note("dry run: nothing sent, nothing saved");
    }
}
