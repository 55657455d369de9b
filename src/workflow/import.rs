//! Definition made from a `participant_context` block, so that its round can run here.

use serde_json::{Map, Value};

use super::lang::Template;
use crate::diagnostic::Diagnostic;
use crate::yaml::{Out, read};

const BLOCK: &str = "participant_context";
const SAME: [&str; 7] =
    ["project_summary", "goal", "constraints", "current_round", "agenda", "open_conflicts", "open_questions"];
/// Keys that only a running session produces; definitions do not have them.
const MADE: [&str; 5] = ["recent_rounds", "context", "earlier_reasons", "earlier_counts", "linked_tasks"];

/// Returns the definition of a block and the block's keys that were left out. Fails without a question.
pub fn import(text: &str, file: &str) -> Result<(String, Vec<String>), Diagnostic> {
    let none = || {
        Diagnostic::new(format!("{file}: there is no `{BLOCK}` block"))
            .hint(format!("give YAML with `{BLOCK}:` at the top, or Markdown with such a block"))
    };
    let block = block(text).ok_or_else(none)?;
    let value = read(&block, file)?.to_json();
    let context = value[BLOCK].as_object().ok_or_else(none)?;
    if context.get("question").and_then(Value::as_str).is_none_or(|question| question.trim().is_empty()) {
        return Err(Diagnostic::new(format!("{file}: the block has no `question`")));
    }
    let left_out = context.keys().filter(|key| MADE.contains(&key.as_str())).cloned().collect();
    let mut top: Vec<(&str, Value)> = Vec::new();
    if !context.contains_key("project_summary") {
        // Otherwise the project's own summary would be used.
        top.push(("project_summary", "".into()));
    }
    top.extend(SAME.into_iter().filter_map(|key| Some((key, context.get(key)?.clone()))));
    let artifacts = context.get("artifacts_snapshot").and_then(Value::as_array);
    if let Some(artifacts) = artifacts.filter(|artifacts| !artifacts.is_empty()) {
        top.push(("artifacts", artifacts.iter().map(artifact).collect()));
    }
    let role = context.get("your_role").and_then(Value::as_str);
    top.extend(role.map(|role| ("participants", Value::from(vec![role]))));
    top.extend(literal(context, "facilitator_directive"));
    let none = serde_json::json!({"answers": "none", "rounds": 0, "results": "none"});
    top.push(("context", none));
    let mut round: Map<String, Value> = Map::new();
    round.insert("id".to_owned(), "round".into());
    round.insert("type".to_owned(), "round".into());
    let texts = [literal(context, "question"), literal(context, "exploration")];
    round.extend(texts.into_iter().flatten().map(|(key, value)| (key.to_owned(), value)));
    round.extend(context.get("ballot").map(|form| ("ballot".to_owned(), ballot(form))));
    top.push(("steps", Value::from(vec![Value::Object(round)])));
    let entries: Vec<_> = top.iter().map(|(key, value)| ((*key).into(), Out::json(value, true))).collect();
    Ok((Out::document(&entries), left_out))
}

/// Finds the block in a text; it ends at the closing fence or at the end of the text.
fn block(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| line.trim_end() == format!("{BLOCK}:"))?;
    let end =
        lines[start..].iter().position(|line| line.starts_with("```")).map_or(lines.len(), |at| start + at);
    Some(lines[start..end].join("\n") + "\n")
}

fn literal(context: &Map<String, Value>, key: &'static str) -> Option<(&'static str, Value)> {
    Some((key, Template::literal(context.get(key)?.as_str()?).into()))
}

fn artifact(shown: &Value) -> Value {
    let mut artifact = shown.clone();
    if let Some(map) = artifact.as_object_mut()
        && map.keys().any(|key| key != "id" && key != "summary")
    {
        map.insert("relevant".to_owned(), true.into());
    }
    artifact
}

/// Converts a snapshot's ballot to a definition's: scale ends at the top level, option texts as literals.
fn ballot(form: &Value) -> Value {
    let mut form = form.clone();
    let Some(map) = form.as_object_mut() else { return form };
    if let Some(Value::Object(scale)) = map.shift_remove("scale") {
        map.extend(scale);
    }
    let options = map.get_mut("options").and_then(Value::as_array_mut);
    for option in options.into_iter().flatten() {
        if let Some(text) = option.as_str() {
            *option = Template::literal(text).into();
        }
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Source, load};

    #[test]
    fn a_block_becomes_a_definition_that_loads() {
        let block = "# A document\n\n```yaml\nparticipant_context:\n  question: \"Is {{this}} one?\"\n  ballot:\n    kind: score\n    \
                     options:\n      - a\n      - \"{{b}}\"\n    scale:\n      min: 1\n      max: 3\n  artifacts_snapshot:\n    - id: R-1\n      \
                     summary: s\n      title: t\n  recent_rounds: []\n  your_role: \"qa-lead\"\n```\nAnd more.\n";
        let (text, left_out) = import(block, "b.md").unwrap();
        assert_eq!(left_out, ["recent_rounds"]);
        let loaded = load(Source { text: &text, file: "d.yaml", id: "d" }).expect(&text);
        let round = loaded.steps[0].round().unwrap();
        let question = Template::parse(&round.question).unwrap().render(&Value::Null);
        assert_eq!(question.unwrap(), "Is {{this}} one?");
        assert_eq!(round.ballot.max, Some(3.into()));
        assert!(loaded.artifacts[0].relevant);
        assert_eq!(loaded.participants[0].name, "qa-lead");
        for bad in ["", "participant_context:\n", "participant_context:\n  goal: g\n", "question: q\n"] {
            assert!(import(bad, "b.yaml").is_err(), "{bad}");
        }
    }
}
