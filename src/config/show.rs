//! The configuration in effect as rows of text, for `doctor`.

use super::need::words;
use super::settings::{Config, Provider, Setting};

impl Config {
    pub fn rows(&self) -> Vec<(String, String, String)> {
        let model = self.model.value.clone().unwrap_or_else(|| "none".to_owned());
        let secrets = if self.secrets_allowed.value { "allow" } else { "refuse" };
        let mut rows = vec![
            ("model".to_owned(), model, self.model.from.clone()),
            (
                "max_output_tokens".to_owned(),
                self.max_output_tokens.value.to_string(),
                self.max_output_tokens.from.clone(),
            ),
            ("secrets".to_owned(), secrets.to_owned(), self.secrets_allowed.from.clone()),
            ("timeout".to_owned(), spoken(self.timeout_ms.value), self.timeout_ms.from.clone()),
        ];
        let said = |provider: &Provider| [provider.own.clone(), provider.project.clone()];
        let layers =
            self.providers.iter().flat_map(|(name, provider)| said(provider).map(|said| (name, said)));
        for (name, setting) in layers.filter_map(|(name, setting)| Some((name, setting?))) {
            let mut row = |key: &str, value: Option<String>| {
                let key = format!("providers.{name}.{key}");
                rows.extend(value.map(|value| (key, value, setting.from.clone())));
            };
            let command = Some(&setting.value.key_command).filter(|command| !command.is_empty());
            row("api", setting.value.api.clone());
            row("base_url", setting.value.base_url.clone());
            row("key_env", setting.value.key_env.clone());
            row("key_command", command.map(|command| words(command)));
            row("max_in_flight", setting.value.max_in_flight.map(|n| n.to_string()));
            row("stream", setting.value.stream.map(|on| on.to_string()));
            row("structured", setting.value.structured.map(|on| on.to_string()));
            let program = &setting.value.program;
            let list = |list: &[String]| Some(list.join(", ")).filter(|list| !list.is_empty());
            row("command", Some(words(&program.command)).filter(|_| !program.command.is_empty()));
            row("env", list(&program.env));
            row("allow_tools", list(&program.allow_tools));
            row("effort", setting.value.effort.map(|effort| effort.name().to_owned()));
            row("max_output_tokens", setting.value.max_output_tokens.map(|n| n.to_string()));
        }
        rows.push(("built-in prices".to_owned(), super::prices::in_words(), "default".to_owned()));
        for (name, Setting { value, from }) in &self.prices {
            let (input, cached, output) = (value.input, value.cached, value.output);
            let price = format!("{input} in, {cached} cached, {output} out ($ per million tokens)");
            rows.push((format!("prices.{name}"), price, from.clone()));
        }
        rows
    }
}

fn spoken(millis: u64) -> String {
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}
