//! Checks before parsing: size, thinking, error pages, tool calls, refusals.
//!
//! Thinking in known tags is never read as an answer. It does not look for ballots.

use std::borrow::Cow;

use crate::sanitize::is_unsafe;

const MAX_BYTES: usize = 256 * 1024;

/// Opening and closing tags of thinking, in lower case.
const THINKING: [(&str, &str); 9] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<analysis>", "</analysis>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
];

/// Line starts of attempted tool calls, in lower case.
const TOOL_CALLS: [&str; 9] = [
    "<antml",
    "<tool_call",
    "<function_call",
    "<function=",
    "<invoke",
    "<|tool_call",
    "<|python_tag|>",
    "<｜tool▁call",
    "[tool_calls]",
];

/// Beginnings of a refusal, contracted and in lower case.
const UNABLE: [&str; 5] = ["i can't ", "i'm unable to ", "i'm not able to ", "i won't ", "i will not "];

/// Verbs that follow such a start in a refusal.
const DEEDS: [&str; 10] = [
    "help",
    "assist",
    "provide",
    "answer",
    "participate",
    "take part",
    "comply",
    "vote",
    "do that",
    "discuss",
];

const DECLINES: [&str; 4] = ["i must decline", "i decline", "i refuse", "i must refuse"];

/// Phrases that may precede a refusal.
const SOFTENERS: [&str; 10] = [
    "i'm sorry",
    "sorry",
    "i apologize",
    "unfortunately",
    "as an ai language model",
    "as an ai",
    "but",
    "however",
    ",",
    ".",
];

pub const ONLY_THINKING: &str = "the reply contains thinking and no answer after it";

pub(super) const MERGE_KEY: &str = "the key `<<` is not accepted: write every key out";

/// Returns the reply without its thinking, or the reason why it cannot contain an answer.
pub(super) fn prefilter(reply: &str) -> Result<Cow<'_, str>, String> {
    if reply.len() > MAX_BYTES {
        return Err("the reply is larger than 256 KiB: answer more briefly".to_owned());
    }
    let reply = reply.strip_prefix('\u{feff}').unwrap_or(reply);
    if is_blank(reply) {
        return Err("the reply is empty".to_owned());
    }
    let text = without_thinking(final_channel(reply));
    if is_blank(&text) {
        return Err(ONLY_THINKING.to_owned());
    }
    let start = text.trim_start().chars().take(15).collect::<String>().to_ascii_lowercase();
    if ["<!doctype html", "<html", "<?xml"].iter().any(|page| start.starts_with(page)) {
        return Err("the reply is an HTML page, not an answer".to_owned());
    }
    if calls_tool(&text) {
        return Err(TOOL_CALL.to_owned());
    }
    if text.lines().any(|line| line.trim_start().starts_with("<<:")) {
        return Err(MERGE_KEY.to_owned());
    }
    Ok(text)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_unsafe(c))
}

/// Checks if a reply is empty apart from thinking.
pub fn holds_no_answer(reply: &str) -> bool {
    is_blank(&without_thinking(final_channel(reply)))
}

pub(super) const TOOL_CALL: &str =
    "the reply tries to call a tool: there are no tools here, answer from the context alone";

/// Returns the text of the last `final` channel if the reply shows its channels.
pub(in crate::ballot) fn final_channel(reply: &str) -> &str {
    let Some(at) = reply.rfind("<|channel|>final") else { return reply };
    let rest = &reply[at + "<|channel|>final".len()..];
    let body = rest.split_once("<|message|>").map_or(rest, |(_, body)| body);
    body.split("<|").next().unwrap_or(body)
}

pub(in crate::ballot) fn without_thinking(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    if !THINKING.iter().any(|(open, close)| lower.contains(open) || lower.contains(close)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut first = true;
    while at < text.len() {
        let line_end = lower[at..].find('\n').map_or(text.len(), |n| at + n + 1);
        let line = &lower[at..line_end];
        let begins = if first { line.trim_start() } else { line };
        if let Some((_, close)) = THINKING.iter().find(|(open, _)| begins.starts_with(open)) {
            at = lower[at..].find(close).map_or(text.len(), |n| at + n + close.len());
            out.push('\n');
        } else {
            first &= line.trim().is_empty();
            out.push_str(&text[at..line_end]);
            at = line_end;
        }
    }
    Cow::Owned(after_last_close(&out).to_owned())
}

/// Removes everything up to the last unmatched closing tag.
fn after_last_close(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    let end = THINKING.iter().filter_map(|(_, close)| lower.rfind(close).map(|at| at + close.len())).max();
    end.map_or(text, |end| &text[end..])
}

fn calls_tool(text: &str) -> bool {
    const ANYWHERE: [&str; 3] = ["<tool_call>", "<function_call>", "[tool_calls]"];
    let lower = text.to_ascii_lowercase();
    let holds_object = |after: &str| after.trim_start().starts_with(['{', '[']);
    lower.lines().any(|line| TOOL_CALLS.iter().any(|call| line.starts_with(call)))
        || ANYWHERE.iter().any(|call| lower.split(call).skip(1).any(holds_object))
}

pub(super) fn is_refusal(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(300).collect();
    let start = start.to_lowercase().replace('’', "'").replace("i am ", "i'm ");
    let start = start.replace("cannot", "can't").replace("can not", "can't");
    let mut rest = start.as_str();
    while let Some(next) = SOFTENERS.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = next.trim_start();
    }
    let ends = |after: &str| !after.starts_with(char::is_alphanumeric) && !after.starts_with(" but ");
    let unable = UNABLE.iter().find_map(|stem| rest.strip_prefix(stem));
    unable.is_some_and(|rest| DEEDS.iter().filter_map(|deed| rest.strip_prefix(deed)).any(ends))
        || DECLINES.iter().filter_map(|words| rest.strip_prefix(words)).any(ends)
}
