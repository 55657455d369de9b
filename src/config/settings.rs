//! Layered configuration: flag, environment, project file, user file, default.
//!
//! Contains no keys of services, only the variables that contain them or the commands that print them. The
//! project's and the user's settings of a service are kept separately; `access.rs` decides which count. Screen
//! settings are read only from the user's file.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::Value as Json;
use serde_path_to_error::Segment;

use super::dirs::Dirs;
use super::need::{Need, NeedKind};
use super::providers::{BuiltInProvider, KNOWN, known};
use super::read_file::read_text;
use super::remote::{Positive, RemoteConfig, WorkerConfig};
use super::secret_scan::SecretPolicy;
use crate::core::ReplyLimits;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::Price;
use crate::participants::api::ApiStyle;
use crate::participants::http::{KeyHeader, LOCAL_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS};
use crate::participants::programs::{HARMLESS_TOOLS, OutputPaths, SeatProgram, find_preset};
use crate::workflow::{Effort, parse_duration};
use crate::yaml::{Node, Value, literal_keys, read};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    /// File path or variable name.
    pub from: String,
}

/// Service of the user, or changes to a built-in one. The keys from `command` on describe a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map of keys")]
pub struct ProviderConfig {
    pub api: Option<ApiStyle>,
    pub base_url: Option<String>,
    #[serde(deserialize_with = "variable")]
    pub key_env: Option<String>,
    pub key_command: Vec<String>,
    pub max_in_flight: Option<NonZeroUsize>,
    /// Streams replies unless `false`.
    pub stream: Option<bool>,
    /// Sends the answer's JSON Schema; by default if the service is known to accept it.
    pub structured: Option<bool>,
    /// Default effort of its models.
    pub effort: Option<Effort>,
    pub max_output_tokens: Option<NonZeroU64>,
    pub headers: IndexMap<String, HeaderFrom>,
    /// Header of the key, if it is not the usual one.
    pub auth: Option<KeyHeader>,
    command: Vec<String>,
    arguments: Vec<String>,
    env: Vec<String>,
    prompt: Option<PromptBy>,
    reply: Option<String>,
    tokens_in: Option<String>,
    tokens_cached: Option<String>,
    tokens_out: Option<String>,
    cost: Option<String>,
    version: Vec<String>,
    allow_tools: Vec<String>,
    tool_less: bool,
    base_url_env: Option<String>,
    /// Program of `command`; for a built-in program, additions to it.
    #[serde(skip)]
    pub program: SeatProgram,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PromptBy {
    Stdin,
    Argument,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "a header is a text or `{env: VARIABLE}`")]
pub enum HeaderFrom {
    Text(String),
    Env {
        #[serde(deserialize_with = "variable")]
        env: String,
    },
}

