//! Configuration in layers: flag, environment, the project's file, the user's file, default.
//!
//! Every value remembers where it came from. Keys to services are never values here: only the names
//! of the variables that hold them, or the command that prints one. What the project says of a service
//! stands beside what the user says: which of it counts is judged in `access.rs`. How the screen looks and
//! is worked is read from the user's file alone.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::dirs::Dirs;
use super::program_config::program;
use super::providers::KNOWN;
use super::read_file::read_text;
use super::remote::{DoorAddress, WorkersConfig, remote};
use super::screen::{ScreenConfig, screen};
use super::worker::{WorkerConfig, worker};
use crate::core::ReplyLimits;
use crate::diagnostic::Diagnostic;
use crate::history::Price;
use crate::participants::http::{KeyHeader, LOCAL_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS};
use crate::participants::programs::{SeatProgram, named};
use crate::workflow::{Effort, Fields};
use crate::yaml::{Node, Value, literal_keys, read};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    /// `default`, a file's path or a variable's name.
    pub from: String,
}

/// A service of the user's own, or a change to a known one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderConfig {
    /// `openai`, `openai-responses` or `anthropic`.
    pub api: Option<String>,
    pub base_url: Option<String>,
    pub key_env: Option<String>,
    pub key_command: Vec<String>,
    pub max_in_flight: Option<u64>,
    /// Replies are streamed unless this is `false`.
    pub stream: Option<bool>,
    /// The answer's JSON Schema is sent; by default if the service is known to take it.
    pub structured: Option<bool>,
    /// The program that answers, if `command` names one; for a program known by name, what is added to it.
    pub program: SeatProgram,
    /// The default effort of its models.
    pub effort: Option<Effort>,
    pub max_output_tokens: Option<u64>,
    /// Further headers of each request, by name.
    pub headers: Vec<(String, HeaderFrom)>,
    /// Which header holds the key, where it is not the usual one.
    pub auth: Option<KeyHeader>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderFrom {
    Text(String),
    Env(String),
}

/// Settings of a service in the user's file and in the project's.
#[derive(Debug, Clone, Default)]
pub struct Provider {
    pub own: Option<Setting<ProviderConfig>>,
    pub project: Option<Setting<ProviderConfig>>,
}

