//! The configuration in effect as rows of text, for `doctor`.

use super::need::words;
use super::settings::{Config, Setting};

impl Config {
    pub fn rows(&self) -> Vec<(String, String, String)> {
        let model = self.model.value.clone().unwrap_or_else(|| "none".to_owned());
        let secrets = if self.secrets_allowed.value { "allow" } else { "refuse" };
        let row = |key: &str, value: String, from: &String| (key.to_owned(), value, from.clone());
        let mut rows = vec![
            row("model", model, &self.model.from),
            row("max_output_tokens", self.max_output_tokens.value.to_string(), &self.max_output_tokens.from),
            row("secrets", secrets.to_owned(), &self.secrets_allowed.from),
            row("timeout", spoken(self.timeout_ms.value), &self.timeout_ms.from),
        ];
        for (name, provider) in &self.providers {
            for said in [&provider.own, &provider.project].into_iter().flatten() {
                let command = words(&said.value.program.command);
                let whom = said.value.base_url.clone().unwrap_or(command);
                rows.push(row(&format!("providers.{name}"), whom, &said.from));
            }
        }
        rows.push(("built-in prices".to_owned(), super::prices::in_words(), "default".to_owned()));
        for (name, Setting { value, from }) in &self.prices {
            let (input, cached, output) = (value.input, value.cached, value.output);
            let price = format!("{input} in, {cached} cached, {output} out ($ per million tokens)");
            rows.push(row(&format!("prices.{name}"), price, from));
        }
        rows
    }
}

fn spoken(millis: u64) -> String {
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}
