//! Checkup of providers, with a hint for each error.
//!
//! Shows the variable of a key, never its value. Changes and stores nothing.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::join_all;

use super::access::address_variable;
use super::dirs::Dirs;
use super::findings::measurement_status;
use super::need::without_secrets;
use super::participant_factory::ParticipantFactory;
use super::programs::ConfiguredProgram;
use super::providers::known;
use crate::ballot::{BallotForm, BallotKind, ReplySchema};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::participants::http::HttpParticipant;
use crate::participants::http::probe::ProbedParameters;
use crate::participants::programs::version;
use crate::participants::{Failure, Prompt, SeatRequest};
use crate::sanitize::group_digits;
use crate::workflow::Effort;

/// Local servers whose models are offered.
pub const LOCAL_SERVERS: [&str; 4] = ["ollama", "llamacpp", "lmstudio", "vllm"];

#[derive(Debug, Clone, PartialEq)]
pub struct Checkup {
    pub provider: String,
    pub key: Option<String>,
    /// Address without secrets.
    pub address: Option<String>,
    pub state: CheckupStatus,
    pub hint: Option<String>,
    /// Remark that is not an error.
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CheckupStatus {
    /// Not asked, because its key is missing.
    NoKey,
    /// Not asked, because it is not configured; with the reason.
    NotSetUp(String),
    /// Asked, but did not answer; with the reason.
    Silent(String),
    Program {
        path: PathBuf,
        version: String,
        known: String,
    },
    Answers(Vec<String>),
    /// Answers and lists these models; one of them was asked for one word.
    Probed(Vec<String>, String, Result<ProbedParameters, String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeLevel {
    Listing,
    /// Also asks for a reply of one word, which may cost a fraction of a cent.
    OneWord,
}

pub struct Doctor<'a> {
    pub catalog: &'a ParticipantFactory<'a>,
    pub folders: &'a Dirs,
    pub depth: ProbeLevel,
}

impl Doctor<'_> {
    /// Checks these providers (`provider` or `provider/model`) concurrently; all if none is named.
    pub async fn check(&self, names: &[String]) -> Result<Vec<Checkup>, Diagnostic> {
        let all = self.catalog.providers();
        for name in names {
            let provider = name.split('/').next().unwrap_or_default();
            if !all.contains(&provider) && self.catalog.seat_program(provider).is_none() {
                let problem = Diagnostic::new(format!("unknown provider `{provider}`"));
                return Err(problem.hint(did_you_mean(provider, &all)));
            }
        }
        let all: Vec<String> = all.iter().map(|name| (*name).to_owned()).collect();
        let names = if names.is_empty() { &all[..] } else { names };
        Ok(join_all(names.iter().map(|name| self.checkup(name))).await)
    }

    async fn checkup(&self, name: &str) -> Checkup {
        let provider = name.split('/').next().unwrap_or_default().to_owned();
        let state = CheckupStatus::NoKey;
        let mut found = Checkup { provider, key: None, address: None, state, hint: None, note: None };
        found.state = match self.state(name, &mut found).await {
            Ok(state) => state,
            Err(problem) => {
                found.hint = problem.hint;
                CheckupStatus::NotSetUp(problem.message)
            }
        };
        found
    }

    async fn state(&self, name: &str, found: &mut Checkup) -> Result<CheckupStatus, Diagnostic> {
        let catalog = self.catalog;
        let (provider, model) =
            name.split_once('/').map_or((name, None), |(name, model)| (name, Some(model)));
        if let Some(program) = catalog.seat_program(provider) {
            return self.program_state(&program).await;
        }
        let service = catalog.service(provider)?;
        let key_name = service.key_name.clone();
        found.key = key_name.clone().filter(|_| service.has_key());
        found.address = Some(without_secrets(&service.base_url));
        if service.lacks_key() {
            found.hint = Some(format!("set {}", service.wanted_keys.join(" or ")));
            return Ok(CheckupStatus::NoKey);
        }
        let participant = catalog.over_http(provider)?;
        let listed = match participant.models().await {
            Ok(models) => models,
            Err(failure) => {
                found.hint = Some(advice(provider, &failure, key_name.as_deref()));
                return Ok(CheckupStatus::Silent(in_full(failure)));
            }
        };
        if listed.is_empty() && provider == "ollama" {
            found.hint = Some("fetch a model: `ollama pull llama3.2`".to_owned());
        }
        let Some(model) = model.map(str::to_owned).or_else(|| listed.first().cloned()) else {
            return Ok(CheckupStatus::Answers(listed));
        };
        if let Some(window) = participant.window(&model).await {
            found.note = Some(format!("`{model}` reads {} tokens here", group_digits(window)));
        }
        if self.depth == ProbeLevel::Listing {
            return Ok(CheckupStatus::Answers(listed));
        }
        let probed = probe(&participant, &model).await;
        if let Err(failure) = &probed {
            let advice = advice(provider, failure, key_name.as_deref());
            found.hint =
                Some(format!("try another model: `roundtable doctor {provider}/MODEL --probe`; {advice}"));
        }
        Ok(CheckupStatus::Probed(listed, model, probed.map_err(in_full)))
    }

    async fn program_state(&self, found: &ConfiguredProgram) -> Result<CheckupStatus, Diagnostic> {
        let path = self.catalog.runnable(found)?;
        Ok(match version(&found.program, &path).await {
            Ok(version) => {
                let known = measurement_status(&found.program, &version, self.folders);
                CheckupStatus::Program { path, version, known }
            }
            Err(why) => CheckupStatus::Silent(why),
        })
    }
}

/// Returns the full reason; it may be shown, because no round's answers are involved.
fn in_full(failure: Failure) -> String {
    failure.in_full.unwrap_or(failure.reason)
}

fn advice(provider: &str, failure: &Failure, key_name: Option<&str>) -> String {
    let (known, variable) = (known(provider), address_variable(provider));
    let reason = &failure.reason;
    let has = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    match (known.and_then(|known| known.start), key_name) {
        _ if has(&["HTTP 404", "web page", "cannot be read", "redirected"]) => {
            format!("check the address: it usually ends in /v1; {variable} sets another")
        }
        (_, Some(key)) if has(&["HTTP 401", "HTTP 403"]) => format!("check the key in {key}"),
        (_, None) if has(&["HTTP 401", "HTTP 403"]) => {
            format!("it wants a key: name its variable in `providers.{provider}.key_env`")
        }
        _ if has(&["HTTP 402", "HTTP 429"]) => "wait, or look at the account's limits".to_owned(),
        _ if has(&["HTTP 5"]) => "the service reports an internal error: try later".to_owned(),
        _ if has(&["HTTP ", "status 200", "the reply "]) => "it answers, but not this request".to_owned(),
        (Some(start), _) => format!("start it: `{start}`; or set {variable} if it answers elsewhere"),
        _ => format!("check the address and the connection; {variable} sets another address"),
    }
}

async fn probe(participant: &HttpParticipant, model: &str) -> Result<ProbedParameters, Failure> {
    let prompt =
        Prompt { rules: "".into(), snapshot: "Answer with one word: ".into(), tail: "ready".to_owned() };
    let ask = SeatRequest {
        seed: Some(1),
        temperature: Some(0.5),
        effort: Some(Effort::Low),
        schema: ReplySchema::for_form(&BallotForm::over(BallotKind::Position, Vec::new())).map(Arc::new),
        ..SeatRequest::alone("doctor", model, prompt)
    };
    participant.probe(&ask).await
}
