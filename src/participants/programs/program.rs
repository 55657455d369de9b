//! A program that can take a seat, as data: its command, its placeholders, where its answer stands.

use std::path::Path;

use super::output::OutputPaths;
use crate::participants::external_program::names_key;

/// A program that answers: how it is run, and how its answer is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeatProgram {
    /// The provider's name, before the `/` of a model.
    pub provider: String,
    /// The program and its arguments. `{model}`, `{prompt}`, `{rules}` (the instructions of the prompt),
    /// `{rules_file}` (a file with them) and `{files}` (the folder of [`SeatProgram::files`]) are filled in.
    pub command: Vec<String>,
    /// The user's own arguments for a program known by name.
    pub arguments: Vec<String>,
    /// Arguments that follow where a model is named.
    pub with_model: Vec<String>,
    pub set: Vec<(String, String)>,
    /// The command with which it may use its tools; empty where that is not known.
    pub tools_command: Vec<String>,
    /// Variables that are set where it may use its tools.
    pub tools_set: Vec<(String, String)>,
    /// Variables that are passed on, beside the usual ones.
    pub env: Vec<String>,
    /// Files it is given beside its working folder (or in it, as `work/…`), by name and text.
    pub files: Vec<(String, String)>,
    pub output: OutputPaths,
    pub version: Vec<String>,
    /// The exit codes, beside 0, with which an agent answers: that it ended so, and what it printed.
    pub ok_exit: Vec<i64>,
    /// Its words when nobody is logged in, in lower case.
    pub logged_out: &'static [&'static str],
    /// The tools it may declare in a blind round.
    pub allow_tools: Vec<String>,
    /// It is declared to have no tools, unmeasured.
    pub tool_less: bool,
    /// Variables that point it at a recorder; `{recorder}` is its address.
    pub recorder_set: Vec<(String, String)>,
    pub recorder_words: Vec<String>,
    /// Variables that say where the user's own program goes, and as whom; nothing of them is passed on unasked.
    pub own_variables: &'static [&'static str],
    /// The user's settings that say so, which are not read in a seat.
    pub own_settings: Option<OwnSettings>,
    /// The provider whose prices its models have.
    pub priced_as: Option<&'static str>,
}

/// A file of settings in the user's home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnSettings {
    pub file: &'static str,
    /// Keys in it, each with the variable or argument that stands for it in a seat.
    pub keys: &'static [(&'static str, &'static str)],
}

impl SeatProgram {
    pub fn executable(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// It can be pointed at a recorder.
    pub fn is_measurable(&self) -> bool {
        !self.recorder_set.is_empty() || !self.recorder_words.is_empty()
    }

    pub fn is_declared(&self) -> bool {
        self.tool_less && !self.is_measurable()
    }

    /// Returns the program as it answers for a model and may use its tools, all of the prompt on its standard
    /// input; none where it is not known how.
    pub fn with_tools(&self, model: &str) -> Option<Self> {
        let program = Self {
            command: self.tools_command.clone(),
            with_model: words("--model {model}"),
            set: self.tools_set.clone(),
            files: Vec::new(),
            // With its tools it reads them.
            own_settings: None,
            ..self.clone()
        };
        let command = program.words(model, &[]);
        (!self.tools_command.is_empty()).then_some(Self { command, with_model: Vec::new(), ..program })
    }

    /// Returns the program as it asks the recorder at `url`, also where it asks for other hosts.
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

    /// Returns the words of its command with `fill` in place of their placeholders; those for a model only
    /// where there is one. A command without a provider is the user's own and stays as it is.
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

    /// Says which settings of the user's own program a seat leaves aside, and how to pass them; of keys only
    /// with `and_keys`, since a key in the environment may be meant for others.
    pub fn left_aside(&self, and_keys: bool) -> Option<String> {
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

/// Returns a word with values in place of their names; a value is not read for names.
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

/// The words of a command line; `''` is an empty one.
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
