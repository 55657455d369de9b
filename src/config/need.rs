//! Needs of a run: programs that it starts, services that it asks, and the source of each key.
//!
//! Plain data with its text for people: argument vectors, folders, addresses and names of variables, never a
//! variable's value.

use super::secret_scan::FoundSecret;
use crate::history::Price;
use crate::participants::external_program::PASSED;
use crate::sanitize::harmless_line;

#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    pub what: What,
    /// The file of the project that names it; none where the user does, or where it is built in.
    pub named_by: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Program {
        command: Vec<String>,
        /// The folder it runs in, if not the current one.
        folder: Option<String>,
        env: Vec<String>,
    },
    Service {
        provider: String,
        address: String,
        key: KeyFrom,
    },
    /// Evidence is sent that looks like it holds a secret.
    Secret {
        /// The evidence, such as `src/a.rs:10-80`.
        source: String,
        secret: FoundSecret,
    },
    Price {
        model: String,
        price: Price,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFrom {
    Nowhere,
    /// The first of these variables that is set.
    Variables(Vec<String>),
    Command(Vec<String>),
}

impl Need {
    pub fn told(&self) -> String {
        let told = match &self.what {
            What::Program { command, folder, env } => {
                let folder = folder.as_ref().map(|folder| format!(" in `{folder}`")).unwrap_or_default();
                format!("runs {}{folder} with {}", words(command), env.join(", "))
            }
            What::Service { provider, address, key } => {
                let key = match key {
                    KeyFrom::Nowhere => "without a key".to_owned(),
                    KeyFrom::Variables(names) => {
                        let names = names.join(" or ");
                        let is_set = |name: &str| std::env::var_os(name).is_some_and(|key| !key.is_empty());
                        if names.split(" or ").any(is_set) {
                            format!("and sends it the key in {names}")
                        } else {
                            format!("without a key ({names} is not set)")
                        }
                    }
                    KeyFrom::Command(command) => {
                        let with = PASSED.join(", ");
                        format!("and sends it the key that {} prints, run with {with}", words(command))
                    }
                };
                format!("asks `{provider}` at {} {key}", shown(address))
            }
            What::Secret { source, secret } => {
                format!("sends `{source}`, whose line {} looks like {}", secret.line, secret.what)
            }
            What::Price { model, price: Price { input, output, .. } } => {
                format!("counts `{model}` at ${input} in and ${output} out for a million tokens")
            }
        };
        harmless_line(&told)
    }

    pub fn told_with_file(&self) -> String {
        match &self.named_by {
            Some(file) => harmless_line(&format!("{} (named by {file})", self.told())),
            None => self.told(),
        }
    }
}

pub fn question(needs: &[Need]) -> String {
    let numbered =
        (1..).zip(needs).map(|(number, need)| format!("{number}. It {}.\n", need.told_with_file()));
    format!(
        "What is wanted needs this, which a file of the project names and not you. None of it has been done.\n\n{}\n\
         Agree only if you know what it is: it is done with your rights. The answer is kept for this project, \
         and asked again when something here changes, or the content of a file or folder of the project that an \
         argument names. Where the arguments name none, as in `make` or `npm run`, it holds for this run alone.",
        numbered.collect::<Vec<_>>().join("\n")
    )
}

/// An argument vector, each argument quoted.
pub fn words(command: &[String]) -> String {
    let quoted = command.iter().map(|word| serde_json::Value::from(word.as_str()).to_string());
    format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
}

/// The address as it may be printed: without a password that should not be in it.
pub fn shown(address: &str) -> String {
    match (address.split_once("://"), address.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://***@{rest}"),
        _ => address.split('?').next().unwrap_or_default().to_owned(),
    }
}
