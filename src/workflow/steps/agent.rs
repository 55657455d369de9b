//! `agent` step: one work item for one agent.

use serde::{Deserialize, Serialize};

use crate::workflow::keys::spec::KeyType::{Any, Text, Words};
use crate::workflow::keys::spec::{KeySpec, REQUIRED, key};
use crate::workflow::lang::{OutputSchema, Template};
use crate::workflow::load::entries::{enum_of_words, from_node, keys};

pub const PROMPT: KeySpec =
    key("prompt", "the input as JSON", "The prompt, a Handlebars template.", "\"Plan {{input}}.\"");

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Agent {
        agent: String =
            key("agent", REQUIRED, "The name of a participant or persona, or a model.", "qa-lead"),
        allows_tools: bool as (Words(|| vec!["allowed"])) =
            key("tools", "", "The model's program may use its tools.", "allowed"),
        prompt: Option<Template> = PROMPT,
        /// Set if the agent facilitates a discussion; the prompt is then the topic.
        form: Option<FacilitatorForm> =
            key("form", "", "The form of a leading model's answer.", "synthesize"),
        synthesis_of: Option<String> =
            key("synthesis_of", "", "The round on which its answer is the facilitator's note.", "pick"),
        output_schema: Option<OutputSchema> =
            key("output_schema", "", "A JSON Schema that the answer must fit.", "{type: object}"),
        expected_output: ExpectedOutput = key("expected_output", "", "The answer in words.", "a page"),
    }
}

enum_of_words! {
    /// Answer form of a model that facilitates a discussion.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FacilitatorForm {
        Open = "open",
        /// Note on a closed round, and the next move.
        Synthesize = "synthesize",
        Conclude = "conclude",
    }
}

keys! {
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ExpectedOutput as "expected_output" ("`expected_output`") or "description" (Text) {
        description: String = key("description", "", "What it is.", "\"a release plan\""),
        length: String = key("length", "", "Its length.", "\"one page\""),
        format: String = key("format", "", "Its format.", "Markdown"),
    }
}

from_node! {
    OutputSchema as Any => |node, key, found| {
        let refuse = |why: String| {
            let hint = "write a JSON Schema, such as `{type: object, required: [answer]}`";
            found.refuse(node, format!("`{}` cannot be read: {why}", key.name), hint);
        };
        OutputSchema::parse(&node.to_json()).map_err(refuse).ok()
    };
}
