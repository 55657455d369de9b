//! Participants by model name, from built-in and configured services.
//!
//! Checks a service before anything is sent: is it known, is its key present, may the key go to its address.
//! What the project names needs the user's consent. Creating a participant starts and sends nothing.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::access::access;
use super::need::{KeySource, Need, NeedKind};
use super::programs::{self, ConfiguredProgram};
use super::providers::{BuiltInProvider, KNOWN, known};
use super::read_file::read_text;
use super::settings::{Config, HeaderFrom};
use super::trust::Trust;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::{RemoteSeat, SeatStatus};
use crate::journal::{fold, read_log};
use crate::participants::api::SchemaMode::{BySchema, InWords};
use crate::participants::api::{ApiStream, ApiStyle};
use crate::participants::http::{HttpParticipant, MAX_OUTPUT_TOKENS, Service};
use crate::participants::human::{Human, HumanQueue};
use crate::participants::key_command::KeyCommand;
use crate::participants::programs::{PRESETS, ProgramSeat};
use crate::participants::recorded::{RecordedTranscript, Recording};
use crate::participants::rehearsal::Rehearsal;
use crate::participants::tracker::Tracker;
use crate::participants::{Participant, Prompt};
use crate::round::answer::ReplyAttempt;
use crate::words::model_meant;
use crate::workflow::TRACKER;

/// Providers that are not HTTP services.
const BUILT_IN: [&str; 5] = ["rehearsal", "recorded", "human", TRACKER, REMOTE];
/// Seats on other machines: see [`RemoteSeat::from_model`].
const REMOTE: &str = "remote";
/// Limit of a recording, in bytes.
const MAX_RECORDING: u64 = 1 << 30;

pub struct ParticipantFactory<'a> {
    pub(super) config: &'a Config,
    pub(super) trust: &'a Trust,
    services: HashMap<String, Arc<dyn Participant>>,
    /// Queue of questions to people, if a front end shows them.
    desk: Option<HumanQueue>,
}

/// Returns true for `provider/model`, a built-in name, or `provider/` of a program (default model).
pub fn is_model(name: &str) -> bool {
    let is_named = |provider: &str| PRESETS.iter().any(|(known, _)| *known == provider);
    matches!(name, "rehearsal" | "human")
        || name == TRACKER
        || name.split_once('/').is_some_and(|(provider, model)| {
            !provider.is_empty() && (!model.is_empty() || is_named(provider))
        })
}

impl<'a> ParticipantFactory<'a> {
    pub fn new(config: &'a Config, trust: &'a Trust) -> Self {
        Self { config, trust, services: HashMap::new(), desk: None }
    }

    #[must_use]
    pub fn with_desk(self, desk: Option<&HumanQueue>) -> Self {
        Self { desk: desk.cloned(), ..self }
    }

    /// Checks the form and the provider of a model name, without creating a participant.
    pub fn check(&self, model: &str) -> Result<(), Diagnostic> {
        if !is_model(model) {
            let problem = Diagnostic::new(format!("`{model}` is not a model's name"));
            let hint = match model_meant(model) {
                Some(meant) => format!("name its provider: `{meant}`"),
                None if model.ends_with('/') => {
                    "name its model; only programs such as `claude-cli/` have a default".to_owned()
                }
                None => "write `provider/model`, such as `ollama/llama3.2`".to_owned(),
            };
            return Err(problem.hint(hint));
        }
        if model.starts_with("http://") || model.starts_with("https://") {
            let problem = Diagnostic::new(format!("`{model}` is an address, and no model's name"));
            return Err(problem.hint(
                "set OPENAI_BASE_URL to the address (of Ollama OLLAMA_BASE_URL), and name its model: `openai/MODEL`",
            ));
        }
        let provider = model.split('/').next().unwrap_or_default();
        if provider == REMOTE && RemoteSeat::from_model(model).is_none() {
            return Err(Diagnostic::new(format!("`{model}` is no kind of remote seat")).hint(
                "write `remote/link` for a person who is sent a link, `remote/inbox` for an agent that polls, or \
                 `remote/nats/WORKER`",
            ));
        }
        if let Some(program) = self.seat_program(provider) {
            return program.path(self.config).map(drop);
        }
        if self.dialect(provider).is_some() || BUILT_IN.contains(&provider) {
            return Ok(());
        }
        let mut names: Vec<&str> = KNOWN.iter().map(|known| known.name).chain(BUILT_IN).collect();
        names.extend(PRESETS.iter().map(|(known, _)| *known));
        names.extend(self.config.providers.keys().map(String::as_str));
        Err(Diagnostic::new(format!("unknown provider `{provider}` in `{model}`"))
            .hint(did_you_mean(provider, &names)))
    }

    pub fn seat_program(&self, provider: &str) -> Option<ConfiguredProgram> {
        programs::program(self.config, provider)
    }

