//! Needs of a run: programs to start, services to ask, sources of keys.
//!
//! Plain data with descriptions for people. Shows argument vectors, folders, addresses and names of variables,
//! never a variable's value.

use super::secret_scan::FoundSecret;
use crate::history::Price;
use crate::participants::external_program::PASSED;
use crate::sanitize::harmless_line;

#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    pub what: NeedKind,
    /// Project file that names it; `None` if the user does, or if it is built in.
    pub named_by: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NeedKind {
    Program {
        command: Vec<String>,
        /// Working folder, if not the current one.
        folder: Option<String>,
        env: Vec<String>,
    },
    Service {
        provider: String,
        address: String,
        key: KeySource,
    },
    /// Evidence to be sent that looks like a secret.
    Secret {
        /// Name of the evidence, such as `src/a.rs:10-80`.
        source: String,
        secret: FoundSecret,
    },
    Price {
        model: String,
        price: Price,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    Nowhere,
    /// First of these variables that is set.
    Variables(Vec<String>),
    Command(Vec<String>),
}

impl Need {
    pub fn description(&self) -> String {
        let text = match &self.what {
            NeedKind::Program { command, folder, env } => {
                let folder = folder.as_ref().map(|folder| format!(" in `{folder}`")).unwrap_or_default();
                format!("runs {}{folder} with {}", words(command), env.join(", "))
            }
            NeedKind::Service { provider, address, key } => {
                let key = match key {
                    KeySource::Nowhere => " without a key".to_owned(),
                    KeySource::Variables(names) => {
                        let names = names.join(" or ");
                        let is_set = |name: &str| std::env::var_os(name).is_some_and(|key| !key.is_empty());
                        if names.split(" or ").any(is_set) {
                            format!(" and sends it the key in {names}")
                        } else {
                            format!(", which needs a key: {names} is not set")
                        }
                    }
                    KeySource::Command(command) => {
                        let with = PASSED.join(", ");
                        format!(" and sends it the key that {} prints, run with {with}", words(command))
                    }
                };
                format!("asks `{provider}` at {}{key}", without_secrets(address))
            }
            NeedKind::Secret { source, secret } => {
                format!("sends `{source}`, whose line {} looks like {}", secret.line, secret.what)
            }
            NeedKind::Price { model, price: Price { input, output, .. } } => {
                format!("counts `{model}` at ${input} in and ${output} out for a million tokens")
            }
        };
        harmless_line(&text)
    }

    pub fn description_with_file(&self) -> String {
        match &self.named_by {
            Some(file) => harmless_line(&format!("{} (named by {file})", self.description())),
            None => self.description(),
        }
    }
}

pub fn question(needs: &[Need]) -> String {
    let numbered =
        (1..).zip(needs).map(|(number, need)| format!("{number}. It {}.\n", need.description_with_file()));
    format!(
        "What is wanted needs this, which a file of the project names and not you. None of it has been done.\n\n{}\n\
         Agree only if you know what it is: it is done with your rights. The answer is kept for this project, \
         and asked again when something here changes, or the content of a file or folder of the project that an \
         argument names. Where the arguments name none, as in `make` or `npm run`, it holds for this run alone.",
        numbered.collect::<Vec<_>>().join("\n")
    )
}

/// Formats an argument vector with each argument quoted.
pub fn words(command: &[String]) -> String {
    let quoted = command.iter().map(|word| serde_json::Value::from(word.as_str()).to_string());
    format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
}

/// Returns an address without user name, password and query.
pub fn without_secrets(address: &str) -> String {
    match (address.split_once("://"), address.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://***@{rest}"),
        _ => address.split('?').next().unwrap_or_default().to_owned(),
    }
}
