//! What a program printed, and the answer in it: by paths into its JSON.
//!
//! A program may print one document, one document a line, or lines of progress around them. A path is
//! applied to each document, and the last one in which it finds something counts.

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::round::record::TokenUsage;

/// Where things stand in what a program prints: `JSONPath` (RFC 9535).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputPaths {
    /// The answer's text; without it, all that is printed.
    pub reply: Option<String>,
    /// Why there is no answer, in the list of all documents.
    pub failure: Option<String>,
    /// Tokens of the prompt, cached ones included; several numbers are added up.
    pub tokens_in: Option<String>,
    /// Tokens of the prompt that came from a cache.
    pub tokens_cached: Option<String>,
    pub tokens_out: Option<String>,
    /// What it cost, in US dollars.
    pub cost: Option<String>,
}

/// What was read of a program's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The answer's text, or why there is none.
    pub reply: Result<String, String>,
    /// Why there is no answer, if the program says so.
    pub failure: Option<String>,
    pub usage: Option<TokenUsage>,
}

impl OutputPaths {
    /// Returns each path that cannot be read, with the reason.
    pub fn problems(&self) -> Vec<(String, String)> {
        let texts = [&self.reply, &self.failure, &self.cost];
        let counts = [&self.tokens_in, &self.tokens_cached, &self.tokens_out];
        let problem = |path: &String| Some((path.clone(), JsonPath::parse(path).err()?.to_string()));
        texts.into_iter().chain(counts).flatten().filter_map(problem).collect()
    }

    pub fn read(&self, printed: &str) -> Output {
        let Some(path) = &self.reply else {
            return Output { reply: Ok(printed.to_owned()), failure: None, usage: None };
        };
        let documents = documents(printed);
        let reply =
            match last(&documents, Some(path)).map(|found| found.last().and_then(|text| text.as_str())) {
                Some(Some(text)) => Ok(text.to_owned()),
                Some(None) => Err(format!("`{path}` of what it printed is no text")),
                None if printed.trim().is_empty() => Err("it printed nothing".to_owned()),
                None if documents.is_empty() => Err("it printed no JSON".to_owned()),
                None => Err(format!("what it printed has no `{path}`")),
            };
        let usage = self.usage(&documents);
        let whole = [Value::Array(documents.clone())];
        let failure = last(&whole, self.failure.as_ref());
        let failure =
            failure.and_then(|found| found.last().map(|why| why.as_str().unwrap_or("an error").to_owned()));
        Output { reply, failure, usage }
    }

    /// Returns the tokens and the cost, if the program tells of any.
    fn usage(&self, documents: &[Value]) -> Option<TokenUsage> {
        let count = |path: &Option<String>| {
            let numbers = last(documents, path.as_ref())?;
            Some(numbers.iter().filter_map(|number| number.as_u64()).sum::<u64>())
        };
        let dollars = last(documents, self.cost.as_ref())
            .and_then(|numbers| numbers.into_iter().map(Value::as_f64).sum::<Option<f64>>());
        let cost = dollars.filter(|dollars| *dollars >= 0.0).map(|dollars| (dollars * 1e9).round() as u64);
        let (input, output) = (count(&self.tokens_in), count(&self.tokens_out));
        let is_told = input.is_some() || output.is_some() || cost.is_some();
        is_told.then(|| TokenUsage {
            input: input.unwrap_or_default(),
            output: output.unwrap_or_default(),
            cached: count(&self.tokens_cached).unwrap_or_default(),
            cost_nano_usd: cost,
            ..TokenUsage::default()
        })
    }
}

/// Returns what a path finds in the last document in which it finds something.
fn last<'a>(documents: &'a [Value], path: Option<&String>) -> Option<Vec<&'a Value>> {
    let path = JsonPath::parse(path?).ok()?;
    documents.iter().rev().map(|document| path.query(document).all()).find(|found| !found.is_empty())
}

/// Returns every JSON object and list that begins at the start of a line, in order.
fn documents(printed: &str) -> Vec<Value> {
    let (mut found, mut rest) = (Vec::new(), printed);
    while !rest.is_empty() {
        let line = rest.trim_start();
        if line.starts_with(['{', '[']) {
            let mut values = serde_json::Deserializer::from_str(line).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                found.push(value);
                rest = &line[values.byte_offset()..];
                continue;
            }
        }
        rest = line.split_once('\n').map_or("", |(_, rest)| rest);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::named;

    fn read(provider: &str, printed: &str) -> super::Output {
        named(provider).expect("a program").output.read(printed)
    }

    #[test]
    fn text_and_tokens_of_the_named_programs() {
        let claude = r#"{"type":"result","is_error":false,"result":"red","usage":{"input_tokens":7,"cache_read_input_tokens":90,"output_tokens":3},"total_cost_usd":0.1}"#;
        for printed in [claude.to_owned(), format!("loading\n[=> ] 1 of 2\n{claude}\nbye\n")] {
            let output = read("claude-cli", &printed);
            assert_eq!((output.reply.as_deref(), output.failure), (Ok("red"), None));
            let usage = output.usage.expect("tokens");
            assert_eq!((usage.input, usage.cached, usage.output), (97, 90, 3));
            assert_eq!(usage.cost_nano_usd, Some(100_000_000));
        }
        let codex = "{\"type\":\"turn.started\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"first\"}}\n\
                     {\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"red\"}}\n\
                     {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":7,\"cached_input_tokens\":2,\"output_tokens\":3}}\n";
        let output = read("codex-cli", codex);
        assert_eq!((output.reply.as_deref(), output.failure), (Ok("red"), None));
        assert_eq!(output.usage.map(|usage| (usage.input, usage.cached)), Some((7, 2)));
        let gemini = r#"{"response":"red","stats":{"models":{"m":{"tokens":{"prompt":5,"candidates":2,"thoughts":4,"cached":1}}}}}"#;
        let output = read("gemini-cli", gemini);
        assert_eq!(output.usage.map(|usage| (usage.input, usage.output)), Some((5, 6)));
        let opencode = "{\"type\":\"text\",\"part\":{\"type\":\"text\",\"text\":\"red\"}}\n";
        assert_eq!(read("opencode-cli", opencode).reply.as_deref(), Ok("red"));
    }

    #[test]
    fn an_error_of_the_program_is_no_answer() {
        let error = |provider: &str, printed: &str| read(provider, printed).failure.expect("a failure");
        assert_eq!(error("claude-cli", r#"{"is_error":true,"result":"Not logged in"}"#), "Not logged in");
        assert_eq!(error("codex-cli", "{\"type\":\"turn.failed\",\"error\":{\"message\":\"401\"}}"), "401");
        assert_eq!(error("gemini-cli", r#"{"error":{"message":"quota"}}"#), "quota");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let why = |printed: &str| read("claude-cli", printed).reply.expect_err("no reply");
        assert_eq!(why(" \n"), "it printed nothing");
        assert_eq!(why("thinking …\nstill {not} json"), "it printed no JSON");
        assert_eq!(why("{\"result\": \"cut o"), "it printed no JSON");
        assert_eq!(why("{\"type\": \"result\"}"), "what it printed has no `$.result`");
        assert_eq!(why("{\"result\": 7}"), "`$.result` of what it printed is no text");
    }
}
