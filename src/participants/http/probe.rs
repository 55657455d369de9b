//! Requests to a service outside rounds: models, parameters, context window.
//!
//! They are not retried and not subject to the concurrency limit. Replies are not kept.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::endpoint::endpoint;
use super::error::RequestError;
use super::parameters::{Learned, Parameters};
use super::retry::no_reply;
use super::{Body, HttpParticipant, MAX_REPLY, Method, Url, WindowQuestion};
use crate::participants::{Failure, SeatRequest, lock};
use crate::sanitize::group_digits;

const PATIENCE: Duration = Duration::from_secs(10);
/// A prompt of fewer tokens fits into every window.
const LEAST: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbedParameters {
    pub taken: Vec<String>,
    pub declined: Vec<String>,
}

impl HttpParticipant {
    /// Returns the model names of the service, in its order.
    ///
    /// # Errors
    /// The service does not answer, or its list cannot be read.
    pub async fn models(&self) -> Result<Vec<String>, Failure> {
        let url = endpoint(&self.service, self.service.dialect.models_path());
        let url = url.map_err(|problem| Failure::from(problem.message))?;
        let body = in_time(PATIENCE, self.answer(Method::GET, url, Body::default())).await?;
        listed(&body).ok_or_else(|| Failure::from("its list of models cannot be read".to_owned()))
    }

    async fn answer(&self, method: Method, url: Url, body: Body) -> Result<Vec<u8>, RequestError> {
        let response = self.request(method, url, body).await?;
        let body = self.read(self.accepted(response).await?, MAX_REPLY).await?;
        Ok(body.unwrap_or_default())
    }

    /// Requests a reply, to find the parameters that the service accepts.
    pub async fn probe(&self, ask: &SeatRequest) -> Result<ProbedParameters, Failure> {
        in_time(PATIENCE * 6, self.probed(ask)).await
    }

    async fn probed(&self, ask: &SeatRequest) -> Result<ProbedParameters, RequestError> {
        let dialect = self.service.dialect;
        let head = dialect.head(ask);
        let mut parameters = Parameters::new(&self.service, ask, &Learned::default());
        let response = loop {
            let body = [&head[..], &dialect.tail(ask, parameters.sent)].concat();
            let response = self.request(Method::POST, self.url.clone(), body.into()).await?;
            match self.accepted(response).await {
                Ok(response) => break response,
                Err(fault) if parameters.adapt(dialect, fault.declined.as_deref(), ask) => {}
                Err(fault) => return Err(fault),
            }
        };
        self.read_reply(response, &mut None, ask).await?;
        let declined = parameters.settle(&mut lock(&self.model(&ask.model).learned), ask);
        Ok(ProbedParameters { taken: parameters.sent_names(), declined })
    }

    /// Returns why a prompt of `needed` tokens does not fit the server's context window, or `None` if it fits.
    pub async fn window_problem(&self, model: &str, needed: usize) -> Option<String> {
        let question = self.service.window?;
        let window = if needed < LEAST { None } else { self.window(model).await }?;
        (needed > window).then(|| {
            format!(
                "the prompt has about {} tokens, and this server's window is {}: raise it ({}), or send less",
                group_digits(needed),
                group_digits(window),
                question.setting
            )
        })
    }

    /// Returns a model's context window in tokens, if its server reports it; asks only once.
    pub async fn window(&self, model: &str) -> Option<usize> {
        let question = self.service.window?;
        let known = self.model(model);
        *known.window.get_or_init(|| self.fetch_window(question, model)).await
    }