impl ProviderConfig {
    /// Returns the program that a provider describes; for a built-in program, additions to it.
    fn seat_program(&self, name: &str) -> Result<SeatProgram, Diagnostic> {
        let list = |text: &Option<String>| text.iter().cloned().collect();
        let mut program = SeatProgram {
            provider: name.to_owned(),
            command: self.command.clone(),
            arguments: self.arguments.clone(),
            env: self.env.clone(),
            output: OutputPaths {
                reply: self.reply.clone(),
                tokens_in: list(&self.tokens_in),
                tokens_cached: list(&self.tokens_cached),
                tokens_out: list(&self.tokens_out),
                cost: self.cost.clone(),
                ..OutputPaths::default()
            },
            version: self.version.clone(),
            allow_tools: self.allow_tools.clone(),
            tool_less: self.tool_less,
            recorder_set: self
                .base_url_env
                .iter()
                .map(|name| (name.clone(), "{recorder}".to_owned()))
                .collect(),
            ..SeatProgram::default()
        };
        if self.prompt == Some(PromptBy::Argument) {
            program.command.push("{prompt}".to_owned());
        }
        let problem = |message: String, hint: &str| Err(Diagnostic::new(message).hint(hint));
        if let Some((path, error)) = program.output.problems().into_iter().next() {
            let hint = error.hint.as_deref().unwrap_or("write it as `usage.input_tokens`");
            return problem(format!("`{path}` is no path: {}", error.message), hint);
        }
        if let Some(tool) = self.allow_tools.iter().find(|tool| !HARMLESS_TOOLS.contains(&tool.as_str())) {
            let known = HARMLESS_TOOLS.map(|tool| format!("`{tool}`")).join(" and ");
            let hint = format!("only {known} can be allowed: they read, run and fetch nothing");
            return problem(format!("`{tool}` cannot be allowed in a blind round"), &hint);
        }
        let bare = SeatProgram { provider: name.to_owned(), ..SeatProgram::default() };
        match (find_preset(name).is_some(), program.command.is_empty()) {
            (true, false) => problem(
                format!("`{name}` has its own flags"),
                "give another name to a provider with a `command` of yours",
            ),
            (false, _) if !self.arguments.is_empty() => problem(
                format!("`arguments` of `{name}` have no effect: they are for programs known by name"),
                "write them into its `command`",
            ),
            (false, true) if program != bare => problem(
                format!("provider `{name}` has keys of a program and no `command`"),
                "add `command: [program, argument]`",
            ),
            _ => Ok(program),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Provider {
    pub own: ProviderConfig,
    pub project: ProviderConfig,
    /// Project's file, if it configures this provider.
    pub named_by: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map of keys")]
pub struct ScreenConfig {
    pub background: BackgroundConfig,
    pub ascii: bool,
    pub notify: NotifyConfig,
}

/// Terminal's background; detected by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackgroundConfig {
    #[default]
    Auto,
    Light,
    Dark,
}

/// Notification when a long round closes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotifyConfig {
    Off,
    #[default]
    Bell,
    All,
}

/// Price in US dollars per million tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map such as `{input: 0.25, output: 2}`")]
struct PriceConfig {
    input: Positive,
    output: Positive,
    cached: Option<Positive>,
}

impl From<PriceConfig> for Price {
    fn from(PriceConfig { input, output, cached }: PriceConfig) -> Self {
        Self { input: input.0, cached: cached.map_or(input.0, |cached| cached.0), output: output.0 }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ConfigFile {
    model: Option<String>,
    max_output_tokens: Option<NonZeroU64>,
    #[serde(deserialize_with = "duration")]
    timeout: Option<Duration>,
    providers: IndexMap<String, ProviderConfig>,
    prices: IndexMap<String, PriceConfig>,
    secrets: Option<SecretPolicy>,
    screen: ScreenConfig,
    remote: RemoteConfig,
    worker: WorkerConfig,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Own,
    Project,
}

#[derive(Debug, Clone, Default)]
pub struct Config {
    pub model: Option<Setting<String>>,
    pub max_output_tokens: u64,
    /// Default time limit of one call, retries included.
    pub timeout: Duration,
    pub providers: IndexMap<String, Provider>,
    pub prices: IndexMap<String, Price>,
    /// Project's prices by model.
    pub project_prices: IndexMap<String, Need>,
    pub secrets_allowed: bool,
    pub screen: ScreenConfig,
    pub remote: RemoteConfig,
    pub worker: WorkerConfig,
    /// Project's folder; programs inside it are not found by name.
    pub project: PathBuf,
    pub notices: Vec<Diagnostic>,
}

pub const FILE: &str = "config.yaml";
/// Limit of the file, in bytes.
const MOST: u64 = 1024 * 1024;
/// Field names that contain keys, in addition to the usual ones.
const KEY_FIELDS: [&str; 4] = ["key", "token", "authorization", "cookie"];
/// Keys that count only in the user's file.
const OWN_ALONE: [&str; 4] = ["remote", "screen", "secrets", "worker"];

impl Config {
    pub fn load(folders: &Dirs) -> Result<Self, Vec<Diagnostic>> {
        let mut config = Self {
            max_output_tokens: MAX_OUTPUT_TOKENS.into(),
            timeout: Duration::from_secs(600),
            project: folders.project.clone(),
            ..Self::default()
        };
        let own = folders.config.join(FILE);
        if own.exists() {
            config.layer(&read_text(&own, MOST)?, &own, Layer::Own)?;
        }
        if let Some(text) = folders.read_project_file(FILE, MOST)? {
            config.layer(&text, &folders.project.join(".s2s").join(FILE), Layer::Project)?;
        }
        if let Ok(value) = std::env::var("ROUNDTABLE_MODEL") {
            config.model = Some(Setting { value, from: "ROUNDTABLE_MODEL".to_owned() });
        }
        Ok(config)
    }

    fn layer(&mut self, text: &str, path: &Path, layer: Layer) -> Result<(), Vec<Diagnostic>> {
        let file = &*path.display().to_string();
        let node = &read(text, file)?;
        if node.value == Value::Null {
            return Ok(());
        }
        let literal = literal_keys(node, file, &KEY_FIELDS);
        if !literal.is_empty() {
            return Err(literal);
        }
        let said: ConfigFile = parsed(node, file)?;
        let from = || file.to_owned();
        self.model = said.model.map(|value| Setting { value, from: from() }).or(self.model.take());
        self.max_output_tokens = said.max_output_tokens.map_or(self.max_output_tokens, NonZeroU64::get);
        self.timeout = said.timeout.unwrap_or(self.timeout);
        let mut ignored = |node: &Node, what: &str| {
            let message = format!("{what} in your own configuration alone: ignored");
            self.notices.push(node.problem(file, message));
        };
        for (name, mut value) in said.providers {
            let place = node.get("providers").and_then(|all| all.get(&name)).unwrap_or(node);
            if layer == Layer::Project && find_preset(&name).is_some() {
                ignored(place, &format!("`{name}` is changed"));
                continue;
            }
            if layer == Layer::Project && !(value.headers.is_empty() && value.auth.is_none()) {
                ignored(place, &format!("`headers` and `auth` of `{name}` count"));
                (value.headers, value.auth) = (IndexMap::new(), None);
            }
            value.program =
                value.seat_program(&name).map_err(|problem| problem.at(file, place.line, place.column))?;
            let said = self.providers.entry(name).or_default();
            match layer {
                Layer::Own => said.own = value,
                Layer::Project => (said.project, said.named_by) = (value, Some(from())),
            }
        }
        let prices = said.prices.into_iter().map(|(model, price)| (model, Price::from(price)));
        if layer == Layer::Project {
            let need = |(model, price): (String, Price)| {
                let what = NeedKind::Price { model: model.clone(), price };
                (model, Need { what, named_by: Some(from()) })
            };
            self.project_prices.extend(prices.map(need));
            for (key, node) in OWN_ALONE.iter().filter_map(|key| Some((key, node.get(key)?))) {
                ignored(node, &format!("`{key}` counts"));
            }
            return Ok(());
        }
        self.prices.extend(prices);
        self.secrets_allowed |= said.secrets == Some(SecretPolicy::Allow);
        self.screen = said.screen;
        if said.remote.lan && said.remote.bind.is_some() {
            let place = node.get("remote").unwrap_or(node);
            return Err(place.problem(file, "`remote` has either `lan` or `bind`").into());
        }
        self.remote = said.remote;
        self.worker = said.worker;
        Ok(())
    }

    /// Returns a harmless setting of a service: the project's, else the user's. Not for settings that start
    /// programs or change the address.
    pub fn provider_setting<T>(
        &self,
        provider: &str,
        of: impl Fn(&ProviderConfig) -> Option<T>,
    ) -> Option<T> {
        let said = self.providers.get(provider)?;
        of(&said.project).or_else(|| of(&said.own))
    }

    pub fn reply_limits(&self) -> ReplyLimits {
        let of = |name: &String| {
            Some((name.clone(), self.provider_setting(name, |said| said.max_output_tokens)?.get()))
        };
        let small = KNOWN.iter().filter(|known| self.has_small_default(known.name));
        let small = small.map(|known| (known.name.to_owned(), LOCAL_OUTPUT_TOKENS.into()));
        ReplyLimits {
            usual: self.max_output_tokens,
            by_provider: small.chain(self.providers.keys().filter_map(of)).collect(),
        }
    }

    /// Returns true for a local server without a configured output limit.
    pub fn has_small_default(&self, provider: &str) -> bool {
        let set = self.provider_setting(provider, |said| said.max_output_tokens);
        known(provider).is_some_and(BuiltInProvider::is_small)
            && set.is_none()
            && self.max_output_tokens == u64::from(MAX_OUTPUT_TOKENS)
    }
}

/// Deserializes a file. Collects an error for each invalid value, and continues without that value.
fn parsed<T: DeserializeOwned>(node: &Node, file: &str) -> Result<T, Vec<Diagnostic>> {
    let (mut values, mut problems) = (without_nulls(node.to_json()), Vec::new());
    loop {
        let error = match serde_path_to_error::deserialize(values.clone()) {
            Ok(said) if problems.is_empty() => return Ok(said),
            Ok(_) => return Err(problems),
            Err(error) => error,
        };
        let mut at = node;
        for segment in error.path() {
            let inner = match (segment, &at.value) {
                (Segment::Map { key }, _) => at.get(key),
                (Segment::Seq { index }, Value::List(items)) => items.get(*index),
                _ => None,
            };
            at = inner.unwrap_or(at);
        }
        let path = error.path().to_string();
        let place = if path == "." { String::new() } else { format!("`{path}`: ") };
        let in_words = |why: String, number: &str| why.replace(number, "a whole number from 1");
        let why = ["a nonzero u64", "a nonzero usize"].into_iter().fold(error.inner().to_string(), in_words);
        let (why, known) = why.split_once(", expected one of ").unwrap_or((&why, ""));
        let problem = at.problem(file, format!("{place}{why}"));
        let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        problems.push(match why.split('`').nth(1).filter(|_| !known.is_empty()) {
            Some(word) => problem.hint(did_you_mean(word, &known)),
            None => problem,
        });
        if !without(&mut values, error.path().iter()) {
            return Err(problems);
        }
    }
}

/// Removes the value at a path; of a list, the whole list. Returns false if the path names nothing.
fn without<'a>(values: &mut Json, mut path: impl Iterator<Item = &'a Segment>) -> bool {
    let (Json::Object(map), Some(Segment::Map { key })) = (values, path.next()) else { return false };
    let is_within = map.get_mut(key).is_some_and(|inner| without(inner, path));
    is_within || map.shift_remove(key).is_some()
}

/// Removes keys without a value, which count as absent.
fn without_nulls(value: Json) -> Json {
    match value {
        Json::Object(map) => {
            let filled = map.into_iter().filter(|(_, value)| !value.is_null());
            filled.map(|(key, value)| (key, without_nulls(value))).collect()
        }
        other => other,
    }
}

/// Reads the name of a variable. A key in its place is refused and not shown.
fn variable<'de, D: Deserializer<'de>, T: From<String>>(from: D) -> Result<T, D::Error> {
    let name = String::deserialize(from)?;
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(name.into());
    }
    Err(D::Error::custom("the name of a variable is wanted, never a key"))
}

fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let wrong = || D::Error::custom("a time such as `90s`, `2m` or `500ms` is wanted");
    let ms = Json::deserialize(from)?.as_str().and_then(parse_duration).ok_or_else(wrong)?;
    Ok(Some(Duration::from_millis(ms)))
}

#[cfg(test)]
mod tests {
    use super::super::remote::PublicKey;
    use super::*;
    use crate::round::seal::sign::SigningKey;

