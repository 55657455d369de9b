//! From a model's name to someone who answers: the known services, their addresses and keys.
//!
//! A service is checked here, before anything is sent: whether it is known, whether its key is
//! there, whether the key may travel to its address.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::config::{Config, ProviderConfig};
use super::folders::read_text;
use super::providers::{KNOWN, Known};
use crate::journal::{fold, read_log};
use crate::participants::command::External;
use crate::participants::dialect::{Dialect, Form, Stream};
use crate::participants::http::{HttpParticipant, Service};
use crate::participants::human::{Desk, Human};
use crate::participants::recorded::{Recorded, Take};
use crate::participants::rehearsal::Rehearsal;
use crate::participants::tracker::{TRACKER, Tracker};
use crate::participants::{Participant, Prompt};
use crate::problem::{Problem, did_you_mean};
use crate::round::record::Returned;
use crate::session::Price;
use crate::session::SeatStatus;
use crate::workflow::Program;

/// Names that are no services over HTTP.
const BUILT_IN: [&str; 4] = ["rehearsal", "recorded", "human", TRACKER];
/// A recording larger than this is not read, in bytes.
const MAX_RECORDING: u64 = 1 << 30;
/// Names that later versions will know.
const LATER: [&str; 1] = ["command"];

/// Makes participants, one client a service.
pub struct Catalog<'a> {
    config: &'a Config,
    services: HashMap<String, Arc<dyn Participant>>,
    /// Where people are asked, if anybody shows it to them.
    desk: Option<Desk>,
}

/// Whether `name` has the form `provider/model`, or is `rehearsal`.
pub fn is_model(name: &str) -> bool {
    matches!(name, "rehearsal" | "human")
        || name == TRACKER
        || name.split_once('/').is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
}

impl<'a> Catalog<'a> {
    /// A catalog with nothing made yet.
    pub fn new(config: &'a Config) -> Self {
        Self { config, services: HashMap::new(), desk: None }
    }

    /// The catalog with a place where people are asked.
    #[must_use]
    pub fn with_desk(self, desk: Desk) -> Self {
        Self { desk: Some(desk), ..self }
    }

    /// Checks a model's name without making anyone: its form and its provider.
    ///
    /// # Errors
    /// An unknown provider, or a name that is none.
    pub fn check(&self, model: &str) -> Result<(), Problem> {
        if !is_model(model) {
            return Err(Problem::new(format!("`{model}` is not a model's name"))
                .hint("write `provider/model`, such as `ollama/llama3.2`, or `rehearsal`"));
        }
        let provider = model.split('/').next().unwrap_or_default();
        if LATER.contains(&provider) {
            return Err(Problem::new(format!("`{provider}` is no model's provider")).hint(
                "a program is seated by `{name: …, command: [program, argument]}`; script a person's answers",
            ));
        }
        let own = self.config.providers.contains_key(provider);
        if own || BUILT_IN.contains(&provider) || KNOWN.iter().any(|known| known.name == provider) {
            return Ok(());
        }
        let mut names: Vec<&str> = KNOWN.iter().map(|known| known.name).chain(BUILT_IN).collect();
        names.extend(self.config.providers.keys().map(String::as_str));
        Err(Problem::new(format!("unknown provider `{provider}` in `{model}`"))
            .hint(did_you_mean(provider, &names)))
    }

    /// Who answers for an external program.
    pub fn program(&self, program: &Program) -> Arc<dyn Participant> {
        Arc::new(External::new(program.clone(), Duration::from_millis(self.config.timeout_ms.value)))
    }

