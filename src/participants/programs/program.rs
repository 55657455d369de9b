//! Description of a program: command, placeholders and output paths.

use std::path::Path;

use super::output::OutputPaths;
use crate::participants::external_program::names_key;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeatProgram {
    /// Provider name, before the `/` of a model.
    pub provider: String,
    /// Program and arguments, with these placeholders: `{model}`, `{prompt}`, `{rules}` (the prompt
    /// instructions), `{rules_file}` (a file with them), `{files}` (the folder of [`SeatProgram::files`]).
    pub command: Vec<String>,
    /// User's own arguments for a built-in program.
    pub arguments: Vec<String>,
    /// Arguments added if a model is named.
    pub with_model: Vec<String>,
    pub set: Vec<(String, String)>,
    /// Command that allows tools; empty if none is known.
    pub tools_command: Vec<String>,
    /// Variables set if tools are allowed.
    pub tools_set: Vec<(String, String)>,
    /// Variables passed on in addition to the usual ones.
    pub env: Vec<String>,
    /// Files by name and text, next to the working folder or in it (`work/…`).
    pub files: Vec<(String, String)>,
    pub output: OutputPaths,
    pub version: Vec<String>,
    /// Nonzero exit codes that count as an agent's answer, together with the output.
    pub ok_exit: Vec<i64>,
    /// Phrases of its error when nobody is logged in, in lower case.
    pub logged_out: &'static [&'static str],
    /// Tools that it may declare in a blind round.
    pub allow_tools: Vec<String>,
    /// Declared to have no tools, without a measurement.
    pub tool_less: bool,
    /// Variables that direct it to a recorder; `{recorder}` is the address.
    pub recorder_set: Vec<(String, String)>,
    pub recorder_words: Vec<String>,
    /// Variables that select the service and account of the user's own program. A seat does not get them unless
    /// configured.
    pub own_variables: &'static [&'static str],
    /// Settings with the same purpose, which a seat does not read.
    pub own_settings: Option<OwnSettings>,
    /// Provider whose prices apply.
    pub priced_as: Option<&'static str>,
}

/// Settings file in the user's home folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnSettings {
    pub file: &'static str,
    /// Keys of the file, each with the variable or argument that replaces it in a seat.
    pub keys: &'static [(&'static str, &'static str)],
}