    /// Returns a model's program with tools allowed, in the project's folder; `None` if it has none.
    pub fn with_tools(&self, model: &str, named_by: &str) -> Option<ConfiguredProgram> {
        let (provider, name) = model.split_once('/')?;
        let program = self.seat_program(provider)?.program.with_tools(name)?;
        let folder = Some(self.config.project.clone());
        Some(ConfiguredProgram { program, named_by: Some(named_by.to_owned()), folder })
    }

    pub fn program_seat(&self, found: ConfiguredProgram) -> Result<Arc<dyn Participant>, Diagnostic> {
        let (path, limit) = (self.runnable(&found)?, self.config.timeout);
        Ok(Arc::new(ProgramSeat::new(found.program, path, found.folder, limit)))
    }

    pub fn runnable(&self, found: &ConfiguredProgram) -> Result<PathBuf, Diagnostic> {
        self.trust.check(&found.need())?;
        found.path(self.config)
    }

    /// Returns what a model needs, if a service or a configured program answers for it.
    pub fn need(&self, model: &str) -> Result<Option<Need>, Diagnostic> {
        let provider = model.split('/').next().unwrap_or_default();
        if let Some(program) = self.seat_program(provider) {
            return Ok(Some(program.need()).filter(|need| need.named_by.is_some()));
        }
        self.dialect(provider).map(|_| access(self.config, provider)).transpose()
    }

    /// Returns a notice about services that the project configures but no need uses.
    pub fn unneeded(&self, needs: &[Need]) -> Option<Diagnostic> {
        let need = |provider| Some((provider, self.need(provider).ok()??));
        let all = self.config.providers.keys().map(String::as_str).filter_map(need);
        let left: Vec<(&str, Need)> =
            all.filter(|(_, need)| need.named_by.is_some() && !needs.contains(need)).collect();
        let names: Vec<String> = left.iter().map(|(provider, _)| format!("`{provider}`")).collect();
        let file = left.first()?.1.named_by.clone()?;
        let message = format!("what the project says of {} is not needed here: ignored", names.join(", "));
        Some(Diagnostic::new(message).with_file(&file))
    }

    /// Returns the participant of a model.
    ///
    /// # Errors
    /// As [`ParticipantFactory::check`]; also a missing key, a key that must not go to the address, or an
    /// unreadable recording.
    pub fn participant(&mut self, model: &str) -> Result<Arc<dyn Participant>, Diagnostic> {
        self.check(model)?;
        let (provider, rest) = model.split_once('/').unwrap_or((model, ""));
        let cached = if provider == "recorded" { model } else { provider };
        if let Some(made) = self.services.get(cached) {
            return Ok(Arc::clone(made));
        }
        let made: Arc<dyn Participant> = match provider {
            "rehearsal" => Arc::new(Rehearsal { is_watched: self.desk.is_some() }),
            "human" => Arc::new(Human { desk: self.desk.clone() }),
            TRACKER => Arc::new(Tracker),
            REMOTE => Arc::new(Human::default()),
            "recorded" => Arc::new(recording(rest)?),
            _ if let Some(found) = self.seat_program(provider) => self.program_seat(found)?,
            _ => Arc::new(self.over_http(provider)?),
        };
        self.services.insert(cached.to_owned(), Arc::clone(&made));
        Ok(made)
    }

    pub fn address(&self, provider: &str) -> Option<String> {
        match access(self.config, provider).ok()?.what {
            NeedKind::Service { address, .. } => Some(address),
            NeedKind::Program { .. } | NeedKind::Secret { .. } | NeedKind::Price { .. } => None,
        }
    }

    /// Returns the API style of a provider, if it is a service.
    pub fn dialect(&self, provider: &str) -> Option<ApiStyle> {
        if self.seat_program(provider).is_some() {
            return None;
        }
        let set = self.config.provider_setting(provider, |said| said.api);
        let usual = known(provider).map(|known| known.dialect);
        let of_own = self.config.providers.contains_key(provider).then_some(ApiStyle::OpenAi);
        set.or(usual).or(of_own)
    }

