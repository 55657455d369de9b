//! Reader of a program's answer, by paths into its JSON output.
//!
//! The output may be one document, a list, one document per line, or documents between progress lines. A path
//! applies to each document; the last match counts.

use serde_json::Value;

use crate::round::answer::TokenUsage;
use crate::workflow::{GrammarError, Transform};

/// Paths into the printed documents, in the syntax of a transform.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputPaths {
    /// Text of the answer; without it, all output is the answer.
    pub reply: Option<String>,
    /// Mark of the documents that may contain the answer; without it, all.
    pub reply_if: Option<OutputMark>,
    /// Mark of the last document.
    pub end_if: Option<OutputMark>,
    pub failure: Option<String>,
    pub failure_if: Option<OutputMark>,
    /// Path of an object whose entries contain the counts; without it, the document does.
    pub usage_under: Option<&'static str>,
    /// Prompt tokens, cached ones included; several paths are added up.
    pub tokens_in: Vec<String>,
    /// Prompt tokens that came from a cache.
    pub tokens_cached: Vec<String>,
    pub tokens_out: Vec<String>,
    /// Cost in US dollars.
    pub cost: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputMark {
    pub path: &'static str,
    /// A string as is, any other value as JSON.
    pub value: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub reply: Result<String, String>,
    /// Reason for the missing answer, if the program reports one.
    pub failure: Option<String>,
    pub usage: Option<TokenUsage>,
}

impl OutputPaths {
    pub fn problems(&self) -> Vec<(String, GrammarError)> {
        let counts = [&self.tokens_in, &self.tokens_cached, &self.tokens_out].into_iter().flatten();
        let texts = [&self.reply, &self.failure, &self.cost].into_iter().flatten();
        texts.chain(counts).filter_map(|path| Some((path.clone(), Transform::parse(path).err()?))).collect()
    }

    pub fn read(&self, printed: &str) -> Output {
        let Some(path) = &self.reply else {
            return Output { reply: Ok(printed.to_owned()), failure: None, usage: None };
        };
        let documents = documents(printed);
        let found = last(&documents, path, self.reply_if.as_ref());
        let reply_at = found.as_ref().map(|(at, _)| *at);
        let reply = match found {
            Some((_, Value::String(text))) => Ok(text),
            Some(_) => Err(format!("`{path}` of what it printed is no text")),
            None if printed.trim().is_empty() => Err("it printed nothing".to_owned()),
            None if documents.is_empty() => Err("it printed no JSON".to_owned()),
            None => Err(format!("what it printed has no `{path}`")),
        };
        let failure = self.failure.as_ref().and_then(|path| last(&documents, path, self.failure_if.as_ref()));
        // An error before the answer was recovered from.
        let failure = failure.filter(|(at, _)| reply_at.is_none_or(|reply| *at >= reply));
        let failure = failure.map(|(_, why)| why.as_str().unwrap_or("an error").to_owned());
        Output { reply, failure, usage: self.usage(documents) }
    }

    /// Returns true if the last document has the end mark, or if a single document contains the answer.
    pub fn is_all(&self, printed: &[u8]) -> bool {
        let ends = matches!(printed.trim_ascii_end().last(), Some(b'}' | b']'));
        let Some(reply) = self.reply.as_ref().filter(|_| ends) else { return false };
        let documents = documents(&String::from_utf8_lossy(printed));
        match (&self.end_if, documents.as_slice()) {
            (Some(end), [.., document]) => end.is_on(document),
            (None, [document]) => found(document, reply).is_some(),
            _ => false,
        }
    }

