//! `agent`: one work item for one agent.

use serde::{Deserialize, Serialize};

use crate::workflow::keys::spec::KeyType::{Any, Either, Map, Text, Words};
use crate::workflow::keys::spec::{KeySpec, MapSpec, REQUIRED, enum_of_words, key, map, words};
use crate::workflow::lang::{OutputSchema, Template};
use crate::workflow::load::entries::{Entries, keys};

pub const PROMPT: KeySpec =
    key("prompt", Text, "the input as JSON", "The prompt, a Handlebars template.", "\"Plan {{input}}.\"");

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Agent {
        agent: String =
            key("agent", Text, REQUIRED, "The name of a participant or persona, or a model.", "qa-lead"),
        allows_tools: bool =
            key("tools", Words(|| vec!["allowed"]), "", "The model's program may use its tools.", "allowed")
            => |entries: Entries<'_>| entries.has("tools"),
        prompt: Option<Template> = PROMPT,
        /// If it leads a discussion; the prompt is then the topic.
        form: Option<FacilitatorForm> =
            key("form", words!(FacilitatorForm), "", "The form of a leading model's answer.", "synthesize"),
        synthesis_of: Option<String> =
            key("synthesis_of", Text, "", "The round on which its answer is the facilitator's note.", "pick"),
        output_schema: Option<OutputSchema> =
            key("output_schema", Any, "", "A JSON Schema that the answer must fit.", "{type: object}")
            => schema,
        expected_output: ExpectedOutput = key(
            "expected_output", Either(&[Text, Map(&EXPECTED_OUTPUT)]), "", "The answer in words.", "a page",
        ) => expected_output,
    }
}

enum_of_words! {
    /// Form of the answer of a model that leads a discussion.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FacilitatorForm {
        Open = "open",
        /// The note on a closed round, and what follows from it.
        Synthesize = "synthesize",
        Conclude = "conclude",
    }
}

keys! {
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ExpectedOutput {
        description: String = key("description", Text, "", "What it is.", "\"a release plan\""),
        length: String = key("length", Text, "", "Its length.", "\"one page\""),
        format: String = key("format", Text, "", "Its format.", "Markdown"),
    }
}

const EXPECTED_OUTPUT: MapSpec = map("expected_output", "`expected_output`", ExpectedOutput::KEYS);

fn schema(entries: Entries<'_>) -> Option<OutputSchema> {
    let node = entries.node("output_schema")?;
    let refuse = |why: String| {
        let hint = "write a JSON Schema, such as `{type: object, required: [answer]}`";
        entries.refuse(node, format!("`output_schema` cannot be read: {why}"), hint);
    };
    OutputSchema::parse(&node.to_json()).map_err(refuse).ok()
}

fn expected_output(entries: Entries<'_>) -> ExpectedOutput {
    let description = entries.text("expected_output").unwrap_or_default();
    let alone = || ExpectedOutput { description, ..ExpectedOutput::default() };
    entries.map("expected_output").map_or_else(alone, ExpectedOutput::read)
}