    pub fn service(&self, provider: &str) -> Result<Service, Diagnostic> {
        let need = access(self.config, provider)?;
        self.trust.check(&need)?;
        let NeedKind::Service { address, key, .. } = need.what else {
            return Err(Diagnostic::new(format!("`{provider}` is no service")));
        };
        let known = known(provider);
        let at_its_own = known.filter(|known| known.base_url == address);
        let dialect = self.dialect(provider).unwrap_or(ApiStyle::OpenAi);
        // A built-in name at another address is another service.
        let at_home = at_its_own.filter(|known| known.dialect == dialect);
        let mut service = Service::new(dialect, address);
        with_key(&mut service, key);
        service.wanted_keys =
            at_its_own.filter(|known| known.start.is_none()).map_or(&[], |known| known.keys);
        let limit = self.config.reply_limits().limit_for(None, provider);
        service.limits.max_output_tokens = Some(u32::try_from(limit).unwrap_or(u32::MAX));
        service.thinking_room = Some(MAX_OUTPUT_TOKENS).filter(|_| self.config.has_small_default(provider));
        let personal = self.config.providers.get(provider).map(|said| &said.own);
        service.auth = personal.and_then(|own| own.auth);
        for (name, from) in personal.into_iter().flat_map(|own| &own.headers) {
            let value = match from {
                HeaderFrom::Text(text) => text.clone(),
                HeaderFrom::Env { env: variable } => {
                    let unset =
                        || format!("`{provider}` wants {variable} for its header `{name}`: it is not set");
                    let held = std::env::var(variable).map_err(|_| Diagnostic::new(unset()))?;
                    service.secrets.push(held.trim().into());
                    held
                }
            };
            service.headers.push((name.clone(), value.trim().into()));
        }
        service.limits.effort = self.config.provider_setting(provider, |said| said.effort);
        service.window = known.and_then(BuiltInProvider::window);
        service.timeouts.total = self.config.timeout;
        service.limits.stream = match self.config.provider_setting(provider, |said| said.stream) {
            Some(false) => ApiStream::Off,
            _ => known.map_or(ApiStream::WithUsage, |known| known.stream),
        };
        let usual =
            at_home.or_else(|| known.filter(|known| known.is_small())).map_or(InWords, |known| known.form);
        service.limits.form = match self.config.provider_setting(provider, |said| said.structured) {
            Some(true) if usual == InWords => BySchema,
            Some(false) => InWords,
            _ => usual,
        };
        Ok(service)
    }

    pub fn over_http(&self, provider: &str) -> Result<HttpParticipant, Diagnostic> {
        let service = self.service(provider)?;
        if service.lacks_key() {
            let wanted = service.wanted_keys.join(" or ");
            return Err(Diagnostic::new(format!("no key for `{provider}`"))
                .hint(format!("set {wanted}, or try it out with `--rehearse`")));
        }
        let in_flight =
            self.config.provider_setting(provider, |said| said.max_in_flight).map(NonZeroUsize::get);
        let made = HttpParticipant::new(service, in_flight.or_else(|| known(provider)?.in_flight));
        made.map_err(|problem| match &problem.hint {
            // A hint here is about the address, so add its setting.
            Some(hint) => {
                let variable = super::access::address_variable(provider);
                let hint = format!("{hint}; `{provider}` has it from {variable} or its `base_url`");
                problem.hint(hint)
            }
            None => problem,
        })
    }

    /// Returns all provider names: built-in services, then the user's own, then installed programs.
    pub fn providers(&self) -> Vec<&str> {
        let own = self.config.providers.keys().map(String::as_str);
        let mut all: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        let programs: Vec<&str> = PRESETS.iter().map(|(known, _)| *known).collect();
        let new: Vec<&str> = own.filter(|name| !all.contains(name) && !programs.contains(name)).collect();
        all.extend(new.into_iter().chain(programs::installed(self.config)));
        all
    }
}

/// Sets the key from its variable, or the command that prints it, and the key's name for messages.
fn with_key(service: &mut Service, key: KeySource) {
    let read = |name: &String| {
        let value = std::env::var(name).ok().map(|value| value.trim().to_owned());
        value.filter(|value| !value.is_empty()).map(|value| (name.clone(), value))
    };
    match key {
        KeySource::Nowhere => {}
        KeySource::Variables(names) => match names.iter().find_map(read) {
            Some((name, key)) => (service.key_name, service.key) = (Some(name), Some(key.into())),
            None => service.key_name = names.into_iter().next(),
        },
        KeySource::Command(command) => {
            let program = command.first().map_or("", String::as_str);
            service.key_name = Some(format!("the output of `{program}`"));
            service.key_command = Some(Arc::new(KeyCommand::new(command)));
        }
    }
}

fn recording(path: &str) -> Result<Recording, Diagnostic> {
    let text = read_text(Path::new(path), MAX_RECORDING)?;
    let log =
        read_log(text.as_bytes()).map_err(|damage| Diagnostic::new(damage.what).at(path, damage.line, 1))?;
    let session = fold(&log);
    let mut transcripts = HashMap::new();
    let texts = |replies: &[ReplyAttempt]| replies.iter().map(|reply| reply.text.clone()).collect();
    for round in &session.rounds {
        for seat in round.seats.values() {
            if let (SeatStatus::Revealed(answer, _), Some(item)) = (&seat.status, &seat.item) {
                let transcript = RecordedTranscript {
                    prompt: session.prompt(round, item),
                    replies: texts(&answer.record.replies),
                };
                transcripts.insert((round.opened.round.clone(), seat.name.clone()), transcript);
            }
        }
    }
    for item in session.items.values() {
        if let Some((back, _)) = item.returned.last().filter(|(back, _)| !back.record.replies.is_empty()) {
            let (system, text) = session.agent_prompt(&item.offered);
            let prompt = Prompt { rules: system.into(), snapshot: text.into(), tail: String::new() };
            let transcript = RecordedTranscript { prompt, replies: texts(&back.record.replies) };
            transcripts.insert((item.offered.item.clone(), item.offered.participant.clone()), transcript);
        }
    }
    if transcripts.is_empty() {
        return Err(Diagnostic::new("the recording contains no answer that can be read").with_file(path));
    }
    Ok(Recording { transcripts })
}