    /// Who answers for a model.
    ///
    /// # Errors
    /// As [`Catalog::check`]; and a missing key, an address that must not get it, a recording that
    /// cannot be read.
    pub fn participant(&mut self, model: &str) -> Result<Arc<dyn Participant>, Problem> {
        self.check(model)?;
        let (provider, rest) = model.split_once('/').unwrap_or((model, ""));
        let cached = if provider == "recorded" { model } else { provider };
        if let Some(made) = self.services.get(cached) {
            return Ok(Arc::clone(made));
        }
        let made: Arc<dyn Participant> = match provider {
            "rehearsal" => Arc::new(Rehearsal::default()),
            "human" => Arc::new(Human { desk: self.desk.clone() }),
            TRACKER => Arc::new(Tracker),
            "recorded" => Arc::new(recording(rest)?),
            _ => Arc::new(self.over_http(provider)?),
        };
        self.services.insert(cached.to_owned(), Arc::clone(&made));
        Ok(made)
    }

    /// Where a service answers: by its variable, the configuration, or as it is known.
    pub fn base_url(&self, provider: &str) -> Option<String> {
        let variable = format!("{}_BASE_URL", provider.to_uppercase().replace('-', "_"));
        let set = std::env::var(&variable).ok().filter(|url| !url.is_empty());
        let own = self.config.providers.get(provider).and_then(|setting| setting.value.base_url.clone());
        let known = || KNOWN.iter().find(|known| known.name == provider);
        set.or(own).or_else(|| known().map(|known| known.base_url.to_owned()))
    }

    /// The dialect a provider speaks, if it is a service.
    pub fn dialect(&self, provider: &str) -> Option<Dialect> {
        let own = self.config.providers.get(provider);
        let known = KNOWN.iter().find(|known| known.name == provider);
        match own.and_then(|setting| setting.value.dialect.as_deref()) {
            Some("anthropic") => Some(Dialect::Anthropic),
            Some("openai-responses") => Some(Dialect::Responses),
            Some(_) => Some(Dialect::OpenAi),
            None => known.map(|known| known.dialect).or_else(|| own.map(|_| Dialect::OpenAi)),
        }
    }

    /// What is known of a service, and its key.
    ///
    /// # Errors
    /// No address, or a key command that gives none. A missing key is none here.
    pub fn service(&self, provider: &str) -> Result<Service, Problem> {
        let own =
            self.config.providers.get(provider).map(|setting| setting.value.clone()).unwrap_or_default();
        let known: Option<&Known> = KNOWN.iter().find(|known| known.name == provider);
        let dialect = self.dialect(provider).unwrap_or(Dialect::OpenAi);
        let base_url = self.base_url(provider).ok_or_else(|| {
            Problem::new(format!("provider `{provider}` has no address"))
                .hint(format!("set `providers.{provider}.base_url` in config.yaml"))
        })?;
        // At another address it is another service, whatever it is called.
        let at_home = known.filter(|known| known.base_url == base_url && known.dialect == dialect);
        let (key, key_name) = key(&own, known.map_or(&[], |known| known.keys))?;
        let mut service = Service::new(dialect, base_url);
        service.key = key.map(Into::into);
        service.key_name = key_name;
        service.max_output_tokens = u32::try_from(self.config.max_output_tokens.value).unwrap_or(u32::MAX);
        service.timeouts.total = Duration::from_millis(self.config.timeout_ms.value);
        service.stream = match own.stream {
            Some(false) => Stream::Off,
            _ => known.map_or(Stream::WithUsage, |known| known.stream),
        };
        service.form = match own.structured {
            Some(true) => Form::BySchema,
            Some(false) => Form::InWords,
            None => at_home.map_or(Form::InWords, |known| known.form),
        };
        Ok(service)
    }