impl Provider {
    /// Returns a setting that neither runs nor redirects: the project's, else the user's.
    pub fn said<T>(&self, of: impl Fn(&ProviderConfig) -> Option<T>) -> Option<T> {
        [&self.project, &self.own].into_iter().flatten().find_map(|layer| of(&layer.value))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Own,
    Project,
}

#[derive(Debug, Clone)]
pub struct Config {
    pub model: Setting<Option<String>>,
    pub max_output_tokens: Setting<u64>,
    /// Limit of one request without retries, in milliseconds.
    pub timeout_ms: Setting<u64>,
    pub providers: IndexMap<String, Provider>,
    pub prices: IndexMap<String, Setting<Price>>,
    pub secrets_allowed: Setting<bool>,
    pub screen: Setting<ScreenConfig>,
    pub door: DoorAddress,
    pub worker: WorkerConfig,
    pub workers: WorkersConfig,
    /// The project's folder: no program inside it is run by its name.
    pub project: PathBuf,
    pub notices: Vec<Diagnostic>,
}

const FILE: &str = "config.yaml";
/// A larger one is not read, in bytes.
const MOST: u64 = 1024 * 1024;
/// Names of fields that can only hold a key here, beside the usual ones.
const KEY_FIELDS: [&str; 2] = ["key", "token"];

impl Config {
    /// Reads the user's and the project's file and the environment.
    pub fn load(folders: &Dirs) -> Result<Self, Vec<Diagnostic>> {
        let default = || "default".to_owned();
        let mut config = Self {
            model: Setting { value: None, from: default() },
            max_output_tokens: Setting { value: MAX_OUTPUT_TOKENS.into(), from: default() },
            timeout_ms: Setting { value: 600_000, from: default() },
            providers: IndexMap::new(),
            prices: IndexMap::new(),
            secrets_allowed: Setting { value: false, from: default() },
            screen: Setting { value: ScreenConfig::default(), from: default() },
            door: DoorAddress::default(),
            worker: WorkerConfig::default(),
            workers: WorkersConfig::default(),
            project: folders.project.clone(),
            notices: Vec::new(),
        };
        let own = folders.config.join(FILE);
        if own.exists() {
            config.layer(&read_text(&own, MOST)?, &own, Layer::Own)?;
        }
        if let Some(text) = folders.of_project(FILE, MOST)? {
            config.layer(&text, &folders.project.join(".s2s").join(FILE), Layer::Project)?;
        }
        if let Ok(model) = std::env::var("ROUNDTABLE_MODEL") {
            config.model = Setting { value: Some(model), from: "ROUNDTABLE_MODEL".to_owned() };
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
        let mut problems = Vec::new();
        let mut fields = Fields::from_node(node, "the configuration", file)?;
        let from = || file.to_owned();
        if let Some(model) = fields.text("model") {
            self.model = Setting { value: Some(model), from: from() };
        }
        if let Some(value) = fields.whole_number("max_output_tokens", 1) {
            self.max_output_tokens = Setting { value, from: from() };
        }
        if let Some(value) = fields.duration("timeout") {
            self.timeout_ms = Setting { value, from: from() };
        }
        for (name, node) in fields.entries("providers") {
            if layer == Layer::Project && named(&name).is_some() {
                let message = format!("`{name}` is changed in your own configuration alone: ignored");
                self.notices.push(node.problem(file, message));
                continue;
            }
            if let Some(mut value) = provider(node, &name, file, &mut problems) {
                if layer == Layer::Project && !(value.headers.is_empty() && value.auth.is_none()) {
                    let message = format!(
                        "`headers` and `auth` of `{name}` count in your own configuration alone: ignored"
                    );
                    self.notices.push(node.problem(file, message));
                    (value.headers, value.auth) = (Vec::new(), None);
                }
                let said = self.providers.entry(name).or_default();
                let said = if layer == Layer::Own { &mut said.own } else { &mut said.project };
                *said = Some(Setting { value, from: from() });
            }
        }
        match layer {
            Layer::Own => self.own_alone(&mut fields, file, &mut problems),
            Layer::Project => {
                for key in ["prices", "remote", "screen", "secrets", "worker"] {
                    if let Some(node) = fields.node(key) {
                        let message = format!("`{key}` counts in your own configuration alone: ignored");
                        self.notices.push(node.problem(file, message));
                    }
                }
            }
        }
        problems.extend(fields.finish(&[]));
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Reads what only the user's file can say.
    fn own_alone(&mut self, fields: &mut Fields<'_>, file: &str, problems: &mut Vec<Diagnostic>) {
        for (name, node) in fields.entries("prices") {
            if let Some(value) = price(node, &name, file, problems) {
                self.prices.insert(name, Setting { value, from: file.to_owned() });
            }
        }
        if let Some(value) = fields.word("secrets", &[("refuse", false), ("allow", true)]) {
            self.secrets_allowed = Setting { value, from: file.to_owned() };
        }
        if let Some(node) = fields.node("screen") {
            file.clone_into(&mut self.screen.from);
            screen(node, file, &mut self.screen.value, problems);
        }
        if let Some(node) = fields.node("remote") {
            (self.door, self.workers) = remote(node, file, problems);
        }
        if let Some(node) = fields.node("worker") {
            self.worker = worker(node, file, problems);
        }
    }

    pub fn reply_limits(&self) -> ReplyLimits {
        let of = |(name, provider): (&String, &Provider)| {
            Some((name.clone(), provider.said(|said| said.max_output_tokens)?))
        };
        let small = KNOWN.iter().filter(|known| self.has_small_default(known.name));
        let small = small.map(|known| (known.name.to_owned(), LOCAL_OUTPUT_TOKENS.into()));
        ReplyLimits {
            usual: self.max_output_tokens.value,
            by_provider: small.chain(self.providers.iter().filter_map(of)).collect(),
        }
    }

    /// The provider is a local server without a configured limit of replies.
    pub fn has_small_default(&self, provider: &str) -> bool {
        let set = self.providers.get(provider).and_then(|own| own.said(|said| said.max_output_tokens));
        let is_small = KNOWN.iter().any(|known| known.name == provider && known.is_small());
        is_small && set.is_none() && self.max_output_tokens.value == u64::from(MAX_OUTPUT_TOKENS)
    }
}

fn provider(node: &Node, name: &str, file: &str, problems: &mut Vec<Diagnostic>) -> Option<ProviderConfig> {
    let mut fields = match Fields::from_node(node, format!("provider `{name}`"), file) {
        Ok(fields) => fields,
        Err(problem) => {
            problems.push(problem);
            return None;
        }
    };
    let styles = ["openai", "openai-responses", "anthropic"].map(|name| (name, name));
    let config = ProviderConfig {
        api: fields.word("api", &styles).map(str::to_owned),
        base_url: fields.text("base_url"),
        key_env: fields.text("key_env"),
        key_command: fields.texts("key_command"),
        max_in_flight: fields.whole_number("max_in_flight", 1),
        stream: fields.flag("stream"),
        structured: fields.flag("structured"),
        program: program(&mut fields, node, name),
        effort: fields.word("effort", &Effort::WORDS),
        max_output_tokens: fields.whole_number("max_output_tokens", 1),
        headers: headers(&mut fields, file, problems),
        auth: fields.word("auth", &[("bearer", KeyHeader::Bearer), ("api-key", KeyHeader::ApiKey)]),
    };
    problems.extend(fields.finish(&[]));
    Some(config)
}

fn headers(fields: &mut Fields<'_>, file: &str, problems: &mut Vec<Diagnostic>) -> Vec<(String, HeaderFrom)> {
    let mut headers = Vec::new();
    for (name, node) in fields.entries("headers") {
        match &node.value {
            Value::Text(text) => headers.push((name, HeaderFrom::Text(text.clone()))),
            Value::Map(map)
                if let [(key, variable)] = map.as_slice()
                    && key.text == "env"
                    && let Value::Text(variable) = &variable.value =>
            {
                headers.push((name, HeaderFrom::Env(variable.clone())));
            }
            _ => {
                let message = format!("the header `{name}` is a text or `{{env: VARIABLE}}`");
                problems.push(node.problem(file, message));
            }
        }
    }
    headers
}

fn price(node: &Node, name: &str, file: &str, problems: &mut Vec<Diagnostic>) -> Option<Price> {
    let mut fields = Fields::from_node(node, format!("the price of `{name}`"), file).ok()?;
    let price = (fields.positive("input"), fields.positive("output"));
    let cached = fields.positive("cached");
    let found = fields.finish(&[]);
    if found.is_empty() && (price.0.is_none() || price.1.is_none()) {
        let message = format!("the price of `{name}` needs `input` and `output`, in $ per million tokens");
        problems.push(node.problem(file, message));
    }
    problems.extend(found);
    let (input, output) = (price.0?, price.1?);
    Some(Price { input, cached: cached.unwrap_or(input), output })
}

#[cfg(test)]
mod tests {
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
    fn later_layers_win_and_say_so() {
        let config =
            layered("max_output_tokens: 900\nproviders:\n  lab: {api: openai, base_url: \"http://x\"}\n");
        let rows = config.unwrap().rows();
        assert!(rows.contains(&("max_output_tokens".into(), "900".into(), "c.yaml".into())));
        assert!(rows.contains(&("timeout".into(), "600s".into(), "default".into())));
    }

    #[test]
    fn a_key_by_value_and_an_unknown_key_are_refused_with_their_line() {
        let problems = layered("providers:\n  lab:\n    api_key: sk-123\n").unwrap_err();
        assert_eq!(problems[0].place.as_ref().unwrap().line, 3);
        assert!(!problems[0].to_string().contains("sk-123"));
        let problems = layered("modle: x\n").unwrap_err();
        assert_eq!(problems[0].hint.as_deref(), Some("did you mean `model`?"));
    }

    #[test]
    fn where_remote_seats_reach_a_session_is_the_users_to_say() {
        let mut config = layered("remote: {lan: true}\n").unwrap();
        assert!(config.notices[0].message.contains("`remote` counts in your own"), "{:?}", config.notices);
        assert_eq!(config.door, DoorAddress::default());
        let own = |config: &mut Config, text: &str| config.layer(text, Path::new("c.yaml"), Layer::Own);
        own(&mut config, "remote: {bind: \"0.0.0.0:9000\", cert_file: a.pem, key_file: b.pem}\n").unwrap();
        assert_eq!(config.door.bind.map(|address| address.port()), Some(9000));
        assert_eq!(config.door.certificate, Some(("a.pem".into(), "b.pem".into())));
        for (wrong, why) in [
            ("bind: lan", "an address with a port"),
            ("bind: \"127.0.0.1:1\", lan: true", "either `lan` or `bind`"),
            ("cert_file: a.pem", "both `cert_file` and `key_file`"),
            ("cert_file: a, key_file: b, self_signed: true", "either `self_signed`"),
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
        assert_eq!(config.worker.table_keys, [key.clone(), key]);
        assert_eq!((config.worker.max_usd, config.worker.in_flight), (Some(0.5), Some(3)));
        assert_eq!(config.worker.url.as_deref(), Some("nats://q"));
        for wrong in ["table_keys: [abc]", "nats: {host: x}", "modles: [x]"] {
            own(&mut config, &format!("worker: {{{wrong}}}\n")).unwrap_err();
        }
    }

    #[test]
    fn a_project_says_nothing_of_the_screen_and_stands_beside_the_user() {
        let mut config =
            layered("screen: {keys: {quit: F9}}\nproviders: {lab: {max_in_flight: 2}}\n").unwrap();
        assert_eq!(config.screen.value, ScreenConfig::default());
        assert!(config.notices[0].message.contains("`screen` counts in your own"), "{:?}", config.notices);
        let own = "providers: {lab: {base_url: \"http://own\", max_in_flight: 3}}\n";
        config.layer(own, Path::new("own.yaml"), Layer::Own).unwrap();
        let lab = &config.providers["lab"];
        assert_eq!(lab.said(|said| said.max_in_flight), Some(2));
        assert_eq!(lab.said(|said| said.base_url.clone()).as_deref(), Some("http://own"));
    }
}