    pub(super) async fn fetch_window(&self, question: WindowQuestion, model: &str) -> Option<usize> {
        let base = self.url.path().trim_end_matches(self.service.dialect.path()).trim_end_matches("v1/");
        for path in question.paths {
            let mut url = self.url.clone();
            url.set_path(&format!("{base}{path}"));
            let (method, body) = match *path {
                "api/show" => (Method::POST, json!({ "model": model }).to_string()),
                _ => (Method::GET, String::new()),
            };
            let told = timeout(PATIENCE, self.answer(method, url, body.into())).await;
            let told = told.ok().and_then(Result::ok).and_then(|body| serde_json::from_slice(&body).ok());
            if let Some(found) = told.and_then(|told| window_in(&told, model)) {
                return Some(found);
            }
        }
        None
    }
}

async fn in_time<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, RequestError>>,
) -> Result<T, Failure> {
    let done = timeout(limit, work).await.map_err(|_| no_reply(limit))?;
    done.map_err(|fault| Failure { in_full: fault.in_full, ..fault.reason.into() })
}

/// Reads a context window from a reply of Ollama, llama.cpp, LM Studio or vLLM.
fn window_in(told: &Value, model: &str) -> Option<usize> {
    let is_it = |name: &Value| {
        name.as_str().is_some_and(|name| name == model || name.strip_suffix(":latest") == Some(model))
    };
    let listed = [&told["data"], &told["models"]].into_iter().filter_map(Value::as_array).flatten();
    let listed = listed.filter(|listed| is_it(&listed["id"]) || is_it(&listed["name"])).find_map(|listed| {
        let keys = ["context_length", "loaded_context_length", "max_model_len"];
        keys.iter().find_map(|key| listed[*key].as_u64())
    });
    let set = told["parameters"].as_str().and_then(|text| {
        text.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
    });
    let of_model = || {
        let mut info = told["model_info"].as_object()?.iter();
        info.find(|(key, _)| key.ends_with(".context_length"))?.1.as_u64()
    };
    let window = listed.or(set).or_else(|| told["default_generation_settings"]["n_ctx"].as_u64());
    window.or_else(of_model).and_then(|window| usize::try_from(window).ok())
}

fn listed(body: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = [&value["data"], &value["models"], &value].into_iter().find_map(Value::as_array);
    // A service without models may return null instead of an empty list.
    if value["data"].is_null() && value.get("data").is_some() && list.is_none() {
        return Some(Vec::new());
    }
    let name = |model: &Value| {
        let name = model["id"].as_str().or_else(|| model["name"].as_str()).or_else(|| model.as_str())?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    };
    Some(list?.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lists_of_models() {
        let named = |body: &str| listed(body.as_bytes());
        let two = Some(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(named(r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#), two);
        assert_eq!(named(r#"{"models":[{"name":"models/a"},{"name":"b"}]}"#), two);
        assert_eq!(named(r#"[{"id":"a"},{"id":"b"}]"#), two);
        assert_eq!(named(r#"{"object":"list","data":null}"#), Some(Vec::new()));
        for odd in ["", "{}", "<html>", r#"{"data":"x"}"#] {
            assert_eq!(named(odd), None, "{odd}");
        }
    }

    #[test]
    fn reads_the_window_of_each_local_server() {
        for (told, window) in [
            (
                r#"{"models":[{"name":"b:latest","context_length":9},{"name":"m:latest","context_length":4096}]}"#,
                Some(4096),
            ),
            (
                r#"{"parameters":"stop \"x\"\nnum_ctx   8192","model_info":{"llama.context_length":131072}}"#,
                Some(8192),
            ),
            (r#"{"model_info":{"llama.context_length":131072}}"#, Some(131_072)),
            (r#"{"default_generation_settings":{"n_ctx":2048}}"#, Some(2048)),
            (r#"{"data":[{"id":"m","max_model_len":512}]}"#, Some(512)),
            (r#"{"data":[{"id":"m","loaded_context_length":513,"max_context_length":9}]}"#, Some(513)),
            (r#"{"data":[{"id":"other","max_model_len":512}]}"#, None),
        ] {
            assert_eq!(window_in(&serde_json::from_str(told).expect("JSON"), "m"), window, "{told}");
        }
    }
}