    /// The variables one of which must hold the key of a known service at its own address; none if
    /// it needs no key, or is asked at an address of the user's.
    pub fn wanted_keys(&self, provider: &str, service: &Service) -> &'static [&'static str] {
        let known = KNOWN.iter().find(|known| known.name == provider && known.base_url == service.base_url);
        known.filter(|known| known.needs_key()).map_or(&[], |known| known.keys)
    }

    /// Someone who asks a service.
    ///
    /// # Errors
    /// As [`Catalog::participant`].
    pub fn over_http(&self, provider: &str) -> Result<HttpParticipant, Problem> {
        let service = self.service(provider)?;
        let wanted = self.wanted_keys(provider, &service);
        if !wanted.is_empty() && service.key.is_none() {
            return Err(Problem::new(format!("no key for `{provider}`"))
                .hint(format!("set {}, or seat `rehearsal`, which needs none", wanted.join(" or "))));
        }
        HttpParticipant::new(service, self.in_flight(provider))
    }

    /// How many requests to a service are in flight at once, if not all: what the user says, else
    /// what suits a server of one's own.
    pub fn in_flight(&self, provider: &str) -> Option<usize> {
        let own = self.config.providers.get(provider).and_then(|setting| setting.value.max_in_flight);
        let usual = || KNOWN.iter().find(|known| known.name == provider)?.in_flight;
        own.map(|n| usize::try_from(n).unwrap_or(usize::MAX)).or_else(usual)
    }

    /// What the user says a model costs.
    pub fn configured_price(&self, model: &str) -> Option<Price> {
        self.config.prices.get(model).map(|setting| setting.value)
    }

    /// Every provider by name: the known ones, then the user's own.
    pub fn providers(&self) -> Vec<&str> {
        let own = self.config.providers.keys().map(String::as_str);
        let known: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        let new = own.filter(|name| !known.contains(name));
        known.iter().copied().chain(new).collect()
    }
}

/// The key and what to call it: the user's variable, the user's command, the usual variables.
fn key(own: &ProviderConfig, usual: &[&str]) -> Result<(Option<String>, Option<String>), Problem> {
    let variables = own.key_env.as_deref().into_iter().chain(usual.iter().copied());
    let read = |name: &str| std::env::var(name).ok().map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
    if own.key_command.is_empty() || own.key_env.is_some() {
        let mut first = None;
        for name in variables {
            first.get_or_insert(name.to_owned());
            if let Some(key) = read(name) {
                return Ok((Some(key), Some(name.to_owned())));
            }
        }
        return Ok((None, first));
    }
    let (program, arguments) = own.key_command.split_first().map_or(("", &[][..]), |(p, a)| (p.as_str(), a));
    let failed = |why: String| {
        Problem::new(format!("the key command `{program}` gives no key: {why}"))
            .hint("run it by hand to see why")
    };
    let output = std::process::Command::new(program)
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let key = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || key.is_empty() {
        return Err(failed(output.status.to_string()));
    }
    Ok((Some(key), Some(format!("the output of `{program}`"))))
}

fn recording(path: &str) -> Result<Recorded, Problem> {
    let text = read_text(Path::new(path), MAX_RECORDING)?;
    let log =
        read_log(text.as_bytes()).map_err(|damage| Problem::new(damage.what).at(path, damage.line, 1))?;
    let session = fold(&log);
    let mut takes = HashMap::new();
    let texts = |replies: &[Returned]| replies.iter().map(|reply| reply.text.clone()).collect();
    for round in &session.rounds {
        for seat in round.seats.values() {
            if let (SeatStatus::Revealed(answer, _), Some(item)) = (&seat.status, &seat.item) {
                let take = Take { prompt: session.prompt(round, item), replies: texts(&answer.replies) };
                takes.insert((round.opened.round.clone(), seat.name.clone()), take);
            }
        }
    }
    for item in session.items.values() {
        if let Some((back, _)) = item.returned.last().filter(|(back, _)| !back.replies.is_empty()) {
            let (system, text) = session.agent_prompt(&item.offered);
            let prompt = Prompt { rules: system.into(), snapshot: text.into(), tail: String::new() };
            let take = Take { prompt, replies: texts(&back.replies) };
            takes.insert((item.offered.item.clone(), item.offered.participant.clone()), take);
        }
    }
    if takes.is_empty() {
        return Err(Problem::new("the recording holds no answer that can be read").in_file(path));
    }
    Ok(Recorded::new(takes))
}