    fn layered(text: &str) -> Result<Config, Vec<Diagnostic>> {
        let folders = Dirs {
            project: "/nonexistent".into(),
            has_s2s: false,
            config: "/nonexistent".into(),
            state: "/nonexistent".into(),
            notices: Vec::new(),
        };
        let mut config = Config::load(&folders)?;
        config.layer(text, Path::new("c.yaml"), Layer::Project)?;
        Ok(config)
    }

    #[test]
    fn a_key_by_value_and_an_unknown_key_are_refused_with_their_line() {
        for field in [
            "api_key: sk-123",
            "key_env: sk-123",
            "headers: {x: {env: sk-123}}",
            "headers: {Authorization: sk-123}",
        ] {
            let problems = layered(&format!("providers:\n  lab:\n    {field}\n")).unwrap_err();
            assert_eq!(problems[0].place.as_ref().unwrap().line, 3);
            assert!(!problems[0].to_string().contains("sk-123"), "{problems:?}");
        }
        let problems = layered("model: x\nproviders: {lab: {\n  stream: maybe}}\n").unwrap_err();
        assert_eq!(problems[0].place.as_ref().unwrap().line, 3);
        assert!(problems[0].message.starts_with("`providers.lab.stream`: "), "{problems:?}");
        let problems = layered("model: [x]\nmodle: x\nproviders: {lab: {api: no, env: [{}]}}\n").unwrap_err();
        let lines: Vec<u64> = problems.iter().map(|problem| problem.place.as_ref().unwrap().line).collect();
        assert_eq!(lines, [1, 2, 3, 3], "each mistake is told once: {problems:?}");
        let problems = layered("modle: x\n").unwrap_err();
        assert!(problems[0].message.contains("unknown field `modle`"), "{problems:?}");
        assert_eq!(problems[0].hint.as_deref(), Some("did you mean `model`?"));
        let problems = layered("prices: {openai/x: 0.5}\n").unwrap_err();
        assert!(problems[0].message.ends_with("expected a map such as `{input: 0.25, output: 2}`"));
    }