    /// Returns tokens and cost, if the program reports any.
    fn usage(&self, documents: Vec<Value>) -> Option<TokenUsage> {
        let cost = self.cost.as_ref().and_then(|path| last(&documents, path, None)?.1.as_f64());
        let cost = cost.filter(|dollars| *dollars >= 0.0).map(|dollars| (dollars * 1e9).round() as u64);
        let group = |document| match self.usage_under.map(|path| found(&document, path)) {
            None => vec![document],
            Some(Some(Value::Object(entries))) => entries.into_iter().map(|(_, entry)| entry).collect(),
            Some(_) => Vec::new(),
        };
        let groups: Vec<Vec<Value>> = documents.into_iter().map(group).collect();
        let count = |paths: &[String]| {
            groups.iter().rev().find_map(|group| {
                let numbers = group.iter().flat_map(|one| paths.iter().filter_map(|path| found(one, path)));
                numbers.filter_map(|number| number.as_u64()).reduce(u64::saturating_add)
            })
        };
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

fn found(document: &Value, path: &str) -> Option<Value> {
    Transform::parse(path).ok()?.apply(document.as_object()?).ok()
}

impl OutputMark {
    fn is_on(&self, document: &Value) -> bool {
        match found(document, self.path) {
            Some(Value::String(text)) => text == self.value,
            Some(value) => serde_json::from_str::<Value>(self.value).is_ok_and(|mark| mark == value),
            None => false,
        }
    }
}

/// Returns the last match of a path among the documents with the mark, and that document's index.
fn last(documents: &[Value], path: &str, mark: Option<&OutputMark>) -> Option<(usize, Value)> {
    let marked = documents.iter().enumerate().rev();
    let mut marked = marked.filter(|(_, document)| mark.is_none_or(|mark| mark.is_on(document)));
    marked.find_map(|(at, document)| Some((at, found(document, path)?)))
}

/// Returns the JSON documents that begin at the start of a line, in order; lists are flattened.
fn documents(printed: &str) -> Vec<Value> {
    let (mut found, mut rest) = (Vec::new(), printed);
    while !rest.is_empty() {
        let line = behind_controls(rest);
        if line.starts_with(['{', '[']) {
            let mut values = serde_json::Deserializer::from_str(line).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                match value {
                    Value::Array(items) => found.extend(items),
                    one => found.push(one),
                }
                rest = &line[values.byte_offset()..];
                continue;
            }
        }
        // Progress ends with a carriage return.
        rest = line.split_once(['\n', '\r']).map_or("", |(_, rest)| rest);
    }
    found
}

/// Returns the text behind white space, byte-order marks and terminal sequences such as colors.
fn behind_controls(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let Some(sequence) = text.strip_prefix("\u{1b}[") else { return text };
        text = sequence.split_once(|c| matches!(c, '@'..='~')).map_or("", |(_, rest)| rest);
    }
}

#[cfg(test)]
mod tests {
    use super::super::find_preset;

    fn read(provider: &str, printed: &str) -> super::Output {
        find_preset(provider).expect("a program").output.read(printed)
    }

    #[test]
    fn built_in_programs_yield_text_and_tokens() {
        let claude = r#"{"type":"result","is_error":false,"result":"red","usage":{"input_tokens":7,"cache_read_input_tokens":90,"output_tokens":3},"total_cost_usd":0.1}"#;
        let verbose = format!("[{{\"type\":\"system\"}},{claude}]");
        let around = format!("loading\n[=> ] 1 of 2\n{claude}\nbye\n");
        let colored = format!("\u{feff}half\rwhole\r\u{1b}[2K\u{1b}[0m{claude}\u{1b}[0m\n");
        for printed in [claude.to_owned(), verbose, around, colored] {
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
        let recovered = format!(
            "{{\"type\":\"error\",\"error\":{{\"data\":{{\"message\":\"ECONNRESET\"}}}}}}\n{opencode}"
        );
        assert_eq!(read("opencode-cli", &recovered).failure, None);
        let ended =
            |printed: &str| find_preset("opencode-cli").expect("a program").output.is_all(printed.as_bytes());
        let finish = r#"{"type":"step_finish","part":{"type":"step-finish","reason":"stop"}}"#;
        assert_eq!([ended(opencode), ended(&format!("{opencode}{finish}\n"))], [false, true]);
        assert!(ended(&format!("[{},{finish}]\n", opencode.trim_end())), "a list");
    }

    #[test]
    fn program_errors_are_not_answers() {
        let error = |provider: &str, printed: &str| read(provider, printed).failure.expect("a failure");
        assert_eq!(error("claude-cli", r#"{"is_error":true,"result":"Not logged in"}"#), "Not logged in");
        assert_eq!(error("codex-cli", "{\"type\":\"turn.failed\",\"error\":{\"message\":\"401\"}}"), "401");
        assert_eq!(error("gemini-cli", r#"{"error":{"message":"quota"}}"#), "quota");
    }

    #[test]
    fn unreadable_output_is_reported_with_a_reason() {
        let why = |printed: &str| read("claude-cli", printed).reply.expect_err("no reply");
        assert_eq!(why(" \n"), "it printed nothing");
        assert_eq!(why("thinking …\nstill {not} json"), "it printed no JSON");
        assert_eq!(why("{\"result\": \"cut o"), "it printed no JSON");
        assert_eq!(why("{\"type\": \"result\"}"), "what it printed has no `result`");
        assert_eq!(why("{\"result\": 7}"), "`result` of what it printed is no text");
    }
}