impl SeatProgram {
    pub fn executable(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Returns true if it can be directed to a recorder.
    pub fn is_measurable(&self) -> bool {
        !self.recorder_set.is_empty() || !self.recorder_words.is_empty()
    }

    pub fn is_declared(&self) -> bool {
        self.tool_less && !self.is_measurable()
    }

    /// Returns the program with tools allowed and the prompt on standard input; `None` if that is not supported.
    pub fn with_tools(&self, model: &str) -> Option<Self> {
        let program = Self {
            command: self.tools_command.clone(),
            with_model: words("--model {model}"),
            set: self.tools_set.clone(),
            files: Vec::new(),
            // With tools, the program reads its settings itself.
            own_settings: None,
            ..self.clone()
        };
        let command = program.words(model, &[]);
        (!self.tools_command.is_empty()).then_some(Self { command, with_model: Vec::new(), ..program })
    }

    /// Returns the program directed to the recorder at `url`, which is also its proxy for other hosts.
    pub(super) fn pointed_at(&self, url: &str) -> Self {
        let filled = |text: &String| text.replace("{recorder}", url);
        let proxy = pairs(&[("HTTPS_PROXY", url), ("https_proxy", url)]);
        let direct = pairs(&[("NO_PROXY", "127.0.0.1"), ("no_proxy", "127.0.0.1")]);
        let set = self.recorder_set.iter().map(|(name, value)| (name.clone(), filled(value)));
        let is_own = |name: &String| self.own_variables.contains(&name.as_str());
        Self {
            env: self.env.iter().filter(|name| !is_own(name)).cloned().collect(),
            command: self.command.iter().cloned().chain(self.recorder_words.iter().map(filled)).collect(),
            set: self.set.iter().cloned().chain(proxy).chain(direct).chain(set).collect(),
            ..self.clone()
        }
    }

    /// Returns the command with its placeholders filled in. A command without a provider is the user's own and
    /// stays unchanged.
    pub(super) fn words(&self, model: &str, fill: &[(&str, &str)]) -> Vec<String> {
        if self.provider.is_empty() {
            return self.command.clone();
        }
        let with_model = self.with_model.iter().filter(|_| !model.is_empty());
        let fill: Vec<(&str, &str)> = fill.iter().copied().chain([("{model}", model)]).collect();
        self.command.iter().chain(with_model).map(|word| filled(word, &fill)).collect()
    }

    pub(super) fn takes(&self, placeholder: &str) -> bool {
        let mut words = self.command.iter().chain(&self.with_model);
        !self.provider.is_empty() && words.any(|word| word.contains(placeholder))
    }

    /// Describes the user's settings that a seat ignores, and how to pass them on. Includes keys only with
    /// `and_keys`, since a key in the environment may belong to another program.
    pub fn ignored_settings(&self, and_keys: bool) -> Option<String> {
        let is_passed = |by: &str| {
            self.env.iter().any(|name| name == by) || self.command.iter().any(|word| word.starts_with(by))
        };
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let variables =
            self.own_variables.iter().filter(|name| (and_keys || !names_key(name)) && is_set(name));
        let mut found: Vec<(String, &str)> = variables.map(|name| ((*name).to_owned(), *name)).collect();
        if let (Some(own), Some(home)) = (&self.own_settings, std::env::var_os("HOME")) {
            let text = std::fs::read_to_string(Path::new(&home).join(own.file)).unwrap_or_default();
            let lines = text.lines().filter_map(|line| line.split_once('='));
            let set: Vec<&str> = lines.map(|(key, _)| key.trim_end()).collect();
            let is_in = |key: &str| text.contains(&format!("\"{key}\"")) || set.contains(&key);
            let keys = own.keys.iter().filter(|(key, _)| is_in(key));
            found.extend(keys.map(|(key, by)| (format!("{key} of ~/{}", own.file), *by)));
        }
        found.retain(|(_, by)| !is_passed(by));
        let mut by: Vec<&str> = found.iter().map(|(_, by)| *by).collect();
        by.dedup();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let provider = &self.provider;
        let cure = match by.first()?.strip_suffix('=') {
            Some(word) => format!("`{provider}: {{arguments: [-c, '{word}=…', …]}}` (docs/PROVIDERS.md)"),
            None => format!("`{provider}: {{env: [{}]}}`, each set in the environment", by.join(", ")),
        };
        Some(format!(
            "a seat leaves {} aside: to pass it on, `providers` of your config.yaml takes {cure}",
            names.join(", ")
        ))
    }
}

/// Replaces placeholders once; inserted values are not searched for more.
fn filled(word: &str, fill: &[(&str, &str)]) -> String {
    let (mut done, mut rest) = (String::new(), word);
    while let Some(at) = rest.find('{') {
        done.push_str(&rest[..at]);
        let found = fill.iter().find(|(name, _)| rest[at..].starts_with(name)).unwrap_or(&("{", "{"));
        done.push_str(found.1);
        rest = &rest[at + found.0.len()..];
    }
    done + rest
}

/// Splits a command line at spaces; `''` is an empty word.
pub(super) fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(|word| if word == "''" { "" } else { word }.to_owned()).collect()
}

pub(super) fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_once_and_model_words_only_with_a_model() {
        let program = SeatProgram {
            provider: "prog".to_owned(),
            command: words("prog -c f=\"{rules_file}\" {rules}"),
            with_model: words("-m {model}"),
            ..SeatProgram::default()
        };
        let fill = [("{rules_file}", "/tmp/r"), ("{rules}", "say {model}")];
        assert_eq!(program.words("a/b", &fill), ["prog", "-c", "f=\"/tmp/r\"", "say {model}", "-m", "a/b"]);
        assert_eq!(program.words("", &fill)[3..], ["say {model}"]);
        assert!(program.takes("{rules"));
    }
}