    #[test]
    fn remote_settings_count_only_in_the_users_file() {
        let mut config = layered("remote: {lan: true}\n").unwrap();
        assert!(config.notices[0].message.contains("`remote` counts in your own"), "{:?}", config.notices);
        assert_eq!(config.remote, RemoteConfig::default());
        let own = |config: &mut Config, text: &str| config.layer(text, Path::new("c.yaml"), Layer::Own);
        own(&mut config, "remote: {bind: \"0.0.0.0:9000\", self_signed: true}\n").unwrap();
        assert_eq!(config.remote.bind.map(|address| address.port()), Some(9000));
        assert!(config.remote.self_signed);
        for (wrong, why) in [
            ("bind: lan", "an address with a port"),
            ("bind: \"127.0.0.1:1\", lan: true", "either `lan` or `bind`"),
            ("bnd: x", "bnd"),
        ] {
            let problems = own(&mut config, &format!("remote: {{{wrong}}}\n")).unwrap_err();
            assert!(problems[0].message.contains(why), "{problems:?}");
        }
    }

    #[test]
    fn a_worker_reads_its_keys_by_either_name() {
        let mut config = layered("worker: {in_flight: 3}\n").unwrap();
        assert!(config.notices[0].message.contains("`worker` counts in your own"), "{:?}", config.notices);
        let own = |config: &mut Config, text: &str| config.layer(text, Path::new("c.yaml"), Layer::Own);
        let key = SigningKey::new([7; 32]).public();
        let text = format!(
            "worker: {{nats: {{url: \"nats://q\", creds_file: f}}, table_keys: [{key}, ed25519:{key}], \
             models: [a/b], max_usd: 0.5, in_flight: 3}}\n"
        );
        own(&mut config, &text).unwrap();
        assert_eq!(config.worker.table_keys, [PublicKey(key.clone()), PublicKey(key)]);
        assert_eq!(
            (config.worker.max_usd, config.worker.in_flight),
            (Some(Positive(0.5)), NonZeroU64::new(3))
        );
        assert_eq!(config.worker.nats.url.as_deref(), Some("nats://q"));
        for wrong in ["table_keys: [abc]", "nats: {host: x}", "modles: [x]"] {
            own(&mut config, &format!("worker: {{{wrong}}}\n")).unwrap_err();
        }
    }

    #[test]
    fn screen_is_the_users_and_provider_settings_merge() {
        let mut config = layered("screen: {ascii: true}\nproviders: {lab: {max_in_flight: 2}}\n").unwrap();
        assert_eq!(config.screen, ScreenConfig::default());
        assert!(config.notices[0].message.contains("`screen` counts in your own"), "{:?}", config.notices);
        let own = "providers: {lab: {base_url: \"http://own\", max_in_flight: 3}}\n";
        config.layer(own, Path::new("own.yaml"), Layer::Own).unwrap();
        assert_eq!(config.provider_setting("lab", |said| said.max_in_flight), NonZeroUsize::new(2));
        assert_eq!(
            config.provider_setting("lab", |said| said.base_url.clone()).as_deref(),
            Some("http://own")
        );
    }
}
